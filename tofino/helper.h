/* The helper: a program of its own that speaks to the switch (p4/helper.py), asked in lines of JSON over a
 * socket that is its standard input and output. Each request has a number, "id", and so has its answer:
 * {"id": 7, "ok": true, ...}, or {"id": 7, "error": "why not"}. Answers may come in another order. One
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct helper;

/* How the helper is told MAC addresses. */
static inline json_int_t helper_mac(const uint8_t mac[6])
{
    json_int_t number = 0;

    for (unsigned i = 0; i < 6; i++)
        number = number << 8 | mac[i];
    return number;
}

/* Starts the program argv[0]; it ends with this process. patience_s: it hangs if it leaves all questions
 * unanswered for so long, from 1 on. NULL: errno says why not. */
struct helper *helper_start(char *const argv[], unsigned patience_s);

/* Ends its input, at which it ends; if it does not, it is killed. */
void helper_stop(struct helper *h);

int helper_fd(const struct helper *h);
short helper_events(const struct helper *h); /* of poll, at which helper_receive has something to do */

/* Asks, without waiting: what the helper does not read now it gets later. The request becomes the helper's.
 * Returns its number, never 0; or 0 if the helper is gone. */
uint64_t helper_ask(struct helper *h, json_t *request);

/* The answer is the helper's. */
typedef void helper_answered(void *context, uint64_t id, const json_t *answer);

/* Why it was not done; NULL: it was. */
const char *helper_error(const json_t *answer);

/* Sends what is still to be sent, and hands out the answers that have come. False: the helper has ended, or
 * does not answer in JSON. */
bool helper_receive(struct helper *h, helper_answered *answered, void *context);

/* Whether it hangs; to be called at every turn, after helper_receive, with the time. Turns that are far apart
 * say that this process did not run: such a gap counts as a second. */
bool helper_hangs(struct helper *h, uint64_t now_ns);

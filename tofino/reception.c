#include "reception.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "control/strangers_rate.h"
#include "wire/path.h"

enum { SERVED_BUDGET = 8 }; /* of strangers' messages, before members are heard again */

/* A stranger's message that waits. */
struct waiting {
    struct ctl_endpoint from;
    size_t bytes;
    uint8_t payload[CTL_MESSAGE_MAX + 1]; /* the last byte tells that it is too long */
};

void reception_init(struct reception *r, const struct config *cfg)
{
    throttle_init(&r->rate, strangers_rate(cfg), secret64());
    path_rate_init(&r->paths, secret64());
}

void reception_free(struct reception *r)
{
    while (r->strangers.items > 0)
        free(fair_queue_take(&r->strangers));
}

static void handle(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                   uint64_t now)
{
    struct ctl_endpoint sender = *from;
    enum ctl_parse_error fault;

    if (!r->neighbour(r->context, &sender))
        return;
    fault = membership_receive(r->membership, &sender, payload, bytes, now);
    if (fault != CTL_PARSED)
        r->counts->drop[DROP_CONTROL_TOO_SHORT + (fault - CTL_TOO_SHORT)]++;
}

static bool put(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes)
{
    struct waiting *w = malloc(sizeof(*w));

    if (w == NULL)
        return false;
    w->from = *from;
    w->bytes = bytes < sizeof(w->payload) ? bytes : sizeof(w->payload);
    memcpy(w->payload, payload, w->bytes);
    if (fair_queue_put(&r->strangers, ntohl(from->ip) % SWAGG_MAX_PORTS, w))
        return true;
    free(w);
    return false;
}

void reception_message(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload,
                       size_t bytes, uint64_t now)
{
    r->counts->event[EVENT_CONTROL_RECEIVED]++;
    if (membership_knows(r->membership, from, payload, bytes))
        handle(r, from, payload, bytes, now);
    else if (!throttle_admit(&r->rate, from->ip, now))
        r->counts->drop[DROP_CONTROL_RATE]++;
    else if (!put(r, from, payload, bytes))
        r->counts->drop[DROP_CONTROL_FULL]++;
}

bool reception_serve(struct reception *r, uint64_t now)
{
    for (unsigned i = 0; i < SERVED_BUDGET && r->strangers.items > 0; i++) {
        struct waiting *w = fair_queue_take(&r->strangers);

        handle(r, &w->from, w->payload, w->bytes, now);
        free(w);
    }
    return r->strangers.items > 0;
}

bool reception_question(struct reception *r, uint32_t from, uint8_t *payload, size_t bytes, uint64_t now)
{
    if (!path_is_question(payload, bytes))
        return false;
    if (!path_rate_admit(&r->paths, from, now)) {
        r->counts->drop[DROP_PATH_RATE]++;
        return false;
    }
    path_answer(payload, 1);
    r->counts->event[EVENT_PATH_ANSWERS]++;
    return true;
}

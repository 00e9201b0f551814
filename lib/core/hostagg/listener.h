/* The host's side of host-addressed aggregation, where the switch sums (hostagg/pool.h): it hears of each
 * chunk that is complete, and asks for those of which it should have heard. A state machine: packets and time
 * go in, questions come out.
 *
 * Of a slot's chunks only the last that is done needs to be known: workers send a chunk once they have the
 * sum of the one before it in its slot. So a HAG_DONE that was lost is made up for by the next one of the
 * slot, and at the end by a question.
 *
 * Pure: no clock (now in ns, monotonic), no malloc. The caller's memory for the slots. One thread at a time.
 */
#pragma once

#include "wire/hostagg.h"

struct hag_listener_config {
    uint8_t job;           /* as in the switch's configuration */
    uint16_t member;       /* the number of workers: the host comes after them */
    uint16_t run;          /* the workers' */
    uint16_t slots;        /* of the job; a power of two */
    uint32_t chunks;       /* of the whole run, at most 2^31 */
    uint64_t ask_after_ns; /* silence after which it asks */
};

/* All fields are the listener's own. */
struct hag_listener {
    struct hag_listener_config cfg;
    uint32_t *next; /* by slot: the first of its chunks that is not known to be done */
    uint32_t done;  /* chunks that are complete, without a gap: all before this one */
    uint64_t due;   /* when it asks next */
    uint64_t asked; /* for statistics */
};

/* next: cfg->slots of them, the caller's for the listener's life. now: when the run begins. */
void hag_listener_init(struct hag_listener *h, const struct hag_listener_config *cfg, uint32_t *next,
                       uint64_t now);

/* A packet from the switch: HAG_DONE, or HAG_SUM where the host gets sums. False: neither, or of another job
 * or run; nothing has changed. */
bool hag_listener_receive(struct hag_listener *h, const uint8_t *packet, size_t bytes, uint64_t now);

/* The next question to be sent now, HAG_HEADER_BYTES; false: none is due before h->due. */
bool hag_listener_ask(struct hag_listener *h, uint64_t now, uint8_t *packet);

static inline bool hag_listener_is_done(const struct hag_listener *h)
{
    return h->done == h->cfg.chunks;
}

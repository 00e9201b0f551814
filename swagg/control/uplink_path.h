/* How long the packets are that get to the switch above and back. It is asked for as workers ask before they
 * join (wire/path_lengths.h), again and again, since the way may change: ten times a second until it is
 * known, which takes a round trip where all is well, and once a minute from then on. A search that gets no
 * answer changes nothing.
 *
 * Pure: frames and clock are the caller's. One thread.
 */
#pragma once

#include "wire/path_lengths.h"

struct uplink_path {
    uint16_t longest; /* MTU of the switch's own ports */
    uint16_t nonce;
    uint16_t mtu; /* of the path; atomic, any thread may read it; 0: not known yet */

    struct path_lengths lengths; /* of this search */
    uint16_t round, before;      /* before: the last one before this search */
    uint64_t next_round;         /* ns */
};

/* longest: the MTU of the switch's own ports. nonce: unpredictable. */
void uplink_path_init(struct uplink_path *p, uint16_t longest, uint16_t nonce);

/* The questions that are due now. */
struct path_questions {
    unsigned n;
    uint32_t tag;
    size_t bytes[PATH_LENGTHS_MAX]; /* of UDP payloads, falling */
};
void uplink_path_ask(struct uplink_path *p, uint64_t now, struct path_questions *q);

/* A payload that came from the switch above, to the port that the questions left from. False: it is no answer
 * to one of them. */
bool uplink_path_answer(struct uplink_path *p, const uint8_t *payload, size_t bytes, uint64_t now);

/* Somebody on every cable, who sees the sealed control messages and the keyed data packets of jobs with a key
 * and can send any frame, but lacks the key: sends old ones again, to and from where they went and elsewhere,
 * changed, messages also without their seal or with one of his own making. */
#pragma once

#include "star.h"
#include "wire/seal.h"

enum { FORGER_SEEN = 64, FORGER_BYTES_MAX = 2048 };

struct forger_config {
    struct sim *sim;
    struct star *star;
    uint64_t seed;
    uint64_t every; /* on average; 0: there is nobody */
    uint64_t until;
    const uint8_t *keyed; /* by host: whether its data packets are; NULL: none are */
};

struct forger {
    struct forger_config cfg;
    uint64_t rng;
    uint64_t messages;
    bool gone;     /* sent away, by its owner */
    unsigned seen; /* so far */
    struct forger_message {
        bool up; /* from a worker */
        unsigned host;
        uint16_t host_port, switch_port, bytes;
        uint8_t payload[FORGER_BYTES_MAX];
    } message[FORGER_SEEN];
};

void forger_start(struct forger *f, const struct forger_config *cfg);

/* A frame on its way, up or down; he takes note of those that he may imitate. */
void forger_see(struct forger *f, const struct frame *frame, bool up);

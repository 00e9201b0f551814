/* The worker of the SwitchML paper (section 4.5, algorithm 4), for comparison: every slot always holds one
 * chunk in flight, the next chunk of a slot is the one `slots` further, and each slot has a fixed timer after
 * which an unanswered chunk is sent again. */
#pragma once

#include "sim.h"
#include "wire/switchml.h"

typedef void paper_send(void *ctx, const uint8_t *payload, size_t bytes);

struct paper_worker_config {
    uint16_t slots, chunk_bytes;
    uint8_t job;
    uint64_t timeout_ns;
    const int32_t *in;
    int32_t *out;
    uint64_t count;
    paper_send *send;
    void *send_ctx;
};

struct paper_slot {
    uint64_t chunk; /* in flight; the number of chunks or more: none left */
    uint64_t sent_at;
};

struct paper_worker {
    struct paper_worker_config cfg;
    struct sim *sim;
    uint64_t chunks, done;
    uint64_t retransmitted;
    struct paper_slot *slots;
};

/* Sends the first chunks; the first has tag 0. */
void paper_worker_start(struct paper_worker *w, struct sim *sim, const struct paper_worker_config *cfg);
void paper_worker_fini(struct paper_worker *w);
void paper_worker_receive(struct paper_worker *w, const uint8_t *payload, size_t bytes);
bool paper_worker_done(const struct paper_worker *w);

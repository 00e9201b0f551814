/* What the workers of bench-lcore send, and what comes back to them: a table for each kind. */
#pragma once

#include "aggregate/jobs.h"

enum { PACKETS_WORKERS = 8, PACKETS_OF_MESSAGE = 16 /* of RoCE, as the paper's workers have it */ };

/* A chunk of the workers' streams, of one of them. */
struct packets_chunk {
    unsigned rank;
    uint32_t tag; /* its number in the stream */
    unsigned slots, element_bytes;
    uint8_t job; /* its number */
};

struct packets {
    const char *name;
    const struct agg_protocol *protocol;
    uint16_t from_port;                /* the workers' */
    unsigned head_bytes;               /* before a packet's elements, at most */
    unsigned tail_bytes;               /* behind them */
    bool seals;                        /* the tail is the ICRC, and UDP has no checksum */
    uint32_t (*form)(uint32_t number); /* a small number as an element */
    /* What the job is, but for its members. */
    void (*plan)(struct jobs_plan *plan, unsigned slots, unsigned element_bytes);
    /* Writes what is before the elements. Returns how long it is. */
    size_t (*begin)(uint8_t *payload, const struct packets_chunk *c);
    /* Where the elements of a sum lie; NULL: it is none. */
    const uint8_t *(*elements)(const uint8_t *payload, size_t bytes, unsigned element_bytes);
};

/* By SwitchML over UDP: float32, and int32 as published workers send it; and the same by RDMA. */
extern const struct packets packets_float32, packets_int32, packets_roce;

/* The contributions and results of captures, in memory and in order of their chunks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "switchml/elements.h"
#include "wire/ranks.h"
#include "wire/switchml.h"

enum { STORE_JOBS_MAX = 256 };

struct stored_packet {
    uint8_t kind; /* SML_DATA or SML_OPEN */
    uint16_t job; /* which of store.job */
    uint8_t e0, e1;
    uint8_t ver;
    uint16_t slot;
    uint32_t tag;
    bool result;     /* from the switch; else a contribution */
    uint64_t worker; /* IP << 16 | UDP port of who sent it, or gets it */
    size_t at;       /* offset of its body in store.bodies */
    uint32_t bytes;
    unsigned file; /* number of the file */
    uint64_t frame;
};

/* A rank as it joined: where its contributions come from. */
struct stored_rank {
    uint64_t incarnation;
    uint64_t worker; /* as in struct stored_packet */
    uint16_t rank;
    bool in;      /* READY has told it its job: */
    uint16_t job; /* which of store.job */
};

/* A job of a switch: in a tree each switch gives numbers for itself. `size` and what follows is as the switch
 * has told those that send to it. */
struct stored_job {
    uint32_t sw; /* its IP address */
    uint8_t number;
    uint16_t size; /* ranks; 0: not seen */
    enum xfer_format format;
    struct sml_table table; /* of its compressed calls; code 0: it has none */
    bool quorum;            /* results name the ranks that are in them */
    /* Ranks that do not send for themselves: a switch below sends one sum for them and others. */
    struct ctl_ranks summed;
};

struct store {
    struct stored_packet *packets;
    size_t count, room;
    uint8_t *bodies;
    size_t bodies_bytes, bodies_room;
    struct stored_job job[STORE_JOBS_MAX]; /* in the order in which they were met */
    unsigned jobs;
    struct stored_rank *ranks; /* in the order of their first JOINs */
    size_t ranks_count, ranks_room;
    uint64_t others;    /* gradient packets of other kinds */
    uint64_t malformed; /* to or from the gradient packets' ports, but not one of them */
    uint64_t keyed;     /* taken for right, since only who has their job's key can tell */
    uint64_t damaged;   /* left out: wrong checksum, or not captured whole */
    uint64_t merged;    /* packets that came in one frame with others */
    uint64_t unchecked; /* frames whose checksum was left to a device */
    unsigned files;
    bool no_memory;
    bool too_many_jobs;                 /* more than STORE_JOBS_MAX */
    const struct stored_job *ambiguous; /* its switch has told of two, which cannot be told apart */
};

/* Adds a capture to a store that starts as {0}. 0, or -1 after complaining. */
int store_read(struct store *s, const char *file);

/* How many send contributions to the job: its ranks, or switches for several of them; 0: not seen. */
unsigned store_contributors(const struct stored_job *job);

/* The rank whose contributions to this one of store.job come from here, as it joined last; NULL: it is not
 * known. */
const struct stored_rank *store_rank(const struct store *s, unsigned job, uint64_t worker);

/* By job, tag, contributions before results, worker, and time. */
void store_sort(struct store *s);
void store_free(struct store *s);

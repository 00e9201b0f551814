/* The contributions and results of captures, in memory and in order of their chunks. */
#ifndef SWAGG_CAPTURE_STORE_H
#define SWAGG_CAPTURE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "switchml/elements.h"
#include "wire/ranks.h"
#include "wire/switchml.h"

struct stored_packet {
    uint8_t job, kind; /* SML_DATA or SML_OPEN */
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
    bool in; /* READY has told it the job's number: */
    uint8_t job;
};

struct store {
    struct stored_packet *packets;
    size_t count, room;
    uint8_t *bodies;
    size_t bodies_bytes, bodies_room;
    /* Of the job with this number, as the switch has told its workers: how many they are (0: not seen), and
     * how packets are to be read. */
    uint16_t size[256];
    enum sml_format format[256];
    struct sml_table table[256]; /* of its compressed calls; code 0: it has none */
    bool quorum[256];            /* results name the ranks that are in them */
    struct stored_rank *ranks;   /* in the order of their first JOINs */
    size_t ranks_count, ranks_room;
    /* Ranks that do not send for themselves: a switch below sends one sum for them and others. */
    struct ctl_ranks summed[256];
    uint64_t others;    /* gradient packets of other kinds */
    uint64_t malformed; /* to or from the gradient packets' ports, but not one of them */
    uint64_t keyed;     /* taken for right, since only who has their job's key can tell */
    uint64_t damaged;   /* left out: wrong checksum, or not captured whole */
    uint64_t merged;    /* packets that came in one frame with others */
    uint64_t unchecked; /* frames whose checksum was left to a device */
    unsigned files;
    bool no_memory;
};

/* Adds a capture to a store that starts as {0}. 0, or -1 after complaining. */
int store_read(struct store *s, const char *file);

/* How many send contributions to the job with this number: its ranks, or switches for several of them; 0: not
 * seen. */
unsigned store_contributors(const struct store *s, uint8_t job);

/* The rank whose contributions to this job come from here, as it joined last; NULL: it is not known. */
const struct stored_rank *store_rank(const struct store *s, uint8_t job, uint64_t worker);

/* By job, tag, contributions before results, worker, and time. */
void store_sort(struct store *s);
void store_free(struct store *s);

#endif

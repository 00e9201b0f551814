/* The workers of a static job, which do not join: published SwitchML clients, one on each of some hosts
 * (docs/protocol.md, "Static jobs"), and who starts them. They sum some tensors, and are started anew when
 * all have ended, or were killed in their midst, or the switch was: always after a pause in which the job is
 * left alone, as docs/configuration.md says.
 *
 * A client has threads, each with a UDP port and slots of its own. It counts its tensors, and the packets of
 * each from 0; its slots go on from tensor to tensor. All threads are in one tensor at a time, of which some
 * may have no part. Each keeps a window of packets in flight, and sends again after a fixed time. */
#pragma once

#include "oracle.h"
#include "star.h"
#include "switchml/terms.h"

enum {
    PUBLISHED_RUNS_MAX = 4,
    PUBLISHED_THREADS_MAX = 3,
    PUBLISHED_TENSORS_MAX = 600,
    PUBLISHED_PORT = 4000
};

/* Also what the switch is told of the job. */
struct published_config {
    unsigned workers; /* 0: there is no such job */
    unsigned threads, window, elements;
    unsigned tensors, packets; /* in a run; in a thread's part of a tensor, at most */
    unsigned rest;             /* all threads but the first have a part in one tensor of so many */
    uint64_t gap_ns; /* between tensors; no packet may be under way for as long as some 200 of them take */
    enum xfer_mode mode;
    unsigned runs;
    uint64_t quiet_ns;   /* the job starts over when nothing was heard for so long */
    uint64_t pause_ns;   /* between runs: longer than that, and than any packet is under way */
    uint64_t timeout_ns; /* of a packet */
    unsigned first_host; /* of the first worker; the others follow */
    uint64_t seed;
};

/* Slots of each thread: twice its window. */
struct sml_terms published_terms(const struct published_config *cfg);

struct published_thread {
    uint64_t at; /* packets done since the client was started, in order; those after it may be, too */
    uint32_t first, packets; /* of the tensor: its first packet as `at` counts, and how many there are */
    uint64_t done;           /* bit i: packet at + i is done */
    uint64_t sent_at[64];    /* by packet % 64 */
};

struct published_client {
    struct published *all;
    unsigned rank;
    bool runs;
    unsigned tensor, busy; /* in progress, or next; threads that have yet to end their parts of it */
    struct published_thread thread[PUBLISHED_THREADS_MAX];
};

struct published {
    struct published_config cfg;
    struct sim *sim;
    struct star *star;
    struct oracle *oracle;
    const uint64_t *boots; /* of the switch */
    uint64_t rng;
    uint64_t boots_seen;
    unsigned run;  /* in progress, or next */
    unsigned life; /* counts starts; events of an earlier one do nothing */
    uint64_t tensors, killed;
    struct published_client *client; /* by rank */
};

/* Starts the first run soon. boots: counts the starts of the switch. */
void published_start(struct published *p, struct sim *sim, struct star *star, struct oracle *oracle,
                     const struct published_config *cfg, const uint64_t *boots);
void published_fini(struct published *p);

/* Takes over a frame to one of its hosts; false: it is to another. */
bool published_receive(struct published *p, struct frame *f);

static inline bool published_are_over(const struct published *p)
{
    return p->run == p->cfg.runs || p->cfg.workers == 0;
}

/* Under a switch that has not been started anew meanwhile. */
static inline bool published_are_at_it(const struct published *p)
{
    return p->cfg.workers > 0 && p->client[0].runs && p->boots_seen == *p->boots;
}

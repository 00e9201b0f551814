/* The tree of a run (run.h): its size, and its parts as they see one another: switches, workers, and the
 * cables between them. */
#pragma once

#include "protocol/protocol.h"
#include "random.h"
#include "scale/costs.h"
#include "scale/server.h"
#include "switchml/stream.h"

enum { SCALE_LEVELS_MAX = 4, SCALE_CARRIED_BYTES = 64 };

struct scale_tree {
    unsigned levels;
    unsigned fan_in[SCALE_LEVELS_MAX]; /* below a switch of this level, the root's first: switches, or, at the
                                          last one, workers */
};

struct scale_config {
    struct scale_tree tree;
    uint64_t bits_per_s; /* of every cable */
    uint64_t delay_ns;   /* ... one way */
    uint32_t loss_ppm;   /* ... in each direction */
    uint16_t chunk_bytes;
    uint16_t slots;
    unsigned lcores; /* of every switch; slot i belongs to lcore i % lcores */
    const struct costs *costs;
    uint64_t chunks; /* of the tensor */
    uint64_t seed;
};

/* The end of a cable that leads to the switch above: a worker, or a switch that is not the root. */
struct scale_node {
    struct scale_run *run;
    struct scale_switch *above; /* NULL: this is the root */
    uint16_t place;             /* its number as a contributor there */
    struct server up, down;
    uint64_t losses; /* random numbers */
};

struct scale_switch {
    struct scale_node node;
    unsigned level;
    unsigned first; /* of the nodes below, by its number among those of their level */
    struct agg_jobs running, from_above;
    struct agg_job *job;
    struct server *lcore; /* [cfg.lcores] */
};

struct scale_worker {
    struct scale_node node;
    unsigned rank;
    struct sml_stream *stream;
    uint64_t timer_at; /* that is scheduled; UINT64_MAX: none */
};

struct scale_run {
    struct scale_config cfg;
    struct sim sim;
    unsigned ranks;
    uint64_t elements;
    int32_t *numbers;  /* rank r contributes those from r on */
    int32_t *expected; /* [elements]: their sums */
    int32_t *got;      /* [elements]: where every worker's results go, one after the other */
    struct scale_worker *worker;
    struct scale_switch *level[SCALE_LEVELS_MAX];
    uint64_t results, halfway_at, nearly_at;
    uint64_t lost, frames;
    bool wrong;
};

/* Switches of this level, 0: the root; of the one below the last: workers. */
unsigned scale_at_level(const struct scale_tree *tree, unsigned level);
unsigned scale_workers(const struct scale_tree *tree);
unsigned scale_switches(const struct scale_tree *tree);

/* Bytes on a cable of a data packet with a whole chunk, and in its frame, with the FCS. */
unsigned scale_wire_bytes(uint16_t chunk_bytes);
unsigned scale_frame_bytes(uint16_t chunk_bytes);

/* What the links need for the tensor's data packets alone. */
double scale_ideal_s(const struct scale_config *cfg);

/* What an lcore needs for a packet. */
uint64_t scale_service_ps(const struct scale_config *cfg, const struct parcel *p);

/* Into the cable. */
void scale_send_up(struct scale_node *from, const uint8_t *payload, size_t bytes);
void scale_send_down(struct scale_node *to, const uint8_t *payload, size_t bytes);

/* switch.c */
unsigned scale_job_number(unsigned level); /* on the wire */
/* Memory of the pool of a switch of this level, with whole chunks. */
size_t scale_pool_bytes(const struct scale_config *cfg, unsigned level);
void scale_switch_open(struct scale_switch *s);
void scale_switch_close(struct scale_switch *s);
void scale_switch_receive(struct scale_switch *s, struct parcel *p); /* takes it over */

/* worker.c */
void scale_worker_open(struct scale_worker *w);
void scale_worker_start(void *worker, uint64_t argument);            /* a sim_handler */
void scale_worker_receive(struct scale_worker *w, struct parcel *p); /* takes it over */

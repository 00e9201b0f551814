/* The parts of a run (run.h), as they see one another: switches, workers, and the cables between them. */
#ifndef SWAGG_SIM_SCALE_PARTS_H
#define SWAGG_SIM_SCALE_PARTS_H

#include "protocol/protocol.h"
#include "random.h"
#include "scale/run.h"
#include "scale/server.h"
#include "switchml/stream.h"

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

/* run.c */
struct scale_node *scale_below(const struct scale_switch *s, unsigned contributor);
void scale_send_up(struct scale_node *from, const uint8_t *payload, size_t bytes);
void scale_send_down(struct scale_node *to, const uint8_t *payload, size_t bytes);
uint64_t scale_service_ps(const struct scale_config *cfg, const struct parcel *p);

/* switch.c */
unsigned scale_job_number(unsigned level); /* on the wire */
void scale_switch_open(struct scale_switch *s);
void scale_switch_close(struct scale_switch *s);
void scale_switch_receive(struct scale_switch *s, struct parcel *p); /* takes it over */

/* worker.c */
void scale_worker_open(struct scale_worker *w);
void scale_worker_start(void *worker, uint64_t argument);            /* a sim_handler */
void scale_worker_receive(struct scale_worker *w, struct parcel *p); /* takes it over */

#endif

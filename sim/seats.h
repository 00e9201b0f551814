/* Where a world's ranks are: a place for each, on a host of its own, and the processes that run there, one
 * after the other. */
#pragma once

#include "process.h"
#include "scenario.h"

struct seat {
    struct seats *seats;
    struct program *program;
    unsigned rank, host;
    struct process *process; /* the last one; NULL: none has begun */
    unsigned lives;          /* that have begun */
};

struct seats {
    struct scenario *scenario;
    struct sim *sim;
    struct star *star;
    struct oracle *oracle;
    uint64_t *rng;
    struct seat *seat; /* by host */
    struct ended_process *ended;
};

/* All ranks of all programs; each starts within 100 ms. */
void seats_open(struct seats *s, struct scenario *scenario, struct sim *sim, struct star *star,
                struct oracle *oracle, uint64_t *rng);
void seats_close(struct seats *s);

/* Until then; 0: for good. False: there is nobody, or, in a benign scenario, the others cannot do without. */
bool seats_kill(struct seats *s, unsigned host, uint64_t until);
/* Until then. False: there is nobody, or he is stopped already. */
bool seats_stop(struct seats *s, unsigned host, uint64_t until);

/* Whether no job ends with its switch, as things are. */
bool seats_outlive_switch(const struct seats *s);

bool seats_are_ready(const struct seats *s);                                /* all are in their jobs */
bool seats_have_left(const struct seats *s, const struct program *program); /* all its ranks */
bool seats_are_over(const struct seats *s);                                 /* and nobody comes back */
void seats_check_over(const struct seats *s);                               /* when they must be */

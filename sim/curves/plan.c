#include "curves/plan.h"

#include <stddef.h>

#include "sim.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const unsigned workers_of[] = {8, 32, 64}, workers_small[] = {3};
static const unsigned jobs_of[] = {1, 2, 4, 8, 16}, jobs_small[] = {1, 2};
static const uint32_t losses_ppm[] = {0, 10, 100, 1000, 10000};
static const uint32_t forward_ppm[] = {0, 250000, 500000, 750000, 1000000};

struct list {
    struct point *point;
    unsigned n;
};

static void add(struct list *l, struct point p)
{
    if (l->n == PLAN_POINTS_MAX)
        sim_die("too many points");
    l->point[l->n++] = p;
}

/* Alone, with room for all: losses, and chunks that the switch passes on. */
static void add_alone(struct list *l, unsigned workers)
{
    const struct point p = {.workers = workers, .jobs = 1, .aggregators = PLAN_ROOM, .window = PLAN_WINDOW};

    for (size_t i = 0; i < COUNT(losses_ppm); i++) {
        struct point lossy = p;
        lossy.curve = "loss";
        lossy.loss_ppm = losses_ppm[i];
        add(l, lossy);
    }
    for (size_t i = 0; i < COUNT(forward_ppm); i++) {
        struct point passed = p;
        passed.curve = "forward";
        passed.forward_ppm = forward_ppm[i];
        add(l, passed);
        passed.no_control = true;
        add(l, passed);
    }
}

/* Jobs that all work with aggregators for one, shared or divided, with one for each chunk under way, and with
 * room; and on hosts that are late, for else a job needs but one aggregator: all at once, and in turns. */
static void add_jobs(struct list *l, unsigned workers, unsigned jobs)
{
    struct point p = {.workers = workers, .jobs = jobs, .aggregators = PLAN_ONES, .window = PLAN_ONES};

    p.curve = "all_on";
    add(l, p);
    p.parts = (uint16_t)jobs;
    add(l, p);
    p.parts = 0;
    p.curve = "enough";
    p.aggregators = PLAN_ONES * jobs;
    add(l, p);
    p.aggregators = PLAN_ONES;
    p.window = PLAN_WINDOW_LATE;
    p.late = true;
    p.curve = "late";
    add(l, p);
    p.in_turns = true;
    p.curve = "turns";
    add(l, p);
    p.parts = (uint16_t)jobs;
    add(l, p);
    p = (struct point){.curve = "room",
                       .workers = workers,
                       .jobs = jobs,
                       .aggregators = PLAN_ROOM,
                       .window = PLAN_WINDOW_JOBS};
    add(l, p);
}

/* Two jobs, the second of which has fewer workers. */
static void add_unequal(struct list *l, unsigned workers)
{
    struct point p = {.curve = "unequal_room",
                      .workers = workers,
                      .jobs = 2,
                      .fewer = 2,
                      .aggregators = PLAN_ROOM,
                      .window = PLAN_WINDOW_JOBS};

    add(l, p);
    p.curve = "unequal_all_on";
    p.aggregators = p.window = PLAN_ONES;
    add(l, p);
    p.curve = "unequal_late";
    p.window = PLAN_WINDOW_LATE;
    p.late = true;
    add(l, p);
}

/* One job in two levels, the servers beside one of the racks. */
static void add_racks(struct list *l, unsigned workers, unsigned racks)
{
    struct point p = {.curve = "racks",
                      .workers = workers,
                      .jobs = 1,
                      .racks = racks,
                      .aggregators = PLAN_ROOM,
                      .window = PLAN_WINDOW};

    add(l, p);
    p.curve = "racks_near_unknown";
    p.near_unknown = true;
    add(l, p);
}

unsigned plan_points(struct point points[PLAN_POINTS_MAX], bool small)
{
    const unsigned *workers = small ? workers_small : workers_of, *jobs = small ? jobs_small : jobs_of;
    const size_t sizes = small ? COUNT(workers_small) : COUNT(workers_of);
    const size_t counts = small ? COUNT(jobs_small) : COUNT(jobs_of);
    struct list l = {.point = points};

    for (size_t w = sizes; w-- > 0;) {
        add_alone(&l, workers[w]);
        add_racks(&l, workers[w], small ? 2 : PLAN_RACKS);
        for (size_t j = counts; j-- > 0;)
            add_jobs(&l, workers[w], jobs[j]);
    }
    add_unequal(&l, workers[0]);
    return l.n;
}

uint64_t plan_chunks(const struct point *p, bool small)
{
    return (small ? 40000 : 400000) / p->workers;
}

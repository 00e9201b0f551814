#include "flights.h"

#include <poll.h>
#include <stdlib.h>

#include "random.h"

struct plan plan_of(unsigned i, int ranks, size_t count_max)
{
    static const enum swagg_type types[] = {SWAGG_F32, SWAGG_I32, SWAGG_F64};
    uint64_t random = seed + 7919 * i;
    struct plan p = {.tensor = {.type = types[rng_below(&random, 3)],
                                .count = rng_magnitude(&random, 1, count_max),
                                .seed = seed + i,
                                .round = true}};

    p.root = rng_below(&random, 4) == 0 ? (int)rng_below(&random, (uint64_t)ranks) : -1;
    p.blocking = rng_below(&random, 8) == 0;
    p.vector = p.root < 0 && rng_below(&random, 3) == 0;
    p.random = (unsigned)rng_below(&random, 1 << 16);
    return p;
}

void flight_begin(struct flight *f, const struct plan *plan, int rank)
{
    *f = (struct flight){.plan = *plan,
                         .send = malloc(plan->tensor.count * 8 + 1),
                         .recv = malloc(plan->tensor.count * 8 + 1)};
    tensor_fill(&plan->tensor, rank, f->send);
}

int flight_post(struct swagg_job *job, struct flight *f, const struct swagg_post *how)
{
    const struct tensor *t = &f->plan.tensor;
    const size_t element = swagg_element_size(t->type, SWAGG_SUM), half = t->count / 2;
    const struct swagg_segment pieces[] = {
        {f->send, f->recv, half}, {f->send + half * element, f->recv + half * element, t->count - half}};

    if (f->plan.vector)
        return swagg_post_allreducev(job, pieces, 2, t->type, SWAGG_SUM, how, &f->request);
    return f->plan.root < 0
               ? swagg_post_allreduce(job, f->send, f->recv, t->count, t->type, SWAGG_SUM, how, &f->request)
               : swagg_post_reduce(job, f->send, f->recv, t->count, t->type, SWAGG_SUM, f->plan.root, how,
                                   &f->request);
}

static int block(struct swagg_job *job, struct flight *f)
{
    const struct tensor *t = &f->plan.tensor;

    return f->plan.root < 0 ? swagg_allreduce(job, f->send, f->recv, t->count, t->type, SWAGG_SUM)
                            : swagg_reduce(job, f->send, f->recv, t->count, t->type, SWAGG_SUM, f->plan.root);
}

int flight_end(struct flight *f, const struct crew_member *m, int rc)
{
    const bool receives = f->plan.root < 0 || f->plan.root == m->rank;

    if (rc == 0 && receives && !tensor_is_result(&f->plan.tensor, m->crew->size, f->recv))
        rc = WRONG_SUM;
    free(f->send);
    free(f->recv);
    return rc;
}

int flight_end_one(struct crew_member *m, struct flight held[FLIGHTS_HELD], unsigned *n, uint64_t *random)
{
    struct swagg_request *requests[FLIGHTS_HELD];
    struct pollfd bell = {.events = POLLIN};
    size_t which = rng_below(random, *n);
    int rc;

    if (rng_below(random, 3) == 0) {
        for (unsigned i = 0; i < *n; i++)
            requests[i] = held[i].request;
        rc = swagg_wait_any(requests, *n, &which);
        if (which < *n)
            held[which].request = requests[which];
    } else if (rng_below(random, 2) == 0) {
        rc = swagg_wait(&held[which].request);
    } else {
        bell.fd = swagg_get_fd(m->job);
        while ((rc = swagg_test(&held[which].request)) == SWAGG_IN_PROGRESS)
            poll(&bell, 1, 1);
    }
    if (held[which].request != NULL)
        rc = WRONG_SUM;
    rc = flight_end(&held[which], m, rc);
    held[which] = held[--*n];
    return rc;
}

int flights_beside_blocking(struct crew_member *m, unsigned calls, size_t count_max, atomic_int *made)
{
    struct flight held[FLIGHTS_HELD];
    uint64_t random = seed + (uint64_t)m->rank;
    unsigned n = 0;
    int rc = 0;

    for (unsigned i = 0; i < calls && rc == 0; i++) {
        const struct plan plan = plan_of(i, m->crew->size, count_max);
        while (rc == 0 && (n == FLIGHTS_HELD || (n > 0 && rng_below(&random, 3) == 0)))
            rc = flight_end_one(m, held, &n, &random);
        if (rc < 0)
            break;
        flight_begin(&held[n], &plan, m->rank);
        rc = plan.blocking ? block(m->job, &held[n]) : flight_post(m->job, &held[n], NULL);
        if (rc < 0 || plan.blocking)
            rc = flight_end(&held[n], m, rc);
        else
            n++;
        if (m->rank == 0 && made)
            atomic_fetch_add(made, 1);
    }
    while (n > 0) {
        const int last = flight_end_one(m, held, &n, &random);
        rc = rc < 0 ? rc : last;
    }
    return rc;
}

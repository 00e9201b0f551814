#include "seats.h"

#include <stdlib.h>

#include "memory.h"

struct ended_process {
    struct ended_process *next;
    struct process *process;
};

static bool has_process(const struct seat *seat)
{
    return seat->process != NULL && !process_is_over(seat->process);
}

static bool is_ready(const struct seat *seat)
{
    return seat->process != NULL && seat->process->formation != NULL;
}

/* Life and death */

static void on_start(void *ctx, uint64_t argument);

/* A rank that failed tries again, as a restarted job does. */
static void on_exit_of(void *ctx, struct process *process)
{
    struct seat *seat = ctx;
    struct sim *sim = seat->seats->sim;

    if (process->failed && seat->lives < seat->program->lives)
        sim_at(sim, sim->now + rng_below(seat->seats->rng, 200 * MS), on_start, seat, 0);
}

static void start_process(struct seat *seat)
{
    struct seats *s = seat->seats;
    bool same_ports = seat->process != NULL && rng_below(s->rng, 2);
    uint16_t port =
        same_ports ? seat->process->control.port : (uint16_t)(2 * rng_between(s->rng, 16384, 32000));
    struct process_config cfg = {
        .sim = s->sim,
        .star = s->star,
        .oracle = s->oracle,
        .program = seat->program,
        .rank = seat->rank,
        .host = seat->host,
        .incarnation = rng_next(s->rng) | 1,
        .control_port = port,
        .data_port = (uint16_t)(port + 1),
        .exited = on_exit_of,
        .exited_ctx = seat,
    };

    if (seat->process != NULL) {
        struct ended_process *e = memory_of(sizeof(*e));
        *e = (struct ended_process){s->ended, seat->process};
        s->ended = e;
    }
    seat->lives++;
    seat->process = process_start(&cfg);
}

static void on_start(void *ctx, uint64_t argument)
{
    struct seat *seat = ctx;

    (void)argument;
    if (!has_process(seat))
        start_process(seat);
}

static void on_continue(void *ctx, uint64_t argument)
{
    struct seat *seat = ctx;

    (void)argument;
    process_continue(seat->process);
}

void seats_open(struct seats *s, struct scenario *scenario, struct sim *sim, struct star *star,
                struct oracle *oracle, uint64_t *rng)
{
    unsigned host = 0;

    *s = (struct seats){.scenario = scenario, .sim = sim, .star = star, .oracle = oracle, .rng = rng};
    s->seat = memory_of(scenario->hosts * sizeof(*s->seat));
    for (unsigned i = 0; i < scenario->programs; i++)
        for (unsigned r = 0; r < scenario->program[i].size; r++, host++) {
            s->seat[host] =
                (struct seat){.seats = s, .program = &scenario->program[i], .rank = r, .host = host};
            sim_at(sim, rng_below(rng, 100 * MS), on_start, &s->seat[host], 0);
        }
}

void seats_close(struct seats *s)
{
    for (unsigned h = 0; h < s->scenario->hosts; h++)
        if (s->seat[h].process != NULL)
            process_free(s->seat[h].process);
    while (s->ended != NULL) {
        struct ended_process *e = s->ended;
        s->ended = e->next;
        process_free(e->process);
        free(e);
    }
    free(s->seat);
}

/* Whether a job whose ranks are all in it can do without one more. */
static bool others_go_on(const struct seats *s, const struct program *program)
{
    unsigned rest = program->size;

    for (unsigned h = 0; h < s->scenario->hosts; h++) {
        const struct seat *seat = &s->seat[h];
        if (seat->program != program)
            continue;
        if (!is_ready(seat))
            return false;
        rest -= seat->process->phase == PROCESS_KILLED;
    }
    return rest > program_needs(program);
}

bool seats_kill(struct seats *s, unsigned host, uint64_t until)
{
    struct seat *seat = &s->seat[host];

    if (!has_process(seat) || (s->scenario->benign && !others_go_on(s, seat->program)))
        return false;
    process_kill(seat->process);
    if (until != 0)
        sim_at(s->sim, until, on_start, seat, 0);
    return true;
}

bool seats_stop(struct seats *s, unsigned host, uint64_t until)
{
    struct seat *seat = &s->seat[host];

    if (!has_process(seat) || seat->process->stopped)
        return false;
    process_stop(seat->process);
    sim_at(s->sim, until, on_continue, seat, 0);
    return true;
}

/* How they stand */

/* A job outlives its switch only while no rank leaves it. */
static bool nobody_is_about_to_leave(const struct seats *s)
{
    for (unsigned h = 0; h < s->scenario->hosts; h++) {
        const struct process *p = s->seat[h].process;
        if (is_ready(&s->seat[h]) && (p->phase > PROCESS_CALLING || p->call + 1 >= s->seat[h].program->calls))
            return false;
    }
    return true;
}

/* Nor does it if a quorum of its ranks may have sums without one that does not know yet that it runs. */
static bool no_quorum_is_ahead(const struct seats *s)
{
    for (unsigned i = 0; i < s->scenario->programs; i++) {
        const struct program *program = &s->scenario->program[i];
        unsigned ready = 0;
        for (unsigned h = 0; h < s->scenario->hosts; h++)
            ready += s->seat[h].program == program && is_ready(&s->seat[h]);
        if (ready >= program_needs(program) && ready < program->size)
            return false;
    }
    return true;
}

bool seats_outlive_switch(const struct seats *s)
{
    return nobody_is_about_to_leave(s) && no_quorum_is_ahead(s);
}

bool seats_are_ready(const struct seats *s)
{
    for (unsigned h = 0; h < s->scenario->hosts; h++)
        if (!is_ready(&s->seat[h]))
            return false;
    return true;
}

bool seats_have_left(const struct seats *s, const struct program *program)
{
    for (unsigned h = 0; h < s->scenario->hosts; h++)
        if (s->seat[h].program == program &&
            (s->seat[h].process == NULL || !process_is_over(s->seat[h].process)))
            return false;
    return true;
}

bool seats_are_over(const struct seats *s)
{
    for (unsigned h = 0; h < s->scenario->hosts; h++) {
        const struct seat *seat = &s->seat[h];
        if (seat->process == NULL || !process_is_over(seat->process) ||
            (seat->process->phase == PROCESS_EXITED && seat->process->failed &&
             seat->lives < seat->program->lives))
            return false;
    }
    return true;
}

void seats_check_over(const struct seats *s)
{
    for (unsigned h = 0; h < s->scenario->hosts; h++) {
        const struct process *p = s->seat[h].process;
        if (p == NULL || !process_is_over(p))
            oracle_fail(s->oracle, "%s hangs in phase %d, call %u", p ? p->name : "a process",
                        p ? (int)p->phase : -1, p ? p->call : 0);
        else if (s->scenario->benign && p->formation == NULL)
            oracle_fail(s->oracle, "%s could not open its job, for no good reason", p->name);
    }
}

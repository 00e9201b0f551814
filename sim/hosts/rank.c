#include "hosts/rank.h"

#include <stdarg.h>
#include <stdlib.h>

#include "kernels_chosen.h"
#include "memory.h"
#include "reference.h"

enum { SLICE_MIN_US = 500, SLICE_MAX_MS = 50, OTHERS_MS = 700, RAIL_PORT = 20000 };

static void on_turn(void *ctx, uint64_t at);

static uint64_t now(const struct hosts_rank *r)
{
    return r->world->sim.now;
}

static void soon(struct hosts_rank *r, uint64_t most)
{
    r->wake_at = now(r) + 1 + rng_below(&r->rng, most);
    sim_at(&r->world->sim, r->wake_at, on_turn, r, r->wake_at);
}

/* Steps are quick, but now and then the process does not run. */
static void next_step(struct hosts_rank *r)
{
    soon(r, rng_below(&r->rng, 20) == 0 ? r->world->scenario->step_ns * 50 : r->world->scenario->step_ns);
}

static void note(struct hosts_rank *r, const char *what, uint64_t value)
{
    struct hosts_world *w = r->world;

    w->digest = splitmix_hash(w->digest ^ splitmix_hash(now(r)) ^ (value << 8 | r->rank));
    sim_trace(&w->sim, r->name, "%s %" PRIu64, what, value);
}

static struct xfer_call call_of(const struct hosts_rank *r, unsigned call)
{
    const struct hosts_scenario *s = r->world->scenario;
    struct xfer_call c = s->call[call];

    if (s->differs.does && s->differs.rank == r->rank && s->differs.call == call)
        c.count = s->differs.count;
    return c;
}

/* --- how it ends --- */

static void leave(struct hosts_rank *r)
{
    local_sit(&r->member, LOCAL_LEFT);
    r->phase = RANK_OVER;
    if (r->has_rail)
        rail_close(&r->rail);
}

/* What the board says counts: another rank may have been first. */
static void fail(struct hosts_rank *r, const struct local_fault *fault)
{
    if (fault != NULL)
        local_raise(&r->member, fault);
    if (!local_faulted(&r->member, &r->why))
        oracle_fail(&r->world->oracle, "%s: fails, and the board does not say why", r->name);
    sim_trace(&r->world->sim, r->name, "fails in call %u: %s", r->call, r->why.text);
    note(r, "fails", r->call);
    r->failed = true;
    r->world->failed++;
    if (r->has_rail)
        rail_abort(&r->rail, CTL_APPLICATION, r->why.text);
    leave(r);
}

__attribute__((format(printf, 3, 4))) static void fail_with(struct hosts_rank *r, enum ctl_reason reason,
                                                            const char *format, ...)
{
    struct local_fault fault = {.status = -1, .reason = (uint16_t)reason};
    va_list args;

    va_start(args, format);
    vsnprintf(fault.text, sizeof fault.text, format, args);
    va_end(args);
    fail(r, &fault);
}

/* In words that name ranks, wherever the switch speaks of hosts. */
static void fail_by_rail(struct hosts_rank *r)
{
    const struct ctl_failure *f = &r->rail.p.session.failure;
    char text[CTL_TEXT_MAX];

    local_name_hosts(&r->world->plan, f->text, text, sizeof text);
    fail_with(r, (enum ctl_reason)f->reason, "%s", f->reason == CTL_APPLICATION ? f->text : text);
}

static void die(struct hosts_rank *r)
{
    note(r, "dies at step", r->steps);
    r->world->deaths++;
    r->phase = RANK_DEAD;
    if (r->has_rail)
        rail_kill(&r->rail);
}

static bool dies(const struct hosts_rank *r)
{
    const struct hosts_scenario *s = r->world->scenario;

    for (unsigned i = 0; i < s->deaths; i++)
        if (s->death[i].rank == r->rank && s->death[i].at <= r->steps)
            return true;
    return false;
}

/* --- calls --- */

/* Elements that the rank contributes to a call, of so many. */
static void fill(const struct hosts_scenario *s, unsigned rank, unsigned call, uint64_t count, void *elements)
{
    const unsigned code = agg_code(s->call[call].type, s->call[call].op);
    uint64_t r = s->seed ^ (uint64_t)rank << 40 ^ (uint64_t)call << 20;

    if (s->whole) {
        reference_fill(code, &r, true, elements, count);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        const double x = (double)(int32_t)rng_next(&r) * 1e-3;
        if (s->call[call].type == AGG_F32)
            ((float *)elements)[i] = (float)x;
        else
            ((double *)elements)[i] = x;
    }
}

static void pass(struct hosts_rank *r)
{
    local_pass(&r->member, &(struct xfer_call){.seq = r->made++, .collective = XFER_BARRIER});
}

/* Those before the next one that goes by the board; and in the place of that. */
static void make_asides(struct hosts_rank *r)
{
    const struct hosts_scenario *s = r->world->scenario;

    for (unsigned i = 0; i < s->asides[r->call]; i++)
        pass(r);
    r->deadline = now(r) + s->call_timeout_ns;
    r->slice = SLICE_MIN_US * US;
    r->phase = RANK_CALLING;
    r->astray = s->differs.aside && s->differs.rank == r->rank && s->differs.call == r->call;
    if (r->astray)
        pass(r);
}

static void begin_call(struct hosts_rank *r)
{
    struct xfer_call call = call_of(r, r->call);
    const size_t element = agg_element_size(call.type, call.op);
    const bool in_place = rng_below(&r->rng, 2);
    void *in = memory_of(call.count * element), *out = in_place ? in : memory_of(call.count * element);
    uint64_t count;

    fill(r->world->scenario, r->rank, r->call, call.count, in);
    r->tensor = (struct xfer_segment){.in = in, .out = out, .count = call.count};
    xfer_segments_measure(&r->tensor, 1, element, &count);
    call.seq = r->made++;
    local_begin(&r->member, &call, &r->tensor, 1);
    r->begun++;
    note(r, "begins call", r->call);
}

static void free_tensor(struct hosts_rank *r)
{
    if (r->tensor.out != r->tensor.in)
        free(r->tensor.out);
    free((void *)r->tensor.in);
    r->tensor = (struct xfer_segment){0};
}

/* Rank after rank on each host, and then host after host; numbers that are whole come to the same in any
 * order. */
static void expect(const struct hosts_world *w, unsigned call, uint64_t count, void *sums)
{
    const struct hosts_scenario *s = w->scenario;
    const unsigned code = agg_code(s->call[call].type, s->call[call].op);
    const size_t bytes = count * agg_code_bytes(code);
    uint8_t *all = memory_of(s->ranks * bytes), *hosts = memory_of(s->hosts * bytes);
    const void *in[HOSTS_RANKS_MAX];

    for (unsigned rank = 0; rank < s->ranks; rank++) {
        fill(s, rank, call, count, all + rank * bytes);
        in[rank] = all + rank * bytes;
    }
    if (s->whole) {
        reference_reduce(code, sums, in, s->ranks, count);
    } else {
        for (unsigned host = 0; host < w->plan.hosts; host++) {
            for (unsigned i = 0; i < w->plan.locals[host]; i++)
                in[i] = all + local_plan_rank(&w->plan, host, i) * bytes;
            reference_reduce(code, hosts + host * bytes, in, w->plan.locals[host], count);
        }
        for (unsigned host = 0; host < w->plan.hosts; host++)
            in[host] = hosts + host * bytes;
        reference_reduce(code, sums, in, w->plan.hosts, count);
    }
    free(all);
    free(hosts);
}

static void check_sums(struct hosts_rank *r, const struct xfer_call *call)
{
    const unsigned code = agg_code(call->type, call->op);
    uint8_t *sums = memory_of(call->count * agg_code_bytes(code));

    expect(r->world, r->call, call->count, sums);
    if (!reference_equal(code, r->tensor.out, sums, call->count))
        oracle_fail(&r->world->oracle, "%s: call %u: a wrong sum", r->name, r->call);
    free(sums);
}

/* A call that succeeds has all ranks in it, and they have called the same. */
static void succeed(struct hosts_rank *r)
{
    const struct hosts_world *w = r->world;
    const struct xfer_call call = call_of(r, r->call);

    note(r, "has the sums of call", r->call);
    if (xfer_gives(call.collective, call.root, r->rank))
        check_sums(r, &call);
    for (unsigned rank = 0; rank < w->scenario->ranks; rank++)
        if (w->rank[rank].begun <= r->call)
            oracle_fail(&r->world->oracle, "%s: call %u succeeds, which rank %u has not begun", r->name,
                        r->call, rank);
    if (w->scenario->differs.does && w->scenario->differs.call == r->call)
        oracle_fail(&r->world->oracle, "%s: call %u succeeds, and rank %u has called something else", r->name,
                    r->call, w->scenario->differs.rank);
    r->world->succeeded++;
    free_tensor(r);
    r->call++;
    r->phase = RANK_COMPUTING;
}

/* --- the rail --- */

/* One share after the other; that calls follow one another within a stream is simulated with the stream's own
 * application. */
static void feed_rail(struct hosts_rank *r)
{
    const struct local_step *share = &r->share[r->given % 2];

    if (r->given != r->summed || r->given == r->asked)
        return;
    r->given++;
    rail_sum(&r->rail, &share->call, share->elements, r->deadline);
}

static void ask_rail(struct hosts_rank *r)
{
    r->share[r->asked++ % 2] = r->step;
    if (r->asked - r->told > 2)
        oracle_fail(&r->world->oracle, "%s: more than two shares are being summed", r->name);
    feed_rail(r);
}

/* Sleeps; the rail wakes it. */
static void wait_for_rail(struct hosts_rank *r)
{
    if (r->rail_failed)
        fail_by_rail(r);
    else
        soon(r, SLICE_MAX_MS * MS);
}

/* --- turns --- */

/* Sleeps; who is awaited may be dead or have strayed, time over, or the rail have failed. */
static void wait(struct hosts_rank *r)
{
    struct local_step astray;
    const struct hosts_rank *other = &r->world->rank[r->step.rank];
    const uint64_t more = r->step.sums && r->world->plan.hosts > 1 ? OTHERS_MS * MS : 0;

    if (other->phase == RANK_DEAD)
        fail_with(r, CTL_RANK_LOST, "rank %u has died", r->step.rank);
    else if (local_strays(&r->member, &astray))
        fail_with(r, CTL_MISMATCH, "rank %u has called something aside", astray.rank);
    else if (r->rail_failed)
        fail_by_rail(r);
    else if (now(r) >= r->deadline + more)
        fail_with(r, CTL_DEADLINE, "the deadline has passed, waiting for rank %u", r->step.rank);
    else
        soon(r, r->slice);
    r->slice = 2 * r->slice < SLICE_MAX_MS * MS ? 2 * r->slice : SLICE_MAX_MS * MS;
}

/* What it has called nobody else does: it hears so from the others. */
static void wait_aside(struct hosts_rank *r)
{
    struct local_fault fault;

    if (local_faulted(&r->member, &fault))
        fail(r, NULL);
    else if (r->rail_failed)
        fail_by_rail(r);
    else if (now(r) >= r->deadline)
        fail_with(r, CTL_DEADLINE, "the deadline has passed, in another call than the others'");
    else
        soon(r, SLICE_MAX_MS * MS);
}

static void step(struct hosts_rank *r)
{
    feed_rail(r);
    if (r->at_rail && r->summed != r->told) {
        r->told++;
        local_railed(&r->member);
    }
    const enum local_next next = local_go(&r->member, &r->step);

    r->at_rail = next == LOCAL_RAILING;
    if (next != LOCAL_WAIT)
        r->slice = SLICE_MIN_US * US;
    switch (next) {
    case LOCAL_WAIT:
        wait(r);
        return;
    case LOCAL_RAIL:
        ask_rail(r);
        break;
    case LOCAL_RAILING:
        wait_for_rail(r);
        return;
    case LOCAL_DONE:
        succeed(r);
        break;
    case LOCAL_MISMATCH:
        fail_with(r, CTL_MISMATCH, "rank %u has called something else", r->step.rank);
        return;
    case LOCAL_GONE:
        oracle_fail(&r->world->oracle, "%s: rank %u has left, and nobody has failed", r->name, r->step.rank);
        fail_with(r, CTL_RANK_LOST, "rank %u has left", r->step.rank);
        return;
    case LOCAL_FAULT:
        fail(r, NULL);
        return;
    case LOCAL_ON:
        break;
    }
    next_step(r);
}

static void compute(struct hosts_rank *r)
{
    struct local_fault fault;

    if (r->call == r->world->scenario->calls) {
        leave(r);
        return;
    }
    if (local_faulted(&r->member, &fault)) {
        fail(r, NULL);
        return;
    }
    make_asides(r);
    if (!r->astray)
        begin_call(r);
    next_step(r);
}

static void open(struct hosts_rank *r)
{
    struct local_fault fault;

    if (local_faulted(&r->member, &fault)) {
        fail(r, NULL);
    } else if (r->rail_failed) {
        fail_by_rail(r);
    } else {
        if (!r->has_rail || r->open)
            r->phase = RANK_COMPUTING;
        soon(r, r->phase == RANK_COMPUTING ? r->world->scenario->compute_ns : SLICE_MAX_MS * MS);
    }
}

static void on_turn(void *ctx, uint64_t at)
{
    struct hosts_rank *r = ctx;

    if (at != r->wake_at || r->phase >= RANK_OVER)
        return;
    r->steps++;
    if (dies(r)) {
        die(r);
        return;
    }
    switch (r->phase) {
    case RANK_OPENING:
        open(r);
        break;
    case RANK_COMPUTING:
        compute(r);
        break;
    case RANK_CALLING:
        if (r->astray)
            wait_aside(r);
        else
            step(r);
        if (r->phase == RANK_COMPUTING)
            soon(r, r->world->scenario->compute_ns);
        break;
    default:
        break;
    }
}

static void on_rail(void *ctx, enum rail_said what)
{
    struct hosts_rank *r = ctx;

    r->open |= what == RAIL_OPEN;
    r->summed += what == RAIL_SUMMED;
    r->rail_failed |= what == RAIL_FAILED;
    if (r->phase < RANK_OVER && r->phase != RANK_COMPUTING)
        soon(r, r->world->scenario->step_ns);
}

/* --- life --- */

void hosts_rank_start(struct hosts_rank *r, struct hosts_world *w, unsigned rank)
{
    const struct hosts_scenario *s = w->scenario;
    const unsigned host = w->plan.host[rank], number = w->plan.number[rank];

    *r = (struct hosts_rank){
        .world = w, .rank = rank, .rng = rng_fork(&w->rng), .has_rail = number < w->plan.rails};
    snprintf(r->name, sizeof r->name, "%u.%u", host, rank);
    local_member_init(&r->member, &w->plan, rank, w->board[host], s->block_bytes, kernels_or_exit());
    local_sit(&r->member, LOCAL_SEATED);
    soon(r, SLICE_MAX_MS * MS);
    if (!r->has_rail)
        return;
    struct rail_config rail = {.sim = &w->sim,
                               .star = &w->star,
                               .oracle = &w->oracle,
                               .host = host,
                               .hosts = w->plan.hosts,
                               .port = (uint16_t)(RAIL_PORT + 2 * number),
                               .incarnation = rng_next(&r->rng) | 1,
                               .mode = s->mode,
                               .slots = s->slots,
                               .chunk_bytes = s->chunk_bytes,
                               .join_timeout_ns = s->join_timeout_ns,
                               .said = on_rail,
                               .ctx = r};
    local_job_name("job", "rail", number, rail.name);
    rail_start(&r->rail, &rail);
}

void hosts_rank_fini(struct hosts_rank *r)
{
    free_tensor(r);
    if (r->has_rail)
        rail_free(&r->rail);
}

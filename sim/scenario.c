#include "scenario.h"

#include "paper_switch.h"
#include "reference.h"
#include "scenario_parts.h"
#include "switchml/terms.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const fault_names[FAULTS] = {
    [FAULT_KILL_SWITCH] = "switch killed",
    [FAULT_KILL_PROCESS] = "process killed",
    [FAULT_STOP_PROCESS] = "process stopped",
    [FAULT_CUT] = "cable cut",
    [FAULT_BAD_LINK] = "bad link",
};

static uint64_t pick(uint64_t *r, const uint64_t choices[], unsigned n)
{
    return choices[rng_below(r, n)];
}

static uint32_t rarely(uint64_t *r, uint32_t percent, uint64_t low, uint64_t high)
{
    return rng_below(r, 100) < percent ? (uint32_t)rng_magnitude(r, low, high) : 0;
}

enum { WORST_BENIGN_PPM = 10000, SLOTS_WANTED_MAX = 128, CHIP_CALL_MAX = 4000 };

/* Heartbeats are rare, so in a benign scenario losses come neither often nor in bursts: a rank must not count
 * as lost. */
static struct link_quality make_quality(uint64_t *r, uint32_t worst_ppm)
{
    static const uint64_t speeds[] = {20000000, 200000000, 1000000000, 10000000000, 0};
    struct link_quality q = {
        .bits_per_s = pick(r, speeds, 5),
        .delay = rng_magnitude(r, 1 * US, 2 * MS),
        .jitter = rarely(r, 40, 1 * US, 1 * MS),
        .loss_ppm = rarely(r, 60, 100, worst_ppm),
        .loss_burst = worst_ppm > WORST_BENIGN_PPM ? 1 + rarely(r, 30, 1, 20) : 1,
        .duplicate_ppm = rarely(r, 40, 100, worst_ppm),
        .corrupt_ppm = rarely(r, 40, 100, worst_ppm),
        .delay_ppm = rarely(r, 40, 100, worst_ppm),
        .held_ns = rng_magnitude(r, 10 * US, 500 * MS),
    };

    if (q.bits_per_s != 0 && rng_below(r, 4) == 0)
        q.queue_bytes = (uint32_t)rng_magnitude(r, 10000, 1000000);
    return q;
}

/* Sums are what most jobs ask for. */
static unsigned any_code(uint64_t *r)
{
    const bool sum = rng_below(r, 2) == 0;
    unsigned code;

    do
        code = reference_any(r);
    while (sum && agg_code_op(code) != AGG_SUM);
    return code;
}

static void make_calls(struct program *p, uint64_t *r)
{
    uint64_t most = rng_magnitude(r, 1, 20000); /* elements of a call */

    p->calls = (unsigned)rng_between(r, 1, PROGRAM_CALLS_MAX);
    for (unsigned c = 0; c < p->calls; c++) {
        bool reduce = rng_below(r, 3) == 0;
        const unsigned code = any_code(r);
        p->call[c] = (struct xfer_call){
            .collective = reduce ? XFER_REDUCE : XFER_ALLREDUCE,
            .type = (uint8_t)agg_code_type(code),
            .op = (uint8_t)agg_code_op(code),
            .root = reduce ? (uint32_t)rng_below(r, p->size) : 0,
            .count = rng_below(r, most + 1),
        };
    }
}

static void make_program(struct program *p, uint64_t *r, unsigned index, bool benign)
{
    *p = (struct program){
        .seed = rng_next(r),
        .size = (uint16_t)(rng_below(r, 10) == 0 ? rng_between(r, 1, 12) : rng_between(r, 2, 5)),
        .mode = rng_below(r, 2) ? XFER_ORDERED : XFER_ON_ARRIVAL,
        .format = XFER_FORMAT_TYPED,
        .slots = (uint16_t)rng_magnitude(r, 2, SLOTS_WANTED_MAX),
        .chunk_bytes = (uint16_t)(4 * rng_magnitude(r, 16, rng_below(r, 5) == 0 ? 365 : 64)),
        .window = (uint16_t)(rng_below(r, 3) == 0 ? rng_magnitude(r, 1, 64) : 0),
        .buffers = rng_below(r, 3) == 0 ? rng_next(r) | rng_next(r) : 0,
        .whole = rng_below(r, 2),
        .compute_ns = rng_below(r, 2) ? rng_magnitude(r, 1 * US, 300 * MS) : 0,
        .call_timeout_ns = benign ? 60 * S : rng_magnitude(r, 200 * MS, 20 * S),
        .join_timeout_ns = benign ? 60 * S : rng_magnitude(r, 500 * MS, 20 * S),
        .lives = benign ? 1 : (unsigned)rng_between(r, 1, 3),
    };
    snprintf(p->name, sizeof(p->name), "job%u", index);
    make_calls(p, r);
    if (!benign && p->size > 1 && rng_below(r, 6) == 0) {
        p->deviation.kind = (enum program_deviation)rng_between(r, DEVIATION_COUNT, DEVIATIONS - 1);
        p->deviation.rank = (unsigned)rng_below(r, p->size);
        p->deviation.call = (unsigned)rng_below(r, p->calls);
    }
}

/* A job with SwitchML's numbers. Its packets do not tell the calls, so a mismatch may go unnoticed; and plain
 * jobs do not outlive their switch. */
static void use_scaled_numbers(struct program *p, uint64_t *r, bool benign)
{
    p->format = rng_below(r, 3) == 0 ? XFER_FORMAT_FP16 : XFER_FORMAT_INT32;
    p->plain = !benign && p->format == XFER_FORMAT_INT32 && rng_below(r, 2);
    if (p->plain && p->chunk_bytes < 128)
        p->chunk_bytes = 128;
    p->checksum = XFER_CHECKSUM_NONE;
    p->buffers = 0;
    for (unsigned c = 0; c < p->calls; c++) {
        struct xfer_call *call = &p->call[c];
        call->type = p->format == XFER_FORMAT_INT32 && call->type == AGG_I32 ? AGG_I32
                     : rng_below(r, 3) == 0                                  ? AGG_F16
                                                                             : AGG_F32;
        call->op = call->type != AGG_I32 && rng_below(r, 3) == 0 ? AGG_AVG : AGG_SUM;
    }
    if (p->deviation.kind >= DEVIATION_COUNT && p->deviation.kind <= DEVIATION_COLLECTIVE)
        p->deviation.kind = DEVIATION_LEAVE;
}

/* What the paper's switch cannot do (paper_protocol.h): a job of one worker; more workers and slots than the
 * copy of it has. */
static void use_published_packets(struct program *p, uint64_t *r, bool benign)
{
    p->size = (uint16_t)rng_between(r, 2, PAPER_WORKERS);
    p->slots = (uint16_t)(p->slots < PAPER_SLOTS ? p->slots : PAPER_SLOTS);
    for (unsigned c = 0; c < p->calls; c++)
        p->call[c].root = 0;
    p->deviation.rank %= p->size;
    use_scaled_numbers(p, r, benign);
    p->format = XFER_FORMAT_INT32;
    p->plain = true;
    p->chunk_bytes = (uint16_t)rng_between(r, 128, 1460);
    p->chunk_bytes -= p->chunk_bytes % 4;
}

/* ... and tell a duplicate that is late by two phases: links keep their order, whatever else they do. */
static void keep_order(struct link_quality *q, const struct link_quality *usual)
{
    q->jitter = 0;
    q->delay_ppm = 0;
    q->delay = usual->delay;
    q->bits_per_s = usual->bits_per_s;
}

/* A job does not outlive it, so in a benign scenario it lives. Its controller sets jobs up out of band, so no
 * stranger speaks to it. */
static void have_the_papers_switch(struct scenario *s)
{
    s->switch_config.paper = true;
    s->stranger_every = 0;
    keep_order(&s->quality, &s->quality);
    for (unsigned i = 0; i < s->faults; i++) {
        keep_order(&s->fault[i].quality, &s->quality);
        if (s->benign && s->fault[i].kind == FAULT_KILL_SWITCH)
            s->fault[i].kind = FAULT_CUT;
    }
}

/* In a benign scenario all faults together are too short to make a rank count as lost. */
static struct fault make_fault(uint64_t *r, const struct scenario *s)
{
    uint64_t lost_after = s->switch_config.lost_after_ns,
             longest = s->benign ? lost_after / 5 / s->faults : 3 * lost_after;
    struct fault f = {
        .kind = (enum fault_kind)rng_below(r, FAULTS),
        .lasts = rng_magnitude(r, 1 * MS, longest),
        .host = (unsigned)rng_below(r, s->hosts),
        .up = rng_below(r, 3) != 0,
        .quality = make_quality(r, s->benign ? WORST_BENIGN_PPM : 900000),
    };

    f.down = !f.up || rng_below(r, 2);
    if (f.kind == FAULT_KILL_PROCESS && s->benign)
        f.kind = FAULT_KILL_SWITCH;
    if (f.kind == FAULT_KILL_PROCESS && rng_below(r, 3) == 0)
        f.lasts = 0;
    bool while_forming = f.kind == FAULT_KILL_SWITCH && rng_below(r, 2);
    if (while_forming)
        f.at_event = rng_magnitude(r, 8, 16 * s->hosts);
    else if (rng_below(r, 3) != 0)
        f.at_event = rng_magnitude(r, 32, 30000);
    else
        f.at = rng_magnitude(r, 1 * MS, s->calm_at);
    return f;
}

static void make_faults(struct scenario *s, uint64_t *r)
{
    s->faults = (unsigned)rng_below(r, rng_between(r, 1, SCENARIO_FAULTS_MAX) + 1);
    for (unsigned i = 0; i < s->faults; i++)
        s->fault[i] = make_fault(r, s);
}

/* Each life joins, computes, calls and closes within its limits. */
static uint64_t longest_life(const struct program *p)
{
    return p->join_timeout_ns + (p->calls + 1) * (p->compute_ns + p->call_timeout_ns) + 2 * S;
}

/* Faults take their time, and each may begin another life. */
static uint64_t latest_end(const struct scenario *s)
{
    uint64_t end = 0;

    for (unsigned i = 0; i < s->programs; i++) {
        uint64_t life = longest_life(&s->program[i]), longest = life * s->program[i].lives;
        for (unsigned f = 0; f < s->faults; f++)
            longest += 2 * s->fault[f].lasts + life;
        end = longest > end ? longest : end;
    }
    return end + scenario_fixed_takes(s);
}

/* Of a million: none, all, or as many as happens. */
static uint32_t some_or_all(uint64_t *r)
{
    switch (rng_below(r, 3)) {
    case 0:
        return 0;
    case 1:
        return PPM;
    default:
        return (uint32_t)rng_below(r, PPM);
    }
}

/* The program knows of stale packets, so links may reorder. An interpreter is slow, so calls are small. */
static void have_a_chip(struct scenario *s)
{
    s->switch_config.chip = true;
    s->quality.loss_ppm = PPM / 100;
    s->quality.jitter = 200 * US;
    for (unsigned i = 0; i < s->programs; i++) {
        s->program[i].chunk_bytes = (uint16_t)(128 << (s->seed + i) % 4);
        for (unsigned c = 0; c < s->program[i].calls; c++)
            s->program[i].call[c].count %= CHIP_CALL_MAX;
    }
}

void scenario_make(struct scenario *s, uint64_t seed, bool chip)
{
    uint64_t r = seed;

    *s = (struct scenario){.seed = seed, .benign = rng_below(&r, 3) == 0 || chip};
    const bool paper =
        chip || splitmix_hash(seed) % 8 == 0; /* of its own, so that other scenarios stay as they are */
    s->switch_config = (struct switch_config){
        .slots_max =
            (unsigned)rng_magnitude(&r, s->benign ? SCENARIO_PROGRAMS_MAX * SLOTS_WANTED_MAX : 128, 1024),
        .max_jobs = (uint16_t)rng_between(&r, 4, 16),
        .lost_after_ns = rng_magnitude(&r, 500 * MS, 5 * S),
    };
    s->programs = rng_below(&r, 10) < 7 ? 1 : (unsigned)rng_between(&r, 1, SCENARIO_PROGRAMS_MAX);
    s->parts = scenario_parts_of(seed, paper);
    if (s->parts.tenants && s->programs == 1)
        s->programs = SCENARIO_PROGRAMS_MAX;
    for (unsigned i = 0; i < s->programs; i++) {
        make_program(&s->program[i], &r, i, s->benign);
        if (paper)
            use_published_packets(&s->program[i], &r, s->benign);
        if (i == 0 && s->parts.many)
            scenario_make_many(&s->program[i], seed);
        s->hosts += s->program[i].size;
    }
    s->quality = make_quality(&r, s->benign ? WORST_BENIGN_PPM : 200000);
    s->calm_at = rng_magnitude(&r, 100 * MS, 30 * S);
    make_faults(s, &r);
    for (unsigned i = 0; i < s->programs; i++)
        s->program[i].checksum = rng_below(&r, 3) == 0 && !paper ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE;
    s->switch_config.keep_ppm = some_or_all(&r);
    s->switch_config.refer = rng_below(&r, 2);
    if (rng_below(&r, 3) == 0)
        s->stranger_every = rng_magnitude(&r, 1 * MS, 200 * MS);
    s->stranger_host = (unsigned)rng_below(&r, s->hosts);
    for (unsigned i = 0; i < s->programs; i++)
        if (rng_below(&r, 4) == 0 && !paper && s->program[i].size <= PROGRAM_FEW)
            use_scaled_numbers(&s->program[i], &r, s->benign);
    if (paper)
        have_the_papers_switch(s);
    if (chip)
        have_a_chip(s);
    s->switch_config.lasting = s->stranger_every != 0 && splitmix_hash(seed) % 2 == 0;
    scenario_add_parts(s);
    s->over_by = latest_end(s);
}

unsigned scenario_killed(const struct scenario *s, const struct fault *f)
{
    return (unsigned)(splitmix_hash(f->lasts) % (s->leaves + 1));
}

struct fault scenario_kill_switch(const struct scenario *s, unsigned which, uint64_t at, uint64_t lasts)
{
    struct fault f = {.kind = FAULT_KILL_SWITCH, .at = at, .lasts = lasts};

    while (scenario_killed(s, &f) != which)
        f.lasts++;
    return f;
}

void scenario_fini(struct scenario *s)
{
    free(s->at);
    free(s->host_tenant);
    free(s->host_keyed);
    for (unsigned i = 0; i < s->programs; i++)
        program_fini(&s->program[i]);
}

static void print_quality(const struct link_quality *q, FILE *out)
{
    fprintf(out,
            "%" PRIu64 " Mb/s, delay %" PRIu64 "+%" PRIu64
            " us, queue %u B, loss %u ppm in bursts of %u, duplicate %u "
            "ppm, corrupt %u ppm, hold %u ppm for up to %" PRIu64 " us\n",
            q->bits_per_s / 1000000, q->delay / US, q->jitter / US, q->queue_bytes, q->loss_ppm,
            q->loss_burst, q->duplicate_ppm, q->corrupt_ppm, q->delay_ppm, q->held_ns / US);
}

static void print_program(const struct program *p, FILE *out)
{
    fprintf(out,
            "%s: %u ranks, %s%s, %s%s, %u slots of %u bytes, window %u, %u calls, compute up to %" PRIu64
            " us, deadlines %" PRIu64 " ms (call) and %" PRIu64 " ms (join), %u lives\n",
            p->name, p->size, p->mode == XFER_ORDERED ? "ordered" : "on arrival",
            p->checksum == XFER_CHECKSUM_NONE ? "" : " with CRC32C in the place of UDP's checksum",
            xfer_format_name(p->format),
            p->plain             ? ", published packets only"
            : p->patience_ns > 0 ? ", some compressed, which it leaves early"
            : p->table.code != 0 ? ", some compressed"
                                 : "",
            p->slots, p->chunk_bytes, p->window, p->calls, p->compute_ns / US, p->call_timeout_ns / MS,
            p->join_timeout_ns / MS, p->lives);
    if (p->nics != 0)
        fprintf(out, "  NICs carry the packets of ranks 0x%" PRIx64 "\n", p->nics);
    scenario_print_quorum(p, out);
    if (p->deviation.kind != DEVIATION_NONE)
        fprintf(out, "  rank %u deviates in call %u (%d)\n", p->deviation.rank, p->deviation.call,
                p->deviation.kind);
}

void scenario_print(const struct scenario *s, FILE *out)
{
    fprintf(out,
            "seed %" PRIu64
            "%s%s: %u hosts, the switch has %u slots, keeps %u ppm of the frames, sends results as "
            "%s, lost after %" PRIu64 " ms, calm at %" PRIu64 " ms\nlinks: ",
            s->seed, s->benign ? ", benign" : "",
            s->switch_config.chip    ? ", a chip"
            : s->switch_config.paper ? ", the paper's switch"
                                     : "",
            s->hosts, s->switch_config.slots_max, s->switch_config.keep_ppm,
            s->switch_config.refer ? "references" : "copies", s->switch_config.lost_after_ns / MS,
            s->calm_at / MS);
    print_quality(&s->quality, out);
    scenario_print_parts(s, out);
    for (unsigned i = 0; i < s->programs; i++)
        print_program(&s->program[i], out);
    if (s->stranger_every != 0)
        fprintf(out, "a stranger on host %u, about every %" PRIu64 " us%s\n", s->stranger_host,
                s->stranger_every / US,
                s->switch_config.lasting ? ", who says that jobs come back; the switch knows better" : "");
    for (unsigned i = 0; i < s->faults; i++) {
        const struct fault *f = &s->fault[i];
        fprintf(out, "fault: %s, host %u, %s %" PRIu64 ", for %" PRIu64 " ms%s%s\n", fault_names[f->kind],
                f->host, f->at_event ? "event" : "us", f->at_event ? f->at_event : f->at / US, f->lasts / MS,
                f->up ? ", up" : "", f->down ? ", down" : "");
        if (f->kind == FAULT_BAD_LINK)
            print_quality(&f->quality, out);
    }
}

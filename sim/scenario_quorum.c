#include "protocol/ranks.h"
#include "scenario_parts.h"

enum { WAIT_MOST_MS = 50, TICKS_A_WAIT = 4, PATIENT_TICK_MS = 20 };

static void use_quorum(struct program *p, uint64_t *r)
{
    const size_t names = (ranks_map_bytes(p->size) + 3) / 4 * 4;

    p->quorum = (uint16_t)rng_between(r, 1, p->size);
    p->wait_ms = rng_below(r, 3) == 0 ? 0 : (uint16_t)rng_magnitude(r, 1, WAIT_MOST_MS);
    p->slow = (unsigned)rng_below(r, p->size);
    p->compute_ns = rng_below(r, 3) == 0 ? 0 : rng_magnitude(r, 1 * US, 2 * S);
    if (p->chunk_bytes + names <= SML_MAX_CHUNK_BYTES) /* what is left has room for the rest */
        p->chunk_bytes += (uint16_t)names;
}

/* How often the switch is to look whether a chunk has waited long enough. */
static uint64_t tick_ns(const struct program *p)
{
    return p->wait_ms == 0 ? PATIENT_TICK_MS * MS : (MS * p->wait_ms + TICKS_A_WAIT - 1) / TICKS_A_WAIT;
}

/* A job that has lost a rank does not outlive its switch, so this one lives. */
static void let_ranks_die(struct scenario *s)
{
    s->parts.mortal = true;
    for (unsigned i = 0; i < s->faults; i++)
        if (s->fault[i].kind == FAULT_KILL_SWITCH)
            s->fault[i] = (struct fault){.kind = FAULT_KILL_PROCESS,
                                         .at_event = s->fault[i].at_event,
                                         .at = s->fault[i].at,
                                         .host = s->fault[i].host};
}

void scenario_use_quorums(struct scenario *s)
{
    uint64_t r = splitmix_hash(s->seed) ^ UINT64_C(0x71756f72756d);

    for (unsigned i = 0; i < s->programs; i++) {
        struct program *p = &s->program[i];
        if (p->format != XFER_FORMAT_TYPED)
            continue;
        use_quorum(p, &r);
        if (s->switch_config.tick_ns == 0 || tick_ns(p) < s->switch_config.tick_ns)
            s->switch_config.tick_ns = tick_ns(p);
    }
    if (s->benign && rng_below(&r, 2))
        let_ranks_die(s);
}

void scenario_print_quorum(const struct program *p, FILE *out)
{
    if (p->quorum != 0)
        fprintf(out, "  a quorum of %u ranks, after %u ms; rank %u is slow\n", p->quorum, p->wait_ms,
                p->slow);
}

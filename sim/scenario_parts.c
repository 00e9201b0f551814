#include "scenario_parts.h"

#include <string.h>

#include "look_up.h"
#include "memory.h"
#include "toy_keys.h"

enum {
    MANY_SLOTS = 8,
    MANY_CALLS = 2,
    MANY_ELEMENTS = 600,
    FULL_SLOTS = 128,
    LEAVES_DRAWN = 4,           /* switches below, at most */
    KEYED_CHUNK_MIN = 96,       /* some bytes are the key's */
    COMPRESSED_CHUNK_MIN = 160, /* of a packet that may be keyed, too */
    STRANGER_OF_A_RANK_MS = 32, /* at least, between two messages: half of what an address may send */
};

struct scenario_parts scenario_parts_of(uint64_t seed, bool paper)
{
    const uint64_t bits = splitmix_hash(~seed);
    struct scenario_parts parts = {
        .many = bits % 64 == 0,
        .tenants = (bits >> 8) % 4 == 0,
        .forger = (bits >> 16) % 2 == 0,
        .fixed = (bits >> 24) % 6 == 0,
        .operated = (bits >> 32) % 6 == 0,
        .compressed = (bits >> 48) % 4 == 0,
    };

    parts.forger &= parts.tenants;
    parts.tree = (bits >> 40) % 3 == 0 && !parts.many && !parts.tenants && !parts.fixed;
    parts.keyed_tree = parts.tree && (bits >> 56) % 3 == 0;
    parts.forger |= parts.keyed_tree;
    parts.quorum = splitmix_hash(bits) % 4 == 0 && !parts.tree;
    parts.nics = splitmix_hash(bits + 2) % 4 == 0 && !parts.forger;
    parts.flood = splitmix_hash(bits + 1) % 8 == 0 && !parts.tree && !parts.tenants && !parts.many;
    return paper ? (struct scenario_parts){0} : parts;
}

/* The order of adding matters for floats, and whole numbers are whole for a few ranks only. */
void scenario_make_many(struct program *p, uint64_t seed)
{
    uint64_t r = ~seed;

    p->size = rng_below(&r, 2) ? 65 : 200;
    p->whole = false;
    p->slots = p->slots < MANY_SLOTS ? p->slots : MANY_SLOTS;
    p->calls = p->calls < MANY_CALLS ? p->calls : MANY_CALLS;
    for (unsigned c = 0; c < p->calls; c++)
        p->call[c].count %= MANY_ELEMENTS;
    if (p->deviation.call >= p->calls)
        p->deviation.kind = DEVIATION_NONE;
}

/* Whoever is to come to his end must have room. */
static void set_quotas(struct scenario *s, uint64_t *r)
{
    struct tenancy *t = &s->switch_config.tenancy;

    for (unsigned i = 0; i < t->tenants; i++) {
        struct tenant *tenant = &t->tenant[i];
        unsigned jobs = 0, plain = 0;

        for (unsigned p = 0; p < s->programs; p++) {
            jobs += s->program[p].tenant == i;
            plain += s->program[p].tenant == i && s->program[p].plain;
        }
        *tenant = (struct tenant){.weight = (uint32_t)rng_magnitude(r, 1, 1000), .keyed = rng_below(r, 2)};
        tenant->data_keys =
            tenant->keyed && rng_below(r, 2) && plain == 0; /* published packets cannot be keyed */
        snprintf(tenant->name, sizeof(tenant->name), "tenant%u", i);
        tenant->key = toy_key((uint8_t)(i + 1));
        if (rng_below(r, 2))
            tenant->jobs = (uint16_t)(s->benign ? jobs : rng_between(r, 1, 3));
        if (rng_below(r, 2))
            tenant->slots = s->benign ? jobs * FULL_SLOTS : (unsigned)rng_magnitude(r, 2, 2 * FULL_SLOTS);
    }
}

/* Each program is some tenant's. Those of two tenants may have the same name, if both have keys or neither.
 */
static void deal_programs(struct scenario *s, uint64_t *r)
{
    struct tenancy *t = &s->switch_config.tenancy;

    t->tenants = (unsigned)rng_between(r, 1, TENANTS_MAX);
    for (unsigned i = 0; i < s->programs; i++)
        s->program[i].tenant = i < t->tenants ? i : (unsigned)rng_below(r, t->tenants);
    set_quotas(s, r);
    for (unsigned i = 0; i < s->programs; i++) {
        struct program *p = &s->program[i];
        const struct tenant *own = &t->tenant[p->tenant], *first = &t->tenant[s->program[0].tenant];

        if (i > 0 && i < t->tenants && own->keyed == first->keyed && rng_below(r, 2))
            memcpy(p->name, s->program[0].name, sizeof(p->name));
        p->key = own->keyed ? &own->key : NULL;
        if (own->data_keys && p->chunk_bytes < KEYED_CHUNK_MIN)
            p->chunk_bytes = KEYED_CHUNK_MIN;
        memcpy(t->name[t->names].job, p->name, sizeof(p->name));
        t->name[t->names++].tenant = p->tenant;
    }
}

/* One tenant, whose are all jobs; each switch below has a key of his, too. */
static void key_the_tree(struct scenario *s, uint64_t *r)
{
    struct tenancy *t = &s->switch_config.tenancy;
    struct tenant *own = &t->tenant[0];

    t->tenants = 1;
    *own = (struct tenant){.name = "all", .weight = 1, .keyed = true, .key = toy_key(1), .data_keys = true};
    t->leaves_keyed = true;
    t->leaf_key = toy_key(2);
    for (unsigned i = 0; i < s->programs; i++)
        own->data_keys &= !s->program[i].plain;
    own->data_keys &= rng_below(r, 4) > 0;
    for (unsigned i = 0; i < s->programs; i++) {
        struct program *p = &s->program[i];

        p->tenant = 0;
        p->key = &own->key;
        if (p->chunk_bytes < KEYED_CHUNK_MIN)
            p->chunk_bytes = KEYED_CHUNK_MIN;
        memcpy(t->name[t->names++].job, p->name, sizeof(p->name));
    }
}

static void place_tenants(struct scenario *s)
{
    unsigned host = 0;

    s->host_tenant = memory_of(s->all_hosts);
    s->host_keyed = memory_of(s->all_hosts);
    for (unsigned i = 0; i < s->programs; i++)
        for (unsigned rank = 0; rank < s->program[i].size; rank++, host++) {
            const struct program *p = &s->program[i];
            s->host_tenant[host] = (uint8_t)p->tenant;
            s->host_keyed[host] = s->switch_config.tenancy.tenant[p->tenant].data_keys;
        }
    for (unsigned i = 0; i < s->leaves; i++)
        s->host_keyed[s->leaf_base + i] = s->switch_config.tenancy.tenant[0].data_keys;
    s->switch_config.tenancy.of_host = s->host_tenant;
}

/* The longest that a packet is under way, with some patience; links of the static job have no narrow queues.
 */
static uint64_t longest_way(const struct scenario *s)
{
    return 2 * (s->quality.delay + s->quality.jitter + s->quality.held_ns) + 500 * MS;
}

/* Tensors of a packet or two, so many that their count wraps, and threads that mostly have no part in them.
 */
static void use_small_tensors(struct published_config *c, uint64_t longest)
{
    uint64_t r = c->seed;

    c->tensors = (unsigned)rng_between(&r, 300, PUBLISHED_TENSORS_MAX);
    c->packets = (unsigned)rng_between(&r, 1, 2);
    c->rest = (unsigned)rng_between(&r, 1, 300);
    c->gap_ns = longest / 200;
}

static void add_fixed(struct scenario *s, uint64_t *r)
{
    struct published_config *c = &s->switch_config.fixed;
    const uint64_t longest = longest_way(s);

    *c = (struct published_config){
        .workers = (unsigned)rng_between(r, 1, 6),
        .threads = (unsigned)rng_between(r, 1, PUBLISHED_THREADS_MAX),
        .window = (unsigned)rng_magnitude(r, 1, 16),
        .elements = 32u << rng_below(r, 3),
        .tensors = (unsigned)rng_between(r, 1, 40),
        .packets = (unsigned)rng_magnitude(r, 1, 40),
        .rest = 1,
        .mode = rng_below(r, 2) ? XFER_ORDERED : XFER_ON_ARRIVAL,
        .runs = (unsigned)rng_between(r, 1, PUBLISHED_RUNS_MAX),
        .quiet_ns = longest + rng_magnitude(r, 100 * MS, 2 * S),
        .timeout_ns = rng_magnitude(r, 20 * MS, 200 * MS),
        .first_host = s->hosts,
        .seed = rng_next(r),
    };
    c->quiet_ns += 10 * c->timeout_ns; /* so many packets are not lost in a row */
    c->pause_ns = c->quiet_ns + longest + s->switch_config.lost_after_ns / 5;
    s->all_hosts += c->workers;
    if (c->seed % 2 == 0)
        use_small_tensors(c, longest);
}

uint64_t scenario_fixed_takes(const struct scenario *s)
{
    const struct published_config *c = &s->switch_config.fixed;
    uint64_t takes = c->runs * (2 * c->pause_ns + 600 * S);

    for (unsigned i = 0; i < s->faults; i++)
        takes += s->fault[i].lasts + c->pause_ns;
    return c->workers == 0 ? 0 : s->calm_at + takes;
}

/* A tree of switches, up to five levels; hosts are anywhere in it. Sums are of numbers that come out the same
 * in any order. */
static void have_a_tree(struct scenario *s)
{
    uint64_t r = splitmix_hash(s->seed) ^ UINT64_C(0x7472656573);

    s->leaves = (unsigned)rng_between(&r, 1, LEAVES_DRAWN);
    s->leaf_base = s->all_hosts;
    s->all_hosts += s->leaves;
    s->at = memory_of(s->all_hosts * sizeof(*s->at));
    for (unsigned i = 0; i < s->leaves; i++)
        s->at[s->leaf_base + i] = s->above[i] = (int)rng_below(&r, i + 1) - 1;
    for (unsigned h = 0; h < s->leaf_base; h++)
        s->at[h] = (int)rng_below(&r, s->leaves + 1) - 1;
    for (unsigned i = 0; i < s->programs; i++)
        s->program[i].whole = s->program[i].tree = true;
}

/* Some of the job's calls are compressed ones: to as few bits as make the sums of its ranks fit. */
static void compress(struct program *p, uint64_t *r)
{
    const unsigned bits = 1 + (unsigned)rng_below(r, p->size * 15u <= UINT8_MAX ? 4 : 1);
    const bool wide = p->size * ((1u << bits) - 1) > UINT8_MAX || rng_below(r, 2);

    p->table = look_up_table(r, (uint8_t)(bits | (wide ? SML_WIDE_SUMS : 0)), p->size);
    if (p->chunk_bytes < COMPRESSED_CHUNK_MIN)
        p->chunk_bytes = COMPRESSED_CHUNK_MIN;
    for (unsigned c = 0; c < p->calls; c++)
        if (rng_below(r, 2))
            p->call[c] = (struct xfer_call){.collective = XFER_ALLREDUCE,
                                            .type = p->table.code,
                                            .op = SML_LOOK_UP,
                                            .root = (uint32_t)rng_below(r, SML_GROUP),
                                            .count = (p->call[c].count + SML_GROUP - 1) / SML_GROUP};
    if (p->deviation.kind == DEVIATION_COLLECTIVE)
        p->deviation.kind = DEVIATION_COUNT;
    if (p->seed >> 7 & 1)
        p->patience_ns = (100 + (p->seed >> 8) % 20000) * US;
}

/* Whoever has to join while any addresses flood may wait for long, since nothing tells him from these; and so
 * may he whose own address sends more than one may (control/intake.h). */
static void add_flood(struct scenario *s)
{
    const uint64_t lost_after = s->switch_config.lost_after_ns;
    unsigned kinds = FLOOD_FORGED;

    for (unsigned i = 0; i < s->faults; i++)
        if (s->benign && s->fault[i].kind == FAULT_KILL_SWITCH)
            kinds = FLOOD_STRANGER;
    if (kinds == FLOOD_STRANGER && s->stranger_every != 0 && s->stranger_every < STRANGER_OF_A_RANK_MS * MS)
        s->stranger_every = STRANGER_OF_A_RANK_MS * MS;
    s->flood = (enum flood)(1 + splitmix_hash(s->seed + 1) % kinds);
    s->switch_config.message_ns = 1 * MS;
    if (s->calm_at < 8 * lost_after)
        s->calm_at = 8 * lost_after;
    for (unsigned i = 0; i < s->programs; i++)
        s->program[i].compute_ns = 2 * lost_after; /* meanwhile only HEARTBEATs show that it lives */
    s->switch_config.max_jobs++;                   /* for his own job */
    s->switch_config.slots_max += 2;
}

void scenario_add_parts(struct scenario *s)
{
    uint64_t r = splitmix_hash(s->seed) ^ UINT64_C(0x5bd1e995);

    s->all_hosts = s->hosts;
    for (unsigned i = 0; i < s->programs && s->parts.compressed; i++)
        if (s->program[i].format == XFER_FORMAT_TYPED)
            compress(&s->program[i], &r);
    for (unsigned i = 0; i < s->programs && s->parts.nics; i++)
        s->program[i].nics = splitmix_hash(s->seed + i) | (s->seed % 4 == 0 ? UINT64_MAX : 0);
    if (s->parts.quorum)
        scenario_use_quorums(s);
    if (s->parts.many)
        s->switch_config.max_workers = CTL_RANKS_MAX;
    if (s->parts.fixed)
        add_fixed(s, &r);
    if (s->parts.tree)
        have_a_tree(s);
    if (s->parts.keyed_tree) {
        key_the_tree(s, &r);
        place_tenants(s);
    }
    if (s->parts.tenants) {
        deal_programs(s, &r);
        place_tenants(s);
        if (rng_below(&r, 2))
            s->switch_config.ns_per_kb = rng_magnitude(&r, 1 * US, 100 * US);
    }
    if (s->parts.flood)
        add_flood(s);
    if (s->parts.forger)
        s->forger_every = rng_magnitude(&r, 1 * MS, 100 * MS);
    if (s->parts.operated)
        s->operator_every = rng_magnitude(&r, 100 * MS, 5 * S);
}

void scenario_print_parts(const struct scenario *s, FILE *out)
{
    const struct published_config *c = &s->switch_config.fixed;
    const struct tenancy *t = &s->switch_config.tenancy;

    for (unsigned i = 0; i < t->tenants; i++)
        fprintf(out, "%s: %u jobs, %u slots, weight %u%s\n", t->tenant[i].name, t->tenant[i].jobs,
                t->tenant[i].slots, t->tenant[i].weight,
                t->tenant[i].data_keys ? ", with a key for all packets"
                : t->tenant[i].keyed   ? ", with a key"
                                       : "");
    for (unsigned i = 0; t->tenants > 0 && i < s->programs; i++)
        fprintf(out, "%s is %s's\n", s->program[i].name, t->tenant[s->program[i].tenant].name);
    if (s->switch_config.ns_per_kb != 0)
        fprintf(out, "the switch takes %" PRIu64 " ns a KB\n", s->switch_config.ns_per_kb);
    for (unsigned i = 0; i < s->leaves; i++)
        fprintf(out, "switch %u, at %u, is below %d\n", i, s->leaf_base + i, s->above[i]);
    for (unsigned h = 0; s->leaves > 0 && h < s->hosts; h++)
        fprintf(out, "host %u is at switch %d\n", h, s->at[h]);
    if (s->forger_every != 0)
        fprintf(out, "a forger, about every %" PRIu64 " us\n", s->forger_every / US);
    if (s->flood != FLOOD_NONE)
        fprintf(out, "a flood of control messages, %s\n",
                s->flood == FLOOD_MEMBER     ? "of a member of its own job"
                : s->flood == FLOOD_STRANGER ? "of one stranger"
                                             : "of any addresses");
    if (s->operator_every != 0)
        fprintf(out, "an operator, about every %" PRIu64 " ms\n", s->operator_every / MS);
    if (c->workers > 0)
        fprintf(out,
                "static job: %u workers of %u threads, window %u, %u elements, %u runs, quiet after %" PRIu64
                " ms\n",
                c->workers, c->threads, c->window, c->elements, c->runs, c->quiet_ns / MS);
}

/* A switch of the tree: the table of its protocol, as the daemon's engine uses it, and lcores that take their
 * time. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "carry.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "relay/protocol.h"
#include "scale/tree.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"

enum { PORT = 0xC000, PARENT_IP = 1, FIRST_IP = 2 };

unsigned scale_job_number(unsigned level)
{
    return level + 1;
}

static struct agg_terms terms_of(const struct scale_config *cfg, uint16_t chunk_bytes)
{
    const struct sml_terms t = {.format = XFER_FORMAT_TYPED,
                                .mode = XFER_ON_ARRIVAL,
                                .slots = cfg->slots,
                                .chunk_bytes = chunk_bytes};
    struct agg_terms terms;

    sml_terms_build(&terms, &t);
    return terms;
}

static struct agg_sender sender(uint16_t from)
{
    const uint8_t mac[AGG_MAC_BYTES] = {2, 0, 0, 0, (uint8_t)(from >> 8), (uint8_t)from};

    return carry_sender(mac, from == AGG_PARENT ? PARENT_IP : FIRST_IP + from, PORT);
}

/* Fills in who brings the ranks to the switch whose ranks begin with `first`: each of those below as many. */
static struct agg_node tree_of(const struct scale_config *cfg, unsigned level, unsigned first,
                               uint16_t contributor[])
{
    const unsigned ranks = scale_workers(&cfg->tree);
    unsigned each = 1;

    for (unsigned l = level + 1; l < cfg->tree.levels; l++)
        each *= cfg->tree.fan_in[l];
    for (unsigned r = 0; r < ranks; r++) {
        const unsigned c = (r - first) / each;
        contributor[r] = r >= first && c < cfg->tree.fan_in[level] ? (uint16_t)c : AGG_NOBODY;
    }
    return (struct agg_node){.ranks = (uint16_t)ranks,
                             .contributor = contributor,
                             .has_parent = level > 0,
                             .parent_job = (uint8_t)(level > 0 ? scale_job_number(level - 1) : 0)};
}

static struct agg_pool_config pool_of(const struct scale_config *cfg, unsigned level, uint16_t chunk_bytes,
                                      const struct agg_node *tree)
{
    return (struct agg_pool_config){.job = (uint8_t)scale_job_number(level),
                                    .workers = (uint16_t)cfg->tree.fan_in[level],
                                    .shards = (uint16_t)cfg->lcores,
                                    .terms = terms_of(cfg, chunk_bytes),
                                    .kernels = kernels_or_exit(),
                                    .tree = cfg->tree.levels > 1 ? tree : NULL};
}

static const struct agg_protocol *protocol_of(const struct scale_config *cfg)
{
    return cfg->tree.levels > 1 ? relay_protocol_of(&sml_protocol) : &sml_protocol;
}

size_t scale_pool_bytes(const struct scale_config *cfg, unsigned level)
{
    uint16_t contributor[AGG_MAX_RANKS];
    const struct agg_node tree = tree_of(cfg, level, 0, contributor);
    const struct agg_pool_config pool = pool_of(cfg, level, cfg->chunk_bytes, &tree);
    struct agg_footprint f = {0};

    if (!protocol_of(cfg)->footprint(&pool, &f))
        sim_die("the pool of a switch is out of range");
    return f.bytes;
}

/* Packets */

static struct scale_node *below(const struct scale_switch *s, unsigned contributor)
{
    const struct scale_run *run = s->node.run;
    const unsigned i = s->first + contributor;

    return s->level + 1 < run->cfg.tree.levels ? &run->level[s->level + 1][i].node : &run->worker[i].node;
}

static void send_on(void *ctx, const struct agg_job *job, const struct agg_packet *answered,
                    const struct carried *what)
{
    struct scale_switch *s = ctx;

    (void)job, (void)answered;
    if (what->to == CARRY_TO_PARENT)
        scale_send_up(&s->node, what->payload, what->bytes);
    else
        scale_send_down(below(s, what->rank), what->payload, what->bytes);
}

static void serve(void *ctx, struct parcel *parcel)
{
    struct scale_switch *s = ctx;
    const struct agg_protocol *protocol = s->job->protocol;
    struct agg_packet p = {.payload = parcel->payload, .bytes = parcel->bytes, .from = sender(parcel->from)};
    struct agg_verdict v;

    protocol->locate(parcel->from == AGG_PARENT ? &s->from_above : &s->running, &p, 1);
    protocol->apply(&p, 1, s->node.run->sim.now, &v);
    if (protocol->reason[v.reason].strange)
        sim_die(protocol->reason[v.reason].name);
    carry_out(p.job, &p, &v, send_on, s);
    free(parcel);
}

void scale_switch_receive(struct scale_switch *s, struct parcel *p)
{
    const struct scale_config *cfg = &s->node.run->cfg;

    server_put(&s->lcore[sml_peek_slot(p->payload) % cfg->lcores], p, scale_service_ps(cfg, p));
}

/* Life */

static unsigned first_rank(const struct scale_switch *s)
{
    const struct scale_tree *tree = &s->node.run->cfg.tree;
    unsigned first = s->first;

    for (unsigned l = s->level + 1; l < tree->levels; l++)
        first *= tree->fan_in[l];
    return first;
}

void scale_switch_open(struct scale_switch *s)
{
    const struct scale_config *cfg = &s->node.run->cfg;
    const unsigned fan_in = cfg->tree.fan_in[s->level];
    uint16_t contributor[AGG_MAX_RANKS];
    const struct agg_node tree = tree_of(cfg, s->level, first_rank(s), contributor);
    const struct agg_pool_config pool = pool_of(cfg, s->level, SCALE_CARRIED_BYTES, &tree);
    const struct agg_sender parent = sender(AGG_PARENT);
    struct agg_sender members[AGG_MAX_WORKERS];

    for (uint16_t c = 0; c < fan_in; c++)
        members[c] = sender(c);
    s->job = carry_open(&s->running, protocol_of(cfg), &pool, members, NULL);
    if (s->job == NULL)
        sim_die("the terms of the job are out of range");
    if (s->node.above != NULL) {
        agg_job_seat(s->job, &parent, AGG_PARENT, 0);
        agg_jobs_set(&s->from_above, tree.parent_job, s->job);
    }
    s->lcore = memory_of(cfg->lcores * sizeof(*s->lcore));
    for (unsigned i = 0; i < cfg->lcores; i++)
        s->lcore[i] = (struct server){.sim = &s->node.run->sim, .hand_on = serve, .ctx = s};
}

void scale_switch_close(struct scale_switch *s)
{
    for (unsigned i = 0; i < s->node.run->cfg.lcores; i++)
        server_fini(&s->lcore[i]);
    free(s->lcore);
    carry_close(&s->running, s->job);
}

/* The list of lcores: names of ports become bits, and the whole is checked as a placement. */
#include <stdio.h>
#include <string.h>

#include "config_check.h"
#include "nearest.h"

enum { FINDINGS_MAX = 2 * SWAGG_MAX_PORTS + SWAGG_MAX_SHARDS + SWAGG_MAX_LCORES };

/* The port's number; -1: none has this name, which is reported. */
static int find_port(struct config_text *t, const char *path, const struct config *c, const char *name)
{
    struct nearest meant = nearest_to(name);

    for (unsigned p = 0; p < c->ports; p++) {
        if (strcmp(c->port[p].name, name) == 0)
            return (int)p;
        nearest_offer(&meant, c->port[p].name);
    }
    if (meant.best != NULL)
        config_fault(t, path, "no port is called \"%s\"; did you mean \"%s\"?", name, meant.best);
    else
        config_fault(t, path, "no port is called \"%s\"; \"all\" stands for every port", name);
    return -1;
}

static uint64_t first_bits(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

static const char *item_path(char path[CONFIG_PATH_MAX], unsigned lcore, const char *list, unsigned item)
{
    snprintf(path, CONFIG_PATH_MAX, "lcores[%u].%s[%u]", lcore, list, item);
    return path;
}

static uint64_t resolve_ports(struct config_text *t, const struct config *c, unsigned lcore, const char *list,
                              char *const names[], unsigned count)
{
    char path[CONFIG_PATH_MAX];
    uint64_t ports = 0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t named = 0;
        int port;

        item_path(path, lcore, list, i);
        if (strcmp(names[i], "all") == 0)
            named = first_bits(c->ports);
        else if ((port = find_port(t, path, c, names[i])) >= 0)
            named = UINT64_C(1) << port;
        if ((ports & named) != 0)
            config_fault(t, path, "\"%s\" is in this list already", names[i]);
        ports |= named;
    }
    return ports;
}

static uint64_t resolve_shards(struct config_text *t, unsigned lcore, const uint32_t numbers[],
                               unsigned count)
{
    char path[CONFIG_PATH_MAX];
    uint64_t shards = 0;

    for (unsigned i = 0; i < count; i++) {
        item_path(path, lcore, "aggregate", i);
        if (numbers[i] >= SWAGG_MAX_SHARDS) {
            config_fault(t, path, "%u is out of range (0..%u)", numbers[i], SWAGG_MAX_SHARDS - 1);
            continue;
        }
        if (shards >> numbers[i] & 1)
            config_fault(t, path, "%u is in this list already", numbers[i]);
        shards |= UINT64_C(1) << numbers[i];
    }
    return shards;
}

static const char *lcore_path(char path[CONFIG_PATH_MAX], unsigned lcore, const char *rest)
{
    snprintf(path, CONFIG_PATH_MAX, "lcores[%u]%s", lcore, rest);
    return path;
}

static void resolve_lcore(struct config_text *t, const struct config_raw *raw, unsigned l,
                          struct placement_lcore *out)
{
    const struct config_raw_lcore *in = &raw->lcore[l];
    char path[CONFIG_PATH_MAX];

    out->cpu = config_text_has(t, lcore_path(path, l, ".cpu")) ? in->cpu : PLACEMENT_ANY_CPU;
    out->rx = resolve_ports(t, &raw->config, l, "rx", in->rx, in->rx_count);
    out->tx = resolve_ports(t, &raw->config, l, "tx", in->tx, in->tx_count);
    out->shards = resolve_shards(t, l, in->aggregate, in->aggregate_count);
}

/* Says in the configuration's words what placement_check found. */
static void report_finding(struct config_text *t, const struct config *c, const struct placement_finding *f)
{
    const char *port = c->port[f->index].name;
    char path[CONFIG_PATH_MAX];

    switch (f->fault) {
    case PLACEMENT_RX_NONE:
        config_fault(t, "lcores", "none receives from port \"%s\"; add it to the rx list of one", port);
        break;
    case PLACEMENT_TX_NONE:
        config_fault(t, "lcores", "none sends to port \"%s\"; add it to the tx list of one", port);
        break;
    case PLACEMENT_SHARD_NONE:
        config_fault(t, "lcores", "none aggregates shard %u; number the shards from 0 without gaps",
                     f->index);
        break;
    case PLACEMENT_RX_TWICE:
        config_fault(t, lcore_path(path, f->lcore, ".rx"),
                     "port \"%s\" has an lcore that receives from it already", port);
        break;
    case PLACEMENT_TX_TWICE:
        config_fault(t, lcore_path(path, f->lcore, ".tx"),
                     "port \"%s\" has an lcore that sends to it already", port);
        break;
    case PLACEMENT_SHARD_TWICE:
        config_fault(t, lcore_path(path, f->lcore, ".aggregate"), "shard %u has an lcore already", f->index);
        break;
    case PLACEMENT_UNKNOWN: /* cannot be: names were resolved */
        break;
    case PLACEMENT_IDLE:
        config_fault(t, lcore_path(path, f->lcore, ""),
                     "has no task; give it rx, tx or aggregate, or remove it");
        break;
    }
}

void config_check_lcores(struct config_text *t, struct config_raw *raw)
{
    struct placement_finding findings[FINDINGS_MAX];
    struct config *c = &raw->config;
    struct placement *p = &c->placement;
    const unsigned faults_before = t->faults;
    uint64_t shards = 0;
    unsigned count;

    c->has_placement = true;
    p->lcores = raw->lcores;
    for (unsigned l = 0; l < p->lcores; l++) {
        resolve_lcore(t, raw, l, &p->lcore[l]);
        shards |= p->lcore[l].shards;
    }
    if (t->faults > faults_before)
        return; /* what follows from a name that is wrong is no news */
    while (p->shards < SWAGG_MAX_SHARDS && shards >> p->shards != 0)
        p->shards++;
    if (c->has_ip && p->shards == 0)
        config_fault(t, "lcores", "none aggregates, but switch.ip is set: add \"aggregate: [0]\" to one");
    count = placement_check(p, c->ports, findings, FINDINGS_MAX);
    for (unsigned i = 0; i < count && i < FINDINGS_MAX; i++)
        report_finding(t, c, &findings[i]);
}

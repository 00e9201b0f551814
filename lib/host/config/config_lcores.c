/* The list of lcores: turns names of ports and queues into bits, and checks the result as a placement. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_check.h"
#include "nearest.h"

enum { FINDINGS_MAX = 2 * SWAGG_MAX_PORTS + SWAGG_MAX_SHARDS + SWAGG_MAX_LCORES };
enum { EVERY_QUEUE = -1, QUEUE_NAME_MAX = CONFIG_NAME_MAX + 8 };

/* The list of lcores[lcore] that names ports or queues: rx, tx. */
struct queue_list {
    unsigned lcore;
    const char *key;
    const uint32_t *queues; /* by port: how many it has in this direction */
    char *const *item;
    unsigned items;
};

/* The port's number; -1: none has this name. */
static int find_port(const struct config *c, const char *name, size_t length)
{
    for (unsigned p = 0; p < c->ports; p++)
        if (strlen(c->port[p].name) == length && memcmp(c->port[p].name, name, length) == 0)
            return (int)p;
    return -1;
}

static void report_no_port(struct config_text *t, const char *path, const struct config *c, const char *name)
{
    struct nearest meant = nearest_to(name);

    for (unsigned p = 0; p < c->ports; p++)
        nearest_offer(&meant, c->port[p].name);
    if (meant.best != NULL)
        config_fault(t, path, "no port is called \"%s\"; did you mean \"%s\"?", name, meant.best);
    else
        config_fault(t, path, "no port is called \"%s\"; \"all\" stands for every port", name);
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

/* Bits of the ports that an item's first length characters name; 0: of none. */
static uint64_t named_ports(const struct config *c, const char *item, size_t length)
{
    int port = find_port(c, item, length);

    if (port >= 0)
        return UINT64_C(1) << port;
    return length == strlen("all") && memcmp(item, "all", length) == 0 ? first_bits(c->ports) : 0;
}

/* "NAME:QUEUE", or "NAME" for all its queues; a name may have a colon of its own. */
static uint64_t parse_item(const struct config *c, const char *item, int *queue)
{
    const char *colon = strrchr(item, ':');
    uint64_t ports = named_ports(c, item, strlen(item));

    *queue = EVERY_QUEUE;
    if (ports != 0 || colon == NULL || !isdigit((unsigned char)colon[1]) || strlen(colon + 1) > 4 ||
        colon[1 + strspn(colon + 1, "0123456789")] != '\0')
        return ports;
    *queue = atoi(colon + 1);
    return named_ports(c, item, (size_t)(colon - item));
}

/* Of these ports, those that have a queue with this number. */
static uint64_t with_queue(uint64_t ports, const uint32_t queues[], unsigned q)
{
    uint64_t with = 0;

    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        with |= (uint64_t)(queues[p] > q) << p;
    return ports & with;
}

static void resolve_item(struct config_text *t, const struct config *c, const struct queue_list *list,
                         unsigned i, uint64_t words[SWAGG_MAX_QUEUES])
{
    char path[CONFIG_PATH_MAX];
    int only;
    const uint64_t ports = parse_item(c, list->item[i], &only);
    bool twice = false, any = false;

    item_path(path, list->lcore, list->key, i);
    if (ports == 0) {
        report_no_port(t, path, c, list->item[i]);
        return;
    }
    for (int q = 0; q < SWAGG_MAX_QUEUES; q++) {
        const uint64_t named =
            only == EVERY_QUEUE || only == q ? with_queue(ports, list->queues, (unsigned)q) : 0;

        any |= named != 0;
        twice |= (words[q] & named) != 0;
        words[q] |= named;
    }
    if (!any)
        config_fault(t, path, "there is no queue %d: they count from 0 to less than the port's %s_queues",
                     only, list->key);
    if (twice)
        config_fault(t, path, "\"%s\" is in this list already", list->item[i]);
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
                          const struct placement_ports *ports, struct placement_lcore *out)
{
    const struct config_raw_lcore *in = &raw->lcore[l];
    const struct queue_list rx = {l, "rx", ports->rx_queues, in->rx, in->rx_count};
    const struct queue_list tx = {l, "tx", ports->tx_queues, in->tx, in->tx_count};
    char path[CONFIG_PATH_MAX];

    out->cpu = config_text_has(t, lcore_path(path, l, ".cpu")) ? in->cpu : PLACEMENT_ANY_CPU;
    for (unsigned i = 0; i < rx.items; i++)
        resolve_item(t, &raw->config, &rx, i, out->rx);
    for (unsigned i = 0; i < tx.items; i++)
        resolve_item(t, &raw->config, &tx, i, out->tx);
    out->shards = resolve_shards(t, l, in->aggregate, in->aggregate_count);
}

/* A queue's name in messages: that of the port alone, if it has one queue only. */
static const char *queue_name(char name[QUEUE_NAME_MAX], const struct config *c, const uint32_t queues[],
                              const struct placement_finding *f)
{
    if (queues[f->index] > 1)
        snprintf(name, QUEUE_NAME_MAX, "%s:%u", c->port[f->index].name, f->queue);
    else
        snprintf(name, QUEUE_NAME_MAX, "%s", c->port[f->index].name);
    return name;
}

/* Reports what placement_check has found, in the configuration's words. */
static void report_finding(struct config_text *t, const struct config *c, const struct placement_ports *ports,
                           const struct placement_finding *f)
{
    char path[CONFIG_PATH_MAX], name[QUEUE_NAME_MAX];

    switch (f->fault) {
    case PLACEMENT_RX_NONE:
        config_fault(t, "lcores", "none receives from port \"%s\"; add it to the rx list of one",
                     queue_name(name, c, ports->rx_queues, f));
        break;
    case PLACEMENT_TX_NONE:
        config_fault(t, "lcores", "none sends to port \"%s\"; add it to the tx list of one",
                     queue_name(name, c, ports->tx_queues, f));
        break;
    case PLACEMENT_SHARD_NONE:
        config_fault(t, "lcores", "none aggregates shard %u; number the shards from 0 without gaps",
                     f->index);
        break;
    case PLACEMENT_RX_TWICE:
        config_fault(t, lcore_path(path, f->lcore, ".rx"),
                     "port \"%s\" has an lcore that receives from it already",
                     queue_name(name, c, ports->rx_queues, f));
        break;
    case PLACEMENT_TX_TWICE:
        config_fault(t, lcore_path(path, f->lcore, ".tx"),
                     "port \"%s\" has an lcore that sends to it already",
                     queue_name(name, c, ports->tx_queues, f));
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

/* Whether there are no mistakes in what a list of lcores refers to. */
static bool ports_are_known(const struct config_text *t, const struct config *c)
{
    static const char *const key[] = {"name", "rx_queues", "tx_queues"};
    char path[CONFIG_PATH_MAX];

    for (unsigned p = 0; p < c->ports; p++)
        for (unsigned k = 0; k < sizeof(key) / sizeof(key[0]); k++) {
            snprintf(path, sizeof(path), "ports[%u].%s", p, key[k]);
            if (config_text_is_faulty(t, path))
                return false;
        }
    return c->ports > 0;
}

void config_check_lcores(struct config_text *t, struct config_raw *raw)
{
    struct placement_finding findings[FINDINGS_MAX];
    struct config *c = &raw->config;
    struct placement *p = &c->placement;
    struct placement_ports ports;
    const unsigned faults_before = t->faults;
    uint64_t shards = 0;
    unsigned count;

    if (!ports_are_known(t, c) || config_text_is_faulty(t, "lcores"))
        return; /* a wrong name was reported; what follows from it need not be */
    c->has_placement = true;
    p->lcores = raw->lcores;
    config_queues(c, &ports);
    for (unsigned l = 0; l < p->lcores; l++) {
        resolve_lcore(t, raw, l, &ports, &p->lcore[l]);
        shards |= p->lcore[l].shards;
    }
    if (t->faults > faults_before)
        return;
    while (p->shards < SWAGG_MAX_SHARDS && shards >> p->shards != 0)
        p->shards++;
    if (c->has_ip && p->shards == 0)
        config_fault(t, "lcores", "none aggregates, but switch.ip is set: add \"aggregate: [0]\" to one");
    count = placement_check(p, &ports, findings, FINDINGS_MAX);
    for (unsigned i = 0; i < count && i < FINDINGS_MAX; i++)
        report_finding(t, c, &ports, &findings[i]);
}

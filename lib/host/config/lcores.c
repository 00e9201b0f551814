/* The list of lcores: turns names of ports and queues into bits, and checks the result as a placement. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_parts.h"
#include "nearest.h"

enum { EVERY_QUEUE = -1, QUEUE_NAME_MAX = CONFIG_NAME_MAX + 8, QUEUES_MAX = 4 * SWAGG_MAX_PORTS };

static void show_cpu(char text[SETTING_SHOWN_MAX], const void *configuration, const void *cpu)
{
    (void)configuration;
    if (*(const int *)cpu == PLACEMENT_ANY_CPU)
        snprintf(text, SETTING_SHOWN_MAX, "-");
    else
        snprintf(text, SETTING_SHOWN_MAX, "%d", *(const int *)cpu);
}

/* The list of lcores[lcore] that names ports or queues: rx, tx. */
struct queue_list {
    unsigned lcore;
    const char *key;
    const uint32_t *queues; /* by port: how many it has in this direction */
};

static const struct setting queue_item = {.type = SETTING_LATER, .kind = "port names, or `[all]`"};
static const struct setting shard_item = {
    .type = SETTING_NUMBER, .bytes = sizeof(uint32_t), .most = UINT32_MAX};

/* Of bits of ports, one word a queue, the i-th. */
static bool show_queue(char text[SETTING_SHOWN_MAX], const void *configuration, const void *list, unsigned i)
{
    const struct config *c = configuration;
    const uint64_t *ports = list;

    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        for (uint64_t left = ports[q]; left != 0; left &= left - 1)
            if (i-- == 0) {
                snprintf(text, SETTING_SHOWN_MAX, "%s:%u", c->port[__builtin_ctzll(left)].name, q);
                return true;
            }
    return false;
}

static bool show_shard(char text[SETTING_SHOWN_MAX], const void *configuration, const void *list, unsigned i)
{
    uint64_t left = *(const uint64_t *)list;

    (void)configuration;
    for (; i > 0 && left != 0; i--)
        left &= left - 1;
    if (left != 0)
        snprintf(text, SETTING_SHOWN_MAX, "%d", __builtin_ctzll(left));
    return left != 0;
}

/* The words of the lists are looked up. */
/* clang-format off */
const struct setting config_lcore_fields[] = {
    {.key = "cpu", SETTING_NUMBER_AT(struct placement_lcore, cpu, 0, INT32_MAX, (uint32_t)PLACEMENT_ANY_CPU),
     .when = SETTING_RESTART, .show = show_cpu, .kind = "number", .usual = "dealt out",
     .meaning = "the CPU that it runs on; threads may share one"},
    {.key = "rx", .type = SETTING_LIST, SETTING_AT(struct placement_lcore, rx), .most = QUEUES_MAX,
     .item = &queue_item, .show_item = show_queue, .kind = "port names, or `[all]`",
     .meaning = "ports that it receives from: `p0:1` is queue 1 of `p0` alone, `all:1` that of every port that has it"},
    {.key = "tx", .type = SETTING_LIST, SETTING_AT(struct placement_lcore, tx), .most = QUEUES_MAX,
     .item = &queue_item, .show_item = show_queue, .kind = "port names, or `[all]`", .meaning = "ports that it sends to, likewise"},
    {.key = "aggregate", .type = SETTING_LIST, SETTING_AT(struct placement_lcore, shards), .most = SWAGG_MAX_SHARDS,
     .item = &shard_item, .show_item = show_shard, .when = SETTING_RESTART, .kind = "numbers, 0..63",
     .meaning = "shards that it sums; slot `i` of a job is of shard `i` modulo their number. Number them from 0 without gaps"},
    {.key = NULL},
};
/* clang-format on */

/* The port's number; -1: none has this name. */
static int find_port(const struct config *c, const char *name, size_t length)
{
    for (unsigned p = 0; p < c->ports; p++)
        if (strlen(c->port[p].name) == length && memcmp(c->port[p].name, name, length) == 0)
            return (int)p;
    return -1;
}

static void report_no_port(struct settings *s, const char *path, const struct config *c, const char *name)
{
    struct nearest meant = nearest_to(name);

    for (unsigned p = 0; p < c->ports; p++)
        nearest_offer(&meant, c->port[p].name);
    if (meant.best != NULL)
        settings_fault(s, path, "no port is called \"%s\"; did you mean \"%s\"?", name, meant.best);
    else
        settings_fault(s, path, "no port is called \"%s\"; \"all\" stands for every port", name);
}

static uint64_t first_bits(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
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

static void resolve_item(struct settings *s, const struct config *c, const struct queue_list *list,
                         unsigned i, uint64_t words[SWAGG_MAX_QUEUES])
{
    const char *path = settings_path(s, "lcores[%u].%s[%u]", list->lcore, list->key, i);
    const char *item = settings_text(s, path);
    int only;
    const uint64_t ports = parse_item(c, item, &only);
    bool twice = false, any = false;

    if (ports == 0) {
        report_no_port(s, path, c, item);
        return;
    }
    for (int q = 0; q < SWAGG_MAX_QUEUES; q++) {
        const uint64_t named =
            only == EVERY_QUEUE || only == q ? ports & placement_with_queue(list->queues, (unsigned)q) : 0;

        any |= named != 0;
        twice |= (words[q] & named) != 0;
        words[q] |= named;
    }
    if (!any)
        settings_fault(s, path, "there is no queue %d: they count from 0 to less than the port's %s_queues",
                       only, list->key);
    if (twice)
        settings_fault(s, path, "\"%s\" is in this list already", item);
}

static void resolve_queues(struct settings *s, const struct config *c, const struct queue_list *list,
                           uint64_t words[SWAGG_MAX_QUEUES])
{
    for (unsigned i = 0; settings_has(s, settings_path(s, "lcores[%u].%s[%u]", list->lcore, list->key, i));
         i++)
        resolve_item(s, c, list, i, words);
}

static uint64_t resolve_shards(struct settings *s, unsigned lcore)
{
    const char *path, *number;
    uint64_t shards = 0;

    for (unsigned i = 0;; i++) {
        path = settings_path(s, "lcores[%u].aggregate[%u]", lcore, i);
        number = settings_text(s, path);
        if (number == NULL)
            return shards;
        const unsigned long shard = strtoul(number, NULL, 0);
        if (shard >= SWAGG_MAX_SHARDS) {
            settings_fault(s, path, "%lu is out of range (0..%d)", shard, SWAGG_MAX_SHARDS - 1);
            continue;
        }
        if (shards >> shard & 1)
            settings_fault(s, path, "%lu is in this list already", shard);
        shards |= UINT64_C(1) << shard;
    }
}

static void resolve_lcore(struct settings *s, struct config *c, unsigned l,
                          const struct placement_ports *ports)
{
    const struct queue_list rx = {l, "rx", ports->rx_queues}, tx = {l, "tx", ports->tx_queues};
    struct placement_lcore *lcore = &c->placement.lcore[l];

    resolve_queues(s, c, &rx, lcore->rx);
    resolve_queues(s, c, &tx, lcore->tx);
    lcore->shards = resolve_shards(s, l);
}

/* A queue's name in messages: that of the port alone, if it has one queue only. */
static const char *queue_name(char name[QUEUE_NAME_MAX], const struct config *c, const uint32_t queues[],
                              unsigned port, unsigned q)
{
    if (queues[port] > 1)
        snprintf(name, QUEUE_NAME_MAX, "%s:%u", c->port[port].name, q);
    else
        snprintf(name, QUEUE_NAME_MAX, "%s", c->port[port].name);
    return name;
}

/* The queues of this number, in one direction: each is one lcore's. */
static void check_queue(struct settings *s, const struct config *c, const struct placement_ports *ports,
                        unsigned q, bool sends)
{
    const uint32_t *queues = sends ? ports->tx_queues : ports->rx_queues;
    const char *does = sends ? "sends to" : "receives from", *key = sends ? "tx" : "rx";
    char name[QUEUE_NAME_MAX];
    uint64_t owned = 0;

    for (unsigned l = 0; l < c->placement.lcores; l++) {
        const struct placement_lcore *lcore = &c->placement.lcore[l];
        const uint64_t its = sends ? lcore->tx[q] : lcore->rx[q];

        for (uint64_t twice = its & owned; twice != 0; twice &= twice - 1)
            settings_fault(s, settings_path(s, "lcores[%u].%s", l, key),
                           "port \"%s\" has an lcore that %s it already",
                           queue_name(name, c, queues, (unsigned)__builtin_ctzll(twice), q), does);
        owned |= its;
    }
    for (uint64_t none = placement_with_queue(queues, q) & ~owned; none != 0; none &= none - 1)
        settings_fault(s, "lcores", "none %s port \"%s\"; add it to the %s list of one", does,
                       queue_name(name, c, queues, (unsigned)__builtin_ctzll(none), q), key);
}

/* Each shard is one lcore's. */
static void check_shards(struct settings *s, const struct placement *p)
{
    uint64_t owned = 0;

    for (unsigned l = 0; l < p->lcores; l++) {
        for (uint64_t twice = p->lcore[l].shards & owned; twice != 0; twice &= twice - 1)
            settings_fault(s, settings_path(s, "lcores[%u].aggregate", l), "shard %d has an lcore already",
                           __builtin_ctzll(twice));
        owned |= p->lcore[l].shards;
    }
    for (uint64_t none = first_bits(p->shards) & ~owned; none != 0; none &= none - 1)
        settings_fault(s, "lcores", "none aggregates shard %d; number the shards from 0 without gaps",
                       __builtin_ctzll(none));
}

static bool is_idle(const struct placement_lcore *l)
{
    uint64_t tasks = l->shards;

    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        tasks |= l->rx[q] | l->tx[q];
    return tasks == 0;
}

/* Each queue and each shard has an lcore, and only one, and each lcore has something to do. */
static void check_tasks(struct settings *s, const struct config *c, const struct placement_ports *ports)
{
    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++) {
        check_queue(s, c, ports, q, false);
        check_queue(s, c, ports, q, true);
    }
    check_shards(s, &c->placement);
    for (unsigned l = 0; l < c->placement.lcores; l++)
        if (is_idle(&c->placement.lcore[l]))
            settings_fault(s, settings_path(s, "lcores[%u]", l),
                           "has no task; give it rx, tx or aggregate, or remove it");
}

/* Whether there are no mistakes in what a list of lcores refers to. */
static bool ports_are_known(struct settings *s, const struct config *c)
{
    static const char *const key[] = {"name", "rx_queues", "tx_queues"};

    for (unsigned p = 0; p < c->ports; p++)
        for (unsigned k = 0; k < sizeof(key) / sizeof(key[0]); k++)
            if (settings_are_faulty(s, settings_path(s, "ports[%u].%s", p, key[k])))
                return false;
    return c->ports > 0;
}

void config_check_lcores(struct settings *s, struct config *c)
{
    struct placement *p = &c->placement;
    struct placement_ports ports;
    const unsigned faults_before = s->faults;
    uint64_t shards = 0;

    c->has_placement = p->lcores > 0;
    if (!c->has_placement || !ports_are_known(s, c) || settings_are_faulty(s, "lcores"))
        return; /* a wrong name was reported; what follows from it need not be */
    config_queues(c, &ports);
    for (unsigned l = 0; l < p->lcores; l++) {
        resolve_lcore(s, c, l, &ports);
        shards |= p->lcore[l].shards;
    }
    if (s->faults > faults_before)
        return;
    while (p->shards < SWAGG_MAX_SHARDS && shards >> p->shards != 0)
        p->shards++;
    if (c->has_ip && p->shards == 0)
        settings_fault(s, "lcores", "none aggregates, but switch.ip is set: add \"aggregate: [0]\" to one");
    check_tasks(s, c, &ports);
}

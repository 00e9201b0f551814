/* The lcores: what their parts need, what each polls, and how; the latter also while they poll. */
#include "datapath_make.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "base/log.h"
#include "base/many_to_one.h"
#include "port/steer.h"
#include "protocols.h"
#include "switchml/protocol.h"

enum { LOOK_AGAIN_US = 50 };

void datapath_set_pace(struct datapath *dp, const struct config *cfg)
{
    const uint64_t cycles_per_ms = rte_get_tsc_hz() / MS_PER_S;

    dp->link_local = cfg->link_local;
    dp->tx_delay = cfg->tx_delay_us * rte_get_tsc_hz() / US_PER_S;
    dp->pace = (struct lcore_pace){.spin = cfg->idle.spin,
                                   .max_sleep_us = cfg->idle.max_sleep_us,
                                   .until_due_us = cfg->idle.until_due_us,
                                   .cycles_per_ms = cycles_per_ms,
                                   .stall = LCORE_STALL_MS * cycles_per_ms};
}

static uint64_t impaired_ports(const struct datapath *dp)
{
    uint64_t impaired = 0;

    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        if (port_impairments(&dp->port[rte_bsf64(left)].tx[0]) != NULL)
            impaired |= left & -left;
    return impaired;
}

static uint64_t sends_to(const struct placement_lcore *l)
{
    uint64_t ports = 0;

    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        ports |= l->tx[q];
    return ports;
}

/* What so many of a port's receive queues may let in of what the port may: a part of a bound is one as well,
 * and none at all would mean that there is no bound. */
static uint32_t storm_share(const struct port *port, enum config_storm_kind kind, unsigned queues)
{
    const uint64_t frames = port->storm.frames[kind];

    return frames == 0 || queues == 0 ? 0 : (uint32_t)RTE_MAX(frames * queues / port->rx_queues, 1u);
}

static void bound_storms(const struct datapath *dp, struct lcore_tasks *tasks)
{
    for (uint64_t left = dp->ports; left != 0; left &= left - 1) {
        const struct port *port = &dp->port[rte_bsf64(left)];
        unsigned queues = 0;

        for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
            queues += (tasks->queues.rx[q] & left & -left) != 0;
        for (enum config_storm_kind kind = 0; kind < CONFIG_STORM_KINDS; kind++)
            tasks->storm[rte_bsf64(left)].frames[kind] = storm_share(port, kind, queues);
    }
}

void datapath_assign(struct datapath *dp)
{
    struct lcore_tasks tasks = {.ports = dp->ports,
                                .tx_delay = dp->tx_delay,
                                .multi_segment = dp->multi_segment,
                                .link_local = dp->link_local,
                                .pace = dp->pace};
    struct lcore *main_lcore = lcores_main(&dp->lcores);

    lcore_assign(main_lcore, &tasks);
    lcore_take(main_lcore);
    for (unsigned i = 0; i < dp->lcores.n; i++) {
        struct lcore *lc = dp->lcores.lcore[i];

        tasks.queues = dp->placement.lcore[i];
        bound_storms(dp, &tasks);
        __atomic_store_n(&lc->send.impaired, sends_to(&tasks.queues) & impaired_ports(dp), __ATOMIC_RELAXED);
        for (uint64_t left = tasks.queues.tx[0]; left != 0; left &= left - 1)
            __atomic_store_n(&dp->port[rte_bsf64(left)].sender, &lc->bell, __ATOMIC_RELEASE);
        lcore_assign(lc, &tasks);
    }
}

void datapath_settle(const struct datapath *dp)
{
    for (unsigned i = 0; i < dp->lcores.n; i++)
        while (!lcore_has_taken(dp->lcores.lcore[i]))
            usleep(LOOK_AGAIN_US);
}

void datapath_follow(struct datapath *dp, const struct config *cfg)
{
    datapath_set_pace(dp, cfg);
    for (uint64_t left = dp->ports; left != 0; left &= left - 1)
        dp->port[rte_bsf64(left)].storm = cfg->port[rte_bsf64(left)].storm;
    datapath_assign(dp);
    datapath_settle(dp);
}

/* The members of a protocol's jobs, and the switches above. */
static void add_sources(struct datapath *dp, struct engine *e, const struct agg_protocol *protocol)
{
    e->source[engine_from_members(protocol->id)] =
        (struct engine_source){.table = protocol, .jobs = &dp->jobs.running[protocol->id]};
    for (unsigned u = 0; u < dp->uplinks; u++)
        e->source[engine_from_parent(protocol->id, u)] = (struct engine_source){
            .table = protocol, .jobs = &dp->jobs.above[u][protocol->id], .parent = true, .uplink = u};
}

static void wire_engine(struct datapath *dp, struct lcore *lc, struct rte_mempool *mbufs)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    lc->engine = (struct engine){.lcore = lc->index,
                                 .shards = &dp->shards,
                                 .buffers = &dp->buffers,
                                 .counters = &lc->counters,
                                 .jobs_running = &dp->jobs.count,
                                 .ns_per_cycle = 1e9 / (double)rte_get_tsc_hz(),
                                 .egress = {.bridge = dp->bridge,
                                            .send = &lc->send,
                                            .counters = &lc->counters,
                                            .mbufs = mbufs,
                                            .ones_sum = dp->jobs.kernels->ones_sum,
                                            .mergeable = dp->mergeable,
                                            .data_ports = dp->data_ports},
                                 .strangers = {.boot_id = dp->boot_id, .data_ports = dp->data_ports}};
    for (unsigned i = 0; i < protocols; i++)
        add_sources(dp, &lc->engine, protocol[i]);
    fair_init(&lc->engine.fair);
    strangers_init(&lc->engine.strangers, rte_rand());
}

/* Gives each part of an lcore what it needs; its tasks come later. */
static void wire(struct datapath *dp, struct lcore *lc)
{
    const struct vlans *vlans = dp->vlans.aware ? &dp->vlans : NULL;
    struct rte_mempool *mbufs = buffers_near(&dp->buffers, (int)rte_lcore_to_socket_id(lc->eal_id));

    lc->rcu = dp->rcu;
    lc->stop = &dp->stop;
    lc->receive = (struct receive){.port = dp->port,
                                   .vlans = vlans,
                                   .mbufs = mbufs,
                                   .classifier = &dp->classifier,
                                   .bridge = dp->bridge,
                                   .claim = &dp->claim,
                                   .loops = &dp->loops,
                                   .host = &lc->host,
                                   .engine = &lc->engine,
                                   .to_control = &dp->to_control,
                                   .send = &lc->send,
                                   .counters = &lc->counters};
    ctl_intake_init(&lc->receive.intake, &dp->to_control.rules);
    lc->host = (struct host){.mac = dp->mac,
                             .ip = dp->ip,
                             .vlans = vlans,
                             .mbufs = mbufs,
                             .ones_sum = dp->jobs.kernels->ones_sum,
                             .send = &lc->send,
                             .counters = &lc->counters,
                             .neighbours = &dp->neighbours};
    lc->send = (struct send){.port = dp->port, .vlans = vlans, .counters = &lc->counters, .mbufs = mbufs};
    wire_engine(dp, lc, mbufs);
}

static struct lcore *make_lcore(struct datapath *dp, unsigned index, unsigned eal_id)
{
    struct lcore *lc = rte_zmalloc("lcore", sizeof(*lc), RTE_CACHE_LINE_SIZE);

    if (lc == NULL) {
        log_error("no memory for lcore %u: raise memory.megabytes", eal_id);
        return NULL;
    }
    if (bell_open(&lc->bell) < 0) {
        log_error("no descriptor for lcore %u: raise the limit of open files (ulimit -n)", eal_id);
        rte_free(lc);
        return NULL;
    }
    lc->index = index;
    lc->eal_id = eal_id;
    wire(dp, lc);
    return lc;
}

static int give_shards(struct datapath *dp, struct lcore *lc)
{
    char name[RTE_RING_NAMESIZE];
    struct rte_ring *inbox;

    lc->shards = dp->placement.lcore[lc->index].shards;
    if (lc->shards == 0)
        return 0;
    snprintf(name, sizeof(name), "inbox_%u", lc->index);
    inbox = rte_ring_create(name, ENGINE_RING_SIZE, SOCKET_ID_ANY, MANY_TO_ONE);
    if (inbox == NULL)
        return log_fail(-ENOMEM, "no memory for the ring of lcore %u: raise memory.megabytes", lc->eal_id);
    dp->shards.inbox[lc->index] = inbox;
    dp->shards.bell[lc->index] = &lc->bell;
    dp->shards.owned[lc->index] = (uint8_t)__builtin_popcountll(lc->shards);
    for (uint64_t shards = lc->shards; shards != 0; shards &= shards - 1)
        dp->shards.owner[rte_bsf64(shards)] = (uint8_t)lc->index;
    return 0;
}

static struct steer_ports data_ports_of(const struct agg_protocol *protocol)
{
    return (struct steer_ports){.first = protocol->udp_ports.first,
                                .count = protocol->udp_ports.last - protocol->udp_ports.first + 1};
}

int datapath_make_lcores(struct datapath *dp)
{
    const struct steer_ports data = data_ports_of(&sml_protocol);
    unsigned id = (unsigned)-1;
    int rc = 0;

    dp->data_ports =
        (uint8_t)steer_data_ports(dp->port, (unsigned)__builtin_popcountll(dp->ports), &data, dp->shards.n);
    for (unsigned i = 0; i < dp->lcores.n && rc == 0; i++) {
        id = rte_get_next_lcore(id, 1, 0);
        if (id == RTE_MAX_LCORE)
            return log_fail(-EINVAL, "the placement has %u lcores besides the main one, the EAL only %u",
                            dp->lcores.n, i);
        dp->lcores.lcore[i] = make_lcore(dp, i, id);
        rc = dp->lcores.lcore[i] == NULL ? -ENOMEM : give_shards(dp, dp->lcores.lcore[i]);
    }
    dp->lcores.lcore[dp->lcores.n] = make_lcore(dp, dp->lcores.n, rte_get_main_lcore());
    if (rc == 0 && dp->lcores.lcore[dp->lcores.n] == NULL)
        rc = -ENOMEM;
    if (rc == 0)
        datapath_assign(dp);
    return rc;
}

static int launch(struct lcore *lc)
{
    int rc = rte_eal_remote_launch(lcore_run, lc, lc->eal_id);

    if (rc < 0)
        log_error("lcore %u does not start: %s", lc->eal_id, strerror(-rc));
    return rc;
}

void datapath_steer(const struct datapath *dp, unsigned p)
{
    struct steer_queues to = {.data = data_ports_of(&sml_protocol), .shards = dp->shards.n};

    for (unsigned s = 0; s < dp->shards.n; s++)
        to.queue[s] = placement_rx_queue(&dp->placement.lcore[dp->shards.owner[s]], p);
    steer_port(&dp->port[p], &to);
}

int datapath_start(struct datapath *dp)
{
    int rc = 0;

    for (uint64_t left = dp->ports; left != 0 && rc == 0; left &= left - 1) {
        rc = port_start(&dp->port[rte_bsf64(left)]);
        if (rc == 0)
            datapath_steer(dp, rte_bsf64(left));
    }
    for (unsigned i = 0; i < dp->lcores.n && rc == 0; i++)
        rc = launch(dp->lcores.lcore[i]);
    return rc;
}

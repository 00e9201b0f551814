/* Makes the lcores: their tasks, and what their parts need. */
#include "datapath_make.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_malloc.h>
#include <rte_random.h>

#include "base/log.h"
#include "base/many_to_one.h"
#include "port/steer.h"
#include "protocols.h"
#include "switchml/protocol.h"

static uint64_t impaired_ports(const struct datapath *dp)
{
    uint64_t ports = 0;

    for (unsigned p = 0; p < dp->ports; p++)
        if (port_impairments(&dp->port[p].tx[0]) != NULL)
            ports |= RTE_BIT64(p);
    return ports;
}

static void wire_engine(struct datapath *dp, struct lcore *lc)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    lc->engine = (struct engine){.lcore = lc->index,
                                 .shards = &dp->shards,
                                 .counters = &lc->counters,
                                 .jobs_running = &dp->jobs.count,
                                 .ns_per_cycle = 1e9 / (double)rte_get_tsc_hz(),
                                 .egress = {.bridge = dp->bridge,
                                            .send = &lc->send,
                                            .counters = &lc->counters,
                                            .mbufs = dp->mbufs,
                                            .ones_sum = dp->jobs.kernels->ones_sum,
                                            .multi_segment = dp->multi_segment,
                                            .mergeable = dp->mergeable},
                                 .strangers = {.egress = &lc->engine.egress,
                                               .counters = &lc->counters,
                                               .boot_id = dp->boot_id,
                                               .data_ports = dp->data_ports}};
    for (unsigned i = 0; i < protocols; i++)
        lc->engine.protocol[protocol[i]->id] =
            (struct engine_protocol){.table = protocol[i], .jobs = &dp->jobs.running[protocol[i]->id]};
    fair_init(&lc->engine.fair);
    strangers_init(&lc->engine.strangers, rte_rand());
}

/* Gives each part of an lcore what it needs; its tasks come later. */
static void wire(struct datapath *dp, struct lcore *lc)
{
    const struct vlans *vlans = dp->vlans.aware ? &dp->vlans : NULL;

    lc->pace = dp->pace;
    lc->rcu = dp->rcu;
    lc->stop = &dp->stop;
    lc->receive = (struct receive){.port = dp->port,
                                   .vlans = vlans,
                                   .mbufs = dp->mbufs,
                                   .classifier = &dp->classifier,
                                   .bridge = dp->bridge,
                                   .claim = &dp->claim,
                                   .loops = &dp->loops,
                                   .link_local = dp->link_local,
                                   .host = &lc->host,
                                   .engine = &lc->engine,
                                   .to_control = &dp->to_control,
                                   .send = &lc->send,
                                   .counters = &lc->counters};
    lc->host = (struct host){.mac = dp->mac,
                             .ip = dp->ip,
                             .vlans = vlans,
                             .mbufs = dp->mbufs,
                             .ones_sum = dp->jobs.kernels->ones_sum,
                             .send = &lc->send,
                             .counters = &lc->counters};
    lc->send = (struct send){.port = dp->port,
                             .vlans = vlans,
                             .ports = dp->ports,
                             .counters = &lc->counters,
                             .mbufs = dp->mbufs,
                             .delay = dp->tx_delay};
    wire_engine(dp, lc);
}

static struct lcore *make_lcore(struct datapath *dp, unsigned index, unsigned eal_id)
{
    struct lcore *lc = rte_zmalloc("lcore", sizeof(*lc), RTE_CACHE_LINE_SIZE);

    if (lc == NULL) {
        log_error("no memory for lcore %u: raise memory.megabytes", eal_id);
        return NULL;
    }
    lc->index = index;
    lc->eal_id = eal_id;
    wire(dp, lc);
    return lc;
}

/* Every receive queue of a port may let in its part of what the port may. */
static void bound_storms(const struct datapath *dp, struct receive *r, unsigned p, unsigned queues)
{
    const struct port *port = &dp->port[p];

    for (enum config_storm_kind kind = 0; queues > 0 && kind < CONFIG_STORM_KINDS; kind++)
        storm_set(&r->storm[p], kind, (uint64_t)port->storm->frames[kind] * queues / port->rx_queues,
                  rte_get_tsc_hz());
}

static void give_queues(const struct datapath *dp, struct lcore *lc, const struct placement_lcore *tasks)
{
    for (unsigned p = 0; p < dp->ports; p++) {
        const int tx_queue = placement_tx_queue(tasks, p);
        const unsigned before = lc->receive.queues;

        for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
            if (tasks->rx[q] & RTE_BIT64(p))
                lc->receive.queue[lc->receive.queues++] =
                    (struct receive_queue){.port = (uint8_t)p, .queue = (uint8_t)q};
        bound_storms(dp, &lc->receive, p, lc->receive.queues - before);
        if (tx_queue < 0)
            continue;
        lc->send.own |= RTE_BIT64(p);
        lc->send.queue[p] = (uint8_t)tx_queue;
    }
    lc->send.for_others = tasks->tx[0];
    lc->send.impaired = lc->send.own & impaired_ports(dp);
}

static int give_tasks(struct datapath *dp, struct lcore *lc, const struct placement_lcore *tasks)
{
    char name[RTE_RING_NAMESIZE];
    struct rte_ring *inbox;

    give_queues(dp, lc, tasks);
    lc->shards = tasks->shards;
    if (lc->shards == 0)
        return 0;
    snprintf(name, sizeof(name), "inbox_%u", lc->index);
    inbox = rte_ring_create(name, ENGINE_RING_SIZE, SOCKET_ID_ANY, MANY_TO_ONE);
    if (inbox == NULL) {
        log_error("no memory for the ring of lcore %u: raise memory.megabytes", lc->eal_id);
        return -ENOMEM;
    }
    dp->shards.inbox[lc->index] = inbox;
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

int datapath_make_lcores(struct datapath *dp, const struct placement *placement)
{
    const struct steer_ports data = data_ports_of(&sml_protocol);
    unsigned id = (unsigned)-1;
    int rc = 0;

    dp->data_ports = (uint8_t)steer_data_ports(dp->port, dp->ports, &data, dp->shards.n);
    for (unsigned i = 0; i < dp->lcores.n && rc == 0; i++) {
        id = rte_get_next_lcore(id, 1, 0);
        if (id == RTE_MAX_LCORE) {
            log_error("the placement has %u lcores besides the main one, the EAL only %u", dp->lcores.n, i);
            return -EINVAL;
        }
        dp->lcores.lcore[i] = make_lcore(dp, i, id);
        rc =
            dp->lcores.lcore[i] == NULL ? -ENOMEM : give_tasks(dp, dp->lcores.lcore[i], &placement->lcore[i]);
    }
    dp->lcores.lcore[dp->lcores.n] = make_lcore(dp, dp->lcores.n, rte_get_main_lcore());
    if (rc == 0 && dp->lcores.lcore[dp->lcores.n] == NULL)
        rc = -ENOMEM;
    return rc;
}

static int launch(struct lcore *lc)
{
    int rc = rte_eal_remote_launch(lcore_run, lc, lc->eal_id);

    if (rc < 0)
        log_error("lcore %u does not start: %s", lc->eal_id, strerror(-rc));
    return rc;
}

/* Tells a port which lcore receives from which of its queues (port/steer.h). */
static void steer(const struct datapath *dp, unsigned p)
{
    struct steer_queues to = {.data = data_ports_of(&sml_protocol), .shards = dp->shards.n};

    for (unsigned s = 0; s < dp->shards.n; s++)
        to.queue[s] = receive_queue_of(&dp->lcores.lcore[dp->shards.owner[s]]->receive, p);
    steer_port(&dp->port[p], &to);
}

int datapath_start(struct datapath *dp)
{
    int rc = 0;

    for (unsigned p = 0; p < dp->ports && rc == 0; p++) {
        rc = port_start(&dp->port[p]);
        if (rc == 0)
            steer(dp, p);
    }
    for (unsigned i = 0; i < dp->lcores.n && rc == 0; i++)
        rc = launch(dp->lcores.lcore[i]);
    return rc;
}

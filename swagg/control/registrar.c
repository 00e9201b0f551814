#include "control/registrar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/jobs_share.h"
#include "base/log.h"
#include "control/post.h"
#include "monotonic.h"
#include "port/frame.h"
#include "port/steer.h"
#include "registry/registry_reload.h"

static const struct registrar *of_host(const struct registry_host *h)
{
    return (const struct registrar *)h;
}

static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const struct registrar *r = context;
    const struct post post = {.host = r->host, .bridge = r->parts.bridge};
    struct post_address address = {
        .network = to->network, .port = to->port, .ip = to->ip, .udp_port = to->udp_port};

    memcpy(address.mac.addr_bytes, to->mac, sizeof(address.mac.addr_bytes));
    count_event(r->host->counters, EVENT_CONTROL_SENT, post_send(&post, CTL_PORT, &address, payload, bytes));
}

static int prepare(void *context, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;

    return pools_open(&r->pools, job, terms, number, text);
}

static bool is_taken(void *context, const struct ctl_endpoint *from, uint16_t data_port,
                     char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;
    const struct agg_sender sender = {
        .ip = from->ip, .port = rte_cpu_to_be_16(data_port), .network = from->network};
    const uint8_t *at = (const uint8_t *)&from->ip;
    const struct agg_seat *seat;
    const struct switch_job *job = jobs_of_sender(r->parts.jobs, &sender, &seat);

    if (job != NULL)
        snprintf(
            text, CTL_TEXT_MAX,
            "UDP port %u of %u.%u.%u.%u is worker %u's of job %s in the switch's configuration (static): "
            "send from another, or take it out there",
            data_port, at[0], at[1], at[2], at[3], seat->rank, job->name);
    return job != NULL;
}

static void release(void *context, const struct ctl_entry *job)
{
    const struct registrar *r = context;

    pools_close(&r->pools, job);
}

static void moved(void *context, const struct ctl_entry *job, unsigned rank)
{
    const struct registrar *r = context;

    if (pools_move(&r->pools, job, rank) < 0)
        log_warning("job %s: no memory to note the new MAC address of rank %u: raise memory.megabytes",
                    job->name, rank);
}

static bool heard(void *context, const struct ctl_entry *job, unsigned rank)
{
    const struct registrar *r = context;

    return pools_heard(&r->pools, job, rank);
}

static bool receives(const struct lcore *lc)
{
    for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++)
        if (lc->tasks->queues.rx[q] != 0)
            return true;
    return false;
}

/* The clock does not wait for lcores that do not receive. */
static unsigned rounds(const struct registry_host *h, uint64_t of[SWAGG_MAX_LCORES], uint64_t now)
{
    const struct lcores *lcores = of_host(h)->parts.lcores;

    for (unsigned i = 0; i < lcores->n; i++)
        of[i] =
            receives(lcores->lcore[i]) ? counter_read(&lcores->lcore[i]->counters.event[EVENT_ROUNDS]) : now;
    return lcores->n;
}

/* --- jobs that go on to a switch above ----------------------------------------------------------------- */

static void send_up(void *context, unsigned uplink, const uint8_t *payload, size_t bytes)
{
    const struct registrar *r = context;

    uplinks_send(r->parts.uplinks, uplink, payload, bytes);
}

static int prepare_relayed(void *context, const struct relay_job *job, uint8_t *number,
                           char text[CTL_TEXT_MAX])
{
    const struct registrar *r = context;

    return pools_open_relayed(&r->pools, job, number, text);
}

static void release_relayed(void *context, const struct relay_job *job)
{
    release(context, &job->entry);
}

static void moved_relayed(void *context, const struct relay_job *job, unsigned rank)
{
    moved(context, &job->entry, rank);
}

static void parent_moved(void *context, const struct relay_job *job)
{
    const struct registrar *r = context;

    if (pools_move_parent(&r->pools, job) < 0)
        log_warning(
            "job %s: no memory to note the new MAC address of the switch above: raise memory.megabytes",
            job->entry.name);
}

static void proven(void *context, unsigned uplink, const struct ctl_endpoint *from)
{
    const struct registrar *r = context;
    struct net_mac mac;

    memcpy(mac.addr_bytes, from->mac, sizeof(from->mac));
    uplinks_prove(r->parts.uplinks, uplink, &mac, from->port);
}

static uint16_t payload_bytes(void *context, unsigned uplink)
{
    const struct registrar *r = context;

    return uplinks_payload_bytes(r->parts.uplinks, uplink);
}

static void set_keyed(const struct registrar *r)
{
    for (unsigned u = 0; u < r->common.parts.cfg->uplinks; u++)
        uplinks_set_keyed(r->parts.uplinks, u, r->common.keyring.uplink[u].keys > 0);
}

static bool has_room(const struct registry_host *h, const struct room_job *asked, char text[AGG_TEXT_MAX])
{
    return jobs_have_room_for(((const struct registrar *)h)->parts.jobs, asked, text);
}

static const struct registry_host_kind kind = {.actions = {.send = send_message,
                                                           .prepare = prepare,
                                                           .release = release,
                                                           .moved = moved,
                                                           .heard = heard,
                                                           .is_taken = is_taken},
                                               .relay = {.send_up = send_up,
                                                         .prepare = prepare_relayed,
                                                         .release = release_relayed,
                                                         .moved = moved_relayed,
                                                         .parent_moved = parent_moved,
                                                         .proven = proven,
                                                         .payload_bytes = payload_bytes},
                                               .rounds = rounds,
                                               .has_room = has_room};

int registrar_open(struct registrar **out, const struct registrar_parts *parts, const struct config *cfg)
{
    const struct registry_host_parts common = {.kind = &kind,
                                               .cfg = cfg,
                                               .protocols = parts->protocols,
                                               .protocols_known = parts->protocols_known,
                                               .boot_id = parts->boot_id,
                                               .data_ports = parts->data_ports,
                                               .hears_nics = true,
                                               .history = parts->history};
    struct registrar *r = calloc(1, sizeof(*r));
    int rc;

    *out = NULL;
    if (r == NULL)
        return -ENOMEM;
    r->parts = *parts;
    r->host = &lcores_main(parts->lcores)->host;
    r->pools = (struct pools){.jobs = parts->jobs, .host = r->host, .cfg = cfg};
    rc = registry_host_open(&r->common, &common, monotonic_ns());
    if (rc == 0)
        rc = registry_host_begin(&r->common);
    if (rc < 0) {
        registrar_close(r);
        return rc;
    }
    parts->jobs->reserved = &r->common.reserved;
    set_keyed(r);
    *out = r;
    return 0;
}

void registrar_close(struct registrar *r)
{
    if (r == NULL)
        return;
    registry_host_close(&r->common);
    free(r);
}

/* What came to UPLINK_CONTROL_PORT. */
static enum ctl_parse_error receive_above(struct registrar *r, const struct ctl_endpoint *from,
                                          const struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    bool control;
    const int uplink = uplinks_receive(r->parts.uplinks, m, &control);

    if (uplink < 0)
        count_drop(r->host->counters, m->port, DROP_NOT_PARENT, 1);
    return control ? registry_host_receive_up(&r->common, (unsigned)uplink, from, f->payload,
                                              frame_payload_bytes(f), monotonic_ns())
                   : CTL_PARSED;
}

void registrar_receive(struct registrar *r, struct rte_mbuf *m)
{
    const struct frame_udp *f = rte_pktmbuf_mtod(m, const struct frame_udp *);
    const struct ctl_endpoint from = inbox_sender(m);
    enum ctl_parse_error e;

    static_assert(DROP_CONTROL_BAD_SEAL - DROP_CONTROL_TOO_SHORT == CTL_BAD_SEAL - CTL_TOO_SHORT,
                  "in the same order");
    count_event(r->host->counters, EVENT_CONTROL_RECEIVED, 1);
    e = inbox_is_from_above(m)
            ? receive_above(r, &from, m)
            : registry_host_receive(&r->common, &from, f->payload, frame_payload_bytes(f), monotonic_ns());
    if (e != CTL_PARSED)
        count_drop(r->host->counters, m->port, DROP_CONTROL_TOO_SHORT + (e - CTL_TOO_SHORT), 1);
    rte_pktmbuf_free(m);
}

uint64_t registrar_tick(struct registrar *r)
{
    registry_host_tick(&r->common, monotonic_ns());
    pthread_mutex_lock(&r->common.lock);
    if (r->common.relays != NULL)
        uplinks_tick(r->parts.uplinks, monotonic_ns());
    jobs_reclaim(r->parts.jobs);
    pthread_mutex_unlock(&r->common.lock);
    jobs_rates_tick(r->parts.jobs, monotonic_ns());
    return r->common.now;
}

void registrar_take(struct registrar *r, struct registry_change *c)
{
    pthread_mutex_lock(&r->common.lock);
    registry_change_take(c);
    set_keyed(r);
    pthread_mutex_unlock(&r->common.lock);
}

struct port_cut {
    const struct registrar *registrar;
    unsigned port;
};

/* Where the bridge knows a station, or where it joined. */
static bool is_at(const void *port_cut, const struct ctl_endpoint *e)
{
    const struct port_cut *cut = port_cut;
    const int known = bridge_lookup(bridge_of(cut->registrar->parts.bridge, e->network), e->mac);

    return (known < 0 ? e->port : (unsigned)known) == cut->port;
}

void registrar_cut(struct registrar *r, unsigned port, const char *name)
{
    const struct port_cut cut = {r, port};
    char where[CTL_TEXT_MAX];

    snprintf(where, sizeof(where), "on port %s, which the switch's operator has removed", name);
    registry_host_cut(&r->common, is_at, &cut, where, monotonic_ns());
    if (r->common.relays != NULL)
        uplinks_cut(r->parts.uplinks, port, name);
    send_flush(r->host->send);
}

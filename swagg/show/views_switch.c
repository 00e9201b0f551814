/* Views of the switch as a whole: what it is, what it has, what it has counted, which stations, tenants and
 * switches above it knows. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "aggregate/jobs_share.h"
#include "base/log.h"
#include "metrics/metrics.h"
#include "monotonic.h"
#include "protocols.h"
#include "registry/registry_reserve.h"
#include "show/shown_jobs.h"
#include "show/views.h"
#include "version.h"

static unsigned ports_up(const struct show_parts *parts)
{
    unsigned up = 0;

    for (uint64_t left = ports_there(parts->ports); left != 0; left &= left - 1)
        up += port_is_up(&parts->port[rte_bsf64(left)]);
    return up;
}

static unsigned stations(const struct show_parts *parts)
{
    struct bridge_station station;
    unsigned n = 0;

    for (unsigned i = 0; i < parts->vlans->n; i++)
        for (size_t cursor = 0; bridge_next(bridge_of(parts->bridge, i), &cursor, &station);)
            n++;
    return n;
}

static void count_name(void *context, const char *name)
{
    (void)name;
    ++*(uint64_t *)context;
}

int view_status(const struct show_parts *parts, const char *name, struct view_out *out)
{
    struct status_view shown = {.name = parts->name,
                                .version = build_version,
                                .pid = (uint64_t)getpid(),
                                .up_s = (monotonic_ns() - parts->started) / NS_PER_SECOND,
                                .bridges = true,
                                .ports = (uint64_t)__builtin_popcountll(ports_there(parts->ports)),
                                .ports_up = ports_up(parts),
                                .stations = stations(parts),
                                .polls = true,
                                .lcores = parts->lcores->n,
                                .shards = parts->shards->n,
                                .log_level = log_level_name(log_get_level()),
                                .log_lines_lost = log_lost()};

    (void)name;
    net_mac_text(shown.mac, &parts->mac);
    view_ip(shown.ip, parts->ip);
    view_job_names(parts, count_name, &shown.jobs);
    view_fields(out, &shown);
    return 0;
}

int view_memory(const struct show_parts *parts, const char *name, struct view_out *out)
{
    struct memory_view shown = {.process = true,
                                .pool_bytes = parts->jobs->bytes_max,
                                .pool_bytes_in_use = __atomic_load_n(&parts->jobs->bytes, __ATOMIC_RELAXED),
                                .kept_frames = parts->jobs->frames_max,
                                .kept_frames_in_use =
                                    __atomic_load_n(&parts->jobs->frames, __ATOMIC_RELAXED)};
    struct rte_malloc_socket_stats heap;

    (void)name;
    for (unsigned i = 0; i < parts->buffers->n; i++) {
        shown.mbufs += parts->buffers->pool[i]->size;
        shown.mbufs_in_use += rte_mempool_in_use_count(parts->buffers->pool[i]);
    }
    for (unsigned i = 0; i < rte_socket_count(); i++)
        if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &heap) == 0) {
            shown.memory_bytes += heap.heap_totalsz_bytes;
            shown.memory_bytes_in_use += heap.heap_allocsz_bytes;
        }
    view_fields(out, &shown);
    return 0;
}

/* Counters of members' packets, by reason; dropped: of those that a protocol has dropped. */
static unsigned count_verdicts(const struct show_parts *parts, bool dropped, struct view_count to[])
{
    unsigned n = 0;

    for (unsigned id = 0; id < COUNTED_PROTOCOLS; id++) {
        const struct agg_protocol *protocol = agg_protocol_find(id);

        for (unsigned r = 0; protocol != NULL && r < protocol->reasons; r++)
            if (!protocol->reason[r].strange && (!dropped || protocol->reason[r].action == AGG_DROP))
                to[n++] =
                    (struct view_count){protocol->reason[r].name, lcores_verdicts(parts->lcores, id, r)};
    }
    return n;
}

/* Of a port, or with -1 of all, also of those that are there no more. */
static uint64_t drops_of(const struct show_parts *parts, int port, unsigned kind)
{
    uint64_t sum = 0;

    if (port >= 0)
        return view_port_drops(parts, (unsigned)port, kind);
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        sum += lcores_drops(parts->lcores, p, kind);
    return sum;
}

static int show_counted(struct view_out *out, unsigned n, const struct view_count of[])
{
    const struct counted_view shown = {.counts = {n, of}};

    view_fields(out, &shown);
    return 0;
}

int view_drops(const struct show_parts *parts, const char *name, struct view_out *out)
{
    const int only = name == NULL ? -1 : view_find_port(parts, name);
    struct view_count of[DROP_KINDS + COUNTED_PROTOCOLS * AGG_MAX_REASONS];
    unsigned n = 0;

    if (name != NULL && only < 0)
        return only;
    for (unsigned kind = 0; kind < DROP_KINDS; kind++)
        if (drop_name(kind) != NULL)
            of[n++] = (struct view_count){drop_name(kind), drops_of(parts, only, kind)};
    if (only < 0)
        n += count_verdicts(parts, true, of + n);
    return show_counted(out, n, of);
}

int view_counters(const struct show_parts *parts, const char *name, struct view_out *out)
{
    struct view_count of[EVENTS];

    (void)name;
    for (enum event e = 0; e < EVENTS; e++)
        of[e] = (struct view_count){event_name(e), lcores_events(parts->lcores, e)};
    return show_counted(out, EVENTS, of);
}

int view_verdicts(const struct show_parts *parts, const char *name, struct view_out *out)
{
    struct view_count of[COUNTED_PROTOCOLS * AGG_MAX_REASONS];

    (void)name;
    return show_counted(out, count_verdicts(parts, false, of), of);
}

/* A station is silent for silent_ticks and up to one tick more. */
static void show_station(const struct show_parts *parts, unsigned network, const struct bridge_station *s,
                         struct view_out *out)
{
    const uint64_t silent_s = (uint64_t)s->silent_ticks * parts->config->timers.mac_age_s / BRIDGE_AGE_TICKS;
    struct station_view row = {.port = parts->port[s->port].name,
                               .kind = s->fixed ? "static" : "learned",
                               .ages = true,
                               .silent_s = s->fixed ? 0 : silent_s,
                               .vlan = parts->vlans->vlan[network].id};
    const uint8_t *m = s->mac;

    snprintf(row.mac, sizeof(row.mac), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
    view_row(out, &row);
}

int view_fdb(const struct show_parts *parts, const char *name, struct view_out *out)
{
    struct bridge_station station;

    (void)name;
    for (unsigned i = 0; i < parts->vlans->n; i++)
        for (size_t cursor = 0; bridge_next(bridge_of(parts->bridge, i), &cursor, &station);)
            show_station(parts, i, &station, out);
    return 0;
}

struct used {
    const struct show_parts *parts;
    struct tenant_view by[CONFIG_TENANTS_MAX];
};

static void add_job(void *context, const struct shown_job *shown)
{
    struct used *used = context;
    const struct switch_job *job = shown_job_running(used->parts, shown);
    struct tenant_view *of;

    if (shown->tenant < 0 || shown->state == CTL_ENTRY_FAILED)
        return;
    of = &used->by[shown->tenant];
    of->jobs++;
    if (job == NULL)
        return;
    of->slots += job->slots;
    of->pool_bytes += job->bytes;
    of->kept_frames += jobs_kept_frames(job);
}

int view_reserved(const struct show_parts *parts, const char *params, struct view_out *out)
{
    struct registry_host *h = &parts->registrar->common;

    (void)params;
    pthread_mutex_lock(&h->lock);
    registry_show_reserved(h, out);
    pthread_mutex_unlock(&h->lock);
    return 0;
}

int view_tenants(const struct show_parts *parts, const char *params, struct view_out *out)
{
    const struct jobs_quota *quota = &parts->jobs->quota;
    struct used used = {.parts = parts};

    (void)params;
    shown_jobs_visit(parts, add_job, &used);
    for (unsigned i = 0; i < quota->tenants; i++) {
        const struct config_tenant *t = &quota->tenant[i];
        struct tenant_view *row = &used.by[i];

        row->name = t->name;
        row->shares = row->holds = row->keeps = true;
        row->weight = t->weight;
        row->jobs_quota = t->quota.jobs;
        row->slots_quota = t->quota.slots;
        row->pool_bytes_quota = (uint64_t)t->quota.megabytes << 20;
        row->kept_frames_quota = t->quota.kept_frames;
        view_row(out, row);
    }
    return 0;
}

static void count_relayed(void *context, const struct registry_job *job)
{
    unsigned *jobs = context; /* by uplink */

    if (job->relayed != NULL && ctl_entry_is_live(job->entry))
        jobs[job->relayed->uplink]++;
}

static void show_uplink(const struct show_parts *parts, unsigned uplink, unsigned jobs, struct view_out *out)
{
    const struct uplink *u = &parts->uplinks->uplink[uplink];
    const uint64_t heard_at = counter_read(&u->heard_at);
    struct net_mac mac; /* of the parent, or of the router before it */
    uint8_t port;       /* on which it was heard */
    const bool found = uplinks_find(parts->uplinks, uplink, &mac, &port);
    struct uplink_view row = {.state = !found                                               ? "not found"
                                       : uplinks_payload_bytes(parts->uplinks, uplink) == 0 ? "silent"
                                                                                            : "up",
                              .port = found ? parts->port[port].name : "",
                              .path_mtu = __atomic_load_n(&u->path.mtu, __ATOMIC_RELAXED),
                              .jobs = jobs,
                              .sent = lcores_uplink(parts->lcores, uplink, UPLINK_SENT),
                              .sent_bytes = lcores_uplink(parts->lcores, uplink, UPLINK_SENT_BYTES),
                              .received = lcores_uplink(parts->lcores, uplink, UPLINK_RECEIVED),
                              .received_bytes = lcores_uplink(parts->lcores, uplink, UPLINK_RECEIVED_BYTES),
                              .control_sent = counter_read(&u->sent),
                              .control_received = counter_read(&u->received),
                              .heard_ms_ago = heard_at == 0 ? 0 : (monotonic_ns() - heard_at) / NS_PER_MS};

    view_ip(row.parent, u->parent);
    view_ip(row.next, u->next);
    if (found)
        net_mac_text(row.mac, &mac);
    view_row(out, &row);
}

int view_uplinks(const struct show_parts *parts, const char *name, struct view_out *out)
{
    unsigned jobs[SWAGG_MAX_UPLINKS] = {0};

    (void)name;
    registry_host_visit(&parts->registrar->common, count_relayed, jobs);
    for (unsigned u = 0; u < parts->uplinks->n; u++)
        show_uplink(parts, u, jobs[u], out);
    return 0;
}

int view_peers(const struct show_parts *parts, const char *name, struct view_out *out)
{
    (void)name;
    metrics_show_peers(&parts->config->metrics, out);
    return 0;
}

/* Views of the switch as a whole: what it is, what it has, what it has counted, which stations it knows. */
#include <errno.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "base/clock.h"
#include "base/log.h"
#include "protocols.h"
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
    ++*(unsigned *)context;
}

int view_status(const struct show_parts *parts, const char *name, struct writer *w)
{
    unsigned jobs = 0;

    (void)name;
    view_job_names(parts, count_name, &jobs);
    writer_text(w, "name", parts->name);
    writer_text(w, "version", build_version);
    writer_number(w, "pid", (uint64_t)getpid());
    writer_number(w, "up_s", (clock_ns() - parts->started) / 1000000000u);
    writer_mac(w, "mac", &parts->mac);
    writer_ip(w, "ip", parts->ip);
    writer_number(w, "ports", (uint64_t)__builtin_popcountll(ports_there(parts->ports)));
    writer_number(w, "ports_up", ports_up(parts));
    writer_number(w, "lcores", parts->lcores->n);
    writer_number(w, "shards", parts->shards->n);
    writer_number(w, "jobs", jobs);
    writer_number(w, "stations", stations(parts));
    writer_text(w, "log_level", log_level_name(log_get_level()));
    writer_counter(w, "log_lines_lost", log_lost());
    return 0;
}

int view_memory(const struct show_parts *parts, const char *name, struct writer *w)
{
    struct rte_malloc_socket_stats heap;
    uint64_t total = 0, used = 0;

    (void)name;
    for (unsigned i = 0; i < rte_socket_count(); i++)
        if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &heap) == 0) {
            total += heap.heap_totalsz_bytes;
            used += heap.heap_allocsz_bytes;
        }
    writer_number(w, "memory_bytes", total);
    writer_number(w, "memory_bytes_in_use", used);
    writer_number(w, "pool_bytes", parts->jobs->bytes_max);
    writer_number(w, "pool_bytes_in_use", __atomic_load_n(&parts->jobs->bytes, __ATOMIC_RELAXED));
    writer_number(w, "mbufs", parts->mbufs->size);
    writer_number(w, "mbufs_in_use", rte_mempool_in_use_count(parts->mbufs));
    writer_number(w, "kept_frames", parts->jobs->frames_max);
    writer_number(w, "kept_frames_in_use", __atomic_load_n(&parts->jobs->frames, __ATOMIC_RELAXED));
    return 0;
}

/* Of members' packets, which a protocol has dropped. */
static void write_dropped(const struct show_parts *parts, const struct agg_protocol *protocol,
                          struct writer *w)
{
    for (unsigned r = 0; protocol != NULL && r < protocol->reasons; r++)
        if (!protocol->reason[r].strange && protocol->reason[r].action == AGG_DROP)
            writer_counter(w, protocol->reason[r].name, lcores_verdicts(parts->lcores, protocol->id, r));
}

int view_drops(const struct show_parts *parts, const char *name, struct writer *w)
{
    const int only = name == NULL ? -1 : view_find_port(parts, name);

    if (name != NULL && only < 0)
        return only;
    for (unsigned kind = 0; kind < DROP_KINDS; kind++) {
        uint64_t sum = 0;

        if (drop_name(kind) == NULL)
            continue;
        for (unsigned p = 0; only < 0 && p < SWAGG_MAX_PORTS; p++) /* also of those that are there no more */
            sum += lcores_drops(parts->lcores, p, kind);
        if (only >= 0)
            sum = view_port_drops(parts, (unsigned)only, kind);
        writer_counter(w, drop_name(kind), sum);
    }
    for (unsigned id = 0; only < 0 && id < COUNTED_PROTOCOLS; id++)
        write_dropped(parts, agg_protocol_find(id), w);
    return 0;
}

int view_counters(const struct show_parts *parts, const char *name, struct writer *w)
{
    (void)name;
    for (enum event e = 0; e < EVENTS; e++)
        writer_counter(w, event_name(e), lcores_events(parts->lcores, e));
    return 0;
}

static void write_verdicts(const struct show_parts *parts, unsigned id, struct writer *w)
{
    const struct agg_protocol *protocol = agg_protocol_find(id);

    for (unsigned r = 0; protocol != NULL && r < protocol->reasons; r++)
        if (!protocol->reason[r].strange)
            writer_counter(w, protocol->reason[r].name, lcores_verdicts(parts->lcores, id, r));
}

int view_verdicts(const struct show_parts *parts, const char *name, struct writer *w)
{
    (void)name;
    for (unsigned id = 0; id < COUNTED_PROTOCOLS; id++)
        write_verdicts(parts, id, w);
    return 0;
}

/* A station is silent for silent_ticks and up to one tick more. */
static void write_station(const struct show_parts *parts, unsigned network, const struct bridge_station *s,
                          struct writer *w)
{
    const uint8_t *m = s->mac;

    writer_row(w);
    writer_format(w, "mac", "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
    writer_text(w, "port", parts->port[s->port].name);
    writer_text(w, "kind", s->fixed ? "static" : "learned");
    writer_number(w, "silent_s",
                  s->fixed ? 0
                           : (uint64_t)s->silent_ticks * parts->config->timers.mac_age_s / BRIDGE_AGE_TICKS);
    writer_number(w, "vlan", parts->vlans->vlan[network].id);
    writer_end(w);
}

int view_fdb(const struct show_parts *parts, const char *name, struct writer *w)
{
    struct bridge_station station;

    (void)name;
    writer_table(w, "fdb");
    for (unsigned i = 0; i < parts->vlans->n; i++)
        for (size_t cursor = 0; bridge_next(bridge_of(parts->bridge, i), &cursor, &station);)
            write_station(parts, i, &station, w);
    writer_end(w);
    return 0;
}

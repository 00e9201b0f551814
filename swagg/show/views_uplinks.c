/* View of the switches above this one. */
#include "base/clock.h"
#include "show/views.h"

static void count_relayed(void *context, const struct registry_job *job)
{
    unsigned *jobs = context; /* by uplink */

    if (job->relayed != NULL && ctl_entry_is_live(job->entry))
        jobs[job->relayed->uplink]++;
}

/* The MAC address of the parent, or of the router before it, and the port on which it was heard. */
static void write_way(const struct show_parts *parts, unsigned uplink, struct writer *w)
{
    struct net_mac mac;
    uint8_t port;
    const bool found = uplinks_find(parts->uplinks, uplink, &mac, &port);

    writer_text(w, "state",
                !found                                               ? "not found"
                : uplinks_payload_bytes(parts->uplinks, uplink) == 0 ? "silent"
                                                                     : "up");
    writer_ip(w, "next", parts->uplinks->uplink[uplink].next);
    if (found) {
        writer_mac(w, "mac", &mac);
        writer_text(w, "port", parts->port[port].name);
    } else {
        writer_text(w, "mac", "");
        writer_text(w, "port", "");
    }
}

static void write_uplink(const struct show_parts *parts, unsigned uplink, unsigned jobs, struct writer *w)
{
    static const char *const counts[UPLINK_COUNTS] = {"sent", "sent_bytes", "received", "received_bytes"};
    const struct uplink *u = &parts->uplinks->uplink[uplink];
    const uint64_t heard_at = counter_read(&u->heard_at);

    writer_row(w);
    writer_ip(w, "parent", u->parent);
    write_way(parts, uplink, w);
    writer_number(w, "path_mtu", __atomic_load_n(&u->path.mtu, __ATOMIC_RELAXED));
    writer_number(w, "jobs", jobs);
    for (enum uplink_count c = 0; c < UPLINK_COUNTS; c++)
        writer_counter(w, counts[c], lcores_uplink(parts->lcores, uplink, c));
    writer_counter(w, "control_sent", counter_read(&u->sent));
    writer_counter(w, "control_received", counter_read(&u->received));
    writer_number(w, "heard_ms_ago", heard_at == 0 ? 0 : (clock_ns() - heard_at) / 1000000);
    writer_end(w);
}

int view_uplinks(const struct show_parts *parts, const char *name, struct writer *w)
{
    unsigned jobs[SWAGG_MAX_UPLINKS] = {0};

    (void)name;
    registry_host_visit(&parts->registrar->common, count_relayed, jobs);
    writer_table(w, "uplinks");
    for (unsigned u = 0; u < parts->uplinks->n; u++)
        write_uplink(parts, u, jobs[u], w);
    writer_end(w);
    return 0;
}

/* View of the switches above this one. */
#include "base/clock.h"
#include "show/views.h"

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
                              .heard_ms_ago = heard_at == 0 ? 0 : (clock_ns() - heard_at) / 1000000};

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

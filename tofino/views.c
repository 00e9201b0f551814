/* Views of the chip as a whole, its ports, stations, counters; and of jobs. */
#include "views.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "protocol/ranks.h"
#include "setup.h"
#include "switchml/reasons.h"
#include "version.h"

enum { COUNTED_MAX = 256 };

static uint64_t number_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

void view_status(const struct look *l, struct view_out *out)
{
    struct status_view shown = {.name = l->shown->name,
                                .version = build_version,
                                .pid = (uint64_t)getpid(),
                                .up_s = (l->shown->now - l->shown->started) / 1000000000u,
                                .bridges = true,
                                .chip = json_string_value(json_object_get(l->found, "chip")),
                                .ports = number_of(l->found, "ports"),
                                .ports_up = number_of(l->found, "ports_up"),
                                .stations = number_of(l->found, "stations"),
                                .log_level = log_level_name(log_get_level()),
                                .log_lines_lost = log_lost()};
    unsigned jobs, workers;

    ctl_registry_in_use(l->joined.registry, &jobs, &workers);
    shown.jobs = jobs + l->shown->cfg->static_jobs;
    net_mac_text(shown.mac, &l->shown->mac);
    view_ip(shown.ip, l->shown->cfg->ip);
    view_fields(out, &shown);
}

void view_memory(const struct look *l, struct view_out *out)
{
    const struct memory_view shown = {.chip = true,
                                      .rows = number_of(l->found, "rows"),
                                      .rows_in_use = number_of(l->found, "rows_in_use"),
                                      .entries = number_of(l->found, "entries"),
                                      .entries_in_use = number_of(l->found, "entries_in_use"),
                                      .stations = number_of(l->found, "stations"),
                                      .stations_in_use = number_of(l->found, "stations_in_use")};

    view_fields(out, &shown);
}

/* --- ports ------------------------------------------------------------------------------------------- */

/* What the helper has found of a port. NULL: the switch's software has no such port. */
static const json_t *found_of(const json_t *found, const struct config_port *port)
{
    const json_t *ports = json_object_get(found, "ports"), *one;
    size_t i;

    json_array_foreach (ports, i, one)
        if (number_of(one, "number") == setup_port_number(port))
            return one;
    return NULL;
}

static const char *link_of(const json_t *port)
{
    if (port == NULL)
        return "absent";
    if (!json_is_true(json_object_get(port, "enabled")))
        return "disabled";
    return json_is_true(json_object_get(port, "up")) ? "up" : "down";
}

static struct port_view see(const struct config_port *port, const json_t *found)
{
    return (struct port_view){.name = port->name,
                              .device = port->device,
                              .link = link_of(found),
                              .chip = true,
                              .rx_frames = number_of(found, "rx_frames"),
                              .rx_bytes = number_of(found, "rx_bytes"),
                              .rx_errors = number_of(found, "rx_errors"),
                              .tx_frames = number_of(found, "tx_frames"),
                              .tx_bytes = number_of(found, "tx_bytes"),
                              .tx_errors = number_of(found, "tx_errors"),
                              .drops = number_of(found, "drops")};
}

void view_ports(const struct look *l, struct view_out *out)
{
    for (const struct config_port *port = l->shown->cfg->port;
         port < &l->shown->cfg->port[l->shown->cfg->ports]; port++) {
        const struct port_view row = see(port, found_of(l->found, port));

        if (!config_is_kernel_device(port->device))
            view_row(out, &row);
    }
}

void view_port(const struct look *l, struct view_out *out)
{
    const struct port_view shown = see(l->of->port, found_of(l->found, l->of->port));

    view_fields(out, &shown);
}

static const char *port_name(const struct config *cfg, uint64_t number)
{
    for (unsigned i = 0; i < cfg->ports; i++)
        if (!config_is_kernel_device(cfg->port[i].device) && setup_port_number(&cfg->port[i]) == number)
            return cfg->port[i].name;
    return "";
}

/* The reverse of helper_mac. */
static struct net_mac mac_of(uint64_t number)
{
    struct net_mac mac;

    for (unsigned i = 0; i < sizeof(mac.addr_bytes); i++)
        mac.addr_bytes[i] = (uint8_t)(number >> (40 - 8 * i));
    return mac;
}

void view_fdb(const struct look *l, struct view_out *out)
{
    const json_t *station;
    size_t i;

    json_array_foreach (json_object_get(l->found, "stations"), i, station) {
        const struct net_mac mac = mac_of((uint64_t)json_integer_value(json_array_get(station, 0)));
        struct station_view row = {
            .port = port_name(l->shown->cfg, (uint64_t)json_integer_value(json_array_get(station, 1))),
            .kind = json_is_true(json_array_get(station, 2)) ? "static" : "learned"};

        net_mac_text(row.mac, &mac);
        view_row(out, &row);
    }
}

/* --- what was counted -------------------------------------------------------------------------------- */

/* Whether it is what became of a gradient packet that got to a slot. */
static bool is_verdict(const char *name)
{
    for (unsigned r = 0; r < SML_REASONS; r++)
        if (strcmp(sml_reasons[r].name, name) == 0)
            return !sml_reasons[r].strange;
    return false;
}

/* The frames that go on, of which nothing else is to be said. */
static bool is_event(const char *name)
{
    return strcmp(name, "passed") == 0;
}

/* Those that the chip has counted, up to most of them. Their names are found's. */
static unsigned count(const json_t *found, bool verdicts, bool events, struct view_count of[], unsigned most)
{
    const char *name;
    json_t *packets;
    unsigned n = 0;

    json_object_foreach (json_object_get(found, "counters"), name, packets) {
        if (n < most && is_verdict(name) == verdicts && is_event(name) == events)
            of[n++] = (struct view_count){name, (uint64_t)json_integer_value(packets)};
    }
    return n;
}

static void show_counted(struct view_out *out, unsigned n, const struct view_count of[])
{
    const struct counted_view shown = {.counts = {n, of}};

    view_fields(out, &shown);
}

void view_drops(const struct look *l, struct view_out *out)
{
    static const enum drop ours[] = {
        DROP_PATH_RATE,        DROP_CONTROL_TOO_SHORT,  DROP_CONTROL_NOT_CONTROL, DROP_CONTROL_OTHER_VERSION,
        DROP_CONTROL_BAD_TYPE, DROP_CONTROL_BAD_STRING, DROP_CONTROL_UNKNOWN_KEY, DROP_CONTROL_BAD_SEAL,
        DROP_CONTROL_FULL,     DROP_CONTROL_RATE,       DROP_CONTROL_MEMBER_RATE};
    struct view_count counted[COUNTED_MAX];
    unsigned n = count(l->found, false, false, counted, COUNTED_MAX - DROP_REASONS);

    for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        counted[n++] = (struct view_count){drop_name(ours[i]), l->shown->counts->drop[ours[i]]};
    show_counted(out, n, counted);
}

void view_counters(const struct look *l, struct view_out *out)
{
    static const enum event ours[] = {EVENT_CONTROL_RECEIVED, EVENT_CONTROL_SENT, EVENT_PATH_ANSWERS};
    struct view_count counted[COUNTED_MAX];
    unsigned n = count(l->found, false, true, counted, COUNTED_MAX - EVENTS);

    for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        counted[n++] = (struct view_count){event_name(ours[i]), l->shown->counts->event[ours[i]]};
    show_counted(out, n, counted);
}

void view_verdicts(const struct look *l, struct view_out *out)
{
    struct view_count counted[COUNTED_MAX];

    show_counted(out, count(l->found, true, false, counted, COUNTED_MAX), counted);
}

/* Views of jobs, those that are joined and those of the configuration. */

/* Whether all of its workers have been heard, so that the chip has it. */
static bool runs(const struct config_static *job, const json_t *found)
{
    return json_is_true(json_object_get(json_object_get(found, "static"), job->common.name));
}

static const char *state_of(const struct config_static *job, const json_t *found)
{
    return ctl_entry_state_name(runs(job, found) ? CTL_ENTRY_RUNNING : CTL_ENTRY_FORMING);
}

static const char *tenant_of(const struct shown *s, int tenant)
{
    return tenant < 0 ? "" : s->cfg->tenant[tenant].name;
}

void view_jobs(const struct look *l, struct view_out *out)
{
    registry_show_jobs(&l->joined, out);
    for (unsigned i = 0; i < l->shown->cfg->static_jobs; i++) {
        const struct config_static *job = &l->shown->cfg->static_job[i];
        const struct jobs_view row = {.name = job->common.name,
                                      .state = state_of(job, l->found),
                                      .size = job->common.workers,
                                      .present = runs(job, l->found) ? job->common.workers : 0,
                                      .protocol = "switchml",
                                      .tenant = tenant_of(l->shown, job->common.tenant)};

        view_row(out, &row);
    }
}

static void show_static(const struct look *l, struct view_out *out)
{
    const struct config_static *job = l->of->fixed;
    const struct job_view shown = {.name = job->common.name,
                                   .tenant = tenant_of(l->shown, job->common.tenant),
                                   .state = state_of(job, l->found),
                                   .size = job->common.workers,
                                   .fixed = true,
                                   .threads = job->threads,
                                   .slots = (uint64_t)job->threads * job->slots,
                                   .elements = job->elements};

    view_fields(out, &shown);
}

void view_job(const struct look *l, struct view_out *out)
{
    if (l->of->fixed != NULL)
        show_static(l, out);
    else
        registry_show_job(&l->joined, l->of->job, NULL, out);
}

/* The chip does not tell them apart: what was heard was heard of all. */
static void show_static_ranks(const struct look *l, struct view_out *out)
{
    const struct config_static *job = l->of->fixed;
    struct of_job_view shown = {.name = job->common.name, .joined = true};

    for (unsigned rank = 0; rank < job->common.workers; rank++) {
        struct rank_view row = {.rank = rank,
                                .joined = true,
                                .state = ctl_member_state_name(CTL_MEMBER_JOINED),
                                .heard_ms_ago = number_of(l->found, "silent_ms")};

        if (!runs(job, l->found)) {
            row.state = ctl_member_state_name(CTL_MEMBER_ABSENT);
            ranks_add(shown.missing.set, rank);
        }

        view_address(row.address, job->worker[rank].ip, job->worker[rank].port, job->threads);
        view_row(out, &row);
    }
    view_fields(out, &shown);
}

void view_ranks(const struct look *l, struct view_out *out)
{
    if (l->of->fixed != NULL)
        show_static_ranks(l, out);
    else
        registry_show_ranks(&l->joined, l->of->job, NULL, out);
}

void view_slots(const struct look *l, struct view_out *out)
{
    const struct of_job_view shown = {.name = l->of->name,
                                      .slots = number_of(l->found, "slots"),
                                      .collecting = number_of(l->found, "collecting")};
    const json_t *slot, *rank;
    size_t i, r;

    json_array_foreach (json_object_get(l->found, "waiting"), i, slot) {
        struct slot_view row = {.slot = number_of(slot, "slot"),
                                .tag = number_of(slot, "tag"),
                                .contributed = number_of(slot, "contributed")};

        json_array_foreach (json_object_get(slot, "missing"), r, rank)
            ranks_add(row.missing.set, (unsigned)json_integer_value(rank) % AGG_MAX_RANKS);
        view_row(out, &row);
    }
    view_fields(out, &shown);
}

/* Jobs that are over count as long as the registry remembers them, as they do for the quota. */
static unsigned jobs_of(const struct look *l, unsigned tenant)
{
    unsigned jobs = 0;

    for (unsigned i = 0; i < l->joined.entries; i++) {
        const struct ctl_entry *job = ctl_registry_entry(l->joined.registry, i);

        jobs += job->state != CTL_ENTRY_FREE && job->tenant == (int)tenant;
    }
    for (unsigned i = 0; i < l->shown->cfg->static_jobs; i++)
        jobs += l->shown->cfg->static_job[i].common.tenant == (int)tenant;
    return jobs;
}

void view_tenants(const struct look *l, struct view_out *out)
{
    for (unsigned i = 0; i < l->shown->cfg->tenants; i++) {
        const struct tenant_view row = {.name = l->shown->cfg->tenant[i].name,
                                        .jobs = jobs_of(l, i),
                                        .jobs_quota = l->shown->cfg->tenant[i].quota.jobs};

        view_row(out, &row);
    }
}

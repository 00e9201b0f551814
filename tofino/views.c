/* Views of the switch as a whole: its ports, stations, counters. */
#include "views.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "place.h"
#include "switchml/reasons.h"
#include "version.h"

static uint64_t number_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

void view_status(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    const struct registry_shown joined = shown_registry(s);
    unsigned jobs, workers;

    (void)of;
    ctl_registry_in_use(joined.registry, &jobs, &workers);
    writer_text(w, "name", s->name);
    writer_text(w, "version", build_version);
    writer_number(w, "pid", (uint64_t)getpid());
    writer_number(w, "up_s", (s->now - s->started) / 1000000000u);
    writer_mac(w, "mac", &s->mac);
    writer_ip(w, "ip", s->cfg->ip);
    writer_text(w, "chip", json_string_value(json_object_get(found, "chip")));
    writer_number(w, "ports", number_of(found, "ports"));
    writer_number(w, "ports_up", number_of(found, "ports_up"));
    writer_number(w, "jobs", jobs + s->cfg->static_jobs);
    writer_number(w, "stations", number_of(found, "stations"));
    writer_text(w, "log_level", log_level_name(log_get_level()));
    writer_counter(w, "log_lines_lost", log_lost());
}

void view_memory(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    static const char *const keys[] = {"rows",           "rows_in_use", "entries",
                                       "entries_in_use", "stations",    "stations_in_use"};

    (void)s;
    (void)of;
    for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        writer_number(w, keys[i], number_of(found, keys[i]));
}

/* --- ports ------------------------------------------------------------------------------------------- */

/* What the helper has found of a port. NULL: the switch's software has no such port. */
static const json_t *found_of(const json_t *found, const struct config_port *port)
{
    const json_t *ports = json_object_get(found, "ports"), *one;
    size_t i;

    json_array_foreach(ports, i, one) if (number_of(one, "number") == place_port_number(port)) return one;
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

static void write_port(const struct config_port *port, const json_t *found, struct writer *w)
{
    static const char *const counted[] = {"rx_frames", "rx_bytes", "tx_frames", "tx_bytes", "drops"};

    writer_text(w, "name", port->name);
    writer_text(w, "device", port->device);
    writer_text(w, "link", link_of(found));
    for (unsigned i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
        writer_counter(w, counted[i], number_of(found, counted[i]));
}

void view_ports(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    (void)of;
    writer_table(w, "ports");
    for (const struct config_port *port = s->cfg->port; port < &s->cfg->port[s->cfg->ports]; port++) {
        if (config_is_kernel_device(port->device))
            continue;
        writer_row(w);
        write_port(port, found_of(found, port), w);
        writer_end(w);
    }
    writer_end(w);
}

void view_port(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    const json_t *port = found_of(found, of->port);

    (void)s;
    write_port(of->port, port, w);
    writer_counter(w, "rx_errors", number_of(port, "rx_errors"));
    writer_counter(w, "tx_errors", number_of(port, "tx_errors"));
}

static const char *port_name(const struct config *cfg, uint64_t number)
{
    for (unsigned i = 0; i < cfg->ports; i++)
        if (!config_is_kernel_device(cfg->port[i].device) && place_port_number(&cfg->port[i]) == number)
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

void view_fdb(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    const json_t *station;
    size_t i;

    (void)of;
    writer_table(w, "fdb");
    json_array_foreach(json_object_get(found, "stations"), i, station)
    {
        const struct net_mac mac = mac_of((uint64_t)json_integer_value(json_array_get(station, 0)));
        const uint64_t port = (uint64_t)json_integer_value(json_array_get(station, 1));

        writer_row(w);
        writer_mac(w, "mac", &mac);
        writer_text(w, "port", port_name(s->cfg, port));
        writer_text(w, "kind", json_is_true(json_array_get(station, 2)) ? "static" : "learned");
        writer_end(w);
    }
    writer_end(w);
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

static void write_counted(const json_t *found, bool verdicts, bool events, struct writer *w)
{
    const char *name;
    const json_t *packets;

    json_object_foreach(json_object_get(found, "counters"), name, packets)
    {
        if (is_verdict(name) == verdicts && is_event(name) == events)
            writer_counter(w, name, (uint64_t)json_integer_value(packets));
    }
}

void view_drops(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    static const enum drop ours[] = {
        DROP_PATH_RATE,        DROP_CONTROL_TOO_SHORT,  DROP_CONTROL_NOT_CONTROL, DROP_CONTROL_OTHER_VERSION,
        DROP_CONTROL_BAD_TYPE, DROP_CONTROL_BAD_STRING, DROP_CONTROL_UNKNOWN_KEY, DROP_CONTROL_BAD_SEAL,
        DROP_CONTROL_FULL,     DROP_CONTROL_RATE,       DROP_CONTROL_MEMBER_RATE};

    (void)of;
    write_counted(found, false, false, w);
    for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        writer_counter(w, drop_name(ours[i]), s->counts->drop[ours[i]]);
}

void view_counters(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    static const enum event ours[] = {EVENT_CONTROL_RECEIVED, EVENT_CONTROL_SENT, EVENT_PATH_ANSWERS};

    (void)of;
    write_counted(found, false, true, w);
    for (unsigned i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        writer_counter(w, event_name(ours[i]), s->counts->event[ours[i]]);
}

void view_verdicts(const struct shown *s, const struct subject *of, const json_t *found, struct writer *w)
{
    (void)s;
    (void)of;
    write_counted(found, true, false, w);
}

#include "setup.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "helper.h"

const char *setup_interface(const struct config *cfg)
{
    const char *found = NULL;

    for (unsigned i = 0; i < cfg->ports; i++) {
        if (!config_is_kernel_device(cfg->port[i].device))
            continue;
        if (found != NULL) {
            log_error("ports: only one device may be the kernel's, the interface that leads to the chip");
            return NULL;
        }
        found = cfg->port[i].device + strlen(CONFIG_KERNEL_DEVICE);
    }
    if (found == NULL)
        log_error("ports: the interface that leads to the chip is missing: {name: cpu, device: "
                  "\"kernel:ens1\"}, for instance");
    return found;
}

/* The values that a key of a device may have; "": it may be left out, and is this then. */
static const struct device_key {
    const char *key;
    const char *values[9]; /* the first: where the key is left out */
} settings[] = {
    {"speed", {NULL, "10g", "25g", "40g", "50g", "100g", "200g", "400g"}},
    {"fec", {"none", "fc", "rs"}},
    {"autoneg", {"default", "on", "off"}},
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* Which value of a setting "speed=100g" names; NULL: none. */
static const char *value_of(const struct device_key *s, const char *text)
{
    const size_t key = strlen(s->key);

    if (strncmp(text, s->key, key) != 0 || text[key] != '=')
        return NULL;
    for (unsigned v = 0; v < sizeof(s->values) / sizeof(s->values[0]); v++)
        if (s->values[v] != NULL && strcmp(s->values[v], text + key + 1) == 0)
            return s->values[v];
    return NULL;
}

static bool set(const char *values[SETTINGS], const char *text)
{
    for (unsigned i = 0; i < SETTINGS; i++) {
        const char *value = value_of(&settings[i], text);

        if (value == NULL)
            continue;
        values[i] = value;
        return true;
    }
    return false;
}

unsigned setup_port_number(const struct config_port *port)
{
    const size_t prefix = strlen(CONFIG_CHIP_DEVICE);
    char *end;
    unsigned long number;

    if (!config_is_chip_device(port->device))
        return UINT_MAX;
    number = strtoul(port->device + prefix, &end, 10);
    return end == port->device + prefix || number > 511 || (*end != '\0' && *end != ',') ? UINT_MAX
                                                                                         : (unsigned)number;
}

static json_t *describe_port(int *faults, const struct config_port *port)
{
    const char *values[SETTINGS];
    const unsigned number = setup_port_number(port);
    char device[CONFIG_DEVICE_MAX], *rest, *text;

    snprintf(device, sizeof(device), "%s", port->device);
    for (unsigned i = 0; i < SETTINGS; i++)
        values[i] = settings[i].values[0];
    if (number == UINT_MAX)
        *faults += log_fail(1,
                            "port %s: \"%s\" is no port of a chip: write " CONFIG_CHIP_DEVICE
                            "128, as the chip numbers it",
                            port->name, port->device);
    strtok_r(device, ",", &rest); /* what has just been read */
    while ((text = strtok_r(NULL, ",", &rest)) != NULL)
        if (!set(values, text))
            *faults += log_fail(
                1,
                "port %s: \"%s\" is none of speed=10g, 25g, 40g, 50g, 100g, 200g, 400g; fec=none, fc, rs; "
                "autoneg=default, on, off",
                port->name, text);
    return json_pack("{s:I,s:s?,s:s,s:s}", "number", (json_int_t)number, "speed", values[0], "fec", values[1],
                     "autoneg", values[2]);
}

/* What the daemon can, and this switch cannot: nobody is to find out by its silence. */
static int refuse(const char *of, const char *key, bool given)
{
    return given ? log_fail(1, "%s%s: is nothing that this switch does; leave it out", of, key) : 0;
}

static int refuse_the_rest(const struct config *cfg)
{
    const struct {
        const char *key;
        bool given;
    } rest[] = {
        {"uplink", cfg->uplinks > 0},
        {"hostagg", cfg->hostagg_jobs > 0},
        {"roce", cfg->roce_jobs > 0},
        {"clone", cfg->clone_jobs > 0},
        {"replay", cfg->replays > 0},
        {"vlans", cfg->vlans > 0},
        {"atp.aggregators", cfg->atp.aggregators > 0},
        {"metrics.listen", cfg->metrics.at.port != 0},
        {"timers.mac_age_s", cfg->timers.mac_age_s != CONFIG_MAC_AGE_S}, /* stations do not age */
        {"lcores", cfg->has_placement},
        {"memory", cfg->has_memory},
        {"idle", cfg->has_idle},
        {"loops", cfg->has_loops},
        {"switch.link_local", cfg->link_local != CONFIG_LINK_LOCAL_STP},
        {"state", cfg->state[0] != '\0'}, /* jobs go on by its own file */
        {"tx_delay_us", cfg->tx_delay_us > 0},
        {"privileges", cfg->privileges != CONFIG_PRIVILEGES_NEEDED},
    };
    int faults = 0;

    for (unsigned i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
        faults += refuse("", rest[i].key, rest[i].given);
    for (unsigned i = 0; i < cfg->tenants; i++) {
        const struct config_quota *quota = &cfg->tenant[i].quota;

        if (cfg->tenant[i].data_keys)
            faults += log_fail(
                1,
                "tenants[%u].data_keys must be false: this switch checks the keys of control messages, and "
                "cannot check those of data packets",
                i);
        if (quota->slots + quota->megabytes + quota->kept_frames > 0)
            faults += log_fail(
                1, "tenants[%u].quota: only jobs are counted by this switch; leave the others out", i);
    }
    return faults;
}

static int refuse_of_port(const struct config_port *port)
{
    const uint32_t *storm = port->storm.frames;
    char of[CONFIG_NAME_MAX + 8];
    int faults;

    snprintf(of, sizeof(of), "port %s: ", port->name);
    faults = refuse(of, "impair", impair_active(&port->impair.rx) || impair_active(&port->impair.tx));
    faults += refuse(
        of, "storm",
        (storm[CONFIG_STORM_BROADCAST] | storm[CONFIG_STORM_MULTICAST] | storm[CONFIG_STORM_UNKNOWN]) > 0);
    return faults + refuse(of, "ecn_above", port->ecn_above > 0);
}

bool setup_has_mac(const struct config *cfg, const char *interface, const struct net_mac *mac)
{
    char wanted[NET_MAC_TEXT_MAX], found[NET_MAC_TEXT_MAX];
    struct net_mac configured;

    memcpy(configured.addr_bytes, cfg->mac, sizeof(configured.addr_bytes));
    if (!cfg->has_mac || net_same_mac(&configured, mac))
        return true;
    net_mac_text(wanted, &configured);
    net_mac_text(found, mac);
    log_error(
        "switch.mac is %s, and that of %s is %s: type `ip link set %s address %s`, or leave switch.mac out",
        wanted, interface, found, interface, wanted);
    return false;
}

static json_t *describe_static(int *faults, const struct config_static *s)
{
    json_t *workers = json_array();

    if (s->format != XFER_FORMAT_INT32)
        *faults += log_fail(1, "static job %s: format must be int32, the only one that this switch adds",
                            s->common.name);
    if (s->udp_checksum)
        *faults += log_fail(1, "static job %s: udp_checksum must be false: results of this switch have none",
                            s->common.name);
    for (const struct config_peer *w = s->worker; w < s->worker + s->common.workers; w++)
        json_array_append_new(workers, json_pack("{s:I,s:i,s:I}", "ip", (json_int_t)ntohl(w->ip), "port",
                                                 (int)w->port, "mac", helper_mac(w->mac)));
    return json_pack("{s:s,s:i,s:i,s:i,s:i,s:o}", "name", s->common.name, "threads", (int)s->threads, "slots",
                     (int)s->slots, "elements", (int)s->elements, "quiet_ms", (int)s->common.quiet_ms,
                     "workers", workers);
}

json_t *setup_describe_static(const struct config_static *s)
{
    int faults = 0;
    json_t *described = describe_static(&faults, s);

    if (faults == 0)
        return described;
    json_decref(described);
    return NULL;
}

json_t *setup_describe(const struct config *cfg)
{
    int faults = 0;
    json_t *ports = json_array(), *statics = json_array();

    for (unsigned i = 0; i < cfg->ports; i++)
        if (!config_is_kernel_device(cfg->port[i].device)) {
            faults += refuse_of_port(&cfg->port[i]);
            json_array_append_new(ports, describe_port(&faults, &cfg->port[i]));
        }
    faults += refuse_the_rest(cfg);
    for (unsigned i = 0; i < cfg->static_jobs; i++)
        json_array_append_new(statics, describe_static(&faults, &cfg->static_job[i]));
    if (json_array_size(ports) == 0)
        faults += log_fail(1, "ports: those of the chip are missing: {name: h0, device: \"" CONFIG_CHIP_DEVICE
                              "128,speed=100g\"}, for instance");
    if (faults == 0)
        return json_pack("{s:I,s:o,s:o}", "ip", (json_int_t)ntohl(cfg->ip), "ports", ports, "static",
                         statics);
    json_decref(ports);
    json_decref(statics);
    return NULL;
}

int setup_static_job(const struct config *cfg, uint32_t ip, uint16_t udp_port)
{
    for (unsigned i = 0; i < cfg->static_jobs; i++) {
        const struct config_static *s = &cfg->static_job[i];

        for (unsigned rank = 0; rank < s->common.workers; rank++)
            if (s->worker[rank].ip == ip && udp_port - s->worker[rank].port < s->threads)
                return (int)i;
    }
    return -1;
}

void place_keep(struct settings_changes *list)
{
    /* What the chip is told at the start; of mac_age_s a start says that the chip has none. */
    static const char *const told[] = {"switch.", "ports[", "static[", "timers.mac_age_s"};

    for (unsigned i = 0; i < list->n; i++)
        for (unsigned k = 0; k < sizeof(told) / sizeof(told[0]); k++)
            if (strncmp(list->change[i].key, told[k], strlen(told[k])) == 0) {
                list->of[list->change[i].when]--;
                list->change[i].when = SETTING_RESTART;
                list->of[SETTING_RESTART]++;
            }
}

/* The list of ports: names, devices, impairments; and VLANs: which ports carry which, and the switch's
 * addresses in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include "config/config_parts.h"
#include "net/vlan.h"

enum {
    RING_FRAME = 2048,        /* net_af_packet's default framesz */
    RING_FRAME_OVERHEAD = 84, /* of it: the kernel's header before the IP packet, a VLAN tag included */
    STORM_MAX = 100000000,
};

/* clang-format off */
/* Frames are hit by chance, and by number; what becomes of them then. */
#define RATE(name, which, what) \
    {.key = name, .type = SETTING_SHARE, SETTING_AT(struct impair_config, rate[which].probability), \
     .refusal = "is not a probability", .kind = "probability, 0..1", \
     .meaning = "how likely a frame " what ", whatever happens to others"}, \
    {.key = name "_every", SETTING_NUMBER_AT(struct impair_config, rate[which].every, 0, UINT32_MAX, 0), \
     .unit = "frames", .meaning = "every n-th frame " what "; 0: none"}

static const struct setting direction_fields[] = {
    RATE("drop", IMPAIR_DROP, "is lost"),
    RATE("duplicate", IMPAIR_DUPLICATE, "is sent twice"),
    RATE("reorder", IMPAIR_REORDER, "is held back"),
    {.key = "reorder_by", SETTING_NUMBER_AT(struct impair_config, hold_frames, 1, 1000, 3),
     .refusal = "frames is out of range", .unit = "frames",
     .meaning = "a frame is held back until so many later ones have passed ..."},
    {.key = "reorder_for_us", SETTING_NUMBER_AT(struct impair_config, hold_for, 1, 10000000, 1000),
     .refusal = "microseconds is out of range", .unit = "µs", .meaning = "... or so much time, whichever is first"},
    RATE("corrupt", IMPAIR_CORRUPT, "has a bit flipped"),
    {.key = NULL},
};

static const struct setting impair_fields[] = {
    {.key = "rx", .type = SETTING_GROUP, SETTING_AT(struct config_impair, rx), .fields = direction_fields,
     .usual = "nothing", .meaning = "what happens to frames that come from the host"},
    {.key = "tx", .type = SETTING_GROUP, SETTING_AT(struct config_impair, tx), .fields = direction_fields,
     .kind = "group, as `rx`", .usual = "nothing", .meaning = "what happens to frames to the host"},
    {.key = NULL},
};

static const struct setting storm_fields[] = {
    {.key = "broadcast", SETTING_NUMBER_AT(struct config_storm, frames[CONFIG_STORM_BROADCAST], 0, STORM_MAX, 0),
     .unit = "frames a second",
     .meaning = "the most broadcasts that it lets in, which go to every other port; 0: any number"},
    {.key = "multicast", SETTING_NUMBER_AT(struct config_storm, frames[CONFIG_STORM_MULTICAST], 0, STORM_MAX, 0),
     .unit = "frames a second", .meaning = "the same of frames to other group addresses"},
    {.key = "unknown", SETTING_NUMBER_AT(struct config_storm, frames[CONFIG_STORM_UNKNOWN], 0, STORM_MAX, 0),
     .unit = "frames a second", .meaning = "the same of frames to a station that the switch does not know"},
    {.key = NULL},
};

static const struct setting trunk_vlan = {SETTING_NUMBER_AT(struct config_vlan, id, 1, NET_VLAN_LAST, 0), .refusal = "is no VLAN"};

const struct setting config_port_fields[] = {
    {.key = "name", .type = SETTING_NAME, SETTING_AT(struct config_port, name), .most = CONFIG_NAME_MAX - 1,
     .usual = "`port0`, `port1`, ...",
     .meaning = "what the port is called in `lcores`, log and telemetry; not `all`"},
    {.key = "device", .type = SETTING_TEXT, .required = true, .when = SETTING_RESTART,
     SETTING_AT(struct config_port, device), .most = CONFIG_DEVICE_MAX - 1,
     .meaning = "what it is: `kernel:eth1`, `0000:03:00.0` or `net_memif0,role=server`, see below; every port has one of its own"},
    {.key = "rx_queues", SETTING_NUMBER_AT(struct config_port, rx_queues, 1, SWAGG_MAX_QUEUES, 1),
     .when = SETTING_RESTART, .meaning = "queues that it receives by, see [Queues](#queues)"},
    {.key = "tx_queues", SETTING_NUMBER_AT(struct config_port, tx_queues, 1, SWAGG_MAX_QUEUES, 1),
     .when = SETTING_RESTART, .meaning = "queues that it sends by"},
    {.key = "impair", .type = SETTING_GROUP, SETTING_AT(struct config_port, impair), .fields = impair_fields,
     .usual = "nothing", .title = "Impairments",
     .meaning = "loss and damage, to rehearse a bad network: see [Impairments](#impairments)"},
    {.key = "storm", .type = SETTING_GROUP, SETTING_AT(struct config_port, storm), .fields = storm_fields},
    {.key = "ecn_above", SETTING_NUMBER_AT(struct config_port, ecn_above, 0, 1 << 30, 0), .when = SETTING_RESTART,
     .unit = "bytes",
     .meaning = "how much may wait to leave by this port before frames are [marked](#marks); 0: any number. Only for `kernel:NAME`"},
    {.key = "vlan", SETTING_NUMBER_AT(struct config_port, vlan, 1, NET_VLAN_LAST, 0), .refusal = "is no VLAN",
     .when = SETTING_RESTART, .usual = "none", .meaning = "the [VLAN](#vlans) of its untagged frames"},
    {.key = "trunk", SETTING_LIST_AT(struct config_port, trunk, trunk_count, 1, CONFIG_VLANS_MAX),
     .item = &trunk_vlan, .when = SETTING_RESTART, .meaning = "the VLANs whose frames have a tag here"},
    {.key = NULL},
};
/* clang-format on */

static bool starts_with(const char *s, const char *start)
{
    return strncmp(s, start, strlen(start)) == 0;
}

/* The length of a device's name, without its arguments. */
static size_t device_name_length(const char *device)
{
    return strcspn(device, ",");
}

void config_device_name(char name[CONFIG_DEVICE_MAX], const char *device)
{
    snprintf(name, CONFIG_DEVICE_MAX, "%.*s", (int)device_name_length(device), device);
}

bool config_is_kernel_device(const char *device)
{
    return starts_with(device, CONFIG_KERNEL_DEVICE);
}

bool config_is_chip_device(const char *device)
{
    return starts_with(device, CONFIG_CHIP_DEVICE);
}

static const char *after_last(const char *text, char mark)
{
    const char *at = strrchr(text, mark);

    return at == NULL ? text : at + 1;
}

/* The kernel silently truncates frames that do not fit into a place of the ring. */
static void check_ring_frame(struct settings *s, const char *path, const struct config *c, const char *device)
{
    const char *given = strstr(device, ",framesz=");
    const unsigned long bytes = given != NULL ? strtoul(given + strlen(",framesz="), NULL, 10) : RING_FRAME;
    const unsigned need = (c->mtu + RING_FRAME_OVERHEAD + 1023) / 1024 * 1024;

    if (bytes < c->mtu + RING_FRAME_OVERHEAD)
        settings_fault(s, path,
                       "its ring holds frames of %lu bytes, too little for mtu %u: %s ,framesz=%u,blocksz=%u",
                       bytes, c->mtu, given != NULL ? "write" : "append", need, 4 * need);
}

/* The kernel deals frames to all queue pairs; those of a pair that is not polled are lost. */
static void check_queue_pairs(struct settings *s, const char *path, const struct config_port *port)
{
    const char *given = strstr(port->device, ",qpairs=");
    const unsigned long pairs = given != NULL ? strtoul(given + strlen(",qpairs="), NULL, 10) : 1;

    if (pairs != port->rx_queues)
        settings_fault(s, path, "has queue pairs for %lu receive queues, but rx_queues is %u: %s ,qpairs=%u",
                       pairs, port->rx_queues, given != NULL ? "write" : "append", port->rx_queues);
    else if (pairs < port->tx_queues)
        settings_fault(s, path,
                       "has %lu queue pairs, but tx_queues is %u: lower it, or raise qpairs and rx_queues",
                       pairs, port->tx_queues);
}

static void check_interface(struct settings *s, const char *path, const char *device)
{
    const size_t length = strlen(device) - strlen(CONFIG_KERNEL_DEVICE);

    if (length >= IFNAMSIZ)
        settings_fault(s, path, "\"%s\": names of kernel interfaces have at most %d characters", device,
                       IFNAMSIZ - 1);
    else if (length == 0 || strpbrk(device, ", /") != NULL)
        settings_fault(s, path, "\"%s\" does not name a kernel interface: write " CONFIG_KERNEL_DEVICE "eth1",
                       device);
}

/* The name of the kernel interface that a device is, or makes; *length 0: there is none. */
static const char *interface_of(const char *device, size_t *length)
{
    const char *given = strstr(device, ",iface=");
    const char *name = device + strlen(device);

    if (config_is_kernel_device(device))
        name = device + strlen(CONFIG_KERNEL_DEVICE);
    else if (given != NULL)
        name = given + strlen(",iface=");
    *length = device_name_length(name);
    return name;
}

const char *config_device_clash(const char *device, const char *other, size_t *length)
{
    size_t other_length;
    const char *name, *other_name;

    *length = device_name_length(device);
    if (device_name_length(other) == *length && strncmp(other, device, *length) == 0)
        return device;
    name = interface_of(device, length);
    other_name = interface_of(other, &other_length);
    return *length > 0 && *length == other_length && strncmp(name, other_name, *length) == 0 ? name : NULL;
}

static void check_device_is_another(struct settings *s, const char *path, const char *device,
                                    const char *earlier, unsigned port)
{
    size_t length;
    const char *shared = config_device_clash(device, earlier, &length);

    if (shared == device)
        settings_fault(s, path, "\"%.*s\" is the device of ports[%u] already%s", (int)length, shared, port,
                       starts_with(device, "net_") ? "; number them: net_memif0, net_memif1, ..." : "");
    else if (shared != NULL)
        settings_fault(s, path, "interface \"%.*s\" is that of ports[%u] already", (int)length, shared, port);
}

struct pci_address {
    unsigned domain, bus, slot, function;
    const char *options; /* that follow it, and the comma */
};

/* A PCI address, alone or behind "pci:": 0000:3a:00.0, or 3a:00.0. */
static bool parse_pci(const char *device, struct pci_address *at)
{
    const char *address = device + (starts_with(device, "pci:") ? strlen("pci:") : 0);
    const size_t length = device_name_length(address);
    int end = 0;

    *at = (struct pci_address){.options = address + length};
    return strspn(address, "0123456789abcdefABCDEF:.") == length &&
           ((sscanf(address, "%2x:%2x.%1x%n", &at->bus, &at->slot, &at->function, &end) == 3 &&
             (size_t)end == length) ||
            (sscanf(address, "%8x:%2x:%2x.%1x%n", &at->domain, &at->bus, &at->slot, &at->function, &end) ==
                 4 &&
             (size_t)end == length));
}

bool config_is_pci_device(const char *device)
{
    struct pci_address at;

    return parse_pci(device, &at);
}

/* Names a PCI device as DPDK does, so that it has one name: pci:0000:3A:00.0 and 3a:0.0 are 0000:3a:00.0. */
static void name_pci_device(char device[CONFIG_DEVICE_MAX])
{
    struct pci_address at;
    char named[CONFIG_DEVICE_MAX + sizeof("0000:00:00.0")];

    if (!parse_pci(device, &at))
        return;
    snprintf(named, sizeof(named), "%.4x:%.2x:%.2x.%x%s", at.domain, at.bus, at.slot, at.function,
             at.options);
    if (strlen(named) < CONFIG_DEVICE_MAX)
        strcpy(device, named);
}

static void check_device(struct settings *s, const struct config *c, unsigned port)
{
    const char *device = c->port[port].device, *path = settings_path(s, "ports[%u].device", port);

    if (!settings_has(s, path))
        return;
    if (config_is_kernel_device(device))
        check_interface(s, path, device);
    else if (!starts_with(device, "net_") && !config_is_chip_device(device) &&
             !starts_with(device, "auxiliary:") && !config_is_pci_device(device))
        settings_fault(
            s, path,
            "\"%s\" is neither a DPDK device (net_...) nor a PCI address (0000:03:00.0); for a kernel "
            "interface write " CONFIG_KERNEL_DEVICE "%s",
            device, after_last(device, ':'));
    if ((starts_with(device, "net_af_packet") || starts_with(device, "net_af_xdp")) &&
        strstr(device, ",iface=") == NULL)
        settings_fault(s, path, "\"%s\" does not say which interface: append ,iface=NAME", device);
    if (starts_with(device, "net_af_packet")) {
        check_ring_frame(s, path, c, device);
        check_queue_pairs(s, path, &c->port[port]);
    }
    for (unsigned other = 0; other < port; other++)
        check_device_is_another(s, path, device, c->port[other].device, other);
}

static void check_name(struct settings *s, struct config *c, unsigned port)
{
    char *name = c->port[port].name;
    const char *path = settings_path(s, "ports[%u].name", port);

    if (!settings_has(s, path))
        snprintf(name, CONFIG_NAME_MAX, "port%u", port);
    if (strcmp(name, "all") == 0)
        settings_fault(s, path, "\"all\" means every port in the list of lcores; choose another name");
    for (unsigned other = 0; other < port; other++)
        if (strcmp(c->port[other].name, name) == 0)
            settings_fault(s, path, "\"%s\" is the name of ports[%u] already", name, other);
}

void config_check_ports(struct settings *s, struct config *c)
{
    for (unsigned p = 0; p < c->ports; p++) {
        check_name(s, c, p);
        name_pci_device(c->port[p].device);
        check_device(s, c, p);
        if (c->port[p].ecn_above > 0 && !config_is_kernel_device(c->port[p].device))
            settings_fault(
                s, settings_path(s, "ports[%u].ecn_above", p),
                "is for ports on interfaces of the kernel's (kernel:NAME), which tell how much waits");
    }
}

void config_queues(const struct config *c, struct placement_ports *ports)
{
    *ports = (struct placement_ports){.ports = c->ports};
    for (unsigned p = 0; p < c->ports; p++) {
        ports->rx_queues[p] = c->port[p].rx_queues;
        ports->tx_queues[p] = c->port[p].tx_queues;
    }
}

/* VLANs */

static bool carries_any(const struct config_port *p)
{
    return p->vlan != 0 || p->trunk_count > 0;
}

static bool any_port_carries(const struct config *c)
{
    for (unsigned p = 0; p < c->ports; p++)
        if (carries_any(&c->port[p]))
            return true;
    return false;
}

int config_find_vlan(const struct config *c, uint32_t id)
{
    for (unsigned i = 0; i < c->vlans; i++)
        if (c->vlan[i].id == id)
            return (int)i;
    return -1;
}

static bool is_vlan(uint32_t id)
{
    return id >= 1 && id <= NET_VLAN_LAST;
}

/* The VLAN is one of the switch's from here on. */
static void note(struct settings *s, const char *path, struct config *c, uint32_t id)
{
    if (!is_vlan(id) || config_find_vlan(c, id) >= 0)
        return;
    if (c->vlans < CONFIG_VLANS_MAX)
        c->vlan[c->vlans++] = (struct config_vlan){.id = id};
    else
        settings_fault(s, path, "VLAN %u is one more than the %d that a switch may have", id,
                       CONFIG_VLANS_MAX);
}

static void check_trunk(struct settings *s, struct config *c, unsigned p)
{
    const struct config_port *port = &c->port[p];

    for (unsigned i = 0; i < port->trunk_count; i++) {
        const char *path = settings_path(s, "ports[%u].trunk[%u]", p, i);

        note(s, path, c, port->trunk[i]);
        if (port->trunk[i] == port->vlan)
            settings_fault(s, path, "VLAN %u is the port's vlan, whose frames have no tag", port->vlan);
        for (unsigned other = 0; other < i; other++)
            if (port->trunk[other] == port->trunk[i])
                settings_fault(s, path, "VLAN %u is there twice", port->trunk[i]);
    }
}

static void check_port(struct settings *s, struct config *c, unsigned p)
{
    const char *path = settings_path(s, "ports[%u]", p);

    if (c->port[p].vlan != 0)
        note(s, settings_path(s, "ports[%u].vlan", p), c, c->port[p].vlan);
    check_trunk(s, c, p);
    if (!carries_any(&c->port[p]) && !settings_are_faulty(s, path))
        settings_fault(s, path, "carries no VLAN, but other ports do: give it vlan, trunk, or both");
}

static bool is_carried(const struct config *c, uint32_t id)
{
    for (unsigned p = 0; p < c->ports; p++) {
        if (c->port[p].vlan == id)
            return true;
        for (unsigned i = 0; i < c->port[p].trunk_count; i++)
            if (c->port[p].trunk[i] == id)
                return true;
    }
    return false;
}

/* Those in which the switch has an address stand in c->vlan as they were read; they are noted one by one. */
static void check_addresses(struct settings *s, struct config *c)
{
    struct config_vlan listed[CONFIG_VLANS_MAX];
    const unsigned count = c->vlans;

    memcpy(listed, c->vlan, sizeof(listed));
    memset(c->vlan, 0, sizeof(c->vlan));
    c->vlans = 0;
    for (unsigned i = 0; i < count; i++) {
        const char *path = settings_path(s, "switch.vlans[%u].vlan", i);

        if (!is_vlan(listed[i].id))
            continue;
        if (config_find_vlan(c, listed[i].id) >= 0) {
            settings_fault(s, path, "VLAN %u is there twice", listed[i].id);
            continue;
        }
        if (!is_carried(c, listed[i].id))
            settings_fault(s, path, "no port carries VLAN %u (ports.vlan, ports.trunk)", listed[i].id);
        c->vlan[c->vlans++] = listed[i];
    }
    if (settings_has(s, "switch.ip"))
        settings_fault(
            s, "switch.ip",
            "an address belongs to one VLAN, where ports carry VLANs: write vlans: [{vlan: 10, ip: %s}]",
            settings_text(s, "switch.ip"));
    c->has_ip = count > 0;
    c->ip = c->vlan[0].ip;
    c->prefix = c->vlan[0].prefix;
}

void config_check_vlans(struct settings *s, struct config *c)
{
    if (!any_port_carries(c)) {
        if (settings_has(s, "switch.vlans"))
            settings_fault(s, "switch.vlans",
                           "no port carries VLANs: give ports vlan or trunk, or write switch.ip");
        return;
    }
    check_addresses(s, c);
    for (unsigned p = 0; p < c->ports; p++)
        check_port(s, c, p);
}

uint8_t config_find_network(struct settings *s, const struct config *c, const char *path, uint32_t id,
                            bool with_address)
{
    const int v = config_find_vlan(c, id);

    if (!settings_has(s, path) || settings_are_faulty(s, path))
        return 0;
    if (v >= 0 && (c->vlan[v].ip != 0 || !with_address))
        return (uint8_t)v;
    if (with_address)
        settings_fault(s, path, "the switch has no address in VLAN %u (switch.vlans)", id);
    else
        settings_fault(s, path, "no port carries VLAN %u (ports.vlan, ports.trunk)", id);
    return 0;
}

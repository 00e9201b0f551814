/* The list of ports: names, devices, impairments. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/if.h>

#include "config/config_check.h"
#include "config/config_value.h"

enum {
    REORDER_BY = 3,
    REORDER_BY_MAX = 1000,
    REORDER_FOR_US = 1000,
    REORDER_FOR_US_MAX = 10000000,
    RING_FRAME = 2048,        /* net_af_packet's default framesz */
    RING_FRAME_OVERHEAD = 84, /* of it: the kernel's header before the IP packet, a VLAN tag included */
};

static const struct config_number queues[] = {
    {"rx_queues", offsetof(struct config_port, rx_queues), 1, SWAGG_MAX_QUEUES, 1},
    {"tx_queues", offsetof(struct config_port, tx_queues), 1, SWAGG_MAX_QUEUES, 1},
};
static const struct config_number storms[] = {
    {"storm.broadcast", offsetof(struct config_port, storm.frames[CONFIG_STORM_BROADCAST]), 0, 100000000, 0},
    {"storm.multicast", offsetof(struct config_port, storm.frames[CONFIG_STORM_MULTICAST]), 0, 100000000, 0},
    {"storm.unknown", offsetof(struct config_port, storm.frames[CONFIG_STORM_UNKNOWN]), 0, 100000000, 0},
};
static const struct config_number marks = {"ecn_above", offsetof(struct config_port, ecn_above), 0, 1 << 30,
                                           0};

enum { STORMS = sizeof(storms) / sizeof(storms[0]) };
enum { QUEUES = sizeof(queues) / sizeof(queues[0]) };

/* The path of a value in a port, for messages. */
static const char *port_path(char path[CONFIG_PATH_MAX], unsigned port, const char *rest)
{
    snprintf(path, CONFIG_PATH_MAX, "ports[%u].%s", port, rest);
    return path;
}

static void check_impair(struct config_text *t, const char *parent, struct impair_config *im)
{
    char path[CONFIG_PATH_MAX];

    for (unsigned k = 0; k < IMPAIR_KINDS; k++) {
        double p = im->rate[k].probability;

        snprintf(path, sizeof(path), "%s.%s", parent, impair_kind_name(k));
        if (!(p >= 0 && p <= 1)) /* false for NaN, too */
            config_fault(t, path, "%g is not a probability (0..1)", p);
    }
    snprintf(path, sizeof(path), "%s.reorder_by", parent);
    if (!config_text_has(t, path))
        im->hold_frames = REORDER_BY;
    else if (im->hold_frames < 1 || im->hold_frames > REORDER_BY_MAX)
        config_fault(t, path, "%u frames is out of range (1..%u)", im->hold_frames, REORDER_BY_MAX);
    snprintf(path, sizeof(path), "%s.reorder_for_us", parent);
    if (!config_text_has(t, path))
        im->hold_for = REORDER_FOR_US;
    else if (im->hold_for < 1 || im->hold_for > REORDER_FOR_US_MAX)
        config_fault(t, path, "%llu microseconds is out of range (1..%u)", (unsigned long long)im->hold_for,
                     REORDER_FOR_US_MAX);
}

/* The length of a device's name without its arguments, which follow a comma. */
static size_t device_name_length(const char *device)
{
    return strcspn(device, ",");
}

static bool starts_with(const char *s, const char *start)
{
    return strncmp(s, start, strlen(start)) == 0;
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
static void check_ring_frame(struct config_text *t, const char *path, const struct config *c,
                             const char *device)
{
    const char *given = strstr(device, ",framesz=");
    const unsigned long bytes = given != NULL ? strtoul(given + strlen(",framesz="), NULL, 10) : RING_FRAME;
    const unsigned need = (c->mtu + RING_FRAME_OVERHEAD + 1023) / 1024 * 1024;

    if (bytes < c->mtu + RING_FRAME_OVERHEAD)
        config_fault(t, path,
                     "its ring holds frames of %lu bytes, too little for mtu %u: %s ,framesz=%u,blocksz=%u",
                     bytes, c->mtu, given != NULL ? "write" : "append", need, 4 * need);
}

/* The kernel deals frames to all queue pairs; those of a pair that is not polled are lost. */
static void check_queue_pairs(struct config_text *t, const char *path, const struct config_port *port)
{
    const char *given = strstr(port->device, ",qpairs=");
    const unsigned long pairs = given != NULL ? strtoul(given + strlen(",qpairs="), NULL, 10) : 1;

    if (pairs != port->rx_queues)
        config_fault(t, path, "has queue pairs for %lu receive queues, but rx_queues is %u: %s ,qpairs=%u",
                     pairs, port->rx_queues, given != NULL ? "write" : "append", port->rx_queues);
    else if (pairs < port->tx_queues)
        config_fault(t, path,
                     "has %lu queue pairs, but tx_queues is %u: lower it, or raise qpairs and rx_queues",
                     pairs, port->tx_queues);
}

static void check_interface(struct config_text *t, const char *path, const char *device)
{
    const size_t length = strlen(device) - strlen(CONFIG_KERNEL_DEVICE);

    if (length >= IFNAMSIZ)
        config_fault(t, path, "\"%s\": names of kernel interfaces have at most %d characters", device,
                     IFNAMSIZ - 1);
    else if (length == 0 || strpbrk(device, ", /") != NULL)
        config_fault(t, path, "\"%s\" does not name a kernel interface: write " CONFIG_KERNEL_DEVICE "eth1",
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
    *length = strcspn(name, ",");
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

static void check_device_is_another(struct config_text *t, const char *path, const char *device,
                                    const char *earlier, unsigned port)
{
    size_t length;
    const char *shared = config_device_clash(device, earlier, &length);

    if (shared == device)
        config_fault(t, path, "\"%.*s\" is the device of ports[%u] already%s", (int)length, shared, port,
                     starts_with(device, "net_") ? "; number them: net_memif0, net_memif1, ..." : "");
    else if (shared != NULL)
        config_fault(t, path, "interface \"%.*s\" is that of ports[%u] already", (int)length, shared, port);
}

/* How a device on a bus is named: by its PCI address, alone or behind "pci:", or as a part of such a device.
 */
static bool is_on_a_bus(const char *device, size_t length)
{
    const size_t name = starts_with(device, "pci:") ? strlen("pci:") : 0;

    return starts_with(device, "auxiliary:") ||
           (memchr(device + name, ':', length - name) != NULL &&
            strspn(device + name, "0123456789abcdefABCDEF:.") == length - name);
}

/* Names a PCI device as DPDK does, so that it has one name: pci:0000:3A:00.0 and 3a:0.0 are 0000:3a:00.0. */
static void name_pci_device(char device[CONFIG_DEVICE_MAX])
{
    const char *address = device + (starts_with(device, "pci:") ? strlen("pci:") : 0);
    const size_t length = device_name_length(address);
    unsigned domain = 0, bus, slot, function;
    char named[CONFIG_DEVICE_MAX + sizeof("0000:00:00.0")];
    int end = 0;

    if (strspn(address, "0123456789abcdefABCDEF:.") != length ||
        !((sscanf(address, "%2x:%2x.%1x%n", &bus, &slot, &function, &end) == 3 && (size_t)end == length) ||
          (sscanf(address, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) == 4 &&
           (size_t)end == length)))
        return;
    snprintf(named, sizeof(named), "%.4x:%.2x:%.2x.%x%s", domain, bus, slot, function, address + length);
    if (strlen(named) < CONFIG_DEVICE_MAX)
        strcpy(device, named);
}

static void check_device(struct config_text *t, const struct config *c, unsigned port)
{
    const char *device = c->port[port].device;
    const size_t length = device_name_length(device);
    char path[CONFIG_PATH_MAX];

    port_path(path, port, "device");
    if (!config_text_has(t, path))
        return;
    if (config_is_kernel_device(device))
        check_interface(t, path, device);
    else if (!starts_with(device, "net_") && !config_is_chip_device(device) && !is_on_a_bus(device, length))
        config_fault(
            t, path,
            "\"%s\" is neither a DPDK device (net_...) nor a PCI address (0000:03:00.0); for a kernel "
            "interface write " CONFIG_KERNEL_DEVICE "%s",
            device, after_last(device, ':'));
    if ((starts_with(device, "net_af_packet") || starts_with(device, "net_af_xdp")) &&
        strstr(device, ",iface=") == NULL)
        config_fault(t, path, "\"%s\" does not say which interface: append ,iface=NAME", device);
    if (starts_with(device, "net_af_packet")) {
        check_ring_frame(t, path, c, device);
        check_queue_pairs(t, path, &c->port[port]);
    }
    for (unsigned other = 0; other < port; other++)
        check_device_is_another(t, path, device, c->port[other].device, other);
}

static void check_name(struct config_text *t, struct config *c, unsigned port)
{
    char *name = c->port[port].name;
    char path[CONFIG_PATH_MAX];

    port_path(path, port, "name");
    if (!config_text_has(t, path))
        snprintf(name, CONFIG_NAME_MAX, "port%u", port);
    config_check_word(t, path, name);
    if (strcmp(name, "all") == 0)
        config_fault(t, path, "\"all\" means every port in the list of lcores; choose another name");
    for (unsigned other = 0; other < port; other++) {
        if (strcmp(c->port[other].name, name) == 0)
            config_fault(t, path, "\"%s\" is the name of ports[%u] already", name, other);
    }
}

/* Other devices do not say how much waits. */
static void check_marks(struct config_text *t, const struct config *c, unsigned p)
{
    char path[CONFIG_PATH_MAX];

    if (c->port[p].ecn_above > 0 && !config_is_kernel_device(c->port[p].device))
        config_fault(t, port_path(path, p, "ecn_above"),
                     "is for ports on interfaces of the kernel's (kernel:NAME), which tell how much waits");
}

void config_check_ports(struct config_text *t, struct config *c)
{
    char path[CONFIG_PATH_MAX];

    for (unsigned p = 0; p < c->ports; p++) {
        check_name(t, c, p);
        config_default_numbers(t, port_path(path, p, ""), &c->port[p], queues, QUEUES);
        config_check_numbers(t, path, &c->port[p], queues, QUEUES);
        config_check_numbers(t, path, &c->port[p], storms, STORMS);
        config_check_numbers(t, path, &c->port[p], &marks, 1);
        name_pci_device(c->port[p].device);
        check_device(t, c, p);
        check_marks(t, c, p);
        check_impair(t, port_path(path, p, "impair.rx"), &c->port[p].impair.rx);
        check_impair(t, port_path(path, p, "impair.tx"), &c->port[p].impair.tx);
    }
}

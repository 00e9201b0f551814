#include "box.h"
#include "base/nodes.h"
#include "base/sysfiles.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/syscall.h>

#include "ask.h"
#include "config/config.h"
#include "interface.h"
#include "machine.h"
#include "version.h"

static void on_report(void *context, const char *message)
{
    finding_type(found(context, FINDING_FAULT, "configuration", NULL, "%s", message),
                 "mend it, and look again: swagg --check FILE");
}

/* --- what its process may do --- */

static uint64_t capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};

    syscall(SYS_capget, &head, data);
    return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static void permissions(struct findings *f, bool kernel_ports, bool own_ports)
{
    const struct {
        const char *name;
        unsigned number;
        bool needed;
    } wanted[] = {{"CAP_NET_RAW", CAP_NET_RAW, kernel_ports},
                  {"CAP_NET_ADMIN", CAP_NET_ADMIN, kernel_ports},
                  {"CAP_IPC_LOCK", CAP_IPC_LOCK, own_ports},
                  {"CAP_SYS_NICE", CAP_SYS_NICE, false}};
    const uint64_t has = capabilities();
    unsigned lacking = 0;

    for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (has >> wanted[i].number & 1)
            continue;
        lacking++;
        finding_type(found(f, wanted[i].needed ? FINDING_FAULT : FINDING_WARNING, "permissions", NULL,
                           "%s is not this user's", wanted[i].name),
                     "be root (sudo swagg doctor), or systemctl start swagg@NAME");
    }
    if (lacking == 0)
        found(f, FINDING_OK, "permissions", NULL, "this user may do what a switch must");
}

/* --- a NIC of its own --- */

static void iommu(struct findings *f)
{
    static bool told;

    if (told)
        return;
    told = true;
    if (sysfile_entries("/sys/kernel/iommu_groups") > 0)
        found(f, FINDING_OK, "devices", NULL, "the IOMMU is on");
    else
        finding_type(
            found(f, FINDING_FAULT, "devices", NULL, "the IOMMU is off: vfio-pci has no groups"),
            "intel_iommu=on or amd_iommu=on on the kernel's command line, and in the firmware's settings");
    machine_locked(f);
}

static void bound_to(struct findings *f, const char *address, const char *driver)
{
    if (strcmp(driver, "vfio-pci") == 0) {
        found(f, FINDING_OK, "devices", address, "bound to vfio-pci");
        iommu(f);
    } else if (strncmp(driver, "mlx", 3) == 0 || strcmp(driver, "mana") == 0) {
        found(f, FINDING_OK, "devices", address, "driver %s, which shares it with DPDK", driver);
    } else if (strcmp(driver, "uio_pci_generic") == 0 || strcmp(driver, "igb_uio") == 0) {
        finding_type(found(f, FINDING_WARNING, "devices", address,
                           "bound to %s, without the IOMMU's protection; needs privileges: all", driver),
                     "dpdk-devbind.py --bind=vfio-pci %s", address);
    } else {
        finding_type(
            found(f, FINDING_FAULT, "devices", address, "%s%s has it, and DPDK cannot",
                  driver[0] != '\0' ? "the kernel's driver " : "no driver", driver[0] != '\0' ? driver : ""),
            "modprobe vfio-pci; dpdk-devbind.py --bind=vfio-pci %s (not if you are logged in through it)",
            address);
    }
}

static void nic(struct findings *f, const char *device)
{
    char address[CONFIG_DEVICE_MAX], driver[64];

    config_device_name(address, device);
    if (!sysfile_is_there("/sys/bus/pci/devices/%s", address)) {
        finding_type(found(f, FINDING_FAULT, "devices", address, "no PCI device has this address"),
                     "dpdk-devbind.py --status");
        return;
    }
    sysfile_link(driver, sizeof(driver), "/sys/bus/pci/devices/%s/driver", address);
    bound_to(f, address, driver);
    machine_node(f, address, node_of_pci(address));
}

/* --- the whole --- */

static void ports(struct findings *f, const struct config *cfg)
{
    bool kernel_ports = false, own_ports = false;

    for (unsigned p = 0; p < cfg->ports; p++) {
        const char *device = cfg->port[p].device;

        if (config_is_kernel_device(device)) {
            kernel_ports = true;
            interface_look(f, device + strlen(CONFIG_KERNEL_DEVICE), INTERFACE_OF_A_SWITCH, cfg->mtu);
        } else if (config_is_pci_device(device)) {
            own_ports = true;
            nic(f, device);
        } else {
            found(f, FINDING_SKIPPED, "devices", cfg->port[p].name, "a virtual device: %s", device);
        }
    }
    permissions(f, kernel_ports, own_ports);
}

static void visit_running(void *context, const char *name)
{
    struct findings *f = context;
    char why[INSTANCE_WHY_MAX];
    struct instance instance;
    json_t *answer = NULL;

    if (instance_choose(&instance, name, why) == 0)
        answer = ask_view(&instance, "status", NULL, why);
    const char *version = json_string_value(json_object_get(json_object_get(answer, "view"), "version"));

    if (version == NULL)
        found(f, FINDING_SKIPPED, "versions", name, "it does not tell its version to this user");
    else if (strcmp(version, build_version) == 0)
        found(f, FINDING_OK, "versions", name, "%s runs, and is installed", version);
    else
        finding_type(found(f, FINDING_WARNING, "versions", name, "%s runs, and %s is installed", version,
                           build_version),
                     "systemctl restart swagg@%s: jobs go on", name);
    json_decref(answer);
}

static void running(struct findings *f)
{
    const unsigned before = f->n;

    if (findings_want(f, "versions"))
        instances_visit(visit_running, f);
    if (f->n == before)
        found(f, FINDING_SKIPPED, "versions", NULL, "no swagg runs here; %s is installed", build_version);
}

void box_look(struct findings *f, const struct box_wish *wish)
{
    static struct config cfg; /* large */
    const int rc = wish->is_server ? config_load_server(&cfg, wish->file, on_report, f)
                                   : config_load(&cfg, wish->file, on_report, f);

    running(f);
    if (rc < 0)
        return;
    found(f, FINDING_OK, "configuration", NULL, "%s is good", wish->file);
    machine_cpus(f, wish->is_server ? 0 : cfg.has_placement ? cfg.placement.lcores : 1);
    if (wish->is_server) {
        machine_buffers(f);
        return;
    }
    if (cfg.memory.mode != CONFIG_MEMORY_NO_HUGE)
        machine_hugepages(f, cfg.memory.megabytes, cfg.memory.mode == CONFIG_MEMORY_HUGEPAGES);
    ports(f, &cfg);
}

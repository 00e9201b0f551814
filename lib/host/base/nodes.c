#include "base/nodes.h"

#include <string.h>

#include "base/sysfiles.h"

int node_of_pci(const char *address)
{
    return (int)sysfile_number(-1, "/sys/bus/pci/devices/%s/numa_node", address);
}

int node_of_interface(const char *name)
{
    return (int)sysfile_number(-1, "/sys/class/net/%s/device/numa_node", name);
}

bool node_has_cpu(int node, int cpu)
{
    return sysfile_is_there("/sys/devices/system/node/node%d/cpu%d", node, cpu);
}

unsigned node_first(int node, int cpu[], unsigned n)
{
    unsigned near = 0;

    for (unsigned i = 0; i < n; i++) {
        const int here = cpu[i];

        if (!node_has_cpu(node, here))
            continue;
        memmove(&cpu[near + 1], &cpu[near], (i - near) * sizeof(cpu[0]));
        cpu[near++] = here;
    }
    return near;
}

/* NUMA nodes of a machine of two: even CPUs are on node 0, odd ones on node 1, with a NIC. Lists of CPUs. */
#include "base/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysfiles.h"
#include "unit.h"

static char machine[] = "/tmp/nodes-XXXXXX";

static void run(const char *what)
{
    char command[1024];

    snprintf(command, sizeof(command), "cd %s && %s", machine, what);
    CU_ASSERT_EQUAL_FATAL(system(command), 0);
}

static void machine_begin(void)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(machine));
    run("cpus=sys/devices/system/node nic=sys/bus/pci/devices/0000:03:00.0 link=sys/class/net/eth7/device;"
        "mkdir -p $cpus/node0/cpu0 $cpus/node0/cpu2 $cpus/node1/cpu1 $cpus/node1/cpu3 $nic $link;"
        "echo 1 >$nic/numa_node; echo -1 >$link/numa_node");
    sysfiles_below(machine);
}

static void machine_end(void)
{
    run("rm -r sys && rmdir \"$PWD\"");
    sysfiles_below("");
}

TEST(nics_and_cpus_are_on_nodes_and_those_near_come_first)
{
    int cpu[] = {0, 1, 2, 3};
    static const int near_1[] = {1, 3, 0, 2}, near_0[] = {0, 2, 1, 3};

    machine_begin();
    CU_ASSERT_EQUAL(node_of_pci("0000:03:00.0"), 1);
    CU_ASSERT_EQUAL(node_of_pci("0000:04:00.0"), -1);
    CU_ASSERT_EQUAL(node_of_interface("eth7"), -1);
    CU_ASSERT_TRUE(node_has_cpu(1, 3));
    CU_ASSERT_FALSE(node_has_cpu(0, 3));
    CU_ASSERT_EQUAL(node_first(1, cpu, 4), 2);
    CU_ASSERT_EQUAL(memcmp(cpu, near_1, sizeof(cpu)), 0);
    CU_ASSERT_EQUAL(node_first(-1, cpu, 4), 0);
    CU_ASSERT_EQUAL(memcmp(cpu, near_1, sizeof(cpu)), 0);
    CU_ASSERT_EQUAL(node_first(0, cpu, 4), 2);
    CU_ASSERT_EQUAL(memcmp(cpu, near_0, sizeof(cpu)), 0);
    machine_end();
}

TEST(lists_of_cpus_are_read)
{
    CU_ASSERT_TRUE(sysfile_list_has("0-3,8", 0));
    CU_ASSERT_TRUE(sysfile_list_has("0-3,8", 3));
    CU_ASSERT_TRUE(sysfile_list_has("0-3,8", 8));
    CU_ASSERT_FALSE(sysfile_list_has("0-3,8", 4));
    CU_ASSERT_FALSE(sysfile_list_has("", 0));
    CU_ASSERT_FALSE(sysfile_list_has("1,x", 2));
}

/* NUMA nodes of a machine of two: even CPUs are on node 0 with an interface, odd ones on node 1 with a NIC;
 * packet buffers near them. Lists of CPUs. */
#include "base/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysfiles.h"
#include "port/buffers_near.h"
#include "unit.h"

static char machine[] = "/tmp/nodes-XXXXXX";

enum { LCORES = 2, KEPT = 100, ALL_HAVE = (LCORES + 1) * 2048 + KEPT };

static void run(const char *what)
{
    char command[1024];

    snprintf(command, sizeof(command), "cd %s && %s", machine, what);
    CU_ASSERT_EQUAL_FATAL(system(command), 0);
}

static void machine_begin(void)
{
    strcpy(machine, "/tmp/nodes-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(machine));
    run("cpus=sys/devices/system/node nic=sys/bus/pci/devices/0000:03:00.0 link=sys/class/net/eth7/device "
        "far=sys/class/net/eth0/device;"
        "mkdir -p $cpus/node0/cpu0 $cpus/node0/cpu2 $cpus/node1/cpu1 $cpus/node1/cpu3 $nic $link $far;"
        "echo 1 >$nic/numa_node; echo -1 >$link/numa_node; echo 0 >$far/numa_node");
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

static struct config_port port_on(const char *device)
{
    struct config_port port = {.rx_queues = 1, .tx_queues = 1};

    strcpy(port.device, device);
    return port;
}

TEST(each_node_with_ports_has_packet_buffers_enough_for_them_and_for_all_that_is_kept)
{
    static struct config cfg; /* large */
    struct buffers b;

    machine_begin();
    cfg = (struct config){.ports = 4,
                          .pool.kept_frames = KEPT,
                          .port = {port_on("kernel:eth7"), port_on("0000:03:00.0"), port_on("kernel:eth0"),
                                   port_on("0000:03:00.0")}};
    cfg.port[3].rx_queues = 3;
    buffers_plan(&b, &cfg, LCORES);
    CU_ASSERT_EQUAL_FATAL(b.n, 2);
    CU_ASSERT(b.node[0] == 1 && b.node[1] == 0);
    CU_ASSERT(b.of_port[0] == 0 && b.of_port[1] == 0 && b.of_port[2] == 1 && b.of_port[3] == 0);
    CU_ASSERT_EQUAL(b.count[0], ALL_HAVE + 3 * BUFFERS_A_PORT + 2 * 1024);
    CU_ASSERT_EQUAL(b.count[1], ALL_HAVE + BUFFERS_A_PORT);
    machine_end();
}

TEST(where_ports_are_on_one_node_or_none_there_is_one_pool_anywhere)
{
    static struct config cfg; /* large */
    struct buffers b;

    machine_begin();
    cfg = (struct config){.ports = 2, .port = {port_on("kernel:eth7"), port_on("0000:03:00.0")}};
    for (; cfg.ports > 0; cfg.ports--) {
        buffers_plan(&b, &cfg, LCORES);
        CU_ASSERT_EQUAL_FATAL(b.n, 1);
        CU_ASSERT(b.node[0] < 0 && b.of_port[0] == 0 && b.of_port[1] == 0);
        CU_ASSERT_EQUAL(b.count[0], ALL_HAVE - KEPT + cfg.ports * BUFFERS_A_PORT);
    }
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

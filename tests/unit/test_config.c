/* Configurations, good and bad: the values of each, and every message word for word. */
#include "clone/terms.h"
#include "config/config.h"
#include "hostagg/terms.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "switchml/terms.h"
#include "unit.h"

/* All messages of one load, a line each, the file's name replaced by "F". */
struct transcript {
    const char *file;
    char text[32768];
};

static void take_down(void *context, const char *message)
{
    struct transcript *t = context;
    const size_t used = strlen(t->text), prefix = strlen(t->file);

    CU_ASSERT_EQUAL_FATAL(strncmp(message, t->file, prefix), 0);
    CU_ASSERT_PTR_NULL(strchr(message, '\n'));
    snprintf(t->text + used, sizeof(t->text) - used, "F%s\n", message + prefix);
}

/* Writes yaml to a file and loads it. */
static int load(struct config *c, const char *yaml, size_t bytes, struct transcript *t)
{
    char file[] = "/tmp/test_config_XXXXXX";
    int fd = mkstemp(file), ret;

    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL_FATAL(write(fd, yaml, bytes), (ssize_t)bytes);
    close(fd);
    *t = (struct transcript){.file = file};
    ret = config_load(c, file, take_down, t);
    unlink(file);
    t->file = NULL;
    return ret;
}

/* Stays for as long as no more than eight are asked for: they are large. */
static const struct config *kept(const char *yaml)
{
    static struct config place[8];
    static unsigned used;
    struct config *c = &place[used++ % 8];
    struct transcript t;
    int ret = load(c, yaml, strlen(yaml), &t);

    if (ret != 0)
        printf("\nunexpected: %s", t.text);
    CU_ASSERT_EQUAL_FATAL(ret, 0);
    CU_ASSERT_STRING_EQUAL(t.text, "");
    return c;
}

static struct config good(const char *yaml)
{
    return *kept(yaml);
}

#define SWITCH          PORT "switch: {ip: 10.0.0.1, mac: \"02:00:00:00:01:fe\"}\n"
#define WORKER_2        "{ip: 10.0.0.2, mac: \"02:00:00:00:00:02\"}"
#define WORKER_3        "{ip: 10.0.0.3, mac: \"02:00:00:00:00:03\"}"
#define PORT            "ports:\n  - device: net_af_packet0,iface=a\n"
#define VLANS           "ports: [{device: kernel:a, trunk: [10, 30]}]\nswitch: {vlans: [{vlan: 10, ip: 10.0.0.1/24}]}\n"
#define PORTS           PORT "  - name: b\n    device: net_af_packet1,iface=b\n"
#define TWO_QUEUES      "ports: [{device: \"net_tap0,iface=a\", name: a, rx_queues: 2, tx_queues: 2}]\n"
#define NUMBER_EXPECTED "is not a whole number, 0 or greater\n"
#define A_GROUP         "lines of the form \"key: value\", with a space behind the colon"
#define A_LIST          "a list, [a, b, ...] or lines that begin with \"- \""
#define GROUP           A_GROUP "\n"
#define LIST            A_LIST "\n"

static const struct {
    const char *yaml, *messages;
} bad[] = {
    /* not a YAML document */
    {"", "F: the file is empty; the least is: ports: [{device: kernel:eth0}]\n"},
    {"ports: [\n",
     "F:2: not YAML: did not find expected node content, while parsing a flow node that begins in line 2\n"},
    {PORT "\tmtu: 3\n",
     "F:3: not YAML: found a tab character that violates indentation, while scanning a plain scalar "
     "that begins in line 2; indent with spaces, not with tabs\n"},
    {"ports:\n\t- device: kernel:a\n",
     "F:2: not YAML: found character that cannot start any token, while scanning for the next token that "
     "begins in line 2; indent with spaces, not with tabs\n"},
    {PORT "   name: a\n",
     "F:3: not YAML: did not find expected '-' indicator, while parsing a block "
     "collection that begins in line 2; is the line indented as those that it belongs to?\n"},
    {PORT "       name: a\n", "F:3: not YAML: mapping values are not allowed in this context; is the line "
                              "indented as those that it belongs to?\n"},
    {PORT "---\nmtu: 1500\n",
     "F:4: a second document begins here; a configuration is one: remove the \"---\" line\n"},
    /* keys */
    {"mtu: 1500\n", "F:1: ports: is missing\n"},
    {PORT "switch: {ip:10.0.0.1}\n",
     "F:3: switch.ip:10.0.0.1: unknown key; a colon that ends a key has a space behind it\n"},
    {"ports: [{name: a, device: net_memif0,role=server}]\n",
     "F:1: ports[0].role=server: unknown key; a device with commas needs quotes in such a line\n"},
    {PORT "idel:\n  spin: 3\n", "F:3: idel: unknown key; did you mean \"idle\"?\n"},
    {PORT "idle:\n  spin: 3\n  maxsleep_us: 3\n",
     "F:5: idle.maxsleep_us: unknown key; did you mean \"max_sleep_us\"?\n"},
    {PORT "    qinq: 3\n", "F:3: ports[0].qinq: unknown key; known here: name, device, rx_queues, tx_queues, "
                           "impair, storm, ecn_above, vlan, trunk\n"},
    {PORT "    vlan: 4095\n    trunk: [0, 7, 7, 4095]\n",
     "F:3: ports[0].vlan: 4095 is no VLAN (1..4094)\n"
     "F:4: ports[0].trunk[0]: 0 is no VLAN (1..4094)\n"
     "F:4: ports[0].trunk[2]: VLAN 7 is there twice\n"
     "F:4: ports[0].trunk[3]: 4095 is no VLAN (1..4094)\n"
     "F:4: ports[0].trunk[3]: VLAN 4095 is the port's vlan, whose frames have no tag\n"},
    {PORTS "    vlan: 3\n",
     "F:2: ports[0]: carries no VLAN, but other ports do: give it vlan, trunk, or both\n"},
    {PORT "    vlan: 3\nswitch: {ip: 10.0.0.1}\n",
     "F:4: switch.ip: an address belongs to one VLAN, where ports carry VLANs: write vlans: [{vlan: 10, ip: "
     "10.0.0.1}]\n"},
    {PORT "switch: {vlans: [{vlan: 3, ip: 10.0.0.1}]}\n",
     "F:3: switch.vlans: no port carries VLANs: give ports vlan or trunk, or write switch.ip\n"},
    {PORT "    trunk: [3]\nswitch: {vlans: [{vlan: 3, ip: 10.0.0.1}, {vlan: 3, ip: 10.0.0.2}, {vlan: 4, ip: "
          "10.0.0.0/24}]}\n",
     "F:4: switch.vlans[1].vlan: VLAN 3 is there twice\n"
     "F:4: switch.vlans[2].vlan: no port carries VLAN 4 (ports.vlan, ports.trunk)\n"
     "F:4: switch.vlans[2].ip: 10.0.0.0/24 is the network's own address; choose a host's\n"},
    {PORT "    trunk: [3, 4]\nswitch: {vlans: [{vlan: 3, ip: 10.0.0.1}]}\nstatic:\n  - {workers: [" WORKER_2
          "], vlan: 4}\n",
     "F:6: static[0].vlan: the switch has no address in VLAN 4 (switch.vlans)\n"},
    {PORT "mtu: 1500\npool: {}\nmtu: 1500\n", "F:5: mtu: is given twice, first in line 3\n"},
    {PORT "  - name: b\n", "F:3: ports[1].device: is missing\n"},
    {PORT "[a, b]: 3\n", "F:3: a key must be a word\n"},
    /* kinds of values */
    {"- a\n", "F:1: expected " GROUP},
    {"ports: 3\n", "F:1: ports: expected " LIST},
    {"ports:\n", "F:1: ports: has no value; expected " A_LIST ", indented further than it\n"},
    {"ports: []\n", "F:1: ports: is empty; give it at least 1 item\n"},
    {"ports:\n  - net_null0\n", "F:2: ports[0]: expected " GROUP},
    {PORT "idle:\nmtu: 1500\n", "F:3: idle: has no value; expected " A_GROUP ", indented further than it\n"},
    {PORT "mtu: [1500]\n", "F:3: mtu: expected a single value\n"},
    {PORT "mtu: many\n", "F:3: mtu: \"many\" " NUMBER_EXPECTED},
    {PORT "mtu: -1500\n", "F:3: mtu: \"-1500\" " NUMBER_EXPECTED},
    {PORT "mtu: 1500.5\n", "F:3: mtu: \"1500.5\" " NUMBER_EXPECTED},
    {PORT "mtu:\n", "F:3: mtu: \"\" " NUMBER_EXPECTED},
    {PORT "mtu: 01500\n", "F:3: mtu: 01500: write the number without leading zeros\n"},
    {PORT "mtu: 5000000000\n", "F:3: mtu: 5000000000 is too large\n"},
    {PORT "seed: 99999999999999999999\n", "F:3: seed: 99999999999999999999 is too large\n"},
    {PORT "log_level: verbose\n",
     "F:3: log_level: \"verbose\" is none of error, warning, notice, info, debug\n"},
    {PORT "memory: {mode: 2}\n", "F:3: memory.mode: \"2\" is none of auto, hugepages, no-huge\n"},
    {PORT "    impair: {tx: {drop: 1%}}\n", "F:3: ports[0].impair.tx.drop: \"1%\" is not a number\n"},
    {PORT "    name: this-name-is-longer-than-it-may-be\n",
     "F:3: ports[0].name: is longer than 31 characters\n"},
    {PORT "switch: {mac: \"02:\\0\"}\n", "F:3: switch.mac: has a zero byte in it\n"},
    {"ports:\n  - device: \"\"\n", "F:2: ports[0].device: has no value\n"},
    /* ranges */
    {PORT "mtu: 100\n", "F:3: mtu: 100 is out of range (256..9600)\n"},
    {PORT "    storm: {unknown: 100000001}\n",
     "F:3: ports[0].storm.unknown: 100000001 is out of range (0..100000000)\n"},
    {PORT "loops: {probe_s: 3601, block_s: 86401}\n",
     "F:3: loops.probe_s: 3601 is out of range (0..3600)\nF:3: loops.block_s: 86401 is out of range "
     "(0..86400)\n"},
    {PORT "switch: {link_local: transparent}\n",
     "F:3: switch.link_local: transparent is for a switch with two ports, which stands for a cable; this one "
     "has 1: write stp, or drop\n"},
    {PORT "tx_delay_us: 1001\n", "F:3: tx_delay_us: 1001 is out of range (0..1000)\n"},
    {PORT "limits: {jobs: 0, workers: 1025}\n",
     "F:3: limits.jobs: 0 is out of range (1..256)\nF:3: limits.workers: 1025 is out of range (1..1024)\n"},
    {PORT "pool:\n  slots_per_job: 500\n",
     "F:4: pool.slots_per_job: 500 is not a power of two (512, 1024, ...)\n"},
    {PORT "pool:\n  megabytes: 320\n",
     "F:1: memory.megabytes: 320 is too little for a pool of 320 and 64 for frames: "
     "make it 384, or the pool less\n"},
    /* ports */
    {"ports:\n  - device: eth0\n", "F:2: ports[0].device: \"eth0\" is neither a DPDK device (net_...) nor a "
                                   "PCI address (0000:03:00.0); for a kernel "
                                   "interface write kernel:eth0\n"},
    {"ports:\n  - device: kernl:p0\n  - device: 0000:03:00.0,x=1\n  - device: pci:03:00.1\n  - device: "
     "auxiliary:mlx5_core.sf.2\n",
     "F:2: ports[0].device: \"kernl:p0\" is neither a DPDK device (net_...) nor a PCI address "
     "(0000:03:00.0); "
     "for a kernel interface write kernel:p0\n"},
    {"server: {ip: 10.77.0.9}\n",
     "F:1: server: this is the file of a server: swagg-ps takes it. A switch has "
     "`ports`\n"},
    {"ports: [{device: \"kernel:\"}]\n",
     "F:1: ports[0].device: \"kernel:\" does not name a kernel interface: write kernel:eth1\n"},
    {"ports:\n  - device: kernel:a,framecnt=512\n  - device: kernel:a-name-too-long-\n",
     "F:2: ports[0].device: \"kernel:a,framecnt=512\" does not name a kernel interface: write kernel:eth1\n"
     "F:3: ports[1].device: \"kernel:a-name-too-long-\": names of kernel interfaces have at most 15 "
     "characters\n"},
    {"ports:\n  - device: kernel:a\n  - device: kernel:a\n",
     "F:3: ports[1].device: \"kernel:a\" is the device of ports[0] already\n"},
    {PORT "  - device: kernel:a\n  - device: net_af_xdp0,iface=a,start_queue=1\n",
     "F:3: ports[1].device: interface \"a\" is that of ports[0] already\n"
     "F:4: ports[2].device: interface \"a\" is that of ports[0] already\n"
     "F:4: ports[2].device: interface \"a\" is that of ports[1] already\n"},
    {"ports:\n  - device: net_af_packet0\n",
     "F:2: ports[0].device: \"net_af_packet0\" does not say which interface: append ,iface=NAME\n"},
    {PORT "  - device: net_af_packet0,iface=b\n",
     "F:3: ports[1].device: \"net_af_packet0\" is the device of ports[0] "
     "already; number them: net_memif0, net_memif1, ...\n"},
    {PORT "mtu: 2000\n",
     "F:2: ports[0].device: its ring holds frames of 2048 bytes, too little for mtu 2000: append "
     ",framesz=3072,blocksz=12288\n"},
    {"ports:\n  - device: net_af_packet0,iface=a,framesz=4096\nmtu: 9000\n",
     "F:2: ports[0].device: its ring holds frames of 4096 bytes, too little for mtu 9000: write "
     ",framesz=9216,blocksz=36864\n"},
    {"ports:\n  - device: 0000:03:00.0\n  - device: 0000:03:00.0\n",
     "F:3: ports[1].device: \"0000:03:00.0\" is the device of ports[0] already\n"},
    {PORTS "  - name: b\n    device: net_null2\n",
     "F:5: ports[2].name: \"b\" is the name of ports[1] already\n"},
    {PORT "    name: port1\n  - device: net_null2\n",
     "F:4: ports[1].name: \"port1\" is the name of ports[0] already\n"},
    {PORT "    name: all\n",
     "F:3: ports[0].name: \"all\" means every port in the list of lcores; choose another name\n"},
    {PORT "    name: a b\n", "F:3: ports[0].name: \"a b\" has spaces or unprintable characters in it\n"},
    /* impairments */
    {PORTS "    impair:\n      rx:\n        drop: 1.5\n",
     "F:7: ports[1].impair.rx.drop: 1.5 is not a probability (0..1)\n"},
    {PORT "    impair: {rx: {corrupt: -0.1, duplicate: nan}}\n",
     "F:3: ports[0].impair.rx.duplicate: nan is not a probability (0..1)\n"
     "F:3: ports[0].impair.rx.corrupt: -0.1 is not a probability (0..1)\n"},
    {PORT "    impair: {tx: {reorder: 0.1, reorder_by: 0, reorder_for_us: 60000000}}\n",
     "F:3: ports[0].impair.tx.reorder_by: 0 frames is out of range (1..1000)\n"
     "F:3: ports[0].impair.tx.reorder_for_us: 60000000 microseconds is out of range (1..10000000)\n"},
    /* the switch */
    {PORT "switch: {mac: 02-00-00-00-00-01}\n",
     "F:3: switch.mac: \"02-00-00-00-00-01\" is not a MAC address (02:00:00:00:00:01)\n"},
    {PORT "switch: {mac: \"02:00:00:00:00:01:02\"}\n",
     "F:3: switch.mac: \"02:00:00:00:00:01:02\" is not a MAC address (02:00:00:00:00:01)\n"},
    {PORT "switch: {mac: \"02:00:00:00:00:-1\"}\n",
     "F:3: switch.mac: \"02:00:00:00:00:-1\" is not a MAC address (02:00:00:00:00:01)\n"},
    {PORT "switch: {mac: \"03:00:00:00:00:01\"}\n",
     "F:3: switch.mac: 03:00:00:00:00:01 is a group address; the first byte must be even\n"},
    {PORT "switch: {mac: \"0:0:0:0:0:0\"}\n",
     "F:3: switch.mac: 0:0:0:0:0:0 is no station's address; 02:00:00:00:00:01 would do\n"},
    {PORT "switch: {ip: 10.0.0.256}\n",
     "F:3: switch.ip: \"10.0.0.256\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)\n"},
    {PORT "switch: {ip: 10.0.0.1/33}\n",
     "F:3: switch.ip: \"10.0.0.1/33\": the prefix after the / must be 1..32\n"},
    {PORT "switch: {ip: 10.0.0.0/24}\n",
     "F:3: switch.ip: 10.0.0.0/24 is the network's own address; choose a host's\n"},
    {PORT "switch: {ip: 10.0.0.255/24}\n",
     "F:3: switch.ip: 10.0.0.255/24 is the network's broadcast address; choose a host's\n"},
    {PORT "switch: {ip: 239.0.0.1}\n",
     "F:3: switch.ip: 239.0.0.1/32 is not an address that a host can have\n"},
    /* lcores */
    {PORT "lcores: []\n", "F:3: lcores: is empty; give it at least 1 item\n"},
    {PORTS "lcores:\n  - rx: [port0, d]\n    tx: [all]\n",
     "F:6: lcores[0].rx[1]: no port is called \"d\"; \"all\" stands for every port\n"},
    {PORTS "lcores:\n  - rx: [port0, prt1]\n    tx: [all]\n",
     "F:6: lcores[0].rx[1]: no port is called \"prt1\"; did you mean \"port0\"?\n"},
    {PORTS "lcores:\n  - rx: [b, b, port0]\n    tx: [all, b]\n    aggregate: [0, 0, 64]\n",
     "F:6: lcores[0].rx[1]: \"b\" is in this list already\n"
     "F:7: lcores[0].tx[1]: \"b\" is in this list already\n"
     "F:8: lcores[0].aggregate[1]: 0 is in this list already\n"
     "F:8: lcores[0].aggregate[2]: 64 is out of range (0..63)\n"},
    {PORTS "lcores:\n  - rx: [b]\n    aggregate: [1]\n  - tx: [port0]\n",
     "F:5: lcores: none receives from port \"port0\"; add it to the rx list of one\n"
     "F:5: lcores: none sends to port \"b\"; add it to the tx list of one\n"
     "F:5: lcores: none aggregates shard 0; number the shards from 0 without gaps\n"},
    {PORT "lcores:\n  - {rx: [all], tx: [all], aggregate: [0]}\n  - {rx: [all], tx: [all], aggregate: [0]}\n "
          " - cpu: 1\n",
     "F:5: lcores[1].rx: port \"port0\" has an lcore that receives from it already\n"
     "F:5: lcores[1].tx: port \"port0\" has an lcore that sends to it already\n"
     "F:5: lcores[1].aggregate: shard 0 has an lcore already\n"
     "F:6: lcores[2]: has no task; give it rx, tx or aggregate, or remove it\n"},
    {TWO_QUEUES
     "lcores:\n  - {rx: [all:0], tx: [all, all:2]}\n  - {rx: [a:2, \"a:\", a:0x1], tx: [a:0, a]}\n",
     "F:3: lcores[0].tx[1]: there is no queue 2: they count from 0 to less than the port's tx_queues\n"
     "F:4: lcores[1].rx[0]: there is no queue 2: they count from 0 to less than the port's rx_queues\n"
     "F:4: lcores[1].rx[1]: no port is called \"a:\"; did you mean \"a\"?\n"
     "F:4: lcores[1].rx[2]: no port is called \"a:0x1\"; \"all\" stands for every port\n"
     "F:4: lcores[1].tx[1]: \"a\" is in this list already\n"},
    {TWO_QUEUES "lcores:\n  - {rx: [a:0], tx: [a:1]}\n  - {rx: [a:0], tx: [a:1]}\n",
     "F:4: lcores[1].rx: port \"a:0\" has an lcore that receives from it already\n"
     "F:2: lcores: none sends to port \"a:0\"; add it to the tx list of one\n"
     "F:2: lcores: none receives from port \"a:1\"; add it to the rx list of one\n"
     "F:4: lcores[1].tx: port \"a:1\" has an lcore that sends to it already\n"},
    {PORT "    rx_queues: 2\n    tx_queues: 17\n",
     "F:4: ports[0].tx_queues: 17 is out of range (1..16)\n"
     "F:2: ports[0].device: has queue pairs for 1 receive queues, but rx_queues is 2: append ,qpairs=2\n"},
    {PORT "    tx_queues: 2\n", "F:2: ports[0].device: has 1 queue pairs, but tx_queues is 2: lower it, or "
                                "raise qpairs and rx_queues\n"},
    {PORT "switch: {ip: 10.0.0.1}\nlcores:\n  - {rx: [all], tx: [all]}\n",
     "F:4: lcores: none aggregates, but switch.ip is set: add \"aggregate: [0]\" to one\n"},
    /* who may join */
    {PORT "tenants: [{name: a, addresses: [10.0.0.1]}]\n",
     "F:3: tenants: without switch.ip there is nothing to join\n"},
    {PORT "switch: {ip: 10.0.0.1}\ntenants:\n  - jobs: [x]\n    addresses: [\"\"]\n"
          "  - {name: \"\", addresses: [10.0.0.0/8], jobs: []}\n",
     "F:5: tenants[0].name: is missing\n"
     "F:6: tenants[0].addresses[0]: has no value\n"
     "F:7: tenants[1].name: has no value\n"
     "F:7: tenants[1].jobs: is empty; give it at least 1 item\n"},
    {PORT
     "switch: {ip: 10.0.0.1}\ntenants:\n  - name: a b\n"
     "    addresses: [10.0.0, 10.0.0.0/33, 10.0.0.1/24, 1.2.3.4/24/123456789012345678901234567890123456789"
     "012345678901234567890123456789]\n"
     "  - {name: x, addresses: [10.0.0.1], jobs: [0123456789012345678901234567890123456789012345678]}\n"
     "  - name: x\n",
     "F:5: tenants[0].name: \"a b\" has spaces or unprintable characters in it\n"
     "F:6: tenants[0].addresses[0]: \"10.0.0\" is neither an IPv4 address (10.0.0.1) nor a network "
     "(10.0.0.0/24)\n"
     "F:6: tenants[0].addresses[1]: \"10.0.0.0/33\": the prefix after the / must be 0..32\n"
     "F:6: tenants[0].addresses[2]: 10.0.0.1/24 is a host in a network; write 10.0.0.0/24 for all of it, "
     "10.0.0.1 for the host\n"
     "F:6: tenants[0].addresses[3]: \"1.2.3.4/24/1234567890123456789012345678901234567890123456789012\": the "
     "prefix after the / must be 0..32\n"
     "F:7: tenants[1].jobs[0]: is longer than 47 characters\n"
     "F:8: tenants[2].name: \"x\" is the name of tenants[1] already\n"
     "F:8: tenants[2].addresses: is missing: without key_file, addresses alone say who this is; [0.0.0.0/0] "
     "is everybody\n"},
    {PORT "control: {path: ctl, mode: 0888, group: \"\"}\n",
     "F:3: control.group: has no value\n"
     "F:3: control.path: \"ctl\" is neither an absolute path, nor none\n"
     "F:3: control.mode: \"0888\" is no mode of a file: three octal digits, such as \"660\"\n"},
    {PORT "switch: {ip: 10.0.0.1}\ntenants:\n"
          "  - {name: a, addresses: [10.0.0.1], weight: 0, quota: {jobs: 257, slots: many, bytes: 3}}\n",
     "F:5: tenants[0].quota.slots: \"many\" is not a whole number, 0 or greater\n"
     "F:5: tenants[0].quota.bytes: unknown key; known here: jobs, slots, megabytes, kept_frames\n"
     "F:5: tenants[0].quota.jobs: 257 is out of range (0..256)\n"
     "F:5: tenants[0].weight: 0 is out of range (1..1000)\n"},
    {PORT "switch: {ip: 10.0.0.1}\ntenants: [{name: a/b, addresses: [10.0.0.1]}]\n",
     "F:4: tenants[0].name: \"a/b\" has a / in it, which separates tenants from their jobs\n"},
    /* replayed jobs */
    {PORT "replay: [{}]\n", "F:3: replay: needs switch.ip, the address that the packets are sent to\n"},
    {PORT
     "switch: {ip: 10.0.0.1}\nreplay:\n  - workers: 1025\n    slots: 3\n    phases: 5\n    one_host: yes\n",
     "F:8: replay[0].one_host: \"yes\" is neither true nor false\n"
     "F:5: replay[0].workers: 1025 is out of range (1..1024)\n"
     "F:6: replay[0].slots: 3 is not a power of two (512, 1024, ...)\n"
     "F:7: replay[0].phases: 5 is not a power of two (512, 1024, ...)\n"},
    {PORT "switch: {ip: 10.0.0.1}\nreplay: [{slots: 16384}, {slots: 16384}]\n",
     "F:4: replay: its jobs take 191 MB, and pool.megabytes is 64: raise it, or lower slots\n"},
    {PORT "switch: {ip: 10.0.0.1}\nreplay:\n  - workers: 1025\n    slots: 3\n    phases: 2\n  - phases: 6\n",
     "F:5: replay[0].workers: 1025 is out of range (1..1024)\n"
     "F:7: replay[0].phases: 2 is out of range (4..16777216)\n"
     "F:6: replay[0].slots: 3 is not a power of two (512, 1024, ...)\n"
     "F:8: replay[1].phases: 6 is not a power of two (512, 1024, ...)\n"},
    {PORT "switch: {ip: 10.0.0.1}\nreplay:\n  - slots: 16384\n    phases: 131072\n",
     "F:6: replay[0].phases: 131072 phases of 16384 slots are more chunks than 1073741824\n"},
    {PORT "switch: {ip: 10.0.0.1}\nreplay:\n  - chunk_bytes: 1464\n  - chunk_bytes: 66\n",
     "F:5: replay[0].chunk_bytes: 1464 must be a multiple of 4 within 64..1460 (mtu less headers)\n"
     "F:6: replay[1].chunk_bytes: 66 must be a multiple of 4 within 64..1460 (mtu less headers)\n"},
    {PORT "uplink: [{parent: 10.0.0.2}]\n",
     "F:3: uplink: without switch.ip there is nobody whom a parent could answer\n"},
    {PORT "switch: {ip: 10.0.0.1/24}\nuplink:\n  - jobs: [x]\n  - parent: 10.0.0.1\n  - parent: 10.0.0\n"
          "  - parent: 10.0.0.2/24\n",
     "F:5: uplink[0].parent: is missing\n"
     "F:6: uplink[1].parent: 10.0.0.1 is this switch's own address (switch.ip)\n"
     "F:7: uplink[2].parent: \"10.0.0\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)\n"
     "F:8: uplink[3].parent: \"10.0.0.2/24\" has a prefix: write the address alone, 10.0.0.2\n"},
    {PORT "switch: {ip: 10.0.0.1/24}\nuplink:\n  - parent: 10.0.1.2\n  - {parent: 10.0.2.2, via: 10.0.1.1}\n"
          "  - {parent: 10.0.0.2, via: 10.0.0.2}\n  - {parent: 10.0.2.2, via: 10.0.0.3, jobs: [a]}\n",
     "F:5: uplink[0].parent: 10.0.1.2 is not in the network of switch.ip, which has the prefix 24: name the "
     "router on the way by uplink[0].via\n"
     "F:6: uplink[1].via: 10.0.1.1 is not in the network of switch.ip, which has the prefix 24, so there is "
     "no way to the router\n"
     "F:7: uplink[2].via: 10.0.0.2 is the parent itself: leave via out\n"
     "F:8: uplink[3].parent: is the parent of uplink[1] already: put the jobs of both there\n"},
    {PORT "switch: {ip: 10.0.0.1/24}\ntenants: [{name: a, addresses: [10.0.0.0/24]}]\n"
          "uplink: [{parent: 10.0.0.2, tenants: [a, b], jobs: "
          "[a-name-of-a-job-that-is-longer-than-any-job-may-have]}]\n",
     "F:5: uplink[0].tenants[1]: no tenant is called \"b\"\n"
     "F:5: uplink[0].jobs[0]: is longer than 47 characters\n"},
    {PORT
     "switch: {ip: 10.0.0.1/24}\n"
     "tenants: [{name: a, key_file: a}, {name: b, key_file: b}, {name: c, addresses: [10.0.0.0/24]}]\n"
     "uplink:\n  - {parent: 10.0.0.2, key_file: k, tenants: [a, c]}\n  - {parent: 10.0.0.3, key_file: k}\n"
     "  - parent: 10.0.0.4\n",
     "F:7: uplink[1].key_file: to the parent, who knows this key, jobs of a and of b would be one tenant's: "
     "leave one of them out of uplink[1].tenants\n"},
    {PORT "switch: {ip: 10.0.0.1}\ntenants: [{name: a, addresses: [10.0.0.1]}]\n"
          "replay: [{tenant: a}, {tenant: nobody}]\n",
     "F:5: replay[1].tenant: no tenant is called \"nobody\"\n"},
    {PORT "switch: {ip: 10.0.0.1}\nreplay:\n  - {worker_mac: x, worker_ip: y}\n",
     "F:5: replay[0].worker_mac: \"x\" is not a MAC address (02:00:00:00:00:01)\n"
     "F:5: replay[0].worker_ip: \"y\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)\n"},
    /* static jobs */
    {PORT "static: [{workers: [{ip: 10.0.0.2, mac: \"02:00:00:00:00:02\"}]}]\n",
     "F:3: static: needs switch.ip, the address that the packets are sent to\n"},
    {SWITCH "static:\n  - workers: []\n  - {name: x}\n",
     "F:5: static[0].workers: is empty; give it at least 1 item\n"
     "F:6: static[1].workers: is missing\n"},
    {SWITCH "static:\n  - name: a b\n    workers: [" WORKER_2
            "]\n    threads: 33\n    slots: 0\n    elements: 31\n"
            "    format: float\n    quiet_ms: 99\n    speed: 1\n",
     "F:10: static[0].format: \"float\" is none of int32, fp16\n"
     "F:12: static[0].speed: unknown key; known here: name, workers, threads, slots, elements, format, mode, "
     "udp_checksum, quiet_ms, tenant, vlan\n"
     "F:5: static[0].name: \"a b\" has spaces or unprintable characters in it\n"
     "F:7: static[0].threads: 33 is out of range (1..32)\n"
     "F:8: static[0].slots: 0 is out of range (1..16384)\n"
     "F:9: static[0].elements: 31 is out of range (32..512)\n"
     "F:11: static[0].quiet_ms: 99 is out of range (100..600000)\n"},
    {SWITCH "mtu: 1000\nstatic:\n  - {workers: [" WORKER_2 "], elements: 100}\n"
            "  - {workers: [" WORKER_3 "], elements: 32, format: fp16}\n"
            "  - {workers: [{ip: 10.0.0.4, mac: \"02:00:00:00:00:04\"}], threads: 32, slots: 513}\n",
     "F:6: static[0].elements: 100 is none of 32, 64, 128 and 256, which published packets carry\n"
     "F:7: static[1].elements: 32 is none of 64, 128, 256 and 512, which published packets carry\n"
     "F:8: static[2].elements: 256 make packets of 1062 bytes, and mtu is 1000: raise it, or have fewer "
     "elements\n"
     "F:8: static[2].slots: 32 threads of 513 slots are more than the 16384 that a packet can name\n"},
    {SWITCH "static:\n  - name: x\n    workers:\n      - {ip: 10.0.0.1, mac: \"02:00:00:00:01:fe\"}\n"
            "      - {ip: 127.0.0.1, mac: x}\n      - {ip: 10.0.0, mac: \"02:00:00:00:00:02\", port: 65535}\n"
            "      - {mac: \"02:00:00:00:00:02\"}\n    threads: 2\n  - {name: x, workers: [" WORKER_2 "]}\n",
     "F:10: static[0].workers[3].ip: is missing\n"
     "F:7: static[0].workers[0].mac: is switch.mac, the switch's own\n"
     "F:7: static[0].workers[0].ip: is switch.ip, the switch's own address\n"
     "F:8: static[0].workers[1].mac: \"x\" is not a MAC address (02:00:00:00:00:01)\n"
     "F:8: static[0].workers[1].ip: 127.0.0.1/32 is not an address that a host can have\n"
     "F:9: static[0].workers[2].port: 65535 is out of range (1..65534)\n"
     "F:9: static[0].workers[2].ip: \"10.0.0\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)\n"
     "F:12: static[1].name: \"x\" is the name of static[0] already\n"},
    {SWITCH
     "static:\n  - {threads: 4, workers: [" WORKER_2 ", {ip: 10.0.0.2, mac: \"02:00:00:00:00:02\", port: "
     "4003}]}\n  - {workers: [" WORKER_3 ", {ip: 10.0.0.2, mac: \"02:00:00:00:00:02\", port: 3999}, " WORKER_2
     "]}\n",
     "F:5: static[0].workers[1]: the UDP ports from 4003 on of 10.0.0.2 are static[0].workers[0]'s, too: "
     "each "
     "thread needs one of its own\n"
     "F:6: static[1].workers[2]: the UDP ports from 4000 on of 10.0.0.2 are static[0].workers[0]'s, too: "
     "each "
     "thread needs one of its own\n"},
    {SWITCH "tenants: [{name: a, addresses: [10.0.0.1], quota: {jobs: 1}}]\nstatic:\n"
            "  - {workers: [" WORKER_2 "], tenant: b}\n"
            "  - {workers: [{ip: 10.0.0.3, mac: \"02:00:00:00:00:03\"}], tenant: a}\n"
            "  - {workers: [{ip: 10.0.0.4, mac: \"02:00:00:00:00:04\"}], tenant: a}\n",
     "F:6: static[0].tenant: no tenant is called \"b\"\n"
     "F:4: tenants[0].quota.jobs: a has 2 jobs in this file, more than the quota of 1: raise it\n"},
    {SWITCH "static: [{workers: [" WORKER_2 "], slots: 16384, mode: ordered}]\nreplay: [{slots: 16384}]\n",
     "F:4: static: its jobs take 132 MB, and pool.megabytes is 64: raise it, or lower slots\n"},
    /* host-addressed jobs */
    {PORT "hostagg:\n  - {host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 5000}, workers: [" WORKER_2
          "]}\n",
     "F:4: hostagg[0].host_gets: needs switch.ip, the address that the host hears from; or else let it be "
     "nothing\n"},
    {SWITCH "hostagg:\n  - host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\"}\n    workers: [" WORKER_2
            ", " WORKER_2 "]\n    slots: 48\n    elements: 366\n    type: float\n    operation: band\n"
            "  - host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 48864}\n    workers: [" WORKER_2
            ", {ip: 10.0.0.1, mac: x}]\n    operation: band\n    job: 0\n    slots: 0\n",
     "F:7: hostagg[0].slots: 48 is not a power of two (512, 1024, ...)\n"
     "F:5: hostagg[0].host.port: is missing: the UDP port that the workers send to\n"
     "F:6: hostagg[0].workers[1]: UDP port 4000 of 10.0.0.2 is workers[0]'s, too: each needs one of its own\n"
     "F:9: hostagg[0].type: \"float\" is no type of elements, as float32, bfloat16 and int64 are\n"
     "F:15: hostagg[1].slots: 0 is out of range (1..16384)\n"
     "F:14: hostagg[1].job: 0 is the number of hostagg[0], too\n"
     "F:11: hostagg[1].host.port: 48864 is one of the switch's own ports, 48862 to 48883\n"
     "F:12: hostagg[1].workers[1].mac: \"x\" is not a MAC address (02:00:00:00:00:01)\n"
     "F:12: hostagg[1].workers[1].ip: is switch.ip, the switch's own address\n"
     "F:13: hostagg[1].operation: there is no band of float32\n"},
    {SWITCH "hostagg:\n  - {name: x, elements: 366, workers: [" WORKER_2
            "], host: {ip: 10.0.0.2, mac: \"02:00:00:00:00:02\", port: 4000}}\n",
     "F:5: hostagg[0].workers[0]: has the host's address and port\n"
     "F:5: hostagg[0].elements: 366 make packets of 1502 bytes, and mtu is 1500: raise it, or have fewer "
     "elements\n"},
    /* jobs of passing frames */
    {SWITCH "clone:\n  - host: x\n    workers: [\"02:00:00:00:00:02\", \"02:00:00:00:00:02\", "
            "\"02:00:00:00:01:fe\"]\n    slots: 3\n    ether_type: 5\n    match: abc\n    elements_at: 1500\n"
            "    sequence_at: 3\n    type: x\n",
     "F:8: clone[0].ether_type: 5 is out of range (1536..65535)\n"
     "F:11: clone[0].sequence_at: 3 is out of range (14..9000)\n"
     "F:7: clone[0].slots: 3 is not a power of two (512, 1024, ...)\n"
     "F:5: clone[0].host: \"x\" is not a MAC address (02:00:00:00:00:01)\n"
     "F:6: clone[0].workers[1]: 02:00:00:00:00:02 is clone[0].workers[0], too\n"
     "F:6: clone[0].workers[2]: is switch.mac, the switch's own\n"
     "F:9: clone[0].match: \"abc\" is not 1 to 8 bytes in hexadecimal digits, two each\n"
     "F:12: clone[0].type: \"x\" is no type of elements, as float32, bfloat16 and int64 are\n"
     "F:5: clone[0].elements: 32 from byte 1500 on end behind a frame of 1514 bytes, the longest at mtu "
     "1500\n"},
    /* VLANs and tenants of both */
    {VLANS
     "hostagg:\n  - {vlan: 30, tenant: a, host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 5000}, "
     "workers: [" WORKER_2 "]}\n"
     "  - {vlan: 31, host_gets: nothing, host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 5001}, "
     "workers: [" WORKER_2 "]}\n"
     "clone:\n  - {vlan: 31, host: \"02:00:00:00:00:09\", tenant: a, workers: [\"02:00:00:00:00:02\"]}\n"
     "  - {vlan: 30, host: \"02:00:00:00:00:08\", workers: [\"02:00:00:00:00:03\"], collector: {ip: "
     "10.0.0.9, mac: \"02:00:00:00:00:09\"}}\n",
     "F:4: hostagg[0].vlan: the switch has no address in VLAN 30 (switch.vlans)\n"
     "F:4: hostagg[0].tenant: no tenant is called \"a\"\n"
     "F:5: hostagg[1].vlan: no port carries VLAN 31 (ports.vlan, ports.trunk)\n"
     "F:7: clone[0].vlan: no port carries VLAN 31 (ports.vlan, ports.trunk)\n"
     "F:7: clone[0].tenant: no tenant is called \"a\"\n"
     "F:8: clone[1].vlan: the switch has no address in VLAN 30 (switch.vlans)\n"},
    {SWITCH
     "tenants: [{name: a, addresses: [10.0.0.1], quota: {jobs: 2}}]\n"
     "static: [{workers: [" WORKER_2 "], tenant: a}]\n"
     "hostagg: [{tenant: a, host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 5000}, workers: [" WORKER_2
     "]}]\nclone: [{tenant: a, host: \"02:00:00:00:00:09\", workers: [\"02:00:00:00:00:02\"]}]\n",
     "F:4: tenants[0].quota.jobs: a has 3 jobs in this file, more than the quota of 2: raise it\n"},
    {PORT
     "clone:\n  - {host: \"02:00:00:00:00:09\", workers: [\"02:00:00:00:00:02\"], collector: {ip: 10.0.0.9, "
     "mac: \"02:00:00:00:00:09\", port: 6000}}\n  - {host: \"02:00:00:00:00:09\", workers: "
     "[\"02:00:00:00:00:03\"]}\n",
     "F:4: clone[0].collector: needs switch.ip, the address that it hears from\n"
     "F:5: clone[1].host: has the frames of this ether_type for clone[0] already\n"},
    /* several at once: what is no YAML of ours does not hide what is wrong with the rest ... */
    {PORT
     "    impair: {rx: {drop: 2}}\nlog_level: loud\nswitch: {ip: 10.0.0.0/24}\npool: {slots_per_job: 3}\n"
     "limits: {jobs: 300}\nlcores: [{rx: [all]}]\n",
     "F:4: log_level: \"loud\" is none of error, warning, notice, info, debug\n"
     "F:3: ports[0].impair.rx.drop: 2 is not a probability (0..1)\n"
     "F:5: switch.ip: 10.0.0.0/24 is the network's own address; choose a host's\n"
     "F:8: lcores: none aggregates, but switch.ip is set: add \"aggregate: [0]\" to one\n"
     "F:8: lcores: none sends to port \"port0\"; add it to the tx list of one\n"
     "F:7: limits.jobs: 300 is out of range (1..256)\n"
     "F:6: pool.slots_per_job: 3 is not a power of two (512, 1024, ...)\n"},
    /* ... and what follows from it is not said */
    {PORT "    name: this-name-is-longer-than-it-may-be\nlcores: [{rx: [b], tx: [b]}]\nmtu: 9,000\n"
          "switch: {ip: [10.0.0.1]}\nreplay: [{chunk_bytes: 8192}]\npool: {megabytes: 1 GB}\n",
     "F:3: ports[0].name: is longer than 31 characters\n"
     "F:5: mtu: \"9,000\" is not a whole number, 0 or greater\n"
     "F:6: switch.ip: expected a single value\n"
     "F:8: pool.megabytes: \"1 GB\" is not a whole number, 0 or greater\n"},
    {"ports:\n  - devise: x\nmtu: y\nfoo: bar\n",
     "F:2: ports[0].device: is missing\n"
     "F:2: ports[0].devise: unknown key; did you mean \"device\"?\n"
     "F:3: mtu: \"y\" " NUMBER_EXPECTED
     "F:4: foo: unknown key; known here: ports, switch, lcores, mtu, tx_delay_us, "
     "pool, limits, tenants, uplink, timers, memory, idle, loops, control, atp, log_level, seed, static, "
     "hostagg, "
     "clone, "
     "replay\n"},
};

static void test_bad_configurations_say_what_is_wrong(void)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct transcript t;
        struct config c;
        int ret = load(&c, bad[i].yaml, strlen(bad[i].yaml), &t);

        CU_ASSERT_EQUAL(ret, -EINVAL);
        CU_ASSERT_STRING_EQUAL(t.text, bad[i].messages);
        if (strcmp(t.text, bad[i].messages) != 0)
            printf("\n%s=>\n%sexpected:\n%s", bad[i].yaml, t.text, bad[i].messages);
    }
}

/* A file of nothing but mistakes, and of one key again and again: the list ends, and so does the work. */
static void test_a_hundred_mistakes_are_enough(void)
{
    static const char *const line[] = {"key_%u: 3\n", "mtu: 1500\n"};
    enum { LINES = 40000, LINE_MAX_BYTES = 16 };
    char *yaml = malloc(LINES * LINE_MAX_BYTES);
    struct transcript t;
    struct config c;

    CU_ASSERT_PTR_NOT_NULL_FATAL(yaml);
    for (unsigned kind = 0; kind < 2; kind++) {
        size_t bytes = 0;
        unsigned lines = 0;

        for (unsigned i = 0; i < LINES; i++)
            bytes += (size_t)sprintf(yaml + bytes, line[kind], i);
        CU_ASSERT_EQUAL(load(&c, yaml, bytes, &t), -EINVAL);
        for (const char *p = t.text; *p != '\0'; p++)
            lines += *p == '\n';
        CU_ASSERT_EQUAL(lines, 101);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.text, "F: 100 mistakes; further ones are not listed\n"));
    }
    free(yaml);
}

static void test_files_that_cannot_be_read(void)
{
    struct transcript t = {.file = "/nowhere/swagg.yaml"};
    struct config c;

    CU_ASSERT_EQUAL(config_load(&c, t.file, take_down, &t), -ENOENT);
    CU_ASSERT_STRING_EQUAL(t.text, "F: cannot be read: No such file or directory\n");
    t = (struct transcript){.file = "/"};
    CU_ASSERT_EQUAL(config_load(&c, t.file, take_down, &t), -EISDIR);
    CU_ASSERT_STRING_EQUAL(t.text, "F: cannot be read: Is a directory\n");
    t = (struct transcript){.file = "/dev/zero"};
    CU_ASSERT_EQUAL(config_load(&c, t.file, take_down, &t), -EFBIG);
    CU_ASSERT_STRING_EQUAL(t.text, "F: cannot be read: File too large\n");
}

static void test_defaults(void)
{
    const struct config c = good(PORT);

    CU_ASSERT_EQUAL(c.ports, 1);
    CU_ASSERT_STRING_EQUAL(c.port[0].name, "port0");
    CU_ASSERT_STRING_EQUAL(c.port[0].device, "net_af_packet0,iface=a");
    CU_ASSERT_FALSE(impair_active(&c.port[0].impair.rx) || impair_active(&c.port[0].impair.tx));
    CU_ASSERT_FALSE(c.has_mac || c.has_ip || c.has_placement);
    CU_ASSERT_EQUAL(c.mtu, 1500);
    CU_ASSERT_EQUAL(c.pool.slots_per_job, 1024);
    CU_ASSERT_EQUAL(c.pool.megabytes, 64);
    CU_ASSERT_TRUE(c.pool.delays);
    CU_ASSERT_EQUAL(c.limits.jobs, 16);
    CU_ASSERT_EQUAL(c.limits.jobs_per_host, 0);
    CU_ASSERT_EQUAL(c.limits.workers, 64);
    CU_ASSERT_EQUAL(c.timers.lost_after_ms, 5000);
    CU_ASSERT_EQUAL(c.timers.forming_s, 600);
    CU_ASSERT_EQUAL(c.timers.mac_age_s, 300);
    CU_ASSERT_EQUAL(c.memory.mode, CONFIG_MEMORY_AUTO);
    CU_ASSERT_EQUAL(c.memory.megabytes, 320);
    CU_ASSERT_EQUAL(c.idle.spin, 1000);
    CU_ASSERT_EQUAL(c.idle.max_sleep_us, 1000);
    CU_ASSERT_EQUAL(c.idle.until_due_us, 100000);
    CU_ASSERT_EQUAL(c.log_level, CONFIG_LOG_NOTICE);
    CU_ASSERT_EQUAL(c.seed, 1);
    CU_ASSERT_EQUAL(c.link_local, CONFIG_LINK_LOCAL_STP);
    CU_ASSERT(c.loops.find && c.loops.probe_s == 0 && c.loops.block_s == 60);
    for (enum config_storm_kind kind = 0; kind < CONFIG_STORM_KINDS; kind++)
        CU_ASSERT_EQUAL(c.port[0].storm.frames[kind], 0);
}

/* It shows several times that it is alive before a worker that is not heard counts as lost. */
static void test_sleeps_until_something_is_due_are_bounded(void)
{
    CU_ASSERT_EQUAL(good(PORT "timers: {lost_after_ms: 200}\n").idle.until_due_us, 25000);
    CU_ASSERT_EQUAL(good(PORT "timers: {lost_after_ms: 100}\nidle: {max_sleep_us: 70}\n").idle.until_due_us,
                    70);
}

static void test_every_key_arrives(void)
{
    static const uint8_t mac[6] = {0x02, 0, 0, 0xab, 0xCD, 0xef};
    const struct config c =
        good("ports:\n"
             "  - name: h0\n"
             "    device: \"net_af_packet0,iface=a,framesz=9216,blocksz=36864\"\n"
             "    impair:\n"
             "      rx: {drop: 0.01, drop_every: 2, duplicate: 0.02, duplicate_every: 3, corrupt: 0.04,\n"
             "           corrupt_every: 5}\n"
             "      tx: {reorder: 0.03, reorder_every: 4, reorder_by: 7, reorder_for_us: 900}\n"
             "  - {name: h1, device: \"0000:03:00.0,rx_pkt_burst=64\", storm: {broadcast: 1, multicast: 2,\n"
             "     unknown: 3}}\n"
             "switch: {mac: \"02:00:00:ab:CD:ef\", ip: 10.1.2.3/16, link_local: transparent}\n"
             "loops: {find: false, probe_s: 7, block_s: 8}\n"
             "lcores:\n"
             "  - {cpu: 3, rx: [h1, h0]}\n"
             "  - {tx: [all]}\n"
             "  - {cpu: 0, aggregate: [1, 0]}\n"
             "mtu: 9000\n"
             "pool: {slots_per_job: 1024, megabytes: 128, delays: false}\n"
             "limits: {jobs: 256, jobs_per_host: 32, workers: 2}\n"
             "timers: {lost_after_ms: 1000, forming_s: 3600, mac_age_s: 60}\n"
             "memory: {mode: no-huge, megabytes: 0x200}\n"
             "idle: {spin: 5, max_sleep_us: 0}\n"
             "log_level: debug\n"
             "seed: 18446744073709551615\n");
    const struct impair_config *rx = &c.port[0].impair.rx, *tx = &c.port[0].impair.tx;

    CU_ASSERT_EQUAL(c.ports, 2);
    CU_ASSERT_STRING_EQUAL(c.port[0].name, "h0");
    CU_ASSERT_STRING_EQUAL(c.port[1].device, "0000:03:00.0,rx_pkt_burst=64");
    CU_ASSERT_EQUAL(rx->rate[IMPAIR_DROP].probability, 0.01);
    CU_ASSERT_EQUAL(rx->rate[IMPAIR_DROP].every, 2);
    CU_ASSERT_EQUAL(rx->rate[IMPAIR_DUPLICATE].probability, 0.02);
    CU_ASSERT_EQUAL(rx->rate[IMPAIR_DUPLICATE].every, 3);
    CU_ASSERT_EQUAL(rx->rate[IMPAIR_CORRUPT].probability, 0.04);
    CU_ASSERT_EQUAL(rx->rate[IMPAIR_CORRUPT].every, 5);
    CU_ASSERT_EQUAL(tx->rate[IMPAIR_REORDER].probability, 0.03);
    CU_ASSERT_EQUAL(tx->rate[IMPAIR_REORDER].every, 4);
    CU_ASSERT_EQUAL(tx->hold_frames, 7);
    CU_ASSERT_EQUAL(tx->hold_for, 900);
    CU_ASSERT_TRUE(c.has_mac && memcmp(c.mac, mac, sizeof(mac)) == 0);
    CU_ASSERT_TRUE(c.has_ip && c.ip == htonl(0x0A010203) && c.prefix == 16);
    CU_ASSERT_EQUAL(c.port[1].storm.frames[CONFIG_STORM_BROADCAST], 1);
    CU_ASSERT_EQUAL(c.port[1].storm.frames[CONFIG_STORM_MULTICAST], 2);
    CU_ASSERT_EQUAL(c.port[1].storm.frames[CONFIG_STORM_UNKNOWN], 3);
    CU_ASSERT_EQUAL(c.link_local, CONFIG_LINK_LOCAL_TRANSPARENT);
    CU_ASSERT(!c.loops.find && c.loops.probe_s == 7 && c.loops.block_s == 8);
    CU_ASSERT_TRUE_FATAL(c.has_placement);
    CU_ASSERT_EQUAL(c.placement.lcores, 3);
    CU_ASSERT_EQUAL(c.placement.shards, 2);
    CU_ASSERT_EQUAL(c.placement.lcore[0].cpu, 3);
    CU_ASSERT_EQUAL(c.placement.lcore[0].rx[0], 3);
    CU_ASSERT_EQUAL(c.placement.lcore[1].cpu, PLACEMENT_ANY_CPU);
    CU_ASSERT_EQUAL(c.placement.lcore[1].tx[0], 3);
    CU_ASSERT_EQUAL(c.placement.lcore[2].cpu, 0);
    CU_ASSERT_EQUAL(c.placement.lcore[2].shards, 3);
    CU_ASSERT_EQUAL(c.mtu, 9000);
    CU_ASSERT_EQUAL(c.pool.slots_per_job, 1024);
    CU_ASSERT_EQUAL(c.pool.megabytes, 128);
    CU_ASSERT_EQUAL(c.limits.jobs, 256);
    CU_ASSERT_EQUAL(c.limits.workers, 2);
    CU_ASSERT_EQUAL(c.timers.lost_after_ms, 1000);
    CU_ASSERT_EQUAL(c.timers.forming_s, 3600);
    CU_ASSERT_EQUAL(c.limits.jobs_per_host, 32);
    CU_ASSERT_FALSE(c.pool.delays);
    CU_ASSERT_EQUAL(c.timers.mac_age_s, 60);
    CU_ASSERT_EQUAL(c.memory.mode, CONFIG_MEMORY_NO_HUGE);
    CU_ASSERT_EQUAL(c.memory.megabytes, 512);
    CU_ASSERT_EQUAL(c.idle.spin, 5);
    CU_ASSERT_EQUAL(c.idle.max_sleep_us, 0);
    CU_ASSERT_EQUAL(c.idle.until_due_us, 0);
    CU_ASSERT_EQUAL(c.log_level, CONFIG_LOG_DEBUG);
    CU_ASSERT_EQUAL(c.seed, UINT64_MAX);
}

static void test_a_host_addressed_job_has_defaults(void)
{
    const struct config c = good(
        SWITCH
        "hostagg:\n  - {host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 5000}, workers: [" WORKER_2
        ", {ip: 10.0.0.3, mac: \"02:00:00:00:00:03\", port: 7}]}\n"
        "  - {job: 7, host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 5000}, workers: [" WORKER_3
        "], name: big, slots: 8, elements: 100, type: float64, operation: max,\n"
        "     host_gets: sums}\n");
    struct hag_terms t;

    CU_ASSERT_EQUAL_FATAL(c.hostagg_jobs, 2);
    CU_ASSERT_STRING_EQUAL(c.hostagg[0].name, "hostagg[0]");
    CU_ASSERT_EQUAL(c.hostagg[0].number, 0);
    CU_ASSERT_EQUAL(c.hostagg[0].host.port, 5000);
    CU_ASSERT_EQUAL(c.hostagg[0].worker[0].port, 4000);
    CU_ASSERT_EQUAL(c.hostagg[0].worker[1].port, 7);
    CU_ASSERT_EQUAL(config_hostagg_members(&c.hostagg[0]), 3);
    CU_ASSERT(hag_terms_parse(&t, &c.hostagg[0].terms));
    CU_ASSERT(t.host == HAG_HOST_HEARS && t.slots == 64 && t.chunk_bytes == 365 * 4);
    CU_ASSERT_EQUAL(t.code, agg_code(AGG_F32, AGG_SUM));
    CU_ASSERT_EQUAL(c.hostagg[1].number, 7);
    CU_ASSERT(hag_terms_parse(&t, &c.hostagg[1].terms));
    CU_ASSERT(t.host == HAG_HOST_GETS_SUMS && t.slots == 8 && t.chunk_bytes == 800);
    CU_ASSERT_EQUAL(t.code, agg_code(AGG_F64, AGG_MAX));
}

static void test_vlans_are_numbered_from_those_with_an_address_on(void)
{
    const struct config c =
        good("ports:\n"
             "  - {name: a, device: kernel:a, vlan: 7}\n"
             "  - {name: b, device: kernel:b, vlan: 8, trunk: [7, 30]}\n"
             "switch: {vlans: [{vlan: 30, ip: 10.0.30.1/24}, {vlan: 7, ip: 10.0.7.1/16}]}\n"
             "static:\n"
             "  - {workers: [" WORKER_2 "], vlan: 7}\n"
             "  - {workers: [" WORKER_2 "]}\n");

    CU_ASSERT_EQUAL_FATAL(c.vlans, 3);
    CU_ASSERT(c.vlan[0].id == 30 && c.vlan[0].ip == htonl(0x0A001E01) && c.vlan[0].prefix == 24);
    CU_ASSERT(c.vlan[1].id == 7 && c.vlan[1].ip == htonl(0x0A000701) && c.vlan[1].prefix == 16);
    CU_ASSERT(c.vlan[2].id == 8 && c.vlan[2].ip == 0);
    CU_ASSERT(c.has_ip && c.ip == c.vlan[0].ip && c.prefix == 24);
    CU_ASSERT(c.port[0].vlan == 7 && c.port[0].trunk_count == 0);
    CU_ASSERT(c.port[1].vlan == 8 && c.port[1].trunk_count == 2 && c.port[1].trunk[1] == 30);
    CU_ASSERT(c.static_job[0].network == 1 && c.static_job[1].network == 0);
}

static void test_a_job_of_passing_frames_has_defaults(void)
{
    const struct config c = good(
        SWITCH "clone:\n  - {host: \"02:00:00:00:00:09\", workers: [\"02:00:00:00:00:02\"]}\n"
               "  - {host: \"02:00:00:00:00:09\", ether_type: 0x88b6, workers: [\"02:00:00:00:00:03\"],\n"
               "     name: big, slots: 8, sequence_at: 20, byte_order: little, elements_at: 40,\n"
               "     elements: 100, type: int16, operation: min, match_at: 16, match: 0aFF,\n"
               "     missing_after_ms: 7, quiet_ms: 300,\n"
               "     collector: {ip: 10.0.0.8, mac: \"02:00:00:00:00:08\", port: 6000}}\n");
    struct cln_terms t;

    CU_ASSERT_EQUAL_FATAL(c.clone_jobs, 2);
    CU_ASSERT_STRING_EQUAL(c.clone[0].name, "clone[0]");
    CU_ASSERT_EQUAL(c.clone[0].ether_type, 0x88b5);
    CU_ASSERT_EQUAL(c.clone[0].quiet_ms, 5000);
    CU_ASSERT_EQUAL(c.clone[0].workers, 1);
    CU_ASSERT_EQUAL(c.clone[0].worker[0][5], 2);
    CU_ASSERT(cln_terms_parse(&t, &c.clone[0].terms));
    CU_ASSERT(!t.collector && t.slots == 1024 && t.chunk_bytes == 128 && t.missing_after_ms == 100);
    CU_ASSERT(t.layout.sequence_at == 14 && t.layout.elements_at == 64 && t.layout.match_bytes == 0);
    CU_ASSERT_EQUAL(t.code, agg_code(AGG_F32, AGG_SUM));
    CU_ASSERT(cln_terms_parse(&t, &c.clone[1].terms));
    CU_ASSERT(t.collector && t.slots == 8 && t.chunk_bytes == 200 && t.missing_after_ms == 7);
    CU_ASSERT(t.layout.sequence_at == 20 && t.layout.little && t.layout.elements_at == 40);
    CU_ASSERT(t.layout.match_at == 16 && t.layout.match_bytes == 2 && t.layout.match[1] == 0xff);
    CU_ASSERT_EQUAL(t.code, agg_code(AGG_I16, AGG_MIN));
    CU_ASSERT_EQUAL(c.clone[1].quiet_ms, 300);
    CU_ASSERT_EQUAL(c.clone[1].collector.port, 6000);
}

static void test_queues_are_dealt_by_name(void)
{
    struct config c = good("ports:\n  - {device: net_tap0, name: a, rx_queues: 3, tx_queues: 2}\n"
                           "  - {device: net_tap1, name: b:7}\n"
                           "lcores:\n  - {rx: [all:0, a:2], tx: [a:0, b:7]}\n  - {rx: [a:1], tx: [a:1]}\n");
    const struct placement_lcore *first = &c.placement.lcore[0], *second = &c.placement.lcore[1];

    CU_ASSERT_EQUAL(first->rx[0], 3);
    CU_ASSERT_EQUAL(first->rx[1], 0);
    CU_ASSERT_EQUAL(first->rx[2], 1);
    CU_ASSERT_EQUAL(first->tx[0], 3);
    CU_ASSERT_EQUAL(second->rx[1], 1);
    CU_ASSERT_EQUAL(second->tx[1], 1);
}

static void test_static_jobs(void)
{
    struct sml_terms terms;
    const struct config c = good(
        SWITCH "timers: {lost_after_ms: 7000}\nstatic:\n  - {workers: [" WORKER_2 ", " WORKER_3 "]}\n"
               "  - {name: b, workers: [{ip: 10.0.0.2, mac: \"02:00:00:00:00:02\", port: 5000}], threads: 3, "
               "slots: 10, elements: 512, format: fp16, mode: ordered, udp_checksum: true, quiet_ms: 100}\n");
    const struct config_static *s = c.static_job;

    CU_ASSERT_EQUAL_FATAL(c.static_jobs, 2);
    CU_ASSERT_STRING_EQUAL(s[0].name, "static[0]");
    CU_ASSERT(s[0].workers == 2 && s[0].worker[1].port == 4000 && s[0].worker[1].mac[5] == 3);
    CU_ASSERT(s[0].worker[0].ip == inet_addr("10.0.0.2") && s[0].quiet_ms == 7000 && !s[0].udp_checksum);
    CU_ASSERT_FATAL(sml_terms_parse(&terms, &s[0].terms));
    CU_ASSERT(terms.format == SML_FORMAT_INT32 && terms.mode == SML_ON_ARRIVAL && terms.labelled);
    CU_ASSERT(terms.slots == 128 && terms.threads == 1 && terms.chunk_bytes == 1024 && terms.plain);
    CU_ASSERT(s[1].udp_checksum && s[1].quiet_ms == 100 && s[1].worker[0].port == 5000);
    CU_ASSERT_FATAL(sml_terms_parse(&terms, &s[1].terms));
    CU_ASSERT(terms.format == SML_FORMAT_FP16 && terms.mode == SML_ORDERED);
    CU_ASSERT(terms.slots == 30 && terms.threads == 3 && terms.chunk_bytes == 1024);
}

static void test_replayed_jobs(void)
{
    static const uint8_t first[6] = {2, 0, 0, 0, 1, 1}, other[6] = {2, 3, 4, 5, 6, 7};
    const struct config c =
        good(PORT "switch: {ip: 10.0.0.1}\n"
                  "replay:\n"
                  "  - {}\n"
                  "  - {workers: 9, slots: 16, phases: 32, chunk_bytes: 1024, format: fp16,\n"
                  "     ordered: true, worker_mac: \"02:03:04:05:06:07\", worker_ip: 10.0.0.9,\n"
                  "     worker_port: 7, one_host: true}\n");
    const struct config_replay *r = c.replay;

    CU_ASSERT_EQUAL_FATAL(c.replays, 2);
    CU_ASSERT(r[0].workers == 2 && r[0].slots == 64 && r[0].phases == 4 && r[0].chunk_bytes == 1460);
    CU_ASSERT(r[0].format == SML_FORMAT_TYPED && !r[0].ordered && !r[0].one_host);
    CU_ASSERT(memcmp(r[0].worker_mac, first, 6) == 0 && r[0].worker_ip == htonl(0x0A4D0001) &&
              r[0].worker_port == 30000);
    CU_ASSERT(r[1].workers == 9 && r[1].slots == 16 && r[1].phases == 32 && r[1].chunk_bytes == 1024);
    CU_ASSERT(r[1].format == SML_FORMAT_FP16 && r[1].ordered && r[1].one_host);
    CU_ASSERT(memcmp(r[1].worker_mac, other, 6) == 0 && r[1].worker_ip == htonl(0x0A000009) &&
              r[1].worker_port == 7);
}

static void test_the_socket_for_operators(void)
{
    const struct config fallback = good(PORT), none = good(PORT "control: {path: none}\n");
    const struct config c = good(PORT "control: {path: /x/y.ctl, mode: 0600, group: adm}\n");

    CU_ASSERT(!fallback.control.off && fallback.control.mode == 0660);
    CU_ASSERT(fallback.control.path[0] == '\0' && fallback.control.group[0] == '\0');
    CU_ASSERT(none.control.off);
    CU_ASSERT(!c.control.off && c.control.mode == 0600);
    CU_ASSERT_STRING_EQUAL(c.control.path, "/x/y.ctl");
    CU_ASSERT_STRING_EQUAL(c.control.group, "adm");
}

static int tenant(const struct config *c, const char *ip, const char *job)
{
    return config_tenant_of(c, inet_addr(ip), -1, job);
}

static void test_which_jobs_go_on_to_which_parent(void)
{
    const struct config *root = kept(SWITCH);
    const struct config *all = kept(PORT "switch: {ip: 10.0.0.1}\nuplink: [{parent: 10.9.0.1}]\n");
    const struct config *some = kept(PORT "switch: {ip: 10.0.0.1/24}\ntenants:\n"
                                          "  - {name: a, addresses: [10.0.0.0/24]}\n"
                                          "  - {name: b, addresses: [10.0.1.0/24]}\n"
                                          "uplink:\n"
                                          "  - {parent: 10.0.0.9, tenants: [b]}\n"
                                          "  - {parent: 10.9.0.1, via: 10.0.0.2, jobs: [big-*, all]}\n");

    const struct config *apart =
        kept("ports: [{device: kernel:a, trunk: [10, 20]}]\n"
             "switch: {vlans: [{vlan: 10, ip: 10.0.0.1/24}, {vlan: 20, ip: 10.0.1.1/24}]}\n"
             "uplink: [{parent: 10.0.1.9, vlan: 20}]\n");

    CU_ASSERT(config_uplink_of(apart, 0, 0, "x") == -1 && config_uplink_of(apart, 1, 0, "x") == 0);
    CU_ASSERT_EQUAL(config_uplink_of(root, 0, 0, "x"), -1);
    CU_ASSERT_EQUAL(config_uplink_of(all, 0, 0, "x"), 0);
    CU_ASSERT(all->uplink[0].parent == inet_addr("10.9.0.1") && all->uplink[0].via == 0);
    CU_ASSERT_EQUAL(config_uplink_of(some, 0, 0, "x"), -1);
    CU_ASSERT_EQUAL(config_uplink_of(some, 0, 0, "big-1"), 1);
    CU_ASSERT_EQUAL(config_uplink_of(some, 0, 0, "all"), 1);
    CU_ASSERT_EQUAL(config_uplink_of(some, 0, 1, "all"), 0);
    CU_ASSERT_EQUAL(some->uplink[1].via, inet_addr("10.0.0.2"));
}

static void test_which_tenant_may_join_which_jobs(void)
{
    const struct config c = good(PORT "switch: {ip: 10.0.0.254}\n"
                                      "tenants:\n"
                                      "  - name: lab\n"
                                      "    addresses: [10.0.1.0/24, 10.0.3.1]\n"
                                      "    jobs: [\"train-*\", tune]\n"
                                      "  - {name: one, addresses: [10.0.2.7], weight: 3,\n"
                                      "     quota: {jobs: 1, slots: 2, megabytes: 3, kept_frames: 4}}\n"
                                      "  - {name: keyed, key_file: /etc/k, jobs: [\"try-[ab]\"]}\n");
    const struct config nobody = good(PORT "switch: {ip: 10.0.0.254}\ntenants: []\n");
    const struct config everybody = good(PORT "switch: {ip: 10.0.0.254}\n");

    CU_ASSERT(tenant(&c, "10.0.1.0", "train-") == 0 && tenant(&c, "10.0.1.255", "train-7/x") == 0);
    CU_ASSERT(tenant(&c, "10.0.3.1", "tune") == 0 && tenant(&c, "10.0.3.2", "tune") == -1);
    CU_ASSERT(tenant(&c, "10.0.2.1", "train-7") == -1 && tenant(&c, "10.0.1.1", "my-train-7") == -1);
    CU_ASSERT(tenant(&c, "10.0.2.7", "train-7") == 1 && tenant(&c, "10.0.2.7", "x") == 1);
    CU_ASSERT(tenant(&c, "10.0.2.8", "x") == -1);
    CU_ASSERT(tenant(&c, "10.0.2.7", "try-c") == 1 && tenant(&c, "10.0.2.7", "try-a") == -1);
    CU_ASSERT(config_key_owner(&c, "try-a") == 2 && config_key_owner(&c, "try-c") == -1);
    CU_ASSERT(config_tenant_of(&c, inet_addr("192.168.0.1"), 2, "try-b") == 2);
    CU_ASSERT(config_tenant_of(&c, inet_addr("192.168.0.1"), 2, "try-c") == -1);
    CU_ASSERT(config_tenant_of(&c, inet_addr("10.0.1.1"), 2, "tune") == -1);
    CU_ASSERT_STRING_EQUAL(c.tenant[2].key_file, "/etc/k");
    CU_ASSERT(c.tenant[1].weight == 3 && c.tenant[1].quota.jobs == 1 && c.tenant[1].quota.slots == 2 &&
              c.tenant[1].quota.megabytes == 3 && c.tenant[1].quota.kept_frames == 4);
    CU_ASSERT_EQUAL(tenant(&nobody, "10.0.1.1", "x"), -1);
    CU_ASSERT_EQUAL(tenant(&everybody, "10.0.1.1", "x"), 0);
    CU_ASSERT_STRING_EQUAL(everybody.tenant[0].name, "everybody");
    CU_ASSERT(everybody.tenant[0].weight == 1 && everybody.tenant[0].quota.slots == 0);
}

static void test_an_address_without_a_prefix(void)
{
    const struct config c = good(PORT "switch: {ip: 192.168.0.255}\n");

    CU_ASSERT_TRUE(c.has_ip);
    CU_ASSERT_EQUAL(c.prefix, 32);
    CU_ASSERT_EQUAL(good(PORT "switch: {ip: 10.0.0.0/31}\n").prefix, 31);
}

static void test_anchors_are_shared_text(void)
{
    const struct config c = good("ports:\n"
                                 "  - device: net_null0\n"
                                 "    impair: &wan {rx: {drop: 0.25}}\n"
                                 "  - device: net_null1\n"
                                 "    impair: *wan\n");

    CU_ASSERT_EQUAL(c.port[1].impair.rx.rate[IMPAIR_DROP].probability, 0.25);
}

static void test_the_examples_are_good(void)
{
    glob_t examples;

    CU_ASSERT_EQUAL_FATAL(glob(CONF_DIRECTORY "/*.yaml", 0, NULL, &examples), 0);
    CU_ASSERT(examples.gl_pathc >= 6);
    for (size_t i = 0; i < examples.gl_pathc; i++) {
        struct transcript t = {.file = examples.gl_pathv[i]};
        struct config c;

        const bool is_server = strstr(t.file, "/server.yaml") != NULL;

        CU_ASSERT_EQUAL((is_server ? config_load_server : config_load)(&c, t.file, take_down, &t), 0);
        CU_ASSERT_STRING_EQUAL(t.text, "");
        if (t.text[0] != '\0')
            printf("\n%s: %s", t.file, t.text);
    }
    globfree(&examples);
}

static void test_a_switchs_file_is_no_servers(void)
{
    struct transcript t = {.file = CONF_DIRECTORY "/four-hosts.yaml"};
    struct config c;

    CU_ASSERT_EQUAL(config_load_server(&c, t.file, take_down, &t), -EINVAL);
    CU_ASSERT_STRING_EQUAL(t.text,
                           "F:5: ports: this is the file of a switch: swagg takes it, or swagg-tofino. "
                           "A server has `server`\n");
}

/* As many of everything as there may be, and one more. */
static void test_most_ports(void)
{
    char yaml[64 * SWAGG_MAX_PORTS + 64] = "ports:\n";
    struct transcript t;
    struct config c;

    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        snprintf(yaml + strlen(yaml), sizeof(yaml) - strlen(yaml), "  - device: net_null%u\n", p);
    c = good(yaml);
    CU_ASSERT_EQUAL(c.ports, SWAGG_MAX_PORTS);
    CU_ASSERT_STRING_EQUAL(c.port[63].name, "port63");
    strcat(yaml, "  - device: net_null64\n");
    CU_ASSERT_EQUAL(load(&c, yaml, strlen(yaml), &t), -EINVAL);
    CU_ASSERT_STRING_EQUAL(t.text, "F:1: ports: has 65 items; 64 at most are possible\n");
}

/* Cut off or with a byte changed anywhere, a file is refused or accepted, but never harms. */
static void test_damaged_files_do_no_harm(void)
{
    static const char yaml[] =
        PORTS "    impair: &i {rx: {drop: 0.1}}\nlcores: [{rx: [all], tx: [b, port0], cpu: 1}]\n"
              "switch: {ip: 10.0.0.1/8, mac: '02:00:00:00:00:01'}\nseed: 7\n";
    static const char bytes[] = "\0\t\n\"&'*,-0:?[]{}|\xFF";
    char damaged[sizeof(yaml)];
    struct transcript t;
    struct config c;

    for (size_t i = 0; i < sizeof(yaml) - 1; i++) {
        load(&c, yaml, i, &t);
        for (size_t b = 0; b < sizeof(bytes) - 1; b++) {
            memcpy(damaged, yaml, sizeof(yaml));
            damaged[i] = bytes[b];
            load(&c, damaged, sizeof(yaml) - 1, &t);
        }
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_the_socket_for_operators),
        UNIT_TEST(test_bad_configurations_say_what_is_wrong),
        UNIT_TEST(test_a_hundred_mistakes_are_enough),
        UNIT_TEST(test_files_that_cannot_be_read),
        UNIT_TEST(test_defaults),
        UNIT_TEST(test_sleeps_until_something_is_due_are_bounded),
        UNIT_TEST(test_every_key_arrives),
        UNIT_TEST(test_a_host_addressed_job_has_defaults),
        UNIT_TEST(test_vlans_are_numbered_from_those_with_an_address_on),
        UNIT_TEST(test_a_job_of_passing_frames_has_defaults),
        UNIT_TEST(test_queues_are_dealt_by_name),
        UNIT_TEST(test_static_jobs),
        UNIT_TEST(test_replayed_jobs),
        UNIT_TEST(test_which_tenant_may_join_which_jobs),
        UNIT_TEST(test_which_jobs_go_on_to_which_parent),
        UNIT_TEST(test_an_address_without_a_prefix),
        UNIT_TEST(test_anchors_are_shared_text),
        UNIT_TEST(test_the_examples_are_good),
        UNIT_TEST(test_a_switchs_file_is_no_servers),
        UNIT_TEST(test_most_ports),
        UNIT_TEST(test_damaged_files_do_no_harm),
        CU_TEST_INFO_NULL,
    };

    return unit_main("config", tests);
}

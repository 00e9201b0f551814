/* Configurations that are refused: every message, word for word. */
#include "config_rig.h"

#include <errno.h>
#include <sys/stat.h>

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
    {PORT "idle:\n  spin: 3\n  maxsleep_us: 3\n",
     "F:5: idle.maxsleep_us: unknown key; did you mean \"max_sleep_us\"?\n"},
    {PORT "    qinq: 3\n", "F:3: ports[0].qinq: unknown key; known here: name, device, rx_queues, tx_queues, "
                           "impair, storm, ecn_above, vlan, trunk\n"},
    {PORT "    vlan: 4095\n    trunk: [0, 7, 7, 4095]\n",
     "F:3: ports[0].vlan: 4095 is no VLAN (1..4094)\n"
     "F:4: ports[0].trunk[0]: 0 is no VLAN (1..4094)\n"
     "F:4: ports[0].trunk[3]: 4095 is no VLAN (1..4094)\n"
     "F:4: ports[0].trunk[2]: VLAN 7 is there twice\n"
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
     "F:4: switch.vlans[2].ip: 10.0.0.0/24 is the network's own address; choose a host's\n"
     "F:4: switch.vlans[1].vlan: VLAN 3 is there twice\n"
     "F:4: switch.vlans[2].vlan: no port carries VLAN 4 (ports.vlan, ports.trunk)\n"},
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
    {PORT "idle:\nmtu: 1500\n", "F:3: idle: has no value; expected " A_GROUP ", indented further than it\n"},
    {PORT "mtu: [1500]\n", "F:3: mtu: expected a single value\n"},
    {PORT "mtu: many\n", "F:3: mtu: \"many\" " NUMBER_EXPECTED},
    {PORT "mtu: 01500\n", "F:3: mtu: 01500: write the number without leading zeros\n"},
    {PORT "mtu: 5000000000\n", "F:3: mtu: 5000000000 is too large\n"},
    {PORT "switch: {mac: \"02:\\0\"}\n", "F:3: switch.mac: has a zero byte in it\n"},
    {"ports:\n  - device: \"\"\n", "F:2: ports[0].device: has no value\n"},
    /* ranges */
    {PORT "switch: {link_local: transparent}\n",
     "F:3: switch.link_local: transparent is for a switch with two ports, which stands for a cable; this one "
     "has 1: write stp, or drop\n"},
    {PORT "timers: {late_after_ms: 5000, late_ends_s: 5}\n",
     "F:3: timers.late_ends_s: 5 s is not longer than timers.late_after_ms, 5000: a late worker is named "
     "first, "
     "and ends its job later\n"},
    /* ports */
    {"ports:\n  - device: eth0\n", "F:2: ports[0].device: \"eth0\" is neither a DPDK device (net_...) nor a "
                                   "PCI address (0000:03:00.0); for a kernel "
                                   "interface write kernel:eth0\n"},
    {"ports:\n  - device: 0000:03:00\n", "F:2: ports[0].device: \"0000:03:00\" is neither a DPDK device "
                                         "(net_...) nor a PCI address (0000:03:00.0); for a kernel "
                                         "interface write kernel:00\n"},
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
    {"ports:\n  - device: 0000:3a:00.0,x=1\n  - device: pci:0000:3A:00.0\n  - device: 3A:00.0,y=2\n"
     "  - device: 0:3A:0.0\n  - device: 3a:00.1\n  - device: 0001:3a:00.0\n",
     "F:3: ports[1].device: \"0000:3a:00.0\" is the device of ports[0] already\n"
     "F:4: ports[2].device: \"0000:3a:00.0\" is the device of ports[0] already\n"
     "F:4: ports[2].device: \"0000:3a:00.0\" is the device of ports[1] already\n"
     "F:5: ports[3].device: \"0000:3a:00.0\" is the device of ports[0] already\n"
     "F:5: ports[3].device: \"0000:3a:00.0\" is the device of ports[1] already\n"
     "F:5: ports[3].device: \"0000:3a:00.0\" is the device of ports[2] already\n"},
    {PORTS "  - name: b\n    device: net_null2\n",
     "F:5: ports[2].name: \"b\" is the name of ports[1] already\n"},
    {PORT "    name: port1\n  - device: net_null2\n",
     "F:4: ports[1].name: \"port1\" is the name of ports[0] already\n"},
    {PORT "    name: all\n",
     "F:3: ports[0].name: \"all\" means every port in the list of lcores; choose another name\n"},
    /* impairments */
    {PORT "    impair: {tx: {reorder: 0.1, reorder_by: 0, reorder_for_us: 60000000}}\n",
     "F:3: ports[0].impair.tx.reorder_by: 0 frames is out of range (1..1000)\n"
     "F:3: ports[0].impair.tx.reorder_for_us: 60000000 microseconds is out of range (1..10000000)\n"},
    /* the switch */
    {PORT "switch: {mac: 02-00-00-00-00-01}\n",
     "F:3: switch.mac: \"02-00-00-00-00-01\" is not a MAC address (\"02:00:00:00:00:01\")\n"},
    {PORT "switch: {mac: \"02:00:00:00:00:-1\"}\n",
     "F:3: switch.mac: \"02:00:00:00:00:-1\" is not a MAC address (\"02:00:00:00:00:01\")\n"},
    {PORT "switch: {mac: \"03:00:00:00:00:01\"}\n",
     "F:3: switch.mac: 03:00:00:00:00:01 is a group address; the first byte must be even\n"},
    {PORT "switch: {mac: \"0:0:0:0:0:0\"}\n",
     "F:3: switch.mac: 0:0:0:0:0:0 is no station's address; \"02:00:00:00:00:01\" would do\n"},
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
     "F:3: control.path: \"ctl\" is neither an absolute path, nor none\n"
     "F:3: control.mode: \"0888\" is no mode of a file: three octal digits, such as \"660\"\n"
     "F:3: control.group: has no value\n"},
    {PORT "switch: {ip: 10.0.0.1}\ntenants: [{name: a/b, addresses: [10.0.0.1]}]\n",
     "F:4: tenants[0].name: \"a/b\" has a / in it, which separates tenants from their jobs\n"},
    /* replayed jobs */
    {PORT "replay: [{}]\n", "F:3: replay: needs switch.ip, the address that the packets are sent to\n"},
    {PORT "switch: {ip: 10.0.0.1}\nreplay: [{slots: 16384}, {slots: 16384}]\n",
     "F:4: replay[0]: 95.0 MB were asked for, 64.0 MB of the 64.0 MB of the switch are free "
     "(pool.megabytes)\n"},
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
    {PORT "switch: {ip: 10.0.0.1/24}\nuplink:\n  - parent: 10.0.0.255\n"
          "  - {parent: 10.0.1.255, via: 10.0.0.0}\n",
     "F:5: uplink[0].parent: 10.0.0.255/24 is the network's broadcast address; choose a host's\n"
     "F:6: uplink[1].via: 10.0.0.0/24 is the network's own address; choose a host's\n"},
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
     "F:5: uplink[0].jobs[0]: is longer than 47 characters\n"
     "F:5: uplink[0].tenants[1]: no tenant is called \"b\"\n"},
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
     "F:5: replay[0].worker_mac: \"x\" is not a MAC address (\"02:00:00:00:00:01\")\n"
     "F:5: replay[0].worker_ip: \"y\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)\n"},
    /* static jobs */
    {PORT "static: [{workers: [{ip: 10.0.0.2, mac: \"02:00:00:00:00:02\"}]}]\n",
     "F:3: static: needs switch.ip, the address that the packets are sent to\n"},
    {SWITCH "static:\n  - workers: []\n  - {name: x}\n",
     "F:5: static[0].workers: is empty; give it at least 1 item\n"
     "F:6: static[1].workers: is missing\n"},
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
     "F:8: static[0].workers[1].ip: 127.0.0.1/32 is not an address that a host can have\n"
     "F:8: static[0].workers[1].mac: \"x\" is not a MAC address (\"02:00:00:00:00:01\")\n"
     "F:9: static[0].workers[2].ip: \"10.0.0\" is not an IPv4 address (10.0.0.1 or 10.0.0.1/24)\n"
     "F:10: static[0].workers[3].ip: is missing\n"
     "F:7: static[0].workers[0].mac: is switch.mac, the switch's own\n"
     "F:7: static[0].workers[0].ip: is switch.ip, the switch's own address\n"
     "F:9: static[0].workers[2].port: 65535 is out of range (1..65534)\n"
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
     "F:5: replay[0]: 95.0 MB were asked for, 28.0 MB of the 64.0 MB of the switch are free "
     "(pool.megabytes): static[0] holds 36.0 MB\n"},
    {SWITCH "pool: {slots: 128}\nstatic:\n  - {workers: [" WORKER_2 "], slots: 100}\n"
            "  - {name: second, workers: [" WORKER_3 "], slots: 50}\n",
     "F:7: static[1]: 50 slots were asked for, 28 of the 128 of the switch are free (pool.slots): static[0] "
     "holds "
     "100\n"},
    {SWITCH "tenants: [{name: a, addresses: [10.0.0.1], quota: {slots: 128}}]\nstatic:\n"
            "  - {workers: [" WORKER_2 "], tenant: a, slots: 100}\n  - {workers: [" WORKER_3 "]}\n"
            "hostagg: [{tenant: a, slots: 32, host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 5000}, "
            "workers: [" WORKER_2 "]}]\n",
     "F:8: hostagg[0]: 32 slots were asked for, 28 of the 128 of tenant a are free (tenants[0].quota.slots): "
     "static[0] holds 100\n"},
    {SWITCH
     "static: [{name: x, workers: [" WORKER_2 "]}]\n"
     "hostagg: [{name: x, host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 5000}, workers: [" WORKER_3
     "]}]\n",
     "F:5: hostagg[0].name: \"x\" is the name of static[0] already\n"},
    /* RDMA clients */
    {PORT "roce: [{workers: [" RDMA_2("0x11-0x14") "]}]\n",
     "F:3: roce: needs switch.ip, the address that the packets are sent to\n"},
    {SWITCH "mtu: 1000\nroce:\n  - name: x\n    workers:\n      - " RDMA_2("17-20") "\n      - " RDMA_2(
         "1, 2, 9-10") "\n"
                       "      - {ip: 10.0.0.3, mac: \"02:00:00:00:00:03\", rkey: 7, queue_pairs: [9-11]}\n"
                       "  - {name: x, message_elements: 64, workers: [" RDMA_2("1-256") "]}\n",
     "F:6: roce[0].packet_elements: 256 make packets of 1088 bytes, and mtu is 1000: raise it, or have fewer "
     "elements\n"
     "F:9: roce[0].workers[1]: 10.0.0.2 is roce[0].workers[0]'s, too\n"
     "F:10: roce[0].workers[2].queue_pairs: are 3, and workers[0] has 4\n"
     "F:11: roce[1].name: \"x\" is the name of roce[0] already\n"
     "F:11: roce[1].message_elements: 64 are not 1 to 64 packets of 256\n"
     "F:11: roce[1].packet_elements: 256 make packets of 1088 bytes, and mtu is 1000: raise it, or have "
     "fewer "
     "elements\n"
     "F:11: roce[1].workers[0]: 10.0.0.2 is roce[0].workers[0]'s, too\n"},
    {SWITCH "roce:\n  - {workers: [" RDMA_2("1-257") "]}\n  - {workers: [" RDMA_2(
         "0x1000000") "]}\n"
                      "  - {workers: [" RDMA_2("9-8") "]}\n  - {workers: [" RDMA_2("1 2") "]}\n",
     "F:6: roce[1].workers[0].queue_pairs[0]: \"0x1000000\" is no number or range below 16777216, like "
     "0x11-0x50 or 99\n"
     "F:7: roce[2].workers[0].queue_pairs[0]: \"9-8\" is no number or range below 16777216, like 0x11-0x50 "
     "or 99\n"
     "F:8: roce[3].workers[0].queue_pairs[0]: \"1 2\" is no number or range below 16777216, like 0x11-0x50 "
     "or 99\n"
     "F:5: roce[0].workers[0].queue_pairs: are 257, and there are at most 256\n"},
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
     "F:12: hostagg[1].workers[1].mac: \"x\" is not a MAC address (\"02:00:00:00:00:01\")\n"
     "F:15: hostagg[1].slots: 0 is out of range (1..16384)\n"
     "F:5: hostagg[0].host.port: is missing: the UDP port that the workers send to\n"
     "F:6: hostagg[0].workers[1]: UDP port 4000 of 10.0.0.2 is workers[0]'s, too: each needs one of its own\n"
     "F:9: hostagg[0].type: \"float\" is no type of elements, as float32, bfloat16 and int64 are\n"
     "F:14: hostagg[1].job: 0 is the number of hostagg[0], too\n"
     "F:11: hostagg[1].host.port: 48864 is one of the switch's own ports, 48862 to 48883\n"
     "F:12: hostagg[1].workers[1].ip: is switch.ip, the switch's own address\n"
     "F:13: hostagg[1].operation: there is no band of float32\n"},
    {SWITCH "hostagg:\n  - {name: x, elements: 366, workers: [" WORKER_2
            "], host: {ip: 10.0.0.2, mac: \"02:00:00:00:00:02\", port: 4000}}\n",
     "F:5: hostagg[0].workers[0]: has the host's address and port\n"
     "F:5: hostagg[0].elements: 366 make packets of 1502 bytes, and mtu is 1500: raise it, or have fewer "
     "elements\n"},
    {SWITCH "hostagg: [{host: {ip: 10.0.0.9, mac: \"02:00:00:00:00:09\", port: 48847}, workers: [" WORKER_2
            "]}]\n",
     "F:4: hostagg[0].host.port: 48847 is one of ATP's ports, 48832 to 48847\n"},
    /* jobs of passing frames */
    {SWITCH
     "mtu: 9600\nclone: [{host: \"02:00:00:00:00:09\", workers: [\"02:00:00:00:00:02\"], ether_type: 2048, "
     "elements: 2300, elements_at: 20, sequence_at: 16}]\n",
     "F:2: ports[0].device: its ring holds frames of 2048 bytes, too little for mtu 9600: append "
     ",framesz=10240,blocksz=40960\n"
     "F:5: clone[0].elements: 2300 have 9200 bytes, more than the 9000 that a chunk may have\n"},
    {SWITCH "clone:\n  - host: x\n    workers: [\"02:00:00:00:00:02\", \"02:00:00:00:00:02\", "
            "\"02:00:00:00:01:fe\"]\n    slots: 3\n    ether_type: 5\n    match: abc\n    elements_at: 1500\n"
            "    sequence_at: 3\n    type: x\n",
     "F:5: clone[0].host: \"x\" is not a MAC address (\"02:00:00:00:00:01\")\n"
     "F:7: clone[0].slots: 3 is not a power of two (512, 1024, ...)\n"
     "F:8: clone[0].ether_type: 5 is out of range (1536..65535)\n"
     "F:9: clone[0].match: \"abc\" is not 1 to 8 bytes in hexadecimal digits, two each\n"
     "F:11: clone[0].sequence_at: 3 is out of range (14..9000)\n"
     "F:6: clone[0].workers[1]: 02:00:00:00:00:02 is clone[0].workers[0], too\n"
     "F:6: clone[0].workers[2]: is switch.mac, the switch's own\n"
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
     "F:3: ports[0].impair.rx.drop: 2 is not a probability (0..1)\n"
     "F:4: log_level: \"loud\" is none of error, warning, notice, info, debug\n"
     "F:5: switch.ip: 10.0.0.0/24 is the network's own address; choose a host's\n"
     "F:6: pool.slots_per_job: 3 is not a power of two (512, 1024, ...)\n"
     "F:7: limits.jobs: 300 is out of range (1..256)\n"
     "F:8: lcores: none aggregates, but switch.ip is set: add \"aggregate: [0]\" to one\n"
     "F:8: lcores: none sends to port \"port0\"; add it to the tx list of one\n"},
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
     "pool, limits, tenants, uplink, timers, memory, idle, loops, control, metrics, state, atp, log_level, "
     "privileges, seed, "
     "static, "
     "hostagg, "
     "clone, roce, "
     "replay\n"},
};

TEST(bad_configurations_say_what_is_wrong)
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

/* The parser alone works on it for minutes. */
TEST(a_file_of_brackets_takes_no_time)
{
    enum { BRACKETS = 900000 };
    char *yaml = malloc(BRACKETS);
    struct transcript t;
    struct config c;

    CU_ASSERT_PTR_NOT_NULL_FATAL(yaml);
    memset(yaml, '[', BRACKETS);
    CU_ASSERT_EQUAL(load(&c, yaml, BRACKETS, &t), -EINVAL);
    CU_ASSERT_STRING_EQUAL(t.text, "F:1: groups within groups, more than 32 deep: no configuration is\n");
    free(yaml);
}

/* A file of nothing but mistakes, and of one key again and again: the list ends, and so does the work. */
TEST(a_hundred_mistakes_are_enough)
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

TEST(files_that_cannot_be_read)
{
    struct transcript t = {.file = "/nowhere/swagg.yaml"};
    struct config c;

    CU_ASSERT_EQUAL(config_load(&c, t.file, take_down, &t), -ENOENT);
    CU_ASSERT_STRING_EQUAL(t.text, "F: cannot be read: No such file or directory\n");
    t = (struct transcript){.file = "/"};
    CU_ASSERT_EQUAL(config_load(&c, t.file, take_down, &t), -EISDIR);
    CU_ASSERT_STRING_EQUAL(t.text, "F: cannot be read: Is a directory\n");
    t = (struct transcript){.file = "/dev/zero"};
    CU_ASSERT_EQUAL(config_load(&c, t.file, take_down, &t), -EINVAL);
    CU_ASSERT_STRING_EQUAL(t.text, "F: cannot be read: it is a device or a pipe, not a file\n");
}

/* Whoever reads it at a reload must not wait for somebody who writes into it. */
TEST(a_pipe_is_no_file)
{
    char pipe[] = "/tmp/test_config_XXXXXX";
    struct transcript t = {.file = pipe};
    struct config c;

    CU_ASSERT_EQUAL_FATAL(close(mkstemp(pipe)), 0);
    CU_ASSERT_EQUAL_FATAL(unlink(pipe), 0);
    CU_ASSERT_EQUAL_FATAL(mkfifo(pipe, 0600), 0);
    CU_ASSERT_EQUAL(config_load(&c, t.file, take_down, &t), -EINVAL);
    CU_ASSERT_STRING_EQUAL(t.text, "F: cannot be read: it is a device or a pipe, not a file\n");
    unlink(pipe);
}

TEST(a_huge_file_is_not_read)
{
    char file[] = "/tmp/test_config_XXXXXX";
    struct transcript t = {.file = file};
    struct config c;
    const int fd = mkstemp(file);

    CU_ASSERT_EQUAL_FATAL(ftruncate(fd, (off_t)1 << 30), 0);
    close(fd);
    CU_ASSERT_EQUAL(config_load(&c, t.file, take_down, &t), -EFBIG);
    CU_ASSERT_STRING_EQUAL(t.text, "F: cannot be read: it is longer than any configuration (1 MiB)\n");
    unlink(file);
}

TEST(a_switchs_file_is_no_servers)
{
    struct transcript t = {.file = CONF_DIRECTORY "/four-hosts.yaml"};
    struct config c;

    CU_ASSERT_EQUAL(config_load_server(&c, t.file, take_down, &t), -EINVAL);
    CU_ASSERT_STRING_EQUAL(t.text,
                           "F:5: ports: this is the file of a switch: swagg takes it, or swagg-tofino. "
                           "A server has `server`\n");
}

TEST(an_empty_file_of_a_server_is_told_what_a_server_needs)
{
    char file[] = "/tmp/test_config_XXXXXX";
    struct transcript t = {.file = file};
    struct config c;

    close(mkstemp(file));
    CU_ASSERT_EQUAL(config_load_server(&c, t.file, take_down, &t), -EINVAL);
    CU_ASSERT_STRING_EQUAL(t.text, "F: the file is empty; the least is: server: {ip: 10.0.0.1}\n");
    unlink(file);
}

/* Cut off or with a byte changed anywhere, a file is refused or accepted, but never harms. */
TEST(damaged_files_do_no_harm)
{
    static const char yaml[] =
        PORTS "    impair: &i {rx: {drop: 0.1}}\nlcores: [{rx: [all], tx: [b, port0], cpu: 1}]\n"
              "switch: {ip: 10.0.0.1/8, mac: '02:00:00:00:00:01'}\nseed: 7\n";
    static const char bytes[] = "\0\t\n\"&'*,-0:?[]{}|\xFF";
    char damaged[sizeof(yaml)];
    struct transcript t;
    struct config c;
    unsigned nth = 0;

    for (size_t i = 0; i < sizeof(yaml) - 1; i++) {
        load(&c, yaml, i, &t);
        for (size_t b = 0; b < sizeof(bytes) - 1; b++) {
            if (!unit_tries(nth++))
                continue;
            memcpy(damaged, yaml, sizeof(yaml));
            damaged[i] = bytes[b];
            load(&c, damaged, sizeof(yaml) - 1, &t);
        }
    }
}

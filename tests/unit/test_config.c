/* Configurations: the value of every key, and what it is if nothing is said. */
#include "clone/terms.h"
#include "hostagg/terms.h"
#include "roce/terms.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glob.h>

#include "config_rig.h"
#include "switchml/terms.h"

/* What no line of a table says: docs/configuration.md has the rest, and is compared with the tables. */
TEST(defaults)
{
    const struct config c = good(PORT);

    CU_ASSERT_EQUAL(c.ports, 1);
    CU_ASSERT_STRING_EQUAL(c.port[0].name, "port0");
    CU_ASSERT_STRING_EQUAL(c.port[0].device, "net_af_packet0,iface=a");
    CU_ASSERT(!(impair_active(&c.port[0].impair.rx) || impair_active(&c.port[0].impair.tx)));
    CU_ASSERT(!(c.has_mac || c.has_ip || c.has_placement));
    CU_ASSERT(c.mtu == 1500 && c.pool.delays && c.memory.mode == CONFIG_MEMORY_AUTO);
    CU_ASSERT_EQUAL(c.idle.until_due_us, 100000);
}

static void clash(const char *device, const char *other, const char *shared)
{
    size_t length;
    const char *got = config_device_clash(device, other, &length);

    CU_ASSERT_EQUAL(got != NULL, shared != NULL);
    if (got != NULL && shared != NULL)
        CU_ASSERT(length == strlen(shared) && strncmp(got, shared, length) == 0);
}

TEST(what_two_devices_share)
{
    clash("net_af_packet0,iface=a", "net_af_packet0,iface=b", "net_af_packet0");
    clash("net_af_packet0,iface=a,qpairs=2", "net_af_xdp0,iface=a", "a");
    clash("kernel:a", "net_af_packet0,iface=a", "a");
    clash("0000:03:00.0", "0000:03:00.0,arg=1", "0000:03:00.0");
    clash("net_af_packet1,iface=a", "net_af_packet10,iface=b", NULL);
    clash("net_af_packet1,iface=a", "net_af_packet2,iface=ab", NULL);
    clash("net_null0", "net_null1", NULL);
    clash("kernel:a", "kernel:ab", NULL);
}

/* It shows several times that it is alive before a worker that is not heard counts as lost. */
TEST(sleeps_until_something_is_due_are_bounded)
{
    CU_ASSERT_EQUAL(good(PORT "timers: {lost_after_ms: 200}\n").idle.until_due_us, 25000);
    CU_ASSERT_EQUAL(good(PORT "timers: {lost_after_ms: 100}\nidle: {max_sleep_us: 70}\n").idle.until_due_us,
                    70);
}

TEST(every_key_arrives)
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
             "  - {name: h1, device: \"pci:03:00.0,rx_pkt_burst=64\", storm: {broadcast: 1, multicast: 2,\n"
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
             "timers: {lost_after_ms: 1000, late_after_ms: 9999, late_ends_s: 10, forming_s: 3600, "
             "mac_age_s: 60}\n"
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
    CU_ASSERT(c.has_mac && memcmp(c.mac, mac, sizeof(mac)) == 0);
    CU_ASSERT(c.has_ip && c.ip == htonl(0x0A010203) && c.prefix == 16);
    CU_ASSERT_EQUAL(c.port[1].storm.frames[CONFIG_STORM_BROADCAST], 1);
    CU_ASSERT_EQUAL(c.port[1].storm.frames[CONFIG_STORM_MULTICAST], 2);
    CU_ASSERT_EQUAL(c.port[1].storm.frames[CONFIG_STORM_UNKNOWN], 3);
    CU_ASSERT_EQUAL(c.link_local, CONFIG_LINK_LOCAL_TRANSPARENT);
    CU_ASSERT(!c.loops.find && c.loops.probe_s == 7 && c.loops.block_s == 8);
    CU_ASSERT_FATAL(c.has_placement);
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
    CU_ASSERT_EQUAL(c.timers.late_after_ms, 9999);
    CU_ASSERT_EQUAL(c.timers.late_ends_s, 10);
    CU_ASSERT_EQUAL(c.limits.jobs_per_host, 32);
    CU_ASSERT(!c.pool.delays);
    CU_ASSERT_EQUAL(c.timers.mac_age_s, 60);
    CU_ASSERT_EQUAL(c.memory.mode, CONFIG_MEMORY_NO_HUGE);
    CU_ASSERT_EQUAL(c.memory.megabytes, 512);
    CU_ASSERT_EQUAL(c.idle.spin, 5);
    CU_ASSERT_EQUAL(c.idle.max_sleep_us, 0);
    CU_ASSERT_EQUAL(c.idle.until_due_us, 0);
    CU_ASSERT_EQUAL(c.log_level, LOG_LEVEL_DEBUG);
    CU_ASSERT_EQUAL(c.seed, UINT64_MAX);
}

TEST(a_job_of_rdma_clients_has_defaults)
{
    const struct config c = good(SWITCH "timers: {lost_after_ms: 3000}\nroce:\n  - workers:\n    - " RDMA_2(
        "0x11-0x13, 7, 9-10") "\n"
                              "    - {ip: 10.0.0.3, mac: \"02:00:00:00:00:03\", rkey: 0xffffffff, "
                              "queue_pairs: [1-6]}\n");
    const struct config_job job = config_job(&c, 0);
    const struct config_member second = config_job_member(&c, &job, 1);
    const struct rce_member *member = job.particulars.at;
    struct rce_terms t;

    CU_ASSERT_EQUAL_FATAL(c.roce_jobs, 1);
    CU_ASSERT_STRING_EQUAL(job.name, "roce[0]");
    CU_ASSERT_EQUAL(job.quiet_ms, 3000);
    CU_ASSERT_EQUAL(job.members, 2);
    CU_ASSERT_EQUAL(second.port, htons(4791));
    CU_ASSERT(rce_terms_parse(&t, job.terms));
    CU_ASSERT(t.queue_pairs == 6 && t.packet_bytes == 1024 && t.packets == 4);
    CU_ASSERT_EQUAL(job.particulars.bytes, 2 * sizeof(*member));
    CU_ASSERT(member[0].key == 7 && member[1].key == UINT32_MAX);
    CU_ASSERT(member[0].queue_pair[0] == 17 && member[0].queue_pair[2] == 19 &&
              member[0].queue_pair[3] == 7 && member[0].queue_pair[4] == 9 && member[0].queue_pair[5] == 10);
    CU_ASSERT(member[1].queue_pair[0] == 1 && member[1].queue_pair[5] == 6);
}

TEST(a_host_addressed_job_has_defaults)
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
    CU_ASSERT_STRING_EQUAL(c.hostagg[0].common.name, "hostagg[0]");
    CU_ASSERT_EQUAL(c.hostagg[0].number, 0);
    CU_ASSERT_EQUAL(c.hostagg[0].host.port, 5000);
    CU_ASSERT_EQUAL(c.hostagg[0].worker[0].port, 4000);
    CU_ASSERT_EQUAL(c.hostagg[0].worker[1].port, 7);
    CU_ASSERT_EQUAL(config_job(&c, 0).members, 3);
    CU_ASSERT(hag_terms_parse(&t, &c.hostagg[0].common.terms));
    CU_ASSERT(t.host == HAG_HOST_HEARS && t.slots == 64 && t.chunk_bytes == 365 * 4);
    CU_ASSERT_EQUAL(t.code, agg_code(AGG_F32, AGG_SUM));
    CU_ASSERT_EQUAL(c.hostagg[1].number, 7);
    CU_ASSERT(hag_terms_parse(&t, &c.hostagg[1].common.terms));
    CU_ASSERT(t.host == HAG_HOST_GETS_SUMS && t.slots == 8 && t.chunk_bytes == 800);
    CU_ASSERT_EQUAL(t.code, agg_code(AGG_F64, AGG_MAX));
}

TEST(vlans_are_numbered_from_those_with_an_address_on)
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
    CU_ASSERT(c.static_job[0].common.network == 1 && c.static_job[1].common.network == 0);
}

TEST(a_job_of_passing_frames_has_defaults)
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
    CU_ASSERT_STRING_EQUAL(c.clone[0].common.name, "clone[0]");
    CU_ASSERT_EQUAL(c.clone[0].ether_type, 0x88b5);
    CU_ASSERT_EQUAL(c.clone[0].common.quiet_ms, 5000);
    CU_ASSERT_EQUAL(c.clone[0].common.workers, 1);
    CU_ASSERT_EQUAL(c.clone[0].worker[0][5], 2);
    CU_ASSERT(cln_terms_parse(&t, &c.clone[0].common.terms));
    CU_ASSERT(!t.collector && t.slots == 1024 && t.chunk_bytes == 128 && t.missing_after_ms == 100);
    CU_ASSERT(t.layout.sequence_at == 14 && t.layout.elements_at == 64 && t.layout.match_bytes == 0);
    CU_ASSERT_EQUAL(t.code, agg_code(AGG_F32, AGG_SUM));
    CU_ASSERT(cln_terms_parse(&t, &c.clone[1].common.terms));
    CU_ASSERT(t.collector && t.slots == 8 && t.chunk_bytes == 200 && t.missing_after_ms == 7);
    CU_ASSERT(t.layout.sequence_at == 20 && t.layout.little && t.layout.elements_at == 40);
    CU_ASSERT(t.layout.match_at == 16 && t.layout.match_bytes == 2 && t.layout.match[1] == 0xff);
    CU_ASSERT_EQUAL(t.code, agg_code(AGG_I16, AGG_MIN));
    CU_ASSERT_EQUAL(c.clone[1].common.quiet_ms, 300);
    CU_ASSERT_EQUAL(c.clone[1].collector.port, 6000);
}

TEST(queues_are_dealt_by_name)
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

TEST(static_jobs)
{
    struct sml_terms terms;
    const struct config c = good(
        SWITCH "timers: {lost_after_ms: 7000}\nstatic:\n  - {workers: [" WORKER_2 ", " WORKER_3 "]}\n"
               "  - {name: b, workers: [{ip: 10.0.0.2, mac: \"02:00:00:00:00:02\", port: 5000}], threads: 3, "
               "slots: 10, elements: 512, format: fp16, mode: ordered, udp_checksum: true, quiet_ms: 100}\n");
    const struct config_static *s = c.static_job;

    CU_ASSERT_EQUAL_FATAL(c.static_jobs, 2);
    CU_ASSERT_STRING_EQUAL(s[0].common.name, "static[0]");
    CU_ASSERT(s[0].common.workers == 2 && s[0].worker[1].port == 4000 && s[0].worker[1].mac[5] == 3);
    CU_ASSERT(s[0].worker[0].ip == inet_addr("10.0.0.2") && s[0].common.quiet_ms == 7000 &&
              !s[0].udp_checksum);
    CU_ASSERT_FATAL(sml_terms_parse(&terms, &s[0].common.terms));
    CU_ASSERT(terms.format == XFER_FORMAT_INT32 && terms.mode == XFER_ON_ARRIVAL && terms.labelled);
    CU_ASSERT(terms.slots == 128 && terms.threads == 1 && terms.chunk_bytes == 1024 && terms.plain);
    CU_ASSERT(s[1].udp_checksum && s[1].common.quiet_ms == 100 && s[1].worker[0].port == 5000);
    CU_ASSERT_FATAL(sml_terms_parse(&terms, &s[1].common.terms));
    CU_ASSERT(terms.format == XFER_FORMAT_FP16 && terms.mode == XFER_ORDERED);
    CU_ASSERT(terms.slots == 30 && terms.threads == 3 && terms.chunk_bytes == 1024);
}

TEST(replayed_jobs)
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
    CU_ASSERT(r[0].format == XFER_FORMAT_TYPED && !r[0].ordered && !r[0].one_host);
    CU_ASSERT(memcmp(r[0].worker_mac, first, 6) == 0 && r[0].worker_ip == htonl(0x0A4D0001) &&
              r[0].worker_port == 30000);
    CU_ASSERT(r[1].workers == 9 && r[1].slots == 16 && r[1].phases == 32 && r[1].chunk_bytes == 1024);
    CU_ASSERT(r[1].format == XFER_FORMAT_FP16 && r[1].ordered && r[1].one_host);
    CU_ASSERT(memcmp(r[1].worker_mac, other, 6) == 0 && r[1].worker_ip == htonl(0x0A000009) &&
              r[1].worker_port == 7);
}

TEST(the_socket_for_operators)
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

TEST(which_jobs_go_on_to_which_parent)
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

TEST(which_tenant_may_join_which_jobs)
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

TEST(an_address_without_a_prefix)
{
    const struct config c = good(PORT "switch: {ip: 192.168.0.255}\n");

    CU_ASSERT(c.has_ip);
    CU_ASSERT_EQUAL(c.prefix, 32);
    CU_ASSERT_EQUAL(good(PORT "switch: {ip: 10.0.0.0/31}\n").prefix, 31);
}

TEST(anchors_are_shared_text)
{
    const struct config c = good("ports:\n"
                                 "  - device: net_null0\n"
                                 "    impair: &wan {rx: {drop: 0.25}}\n"
                                 "  - device: net_null1\n"
                                 "    impair: *wan\n");

    CU_ASSERT_EQUAL(c.port[1].impair.rx.rate[IMPAIR_DROP].probability, 0.25);
}

TEST(the_examples_are_good)
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

/* As many of everything as there may be, and one more. */
TEST(most_ports)
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

#include "config/config_keys.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KEY(name, when, shown_as, type, field)                                                               \
    {                                                                                                        \
        .path = name, .reload = CONFIG_##when, .form = CONFIG_##shown_as,                                    \
        .offset = offsetof(struct type, field), .bytes = sizeof(((struct type *)NULL)->field)                \
    }
#define KEY_AS(name, when, shown_as, type, field, more)                                                      \
    {                                                                                                        \
        .path = name, .reload = CONFIG_##when, .form = CONFIG_##shown_as,                                    \
        .offset = offsetof(struct type, field), .bytes = sizeof(((struct type *)NULL)->field), more          \
    }

static const char *const flags[] = {"false", "true"};
static const char *const sockets[] = {"a socket", CONFIG_CONTROL_NONE};
static const char *const memory_modes[] = {"auto", "hugepages", "no-huge"};
static const char *const log_levels[] = {"error", "warning", "notice", "info", "debug"};
static const char *const formats[] = {
    [XFER_FORMAT_TYPED] = "typed", [XFER_FORMAT_INT32] = "int32", [XFER_FORMAT_FP16] = "fp16"};
static const char *const link_locals[] = {[CONFIG_LINK_LOCAL_STP] = "stp",
                                          [CONFIG_LINK_LOCAL_DROP] = "drop",
                                          [CONFIG_LINK_LOCAL_TRANSPARENT] = "transparent"};
static const char *const host_answers[] = {
    [HAG_HOST_ABSENT] = "nothing", [HAG_HOST_HEARS] = "completion", [HAG_HOST_GETS_SUMS] = "sums"};
static const char *const orders[] = {"on_arrival", "ordered"};

#define OF_VLANS .times = CONFIG_VLANS_MAX, .stride = sizeof(struct config_vlan)

static const struct config_key file_keys[] = {
    KEY("switch.mac", RESTART, MAC, config, mac),
    KEY("switch.ip", RESTART, IP, config, ip),
    KEY("switch.ip", RESTART, NUMBER, config, prefix),
    KEY_AS("switch.vlans.vlan", RESTART, NUMBER, config, vlan[0].id, OF_VLANS),
    KEY_AS("switch.vlans.ip", RESTART, IP, config, vlan[0].ip, OF_VLANS),
    KEY_AS("switch.vlans.ip", RESTART, NUMBER, config, vlan[0].prefix, OF_VLANS),
    KEY_AS("switch.link_local", AT_ONCE, WORD, config, link_local, .words = link_locals),
    KEY("mtu", RESTART, NUMBER, config, mtu),
    KEY("tx_delay_us", AT_ONCE, NUMBER, config, tx_delay_us),
    KEY("pool.slots_per_job", NEW_JOBS, NUMBER, config, pool.slots_per_job),
    KEY("pool.slots", NEW_JOBS, NUMBER, config, pool.slots),
    KEY("pool.megabytes", NEW_JOBS, NUMBER, config, pool.megabytes),
    KEY("pool.megabytes_per_job", NEW_JOBS, NUMBER, config, pool.megabytes_per_job),
    KEY("pool.kept_frames", RESTART, NUMBER, config, pool.kept_frames),
    KEY("pool.kept_frames_per_job", NEW_JOBS, NUMBER, config, pool.kept_frames_per_job),
    KEY_AS("pool.delays", NEW_JOBS, WORD, config, pool.delays, .words = flags),
    KEY("limits.jobs", AT_ONCE, NUMBER, config, limits.jobs),
    KEY("limits.jobs_per_host", AT_ONCE, NUMBER, config, limits.jobs_per_host),
    KEY("limits.workers", AT_ONCE, NUMBER, config, limits.workers),
    KEY("timers.lost_after_ms", RESTART, NUMBER, config, timers.lost_after_ms),
    KEY("timers.forming_s", NEW_JOBS, NUMBER, config, timers.forming_s),
    KEY("timers.mac_age_s", AT_ONCE, NUMBER, config, timers.mac_age_s),
    KEY_AS("memory.mode", RESTART, WORD, config, memory.mode, .words = memory_modes),
    KEY("memory.megabytes", RESTART, NUMBER, config, memory.megabytes),
    KEY("idle.spin", AT_ONCE, NUMBER, config, idle.spin),
    KEY("idle.max_sleep_us", AT_ONCE, NUMBER, config, idle.max_sleep_us),
    KEY("idle.max_sleep_us", AT_ONCE, NUMBER, config, idle.until_due_us),
    KEY_AS("loops.find", AT_ONCE, WORD, config, loops.find, .words = flags),
    KEY("loops.probe_s", AT_ONCE, NUMBER, config, loops.probe_s),
    KEY("loops.block_s", AT_ONCE, NUMBER, config, loops.block_s),
    KEY_AS("control.path", RESTART, WORD, config, control.off, .words = sockets),
    KEY("control.path", RESTART, TEXT, config, control.path),
    KEY("control.mode", RESTART, OCTAL, config, control.mode),
    KEY("control.group", RESTART, TEXT, config, control.group),
    KEY("atp.aggregators", RESTART, NUMBER, config, atp.aggregators),
    KEY("atp.max_age_ms", RESTART, NUMBER, config, atp.max_age_ms),
    KEY_AS("atp.preempt", RESTART, WORD, config, atp.preempt, .words = flags),
    KEY("atp.parts", RESTART, NUMBER, config, atp.parts),
    KEY("atp.forward", RESTART, FRACTION, config, atp.forward),
    KEY("server.ip", RESTART, IP, config, server.ip),
    KEY("server.threads", RESTART, NUMBER, config, server.threads),
    KEY("server.groups", RESTART, IP, config, server.first_group),
    KEY("server.groups", RESTART, NUMBER, config, server.groups),
    KEY("server.group_ttl", RESTART, NUMBER, config, server.group_ttl),
    KEY_AS("log_level", AT_ONCE, WORD, config, log_level, .words = log_levels),
    KEY("seed", AT_ONCE, NUMBER, config, seed),
};

#define RATE(to, name, kind)                                                                                 \
    KEY("ports.impair." #to "." name, AT_ONCE, FRACTION, config_port, impair.to.rate[kind].probability),     \
        KEY("ports.impair." #to "." name "_every", AT_ONCE, NUMBER, config_port, impair.to.rate[kind].every)
#define IMPAIRMENTS(to)                                                                                      \
    RATE(to, "drop", IMPAIR_DROP), RATE(to, "duplicate", IMPAIR_DUPLICATE),                                  \
        RATE(to, "reorder", IMPAIR_REORDER), RATE(to, "corrupt", IMPAIR_CORRUPT),                            \
        KEY("ports.impair." #to ".reorder_by", AT_ONCE, NUMBER, config_port, impair.to.hold_frames),         \
        KEY("ports.impair." #to ".reorder_for_us", AT_ONCE, NUMBER, config_port, impair.to.hold_for)

static const struct config_key port_keys[] = {
    KEY("ports.name", AT_ONCE, TEXT, config_port, name),
    KEY("ports.device", RESTART, TEXT, config_port, device),
    KEY("ports.rx_queues", RESTART, NUMBER, config_port, rx_queues),
    KEY("ports.tx_queues", RESTART, NUMBER, config_port, tx_queues),
    IMPAIRMENTS(rx),
    IMPAIRMENTS(tx),
    KEY("ports.vlan", RESTART, NUMBER, config_port, vlan),
    KEY("ports.trunk", RESTART, BYTES, config_port, trunk),
    KEY("ports.storm.broadcast", AT_ONCE, NUMBER, config_port, storm.frames[CONFIG_STORM_BROADCAST]),
    KEY("ports.storm.multicast", AT_ONCE, NUMBER, config_port, storm.frames[CONFIG_STORM_MULTICAST]),
    KEY("ports.storm.unknown", AT_ONCE, NUMBER, config_port, storm.frames[CONFIG_STORM_UNKNOWN]),
    KEY("ports.ecn_above", RESTART, NUMBER, config_port, ecn_above),
};

static const struct config_key lcore_keys[] = {
    KEY("lcores.cpu", RESTART, BYTES, placement_lcore, cpu),
    KEY("lcores.rx", AT_ONCE, BYTES, placement_lcore, rx),
    KEY("lcores.tx", AT_ONCE, BYTES, placement_lcore, tx),
    KEY("lcores.aggregate", RESTART, BYTES, placement_lcore, shards),
};

static const struct config_key tenant_keys[] = {
    KEY("tenants.name", AT_ONCE, TEXT, config_tenant, name),
    KEY("tenants.addresses", AT_ONCE, BYTES, config_tenant, address),
    KEY("tenants.jobs", AT_ONCE, BYTES, config_tenant, jobs),
    KEY("tenants.key_file", AT_ONCE, TEXT, config_tenant, key_file),
    KEY_AS("tenants.data_keys", NEW_JOBS, WORD, config_tenant, data_keys, .words = flags),
    KEY("tenants.quota.jobs", AT_ONCE, NUMBER, config_tenant, quota.jobs),
    KEY("tenants.quota.slots", NEW_JOBS, NUMBER, config_tenant, quota.slots),
    KEY("tenants.quota.megabytes", NEW_JOBS, NUMBER, config_tenant, quota.megabytes),
    KEY("tenants.quota.kept_frames", AT_ONCE, NUMBER, config_tenant, quota.kept_frames),
    KEY("tenants.weight", AT_ONCE, NUMBER, config_tenant, weight),
};

static const struct config_key uplink_keys[] = {
    KEY("uplink.parent", RESTART, IP, config_uplink, parent),
    KEY("uplink.via", RESTART, IP, config_uplink, via),
    KEY("uplink.jobs", RESTART, BYTES, config_uplink, jobs),
    KEY("uplink.tenants", RESTART, BYTES, config_uplink, tenants),
    KEY("uplink.key_file", AT_ONCE, TEXT, config_uplink, key_file),
    KEY("uplink.vlan", RESTART, NUMBER, config_uplink, vlan),
};

#define OF_WORKERS .times = CONFIG_STATIC_WORKERS_MAX, .stride = sizeof(struct config_peer)

static const struct config_key static_keys[] = {
    KEY("static.name", WHEN_QUIET, TEXT, config_static, name),
    KEY_AS("static.workers.ip", WHEN_QUIET, IP, config_static, worker[0].ip, OF_WORKERS),
    KEY_AS("static.workers.mac", WHEN_QUIET, MAC, config_static, worker[0].mac, OF_WORKERS),
    KEY_AS("static.workers.port", WHEN_QUIET, NUMBER, config_static, worker[0].port, OF_WORKERS),
    KEY("static.threads", WHEN_QUIET, NUMBER, config_static, threads),
    KEY("static.slots", WHEN_QUIET, NUMBER, config_static, slots),
    KEY("static.elements", WHEN_QUIET, NUMBER, config_static, elements),
    KEY_AS("static.format", WHEN_QUIET, WORD, config_static, format, .words = formats),
    KEY_AS("static.mode", WHEN_QUIET, WORD, config_static, ordered, .words = orders),
    KEY_AS("static.udp_checksum", WHEN_QUIET, WORD, config_static, udp_checksum, .words = flags),
    KEY("static.vlan", WHEN_QUIET, NUMBER, config_static, vlan),
    KEY("static.quiet_ms", AT_ONCE, NUMBER, config_static, quiet_ms),
    KEY("static.tenant", WHEN_QUIET, TENANT, config_static, tenant),
};

static const struct config_key hostagg_keys[] = {
    KEY("hostagg.name", RESTART, TEXT, config_hostagg, name),
    KEY("hostagg.job", RESTART, NUMBER, config_hostagg, number),
    KEY("hostagg.host.ip", RESTART, IP, config_hostagg, host.ip),
    KEY("hostagg.host.mac", RESTART, MAC, config_hostagg, host.mac),
    KEY("hostagg.host.port", RESTART, NUMBER, config_hostagg, host.port),
    KEY_AS("hostagg.host_gets", RESTART, WORD, config_hostagg, host_gets, .words = host_answers),
    KEY_AS("hostagg.workers.ip", RESTART, IP, config_hostagg, worker[0].ip, OF_WORKERS),
    KEY_AS("hostagg.workers.mac", RESTART, MAC, config_hostagg, worker[0].mac, OF_WORKERS),
    KEY_AS("hostagg.workers.port", RESTART, NUMBER, config_hostagg, worker[0].port, OF_WORKERS),
    KEY("hostagg.slots", RESTART, NUMBER, config_hostagg, slots),
    KEY("hostagg.elements", RESTART, NUMBER, config_hostagg, elements),
    KEY("hostagg.type", RESTART, BYTES, config_hostagg, terms), /* among others */
    KEY("hostagg.operation", RESTART, BYTES, config_hostagg, terms),
    KEY("hostagg.tenant", RESTART, TENANT, config_hostagg, tenant),
    KEY("hostagg.vlan", RESTART, NUMBER, config_hostagg, vlan),
};

static const char *const byte_orders[] = {"big", "little"};

#define OF_MACS .times = CONFIG_CLONE_WORKERS_MAX, .stride = sizeof(((struct config_clone *)NULL)->worker[0])

static const struct config_key clone_keys[] = {
    KEY("clone.name", RESTART, TEXT, config_clone, name),
    KEY("clone.host", RESTART, MAC, config_clone, host),
    KEY("clone.ether_type", RESTART, NUMBER, config_clone, ether_type),
    KEY_AS("clone.workers", RESTART, MAC, config_clone, worker[0], OF_MACS),
    KEY("clone.slots", RESTART, NUMBER, config_clone, slots),
    KEY("clone.sequence_at", RESTART, NUMBER, config_clone, sequence_at),
    KEY_AS("clone.byte_order", RESTART, WORD, config_clone, little, .words = byte_orders),
    KEY("clone.elements_at", RESTART, NUMBER, config_clone, elements_at),
    KEY("clone.elements", RESTART, NUMBER, config_clone, elements),
    KEY("clone.type", RESTART, BYTES, config_clone, terms), /* among others */
    KEY("clone.operation", RESTART, BYTES, config_clone, terms),
    KEY("clone.match_at", RESTART, NUMBER, config_clone, match_at),
    KEY("clone.match", RESTART, BYTES, config_clone, match),
    KEY("clone.collector.ip", RESTART, IP, config_clone, collector.ip),
    KEY("clone.collector.mac", RESTART, MAC, config_clone, collector.mac),
    KEY("clone.collector.port", RESTART, NUMBER, config_clone, collector.port),
    KEY("clone.missing_after_ms", RESTART, NUMBER, config_clone, missing_after_ms),
    KEY("clone.quiet_ms", RESTART, NUMBER, config_clone, quiet_ms),
    KEY("clone.tenant", RESTART, TENANT, config_clone, tenant),
    KEY("clone.vlan", RESTART, NUMBER, config_clone, vlan),
};

static const struct config_key replay_keys[] = {
    KEY("replay.workers", RESTART, NUMBER, config_replay, workers),
    KEY("replay.slots", RESTART, NUMBER, config_replay, slots),
    KEY("replay.phases", RESTART, NUMBER, config_replay, phases),
    KEY("replay.chunk_bytes", RESTART, NUMBER, config_replay, chunk_bytes),
    KEY_AS("replay.format", RESTART, WORD, config_replay, format, .words = formats),
    KEY_AS("replay.ordered", RESTART, WORD, config_replay, ordered, .words = flags),
    KEY("replay.worker_mac", RESTART, MAC, config_replay, worker_mac),
    KEY("replay.worker_ip", RESTART, IP, config_replay, worker_ip),
    KEY("replay.worker_port", RESTART, NUMBER, config_replay, worker_port),
    KEY("replay.tenant", RESTART, TENANT, config_replay, tenant),
    KEY_AS("replay.one_host", RESTART, WORD, config_replay, one_host, .words = flags),
};

const struct config_group config_groups[CONFIG_GROUPS] = {
    [CONFIG_GROUP_FILE] = {"", file_keys, COUNT(file_keys)},
    [CONFIG_GROUP_PORTS] = {"ports", port_keys, COUNT(port_keys)},
    [CONFIG_GROUP_LCORES] = {"lcores", lcore_keys, COUNT(lcore_keys)},
    [CONFIG_GROUP_TENANTS] = {"tenants", tenant_keys, COUNT(tenant_keys)},
    [CONFIG_GROUP_UPLINK] = {"uplink", uplink_keys, COUNT(uplink_keys)},
    [CONFIG_GROUP_STATIC] = {"static", static_keys, COUNT(static_keys)},
    [CONFIG_GROUP_HOSTAGG] = {"hostagg", hostagg_keys, COUNT(hostagg_keys)},
    [CONFIG_GROUP_CLONE] = {"clone", clone_keys, COUNT(clone_keys)},
    [CONFIG_GROUP_REPLAY] = {"replay", replay_keys, COUNT(replay_keys)},
};

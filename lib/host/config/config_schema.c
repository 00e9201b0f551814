#include "config/config_schema.h"

#include <stddef.h>

#define OPTIONAL     CYAML_FLAG_OPTIONAL
#define CHOICE       (CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT) /* strict: words only, no numbers */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* clang-format off */
#define RATE(name, kind)                                                                     \
    CYAML_FIELD_FLOAT(name, OPTIONAL, struct impair_config, rate[kind].probability),         \
    CYAML_FIELD_UINT(name "_every", OPTIONAL, struct impair_config, rate[kind].every)

static const cyaml_schema_field_t impair_fields[] = {
    RATE("drop", IMPAIR_DROP),
    RATE("duplicate", IMPAIR_DUPLICATE),
    RATE("reorder", IMPAIR_REORDER),
    CYAML_FIELD_UINT("reorder_by", OPTIONAL, struct impair_config, hold_frames),
    CYAML_FIELD_UINT("reorder_for_us", OPTIONAL, struct impair_config, hold_for),
    RATE("corrupt", IMPAIR_CORRUPT),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t directions_fields[] = {
    CYAML_FIELD_MAPPING("rx", OPTIONAL, struct config_impair, rx, impair_fields),
    CYAML_FIELD_MAPPING("tx", OPTIONAL, struct config_impair, tx, impair_fields),
    CYAML_FIELD_END,
};

#define STORM(name, kind) CYAML_FIELD_UINT(name, OPTIONAL, struct config_storm, frames[kind])

static const cyaml_schema_field_t storm_fields[] = {
    STORM("broadcast", CONFIG_STORM_BROADCAST),
    STORM("multicast", CONFIG_STORM_MULTICAST),
    STORM("unknown", CONFIG_STORM_UNKNOWN),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t number_schema = {
    CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t),
};

static const cyaml_schema_field_t port_fields[] = {
    CYAML_FIELD_STRING("name", OPTIONAL, struct config_port, name, 1),
    CYAML_FIELD_STRING("device", CYAML_FLAG_DEFAULT, struct config_port, device, 1),
    CYAML_FIELD_UINT("rx_queues", OPTIONAL, struct config_port, rx_queues),
    CYAML_FIELD_UINT("tx_queues", OPTIONAL, struct config_port, tx_queues),
    CYAML_FIELD_MAPPING("impair", OPTIONAL, struct config_port, impair, directions_fields),
    CYAML_FIELD_MAPPING("storm", OPTIONAL, struct config_port, storm, storm_fields),
    CYAML_FIELD_UINT("ecn_above", OPTIONAL, struct config_port, ecn_above),
    CYAML_FIELD_UINT("vlan", OPTIONAL, struct config_port, vlan),
    CYAML_FIELD_SEQUENCE("trunk", OPTIONAL, struct config_port, trunk, &number_schema, 1, CONFIG_VLANS_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t port_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_port, port_fields),
};

static const cyaml_strval_t link_locals[] = {
    {"stp", CONFIG_LINK_LOCAL_STP},
    {"drop", CONFIG_LINK_LOCAL_DROP},
    {"transparent", CONFIG_LINK_LOCAL_TRANSPARENT},
};

static const cyaml_schema_field_t address_fields[] = {
    CYAML_FIELD_UINT("vlan", CYAML_FLAG_DEFAULT, struct config_raw_address, vlan),
    CYAML_FIELD_STRING("ip", CYAML_FLAG_DEFAULT, struct config_raw_address, ip, 1),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t address_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_address, address_fields),
};

static const cyaml_schema_field_t switch_fields[] = {
    CYAML_FIELD_STRING("mac", OPTIONAL, struct config_raw_switch, mac, 1),
    CYAML_FIELD_STRING("ip", OPTIONAL, struct config_raw_switch, ip, 1),
    CYAML_FIELD_SEQUENCE("vlans", OPTIONAL, struct config_raw_switch, vlans, &address_schema,
                         1, CONFIG_VLANS_MAX),
    CYAML_FIELD_ENUM("link_local", CHOICE, struct config_raw_switch, link_local, link_locals, COUNT(link_locals)),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t text_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t lcore_fields[] = {
    CYAML_FIELD_INT("cpu", OPTIONAL, struct config_raw_lcore, cpu),
    CYAML_FIELD_SEQUENCE("rx", OPTIONAL, struct config_raw_lcore, rx, &text_schema,
                         0, CONFIG_QUEUES_MAX),
    CYAML_FIELD_SEQUENCE("tx", OPTIONAL, struct config_raw_lcore, tx, &text_schema,
                         0, CONFIG_QUEUES_MAX),
    CYAML_FIELD_SEQUENCE("aggregate", OPTIONAL, struct config_raw_lcore, aggregate, &number_schema,
                         0, SWAGG_MAX_SHARDS),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t lcore_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_lcore, lcore_fields),
};

static const cyaml_schema_field_t pool_fields[] = {
    CYAML_FIELD_UINT("slots_per_job", OPTIONAL, struct config_pool, slots_per_job),
    CYAML_FIELD_UINT("slots", OPTIONAL, struct config_pool, slots),
    CYAML_FIELD_UINT("megabytes", OPTIONAL, struct config_pool, megabytes),
    CYAML_FIELD_UINT("megabytes_per_job", OPTIONAL, struct config_pool, megabytes_per_job),
    CYAML_FIELD_UINT("kept_frames", OPTIONAL, struct config_pool, kept_frames),
    CYAML_FIELD_UINT("kept_frames_per_job", OPTIONAL, struct config_pool, kept_frames_per_job),
    CYAML_FIELD_BOOL("delays", OPTIONAL, struct config_pool, delays),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t limits_fields[] = {
    CYAML_FIELD_UINT("jobs", OPTIONAL, struct config_limits, jobs),
    CYAML_FIELD_UINT("jobs_per_host", OPTIONAL, struct config_limits, jobs_per_host),
    CYAML_FIELD_UINT("workers", OPTIONAL, struct config_limits, workers),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t timers_fields[] = {
    CYAML_FIELD_UINT("lost_after_ms", OPTIONAL, struct config_timers, lost_after_ms),
    CYAML_FIELD_UINT("forming_s", OPTIONAL, struct config_timers, forming_s),
    CYAML_FIELD_UINT("mac_age_s", OPTIONAL, struct config_timers, mac_age_s),
    CYAML_FIELD_END,
};

static const cyaml_strval_t memory_modes[] = {
    {"auto", CONFIG_MEMORY_AUTO},
    {"hugepages", CONFIG_MEMORY_HUGEPAGES},
    {"no-huge", CONFIG_MEMORY_NO_HUGE},
};

static const cyaml_schema_field_t memory_fields[] = {
    CYAML_FIELD_ENUM("mode", CHOICE, struct config_memory, mode, memory_modes, COUNT(memory_modes)),
    CYAML_FIELD_UINT("megabytes", OPTIONAL, struct config_memory, megabytes),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t loops_fields[] = {
    CYAML_FIELD_BOOL("find", OPTIONAL, struct config_loops, find),
    CYAML_FIELD_UINT("probe_s", OPTIONAL, struct config_loops, probe_s),
    CYAML_FIELD_UINT("block_s", OPTIONAL, struct config_loops, block_s),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t idle_fields[] = {
    CYAML_FIELD_UINT("spin", OPTIONAL, struct config_idle, spin),
    CYAML_FIELD_UINT("max_sleep_us", OPTIONAL, struct config_idle, max_sleep_us),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t control_fields[] = {
    CYAML_FIELD_STRING("path", OPTIONAL, struct config_raw_control, path, 1),
    CYAML_FIELD_STRING("mode", OPTIONAL, struct config_raw_control, mode, 1),
    CYAML_FIELD_STRING("group", OPTIONAL, struct config_raw_control, group, 1),
    CYAML_FIELD_END,
};

static const cyaml_strval_t log_levels[] = {
    {"error", CONFIG_LOG_ERROR},
    {"warning", CONFIG_LOG_WARNING},
    {"notice", CONFIG_LOG_NOTICE},
    {"info", CONFIG_LOG_INFO},
    {"debug", CONFIG_LOG_DEBUG},
};

static const cyaml_schema_field_t quota_fields[] = {
    CYAML_FIELD_UINT("jobs", OPTIONAL, struct config_quota, jobs),
    CYAML_FIELD_UINT("slots", OPTIONAL, struct config_quota, slots),
    CYAML_FIELD_UINT("megabytes", OPTIONAL, struct config_quota, megabytes),
    CYAML_FIELD_UINT("kept_frames", OPTIONAL, struct config_quota, kept_frames),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t tenant_fields[] = {
    CYAML_FIELD_STRING("name", CYAML_FLAG_DEFAULT, struct config_raw_tenant, tenant.name, 1),
    CYAML_FIELD_SEQUENCE("addresses", OPTIONAL, struct config_raw_tenant, addresses, &text_schema,
                         1, CONFIG_TENANT_ADDRESSES_MAX),
    CYAML_FIELD_SEQUENCE("jobs", OPTIONAL, struct config_raw_tenant, jobs, &text_schema,
                         1, CONFIG_PATTERNS_MAX),
    CYAML_FIELD_STRING("key_file", OPTIONAL, struct config_raw_tenant, tenant.key_file, 1),
    CYAML_FIELD_BOOL("data_keys", OPTIONAL, struct config_raw_tenant, tenant.data_keys),
    CYAML_FIELD_MAPPING("quota", OPTIONAL, struct config_raw_tenant, tenant.quota, quota_fields),
    CYAML_FIELD_UINT("weight", OPTIONAL, struct config_raw_tenant, tenant.weight),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t tenant_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_tenant, tenant_fields),
};

static const cyaml_schema_field_t uplink_fields[] = {
    CYAML_FIELD_STRING("parent", CYAML_FLAG_DEFAULT, struct config_raw_uplink, parent, 1),
    CYAML_FIELD_STRING("via", OPTIONAL, struct config_raw_uplink, via, 1),
    CYAML_FIELD_SEQUENCE("jobs", OPTIONAL, struct config_raw_uplink, jobs, &text_schema,
                         1, CONFIG_PATTERNS_MAX),
    CYAML_FIELD_SEQUENCE("tenants", OPTIONAL, struct config_raw_uplink, tenants, &text_schema,
                         1, CONFIG_TENANTS_MAX),
    CYAML_FIELD_STRING("key_file", OPTIONAL, struct config_raw_uplink, uplink.key_file, 1),
    CYAML_FIELD_UINT("vlan", OPTIONAL, struct config_raw_uplink, uplink.vlan),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t uplink_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_uplink, uplink_fields),
};

static const cyaml_strval_t formats[] = {
    {"typed", XFER_FORMAT_TYPED},
    {"int32", XFER_FORMAT_INT32},
    {"fp16", XFER_FORMAT_FP16},
};

static const cyaml_strval_t static_formats[] = {{"int32", XFER_FORMAT_INT32}, {"fp16", XFER_FORMAT_FP16}};
static const cyaml_strval_t static_modes[] = {{"on_arrival", false}, {"ordered", true}};

static const cyaml_schema_field_t peer_fields[] = {
    CYAML_FIELD_STRING("ip", CYAML_FLAG_DEFAULT, struct config_raw_peer, ip, 1),
    CYAML_FIELD_STRING("mac", CYAML_FLAG_DEFAULT, struct config_raw_peer, mac, 1),
    CYAML_FIELD_UINT("port", OPTIONAL, struct config_raw_peer, peer.port),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t peer_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_peer, peer_fields),
};

static const cyaml_schema_field_t static_fields[] = {
    CYAML_FIELD_STRING("name", OPTIONAL, struct config_raw_static, job.name, 1),
    CYAML_FIELD_SEQUENCE_COUNT("workers", CYAML_FLAG_DEFAULT, struct config_raw_static, worker, job.workers,
                               &peer_schema, 1, CONFIG_STATIC_WORKERS_MAX),
    CYAML_FIELD_UINT("threads", OPTIONAL, struct config_raw_static, job.threads),
    CYAML_FIELD_UINT("slots", OPTIONAL, struct config_raw_static, job.slots),
    CYAML_FIELD_UINT("elements", OPTIONAL, struct config_raw_static, job.elements),
    CYAML_FIELD_ENUM("format", CHOICE, struct config_raw_static, job.format, static_formats,
                     COUNT(static_formats)),
    CYAML_FIELD_ENUM("mode", CHOICE, struct config_raw_static, job.ordered, static_modes, COUNT(static_modes)),
    CYAML_FIELD_BOOL("udp_checksum", OPTIONAL, struct config_raw_static, job.udp_checksum),
    CYAML_FIELD_UINT("quiet_ms", OPTIONAL, struct config_raw_static, job.quiet_ms),
    CYAML_FIELD_STRING("tenant", OPTIONAL, struct config_raw_static, tenant, 1),
    CYAML_FIELD_UINT("vlan", OPTIONAL, struct config_raw_static, job.vlan),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t static_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_static, static_fields),
};

static const cyaml_strval_t hostagg_answers[] = {
    {"completion", HAG_HOST_HEARS},
    {"sums", HAG_HOST_GETS_SUMS},
    {"nothing", HAG_HOST_ABSENT},
};

static const cyaml_schema_field_t hostagg_fields[] = {
    CYAML_FIELD_STRING("name", OPTIONAL, struct config_raw_hostagg, job.name, 1),
    CYAML_FIELD_UINT("job", OPTIONAL, struct config_raw_hostagg, job.number),
    CYAML_FIELD_MAPPING("host", CYAML_FLAG_DEFAULT, struct config_raw_hostagg, host, peer_fields),
    CYAML_FIELD_ENUM("host_gets", CHOICE, struct config_raw_hostagg, job.host_gets, hostagg_answers,
                     COUNT(hostagg_answers)),
    CYAML_FIELD_SEQUENCE_COUNT("workers", CYAML_FLAG_DEFAULT, struct config_raw_hostagg, worker, job.workers,
                               &peer_schema, 1, CONFIG_STATIC_WORKERS_MAX),
    CYAML_FIELD_UINT("slots", OPTIONAL, struct config_raw_hostagg, job.slots),
    CYAML_FIELD_UINT("elements", OPTIONAL, struct config_raw_hostagg, job.elements),
    CYAML_FIELD_STRING("type", OPTIONAL, struct config_raw_hostagg, type, 1),
    CYAML_FIELD_STRING("operation", OPTIONAL, struct config_raw_hostagg, operation, 1),
    CYAML_FIELD_STRING("tenant", OPTIONAL, struct config_raw_hostagg, tenant, 1),
    CYAML_FIELD_UINT("vlan", OPTIONAL, struct config_raw_hostagg, job.vlan),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t hostagg_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_hostagg, hostagg_fields),
};

static const cyaml_strval_t byte_orders[] = {{"big", false}, {"little", true}};

static const cyaml_schema_field_t clone_fields[] = {
    CYAML_FIELD_STRING("name", OPTIONAL, struct config_raw_clone, job.name, 1),
    CYAML_FIELD_STRING("host", CYAML_FLAG_DEFAULT, struct config_raw_clone, host, 1),
    CYAML_FIELD_UINT("ether_type", OPTIONAL, struct config_raw_clone, job.ether_type),
    CYAML_FIELD_SEQUENCE("workers", CYAML_FLAG_DEFAULT, struct config_raw_clone, workers, &text_schema,
                         1, CONFIG_CLONE_WORKERS_MAX),
    CYAML_FIELD_UINT("slots", OPTIONAL, struct config_raw_clone, job.slots),
    CYAML_FIELD_UINT("sequence_at", OPTIONAL, struct config_raw_clone, job.sequence_at),
    CYAML_FIELD_ENUM("byte_order", CHOICE, struct config_raw_clone, job.little, byte_orders, COUNT(byte_orders)),
    CYAML_FIELD_UINT("elements_at", OPTIONAL, struct config_raw_clone, job.elements_at),
    CYAML_FIELD_UINT("elements", OPTIONAL, struct config_raw_clone, job.elements),
    CYAML_FIELD_STRING("type", OPTIONAL, struct config_raw_clone, type, 1),
    CYAML_FIELD_STRING("operation", OPTIONAL, struct config_raw_clone, operation, 1),
    CYAML_FIELD_UINT("match_at", OPTIONAL, struct config_raw_clone, job.match_at),
    CYAML_FIELD_STRING("match", OPTIONAL, struct config_raw_clone, match, 1),
    CYAML_FIELD_MAPPING("collector", OPTIONAL, struct config_raw_clone, collector, peer_fields),
    CYAML_FIELD_UINT("missing_after_ms", OPTIONAL, struct config_raw_clone, job.missing_after_ms),
    CYAML_FIELD_UINT("quiet_ms", OPTIONAL, struct config_raw_clone, job.quiet_ms),
    CYAML_FIELD_STRING("tenant", OPTIONAL, struct config_raw_clone, tenant, 1),
    CYAML_FIELD_UINT("vlan", OPTIONAL, struct config_raw_clone, job.vlan),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t clone_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_clone, clone_fields),
};

static const cyaml_schema_field_t replay_fields[] = {
    CYAML_FIELD_UINT("workers", OPTIONAL, struct config_raw_replay, replay.workers),
    CYAML_FIELD_UINT("slots", OPTIONAL, struct config_raw_replay, replay.slots),
    CYAML_FIELD_UINT("phases", OPTIONAL, struct config_raw_replay, replay.phases),
    CYAML_FIELD_UINT("chunk_bytes", OPTIONAL, struct config_raw_replay, replay.chunk_bytes),
    CYAML_FIELD_ENUM("format", CHOICE, struct config_raw_replay, replay.format, formats, COUNT(formats)),
    CYAML_FIELD_BOOL("ordered", OPTIONAL, struct config_raw_replay, replay.ordered),
    CYAML_FIELD_STRING("worker_mac", OPTIONAL, struct config_raw_replay, worker_mac, 1),
    CYAML_FIELD_STRING("worker_ip", OPTIONAL, struct config_raw_replay, worker_ip, 1),
    CYAML_FIELD_UINT("worker_port", OPTIONAL, struct config_raw_replay, replay.worker_port),
    CYAML_FIELD_STRING("tenant", OPTIONAL, struct config_raw_replay, tenant, 1),
    CYAML_FIELD_BOOL("one_host", OPTIONAL, struct config_raw_replay, replay.one_host),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t replay_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct config_raw_replay, replay_fields),
};

static const cyaml_schema_field_t atp_fields[] = {
    CYAML_FIELD_UINT("aggregators", CYAML_FLAG_DEFAULT, struct config_atp, aggregators),
    CYAML_FIELD_UINT("max_age_ms", OPTIONAL, struct config_atp, max_age_ms),
    CYAML_FIELD_BOOL("preempt", OPTIONAL, struct config_atp, preempt),
    CYAML_FIELD_UINT("parts", OPTIONAL, struct config_atp, parts),
    CYAML_FIELD_FLOAT("forward", OPTIONAL, struct config_atp, forward),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t file_fields[] = {
    CYAML_FIELD_SEQUENCE_COUNT("ports", CYAML_FLAG_DEFAULT, struct config_raw, config.port, config.ports,
                               &port_schema, 1, SWAGG_MAX_PORTS),
    CYAML_FIELD_MAPPING("switch", OPTIONAL, struct config_raw, sw, switch_fields),
    CYAML_FIELD_SEQUENCE_COUNT("lcores", OPTIONAL, struct config_raw, lcore, lcores, &lcore_schema,
                               1, SWAGG_MAX_LCORES),
    CYAML_FIELD_UINT("mtu", OPTIONAL, struct config_raw, config.mtu),
    CYAML_FIELD_UINT("tx_delay_us", OPTIONAL, struct config_raw, config.tx_delay_us),
    CYAML_FIELD_MAPPING("pool", OPTIONAL, struct config_raw, config.pool, pool_fields),
    CYAML_FIELD_MAPPING("limits", OPTIONAL, struct config_raw, config.limits, limits_fields),
    CYAML_FIELD_SEQUENCE_COUNT("tenants", OPTIONAL, struct config_raw, tenant, config.tenants,
                               &tenant_schema, 0, CONFIG_TENANTS_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("uplink", OPTIONAL, struct config_raw, uplink, config.uplinks,
                               &uplink_schema, 1, SWAGG_MAX_UPLINKS),
    CYAML_FIELD_MAPPING("timers", OPTIONAL, struct config_raw, config.timers, timers_fields),
    CYAML_FIELD_MAPPING("memory", OPTIONAL, struct config_raw, config.memory, memory_fields),
    CYAML_FIELD_MAPPING("idle", OPTIONAL, struct config_raw, config.idle, idle_fields),
    CYAML_FIELD_MAPPING("loops", OPTIONAL, struct config_raw, config.loops, loops_fields),
    CYAML_FIELD_MAPPING("control", OPTIONAL, struct config_raw, control, control_fields),
    CYAML_FIELD_MAPPING("atp", OPTIONAL, struct config_raw, config.atp, atp_fields),
    CYAML_FIELD_ENUM("log_level", CHOICE, struct config_raw, config.log_level, log_levels, COUNT(log_levels)),
    CYAML_FIELD_UINT("seed", OPTIONAL, struct config_raw, config.seed),
    CYAML_FIELD_SEQUENCE_COUNT("static", OPTIONAL, struct config_raw, static_job, config.static_jobs,
                               &static_schema, 1, CONFIG_STATIC_JOBS_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("hostagg", OPTIONAL, struct config_raw, hostagg, config.hostagg_jobs,
                               &hostagg_schema, 1, CONFIG_HOSTAGG_JOBS_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("clone", OPTIONAL, struct config_raw, clone, config.clone_jobs,
                               &clone_schema, 1, CONFIG_CLONE_JOBS_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("replay", OPTIONAL, struct config_raw, replay, config.replays, &replay_schema,
                               1, CONFIG_REPLAYS_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t server_pool_fields[] = {
    CYAML_FIELD_UINT("slots_per_job", OPTIONAL, struct config_pool, slots_per_job),
    CYAML_FIELD_UINT("megabytes", OPTIONAL, struct config_pool, megabytes),
    CYAML_FIELD_UINT("megabytes_per_job", OPTIONAL, struct config_pool, megabytes_per_job),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t server_timers_fields[] = {
    CYAML_FIELD_UINT("lost_after_ms", OPTIONAL, struct config_timers, lost_after_ms),
    CYAML_FIELD_UINT("forming_s", OPTIONAL, struct config_timers, forming_s),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t server_fields[] = {
    CYAML_FIELD_STRING("ip", CYAML_FLAG_DEFAULT, struct config_raw_server, ip, 1),
    CYAML_FIELD_UINT("threads", OPTIONAL, struct config_raw_server, server.threads),
    CYAML_FIELD_STRING("groups", OPTIONAL, struct config_raw_server, groups, 1),
    CYAML_FIELD_UINT("group_ttl", OPTIONAL, struct config_raw_server, server.group_ttl),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t server_file_fields[] = {
    CYAML_FIELD_MAPPING("server", CYAML_FLAG_DEFAULT, struct config_raw, server, server_fields),
    CYAML_FIELD_UINT("mtu", OPTIONAL, struct config_raw, config.mtu),
    CYAML_FIELD_MAPPING("pool", OPTIONAL, struct config_raw, config.pool, server_pool_fields),
    CYAML_FIELD_MAPPING("limits", OPTIONAL, struct config_raw, config.limits, limits_fields),
    CYAML_FIELD_SEQUENCE_COUNT("tenants", OPTIONAL, struct config_raw, tenant, config.tenants,
                               &tenant_schema, 0, CONFIG_TENANTS_MAX),
    CYAML_FIELD_MAPPING("timers", OPTIONAL, struct config_raw, config.timers, server_timers_fields),
    CYAML_FIELD_MAPPING("control", OPTIONAL, struct config_raw, control, control_fields),
    CYAML_FIELD_ENUM("log_level", CHOICE, struct config_raw, config.log_level, log_levels, COUNT(log_levels)),
    CYAML_FIELD_END,
};
/* clang-format on */

const cyaml_schema_value_t config_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct config_raw, file_fields),
};

const cyaml_schema_value_t config_server_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct config_raw, server_file_fields),
};

/* Every key of the configuration has a test that shows its effect: this is the list, by key. A key without an
 * entry fails here, and so does an entry without a key, or whose test no longer exists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_schema.h"
#include "unit.h"

static const struct {
    const char *key, *file, *words; /* words: a step, a test, or a setting of it in that file */
} shown[] = {
    {"ports.name", "net/strangers.sh", "/swagg/drops,h3"},
    {"ports.device", "net/devices.sh", "NET_DEVICE"},
    {"ports.rx_queues", "net/queues.sh", "rx_queues"},
    {"ports.tx_queues", "net/queues.sh", "tx_queues"},
    {"ports.impair.rx.drop", "net/keys.sh", "step \"drop, duplicate, reorder, corrupt, and seed\""},
    {"ports.impair.rx.drop_every", "net/keys.sh",
     "step \"drop_every, duplicate_every, reorder_every, corrupt_every\""},
    {"ports.impair.rx.duplicate", "net/keys.sh", "duplicate: 0.2"},
    {"ports.impair.rx.duplicate_every", "net/keys.sh", "duplicate_every: 9"},
    {"ports.impair.rx.reorder", "net/keys.sh", "reorder: 0.2"},
    {"ports.impair.rx.reorder_every", "net/keys.sh", "reorder_every: 8"},
    {"ports.impair.rx.reorder_by", "unit/test_impair.c",
     "test_a_held_frame_is_overtaken_by_as_many_as_asked"},
    {"ports.impair.rx.reorder_for_us", "unit/test_impair.c", "test_a_held_frame_waits_no_longer_than_asked"},
    {"ports.impair.rx.corrupt", "net/keys.sh", "corrupt: 0.2"},
    {"ports.impair.rx.corrupt_every", "net/keys.sh", "corrupt_every: 7"},
    {"ports.impair.tx.drop", "net/keys.sh", "drop: 0.2"},
    {"ports.impair.tx.drop_every", "net/keys.sh", "drop_every: 10"},
    {"ports.impair.tx.duplicate", "net/keys.sh", "duplicate: 0.2"},
    {"ports.impair.tx.duplicate_every", "net/keys.sh", "duplicate_every: 9"},
    {"ports.impair.tx.reorder", "net/keys.sh", "reorder: 0.2"},
    {"ports.impair.tx.reorder_every", "net/keys.sh", "reorder_every: 8"},
    {"ports.impair.tx.reorder_by", "unit/test_impair.c",
     "test_a_held_frame_is_overtaken_by_as_many_as_asked"},
    {"ports.impair.tx.reorder_for_us", "unit/test_impair.c", "test_a_held_frame_waits_no_longer_than_asked"},
    {"ports.impair.tx.corrupt", "net/keys.sh", "corrupt: 0.2"},
    {"ports.impair.tx.corrupt_every", "net/keys.sh", "corrupt_every: 7"},
    {"ports.vlan", "unit/test_vlans.c", "test_a_broadcast_is_heard_in_its_vlan_with_each_ports_tags"},
    {"ports.trunk", "unit/test_vlans.c", "test_a_broadcast_is_heard_in_its_vlan_with_each_ports_tags"},
    {"switch.vlans.vlan", "unit/test_vlans.c", "test_the_switch_has_an_address_in_each_vlan"},
    {"switch.vlans.ip", "unit/test_vlans.c", "test_the_switch_has_an_address_in_each_vlan"},
    {"static.vlan", "unit/test_config.c", "test_vlans_are_numbered_from_those_with_an_address_on"},
    {"ports.storm.broadcast", "unit/test_flooding.c", "test_each_kind_has_a_bound_of_its_own"},
    {"ports.storm.multicast", "unit/test_flooding.c", "test_each_kind_has_a_bound_of_its_own"},
    {"ports.storm.unknown", "unit/test_flooding.c", "test_each_kind_has_a_bound_of_its_own"},
    {"ports.ecn_above", "unit/test_send.c", "test_frames_are_marked_where_many_wait"},
    {"switch.link_local", "unit/test_flooding.c", "test_link_local_frames_pass_as_configured"},
    {"loops.find", "unit/test_flooding.c", "test_it_does_not_look_for_loops_unless_it_shall"},
    {"loops.probe_s", "unit/test_flooding.c", "test_it_looks_for_loops_every_so_often"},
    {"loops.block_s", "unit/test_flooding.c", "test_a_blocked_port_is_opened_after_a_while_and_probed_again"},
    {"switch.mac", "net/switching.sh", "arping"},
    {"switch.ip", "net/jumbo.sh", "net_switch_ip"},
    {"lcores.cpu", "net/keys.sh", "step \"lcores.cpu\""},
    {"lcores.rx", "net/placements.sh", "rx: [h0, h1]"},
    {"lcores.tx", "net/placements.sh", "tx: [h2, h3]"},
    {"lcores.aggregate", "net/placements.sh", "lcore $lcore aggregated nothing"},
    {"mtu", "net/keys.sh", "step \"mtu: 1000\""},
    {"atp.aggregators", "unit/test_atp_flow.c", "test_without_aggregators_all_pass"},
    {"atp.max_age_ms", "unit/test_atp_flow.c", "test_what_nobody_cares_for_goes_on"},
    {"atp.preempt", "unit/test_atp_flow.c", "test_a_higher_priority_takes_an_aggregator"},
    {"atp.parts", "unit/test_atp_flow.c", "test_jobs_keep_to_their_parts"},
    {"atp.forward", "unit/test_atp_flow.c", "test_the_share_to_be_forwarded_passes"},
    {"tx_delay_us", "unit/test_send.c", "test_a_frame_waits_for_others_but_not_longer_than_the_delay"},
    {"pool.slots_per_job", "net/keys.sh", "step \"pool.slots_per_job: 64, pool.kept_frames: 0\""},
    {"pool.megabytes", "net/keys.sh", "step \"pool.megabytes: 1, and pool.kept_frames as ever\""},
    {"pool.slots", "unit/test_jobs.c", "test_a_job_gets_the_slots_that_quotas_leave"},
    {"pool.megabytes_per_job", "unit/test_jobs.c",
     "test_a_job_gets_no_more_memory_than_one_job_or_its_tenant_may_have"},
    {"pool.kept_frames_per_job", "unit/test_jobs.c", "test_kept_frames_go_by_weight_and_quota"},
    {"pool.kept_frames", "net/keys.sh", "step \"pool.slots_per_job: 64, pool.kept_frames: 0\""},
    {"pool.delays", "unit/test_jobs.c", "test_the_configuration_says_whether_delays_are_noted"},
    {"limits.jobs", "net/keys.sh", "step \"limits.workers: 2, limits.jobs: 1\""},
    {"limits.jobs_per_host", "unit/test_registry.c", "limits.jobs_per_host"},
    {"limits.workers", "net/keys.sh", "step \"limits.workers: 2, limits.jobs: 1\""},
    {"tenants.name", "net/strangers.sh", "step \"a tenant's hosts join its jobs, and no others\""},
    {"tenants.addresses", "net/strangers.sh", "step \"a tenant's hosts join its jobs, and no others\""},
    {"tenants.jobs", "net/strangers.sh", "step \"a tenant's hosts join its jobs, and no others\""},
    {"tenants.quota.jobs", "net/strangers.sh", "step \"a tenant has no more than its quota\""},
    {"tenants.quota.slots", "net/strangers.sh", "step \"a tenant has no more than its quota\""},
    {"tenants.quota.megabytes", "unit/test_jobs.c",
     "test_a_job_gets_no_more_memory_than_one_job_or_its_tenant_may_have"},
    {"tenants.quota.kept_frames", "unit/test_jobs.c", "test_kept_frames_go_by_weight_and_quota"},
    {"tenants.weight", "unit/test_jobs.c", "test_kept_frames_go_by_weight_and_quota"},
    {"tenants.key_file", "unit/test_config.c", "test_which_tenant_may_join_which_jobs"},
    {"tenants.data_keys", "net/keys.sh", "step \"data_keys: whoever forges"},
    {"uplink.parent", "unit/test_config.c", "test_which_jobs_go_on_to_which_parent"},
    {"uplink.via", "unit/test_config.c", "test_which_jobs_go_on_to_which_parent"},
    {"uplink.jobs", "unit/test_config.c", "test_which_jobs_go_on_to_which_parent"},
    {"uplink.key_file", "net/hierarchy.sh", "step \"keys: each switch has one of its own"},
    {"uplink.vlan", "unit/test_config.c", "test_which_jobs_go_on_to_which_parent"},
    {"uplink.tenants", "unit/test_config.c", "test_which_jobs_go_on_to_which_parent"},
    {"control.path", "net/swaggctl.sh",
     "step \"a second switch: it has a socket elsewhere, and is found all the same\""},
    {"control.mode", "net/swaggctl.sh",
     "step \"the socket has the mode and the group of the configuration\""},
    {"control.group", "net/swaggctl.sh",
     "step \"the socket has the mode and the group of the configuration\""},
    {"timers.lost_after_ms", "net/failures.sh", "timers: {lost_after_ms:"},
    {"timers.forming_s", "unit/test_registry.c", "timers.forming_s"},
    {"timers.mac_age_s", "net/keys.sh", "step \"timers.mac_age_s: 1\""},
    {"memory.mode", "net/keys.sh", "step \"memory.mode: no-huge, memory.megabytes: 200\""},
    {"memory.megabytes", "net/keys.sh", "step \"memory.mode: no-huge, memory.megabytes: 200\""},
    {"idle.spin", "unit/test_idle.c", "test_it_spins_before_it_naps"},
    {"idle.max_sleep_us", "net/keys.sh", "step \"idle.max_sleep_us: 0\""},
    {"log_level", "net/keys.sh", "step \"log_level\""},
    {"seed", "net/keys.sh", "step \"drop, duplicate, reorder, corrupt, and seed\""},
    {"static.name", "net/published.sh", "/swagg/job,training"},
    {"static.workers.ip", "net/published.sh", "{ip: $(net_ip"},
    {"static.workers.mac", "net/published.sh", "$(net_mac"},
    {"static.workers.port", "net/published.sh", "static_job other 5000"},
    {"static.threads", "net/published.sh", "step \"four threads a worker"},
    {"static.slots", "net/published.sh", "slots: %d"},
    {"static.elements", "net/published.sh", "ELEMENTS=64"},
    {"static.format", "unit/test_config.c", "format: fp16"},
    {"static.mode", "net/published.sh", "mode: ordered"},
    {"static.udp_checksum", "unit/test_static_jobs.c", "test_results_have_a_udp_checksum_if_asked_for"},
    {"static.tenant", "unit/test_static_jobs.c", "test_a_static_job_counts_against_its_tenant_s_quota"},
    {"static.quiet_ms", "net/published.sh", "quiet_ms: 1000"},
    {"hostagg.name", "net/hostagg.sh", "net_ctl job gradients"},
    {"hostagg.job", "unit/test_hostagg_flow.c", "NUMBER"},
    {"hostagg.host.ip", "net/hostagg.sh", "host: {ip: %s"},
    {"hostagg.host.mac", "net/hostagg.sh", "host: {ip: %s, mac:"},
    {"hostagg.host.port", "net/hostagg.sh", "port: 5000"},
    {"hostagg.host_gets", "unit/test_hostagg_flow.c", "HAG_HOST_ABSENT"},
    {"hostagg.workers.ip", "net/hostagg.sh", "{ip: $(net_ip"},
    {"hostagg.workers.mac", "net/hostagg.sh", "$(net_mac"},
    {"hostagg.workers.port", "unit/test_hostagg_flow.c",
     "test_what_is_not_the_jobs_passes_to_the_host_as_it_came"},
    {"hostagg.slots", "net/hostagg.sh", "slots: %d"},
    {"hostagg.elements", "net/hostagg.sh", "elements: %d"},
    {"hostagg.type", "unit/test_config.c", "type: float64"},
    {"hostagg.operation", "unit/test_config.c", "operation: max"},
    {"hostagg.tenant", "unit/test_vlan_flows.c", "test_a_job_of_a_tenant"},
    {"hostagg.vlan", "unit/test_vlan_flows.c", "test_a_host_addressed_job_in_a_vlan"},
    {"clone.name", "net/hostagg.sh", "net_ctl sums passing"},
    {"clone.host", "net/hostagg.sh", "clone_job"},
    {"clone.ether_type", "unit/test_config.c", "ether_type: 0x88b6"},
    {"clone.workers", "net/hostagg.sh", "clone_job"},
    {"clone.slots", "unit/test_config.c", "slots: 8, sequence_at"},
    {"clone.sequence_at", "net/hostagg.sh", "sequence_at: 16"},
    {"clone.byte_order", "unit/test_clone_flow.c", "test_numbers_in_little_endian"},
    {"clone.elements_at", "unit/test_clone_flow.c", "ELEMENTS_AT"},
    {"clone.elements", "unit/test_config.c", "elements: 100, type: int16"},
    {"clone.type", "unit/test_config.c", "type: int16"},
    {"clone.operation", "unit/test_config.c", "operation: min"},
    {"clone.match_at", "unit/test_clone.c", "KIND_AT"},
    {"clone.match", "net/hostagg.sh", "match:"},
    {"clone.collector.ip", "net/hostagg.sh", "collector: {ip: %s"},
    {"clone.collector.mac", "net/hostagg.sh", "collector: {ip: %s, mac:"},
    {"clone.collector.port", "net/hostagg.sh", "port: 6000"},
    {"clone.missing_after_ms", "unit/test_clone.c", "test_a_chunk_that_lacks_copies_is_reported_once"},
    {"clone.quiet_ms", "unit/test_clone_flow.c", "test_a_quiet_job_starts_over"},
    {"clone.tenant", "unit/test_vlan_flows.c", "test_a_job_of_a_tenant"},
    {"clone.vlan", "unit/test_vlan_flows.c", "test_a_job_of_passing_frames_in_a_vlan"},
    {"replay.workers", "net/replay.sh", "{workers: 3,"},
    {"replay.slots", "net/replay.sh", "slots: 16"},
    {"replay.phases", "net/replay.sh", "step \"a capture that starts over\""},
    {"replay.chunk_bytes", "net/replay.sh", "chunk_bytes: 1024"},
    {"replay.format", "net/replay.sh", "step \"the published format: made up, and a tensor of floats\""},
    {"replay.ordered", "net/replay.sh", "step \"ordered sums, eight workers on one host\""},
    {"replay.worker_mac", "net/replay.sh", "step \"workers at other addresses\""},
    {"replay.worker_ip", "net/replay.sh", "step \"workers at other addresses\""},
    {"replay.worker_port", "net/replay.sh", "step \"workers at other addresses\""},
    {"replay.tenant", "unit/test_config_mistakes.c", "tenant: nobody"},
    {"replay.one_host", "net/replay.sh", "one_host: true"},
};
enum { SHOWN = sizeof(shown) / sizeof(shown[0]) };

static bool has_key[SHOWN];

static void find_entry(const char *key)
{
    bool found = false;

    for (unsigned i = 0; i < SHOWN; i++)
        if (strcmp(shown[i].key, key) == 0)
            found = has_key[i] = true;
    if (!found)
        printf("\nno test is named that shows the effect of %s\n", key);
    CU_ASSERT_TRUE(found);
}

static void visit_keys(const char *parent, const cyaml_schema_value_t *value)
{
    char key[CONFIG_NAME_MAX * 4];

    if (value->type == CYAML_SEQUENCE && value->sequence.entry->type == CYAML_MAPPING)
        value = value->sequence.entry;
    if (value->type != CYAML_MAPPING) {
        find_entry(parent);
        return;
    }
    for (const cyaml_schema_field_t *f = value->mapping.fields; f->key != NULL; f++) {
        snprintf(key, sizeof(key), "%s%s%s", parent, parent[0] != '\0' ? "." : "", f->key);
        visit_keys(key, &f->value);
    }
}

static void test_every_key_is_shown_by_a_test(void)
{
    visit_keys("", &config_schema);
    for (unsigned i = 0; i < SHOWN; i++) {
        if (!has_key[i])
            printf("\n%s is no key\n", shown[i].key);
        CU_ASSERT_TRUE(has_key[i]);
    }
}

static bool file_has(const char *file, const char *words)
{
    char path[512], line[1024];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", TESTS_DIRECTORY, file);
    f = fopen(path, "r");
    while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL)
        found = strstr(line, words) != NULL;
    if (f != NULL)
        fclose(f);
    return found;
}

static void test_the_tests_are_there(void)
{
    for (unsigned i = 0; i < SHOWN; i++) {
        const bool there = file_has(shown[i].file, shown[i].words);

        if (!there)
            printf("\n%s: tests/%s does not say \"%s\"\n", shown[i].key, shown[i].file, shown[i].words);
        CU_ASSERT_TRUE(there);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_every_key_is_shown_by_a_test),
        UNIT_TEST(test_the_tests_are_there),
        CU_TEST_INFO_NULL,
    };

    return unit_main("config_keys", tests);
}

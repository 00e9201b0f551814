/* Two configurations compared, and the numbers of ports and tenants, which stay what they are. */
#include "config/reload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static struct config running, next;
static struct settings_changes changes;

/* Two of everything. */
static void describe(struct config *c)
{
    static const char *const names[] = {"first", "second"};

    memset(c, 0, sizeof(*c));
    c->ports = c->tenants = c->static_jobs = c->hostagg_jobs = c->clone_jobs = 2;
    c->replays = c->uplinks = c->placement.lcores = 2;
    for (unsigned i = 0; i < 2; i++) {
        strcpy(c->port[i].name, names[i]);
        strcpy(c->tenant[i].name, names[i]);
        strcpy(c->static_job[i].common.name, names[i]);
        strcpy(c->hostagg[i].common.name, names[i]);
        strcpy(c->clone[i].common.name, names[i]);
        c->replay[i].tenant = c->static_job[i].common.tenant = c->hostagg[i].common.tenant =
            c->clone[i].common.tenant = -1;
    }
}

static void describe_both(void)
{
    describe(&running);
    describe(&next);
}

EACH_TEST(describe_both, NULL)

static void compare(void)
{
    config_compare(&changes, &running, &next);
}

/* This alone is another. */
static bool is_one(const char *key, const char *from, const char *to, enum setting_when when)
{
    compare();

    const struct settings_change *c = &changes.change[0];
    const bool right = changes.n == 1 && strcmp(c->key, key) == 0 && strcmp(c->from, from) == 0 &&
                       strcmp(c->to, to) == 0 && c->when == when;

    if (!right)
        printf("\n%s: %u changes, the first is %s: %s -> %s\n", key, changes.n, c->key, c->from, c->to);
    return right;
}

TEST(what_is_the_same_is_no_change)
{
    memset(running.port[0].name + 8, 'x', 4); /* behind its end */
    compare();
    CU_ASSERT_EQUAL(changes.n, 0);
}

/* Lists */

TEST(values_are_shown)
{
    next.limits.jobs = 32;
    CU_ASSERT(is_one("limits.jobs", "0", "32", SETTING_AT_ONCE));
    describe(&next);
    next.log_level = LOG_LEVEL_DEBUG;
    CU_ASSERT(is_one("log_level", "error", "debug", SETTING_AT_ONCE));
    describe(&next);
    strcpy(next.tenant[0].key_file, "lab.key");
    CU_ASSERT(is_one("tenants[first].key_file", "-", "lab.key", SETTING_AT_ONCE));
    describe(&next);
    next.port[1].impair.rx.rate[IMPAIR_DROP].probability = 0.25;
    CU_ASSERT(is_one("ports[second].impair.rx.drop", "0", "0.25", SETTING_AT_ONCE));
    describe(&next);
    memcpy(&next.ip, (uint8_t[]){10, 0, 0, 1}, 4);
    next.prefix = 24;
    CU_ASSERT(is_one("switch.ip", "-", "10.0.0.1/24", SETTING_RESTART));
    describe(&next);
    next.control.mode = 0640;
    CU_ASSERT(is_one("control.mode", "0", "640", SETTING_RESTART));
}

TEST(items_come_and_go_by_their_names)
{
    next.tenant[0] = next.tenant[1];
    next.tenants = 1;
    CU_ASSERT(is_one("tenants[first]", "-", "removed", SETTING_AT_ONCE));
    describe(&next);
    strcpy(next.static_job[next.static_jobs++].common.name, "third");
    CU_ASSERT(is_one("static[third]", "-", "added", SETTING_AT_ONCE));
    describe(&next);
    next.static_jobs = 1;
    CU_ASSERT(is_one("static[second]", "-", "removed", SETTING_WHEN_QUIET));
    describe(&next);
    next.replays = 1;
    CU_ASSERT(is_one("replay", "2 items", "1 items", SETTING_RESTART));
}

/* Which tenants' jobs go on to an uplink is no other question when their numbers are others. */
TEST(an_uplink_s_tenants_are_known_by_name)
{
    running.uplink[0].tenants = 2;
    running.uplink[1].tenants = next.uplink[1].tenants = UINT64_MAX;
    next.tenants = 3;
    strcpy(next.tenant[0].name, "new");
    strcpy(next.tenant[1].name, "first");
    strcpy(next.tenant[2].name, "second");
    next.uplink[0].tenants = 4;
    CU_ASSERT(is_one("tenants[new]", "-", "added", SETTING_AT_ONCE));
    next.uplink[0].tenants = 2; /* the same number, but the first one's */
    compare();
    CU_ASSERT_EQUAL(changes.of[SETTING_RESTART], 1);
    next.uplink[0].tenants = 4 | 2;
    compare();
    CU_ASSERT_EQUAL(changes.of[SETTING_RESTART], 1);
    next.uplink[0].tenants = UINT64_MAX; /* all that come */
    compare();
    CU_ASSERT_EQUAL(changes.of[SETTING_RESTART], 1);
}

/* A process belongs to the first tenant that it may belong to. */
TEST(the_order_of_tenants_counts)
{
    next.tenant[0] = running.tenant[1];
    next.tenant[1] = running.tenant[0];
    CU_ASSERT(is_one("tenants", "-", "in another order", SETTING_AT_ONCE));
}

/* Replayed jobs name a tenant; it is the same one if its name is. */
TEST(a_tenant_is_the_same_by_its_name)
{
    running.replay[0].tenant = next.replay[0].tenant = 0;
    next.tenant[0] = running.tenant[1];
    next.tenant[1] = running.tenant[0];
    compare();
    CU_ASSERT_EQUAL(changes.of[SETTING_RESTART], 1);
    next.replay[0].tenant = 1;
    compare();
    CU_ASSERT_EQUAL(changes.of[SETTING_RESTART], 0);
}

TEST(more_changes_than_are_listed_are_counted)
{
    running.ports = next.ports = SWAGG_MAX_PORTS;
    for (unsigned p = 2; p < SWAGG_MAX_PORTS; p++)
        snprintf(running.port[p].name, CONFIG_NAME_MAX, "p%u", p);
    memcpy(next.port, running.port, sizeof(next.port));
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        for (unsigned k = 0; k < IMPAIR_KINDS; k++) {
            next.port[p].impair.rx.rate[k].every = 7;
            next.port[p].impair.tx.rate[k].every = 7;
        }
    compare();
    CU_ASSERT_EQUAL(changes.n, SETTINGS_CHANGES_MAX);
    CU_ASSERT_EQUAL(changes.of[SETTING_AT_ONCE], SWAGG_MAX_PORTS * IMPAIR_KINDS * 2);
}

/* Numbers */

TEST(ports_keep_their_numbers)
{
    running.ports = 4;
    strcpy(running.port[3].name, "fourth"); /* there is none with number 2 */
    strcpy(next.port[0].name, "new");
    strcpy(next.port[1].name, "fourth");
    strcpy(next.port[next.ports++].name, "first");
    next.placement.lcore[0].rx[1] = 1 | 2; /* of new and fourth */
    next.placement.lcore[1].tx[0] = 4;     /* of first */
    CU_ASSERT_FATAL(config_align_ports(&next, &running));
    CU_ASSERT_EQUAL(next.ports, 4);
    CU_ASSERT_STRING_EQUAL(next.port[0].name, "first");
    CU_ASSERT_STRING_EQUAL(next.port[1].name, ""); /* is still second's */
    CU_ASSERT_STRING_EQUAL(next.port[2].name, "new");
    CU_ASSERT_STRING_EQUAL(next.port[3].name, "fourth");
    CU_ASSERT_EQUAL(next.placement.lcore[0].rx[1], 4 | 8);
    CU_ASSERT_EQUAL(next.placement.lcore[1].tx[0], 1);
}

TEST(numbers_of_ports_run_out)
{
    running.ports = SWAGG_MAX_PORTS;
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        snprintf(running.port[p].name, CONFIG_NAME_MAX, "p%u", p);
    next = running;
    CU_ASSERT(config_align_ports(&next, &running));
    for (unsigned p = 0; p < SWAGG_MAX_PORTS; p++)
        CU_ASSERT_STRING_EQUAL(next.port[p].name, running.port[p].name);
    strcpy(next.port[5].name, "new");
    CU_ASSERT(!config_align_ports(&next, &running));
}

/* Two with an address, and others. */
static void describe_vlans(struct config *c, unsigned others, const uint32_t other[])
{
    describe(c);
    c->vlans = 2 + others;
    c->vlan[0] = (struct config_vlan){.id = 20, .ip = 1, .prefix = 24};
    c->vlan[1] = (struct config_vlan){.id = 10, .ip = 2, .prefix = 24};
    for (unsigned i = 0; i < others; i++)
        c->vlan[2 + i].id = other[i];
}

TEST(vlans_keep_their_numbers)
{
    describe_vlans(&running, 3, (const uint32_t[]){30, 40, 50});
    running.clone[0].common.network = running.hostagg[0].common.network = 3;
    describe_vlans(&next, 2, (const uint32_t[]){50, 40}); /* whose first port is another now */
    next.clone[0].common.network = next.hostagg[0].common.network = 3;
    next.clone[1].common.network = 1;
    config_align_vlans(&next, &running);
    CU_ASSERT_EQUAL(next.vlans, 5);
    CU_ASSERT_EQUAL(next.clone[0].common.network, 3); /* 40 */
    CU_ASSERT_EQUAL(next.hostagg[0].common.network, 3);
    CU_ASSERT_EQUAL(next.clone[1].common.network, 1);
    compare();
    CU_ASSERT_EQUAL(changes.n, 0);
    describe_vlans(&next, 1, (const uint32_t[]){50});
    next.clone[0].common.network = 2;
    config_align_vlans(&next, &running);
    CU_ASSERT_EQUAL(next.clone[0].common.network, 4);
}

TEST(new_vlans_and_addresses_need_a_restart)
{
    static const uint32_t same[] = {30}, more[] = {30, 40};

    describe_vlans(&running, 1, same);
    describe_vlans(&next, 2, more);
    config_align_vlans(&next, &running);
    CU_ASSERT(is_one("switch.vlans.vlan", "0", "40", SETTING_RESTART));
    describe_vlans(&next, 1, same);
    next.vlan[1].ip = 3;
    config_align_vlans(&next, &running);
    CU_ASSERT(is_one("switch.vlans.ip", "2.0.0.0/24", "3.0.0.0/24", SETTING_RESTART));
    describe_vlans(&next, 1, same);
    next.vlan[1] = (struct config_vlan){.id = 10}; /* its address is gone */
    config_align_vlans(&next, &running);
    compare();
    CU_ASSERT(changes.of[SETTING_RESTART] > 0);
    describe_vlans(&next, 1, same);
    next.vlan[2] = next.vlan[1];
    next.vlan[1] = next.vlan[0]; /* in another order */
    next.vlan[0] = next.vlan[2];
    next.vlan[2].ip = 0;
    next.vlan[2].id = 30;
    config_align_vlans(&next, &running);
    compare();
    CU_ASSERT(changes.of[SETTING_RESTART] > 0);
    describe(&next); /* without VLANs */
    config_align_vlans(&next, &running);
    compare();
    CU_ASSERT(changes.of[SETTING_RESTART] > 0);
}

/* They stay without addresses, key, quotas, so that nobody joins their jobs any more. */
TEST(tenants_with_jobs_stay_as_long_as_those)
{
    int number[CONFIG_TENANTS_MAX];

    running.tenant[0].weight = 3;
    running.tenant[0].jobs.n = 1;
    running.tenant[0].quota.jobs = 2;
    strcpy(running.tenant[running.tenants++].name, "third");
    next.tenants = 1;
    strcpy(next.tenant[0].name, "third");
    CU_ASSERT_FATAL(config_keep_tenants(&next, &running, 1, number));
    CU_ASSERT_EQUAL(number[0], 1);
    CU_ASSERT_EQUAL(number[1], -1);
    CU_ASSERT_EQUAL(number[2], 0);
    CU_ASSERT(next.tenants == 1 && next.leaving == 1);
    CU_ASSERT_STRING_EQUAL(next.tenant[1].name, "first");
    CU_ASSERT(next.tenant[1].weight == 3 && next.tenant[1].jobs.n == 0 && next.tenant[1].quota.jobs == 0);
    compare();
    CU_ASSERT_EQUAL(changes.n, 2); /* first and second are removed; order has no say */
    running = next;                /* once more; its jobs have ended */
    next.leaving = 0;
    CU_ASSERT_FATAL(config_keep_tenants(&next, &running, 0, number));
    CU_ASSERT(number[0] == 0 && number[1] == -1 && next.leaving == 0);
    compare();
    CU_ASSERT_EQUAL(changes.n, 0);
}

TEST(a_tenant_that_is_leaving_can_come_back)
{
    int number[CONFIG_TENANTS_MAX];

    running.tenants = running.leaving = 1;
    CU_ASSERT_FATAL(config_keep_tenants(&next, &running, 3, number));
    CU_ASSERT(number[0] == 0 && number[1] == 1 && next.leaving == 0);
    CU_ASSERT(is_one("tenants[second]", "-", "added", SETTING_AT_ONCE));
}

TEST(there_may_be_too_many_tenants)
{
    int number[CONFIG_TENANTS_MAX];

    memset(&next, 0, sizeof(next));
    next.tenants = CONFIG_TENANTS_MAX - 1;
    CU_ASSERT(config_keep_tenants(&next, &running, 1, number));
    CU_ASSERT(!config_keep_tenants(&next, &running, 3, number));
}

/* Static jobs that an operator added */

static void add(const char *name, uint32_t ip, uint16_t port)
{
    struct config_static *job = &running.static_job[running.static_jobs++];

    *job = (struct config_static){.common = {.added = true, .workers = 1, .tenant = 1}, .threads = 2};
    strcpy(job->common.name, name);
    job->worker[0] = (struct config_peer){.ip = ip, .port = port};
}

TEST(a_job_that_an_operator_added_outlives_another_configuration)
{
    add("added", 1, 4000);
    strcpy(next.tenant[0].name, "second");
    strcpy(next.tenant[1].name, "first");
    CU_ASSERT_EQUAL(config_take_added(&next, &running), 0);
    CU_ASSERT_EQUAL_FATAL(next.static_jobs, 3);
    CU_ASSERT_STRING_EQUAL(next.static_job[2].common.name, "added");
    CU_ASSERT_EQUAL(next.static_job[2].common.tenant, 0);
    CU_ASSERT_EQUAL(config_delete_added(&next, "first"), -EPERM);
    CU_ASSERT_EQUAL(config_delete_added(&next, "added"), 0);
    CU_ASSERT_EQUAL(next.static_jobs, 2);
    CU_ASSERT_EQUAL(config_delete_added(&next, "added"), -EPERM);
}

TEST(what_an_operator_added_must_have_its_place_in_another_configuration)
{
    add("added", 1, 4000);
    strcpy(next.tenant[1].name, "other");
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -EBUSY);
    describe(&next);
    strcpy(next.static_job[0].common.name, "added");
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -EEXIST);
    describe(&next);
    next.static_job[0].threads = 1;
    next.static_job[0].common.workers = 1;
    next.static_job[0].worker[0] = (struct config_peer){.ip = 1, .port = 4001};
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -EADDRINUSE);
    next.static_job[0].worker[0].port = 4002;
    CU_ASSERT_EQUAL(config_take_added(&next, &running), 0);
    describe(&next);
    next.static_jobs = CONFIG_STATIC_JOBS_MAX;
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -ENOSPC);
}

TEST(so_does_one_of_rdma_clients)
{
    running.roce_jobs = 2;
    running.roce[0] =
        (struct config_roce){.common = {.name = "file's", .workers = 1, .tenant = -1}, .worker = {{.ip = 1}}};
    running.roce[1] = (struct config_roce){
        .common = {.name = "added", .workers = 1, .tenant = 1, .added = true}, .worker = {{.ip = 2}}};
    strcpy(next.tenant[0].name, "second");
    strcpy(next.tenant[1].name, "first");
    CU_ASSERT_EQUAL(config_take_added(&next, &running), 0);
    CU_ASSERT_EQUAL_FATAL(next.roce_jobs, 1);
    CU_ASSERT_STRING_EQUAL(next.roce[0].common.name, "added");
    CU_ASSERT_EQUAL(next.roce[0].common.tenant, 0);
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -EEXIST);
    strcpy(next.roce[0].common.name, "other");
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -EADDRINUSE);
    next.roce[0].worker[0].ip = 3;
    strcpy(next.static_job[0].common.name, "added");
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -EEXIST);
    strcpy(next.static_job[0].common.name, "first");
    CU_ASSERT_EQUAL_FATAL(config_take_added(&next, &running), 0);
    CU_ASSERT_EQUAL(config_delete_added(&next, "other"), 0);
    CU_ASSERT_EQUAL(config_delete_added(&next, "added"), 0);
    CU_ASSERT_EQUAL(next.roce_jobs, 0);
    strcpy(next.tenant[0].name, "third");
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -EBUSY);
    describe(&next);
    next.roce_jobs = CONFIG_ROCE_JOBS_MAX;
    CU_ASSERT_EQUAL(config_take_added(&next, &running), -ENOSPC);
}

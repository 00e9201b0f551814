/* What operators ask to be changed: numbers that are no such numbers are refused, whatever they would be cut
 * to. */
#include <string.h>

#include "commands/actions.h"
#include "unit.h"

static struct config running;
static struct config_port added;
static unsigned adds;

static int add_port(struct reload *r, const struct config_port *port)
{
    (void)r;
    added = *port;
    adds++;
    return 0;
}

static struct config_static job;
static struct config_roce rdma_job;

static int add_job(struct reload *r, const struct config *alone, const char *name)
{
    (void)r;
    CU_ASSERT_EQUAL(alone->static_jobs + alone->roce_jobs, 1);
    job = alone->static_job[0];
    rdma_job = alone->roce[0];
    CU_ASSERT_STRING_EQUAL(name, alone->static_jobs > 0 ? job.common.name : rdma_job.common.name);
    adds++;
    return 0;
}

static const struct registry_reload reload = {.running = &running};
static const struct action_parts parts = {.common.reload = &reload,
                                          .reloading = {.add_port = add_port, .add_job = add_job}};

static struct reply run(const char *action, const char *line)
{
    struct reply reply = {.code = REPLY_OK};
    char why[REQUEST_TEXT_MAX];
    struct request request;

    CU_ASSERT_EQUAL_FATAL(request_parse(&request, line, strlen(line), why), 0);
    actions_find(action)->run(&(struct action_call){&parts, &request, "h0", &reply});
    request_free(&request);
    return reply;
}

#define SET(settings) "{\"version\": 1, \"command\": \"x\", \"settings\": {" settings "}}"
#define ADD(settings)                                                                                        \
    "{\"version\": 1, \"command\": \"port add\", \"port\": \"new\", \"device\": \"kernel:new\", "            \
    "\"settings\": {" settings "}}"

/* A switch with VLAN 10. */
static void describe(void)
{
    running = (struct config){
        .mtu = 1500, .ports = 1, .vlans = 1, .vlan = {{.id = 10}}, .timers.lost_after_ms = 100};
    strcpy(running.port[0].name, "h0");
    strcpy(running.port[0].device, "kernel:h0");
    running.port[0].rx_queues = running.port[0].tx_queues = 1;
    adds = 0;
}

TEST(a_port_is_added_with_the_numbers_that_were_given)
{
    describe();
    CU_ASSERT_EQUAL(run("port add", ADD("\"vlan\": 10.0, \"rx_queues\": 2")).code, REPLY_OK);
    CU_ASSERT_EQUAL_FATAL(adds, 1);
    CU_ASSERT_EQUAL(added.vlan, 10);
    CU_ASSERT_EQUAL(added.rx_queues, 2);
    CU_ASSERT_EQUAL(added.tx_queues, 1);
}

static void refuses(const char *action, const char *line, const char *expected)
{
    const struct reply reply = run(action, line);

    CU_ASSERT_NOT_EQUAL(reply.code, REPLY_OK);
    if (strstr(reply.error, expected) == NULL)
        printf("\n%s: %s", line, reply.error);
    CU_ASSERT_PTR_NOT_NULL(strstr(reply.error, expected));
}

TEST(a_port_s_numbers_are_not_cut)
{
    describe();
    refuses("port add", ADD("\"vlan\": 4294967306"), "vlan: is no whole number"); /* 2^32 + 10 */
    refuses("port add", ADD("\"vlan\": 10.5"), "vlan: is no whole number");
    refuses("port add", ADD("\"vlan\": -1"), "vlan: is no whole number");
    refuses("port add", ADD("\"vlan\": 11"), "vlan=11: the switch has no such VLAN");
    refuses("port add", ADD("\"vlan\": 10, \"rx_queues\": 1.5"), "rx_queues: is no whole number");
    refuses("port add", ADD("\"vlan\": 10, \"tx_queues\": 1e300"), "tx_queues: is no whole number");
    refuses("port add", ADD("\"vlan\": 10, \"tx_queues\": 17"), "out of range");
    refuses("port add", ADD("\"vlan\": \"10\""), "vlan: is not a number");
    refuses("port add", ADD("\"vlans\": 10"), "vlans: is no setting of a port");
    CU_ASSERT_EQUAL(adds, 0);
}

#define JOB(settings)                                                                                        \
    "{\"version\": 1, \"command\": \"job add\", \"job\": \"train\", "                                        \
    "\"settings\": {\"workers\": [{\"ip\": \"10.0.0.1\", \"mac\": \"02:00:00:00:00:01\"}, "                  \
    "{\"ip\": \"10.0.0.2\", \"mac\": \"02:00:00:00:00:02\", \"port\": 5000}] " settings "}}"

/* The same with an address in two VLANs, and tenants. */
static void describe_more(void)
{
    describe();
    running.has_ip = true;
    running.vlans = 3;
    running.vlan[1] = (struct config_vlan){.id = 20, .ip = 0xfe01000a, .prefix = 24};
    running.vlan[2] = (struct config_vlan){.id = 30, .ip = 0xfe00000a, .prefix = 24};
    running.tenants = 2;
    strcpy(running.tenant[0].name, "lab");
    strcpy(running.tenant[1].name, "guest");
    running.timers.lost_after_ms = 700;
}

TEST(a_job_is_added_as_the_configuration_s)
{
    describe_more();
    CU_ASSERT_EQUAL(run("job add", JOB(", \"threads\": 2.0, \"slots\": 16, \"vlan\": 30, "
                                       "\"tenant\": \"guest\""))
                        .code,
                    REPLY_OK);
    CU_ASSERT_EQUAL_FATAL(adds, 1);
    CU_ASSERT_STRING_EQUAL(job.common.name, "train");
    CU_ASSERT(job.common.added);
    CU_ASSERT_EQUAL(job.common.workers, 2);
    CU_ASSERT_EQUAL(job.worker[0].port, 4000);
    CU_ASSERT_EQUAL(job.worker[1].port, 5000);
    CU_ASSERT_EQUAL(job.threads, 2);
    CU_ASSERT_EQUAL(job.slots, 16);
    CU_ASSERT_EQUAL(job.elements, 256);
    CU_ASSERT_EQUAL(job.common.quiet_ms, 700);
    CU_ASSERT_EQUAL(job.common.network, 2);
    CU_ASSERT_EQUAL(job.common.tenant, 1);
}

TEST(a_job_of_as_many_workers_as_there_can_be_is_one_line)
{
    char line[CONFIG_STATIC_WORKERS_MAX * 128];
    int n = snprintf(
        line, sizeof line, "%s",
        "{\"version\": 1, \"command\": \"job add\", \"job\": \"train\", \"settings\": {\"workers\": [");
    for (unsigned i = 0; i < CONFIG_STATIC_WORKERS_MAX; i++)
        n += snprintf(line + n, sizeof line - (size_t)n,
                      "%s{\"ip\": \"10.100.100.%u\", \"mac\": \"02:00:00:00:00:%02x\", \"port\": %u}",
                      i == 0 ? "" : ", ", i, i, 10000 + i);
    n += snprintf(line + n, sizeof line - (size_t)n, "], \"vlan\": 30}}");
    CU_ASSERT(n <= REQUEST_BYTES_MAX);
    describe_more();
    running.vlan[2].prefix = 8;
    CU_ASSERT_EQUAL(run("job add", line).code, REPLY_OK);
    CU_ASSERT_EQUAL(job.common.workers, CONFIG_STATIC_WORKERS_MAX);
}

TEST(a_job_is_refused_in_the_configuration_s_words)
{
    describe_more();
    refuses("job add", JOB(", \"elements\": 100"), "static[0].elements: 100 is none of 32, 64, 128 and 256");
    refuses("job add", JOB(", \"slots\": 1.5"), "static[0].slots");
    refuses("job add", JOB(", \"thread\": 2"), "did you mean \"threads\"?");
    refuses("job add", JOB(", \"tenant\": \"nobody\""), "no tenant is called \"nobody\"");
    refuses("job add", JOB(", \"vlan\": 10"), "the switch has no address in VLAN 10");
    refuses("job add", "{\"version\": 1, \"command\": \"job add\", \"job\": \"train\"}", "workers");
    refuses("job add", "{\"version\": 1, \"command\": \"job add\", \"settings\": []}",
            "static[0].workers: is missing");
    refuses("job add",
            "{\"version\": 1, \"command\": \"job add\", \"settings\": {\"workers\": [{\"ip\": \"10.0.0.1\", "
            "\"mac\": \"02:00:00:00:00:01\"}]}}",
            "static[0].name");
    describe();
    running.vlans = 0;
    refuses("job add", JOB(""), "needs switch.ip");
    CU_ASSERT_EQUAL(adds, 0);
}

#define RDMA_JOB(settings)                                                                                   \
    "{\"version\": 1, \"command\": \"job add\", \"job\": \"train\", \"settings\": {\"list\": \"roce\", "     \
    "\"workers\": [{\"ip\": \"10.0.0.1\", \"mac\": \"02:00:00:00:00:01\", \"rkey\": 7, \"queue_pairs\": "    \
    "[17, 18]}, "                                                                                            \
    "{\"ip\": \"10.0.0.2\", \"mac\": \"02:00:00:00:00:02\", \"rkey\": 4294967295, "                          \
    "\"queue_pairs\": [\"0x21-0x22\"]}] " settings "}}"

TEST(a_job_of_rdma_clients_is_added_to_the_list_that_is_named)
{
    describe_more();
    CU_ASSERT_EQUAL(
        run("job add", RDMA_JOB(", \"packet_elements\": 64.0, \"vlan\": 30, \"tenant\": \"lab\"")).code,
        REPLY_OK);
    CU_ASSERT_EQUAL_FATAL(adds, 1);
    CU_ASSERT_STRING_EQUAL(rdma_job.common.name, "train");
    CU_ASSERT(rdma_job.common.added);
    CU_ASSERT_EQUAL(rdma_job.common.workers, 2);
    CU_ASSERT_EQUAL(rdma_job.member[0].queue_pair[1], 18);
    CU_ASSERT_EQUAL(rdma_job.member[1].queue_pair[0], 0x21);
    CU_ASSERT_EQUAL(rdma_job.member[1].key, UINT32_MAX);
    CU_ASSERT_EQUAL(rdma_job.packet_elements, 64);
    CU_ASSERT_EQUAL(rdma_job.message_elements, 1024);
    CU_ASSERT_EQUAL(rdma_job.common.quiet_ms, 700);
    CU_ASSERT_EQUAL(rdma_job.common.network, 2);
    CU_ASSERT_EQUAL(rdma_job.common.tenant, 0);
    refuses("job add", RDMA_JOB(", \"threads\": 2"), "threads");
    refuses("job add", RDMA_JOB(", \"message_elements\": 32"),
            "roce[0].message_elements: 32 are not 1 to 64");
    refuses("job add", "{\"version\": 1, \"command\": \"job add\", \"settings\": {\"list\": \"clone\"}}",
            "list: is none that jobs can be added to; there are: static, roce");
    CU_ASSERT_EQUAL(adds, 1);
}

TEST(an_impairment_s_numbers_are_not_cut)
{
    refuses("impair set", SET("\"drop_every\": 1.5"), "drop_every: 1.5 is no whole number of frames");
    refuses("impair set", SET("\"drop_every\": 4294967296"), "is no whole number of frames");
    refuses("impair set", SET("\"drop\": 1, \"reorder_by\": 1000.5"), "is no whole number from 1 to 1000");
    refuses("impair set", SET("\"drop\": 1, \"reorder_for_us\": 0.5"),
            "is no whole number from 1 to 10000000");
    refuses("impair set", SET("\"drop\": 1.5"), "drop: 1.5 is not a probability");
}

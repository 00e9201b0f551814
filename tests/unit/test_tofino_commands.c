/* What operators get from swagg-tofino: views of its jobs, of what the helper finds in the chip, and what is
 * refused, by name. The helper is sed, which agrees to everything. */
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "control/session.h"
#include "operator/request.h"
#include "switchml/terms.h"
#include "switchml/worker.h"
#include "unit.h"

static const char answer[] = "s/.*\"id\":\\([0-9]*\\).*/{\"id\":\\1,\"ok\":true,\"kept\":[]}/";
static char asked[64], note_questions[80]; /* the file with what sed was asked; what it does about it */

static struct {
    struct config cfg;
    struct keyring keys;
    struct helper *helper;
    struct membership *membership;
    struct tofino_counts counts;
    struct shown shown;
    struct ctl_session worker;
    struct ctl_endpoint from;
    uint64_t now;
    char state[64];
} rig;

static void complain(void *context, const char *message)
{
    (void)context;
    fprintf(stderr, "%s\n", message);
}

static void send_to_worker(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    (void)context;
    (void)to;
    ctl_session_receive(&rig.worker, payload, bytes, rig.now);
}

static void log_nothing(const char *job, const char *what)
{
    (void)job;
    (void)what;
}

static void answered(void *context, uint64_t id, const json_t *found)
{
    (void)context;
    membership_answered(rig.membership, id, found, rig.now);
}

static void hear_helper(void)
{
    struct pollfd waiting = {.fd = helper_fd(rig.helper), .events = POLLIN};

    CU_ASSERT_EQUAL_FATAL(poll(&waiting, 1, 60000), 1);
    CU_ASSERT_TRUE_FATAL(helper_receive(rig.helper, answered, NULL));
}

static void speak(void)
{
    uint8_t message[CTL_MESSAGE_MAX];
    const size_t bytes = ctl_session_poll(&rig.worker, rig.now, message);

    if (bytes > 0)
        membership_receive(rig.membership, &rig.from, message, bytes, rig.now);
}

/* In a job of one rank, whose tenant is lab. */
static void ask_to_join(const char *job)
{
    struct ctl_session_config cfg = {.size = 1,
                                     .incarnation = 5,
                                     .join = {.data_port = 40001},
                                     .worker = &sml_worker,
                                     .join_deadline_ns = UINT64_C(60000000000)};
    const struct sml_terms wish = {
        .format = SML_FORMAT_INT32, .slots = 16, .chunk_bytes = 256, .plain = true};

    snprintf(cfg.join.name, sizeof(cfg.join.name), "%s", job);
    sml_terms_build(&cfg.join.terms, &wish);
    ctl_session_init(&rig.worker, &cfg, rig.now);
    speak(); /* it is told the boot id, */
    speak(); /* and joins */
}

static void join(const char *job)
{
    ask_to_join(job);
    hear_helper();
    CU_ASSERT_EQUAL_FATAL(rig.worker.state, CTL_SESSION_READY);
}

static void open_rig(void)
{
    static char *const sed[] = {"sed", "-u", "-e", note_questions, "-e", (char *)answer, NULL};
    static const char text[] =
        "switch: {ip: 10.77.0.254/24}\n"
        "ports:\n  - {name: cpu, device: \"kernel:ens1\"}\n"
        "  - {name: h0, device: \"chip:128,speed=100g\"}\n"
        "  - {name: h1, device: \"chip:136\"}\n"
        "tenants:\n  - {name: lab, addresses: [0.0.0.0/0], jobs: [train], quota: {jobs: 3}}\n"
        "  - {name: all, addresses: [0.0.0.0/0]}\n"
        "static:\n  - {name: old, threads: 2, slots: 64, elements: 64, workers: "
        "[{mac: \"02:00:00:00:00:01\", ip: 10.77.0.1, port: 50000}]}\n";
    struct membership_parts parts = {.cfg = &rig.cfg,
                                     .keys = &rig.keys,
                                     .elements = 64,
                                     .send = send_to_worker,
                                     .log = log_nothing,
                                     .state = rig.state};

    memset(&rig, 0, sizeof(rig));
    rig.now = UINT64_C(1000000000);
    snprintf(asked, sizeof(asked), "/tmp/swagg-asked.%d", (int)getpid());
    snprintf(note_questions, sizeof(note_questions), "w %s", asked);
    snprintf(rig.state, sizeof(rig.state), "/tmp/swagg-commands.%d", (int)getpid());
    CU_ASSERT_EQUAL_FATAL(config_load_text(&rig.cfg, "test.yaml", text, complain, NULL), 0);
    parts.place = json_object();
    parts.helper = rig.helper = helper_start(sed);
    rig.membership = membership_open(&parts);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rig.membership);
    hear_helper();
    CU_ASSERT_TRUE_FATAL(membership_has_begun(rig.membership));
    json_decref((json_t *)parts.place);
    rig.from = (struct ctl_endpoint){.mac = {2, 0, 0, 0, 0, 9}, .ip = 0x0100004D, .udp_port = 40000};
    rig.shown = (struct shown){.cfg = &rig.cfg,
                               .membership = rig.membership,
                               .counts = &rig.counts,
                               .name = "10.77.0.254",
                               .now = rig.now};
}

static void close_rig(void)
{
    helper_stop(rig.helper);
    membership_close(rig.membership);
    remove(rig.state);
    remove(asked);
}

static bool file_has(const char *path, const char *text)
{
    char line[4096];
    bool found = false;
    FILE *f = fopen(path, "r");

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (fgets(line, sizeof(line), f) != NULL)
        found |= strstr(line, text) != NULL;
    fclose(f);
    return found;
}

/* A heartbeat, from this MAC address. */
static void beat(uint8_t mac)
{
    rig.from.mac[5] = mac;
    rig.now += UINT64_C(1100000000);
    speak();
}

static void test_results_follow_a_member_to_another_mac_address(void)
{
    open_rig();
    join("train");
    beat(9);
    beat(10);
    hear_helper(); /* nothing else was asked */
    CU_ASSERT_TRUE(file_has(asked, "{\"do\":\"move\",\"number\":0,\"rank\":0,\"mac\":2199023255562,"));
    CU_ASSERT_TRUE(file_has(rig.state, "\"endpoint.mac\":10995116277762"));
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_READY);
    close_rig();
}

/* Its JOIN comes again from there, while the helper is at it. */
static void test_a_member_moves_while_its_job_is_made(void)
{
    open_rig();
    ask_to_join("train");
    beat(10);
    hear_helper();
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_READY);
    hear_helper();
    CU_ASSERT_TRUE(file_has(asked, "{\"do\":\"move\",\"number\":0,\"rank\":0,\"mac\":2199023255562,"));
    close_rig();
}

/* What an operator's line gives, as JSON: the question to the helper, if there is one, then the view or the
 * error. found: the helper's answer. To be freed. */
static char *ask(const char *line, const char *found)
{
    struct reply reply = {.code = REPLY_OK};
    struct request request;
    char why[REQUEST_TEXT_MAX], *text;
    struct errand errand = {.shown = &rig.shown, .request = &request, .reply = &reply};
    json_t *question, *answered_with = json_loads(found, 0, NULL), *all = json_object();

    CU_ASSERT_EQUAL_FATAL(request_parse(&request, line, strlen(line), why), 0);
    question = commands_begin(&errand, rig.membership);
    if (question != NULL) {
        json_object_set_new(all, "question", question);
        commands_end(&errand, answered_with);
    }
    if (reply.code != REPLY_OK)
        json_object_set_new(all, "error", json_string(reply.error));
    if (reply.view != NULL)
        json_object_set(all, "view", reply.view);
    if (reply.choices != NULL)
        json_object_set(all, "choices", reply.choices);
    text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(all);
    json_decref(answered_with);
    json_decref(reply.view);
    json_decref(reply.counters);
    json_decref(reply.choices);
    request_free(&request);
    return text;
}

#define COMMAND(words) "{\"version\": 1, \"command\": " words "}"

static void expect(const char *line, const char *found, const char *want)
{
    char *text = ask(line, found);

    if (strcmp(text, want) != 0)
        fprintf(stderr, "%s\ngives %s\nnot   %s\n", line, text, want);
    CU_ASSERT_STRING_EQUAL(text, want);
    free(text);
}

static void expect_part(const char *line, const char *found, const char *want)
{
    char *text = ask(line, found);

    if (strstr(text, want) == NULL)
        fprintf(stderr, "%s\ngives %s\nwithout %s\n", line, text, want);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, want));
    free(text);
}

static void test_jobs(void)
{
    open_rig();
    join("train");
    expect(COMMAND("\"jobs\""), "{\"static\": {\"old\": true}}",
           "{\"question\":{\"at\":\"static\",\"do\":\"look\"},\"view\":{\"jobs\":["
           "{\"in_state_ms\":0,\"name\":\"train\",\"present\":1,\"protocol\":\"switchml\",\"size\":1,"
           "\"state\":\"running\",\"tenant\":\"lab\"},"
           "{\"in_state_ms\":0,\"name\":\"old\",\"present\":1,\"protocol\":\"switchml\",\"size\":1,"
           "\"state\":\"running\",\"tenant\":\"\"}]}}");
    expect_part(COMMAND("\"job\", \"name\": \"lab/train\""), "{}", "\"slots\":16");
    expect_part(COMMAND("\"job\", \"name\": \"old\""), "{\"static\": {\"old\": false}}",
                "\"state\":\"forming\"");
    expect_part(COMMAND("\"ranks\", \"name\": \"train\""), "{}", "\"address\":\"77.0.0.1:40001\"");
    expect_part(COMMAND("\"ranks\", \"name\": \"old\""), "{}", "\"address\":\"10.77.0.1:50000-50001\"");
    expect(COMMAND("\"slots\", \"name\": \"train\""),
           "{\"slots\": 16, \"collecting\": 1, \"waiting\": [{\"slot\": 3, \"tag\": 19, \"contributed\": 1, "
           "\"missing\": [0, 2]}]}",
           "{\"question\":{\"at\":\"slots\",\"do\":\"look\",\"number\":0},\"view\":{\"collecting\":1,"
           "\"name\":\"train\",\"slots\":16,\"waiting\":[{\"contributed\":1,\"missing\":[0,2],\"slot\":3,"
           "\"tag\":19}]}}");
    expect_part(COMMAND("\"slots\", \"name\": \"old\""), "{}", "\"static\":\"old\"");
    expect(COMMAND("\"tenants\""), "{}",
           "{\"view\":{\"tenants\":[{\"jobs\":1,\"jobs_quota\":3,\"name\":\"lab\"},"
           "{\"jobs\":0,\"jobs_quota\":0,\"name\":\"all\"}]}}");
    expect_part(COMMAND("\"job\""), "{}", "which job?");
    expect_part(COMMAND("\"job\", \"name\": \"nobody\""), "{}", "there is no job nobody");
    close_rig();
}

static void test_ports_stations_and_counters(void)
{
    open_rig();
    expect(COMMAND("\"ports\""),
           "{\"ports\": [{\"number\": 128, \"enabled\": true, \"up\": true, \"rx_frames\": 7, \"rx_bytes\": "
           "448, \"tx_frames\": 2, \"tx_bytes\": 128, \"drops\": 1}]}",
           "{\"question\":{\"at\":\"ports\",\"do\":\"look\"},\"view\":{\"ports\":["
           "{\"device\":\"chip:128,speed=100g\",\"drops\":1,\"link\":\"up\",\"name\":\"h0\",\"rx_bytes\":448,"
           "\"rx_frames\":7,\"tx_bytes\":128,\"tx_frames\":2},"
           "{\"device\":\"chip:136\",\"drops\":0,\"link\":\"absent\",\"name\":\"h1\",\"rx_bytes\":0,"
           "\"rx_frames\":0,\"tx_bytes\":0,\"tx_frames\":0}]}}");
    expect_part(COMMAND("\"port\", \"name\": \"h0\""), "{\"ports\": [{\"number\": 128, \"enabled\": false}]}",
                "\"link\":\"disabled\"");
    expect_part(COMMAND("\"port\", \"name\": \"cpu\""), "{}", "there is no port cpu of the chip");
    expect_part(COMMAND("\"fdb\""), "{\"stations\": [[2199023255553, 136]]}",
                "{\"fdb\":[{\"kind\":\"learned\",\"mac\":\"02:00:00:00:00:01\",\"port\":\"h1\"}]}");
    expect_part(COMMAND("\"verdicts\""), "{\"counters\": {\"passed\": 1, \"held\": 2, \"link_local\": 3}}",
                "\"view\":{\"held\":2}");
    expect_part(COMMAND("\"drops\""), "{\"counters\": {\"passed\": 1, \"held\": 2, \"link_local\": 3}}",
                "\"link_local\":3");
    rig.counts.event[EVENT_PATH_ANSWERS] = 4;
    expect_part(COMMAND("\"counters\""), "{\"counters\": {\"passed\": 1, \"held\": 2}}",
                "\"view\":{\"control_received\":0,\"control_sent\":0,\"passed\":1,\"path_answers\":4}");
    expect_part(COMMAND("\"status\""), "{\"chip\": \"tofino\", \"ports_up\": 1}", "\"chip\":\"tofino\"");
    expect_part(COMMAND("\"memory\""), "{\"rows\": 16384, \"rows_in_use\": 32}", "\"rows_in_use\":32");
    close_rig();
}

static void test_what_operators_change(void)
{
    open_rig();
    join("train");
    expect(COMMAND("\"job reset\", \"name\": \"old\""), "{}",
           "{\"question\":{\"do\":\"reset\",\"static\":\"old\"}}");
    expect_part(COMMAND("\"job reset\", \"name\": \"train\""), "{}",
                "only jobs of the configuration are reset");
    expect_part(COMMAND("\"job kill\", \"name\": \"old\""), "{}", "nobody joins job old");
    expect(COMMAND("\"fdb flush\""), "{}", "{\"question\":{\"do\":\"flush\",\"port\":-1}}");
    expect(COMMAND("\"port down\", \"name\": \"h1\""), "{}",
           "{\"question\":{\"do\":\"enable\",\"port\":136,\"up\":false}}");
    expect_part(COMMAND("\"port up\", \"name\": \"h1\""), "{\"error\": \"port 136: no\"}",
                "\"error\":\"port 136: no\"");
    expect(COMMAND("\"job drain\", \"name\": \"train\""), "{}", "{}");
    expect_part(COMMAND("\"job\", \"name\": \"train\""), "{}", "\"draining\":true");
    expect(COMMAND("\"job kill\", \"name\": \"train\""), "{}", "{}");
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_FAILED);
    expect_part(COMMAND("\"job kill\", \"name\": \"train\""), "{}", "is over already");
    close_rig();
}

static void test_what_means_nothing_here_is_refused_with_the_reason(void)
{
    open_rig();
    expect_part(COMMAND("\"capture\""), "{}", "capture: the chip's frames do not pass this process");
    expect_part(COMMAND("\"lcores\""), "{}", "lcores: a Tofino has no polling threads");
    expect_part(COMMAND("\"reload\""), "{}", "reload: start swagg-tofino again");
    expect_part(COMMAND("\"dance\""), "{}", "knows no command");
    expect_part(COMMAND("\"drops\", \"name\": \"h0\""), "{}", "drops takes no name here");
    expect_part(COMMAND("\"log level\", \"level\": \"loud\""), "{}", "loud is no log level");
    close_rig();
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_jobs),
        UNIT_TEST(test_ports_stations_and_counters),
        UNIT_TEST(test_what_operators_change),
        UNIT_TEST(test_results_follow_a_member_to_another_mac_address),
        UNIT_TEST(test_a_member_moves_while_its_job_is_made),
        UNIT_TEST(test_what_means_nothing_here_is_refused_with_the_reason),
        CU_TEST_INFO_NULL,
    };

    return unit_main("tofino_commands", tests);
}

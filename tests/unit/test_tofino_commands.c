/* What operators get from swagg-tofino: views of its jobs, of what the helper finds in the chip, and what is
 * refused, by name. What the helper is asked about jobs as they begin and end, and in the next life. */
#include <stdlib.h>
#include <sys/stat.h>

#include "operating.h"
#include "operator/request.h"
#include "setup.h"
#include "tofino_rig.h"
#include "views/declared.h"

/* A heartbeat, from this MAC address. */
static void beat(uint8_t mac)
{
    rig.from.mac[5] = mac;
    rig.now += UINT64_C(1100000000);
    speak();
}

EACH_TEST(open_rig, close_rig)

TEST(results_follow_a_member_to_another_mac_address)
{
    join("train");
    beat(9);
    beat(10);
    hear_helper(); /* nothing else was asked */
    CU_ASSERT(file_has(asked, "{\"do\":\"move\",\"number\":0,\"rank\":0,\"mac\":2199023255562,"));
    CU_ASSERT(file_has(rig.state, "\"endpoint.mac\":10995116277762"));
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_READY);
}

/* Its JOIN comes again from there, while the helper is at it. */
TEST(a_member_moves_while_its_job_is_made)
{
    ask_to_join("train");
    beat(10);
    hear_helper();
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_READY);
    hear_helper();
    CU_ASSERT(file_has(asked, "{\"do\":\"move\",\"number\":0,\"rank\":0,\"mac\":2199023255562,"));
}

/* What an operator's line gives, as JSON: the question to the helper, if there is one, then the view or the
 * error. found: the helper's answer. To be freed. */
static char *ask(const char *line, const char *found)
{
    struct reply reply = {.code = REPLY_OK};
    struct request request;
    char why[REQUEST_TEXT_MAX], *text;
    struct errand errand = {.shown = &rig.shown, .host = &rig.host, .request = &request, .reply = &reply};
    json_t *question, *answered_with = json_loads(found, 0, NULL), *all = json_object();

    CU_ASSERT_EQUAL_FATAL(request_parse(&request, line, strlen(line), why), 0);
    question = commands_begin(&errand);
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

TEST(jobs)
{
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
    expect_part(
        COMMAND("\"ranks\", \"name\": \"old\""), "{\"static\": {\"old\": true}, \"silent_ms\": 700}",
        "\"missing\":[],\"name\":\"old\",\"ranks\":[{\"address\":\"10.77.0.1:50000-50001\",\"calls\":0,"
        "\"heard_ms_ago\":700,");
    expect_part(COMMAND("\"ranks\", \"name\": \"old\""), "{\"static\": {\"old\": false}}",
                "\"state\":\"absent\"");
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
}

TEST(ports_stations_and_counters)
{
    expect(COMMAND("\"ports\""),
           "{\"ports\": [{\"number\": 128, \"enabled\": true, \"up\": true, \"rx_frames\": 7, \"rx_bytes\": "
           "448, \"tx_frames\": 2, \"tx_bytes\": 128, \"drops\": 1}]}",
           "{\"question\":{\"at\":\"ports\",\"do\":\"look\"},\"view\":{\"ports\":["
           "{\"device\":\"chip:128,speed=100g\",\"drops\":1,\"link\":\"up\",\"name\":\"h0\",\"rx_bytes\":448,"
           "\"rx_errors\":0,\"rx_frames\":7,\"tx_bytes\":128,\"tx_errors\":0,\"tx_frames\":2},"
           "{\"device\":\"chip:136\",\"drops\":0,\"link\":\"absent\",\"name\":\"h1\",\"rx_bytes\":0,"
           "\"rx_errors\":0,\"rx_frames\":0,\"tx_bytes\":0,\"tx_errors\":0,\"tx_frames\":0}]}}");
    expect_part(COMMAND("\"port\", \"name\": \"h0\""), "{\"ports\": [{\"number\": 128, \"enabled\": false}]}",
                "\"link\":\"disabled\"");
    expect_part(COMMAND("\"port\", \"name\": \"cpu\""), "{}", "there is no port cpu of the chip");
    expect_part(COMMAND("\"fdb\""),
                "{\"stations\": [[2199023255553, 136, false], [2199023255554, 128, true]]}",
                "{\"fdb\":[{\"kind\":\"learned\",\"mac\":\"02:00:00:00:00:01\",\"port\":\"h1\"},"
                "{\"kind\":\"static\",\"mac\":\"02:00:00:00:00:02\",\"port\":\"h0\"}]}");
    expect_part(COMMAND("\"verdicts\""), "{\"counters\": {\"passed\": 1, \"held\": 2, \"link_local\": 3}}",
                "\"view\":{\"held\":2}");
    expect_part(COMMAND("\"drops\""), "{\"counters\": {\"passed\": 1, \"held\": 2, \"link_local\": 3}}",
                "\"link_local\":3");
    rig.reception.counts.event[EVENT_PATH_ANSWERS] = 4;
    expect_part(COMMAND("\"counters\""), "{\"counters\": {\"passed\": 1, \"held\": 2}}",
                "\"view\":{\"control_received\":0,\"control_sent\":0,\"passed\":1,\"path_answers\":4}");
    expect_part(COMMAND("\"status\""), "{\"chip\": \"tofino\", \"ports_up\": 1}", "\"chip\":\"tofino\"");
    expect_part(COMMAND("\"memory\""), "{\"rows\": 16384, \"rows_in_use\": 32}", "\"rows_in_use\":32");
}

TEST(what_operators_change)
{
    join("train");
    expect(COMMAND("\"job reset\", \"name\": \"old\""), "{}",
           "{\"question\":{\"do\":\"reset\",\"static\":\"old\"}}");
    expect_part(COMMAND("\"job reset\", \"name\": \"train\""), "{}",
                "only jobs of the configuration are reset");
    expect_part(COMMAND("\"job kill\", \"name\": \"old\""), "{}", "nobody joins job old");
    expect(COMMAND("\"fdb flush\""), "{}", "{\"question\":{\"do\":\"flush\",\"port\":-1}}");
    expect(COMMAND("\"fdb add\", \"mac\": \"02:00:00:00:00:01\", \"name\": \"h1\""), "{}",
           "{\"question\":{\"do\":\"fix\",\"mac\":2199023255553,\"port\":136}}");
    expect(COMMAND("\"fdb del\", \"mac\": \"02:00:00:00:00:01\""), "{}",
           "{\"question\":{\"do\":\"unfix\",\"mac\":2199023255553}}");
    expect_part(COMMAND("\"fdb del\", \"mac\": \"02:00:00:00:00:01\""), "{\"error\": \"there is none\"}",
                "\"error\":\"there is none\"");
    expect_part(COMMAND("\"fdb add\", \"mac\": \"1:2\", \"name\": \"h1\""), "{}", "1:2 is no MAC address");
    expect_part(COMMAND("\"fdb add\", \"mac\": \"02:00:00:00:00:01\""), "{}", "which port?");
    expect(COMMAND("\"port down\", \"name\": \"h1\""), "{}",
           "{\"question\":{\"do\":\"enable\",\"port\":136,\"up\":false}}");
    expect_part(COMMAND("\"port up\", \"name\": \"h1\""), "{\"error\": \"port 136: no\"}",
                "\"error\":\"port 136: no\"");
    expect(COMMAND("\"job drain\", \"name\": \"train\""), "{}", "{}");
    expect_part(COMMAND("\"job\", \"name\": \"train\""), "{}", "\"draining\":true");
    expect(COMMAND("\"job kill\", \"name\": \"train\""), "{}", "{}");
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_FAILED);
    expect_part(COMMAND("\"job kill\", \"name\": \"train\""), "{}", "is over already");
}

#define ADD(name, settings) COMMAND("\"job add\", \"job\": \"" name "\", \"settings\": {" settings "}")
#define WORKER(port)                                                                                         \
    "\"workers\": [{\"ip\": \"10.77.0.2\", \"mac\": \"02:00:00:00:00:02\", \"port\": " port "}]"

TEST(jobs_are_added_and_deleted)
{
    expect(
        ADD("new", "\"slots\": 64.0, " WORKER("4000")), "{}",
        "{\"question\":{\"do\":\"add\",\"static\":{\"elements\":256,\"name\":\"new\",\"quiet_ms\":5000,"
        "\"slots\":64,\"threads\":1,\"workers\":[{\"ip\":172818434,\"mac\":2199023255554,\"port\":4000}]}}}");
    CU_ASSERT(file_has(rig.state, "\"name\":\"new\""));
    expect_part(COMMAND("\"jobs\""), "{\"static\": {\"new\": true}}", "\"name\":\"new\",\"present\":1");
    expect_part(ADD("again", WORKER("4000")), "{}", "the UDP ports from 4000 on of 10.77.0.2 are job new's");
    expect_part(ADD("old", WORKER("4001")), "{}", "there is a job of this name");
    expect_part(COMMAND("\"job del\", \"name\": \"new\""), "{\"error\": \"the chip says no\"}",
                "\"error\":\"the chip says no\"");
    expect_part(COMMAND("\"job\", \"name\": \"new\""), "{}", "\"slots\":64");
    expect(COMMAND("\"job del\", \"name\": \"new\""), "{}",
           "{\"question\":{\"do\":\"remove\",\"static\":\"new\"}}");
    CU_ASSERT(!file_has(rig.state, "\"name\":\"new\""));
    expect_part(COMMAND("\"job del\", \"name\": \"new\""), "{}", "there is no job new");
    expect_part(COMMAND("\"job del\", \"name\": \"old\""), "{}", "job old was not added by an operator");
}

TEST(jobs_that_are_not_added)
{
    join("train");
    expect_part(ADD("new", "\"slots\": 0, " WORKER("4000")), "{}", "static[0].slots: 0 is out of range");
    expect_part(ADD("new", "\"format\": \"fp16\", " WORKER("4000")), "{}", "job new: format must be int32");
    expect_part(ADD("new", "\"list\": \"roce\", \"workers\": [{\"ip\": \"10.77.0.2\", \"mac\": "
                           "\"02:00:00:00:00:02\", \"rkey\": 1, \"queue_pairs\": [1]}]"),
                "{}", "it sums no RDMA messages");
    expect_part(
        ADD("new", "\"workers\": [{\"ip\": \"77.0.0.1\", \"mac\": \"02:00:00:00:00:02\", \"port\": 40001}]"),
        "{}", "UDP port 40001 of 77.0.0.1 is rank 0's of job train, which has joined");
    expect_part(ADD("new", WORKER("4000")), "{\"error\": \"there is no room\"}",
                "\"error\":\"there is no room\"");
    expect_part(COMMAND("\"job\", \"name\": \"new\""), "{}", "there is no job new");
    CU_ASSERT(!file_has(rig.state, "\"name\":\"new\""));
    for (unsigned i = 1; i < CONFIG_STATIC_JOBS_MAX; i++) {
        char line[300];

        snprintf(line, sizeof(line), ADD("new%u", WORKER("%u")), i, 4000 + i);
        expect_part(line, "{}", "\"do\":\"add\"");
    }
    expect_part(ADD("new", WORKER("4000")), "{}", "there are 16 such jobs, and no more are possible");
}

/* As the daemon does: where names are the same, by whose the job is. */
TEST(a_job_that_was_added_is_told_from_one_that_joined)
{
    join("train");
    expect_part(ADD("train", WORKER("4000")), "{}", "\"do\":\"add\"");
    expect_part(COMMAND("\"job del\", \"name\": \"train\""), "{}",
                "\"choices\":[\"lab/train\",\"/train\"],\"error\":\"several tenants have a job train");
    expect_part(COMMAND("\"job del\", \"name\": \"lab/train\""), "{}", "was not added by an operator");
    expect_part(COMMAND("\"ranks\", \"name\": \"/train\""), "{\"static\": {}}", "10.77.0.2:4000");
    expect(COMMAND("\"job del\", \"name\": \"/train\""), "{}",
           "{\"question\":{\"do\":\"remove\",\"static\":\"train\"}}");
    expect_part(COMMAND("\"ranks\", \"name\": \"train\""), "{}", "\"address\":\"77.0.0.1:40001\"");
}

/* Joined or added, in whatever order. */
TEST(added_jobs_count_against_the_quota)
{
    join("train");
    expect_part(ADD("first", "\"tenant\": \"lab\", " WORKER("4000")), "{}", "\"do\":\"add\"");
    expect_part(ADD("second", "\"tenant\": \"lab\", " WORKER("4001")), "{}", "\"do\":\"add\"");
    CU_ASSERT_EQUAL(rig.membership.common.tenant[0].elsewhere, 2);
    expect_part(ADD("third", "\"tenant\": \"lab\", " WORKER("4002")), "{}",
                "job third: tenant lab has 3 jobs, as many as its quota.jobs allows");
    expect_part(COMMAND("\"job del\", \"name\": \"first\""), "{}", "\"do\":\"remove\"");
    CU_ASSERT_EQUAL(rig.membership.common.tenant[0].elsewhere, 1);
    expect_part(ADD("third", "\"tenant\": \"lab\", " WORKER("4002")), "{}", "\"do\":\"add\"");
}

static enum number_use use_of(unsigned number)
{
    return rig.membership.numbers.number[number].use;
}

TEST(a_number_is_free_once_the_chip_has_let_go_of_it)
{
    join("train");
    expect(COMMAND("\"job kill\", \"name\": \"train\""), "{}", "{}");
    CU_ASSERT_EQUAL(use_of(0), NUMBER_CLOSING);
    hear_helper();
    CU_ASSERT(file_has(asked, "{\"do\":\"close\",\"number\":0,"));
    CU_ASSERT_EQUAL(use_of(0), NUMBER_FREE);
}

TEST(a_number_that_cannot_be_closed_is_not_used_again)
{
    die();
    live("/\"do\":\"close\"/" ANSWER("\"error\":\"no\"") ";t;" ANSWER("\"kept\":[]"));
    join("train");
    expect(COMMAND("\"job kill\", \"name\": \"train\""), "{}", "{}");
    hear_helper();
    CU_ASSERT_EQUAL(use_of(0), NUMBER_CLOSING);
}

TEST(a_job_that_ends_while_it_is_made_is_closed)
{
    ask_to_join("train");
    expect(COMMAND("\"job kill\", \"name\": \"train\""), "{}", "{}");
    CU_ASSERT_EQUAL(use_of(0), NUMBER_UNWANTED);
    hear_helper();
    CU_ASSERT_EQUAL(use_of(0), NUMBER_CLOSING);
    hear_helper();
    CU_ASSERT_EQUAL(use_of(0), NUMBER_FREE);
}

TEST(a_job_has_fewer_slots_where_the_chip_has_no_room)
{
    die();
    live("/\"slots\":16/" ANSWER("\"error\":\"no room\"") ";t;" ANSWER("\"kept\":[]"));
    ask_to_join("train");
    hear_helper();
    CU_ASSERT_NOT_EQUAL(rig.worker.state, CTL_SESSION_READY);
    hear_helper();
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_READY);
    expect_part(COMMAND("\"job\", \"name\": \"train\""), "{}", "\"slots\":8");
}

TEST(a_number_is_free_after_a_job_that_the_chip_has_no_room_for)
{
    die();
    live("/\"do\":\"open\"/" ANSWER("\"error\":\"no room\"") ";t;" ANSWER("\"kept\":[]"));
    ask_to_join("train");
    hear_helper();
    hear_helper();
    CU_ASSERT_NOT_EQUAL(rig.worker.state, CTL_SESSION_READY);
    CU_ASSERT_EQUAL(use_of(0), NUMBER_FREE);
}

TEST(who_is_told_ready_is_in_the_file)
{
    join("train");
    CU_ASSERT(rig.ready_is_kept);
    CU_ASSERT(file_has(rig.state, "\"draining\":0"));
    expect(COMMAND("\"job drain\", \"name\": \"train\""), "{}", "{}");
    CU_ASSERT(file_has(rig.state, "\"draining\":1"));
}

TEST(the_next_life_goes_on_with_what_the_chip_has)
{
    uint64_t boot_id;

    join("train");
    boot_id = rig.told;
    die();
    live(ANSWER("\"kept\":[0]"));
    CU_ASSERT(file_has(asked, "\"jobs\":[{\"number\":0,"));
    beat(9);
    CU_ASSERT_EQUAL(rig.told, boot_id);
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_READY);
    expect_part(COMMAND("\"jobs\""), "{}", "\"name\":\"train\"");
}

TEST(a_chip_that_has_lost_all_jobs_is_another_switch)
{
    uint64_t boot_id;
    char *jobs;

    join("train");
    boot_id = rig.told;
    die();
    live(ANSWER("\"kept\":[]"));
    jobs = ask(COMMAND("\"jobs\""), "{}");
    CU_ASSERT_PTR_NULL(strstr(jobs, "\"name\":\"train\""));
    free(jobs);
    beat(9);
    CU_ASSERT_NOT_EQUAL(rig.told, boot_id);
}

/* More of its ranks are there than it has, by the file. */
TEST(a_job_that_cannot_go_on_is_closed)
{
    static const char present[] = "\"present\":";
    char text[4096];
    FILE *f;

    join("train");
    die();
    f = fopen(rig.state, "r+");
    CU_ASSERT_FATAL(f != NULL && fgets(text, sizeof(text), f) != NULL && strstr(text, present) != NULL);
    fseek(f, strstr(text, present) - text + (long)strlen(present), SEEK_SET);
    fputc('2', f);
    fclose(f);
    live(ANSWER("\"kept\":[0]"));
    CU_ASSERT_EQUAL(use_of(0), NUMBER_CLOSING);
}

TEST(a_helper_that_cannot_begin_is_noticed)
{
    die();
    live(ANSWER("\"error\":\"no chip\""));
    CU_ASSERT(rig.membership.failed && !membership_has_begun(&rig.membership));
    die();
    live(agrees);
}

TEST(nobody_joins_from_the_port_of_a_worker_of_the_file)
{
    rig.from.ip = rig.cfg.static_job[0].worker[0].ip;
    rig.data_port = 50000;
    ask_to_join("train");
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_FAILED);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(rig.worker.failure.text, "UDP port 50000 is that of a worker of the static job old"));
}

/* As on a disk that is full for a while. */
static void fill_disk(void)
{
    char fresh[80];

    snprintf(fresh, sizeof(fresh), "%s.new", rig.state);
    CU_ASSERT_EQUAL_FATAL(mkdir(fresh, 0700), 0);
}

static void make_room(void)
{
    char fresh[80];

    snprintf(fresh, sizeof(fresh), "%s.new", rig.state);
    CU_ASSERT_EQUAL_FATAL(rmdir(fresh), 0);
}

static void tick(void)
{
    membership_tick(&rig.membership);
    registry_host_tick(&rig.membership.common, rig.now);
}

TEST(what_could_not_be_written_is_written_once_it_can)
{
    join("train");
    beat(9);
    fill_disk();
    beat(10);
    tick();
    CU_ASSERT(!file_has(rig.state, "\"endpoint.mac\":10995116277762"));
    make_room();
    tick();
    CU_ASSERT(file_has(rig.state, "\"endpoint.mac\":10995116277762"));
}

/* An operator hears of it. */
TEST(what_is_added_or_deleted_and_could_not_be_written)
{
    static const char unwritten[] = "the next start will not know of it";

    fill_disk();
    expect_part(ADD("new", WORKER("4000")), "{}", unwritten);
    expect_part(COMMAND("\"job\", \"name\": \"new\""), "{}", "\"slots\":");
    make_room();
    tick();
    CU_ASSERT(file_has(rig.state, "\"name\":\"new\""));
    fill_disk();
    expect_part(COMMAND("\"job del\", \"name\": \"new\""), "{}", unwritten);
    CU_ASSERT(file_has(rig.state, "\"name\":\"new\""));
    make_room();
}

static int keep_added(void *context, struct config *next)
{
    (void)context;
    return config_take_added(next, &rig.cfg);
}

static void take(void *context, struct registry_change *c)
{
    (void)context;
    rig.cfg = *c->next;
    registry_change_take(c);
}

/* The rig's file with other words for some. */
static void reload_with(const char *words, const char *others, const char *want)
{
    char path[64];
    const char *at = strstr(rig_file, words);
    FILE *f;

    snprintf(path, sizeof(path), "/tmp/swagg-reload.%d", (int)getpid());
    f = fopen(path, "w");
    CU_ASSERT_FATAL(f != NULL && at != NULL);
    fprintf(f, "%.*s%s%s", (int)(at - rig_file), rig_file, others, at + strlen(words));
    fclose(f);
    rig.reload = (struct registry_reload){.file = path,
                                          .running = &rig.cfg,
                                          .load = config_load,
                                          .align = keep_added,
                                          .judge = place_keep,
                                          .commit = take};
    expect_part(COMMAND("\"reload\""), "{}", want);
    remove(path);
}

/* But for what the chip was told at the start. Jobs go on. */
TEST(the_file_is_read_anew)
{
    join("train");
    expect_part(ADD("new", "\"tenant\": \"all\", " WORKER("4000")), "{}", "\"do\":\"add\"");
    reload_with("quota: {jobs: 3}", "quota: {jobs: 2}", "\"key\":\"tenants[lab].quota.jobs\"");
    expect_part(COMMAND("\"job\", \"name\": \"new\""), "{}", "\"tenant\":\"all\"");
    reload_with("name: old", "name: new", "static[new]: there is a job of this name");
    expect_part(COMMAND("\"tenants\""), "{}", "\"jobs_quota\":2");
    reload_with("{name: h1", "{name: h7", "ports[h1]: - -> removed needs a restart");
    reload_with("slots: 64", "slots: 32", "static[old].slots: 64 -> 32 needs a restart");
    beat(9);
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_READY);
}

TEST(what_means_nothing_here_is_refused_with_the_reason)
{
    expect_part(COMMAND("\"capture\""), "{}", "capture: the chip's frames do not pass this process");
    expect_part(COMMAND("\"lcores\""), "{}", "lcores: a Tofino has no polling threads");
    expect_part(COMMAND("\"dance\""), "{}", "knows no command");
    for (const struct view *v = views; v < &views[VIEWS]; v++) {
        char line[96], *text;

        snprintf(line, sizeof(line), COMMAND("\"%s\""), v->name);
        text = ask(line, "{}");
        CU_ASSERT_PTR_NULL(strstr(text, "knows no command"));
        free(text);
    }
    expect_part(COMMAND("\"drops\", \"name\": \"h0\""), "{}", "drops takes no name here");
    expect_part(COMMAND("\"log level\", \"level\": \"loud\""), "{}", "loud is no log level");
}

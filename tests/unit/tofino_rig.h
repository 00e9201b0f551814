/* swagg-tofino's parts around a membership of one worker. The helper is sed, which agrees to everything, or
 * does what a test says. */
#pragma once

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/session.h"
#include "operator/common_commands.h"
#include "shown.h"
#include "switchml/terms.h"
#include "switchml/worker.h"
#include "unit.h"

/* What sed makes of a question: an answer with these words. */
#define ANSWER(words) "s/.*\"id\":\\([0-9]*\\).*/{\"id\":\\1," words "}/"
static const char agrees[] = ANSWER("\"ok\":true,\"kept\":[]");
static char asked[64], note_questions[80]; /* the file with what sed was asked; what it does about it */

static struct {
    struct config cfg;
    struct helper *helper;
    struct membership membership;
    struct registry_reload reload;
    struct common_host host;
    struct reception reception;
    struct shown shown;
    struct ctl_session worker;
    struct ctl_endpoint from;
    unsigned sent;      /* messages, to anybody */
    uint64_t told;      /* the boot id in the last one */
    uint16_t data_port; /* of the worker */
    bool ready_is_kept; /* the state file had a job when the worker was told READY */
    uint64_t now;
    char state[64];
} rig;

static inline bool file_has(const char *path, const char *text)
{
    char line[4096];
    bool found = false;
    FILE *f = fopen(path, "r");

    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        found |= strstr(line, text) != NULL;
    if (f != NULL)
        fclose(f);
    return found;
}

static inline void complain(void *context, const char *message)
{
    (void)context;
    fprintf(stderr, "%s\n", message);
}

static inline void send_to_worker(void *context, const struct ctl_endpoint *to, const uint8_t *payload,
                                  size_t bytes)
{
    struct ctl_message m;

    (void)context;
    CU_ASSERT_EQUAL(ctl_parse(&m, payload, bytes), CTL_PARSED);
    rig.sent++;
    rig.told = m.head.boot_id;
    if (m.head.type == CTL_READY)
        rig.ready_is_kept = file_has(rig.state, "\"epoch\"");
    if (to->ip == rig.from.ip)
        ctl_session_receive(&rig.worker, payload, bytes, rig.now);
}

static inline void answered(void *context, uint64_t id, const json_t *found)
{
    (void)context;
    membership_answered(&rig.membership, id, found, rig.now);
}

static inline void hear_helper(void)
{
    struct pollfd waiting = {.fd = helper_fd(rig.helper), .events = POLLIN};

    CU_ASSERT_EQUAL_FATAL(poll(&waiting, 1, 60000), 1);
    CU_ASSERT_FATAL(helper_receive(rig.helper, answered, NULL));
}

static inline void speak(void)
{
    uint8_t message[CTL_MESSAGE_MAX];
    const size_t bytes = ctl_session_poll(&rig.worker, rig.now, message);

    if (bytes > 0)
        registry_host_receive(&rig.membership.common, &rig.from, message, bytes, rig.now);
}

/* In a job of one rank, whose tenant is lab. */
static inline void ask_to_join(const char *job)
{
    struct ctl_session_config cfg = {.size = 1,
                                     .incarnation = 5,
                                     .join = {.data_port = rig.data_port},
                                     .worker = &sml_worker,
                                     .join_deadline_ns = UINT64_C(60000000000)};
    const struct sml_terms wish = {
        .format = XFER_FORMAT_INT32, .slots = 16, .chunk_bytes = 256, .plain = true};

    snprintf(cfg.join.name, sizeof(cfg.join.name), "%s", job);
    sml_terms_build(&cfg.join.terms, &wish);
    ctl_session_init(&rig.worker, &cfg, rig.now);
    speak(); /* it is told the boot id, */
    speak(); /* and joins */
}

static inline void join(const char *job)
{
    ask_to_join(job);
    hear_helper();
    CU_ASSERT_EQUAL_FATAL(rig.worker.state, CTL_SESSION_READY);
}

static const char rig_file[] =
    "switch: {ip: 10.77.0.254/24}\n"
    "ports:\n  - {name: cpu, device: \"kernel:ens1\"}\n"
    "  - {name: h0, device: \"chip:128,speed=100g\"}\n"
    "  - {name: h1, device: \"chip:136\"}\n"
    "tenants:\n  - {name: lab, addresses: [0.0.0.0/0], jobs: [train], quota: {jobs: 3}}\n"
    "  - {name: all, addresses: [0.0.0.0/0]}\n"
    "static:\n  - {name: old, threads: 2, slots: 64, elements: 64, workers: "
    "[{mac: \"02:00:00:00:00:01\", ip: 10.77.0.1, port: 50000}]}\n";

/* A process with this helper, which has what an earlier one has left. */
static inline void live(const char *answers)
{
    char *const sed[] = {"sed", "-u", "-e", note_questions, "-e", (char *)answers, NULL};
    struct membership_parts parts = {
        .cfg = &rig.cfg, .elements = 64, .send = send_to_worker, .state = rig.state, .setup = json_object()};

    parts.helper = rig.helper = helper_start(sed, 60);
    CU_ASSERT_EQUAL_FATAL(membership_open(&rig.membership, &parts, rig.now), 0);
    hear_helper();
    json_decref((json_t *)parts.setup);
}

static inline void die(void)
{
    helper_stop(rig.helper);
    membership_close(&rig.membership);
}

static inline void open_rig(void)
{
    memset(&rig, 0, sizeof(rig));
    rig.now = UINT64_C(1000000000);
    rig.data_port = 40001;
    snprintf(asked, sizeof(asked), "/tmp/swagg-asked.%d", (int)getpid());
    snprintf(note_questions, sizeof(note_questions), "w %s", asked);
    snprintf(rig.state, sizeof(rig.state), "/tmp/swagg-commands.%d", (int)getpid());
    CU_ASSERT_EQUAL_FATAL(config_load_text(&rig.cfg, "test.yaml", rig_file, complain, NULL), 0);
    live(agrees);
    CU_ASSERT_FATAL(membership_has_begun(&rig.membership));
    rig.reload.running = &rig.cfg;
    rig.host = (struct common_host){&rig.membership.common, &rig.reload};
    rig.from = (struct ctl_endpoint){.mac = {2, 0, 0, 0, 0, 9}, .ip = 0x0100004D, .udp_port = 40000};
    rig.shown = (struct shown){.cfg = &rig.cfg,
                               .membership = &rig.membership,
                               .counts = &rig.reception.counts,
                               .name = "10.77.0.254",
                               .now = rig.now};
}

static inline void close_rig(void)
{
    die();
    remove(rig.state);
    remove(asked);
}

/* libswagg over real sockets, with a key: who has it is in, over restarts of the switch too; who has another,
 * or meets a switch that has none, learns why. */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crew.h"
#include "key_file.h"
#include "key_files.h"
#include "unit.h"
#include "wire/control.h"
#include "wire/switchml.h"

enum { RANKS = 3 };

static struct {
    char ours[KEY_FILES_PATH_MAX], others[KEY_FILES_PATH_MAX];
    struct key_file key;
} files;

static struct loop_switch *start_keyed(const struct keys_key *key)
{
    return loop_switch_start(&(struct loop_switch_config){.seed = seed, .key = key});
}

static void begin(void)
{
    char why[KEY_FILE_WHY_MAX];
    key_file_make(files.ours, "1");
    key_file_make(files.others, "2");
    CU_ASSERT_EQUAL_FATAL(key_file_read(&files.key, files.ours, why), 0);
    the_switch = start_keyed(&files.key.key[0]);
}

static void end(void)
{
    stop_switch();
    unlink(files.ours);
    unlink(files.others);
}

EACH_TEST(begin, end)

static const struct tensor tensor = {.type = SWAGG_F32, .count = 5000, .seed = 3};

static int open_at(const char *ip, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    inet_pton(AF_INET, ip, &at.sin_addr);
    CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* Answers the next message to the switch, which is not there, in its place, unsealed and with a wrong seal.
 */
static void answer_in_its_place(const char *ip, uint8_t type, const char *why)
{
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    uint8_t payload[CTL_MESSAGE_MAX];
    struct ctl_message m;
    int fd = open_at(ip, CTL_PORT);
    ssize_t bytes = recvfrom(fd, payload, sizeof payload, 0, (struct sockaddr *)&from, &length);
    CU_ASSERT_EQUAL_FATAL(ctl_parse(&m, payload, (size_t)bytes), CTL_PARSED);
    for (int sealed = 0; sealed <= 1; sealed++) {
        m.head.type = type;
        m.head.sealed = sealed;
        m.failure = (struct ctl_failure){.reason = CTL_APPLICATION};
        snprintf(m.failure.text, sizeof m.failure.text, "%s", why);
        size_t n = ctl_build(payload, &m);
        memset(payload + n, 1, CTL_SEAL_BYTES);
        CU_ASSERT(sendto(fd, payload, n + CTL_SEAL_BYTES, 0, (struct sockaddr *)&from, length) > 0);
    }
    close(fd);
}

TEST(a_job_with_a_key_outlives_its_switch)
{
    struct interlude restart = {.tensor = tensor};
    struct crew crew = crew_of(RANKS, the_switch, "keyed", crew_sum_twice, &restart);
    crew.options.key_file = files.ours;
    crew_start(&crew);
    crew_await(&crew, &restart.gate.in, RANKS);
    loop_switch_kill(the_switch);
    answer_in_its_place(loop_switch_ip(the_switch), CTL_ABORTED, "it is over");
    loop_switch_revive(the_switch);
    atomic_store(&restart.gate.open, true);
    crew_end_well(&crew);
    uint64_t unproven = 0;
    for (int r = 0; r < RANKS; r++) {
        CU_ASSERT_EQUAL(crew.member[r].stats.resumed, 1);
        unproven += crew.member[r].stats.unproven_messages;
    }
    CU_ASSERT_EQUAL(unproven, 2);
}

/* A switch that was started anew with another key is there, and answers: it is not just silent. */
TEST(whoever_answers_without_the_key_is_told_of)
{
    stop_switch();
    the_switch = loop_switch_start(
        &(struct loop_switch_config){.seed = seed, .lost_after_ms = 10000, .key = &files.key.key[0]});
    struct interlude restart = {.tensor = tensor};
    struct crew crew = crew_of(1, the_switch, "keyed", crew_sum_twice, &restart);
    crew.options.key_file = files.ours;
    crew.options.warn_after_ms = 100;
    crew_start(&crew);
    crew_await(&crew, &restart.gate.in, 1);
    loop_switch_kill(the_switch);
    answer_in_its_place(loop_switch_ip(the_switch), CTL_REFUSED, "this switch has another key");
    atomic_store(&restart.gate.open, true);
    crew_await_line(&crew.member[0], "; somebody without the key says: this switch has another key");
    loop_switch_revive(the_switch);
    crew_end_well(&crew);
}

static int sum_once(struct crew_member *m)
{
    return crew_sum(m, &tensor, -1, false);
}

/* By ATP, too, packets are keyed, and the user of each rank is told what that costs. */
TEST(a_job_by_atp_has_a_key)
{
    struct crew crew = crew_of(RANKS, the_switch, "atp", sum_once, NULL);
    crew.options.key_file = files.ours;
    crew.options.protocol = SWAGG_PROTOCOL_ATP;
    crew_succeed(&crew);
    for (int r = 0; r < RANKS; r++) {
        CU_ASSERT_PTR_NOT_NULL(strstr(crew.member[r].log, "bytes a packet, keyed"));
        CU_ASSERT_PTR_NOT_NULL(strstr(crew.member[r].log, "alone adds: its packets are keyed"));
    }
}

/* What a switch could answer this packet with, but for the key: the sum, in all ways to prove it without,
 * news and that it knows no such job. Sends one of them. */
static void answer_falsely(int fd, unsigned which, uint8_t *payload, size_t bytes,
                           const struct sockaddr_in *to)
{
    enum { RESULT_BACK, RESULT_UNKEYED, RESULT_UNPROVEN, NACK, REJECT, ANSWERS };
    struct sml_packet p;
    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, payload, bytes), SML_OK);
    CU_ASSERT_EQUAL(p.checksum, XFER_CHECKSUM_KEYED);
    switch (which % ANSWERS) {
    case RESULT_UNKEYED:
        p.checksum = XFER_CHECKSUM_NONE;
        sml_build_header(payload, &p);
        bytes -= XFER_AUTH_BYTES;
        break;
    case RESULT_UNPROVEN:
        payload[bytes - 1] ^= 1;
        break;
    case NACK:
        p.kind = SML_NACK;
        sml_build_header(payload, &p);
        bytes = SML_HEADER_BYTES + XFER_AUTH_BYTES;
        break;
    case REJECT:
        bytes = sml_build_reject(payload, &p, 1);
        break;
    default: /* as it came */
        break;
    }
    CU_ASSERT(sendto(fd, payload, bytes, 0, (const struct sockaddr *)to, sizeof *to) > 0);
}

static void answer_data_in_its_place(const char *ip, unsigned packets)
{
    int fd = open_at(ip, SML_PORT_FIRST);
    for (unsigned i = 0; i < packets; i++) {
        uint8_t payload[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES + XFER_TRAILER_MAX];
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        ssize_t bytes = recvfrom(fd, payload, sizeof payload, 0, (struct sockaddr *)&from, &length);
        CU_ASSERT_FATAL(bytes > 0);
        answer_falsely(fd, i, payload, (size_t)bytes, &from);
    }
    close(fd);
}

TEST(nobody_without_the_key_answers_data_in_the_switchs_place)
{
    struct interlude forgery = {.tensor = tensor};
    struct crew crew = crew_of(RANKS, the_switch, "forged", crew_sum_twice, &forgery);
    uint64_t damaged = 0;
    crew.options.key_file = files.ours;
    crew_start(&crew);
    crew_await(&crew, &forgery.gate.in, RANKS);
    loop_switch_kill(the_switch);
    atomic_store(&forgery.gate.open, true);
    answer_data_in_its_place(loop_switch_ip(the_switch), 50);
    loop_switch_revive(the_switch);
    crew_end_well(&crew);
    for (int r = 0; r < RANKS; r++) {
        damaged += crew.member[r].stats.damaged_packets;
        CU_ASSERT_PTR_NOT_NULL(strstr(crew.member[r].log, "bytes a packet, keyed"));
    }
    CU_ASSERT(damaged > 0);
}

/* swagg_open of a job of one rank. */
static int open_alone(const char *key_file)
{
    struct swagg_options options = SWAGG_OPTIONS_DEFAULT;
    struct swagg_job *job;
    options.switch_ip = loop_switch_ip(the_switch);
    options.job = "alone";
    options.size = 1;
    options.key_file = key_file;
    options.answer_timeout_ms = 300;
    options.join_timeout_ms = 300000;
    int rc = open_patiently(&job, &options);
    swagg_close(job);
    return rc;
}

TEST(the_wrong_key_is_told)
{
    CU_ASSERT_EQUAL(open_alone(files.others), SWAGG_ERR_REFUSED);
    CU_ASSERT(says(swagg_last_error(), "does not show that it has the key in"));
    CU_ASSERT(says(swagg_last_error(), files.others));
    CU_ASSERT(says(swagg_last_error(), "this switch does not know the key of the message"));
    CU_ASSERT_EQUAL(open_alone(NULL), SWAGG_OK);
    stop_switch();
    the_switch = start_keyed(NULL);
    CU_ASSERT_EQUAL(open_alone(files.ours), SWAGG_ERR_REFUSED);
    CU_ASSERT(says(swagg_last_error(), "this switch does not know the key of the message"));
}

TEST(a_bad_key_file_is_named)
{
    CU_ASSERT_EQUAL(open_alone("/nowhere/key"), SWAGG_ERR_ARGUMENT);
    CU_ASSERT(says(swagg_last_error(), "options.key_file (SWAGG_KEY_FILE): /nowhere/key: No such file"));
    CU_ASSERT_EQUAL(chmod(files.ours, 0644), 0);
    CU_ASSERT_EQUAL(open_alone(files.ours), SWAGG_ERR_ARGUMENT);
    CU_ASSERT(says(swagg_last_error(), "can be read or changed by others"));
}

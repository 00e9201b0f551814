/* What comes to swagg-tofino's own address: members are heard at once, strangers after them and within
 * bounds. */
#include "tofino_rig.h"

enum {
    LANE = FAIR_QUEUE_PLACES,
    BURST = 256,
    MANY = 1000,
    SEED = 3, /* addresses 1 and 2 have lanes of their own */
};

static bool neighbour_known;
static uint32_t handled[MANY]; /* addresses, in order */
static unsigned handled_n;

static bool find_neighbour(void *context, struct ctl_endpoint *of)
{
    (void)context;
    of->mac[5] = 9;
    handled[handled_n++ % MANY] = of->ip;
    return neighbour_known;
}

static void open_reception(void)
{
    open_rig();
    neighbour_known = true;
    handled_n = 0;
    rig.reception.host = &rig.membership.common;
    rig.reception.neighbour = find_neighbour;
    reception_init(&rig.reception, &rig.cfg);
    ctl_intake_rules_init(&rig.reception.rules, rig.cfg.limits.workers, SEED);
}

static void close_reception(void)
{
    reception_free(&rig.reception);
    close_rig();
}

EACH_TEST(open_reception, close_reception)

/* So many JOINs of a process at this address. */
static void ask_from(uint32_t ip, unsigned times)
{
    const struct ctl_session_config cfg = {.size = 2,
                                           .incarnation = 6,
                                           .join = {.name = "other", .data_port = 40002},
                                           .worker = &sml_worker,
                                           .join_deadline_ns = UINT64_C(60000000000)};
    const struct ctl_endpoint from = {.ip = ip, .udp_port = 40007};
    uint8_t message[CTL_MESSAGE_MAX];
    struct ctl_session stranger;
    size_t bytes;

    ctl_session_init(&stranger, &cfg, rig.now);
    bytes = ctl_session_poll(&stranger, rig.now, message);
    CU_ASSERT_FATAL(bytes > 0);
    for (unsigned i = 0; i < times; i++)
        reception_message(&rig.reception, &from, message, bytes, rig.now);
}

/* Returns how many answers were sent. */
static unsigned serve_all(void)
{
    const unsigned before = rig.sent;

    for (unsigned i = 0; i < MANY && reception_serve(&rig.reception, rig.now); i++)
        ;
    return rig.sent - before;
}

TEST(strangers_wait_while_members_are_heard)
{
    uint8_t message[CTL_MESSAGE_MAX];
    size_t bytes;

    join("train");
    reception_tick(&rig.reception, rig.now);
    ask_from(1, 1);
    rig.now += UINT64_C(1100000000);
    bytes = ctl_session_poll(&rig.worker, rig.now, message);
    rig.sent = 0;
    reception_message(&rig.reception, &rig.from, message, bytes, rig.now);
    CU_ASSERT_EQUAL(rig.sent, 1);
    CU_ASSERT_EQUAL(serve_all(), 1);
    CU_ASSERT_EQUAL(rig.worker.state, CTL_SESSION_READY);
}

TEST(a_stranger_that_floods_delays_no_other)
{
    enum { SERVED = 8 };

    ask_from(1, 2 * LANE);
    CU_ASSERT_EQUAL(rig.reception.counts.drop[DROP_CONTROL_FULL], LANE);
    ask_from(2, 1);
    CU_ASSERT(reception_serve(&rig.reception, rig.now));
    CU_ASSERT_EQUAL(handled_n, SERVED);
    CU_ASSERT(handled[0] == 2 || handled[1] == 2);
}

TEST(an_address_is_heard_so_often)
{
    unsigned answered = 0;

    for (unsigned i = 0; i < MANY / LANE; i++) {
        ask_from(1, LANE);
        answered += serve_all();
    }
    CU_ASSERT_EQUAL(answered, BURST);
    CU_ASSERT_EQUAL(rig.reception.counts.drop[DROP_CONTROL_RATE], MANY / LANE * LANE - BURST);
    ask_from(2, 1);
    CU_ASSERT_EQUAL(serve_all(), 1);
    rig.now += UINT64_C(1000000000);
    ask_from(1, LANE + 1);
    CU_ASSERT_EQUAL(serve_all(), LANE);
}

/* Its HEARTBEATs are copies of one. */
TEST(a_member_that_floods_is_heard_so_often)
{
    enum { AT_ONCE = 64 };
    uint8_t message[CTL_MESSAGE_MAX];
    size_t bytes;

    join("train");
    reception_tick(&rig.reception, rig.now);
    rig.now += UINT64_C(1100000000);
    bytes = ctl_session_poll(&rig.worker, rig.now, message);
    rig.sent = 0;
    for (unsigned i = 0; i < MANY; i++)
        reception_message(&rig.reception, &rig.from, message, bytes, rig.now);
    CU_ASSERT_EQUAL(rig.sent, AT_ONCE);
    CU_ASSERT_EQUAL(rig.reception.counts.drop[DROP_CONTROL_MEMBER_RATE], MANY - AT_ONCE);
}

TEST(whose_mac_address_is_not_known_comes_again)
{
    neighbour_known = false;
    ask_from(1, 1);
    CU_ASSERT_EQUAL(serve_all(), 0);
    neighbour_known = true;
    ask_from(1, 1);
    CU_ASSERT_EQUAL(serve_all(), 1);
}

TEST(what_is_no_message_is_counted_by_name)
{
    static const uint8_t noise[CTL_MESSAGE_MAX + 100] = {1, 2, 3};
    const struct ctl_endpoint from = {.ip = 1, .udp_port = 40007};

    reception_message(&rig.reception, &from, noise, 2, rig.now);
    reception_message(&rig.reception, &from, noise, sizeof(noise), rig.now);
    serve_all();
    CU_ASSERT_EQUAL(rig.reception.counts.drop[DROP_CONTROL_TOO_SHORT], 1);
    CU_ASSERT_EQUAL(rig.reception.counts.drop[DROP_CONTROL_NOT_CONTROL], 1);
}

/* A process at this address is told its boot id, joins a job and leaves it. */
static void come_and_go(uint32_t ip, uint64_t incarnation)
{
    const struct ctl_endpoint from = {.ip = ip, .udp_port = 40007};
    const struct sml_terms wish = {
        .format = XFER_FORMAT_INT32, .slots = 16, .chunk_bytes = 256, .plain = true};
    struct ctl_message m = {.head = {.type = CTL_JOIN,
                                     .version = CTL_VERSION,
                                     .incarnation = incarnation,
                                     .size = 2,
                                     .serial = 1},
                            .join = {.name = "other", .data_port = 40002}};
    uint8_t message[CTL_MESSAGE_MAX];

    sml_terms_build(&m.join.terms, &wish);
    registry_host_receive(&rig.membership.common, &from, message, ctl_build(message, &m), rig.now);
    m.head.boot_id = rig.told;
    m.head.serial++;
    registry_host_receive(&rig.membership.common, &from, message, ctl_build(message, &m), rig.now);
    m = (struct ctl_message){.head = m.head};
    m.head.type = CTL_LEAVE;
    m.head.serial++;
    registry_host_receive(&rig.membership.common, &from, message, ctl_build(message, &m), rig.now);
}

/* Lines of the log, which is this file, that have the words. */
static unsigned logged(FILE *log, const char *words)
{
    char line[1024];
    unsigned lines = 0;

    rewind(log);
    while (fgets(line, sizeof(line), log) != NULL)
        lines += strstr(line, words) != NULL;
    return lines;
}

TEST(nobody_fills_the_log_by_joining)
{
    enum { FULL = 1024 };
    const int errors = dup(STDERR_FILENO);
    FILE *log = tmpfile();
    unsigned before;

    CU_ASSERT_FATAL(log != NULL && errors >= 0 && dup2(fileno(log), STDERR_FILENO) >= 0);
    ask_to_join("train");
    for (unsigned i = 0; i < 2 * FULL; i++)
        come_and_go(0x0200004D, 100 + i);
    before = logged(log, ": job ");
    CU_ASSERT(before >= FULL && before < FULL + FULL / 8);
    come_and_go(0x0200004D, 1);
    CU_ASSERT_EQUAL(logged(log, ": job "), before);
    come_and_go(0x0300004D, 2); /* others' lines are written */
    CU_ASSERT(logged(log, ": job ") > before);
    reception_tick(&rig.reception, rig.now);
    CU_ASSERT_EQUAL(logged(log, " lines about jobs are left out"), 1);
    reception_tick(&rig.reception, rig.now);
    CU_ASSERT_EQUAL(logged(log, " lines about jobs are left out"), 1);
    dup2(errors, STDERR_FILENO);
    close(errors);
    fclose(log);
}

/* The worker's side of the control protocol: its state table, timers, late messages and those of others,
 * texts. */
#include <stdlib.h>
#include <string.h>

#include "control/session.h"
#include "random.h"
#include "same.h"
#include "switchml/worker.h"
#include "terms_of.h"
#include "unit.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

enum { RANK = 2, SIZE = 4, SLOTS = 64, CHUNK_BYTES = 1024 };

static const uint64_t start = 7 * SECOND, boot = 1111, other_boot = 2222, incarnation = 3333;
static const uint32_t epoch = 4444, first_tag = 5555;

static struct ctl_session_config config(void)
{
    struct ctl_session_config cfg = {
        .rank = RANK,
        .size = SIZE,
        .incarnation = incarnation,
        .join = {.name = "train-1",
                 .data_port = 40000,
                 .terms = terms_of(
                     (struct sml_terms){.format = XFER_FORMAT_TYPED, .chunk_bytes = 1460, .slots = 512})},
        .worker = &sml_worker,
        .join_deadline_ns = 30 * SECOND,
    };
    return cfg;
}

static const struct sml_terms granted = {
    .format = XFER_FORMAT_TYPED, .slots = SLOTS, .chunk_bytes = CHUNK_BYTES, .first_tag = 5555};

/* What the switch sends to the session at hand, as it should be. */
static struct ctl_message message(const struct ctl_session *s, uint8_t type)
{
    struct ctl_message m;
    memset(&m, 0, sizeof m);
    m.head = (struct ctl_head){.type = type,
                               .version = CTL_VERSION,
                               .boot_id = s->boot_id ? s->boot_id : boot,
                               .incarnation = incarnation,
                               .epoch = epoch,
                               .rank = RANK,
                               .size = SIZE,
                               .serial = s->serial};
    switch (type) {
    case CTL_READY:
        m.ready = (struct ctl_ready){.job = 9,
                                     .data_port = SML_PORT_FIRST,
                                     .lost_after_ms = 5000,
                                     .resumed = s->state == CTL_SESSION_REJOINING,
                                     .roster = 0x5a5a,
                                     .terms = terms_of(granted)};
        break;
    case CTL_PENDING:
        ctl_ranks_add(&m.pending.missing, 0);
        ctl_ranks_add(&m.pending.missing, 3);
        break;
    case CTL_REFUSED:
    case CTL_ABORTED:
        m.failure = (struct ctl_failure){.reason = CTL_RANK_LOST, .rank = 1, .text = "rank 1 lost"};
        break;
    }
    return m;
}

static bool receive(struct ctl_session *s, const struct ctl_message *m, uint64_t now)
{
    uint8_t bytes[CTL_MESSAGE_MAX];
    return ctl_session_receive(s, bytes, ctl_build(bytes, m), now);
}

static bool receive_type(struct ctl_session *s, uint8_t type, uint64_t now)
{
    struct ctl_message m = message(s, type);
    return receive(s, &m, now);
}

static bool receive_unknown_from(struct ctl_session *s, uint64_t boot_id, uint64_t now)
{
    struct ctl_message m = message(s, CTL_UNKNOWN);
    m.head.boot_id = boot_id;
    return receive(s, &m, now);
}

/* The next message that is due; type 0 if there is none. */
static struct ctl_message poll(struct ctl_session *s, uint64_t now)
{
    struct ctl_message m;
    uint8_t bytes[CTL_MESSAGE_MAX];
    memset(&m, 0, sizeof m);
    size_t length = ctl_session_poll(s, now, bytes);
    if (length > 0)
        CU_ASSERT_EQUAL(ctl_parse(&m, bytes, length), CTL_PARSED);
    return m;
}

/* A session in each state, at `start`, having sent what it sends there. */
static struct ctl_session session_in(enum ctl_session_state state)
{
    static const struct ctl_failure why = {.reason = CTL_DEADLINE, .rank = RANK, .text = "out of patience"};
    struct ctl_session_config cfg = config();
    struct ctl_session s;
    ctl_session_init(&s, &cfg, start);
    poll(&s, start);
    receive_type(&s, CTL_PENDING,
                 start); /* nobody gets READY who has not heard which life of the switch it is */
    poll(&s, start);
    if (state == CTL_SESSION_JOINING)
        return s;
    if (state == CTL_SESSION_FAILED) {
        receive_type(&s, CTL_REFUSED, start);
    } else {
        receive_type(&s, CTL_READY, start);
        poll(&s, start);
    }
    if (state == CTL_SESSION_REJOINING)
        receive_unknown_from(&s, other_boot, start);
    if (state == CTL_SESSION_ABORTING)
        ctl_session_abort(&s, &why, start);
    if (state == CTL_SESSION_LEAVING || state == CTL_SESSION_CLOSED)
        ctl_session_leave(&s, start);
    poll(&s, start);
    if (state == CTL_SESSION_CLOSED)
        receive_type(&s, CTL_LEFT, start);
    CU_ASSERT_EQUAL(s.state, state);
    return s;
}

/* Events: messages, the caller's wishes, time. */
enum event {
    GETS_PENDING,
    GETS_READY,
    GETS_REFUSED,
    GETS_ALIVE,
    GETS_LEFT,
    GETS_ABORTED,
    GETS_UNKNOWN,
    GETS_UNKNOWN_OTHER_BOOT,
    WANTS_ABORT,
    WANTS_LEAVE,
    TIME_PASSES,
    EVENTS
};

static void happen(struct ctl_session *s, enum event event)
{
    static const uint8_t types[] = {
        [GETS_PENDING] = CTL_PENDING, [GETS_READY] = CTL_READY, [GETS_REFUSED] = CTL_REFUSED,
        [GETS_ALIVE] = CTL_ALIVE,     [GETS_LEFT] = CTL_LEFT,   [GETS_ABORTED] = CTL_ABORTED,
        [GETS_UNKNOWN] = CTL_UNKNOWN};
    struct ctl_failure why = {.reason = CTL_APPLICATION, .rank = RANK, .text = "no more"};
    switch (event) {
    case GETS_UNKNOWN_OTHER_BOOT:
        receive_unknown_from(s, other_boot, start);
        break;
    case WANTS_ABORT:
        ctl_session_abort(s, &why, start);
        break;
    case WANTS_LEAVE:
        ctl_session_leave(s, start);
        break;
    case TIME_PASSES:
        poll(s, start + 30 * SECOND);
        break;
    default:
        receive_type(s, types[event], start);
        break;
    }
}

/* The table of session.h, in full. */
TEST(every_transition)
{
    enum {
        J = CTL_SESSION_JOINING,
        R = CTL_SESSION_READY,
        RE = CTL_SESSION_REJOINING,
        A = CTL_SESSION_ABORTING,
        L = CTL_SESSION_LEAVING,
        C = CTL_SESSION_CLOSED,
        F = CTL_SESSION_FAILED
    };
    static const uint8_t next[][EVENTS] = {
        /*       PENDING READY REFUSED ALIVE LEFT ABORTED UNKNOWN ..OTHER abort leave time */
        [J] = {J, R, F, J, J, F, J, J, A, L, F},       [R] = {R, R, R, R, R, F, F, RE, A, L, R},
        [RE] = {RE, R, F, RE, RE, F, RE, RE, A, L, F}, [A] = {A, A, A, A, A, F, F, F, A, L, F},
        [L] = {L, L, L, L, C, L, C, C, L, L, C},       [C] = {C, C, C, C, C, C, C, C, C, C, C},
        [F] = {F, F, F, F, F, F, F, F, F, L, F},
    };
    for (unsigned state = J; state <= F; state++)
        for (unsigned event = 0; event < EVENTS; event++) {
            struct ctl_session s = session_in(state);
            happen(&s, event);
            CU_ASSERT_EQUAL(s.state, next[state][event]);
            if (s.state != next[state][event])
                printf("\n    %s, event %u: %s\n", ctl_session_state_name(state), event,
                       ctl_session_state_name(s.state));
        }
}

/* A message with one wrong field in its head changes nothing, whatever the state and the type. */
TEST(foreign_messages_are_ignored)
{
    for (unsigned state = CTL_SESSION_JOINING; state <= CTL_SESSION_FAILED; state++)
        for (unsigned type = 0; type < 24; type++)
            for (unsigned field = 0; field < 4; field++) {
                struct ctl_session s = session_in(state), before = s;
                struct ctl_message m = message(&s, (uint8_t)type);
                m.head.incarnation += field == 0;
                m.head.rank = (uint16_t)(m.head.rank + (field == 1));
                m.head.boot_id = field == 2 ? 0 : m.head.boot_id;
                uint8_t bytes[CTL_MESSAGE_MAX];
                size_t length = ctl_build(bytes, &m) - (field == 3 ? 1 : 0);
                CU_ASSERT(!ctl_session_receive(&s, bytes, length, start + MS));
                CU_ASSERT(same_session(&s, &before));
            }
}

TEST(workers_messages_are_ignored)
{
    for (unsigned state = CTL_SESSION_JOINING; state <= CTL_SESSION_FAILED; state++)
        for (uint8_t type = CTL_JOIN; type <= CTL_ABORT; type++) {
            struct ctl_session s = session_in(state), before = s;
            struct ctl_message m = message(&s, type);
            if (type == CTL_JOIN)
                strcpy(m.join.name, "train-1");
            CU_ASSERT(!receive(&s, &m, start + MS));
            CU_ASSERT(same_session(&s, &before));
        }
}

TEST(ready_ignores_other_epochs)
{
    static const uint8_t types[] = {CTL_READY, CTL_ALIVE, CTL_ABORTED, CTL_UNKNOWN};
    for (unsigned i = 0; i < sizeof types; i++) {
        struct ctl_session s = session_in(CTL_SESSION_READY), before = s;
        struct ctl_message m = message(&s, types[i]);
        m.head.epoch--;
        m.head.boot_id = other_boot;
        CU_ASSERT(!receive(&s, &m, start + MS));
        CU_ASSERT(same_session(&s, &before));
    }
}

/* The switch has restarted; answers to what was sent before still arrive from its earlier life. */
TEST(rejoining_ignores_earlier_answers)
{
    static const uint8_t types[] = {CTL_READY, CTL_PENDING, CTL_REFUSED, CTL_ABORTED};
    for (unsigned i = 0; i < sizeof types; i++) {
        struct ctl_session s = session_in(CTL_SESSION_REJOINING), before = s;
        struct ctl_message m = message(&s, types[i]);
        m.head.serial = s.join_serial - 1;
        CU_ASSERT(!receive(&s, &m, start + MS));
        CU_ASSERT(same_session(&s, &before));
    }
}

/* A READY of a life that has ended was held up on its way, while its rank joined the next one. Taken, it
 * would make a member of the new life, which never was told READY, resume there. */
TEST(joining_ignores_ready_of_another_life)
{
    static const enum ctl_session_state states[] = {CTL_SESSION_JOINING, CTL_SESSION_REJOINING};
    for (unsigned i = 0; i < 2; i++) {
        struct ctl_session s = session_in(states[i]);
        struct ctl_message late = message(&s, CTL_READY), next = message(&s, CTL_PENDING);
        next.head.boot_id++;
        CU_ASSERT(receive(&s, &next, start));
        CU_ASSERT(!receive(&s, &late, start));
        CU_ASSERT_EQUAL(s.state, states[i]);
        CU_ASSERT(receive_type(&s, CTL_READY, start));
        CU_ASSERT_EQUAL(s.state, CTL_SESSION_READY);
    }
}

TEST(join_backs_off)
{
    static const uint64_t at_ms[] = {0, 50, 150, 350, 750, 1550, 2550, 3550, 4550};
    struct ctl_session_config cfg = config();
    struct ctl_session s;
    ctl_session_init(&s, &cfg, start);
    for (unsigned i = 0; i < sizeof at_ms / sizeof *at_ms; i++) {
        uint64_t due = start + at_ms[i] * MS;
        CU_ASSERT_EQUAL(ctl_session_timer(&s), due);
        if (i > 0)
            CU_ASSERT_EQUAL(poll(&s, due - 1).head.type, 0);
        struct ctl_message m = poll(&s, due);
        CU_ASSERT_EQUAL(m.head.type, CTL_JOIN);
        CU_ASSERT_EQUAL(m.head.serial, i + 1);
        CU_ASSERT_EQUAL(m.head.epoch, 0);
        CU_ASSERT_EQUAL(m.head.rank, RANK);
        CU_ASSERT_EQUAL(m.head.size, SIZE);
        CU_ASSERT_EQUAL(m.head.incarnation, incarnation);
        CU_ASSERT(same_join(&m.join, &cfg.join));
        CU_ASSERT_EQUAL(poll(&s, due).head.type, 0);
    }
}

/* The switch believes only who knows its boot id. */
TEST(who_learns_of_a_switch_joins_again_at_once)
{
    struct ctl_session_config cfg = config();
    struct ctl_session s;
    ctl_session_init(&s, &cfg, start);
    CU_ASSERT_EQUAL(poll(&s, start).head.boot_id, 0);
    CU_ASSERT(receive_type(&s, CTL_PENDING, start + MS));
    CU_ASSERT_EQUAL(ctl_session_timer(&s), start + MS);
    struct ctl_message m = poll(&s, start + MS);
    CU_ASSERT_EQUAL(m.head.type, CTL_JOIN);
    CU_ASSERT_EQUAL(m.head.boot_id, boot);
    CU_ASSERT(receive_type(&s, CTL_PENDING, start + 2 * MS));
    CU_ASSERT_EQUAL(poll(&s, start + 2 * MS).head.type, 0);

    CU_ASSERT(receive_type(&s, CTL_READY, start + 3 * MS));
    CU_ASSERT(receive_unknown_from(&s, other_boot, start + 4 * MS));
    CU_ASSERT_EQUAL(s.state, CTL_SESSION_REJOINING);
    CU_ASSERT_EQUAL(poll(&s, start + 4 * MS).head.boot_id, other_boot);
}

TEST(ready_takes_the_terms)
{
    struct ctl_session s = session_in(CTL_SESSION_READY);
    CU_ASSERT_EQUAL(s.generation, 1);
    CU_ASSERT_EQUAL(s.boot_id, boot);
    CU_ASSERT_EQUAL(s.epoch, epoch);
    CU_ASSERT_EQUAL(s.ready.job, 9);
    struct agg_terms terms = terms_of(granted);
    CU_ASSERT_EQUAL(memcmp(&s.ready.terms, &terms, sizeof terms), 0);
    CU_ASSERT_EQUAL(s.heartbeat.progress, first_tag);
    CU_ASSERT(receive_type(&s, CTL_READY, start));
    CU_ASSERT_EQUAL(s.generation, 1);
}

TEST(senseless_terms_are_ignored)
{
    for (unsigned i = 0; i < 14; i++) {
        struct ctl_session s = session_in(CTL_SESSION_JOINING), before = s;
        struct ctl_message m = message(&s, CTL_READY);
        struct sml_terms t = granted;
        switch (i) {
        case 0:
            t.slots = 1;
            break;
        case 1:
            t.slots = 96;
            break;
        case 2:
            t.slots = 2 * SML_MAX_SLOTS;
            break;
        case 3:
            t.chunk_bytes = 60;
            break;
        case 4:
            t.chunk_bytes = 1464; /* more than we asked for */
            break;
        case 10:
            t.format = XFER_FORMAT_INT32;
            break;
        case 11:
            t.mode = XFER_ORDERED;
            break;
        case 12:
            t.checksum = XFER_CHECKSUM_CRC32C;
            break;
        case 5:
            m.ready.lost_after_ms = 0;
            break;
        case 6:
            m.ready.data_port = 0;
            break;
        case 7:
            m.ready.data_ports = CTL_DATA_PORTS_MAX + 1;
            break;
        case 8:
            m.ready.data_port = UINT16_MAX;
            m.ready.data_ports = 2;
            break;
        case 9:
            m.ready.resumed = true; /* we have nothing to resume */
            break;
        }
        if (i < 5 || i > 9)
            m.ready.terms = terms_of(t);
        if (i == 13)
            m.ready.terms.protocol++;
        CU_ASSERT(!receive(&s, &m, start));
        CU_ASSERT(same_session(&s, &before));
    }
}

TEST(heartbeats)
{
    struct ctl_session s = session_in(CTL_SESSION_JOINING);
    receive_type(&s, CTL_READY, start);
    CU_ASSERT_EQUAL(ctl_session_timer(&s), start);
    for (uint64_t now = start; now < start + 5 * SECOND; now += SECOND) {
        s.heartbeat = (struct ctl_heartbeat){.calls = 7, .waiting = true, .stalled_ms = 12, .progress = 99};
        CU_ASSERT_EQUAL(poll(&s, now - 1).head.type, 0);
        struct ctl_message m = poll(&s, now);
        CU_ASSERT_EQUAL(m.head.type, CTL_HEARTBEAT);
        CU_ASSERT_EQUAL(m.head.epoch, epoch);
        CU_ASSERT_EQUAL(m.head.boot_id, boot);
        CU_ASSERT(same_heartbeat(&m.heartbeat, &s.heartbeat));
    }
}

TEST(silent_switch)
{
    struct ctl_session s = session_in(CTL_SESSION_READY);
    CU_ASSERT_EQUAL(ctl_session_silence(&s), 0);
    for (uint64_t now = start; now <= start + 3600 * SECOND; now += SECOND)
        poll(&s, now);
    CU_ASSERT_EQUAL(ctl_session_silence(&s), 3600 * SECOND);
    CU_ASSERT_EQUAL(s.state, CTL_SESSION_READY);
    receive_type(&s, CTL_ALIVE, start + 3600 * SECOND);
    CU_ASSERT_EQUAL(ctl_session_silence(&s), 0);
}

/* A process that was stopped has not listened, whatever the switch said meanwhile. */
TEST(own_absence_is_no_silence)
{
    struct ctl_session s = session_in(CTL_SESSION_READY);
    poll(&s, start);
    CU_ASSERT_EQUAL(poll(&s, start + 3600 * SECOND).head.type, CTL_HEARTBEAT);
    CU_ASSERT(ctl_session_silence(&s) < 5 * SECOND / 2);
    for (unsigned i = 1; i <= 4; i++)
        poll(&s, start + (3600 + i) * SECOND);
    CU_ASSERT(ctl_session_silence(&s) >= 4 * SECOND);
}

TEST(rejected_asks_at_once)
{
    struct ctl_session s = session_in(CTL_SESSION_READY);
    ctl_session_rejected(&s, start + 10 * MS);
    CU_ASSERT_EQUAL(ctl_session_timer(&s), start + 50 * MS); /* a heartbeat has just gone out */
    CU_ASSERT_EQUAL(poll(&s, start + 50 * MS).head.type, CTL_HEARTBEAT);
    ctl_session_rejected(&s, start + 400 * MS);
    CU_ASSERT_EQUAL(poll(&s, start + 400 * MS).head.type, CTL_HEARTBEAT);
    s.next_send = start + 420 * MS; /* sooner than 50 ms after the last one */
    ctl_session_rejected(&s, start + 401 * MS);
    CU_ASSERT_EQUAL(ctl_session_timer(&s), start + 420 * MS);
    struct ctl_session joining = session_in(CTL_SESSION_JOINING), before = joining;
    ctl_session_rejected(&joining, start);
    CU_ASSERT(same_session(&joining, &before));
}

static bool hears_behind(struct ctl_session *s, uint32_t serial, uint16_t behind, uint64_t now)
{
    struct ctl_message m = message(s, CTL_ALIVE);
    m.head.serial = serial;
    m.alive.behind = behind;
    return receive(s, &m, now);
}

/* An ALIVE counts that answers what was told since. */
TEST(asks_until_all_have_finished)
{
    struct ctl_session s = session_in(CTL_SESSION_READY);
    CU_ASSERT(hears_behind(&s, s.serial, 0, start) && !s.all_finished);
    s.heartbeat = (struct ctl_heartbeat){.tells_finished = true, .finished = 3};
    ctl_session_ask(&s, start + 10 * MS);
    CU_ASSERT(hears_behind(&s, s.serial, 0, start + 11 * MS) && !s.all_finished);
    uint64_t now = start + 10 * MS;
    for (uint64_t pause = 5 * MS; pause < 4 * SECOND; pause *= 2) {
        CU_ASSERT_EQUAL(ctl_session_timer(&s), now);
        CU_ASSERT_EQUAL(poll(&s, now).heartbeat.finished, 3);
        CU_ASSERT(hears_behind(&s, s.serial, 1, now) && !s.all_finished);
        ctl_session_ask(&s, now); /* once is enough */
        now += pause < SECOND ? pause : SECOND;
    }
    poll(&s, now);
    CU_ASSERT(hears_behind(&s, s.serial, 0, now) && s.all_finished);
    CU_ASSERT(hears_behind(&s, s.serial, 1, now) && s.all_finished);
}

/* Who still waits to get in when the switch restarts says so, but not who has only just heard of a switch. */
TEST(waited_since_before_a_restart)
{
    struct ctl_session s = session_in(CTL_SESSION_JOINING);
    CU_ASSERT(!poll(&s, start + SECOND).join.waited);
    struct ctl_message m = message(&s, CTL_PENDING);
    CU_ASSERT(receive(&s, &m, start + SECOND));
    CU_ASSERT(!poll(&s, start + 3 * SECOND).join.waited);
    m = message(&s, CTL_PENDING);
    m.head.boot_id = other_boot;
    CU_ASSERT(receive(&s, &m, start + 3 * SECOND));
    m = poll(&s, start + 3 * SECOND);
    CU_ASSERT(m.join.waited && !m.join.resume);
}

TEST(rejoin)
{
    struct ctl_session s = session_in(CTL_SESSION_READY);
    s.heartbeat.progress = first_tag + 17;
    CU_ASSERT(receive_unknown_from(&s, other_boot, start + SECOND));
    struct ctl_message m = poll(&s, start + SECOND);
    CU_ASSERT_EQUAL(m.head.type, CTL_JOIN);
    CU_ASSERT(m.join.resume);
    struct sml_terms wish = terms_in(&m.join.terms);
    CU_ASSERT(wish.resumed);
    CU_ASSERT_EQUAL(wish.slots, SLOTS);
    CU_ASSERT_EQUAL(wish.chunk_bytes, CHUNK_BYTES);
    CU_ASSERT_EQUAL(m.join.job, 9);
    CU_ASSERT_EQUAL(wish.first_tag, first_tag + 17);
    CU_ASSERT_EQUAL(m.join.roster, s.ready.roster);
    CU_ASSERT_NOT_EQUAL(m.join.roster, 0);
    CU_ASSERT(!m.join.waited);

    m = message(&s, CTL_READY);
    m.head.boot_id = other_boot;
    m.head.epoch = epoch + 5;
    struct sml_terms next = granted;
    next.first_tag += 3;
    m.ready.terms = terms_of(next);
    struct ctl_message bad = m;
    next.slots = 2 * SLOTS;
    bad.ready.terms = terms_of(next);
    CU_ASSERT(!receive(&s, &bad, start + SECOND));
    bad = m;
    bad.ready.resumed = false;
    CU_ASSERT(!receive(&s, &bad, start + SECOND));
    CU_ASSERT(receive(&s, &m, start + SECOND));
    CU_ASSERT_EQUAL(s.state, CTL_SESSION_READY);
    CU_ASSERT_EQUAL(s.generation, 2);
    CU_ASSERT_EQUAL(s.boot_id, other_boot);
    CU_ASSERT_EQUAL(s.epoch, epoch + 5);
    CU_ASSERT_EQUAL(terms_in(&s.ready.terms).first_tag, first_tag + 3);
    CU_ASSERT_EQUAL(s.heartbeat.progress, first_tag + 17);
}

static void check_failure(const struct ctl_session *s, unsigned reason, const char *text)
{
    CU_ASSERT_EQUAL(s->state, CTL_SESSION_FAILED);
    CU_ASSERT_EQUAL(s->failure.reason, reason);
    CU_ASSERT_STRING_EQUAL(s->failure.text, text);
}

/* A rank that joined late has as much time as the others when all join anew. */
TEST(a_rejoin_has_time_of_its_own)
{
    struct ctl_session_config cfg = config();
    struct ctl_session s;
    cfg.join_deadline_ns = SECOND / 2;
    cfg.rejoin_deadline_ns = 40 * SECOND;
    ctl_session_init(&s, &cfg, start);
    poll(&s, start);
    receive_type(&s, CTL_PENDING, start);
    struct ctl_session late = s;
    poll(&late, start + SECOND / 2);
    check_failure(&late, CTL_DEADLINE, "ranks 0 and 3 of 4 did not join within 0.5 s");

    poll(&s, start);
    receive_type(&s, CTL_READY, start);
    CU_ASSERT_EQUAL(s.state, CTL_SESSION_READY);
    receive_unknown_from(&s, other_boot, start + SECOND);
    CU_ASSERT_EQUAL(s.state, CTL_SESSION_REJOINING);
    poll(&s, start + SECOND);
    receive_type(&s, CTL_PENDING, start + SECOND);
    CU_ASSERT_EQUAL(poll(&s, start + 41 * SECOND - 1).head.type, CTL_JOIN);
    poll(&s, start + 41 * SECOND);
    check_failure(&s, CTL_DEADLINE,
                  "ranks 0 and 3 of 4 did not join again after a restart of the switch within 40.0 s");
}

/* Others may have taken a job's place while its switch was starting, and may go again. */
TEST(rejoining_waits_for_room)
{
    static const uint16_t reasons[] = {CTL_NO_JOBS, CTL_NO_SLOTS};
    for (unsigned i = 0; i < 2; i++) {
        struct ctl_session s = session_in(CTL_SESSION_REJOINING);
        struct ctl_message m = message(&s, CTL_REFUSED);
        m.failure = (struct ctl_failure){.reason = reasons[i], .rank = RANK, .text = "all places are taken"};
        m.head.boot_id = other_boot;
        CU_ASSERT(receive(&s, &m, start));
        CU_ASSERT_EQUAL(s.state, CTL_SESSION_REJOINING);
        CU_ASSERT_EQUAL(poll(&s, start + SECOND).head.type, CTL_JOIN);
        struct ctl_session admitted = s;
        poll(&s, start + 30 * SECOND);
        check_failure(&s, reasons[i],
                      "the switch has restarted, and had no room for 30.0 s: all places are taken");

        m = message(&admitted, CTL_READY);
        m.head.boot_id = other_boot;
        CU_ASSERT(receive(&admitted, &m, start + 2 * SECOND));
        CU_ASSERT_EQUAL(admitted.state, CTL_SESSION_READY);
    }
    struct ctl_session s = session_in(CTL_SESSION_JOINING); /* who has nothing to lose yet hears it at once */
    struct ctl_message m = message(&s, CTL_REFUSED);
    m.failure.reason = CTL_NO_JOBS;
    CU_ASSERT(receive(&s, &m, start));
    CU_ASSERT_EQUAL(s.state, CTL_SESSION_FAILED);

    s = session_in(CTL_SESSION_REJOINING);
    m = message(&s, CTL_PENDING);
    m.pending = (struct ctl_pending){.no_room = true};
    receive(&s, &m, start);
    poll(&s, start + 30 * SECOND);
    check_failure(
        &s, CTL_NO_SLOTS,
        "all ranks have joined again after a restart of the switch, but the switch had no room for the job "
        "within 30.0 s");

    s = session_in(CTL_SESSION_JOINING);
    m = message(&s, CTL_PENDING);
    m.pending.no_room = true; /* and a rank is missing: this one */
    receive(&s, &m, start);
    poll(&s, start + 30 * SECOND);
    check_failure(&s, CTL_NO_JOBS,
                  "the switch had no place for another job within 30.0 s, since jobs that ran before it "
                  "restarted come back, or this host has founded as many as it may");
}

TEST(failures_in_words)
{
    struct ctl_session_config cfg = config();
    struct ctl_session s;
    ctl_session_init(&s, &cfg, start);
    CU_ASSERT_EQUAL(poll(&s, start + 30 * SECOND - 1).head.type, CTL_JOIN);
    CU_ASSERT_EQUAL(poll(&s, start + 30 * SECOND).head.type, 0);
    check_failure(&s, CTL_DEADLINE, "no switch answered within 30.0 s");

    s = session_in(CTL_SESSION_JOINING);
    receive_type(&s, CTL_PENDING, start);
    poll(&s, start + 30 * SECOND);
    check_failure(&s, CTL_DEADLINE, "ranks 0 and 3 of 4 did not join within 30.0 s");

    s = session_in(CTL_SESSION_JOINING);
    struct ctl_message m = message(&s, CTL_PENDING);
    m.pending.occupied = true;
    receive(&s, &m, start);
    poll(&s, start + 30 * SECOND);
    check_failure(&s, CTL_DEADLINE,
                  "an earlier job of this name was still in use by ranks 0 and 3 after 30.0 s");

    s = session_in(CTL_SESSION_REJOINING);
    receive_type(&s, CTL_PENDING, start);
    poll(&s, start + 30 * SECOND);
    check_failure(&s, CTL_DEADLINE,
                  "ranks 0 and 3 of 4 did not join again after a restart of the switch within 30.0 s");

    s = session_in(CTL_SESSION_REJOINING);
    poll(&s, start + 30 * SECOND);
    check_failure(&s, CTL_DEADLINE, "no switch answered after a restart within 30.0 s");

    s = session_in(CTL_SESSION_READY);
    receive_type(&s, CTL_UNKNOWN, start);
    check_failure(&s, CTL_RANK_LOST, "the switch has given up rank 2, which it had not heard for too long");

    s = session_in(CTL_SESSION_READY);
    receive_type(&s, CTL_ABORTED, start);
    check_failure(&s, CTL_RANK_LOST, "rank 1 lost");

    s = session_in(CTL_SESSION_JOINING);
    m = message(&s, CTL_REFUSED);
    m.head.version = 9;
    CU_ASSERT(receive(&s, &m, start));
    check_failure(&s, CTL_BAD_VERSION, "the switch speaks version 9 of the control protocol, this program 2");
}

TEST(abort)
{
    struct ctl_failure why = {.reason = CTL_APPLICATION, .rank = RANK, .text = "no more"};
    static const uint64_t at_ms[] = {0, 50, 150, 350, 750};
    struct ctl_session s = session_in(CTL_SESSION_READY);
    ctl_session_abort(&s, &why, start);
    for (unsigned i = 0; i < sizeof at_ms / sizeof *at_ms; i++) {
        struct ctl_message m = poll(&s, start + at_ms[i] * MS);
        CU_ASSERT_EQUAL(m.head.type, CTL_ABORT);
        CU_ASSERT_EQUAL(memcmp(&m.failure, &why, sizeof why), 0);
    }
    CU_ASSERT_EQUAL(ctl_session_timer(&s), start + SECOND);
    poll(&s, start + SECOND);
    check_failure(&s, CTL_APPLICATION, "no more");
    CU_ASSERT_EQUAL(ctl_session_timer(&s), UINT64_MAX);

    s = session_in(CTL_SESSION_READY); /* somebody else was first */
    ctl_session_abort(&s, &why, start);
    receive_type(&s, CTL_ABORTED, start);
    check_failure(&s, CTL_RANK_LOST, "rank 1 lost");
}

TEST(leave)
{
    struct ctl_session s = session_in(CTL_SESSION_READY);
    s.heartbeat.calls = 12;
    ctl_session_leave(&s, start);
    struct ctl_message m = poll(&s, start);
    CU_ASSERT_EQUAL(m.head.type, CTL_LEAVE);
    CU_ASSERT_EQUAL(m.heartbeat.calls, 12);
    CU_ASSERT_EQUAL(poll(&s, start + 50 * MS).head.type, CTL_LEAVE);
    ctl_session_leave(&s, start + 900 * MS); /* does not start over */
    poll(&s, start + SECOND);
    CU_ASSERT_EQUAL(s.state, CTL_SESSION_CLOSED);
    CU_ASSERT_EQUAL(ctl_session_timer(&s), UINT64_MAX);
    CU_ASSERT_EQUAL(poll(&s, start + 2 * SECOND).head.type, 0);

    struct ctl_session_config cfg = config();
    ctl_session_init(&s, &cfg, start); /* nobody has been heard: there is nobody to tell */
    ctl_session_leave(&s, start);
    CU_ASSERT_EQUAL(s.state, CTL_SESSION_CLOSED);

    s = session_in(CTL_SESSION_FAILED); /* what it failed of is kept */
    ctl_session_leave(&s, start);
    CU_ASSERT_STRING_EQUAL(s.failure.text, "rank 1 lost");
}

/* Noise never changes anything but by a message that could have come from the switch. */
TEST(noise)
{
    uint64_t rng = rng_seed(1);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned state = CTL_SESSION_JOINING + (unsigned)rng_below(&rng, 7);
        struct ctl_session s = session_in(state), before = s;
        struct ctl_message m = message(&s, (uint8_t)(CTL_PENDING + rng_below(&rng, 7)));
        uint8_t bytes[CTL_MESSAGE_MAX];
        size_t length = ctl_build(bytes, &m);
        /* In the magic, version, type, boot id or incarnation. */
        bytes[rng_below(&rng, 24)] ^= (uint8_t)rng_between(&rng, 1, 255);
        uint8_t *copy = malloc(length);
        memcpy(copy, bytes, length);
        bool taken = ctl_session_receive(&s, copy, length, start);
        free(copy);
        if (!taken)
            CU_ASSERT(same_session(&s, &before));
        CU_ASSERT_STRING_NOT_EQUAL(ctl_session_state_name(s.state), "?");
    }
}

/* Who is older than NICs does not say that he hears this one's. */
TEST(an_old_switch_hears_no_nic)
{
    struct ctl_session_config cfg = config();
    struct ctl_session s;
    struct ctl_message ready;

    cfg.join.queue_pair = 17;
    for (uint8_t hears = CTL_NIC_NONE; hears <= CTL_NIC_PACKETS; hears++) {
        ctl_session_init(&s, &cfg, start);
        CU_ASSERT_EQUAL(poll(&s, start).join.queue_pair, 17);
        receive_type(&s, CTL_PENDING, start);
        poll(&s, start);
        ready = message(&s, CTL_READY);
        ready.ready.nic = hears;
        CU_ASSERT(receive(&s, &ready, start));
        CU_ASSERT_EQUAL(s.state, hears ? CTL_SESSION_READY : CTL_SESSION_ABORTING);
        CU_ASSERT_EQUAL(poll(&s, start).head.type, hears ? CTL_HEARTBEAT : CTL_ABORT);
    }
    ctl_session_init(&s, &cfg, start);
    poll(&s, start);
    receive_type(&s, CTL_PENDING, start);
    poll(&s, start);
    receive_type(&s, CTL_READY, start);
    CU_ASSERT_STRING_EQUAL(s.failure.text,
                           "the switch is too old to hear the NIC of rank 2 (RoCE): update it, or "
                           "open the job with the kernel's sockets (transport=kernel)");
}

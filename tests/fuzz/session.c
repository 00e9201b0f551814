/* The worker's control state: any sequence of messages, calls and passing of time. An input is a byte for
 * each step and its arguments. */
#include "control/session.h"
#include "fuzz.h"
#include "same.h"
#include "switchml/worker.h"
#include "terms_of.h"

#define MS UINT64_C(1000000)

enum { STEPS_MAX = 400 };

static struct ctl_session_config config(struct input *in)
{
    struct ctl_session_config cfg = {
        .rank = 1,
        .size = 3,
        .incarnation = 77,
        .join = {.name = "fuzz",
                 .data_port = 9,
                 .terms = terms_of(
                     (struct sml_terms){.format = XFER_FORMAT_TYPED, .chunk_bytes = 1460, .slots = 256})},
        .worker = &sml_worker,
        .join_deadline_ns = (1 + take8(in)) * 100 * MS,
    };
    return cfg;
}

/* Mostly what a switch would send, so that states are reached; any field may be off. */
static void take_message(struct input *in, const struct ctl_session *s, struct ctl_message *m)
{
    memset(m, 0, sizeof *m);
    uint8_t odd = take8(in);
    m->head.type = (uint8_t)(CTL_PENDING + take8(in) % 8);
    m->head.version = odd & 1 ? take8(in) : CTL_VERSION;
    m->head.boot_id = odd & 2 ? take8(in) : s->boot_id ? s->boot_id : 5;
    m->head.incarnation = odd & 4 ? take8(in) : s->cfg.incarnation;
    m->head.epoch = odd & 8 ? take8(in) : s->epoch;
    m->head.rank = odd & 16 ? take8(in) : s->cfg.rank;
    m->head.size = s->cfg.size;
    m->head.serial = odd & 32 ? take8(in) : s->serial;
    switch (m->head.type) {
    case CTL_READY:
        m->ready = (struct ctl_ready){.job = 1,
                                      .data_port = SML_PORT_FIRST,
                                      .lost_after_ms = 5000,
                                      .resumed = s->state == CTL_SESSION_REJOINING};
        struct sml_terms t =
            s->generation
                ? terms_in(&s->ready.terms)
                : (struct sml_terms){
                      .format = XFER_FORMAT_TYPED, .slots = 256, .chunk_bytes = 1460, .first_tag = 1000};
        m->head.epoch++;
        if (odd & 64) {
            t.slots = take16(in);
            t.chunk_bytes = take16(in);
            m->ready.data_port = take16(in);
            m->ready.data_ports = take8(in);
            m->ready.lost_after_ms = take32(in);
            m->ready.resumed = take8(in) & 1;
        }
        m->ready.terms = terms_of(t);
        break;
    case CTL_PENDING:
        m->pending.occupied = odd & 64;
        m->pending.missing.word[0] = take8(in);
        m->pending.missing.word[CTL_RANK_WORDS - 1] = take8(in);
        break;
    case CTL_REFUSED:
    case CTL_ABORTED:
        m->failure.reason = take8(in);
        memset(m->failure.text, 'x', take8(in) % CTL_TEXT_MAX);
        break;
    }
}

static void check(const struct ctl_session *s, const struct ctl_session *before)
{
    REQUIRE(s->state >= CTL_SESSION_JOINING && s->state <= CTL_SESSION_FAILED);
    REQUIRE(strcmp(ctl_session_state_name(s->state), "?") != 0);
    REQUIRE(s->serial == before->serial || s->serial == before->serial + 1);
    REQUIRE(s->generation == before->generation || s->generation == before->generation + 1);
    if (s->generation != before->generation)
        REQUIRE(s->state == CTL_SESSION_READY);
    if (before->state == CTL_SESSION_CLOSED)
        REQUIRE(s->state == CTL_SESSION_CLOSED);
    if (before->state == CTL_SESSION_FAILED)
        REQUIRE(s->state >= CTL_SESSION_LEAVING);
    struct sml_terms now = terms_in(&s->ready.terms), then = terms_in(&before->ready.terms);
    if (s->generation > 0) {
        REQUIRE(now.slots >= 2 && (now.slots & (now.slots - 1)) == 0);
        REQUIRE(now.chunk_bytes >= 64 && now.chunk_bytes <= 1460 && s->ready.lost_after_ms > 0);
    }
    if (before->generation > 0) /* the terms of a job do not change while it lives */
        REQUIRE(now.slots == then.slots && now.chunk_bytes == then.chunk_bytes);
    REQUIRE(strnlen(s->failure.text, CTL_TEXT_MAX) < CTL_TEXT_MAX);
}

/* Sends what is due. What is sent is in order, and after that nothing is due any more. */
static void poll(struct ctl_session *s, uint64_t now)
{
    uint8_t out[CTL_MESSAGE_MAX];
    struct ctl_message m;
    size_t bytes = ctl_session_poll(s, now, out);
    if (bytes > 0) {
        REQUIRE(ctl_parse(&m, out, bytes) == CTL_PARSED);
        REQUIRE(ctl_type_from_worker(m.head.type));
        REQUIRE(m.head.serial == s->serial && m.head.incarnation == s->cfg.incarnation);
        if (m.head.type == CTL_JOIN)
            REQUIRE(m.join.resume == (s->generation > 0) && !(m.join.resume && m.join.waited));
    }
    REQUIRE(ctl_session_poll(s, now, out) == 0);
    REQUIRE(ctl_session_timer(s) > now);
}

static void step(struct ctl_session *s, struct input *in, uint64_t *now)
{
    struct ctl_session before;
    struct ctl_message m;
    uint8_t bytes[CTL_MESSAGE_MAX], *raw;
    size_t n;
    switch (take8(in) % 8) {
    case 0:
    case 1:
    case 2:
        take_message(in, s, &m);
        before = *s;
        ctl_session_receive(s, bytes, ctl_build(bytes, &m), *now);
        if (before.state == CTL_SESSION_READY && m.head.epoch != before.epoch) /* a late one */
            REQUIRE(same_session(s, &before));
        break;
    case 3:
        raw = take_bytes(in, take16(in) % CTL_MESSAGE_MAX, &n);
        ctl_session_receive(s, raw, n, *now);
        free(raw);
        break;
    case 4:
        *now += take16(in) * MS;
        poll(s, *now);
        break;
    case 5:
        poll(s, *now);
        break;
    case 6:
        ctl_session_rejected(s, *now);
        break;
    default:
        if (take8(in) & 1)
            ctl_session_leave(s, *now);
        else
            ctl_session_abort(s, &(struct ctl_failure){.reason = CTL_APPLICATION, .text = "no more"}, *now);
        break;
    }
    ctl_session_silence(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct ctl_session_config cfg = config(&in);
    struct ctl_session s;
    uint64_t now = 1000 * MS;
    ctl_session_init(&s, &cfg, now);
    for (unsigned n = 0; in.left > 0 && n < STEPS_MAX; n++) {
        struct ctl_session before = s;
        step(&s, &in, &now);
        check(&s, &before);
    }
    /* Left alone, it always comes to rest: it asks a switch that does not answer, or it is over. */
    for (unsigned n = 0; n < 100; n++) {
        now += 1000 * MS;
        poll(&s, now);
    }
    REQUIRE(s.state == CTL_SESSION_READY || s.state == CTL_SESSION_FAILED || s.state == CTL_SESSION_CLOSED);
    return 0;
}

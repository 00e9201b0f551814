#include "wire/control.h"

#include <string.h>

#include "wire/bytes.h"

/* Where the fields lie; docs/protocol.md shows them as tables. */
enum {
    MAGIC = 0,
    VERSION = 4,
    TYPE = 5,
    FLAGS = 6,
    BOOT_ID = 8,
    INCARNATION = 16,
    EPOCH = 24,
    RANK = 28,
    SIZE = 30,
    SERIAL = 32,

    FLAG_SEALED = 0x01,

    JOIN_NAME = 0,
    JOIN_DATA_PORT = 48,
    JOIN_RESUME = 50,
    JOIN_WAITED = 51,
    JOIN_JOB = 52,
    JOIN_ROOT_HERE = 53,
    JOIN_ROSTER = 56,
    JOIN_TERMS = 64,
    JOIN_BYTES = JOIN_TERMS + 4 + AGG_TERMS_MAX,

    READY_JOB = 0,
    READY_RESUMED = 1,
    READY_DATA_PORT = 2,
    READY_DATA_PORTS = 4,
    READY_NIC = 5,
    READY_LOST_AFTER_MS = 8,
    READY_ROSTER = 16,
    READY_TERMS = 24,
    READY_BYTES = READY_TERMS + 4 + AGG_TERMS_MAX,
    READY_COVERED = READY_BYTES,
    READY_SEALED_BYTES = READY_COVERED + KEYS_SECRET_BYTES,

    TERMS_PROTOCOL = 0,
    TERMS_VERSION = 1,
    TERMS_LENGTH = 2,
    TERMS_DATA = 4,

    PENDING_WAITED_MS = 0,
    PENDING_OCCUPIED = 4,
    PENDING_NO_ROOM = 5,
    PENDING_PREPARING = 6,
    PENDING_WORDS = 7,
    PENDING_MISSING = 8,
    PENDING_WORDS_LEAST = 4, /* what every reader expects */
    PENDING_BYTES = PENDING_MISSING + 8 * PENDING_WORDS_LEAST,

    HEARTBEAT_CALLS = 0,
    HEARTBEAT_WAITING = 4,
    HEARTBEAT_STALLED_MS = 8,
    HEARTBEAT_PROGRESS = 12,
    HEARTBEAT_BYTES = 16, /* what every reader expects */
    HEARTBEAT_WINDOW = 16,
    HEARTBEAT_RESUMED = 20,
    HEARTBEAT_RETRANSMITTED = 24,
    HEARTBEAT_LONG_BYTES = 32,
    HEARTBEAT_FINISHED = 32,
    HEARTBEAT_LONGEST_BYTES = 36,

    ALIVE_BEHIND = 0, /* left out if it is 0 */
    ALIVE_LONG_BYTES = 2,

    FAILURE_REASON = 0,
    FAILURE_RANK = 2,
    FAILURE_TEXT = 4,
    FAILURE_BYTES = 4 + CTL_TEXT_MAX,
};

static const uint8_t magic[4] = {'S', 'W', 'A', 'G'};

_Static_assert(CTL_HEAD_BYTES + FAILURE_BYTES + CTL_SEAL_BYTES <= CTL_MESSAGE_MAX &&
                   CTL_HEAD_BYTES + READY_SEALED_BYTES + 16 + 8 * CTL_RANK_WORDS + 8 + CTL_SEAL_BYTES <=
                       CTL_MESSAGE_MAX &&
                   CTL_HEAD_BYTES + PENDING_MISSING + 8 * CTL_RANK_WORDS + FAILURE_BYTES + CTL_SEAL_BYTES <=
                       CTL_MESSAGE_MAX,
               "the longest messages fit, sealed, so none is ever split");
_Static_assert(FAILURE_TEXT + CTL_TEXT_MAX == FAILURE_BYTES && JOIN_NAME + CTL_NAME_MAX == JOIN_DATA_PORT,
               "layout");

static bool is_printable(char c)
{
    return c >= ' ' && c <= '~';
}

static void put_string(uint8_t *out, const char *s, size_t max)
{
    for (size_t i = 0; i < max - 1 && s[i]; i++)
        out[i] = (uint8_t)(is_printable(s[i]) ? s[i] : '?');
}

/* s is zero already. */
static bool get_string(char *s, const uint8_t *in, size_t max)
{
    for (size_t i = 0; i < max; i++) {
        if (in[i] == 0)
            return true;
        if (!is_printable((char)in[i]))
            return false;
        s[i] = (char)in[i];
    }
    return false;
}

static void build_terms(uint8_t *b, const struct agg_terms *t)
{
    uint8_t length = t->bytes < AGG_TERMS_MAX ? t->bytes : AGG_TERMS_MAX;
    b[TERMS_PROTOCOL] = t->protocol;
    b[TERMS_VERSION] = t->version;
    b[TERMS_LENGTH] = length;
    memcpy(b + TERMS_DATA, t->data, length);
}

/* t is zero already. */
static enum ctl_parse_error parse_terms(struct agg_terms *t, const uint8_t *b)
{
    if (b[TERMS_LENGTH] > AGG_TERMS_MAX)
        return CTL_TOO_SHORT;
    t->protocol = b[TERMS_PROTOCOL];
    t->version = b[TERMS_VERSION];
    t->bytes = b[TERMS_LENGTH];
    memcpy(t->data, b + TERMS_DATA, t->bytes);
    return CTL_PARSED;
}

static void build_join(uint8_t *b, const struct ctl_join *j)
{
    put_string(b + JOIN_NAME, j->name, CTL_NAME_MAX);
    put_be16(b + JOIN_DATA_PORT, j->data_port);
    b[JOIN_RESUME] = j->resume;
    b[JOIN_WAITED] = j->waited;
    b[JOIN_JOB] = j->job;
    b[JOIN_ROOT_HERE] = j->root_here;
    put_be64(b + JOIN_ROSTER, j->roster);
    build_terms(b + JOIN_TERMS, &j->terms);
}

static enum ctl_parse_error parse_join(struct ctl_join *j, const uint8_t *b)
{
    j->data_port = get_be16(b + JOIN_DATA_PORT);
    j->resume = b[JOIN_RESUME] & 1;
    j->waited = b[JOIN_WAITED] & 1;
    j->job = b[JOIN_JOB];
    j->root_here = b[JOIN_ROOT_HERE] & 1;
    j->roster = get_be64(b + JOIN_ROSTER);
    if (!get_string(j->name, b + JOIN_NAME, CTL_NAME_MAX) || !j->name[0])
        return CTL_BAD_STRING;
    return parse_terms(&j->terms, b + JOIN_TERMS);
}

static void build_ready(uint8_t *b, const struct ctl_ready *r, bool sealed)
{
    b[READY_JOB] = r->job;
    b[READY_RESUMED] = r->resumed;
    put_be16(b + READY_DATA_PORT, r->data_port);
    b[READY_DATA_PORTS] = r->data_ports;
    b[READY_NIC] = r->nic;
    put_be32(b + READY_LOST_AFTER_MS, r->lost_after_ms);
    put_be64(b + READY_ROSTER, r->roster);
    build_terms(b + READY_TERMS, &r->terms);
    if (sealed)
        memcpy(b + READY_COVERED, r->covered, sizeof r->covered);
}

static enum ctl_parse_error parse_ready(struct ctl_ready *r, const uint8_t *b, bool sealed)
{
    r->job = b[READY_JOB];
    r->resumed = b[READY_RESUMED] & 1;
    r->data_port = get_be16(b + READY_DATA_PORT);
    r->data_ports = b[READY_DATA_PORTS] ? b[READY_DATA_PORTS] : 1;
    r->nic = b[READY_NIC] & CTL_NIC_PACKETS ? b[READY_NIC] & CTL_NIC_MESSAGES : CTL_NIC_NONE;
    r->lost_after_ms = get_be32(b + READY_LOST_AFTER_MS);
    r->roster = get_be64(b + READY_ROSTER);
    if (sealed)
        memcpy(r->covered, b + READY_COVERED, sizeof r->covered);
    return parse_terms(&r->terms, b + READY_TERMS);
}

static void build_failure(uint8_t *b, const struct ctl_failure *f)
{
    put_be16(b + FAILURE_REASON, f->reason);
    put_be16(b + FAILURE_RANK, f->rank);
    put_string(b + FAILURE_TEXT, f->text, CTL_TEXT_MAX);
}

static enum ctl_parse_error parse_failure(struct ctl_failure *f, const uint8_t *b)
{
    f->reason = get_be16(b + FAILURE_REASON);
    f->rank = get_be16(b + FAILURE_RANK);
    return get_string(f->text, b + FAILURE_TEXT, CTL_TEXT_MAX) ? CTL_PARSED : CTL_BAD_STRING;
}

/* As few as hold the ranks. */
static unsigned pending_words(const struct ctl_pending *p)
{
    unsigned words = CTL_RANK_WORDS;
    while (words > PENDING_WORDS_LEAST && p->missing.word[words - 1] == 0)
        words--;
    return words;
}

static void build_pending(uint8_t *b, const struct ctl_pending *p)
{
    put_be32(b + PENDING_WAITED_MS, p->waited_ms);
    b[PENDING_OCCUPIED] = p->occupied;
    b[PENDING_NO_ROOM] = p->no_room;
    b[PENDING_PREPARING] = p->preparing;
    b[PENDING_WORDS] = (uint8_t)pending_words(p);
    for (unsigned i = 0; i < pending_words(p); i++)
        put_be64(b + PENDING_MISSING + 8 * i, p->missing.word[i]);
    if (p->turned_away.reason != CTL_OK)
        build_failure(b + PENDING_MISSING + 8 * pending_words(p), &p->turned_away);
}

/* bytes: of the body, PENDING_BYTES at least. Ranks that are not known here, of a larger job, are left out.
 */
static enum ctl_parse_error parse_pending(struct ctl_pending *p, const uint8_t *b, size_t bytes)
{
    const unsigned told = b[PENDING_WORDS] ? b[PENDING_WORDS] : PENDING_WORDS_LEAST;
    const unsigned words = told < CTL_RANK_WORDS ? told : CTL_RANK_WORDS;
    if (bytes < PENDING_MISSING + 8 * told)
        return CTL_TOO_SHORT;
    p->waited_ms = get_be32(b + PENDING_WAITED_MS);
    p->occupied = b[PENDING_OCCUPIED] & 1;
    p->no_room = b[PENDING_NO_ROOM] & 1;
    p->preparing = b[PENDING_PREPARING] & 1;
    for (unsigned i = 0; i < words; i++)
        p->missing.word[i] = get_be64(b + PENDING_MISSING + 8 * i);
    if (bytes < PENDING_MISSING + 8 * told + FAILURE_BYTES)
        return CTL_PARSED;
    return parse_failure(&p->turned_away, b + PENDING_MISSING + 8 * told);
}

static void build_heartbeat(uint8_t *b, const struct ctl_heartbeat *h)
{
    put_be32(b + HEARTBEAT_CALLS, h->calls);
    b[HEARTBEAT_WAITING] = h->waiting;
    put_be32(b + HEARTBEAT_STALLED_MS, h->stalled_ms);
    put_be32(b + HEARTBEAT_PROGRESS, h->progress);
    put_be32(b + HEARTBEAT_WINDOW, h->window);
    put_be32(b + HEARTBEAT_RESUMED, h->resumed);
    put_be64(b + HEARTBEAT_RETRANSMITTED, h->retransmitted);
    if (h->tells_finished)
        put_be32(b + HEARTBEAT_FINISHED, h->finished);
}

/* bytes: of the body, HEARTBEAT_BYTES at least. */
static void parse_heartbeat(struct ctl_heartbeat *h, const uint8_t *b, size_t bytes)
{
    h->calls = get_be32(b + HEARTBEAT_CALLS);
    h->waiting = b[HEARTBEAT_WAITING] & 1;
    h->stalled_ms = get_be32(b + HEARTBEAT_STALLED_MS);
    h->progress = get_be32(b + HEARTBEAT_PROGRESS);
    if (bytes < HEARTBEAT_LONG_BYTES)
        return;
    h->window = get_be32(b + HEARTBEAT_WINDOW);
    h->resumed = get_be32(b + HEARTBEAT_RESUMED);
    h->retransmitted = get_be64(b + HEARTBEAT_RETRANSMITTED);
    h->tells_finished = bytes >= HEARTBEAT_LONGEST_BYTES;
    if (h->tells_finished)
        h->finished = get_be32(b + HEARTBEAT_FINISHED);
}

/* At least. */
static size_t body_bytes(const struct ctl_head *h)
{
    switch (h->type) {
    case CTL_JOIN:
        return JOIN_BYTES;
    case CTL_READY:
        return h->sealed ? READY_SEALED_BYTES : READY_BYTES;
    case CTL_PENDING:
        return PENDING_BYTES;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        return HEARTBEAT_BYTES;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        return FAILURE_BYTES;
    default:
        return 0;
    }
}

static bool is_type(unsigned type)
{
    return (type >= CTL_JOIN && type <= CTL_ABORT) || (type >= CTL_PENDING && type <= CTL_UNKNOWN);
}

static void build_head(uint8_t *out, const struct ctl_head *h)
{
    memcpy(out + MAGIC, magic, sizeof magic);
    out[VERSION] = h->version;
    out[TYPE] = h->type;
    out[FLAGS] = h->sealed ? FLAG_SEALED : 0;
    put_be64(out + BOOT_ID, h->boot_id);
    put_be64(out + INCARNATION, h->incarnation);
    put_be32(out + EPOCH, h->epoch);
    put_be16(out + RANK, h->rank);
    put_be16(out + SIZE, h->size);
    put_be32(out + SERIAL, h->serial);
}

static void parse_head(struct ctl_head *h, const uint8_t *in)
{
    h->version = in[VERSION];
    h->type = in[TYPE];
    h->sealed = in[FLAGS] & FLAG_SEALED;
    h->boot_id = get_be64(in + BOOT_ID);
    h->incarnation = get_be64(in + INCARNATION);
    h->epoch = get_be32(in + EPOCH);
    h->rank = get_be16(in + RANK);
    h->size = get_be16(in + SIZE);
    h->serial = get_be32(in + SERIAL);
}

uint64_t ctl_peek_incarnation(const uint8_t *payload, size_t bytes)
{
    return bytes < CTL_HEAD_BYTES ? 0 : get_be64(payload + INCARNATION);
}

static size_t built_bytes(const struct ctl_message *m)
{
    if (m->head.type == CTL_PENDING)
        return PENDING_MISSING + 8 * pending_words(&m->pending) +
               (m->pending.turned_away.reason != CTL_OK ? FAILURE_BYTES : 0);
    if (m->head.type == CTL_HEARTBEAT || m->head.type == CTL_LEAVE)
        return m->heartbeat.tells_finished ? HEARTBEAT_LONGEST_BYTES : HEARTBEAT_LONG_BYTES;
    if (m->head.type == CTL_ALIVE && m->alive.behind > 0)
        return ALIVE_LONG_BYTES;
    return body_bytes(&m->head);
}

/* What JOIN and READY have behind their usual bodies: of trees of switches (docs/protocol.md, "Trees of
 * switches"), in JOIN also the NIC's queue pair, then the ticket. What is behind the last of it that is not
 * zero is left out. */
enum {
    ABOVE_LEVELS = 0,
    ABOVE_NUMBERS = 1,
    ABOVE_BYTES = ABOVE_NUMBERS + CTL_LEVELS_MAX - 1,

    JOIN_HOPS = ABOVE_BYTES,
    JOIN_QUEUE_PAIR = JOIN_HOPS + 1,
    JOIN_HOST = JOIN_HOPS + 4,
    JOIN_VIA = JOIN_HOST + 4,
    JOIN_TAIL_BYTES = JOIN_VIA + 4,
    JOIN_TICKET = JOIN_TAIL_BYTES,

    READY_WORDS = ABOVE_BYTES,
    READY_BUNDLE = READY_WORDS + 8,

    TICKET_BYTES = 8, /* of READY behind the ranks */
};

static void build_above(uint8_t *b, const struct ctl_above *a)
{
    b[ABOVE_LEVELS] = a->levels;
    memcpy(b + ABOVE_NUMBERS, a->number, sizeof a->number);
}

/* a is zero already. More levels than there can be are as good as none. */
static void parse_above(struct ctl_above *a, const uint8_t *b)
{
    a->levels = b[ABOVE_LEVELS] < CTL_LEVELS_MAX ? b[ABOVE_LEVELS] : 0;
    memcpy(a->number, b + ABOVE_NUMBERS, a->levels);
}

/* As few as hold the ranks. */
static unsigned bundle_words(const struct ctl_ready *r)
{
    unsigned words = CTL_RANK_WORDS;
    while (words > 0 && r->bundle.word[words - 1] == 0)
        words--;
    return words;
}

/* How long the message's tail is; 0: it has none. */
static size_t tail_bytes(const struct ctl_message *m)
{
    if (m->head.type == CTL_JOIN && m->join.ticket != 0)
        return JOIN_TICKET + TICKET_BYTES;
    if (m->head.type == CTL_JOIN)
        return m->join.hops > 0 || m->join.above.levels > 0 || m->join.queue_pair != 0 ? JOIN_TAIL_BYTES : 0;
    if (m->head.type != CTL_READY)
        return 0;
    const unsigned words = bundle_words(&m->ready);
    if (m->ready.ticket != 0)
        return READY_BUNDLE + 8 * words + TICKET_BYTES;
    return m->ready.above.levels > 0 || words > 0 ? READY_BUNDLE + 8 * words : 0;
}

/* out: so many bytes, zero. */
static void build_tail(uint8_t *out, const struct ctl_message *m)
{
    if (m->head.type == CTL_JOIN) {
        build_above(out, &m->join.above);
        out[JOIN_HOPS] = m->join.hops;
        put_be24(out + JOIN_QUEUE_PAIR, m->join.queue_pair);
        memcpy(out + JOIN_HOST, &m->join.host, sizeof m->join.host);
        memcpy(out + JOIN_VIA, &m->join.via, sizeof m->join.via);
        if (m->join.ticket != 0)
            put_be64(out + JOIN_TICKET, m->join.ticket);
        return;
    }
    const unsigned words = bundle_words(&m->ready);
    build_above(out, &m->ready.above);
    out[READY_WORDS] = (uint8_t)words;
    for (unsigned i = 0; i < words; i++)
        put_be64(out + READY_BUNDLE + 8 * i, m->ready.bundle.word[i]);
    if (m->ready.ticket != 0)
        put_be64(out + READY_BUNDLE + 8 * words, m->ready.ticket);
}

static void parse_join_tail(struct ctl_join *j, const uint8_t *tail)
{
    parse_above(&j->above, tail);
    j->hops = tail[JOIN_HOPS];
    j->queue_pair = get_be24(tail + JOIN_QUEUE_PAIR);
    if (j->hops > 0) {
        memcpy(&j->host, tail + JOIN_HOST, sizeof j->host);
        memcpy(&j->via, tail + JOIN_VIA, sizeof j->via);
    }
}

/* Of a JOIN or READY that has so many bytes behind its usual body. Too few for a tail are none. */
static void parse_tail(struct ctl_message *m, const uint8_t *tail, size_t bytes)
{
    if (m->head.type == CTL_JOIN && bytes >= JOIN_TAIL_BYTES)
        parse_join_tail(&m->join, tail);
    if (m->head.type == CTL_JOIN && bytes >= JOIN_TICKET + TICKET_BYTES)
        m->join.ticket = get_be64(tail + JOIN_TICKET);
    if (m->head.type != CTL_READY || bytes < READY_BUNDLE)
        return;
    parse_above(&m->ready.above, tail);
    const size_t ticket = READY_BUNDLE + 8 * (size_t)tail[READY_WORDS];
    if (bytes >= ticket + TICKET_BYTES)
        m->ready.ticket = get_be64(tail + ticket);
    for (unsigned i = 0; i < tail[READY_WORDS] && i < CTL_RANK_WORDS && bytes >= READY_BUNDLE + 8 * (i + 1);
         i++)
        m->ready.bundle.word[i] = get_be64(tail + READY_BUNDLE + 8 * i);
}

size_t ctl_build(uint8_t out[CTL_MESSAGE_MAX], const struct ctl_message *m)
{
    uint8_t *body = out + CTL_HEAD_BYTES;
    const size_t bytes = CTL_HEAD_BYTES + built_bytes(m), tail = tail_bytes(m);
    memset(out, 0, bytes + tail);
    build_head(out, &m->head);
    switch (m->head.type) {
    case CTL_JOIN:
        build_join(body, &m->join);
        break;
    case CTL_READY:
        build_ready(body, &m->ready, m->head.sealed);
        break;
    case CTL_PENDING:
        build_pending(body, &m->pending);
        break;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        build_heartbeat(body, &m->heartbeat);
        break;
    case CTL_ALIVE:
        if (m->alive.behind > 0)
            put_be16(body + ALIVE_BEHIND, m->alive.behind);
        break;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        build_failure(body, &m->failure);
        break;
    }
    if (tail > 0)
        build_tail(out + bytes, m);
    return bytes + tail;
}

static enum ctl_parse_error parse_body(struct ctl_message *m, const uint8_t *body, size_t bytes)
{
    if (m->head.type == CTL_JOIN || m->head.type == CTL_READY)
        parse_tail(m, body + body_bytes(&m->head), bytes - body_bytes(&m->head));
    switch (m->head.type) {
    case CTL_JOIN:
        return parse_join(&m->join, body);
    case CTL_READY:
        return parse_ready(&m->ready, body, m->head.sealed);
    case CTL_PENDING:
        return parse_pending(&m->pending, body, bytes);
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        parse_heartbeat(&m->heartbeat, body, bytes);
        break;
    case CTL_ALIVE:
        if (bytes >= ALIVE_LONG_BYTES)
            m->alive.behind = get_be16(body + ALIVE_BEHIND);
        break;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        return parse_failure(&m->failure, body);
    }
    return CTL_PARSED;
}

enum ctl_parse_error ctl_parse(struct ctl_message *m, const uint8_t *payload, size_t bytes)
{
    memset(m, 0, sizeof *m);
    if (bytes < CTL_HEAD_BYTES)
        return CTL_TOO_SHORT;
    if (memcmp(payload + MAGIC, magic, sizeof magic) != 0)
        return CTL_NOT_CONTROL;
    parse_head(&m->head, payload);
    if (m->head.version != CTL_VERSION)
        return CTL_OTHER_VERSION;
    if (!is_type(m->head.type))
        return CTL_BAD_TYPE;
    if (bytes < CTL_HEAD_BYTES + body_bytes(&m->head) + (m->head.sealed ? CTL_SEAL_BYTES : 0))
        return CTL_TOO_SHORT;
    bytes -= CTL_HEAD_BYTES + (m->head.sealed ? CTL_SEAL_BYTES : 0);
    return parse_body(m, payload + CTL_HEAD_BYTES, bytes);
}

const char *ctl_type_name(unsigned type)
{
    static const char *const names[] = {
        [CTL_JOIN] = "JOIN",       [CTL_HEARTBEAT] = "HEARTBEAT", [CTL_LEAVE] = "LEAVE",
        [CTL_ABORT] = "ABORT",     [CTL_PENDING] = "PENDING",     [CTL_READY] = "READY",
        [CTL_REFUSED] = "REFUSED", [CTL_ALIVE] = "ALIVE",         [CTL_LEFT] = "LEFT",
        [CTL_ABORTED] = "ABORTED", [CTL_UNKNOWN] = "UNKNOWN",
    };
    return is_type(type) ? names[type] : "?";
}

const char *ctl_reason_name(unsigned reason)
{
    static const char *const names[] = {
        [CTL_OK] = "ok",
        [CTL_BAD_VERSION] = "bad version",
        [CTL_BAD_ARGUMENT] = "bad argument",
        [CTL_TERMS_DIFFER] = "terms differ",
        [CTL_RANK_TAKEN] = "rank taken",
        [CTL_NO_SLOTS] = "no slots",
        [CTL_NO_JOBS] = "no jobs",
        [CTL_RANK_LOST] = "rank lost",
        [CTL_MISMATCH] = "mismatch",
        [CTL_DEADLINE] = "deadline",
        [CTL_CANNOT_RESUME] = "cannot resume",
        [CTL_APPLICATION] = "application",
        [CTL_RANK_LEFT] = "rank left",
        [CTL_NOT_ADMITTED] = "not admitted",
        [CTL_BAD_KEY] = "bad key",
        [CTL_ENDED] = "ended by the operator",
        [CTL_MOVED_BACK] = "moved back",
        [CTL_LEFT_RESUMING] = "left while resuming",
    };
    return reason < sizeof names / sizeof *names ? names[reason] : "?";
}

#include "wire/control.h"

#include <string.h>

#include "wire/bytes.h"

/* Where the fields lie; docs/protocol.md shows them as tables. */
enum {
    MAGIC = 0,
    VERSION = 4,
    TYPE = 5,
    BOOT_ID = 8,
    INCARNATION = 16,
    EPOCH = 24,
    RANK = 28,
    SIZE = 30,
    SERIAL = 32,

    JOIN_NAME = 0,
    JOIN_DATA_PORT = 48,
    JOIN_FORMAT = 50,
    JOIN_MODE = 51,
    JOIN_CHUNK_BYTES = 52,
    JOIN_SLOTS = 54,
    JOIN_RESUME = 56,
    JOIN_JOB = 57,
    JOIN_WAITED = 58,
    JOIN_CHECKSUM = 59,
    JOIN_OLDEST_TAG = 60,
    JOIN_ROSTER = 64,
    JOIN_BYTES = 72,

    READY_JOB = 0,
    READY_RESUMED = 1,
    READY_SLOTS = 2,
    READY_CHUNK_BYTES = 4,
    READY_DATA_PORT = 6,
    READY_FIRST_TAG = 8,
    READY_LOST_AFTER_MS = 12,
    READY_ROSTER = 16,
    READY_LEAST_BYTES = 24, /* what follows was appended */
    READY_DATA_PORTS = 24,
    READY_BYTES = 28,

    PENDING_WAITED_MS = 0,
    PENDING_OCCUPIED = 4,
    PENDING_NO_ROOM = 5,
    PENDING_MISSING = 8,
    PENDING_BYTES = 8 + 8 * CTL_RANK_WORDS,

    HEARTBEAT_CALLS = 0,
    HEARTBEAT_WAITING = 4,
    HEARTBEAT_STALLED_MS = 8,
    HEARTBEAT_OLDEST_TAG = 12,
    HEARTBEAT_BYTES = 16,

    FAILURE_REASON = 0,
    FAILURE_RANK = 2,
    FAILURE_TEXT = 4,
    FAILURE_BYTES = 4 + CTL_TEXT_MAX,
};

static const uint8_t magic[4] = {'S', 'W', 'A', 'G'};

_Static_assert(CTL_HEAD_BYTES + FAILURE_BYTES <= CTL_MESSAGE_MAX, "the longest message fits");
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

static void build_join(uint8_t *b, const struct ctl_join *j)
{
    put_string(b + JOIN_NAME, j->name, CTL_NAME_MAX);
    put_be16(b + JOIN_DATA_PORT, j->data_port);
    b[JOIN_FORMAT] = j->format;
    b[JOIN_MODE] = j->mode;
    put_be16(b + JOIN_CHUNK_BYTES, j->chunk_bytes);
    put_be16(b + JOIN_SLOTS, j->slots);
    b[JOIN_RESUME] = j->resume;
    b[JOIN_JOB] = j->job;
    b[JOIN_WAITED] = j->waited;
    b[JOIN_CHECKSUM] = j->checksum;
    put_be32(b + JOIN_OLDEST_TAG, j->oldest_tag);
    put_be64(b + JOIN_ROSTER, j->roster);
}

static bool parse_join(struct ctl_join *j, const uint8_t *b)
{
    j->data_port = get_be16(b + JOIN_DATA_PORT);
    j->format = b[JOIN_FORMAT];
    j->mode = b[JOIN_MODE];
    j->chunk_bytes = get_be16(b + JOIN_CHUNK_BYTES);
    j->slots = get_be16(b + JOIN_SLOTS);
    j->resume = b[JOIN_RESUME] & 1;
    j->job = b[JOIN_JOB];
    j->waited = b[JOIN_WAITED] & 1;
    j->checksum = b[JOIN_CHECKSUM];
    j->oldest_tag = get_be32(b + JOIN_OLDEST_TAG);
    j->roster = get_be64(b + JOIN_ROSTER);
    return get_string(j->name, b + JOIN_NAME, CTL_NAME_MAX) && j->name[0];
}

static void build_ready(uint8_t *b, const struct ctl_ready *r)
{
    b[READY_JOB] = r->job;
    b[READY_RESUMED] = r->resumed;
    put_be16(b + READY_SLOTS, r->slots);
    put_be16(b + READY_CHUNK_BYTES, r->chunk_bytes);
    put_be16(b + READY_DATA_PORT, r->data_port);
    put_be32(b + READY_FIRST_TAG, r->first_tag);
    put_be32(b + READY_LOST_AFTER_MS, r->lost_after_ms);
    put_be64(b + READY_ROSTER, r->roster);
    b[READY_DATA_PORTS] = r->data_ports;
}

static void parse_ready(struct ctl_ready *r, const uint8_t *b, size_t bytes)
{
    r->job = b[READY_JOB];
    r->resumed = b[READY_RESUMED] & 1;
    r->slots = get_be16(b + READY_SLOTS);
    r->chunk_bytes = get_be16(b + READY_CHUNK_BYTES);
    r->data_port = get_be16(b + READY_DATA_PORT);
    r->first_tag = get_be32(b + READY_FIRST_TAG);
    r->lost_after_ms = get_be32(b + READY_LOST_AFTER_MS);
    r->roster = get_be64(b + READY_ROSTER);
    r->data_ports = bytes > READY_DATA_PORTS && b[READY_DATA_PORTS] ? b[READY_DATA_PORTS] : 1;
}

static void build_pending(uint8_t *b, const struct ctl_pending *p)
{
    put_be32(b + PENDING_WAITED_MS, p->waited_ms);
    b[PENDING_OCCUPIED] = p->occupied;
    b[PENDING_NO_ROOM] = p->no_room;
    for (unsigned i = 0; i < CTL_RANK_WORDS; i++)
        put_be64(b + PENDING_MISSING + 8 * i, p->missing.word[i]);
}

static void parse_pending(struct ctl_pending *p, const uint8_t *b)
{
    p->waited_ms = get_be32(b + PENDING_WAITED_MS);
    p->occupied = b[PENDING_OCCUPIED] & 1;
    p->no_room = b[PENDING_NO_ROOM] & 1;
    for (unsigned i = 0; i < CTL_RANK_WORDS; i++)
        p->missing.word[i] = get_be64(b + PENDING_MISSING + 8 * i);
}

static void build_heartbeat(uint8_t *b, const struct ctl_heartbeat *h)
{
    put_be32(b + HEARTBEAT_CALLS, h->calls);
    b[HEARTBEAT_WAITING] = h->waiting;
    put_be32(b + HEARTBEAT_STALLED_MS, h->stalled_ms);
    put_be32(b + HEARTBEAT_OLDEST_TAG, h->oldest_tag);
}

static void parse_heartbeat(struct ctl_heartbeat *h, const uint8_t *b)
{
    h->calls = get_be32(b + HEARTBEAT_CALLS);
    h->waiting = b[HEARTBEAT_WAITING] & 1;
    h->stalled_ms = get_be32(b + HEARTBEAT_STALLED_MS);
    h->oldest_tag = get_be32(b + HEARTBEAT_OLDEST_TAG);
}

static void build_failure(uint8_t *b, const struct ctl_failure *f)
{
    put_be16(b + FAILURE_REASON, f->reason);
    put_be16(b + FAILURE_RANK, f->rank);
    put_string(b + FAILURE_TEXT, f->text, CTL_TEXT_MAX);
}

static bool parse_failure(struct ctl_failure *f, const uint8_t *b)
{
    f->reason = get_be16(b + FAILURE_REASON);
    f->rank = get_be16(b + FAILURE_RANK);
    return get_string(f->text, b + FAILURE_TEXT, CTL_TEXT_MAX);
}

static size_t body_bytes(unsigned type)
{
    switch (type) {
    case CTL_JOIN:
        return JOIN_BYTES;
    case CTL_READY:
        return READY_BYTES;
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

/* That a message must have to be understood. */
static size_t least_body_bytes(unsigned type)
{
    return type == CTL_READY ? READY_LEAST_BYTES : body_bytes(type);
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
    h->boot_id = get_be64(in + BOOT_ID);
    h->incarnation = get_be64(in + INCARNATION);
    h->epoch = get_be32(in + EPOCH);
    h->rank = get_be16(in + RANK);
    h->size = get_be16(in + SIZE);
    h->serial = get_be32(in + SERIAL);
}

size_t ctl_build(uint8_t out[CTL_MESSAGE_MAX], const struct ctl_message *m)
{
    uint8_t *body = out + CTL_HEAD_BYTES;
    size_t bytes = CTL_HEAD_BYTES + body_bytes(m->head.type);
    memset(out, 0, bytes);
    build_head(out, &m->head);
    switch (m->head.type) {
    case CTL_JOIN:
        build_join(body, &m->join);
        break;
    case CTL_READY:
        build_ready(body, &m->ready);
        break;
    case CTL_PENDING:
        build_pending(body, &m->pending);
        break;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        build_heartbeat(body, &m->heartbeat);
        break;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        build_failure(body, &m->failure);
        break;
    }
    return bytes;
}

static enum ctl_parse_error parse_body(struct ctl_message *m, const uint8_t *body, size_t bytes)
{
    bool good = true;
    switch (m->head.type) {
    case CTL_JOIN:
        good = parse_join(&m->join, body);
        break;
    case CTL_READY:
        parse_ready(&m->ready, body, bytes);
        break;
    case CTL_PENDING:
        parse_pending(&m->pending, body);
        break;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        parse_heartbeat(&m->heartbeat, body);
        break;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        good = parse_failure(&m->failure, body);
        break;
    }
    return good ? CTL_PARSED : CTL_BAD_STRING;
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
    if (bytes < CTL_HEAD_BYTES + least_body_bytes(m->head.type))
        return CTL_TOO_SHORT;
    return parse_body(m, payload + CTL_HEAD_BYTES, bytes - CTL_HEAD_BYTES);
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
    };
    return reason < sizeof names / sizeof *names ? names[reason] : "?";
}

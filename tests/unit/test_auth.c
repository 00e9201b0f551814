/* The authenticator of keyed data packets: against another implementation (Python's hashlib, and SipHash and
 * NH written down from their papers), and what it holds for. */
#include <stdlib.h>
#include <string.h>

#include "sodium_keys.h"
#include "unit.h"
#include "wire/switchml.h"

enum { BODY_MAX = 1452, RANK = 3 };

static struct keys_secret shared; /* the secret is 00 01 02 ... 1f */
static struct xfer_auth *auth;
static uint8_t body[BODY_MAX]; /* byte i is 7 i */
static const uint8_t header[SML_HEADER_BYTES] = {0x15, 42, 4, 3, 2, 1, 0, 4, 0x13, 1};

static struct xfer_auth *make(const struct keys_secret *from)
{
    return xfer_auth_init(malloc(xfer_auth_footprint(BODY_MAX)), from, BODY_MAX);
}

static void set_up(void)
{
    for (unsigned i = 0; i < sizeof shared.secret; i++)
        shared.secret[i] = (uint8_t)i;
    for (unsigned i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(7 * i);
    auth = make(&shared);
}

static bool is(const struct xfer_route *route, const uint8_t *head, size_t head_bytes, const void *elements,
               size_t bytes, const char *hex)
{
    uint8_t out[XFER_AUTH_BYTES];
    char text[2 * XFER_AUTH_BYTES + 1];

    xfer_auth_build(out, auth, route, head, head_bytes, elements, bytes);
    for (unsigned i = 0; i < sizeof out; i++)
        sprintf(text + 2 * i, "%02x", out[i]);
    return strcmp(text, hex) == 0;
}

/* The examples in docs/protocol.md. */
TEST(examples)
{
    const struct xfer_route up = {.sender = RANK, .receiver = XFER_SWITCH},
                            later = {RANK, XFER_SWITCH, 0x01020304};
    const struct xfer_route down = {XFER_SWITCH, XFER_SWITCH, 1}, answer = {XFER_SWITCH, RANK, 0};
    uint8_t head[SML_HEADER_BYTES + XFER_CALL_BYTES];

    memcpy(head, header, sizeof header);
    CU_ASSERT(is(&up, head, SML_HEADER_BYTES, body, 64, "226a3509ed2dadcb"));
    CU_ASSERT(is(&up, head, SML_HEADER_BYTES, "123", 3, "f8baa9cbf1858803"));
    CU_ASSERT(is(&up, head, SML_HEADER_BYTES, body, BODY_MAX, "cea871d7c942a8f4"));
    CU_ASSERT(is(&later, head, SML_HEADER_BYTES, body, 64, "f031abaf0a54f102"));
    head[0] = 0x35; /* PROBE */
    CU_ASSERT(is(&up, head, SML_HEADER_BYTES, NULL, 0, "b0a159f26c0702e3"));
    head[0] = 0x55; /* WAIT */
    head[9] = 0;
    CU_ASSERT(is(&answer, head, SML_HEADER_BYTES, "\x07", 1, "917ca214bb679129"));
    head[0] = 0x25; /* OPEN */
    head[9] = 1;
    for (unsigned i = 0; i < XFER_CALL_BYTES; i++)
        head[SML_HEADER_BYTES + i] = (uint8_t)i;
    CU_ASSERT(is(&down, head, sizeof head, body, 64, "3a0002dca7741404"));
}

static bool holds(const struct xfer_auth *by, const struct xfer_route *route, const uint8_t *payload,
                  size_t bytes, size_t call_bytes)
{
    struct sml_packet p;

    return sml_parse(&p, payload, bytes) == SML_OK && p.body_bytes >= call_bytes &&
           sml_auth_holds(by, route, &p, call_bytes);
}

/* A keyed DATA with the usual header; returns its length. */
static size_t build(uint8_t *payload, const struct xfer_route *route, size_t bytes)
{
    memcpy(payload, header, sizeof header);
    memcpy(payload + SML_HEADER_BYTES, body, bytes);
    xfer_auth_build(payload + SML_HEADER_BYTES + bytes, auth, route, payload, SML_HEADER_BYTES, body, bytes);
    return SML_HEADER_BYTES + bytes + XFER_AUTH_BYTES;
}

TEST(it_holds_for_this_route_and_no_other)
{
    static const struct xfer_route good = {RANK, XFER_SWITCH, 5};
    static const struct xfer_route others[] = {{RANK + 1, XFER_SWITCH, 5},     {RANK << 8, XFER_SWITCH, 5},
                                               {XFER_SWITCH, RANK, 5},         {RANK, RANK, 5},
                                               {XFER_SWITCH, XFER_SWITCH, 5},  {RANK, XFER_SWITCH, 4},
                                               {RANK, XFER_SWITCH, 0x05000000}};
    uint8_t payload[SML_HEADER_BYTES + BODY_MAX + XFER_AUTH_BYTES];
    const size_t bytes = build(payload, &good, 256);

    CU_ASSERT(holds(auth, &good, payload, bytes, 0));
    CU_ASSERT(!holds(auth, &good, payload, bytes, XFER_CALL_BYTES));
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        CU_ASSERT(!holds(auth, &others[i], payload, bytes, 0));
}

TEST(no_bit_can_be_changed)
{
    static const struct xfer_route route = {RANK, XFER_SWITCH, 0};
    static const size_t lengths[] = {0, 1, 15, 16, 17, 63, 64, 65, 100};
    uint8_t payload[SML_HEADER_BYTES + BODY_MAX + XFER_AUTH_BYTES];

    for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const size_t bytes = build(payload, &route, lengths[l]);

        CU_ASSERT(holds(auth, &route, payload, bytes, 0));
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
            CU_ASSERT(!holds(auth, &route, payload, bytes, 0));
            payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

/* Zeros that are added or taken away change the length. */
TEST(padding_is_not_of_the_body)
{
    static const struct xfer_route route = {RANK, XFER_SWITCH, 0};
    uint8_t payload[SML_HEADER_BYTES + BODY_MAX + XFER_AUTH_BYTES] = {0}, tag[XFER_AUTH_BYTES];
    const size_t bytes = build(payload, &route, 20);

    memcpy(tag, payload + bytes - sizeof tag, sizeof tag);
    memset(payload + bytes - sizeof tag, 0, 2 * sizeof tag);
    memcpy(payload + bytes, tag, sizeof tag);
    CU_ASSERT(!holds(auth, &route, payload, bytes + sizeof tag, 0));
}

TEST(another_secret_has_other_authenticators)
{
    static const struct xfer_route route = {RANK, XFER_SWITCH, 0};
    struct keys_secret other = shared;
    uint8_t payload[SML_HEADER_BYTES + BODY_MAX + XFER_AUTH_BYTES];
    const size_t bytes = build(payload, &route, 64);
    struct xfer_auth *same = make(&shared), *theirs;

    other.secret[31] ^= 1;
    theirs = make(&other);
    CU_ASSERT(holds(same, &route, payload, bytes, 0));
    CU_ASSERT(!holds(theirs, &route, payload, bytes, 0));
    free(same);
    free(theirs);
}

/* Longer than there are keys for: the job has agreed on less. But answers may be longer than a short chunk.
 */
TEST(long_bodies)
{
    static const struct xfer_route route = {RANK, XFER_SWITCH, 0};
    static uint8_t payload[SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES + XFER_AUTH_BYTES];
    struct xfer_auth *least = malloc(xfer_auth_footprint(SML_MIN_CHUNK_BYTES));

    memcpy(payload, header, sizeof header);
    CU_ASSERT(!holds(auth, &route, payload, sizeof payload, 0));
    xfer_auth_init(least, &shared, SML_MIN_CHUNK_BYTES);
    CU_ASSERT(holds(least, &route, payload, build(payload, &route, AGG_MAX_WORKERS / 8), 0));
    free(least);
}

int main(void)
{
    int failures;

    shared.library = keys_sodium();
    if (shared.library == NULL)
        return 1;
    set_up();
    failures = unit_main();
    free(auth);
    return failures;
}

#include "wire/auth.h"

#include <string.h>

#include "protocol/jobs.h"
#include "wire/bytes.h"

enum {
    PAIR_BYTES = 16, /* two words of NH */
    ROUTE_BYTES = 10,
    SUM_BYTES = 16,
    WAIT_BYTES_MAX = AGG_MAX_RANKS / 8, /* more than the shortest chunk */
    SHORT_MAX = XFER_AUTH_HEAD_MAX + ROUTE_BYTES + SUM_BYTES,
};

struct xfer_auth {
    const struct keys_library *library;
    size_t body_max;
    uint8_t tag_key[KEYS_SHORT_BYTES];
    uint8_t sum_key[];
};

/* In whole pairs, as bodies are padded. */
static size_t body_max(size_t chunk_bytes)
{
    const size_t longest = chunk_bytes > WAIT_BYTES_MAX ? chunk_bytes : WAIT_BYTES_MAX;

    return (longest + PAIR_BYTES - 1) / PAIR_BYTES * PAIR_BYTES;
}

size_t xfer_auth_footprint(size_t chunk_bytes)
{
    return sizeof(struct xfer_auth) + body_max(chunk_bytes);
}

struct xfer_auth *xfer_auth_init(void *mem, const struct keys_secret *shared, size_t chunk_bytes)
{
    struct xfer_auth *auth = mem;

    auth->library = shared->library;
    auth->body_max = body_max(chunk_bytes);
    keys_expand(auth->tag_key, sizeof(auth->tag_key), shared, "swagg data tag");
    keys_expand(auth->sum_key, auth->body_max, shared, "swagg data sum");
    return auth;
}

typedef unsigned __int128 wide;

/* The product of two words, each added to its key modulo 2^64. All little endian. */
static inline wide product(const uint8_t *at, const uint8_t *key)
{
    uint64_t m[2], k[2];

    memcpy(m, at, sizeof(m));
    memcpy(k, key, sizeof(k));
    return (wide)(m[0] + k[0]) * (m[1] + k[1]);
}

/* NH. Four sums side by side, since an addition waits for the one before; wider vectors were no faster, for
 * they multiply 32 bits at once. */
static wide nh(const uint8_t *key, const uint8_t *at, size_t bytes)
{
    wide sum[4] = {0};
    uint8_t last[PAIR_BYTES] = {0};

    for (; bytes >= sizeof(sum); bytes -= sizeof(sum), at += sizeof(sum), key += sizeof(sum))
        for (unsigned i = 0; i < 4; i++)
            sum[i] += product(at + i * PAIR_BYTES, key + i * PAIR_BYTES);
    for (; bytes >= PAIR_BYTES; bytes -= PAIR_BYTES, at += PAIR_BYTES, key += PAIR_BYTES)
        sum[0] += product(at, key);
    if (bytes > 0)
        sum[1] += product(memcpy(last, at, bytes), key);
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static uint64_t tag_of(const struct xfer_auth *auth, const struct xfer_route *route, const uint8_t *head,
                       size_t head_bytes, const uint8_t *body, size_t body_bytes)
{
    uint8_t in[SHORT_MAX], *end = in + head_bytes;
    const wide sum = nh(auth->sum_key, body, body_bytes);

    memcpy(in, head, head_bytes);
    put_be16(end, route->sender);
    put_be16(end + 2, route->receiver);
    put_be32(end + 4, route->wraps);
    put_be16(end + 8, (uint16_t)body_bytes);
    put_be64(end + 10, (uint64_t)(sum >> 64));
    put_be64(end + 18, (uint64_t)sum);
    return auth->library->short_hash(auth->tag_key, in, head_bytes + ROUTE_BYTES + SUM_BYTES);
}

void xfer_auth_build(uint8_t out[XFER_AUTH_BYTES], const struct xfer_auth *auth,
                     const struct xfer_route *route, const uint8_t *head, size_t head_bytes,
                     const uint8_t *body, size_t body_bytes)
{
    put_be64(out, tag_of(auth, route, head, head_bytes, body, body_bytes));
}

bool xfer_auth_matches(const uint8_t in[XFER_AUTH_BYTES], const struct xfer_auth *auth,
                       const struct xfer_route *route, const uint8_t *head, size_t head_bytes,
                       const uint8_t *body, size_t body_bytes)
{
    return body_bytes <= auth->body_max &&
           get_be64(in) == tag_of(auth, route, head, head_bytes, body, body_bytes);
}

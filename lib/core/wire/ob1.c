#include "wire/ob1.h"

#include <string.h>

/* Places in the handshake, and in frames. */
enum { MAGIC = 8, SEGMENTS = 2, BYTES = 4 };
enum { PML_TYPE = 8, PML_FLAGS = 9 };
enum {
    RNDV_CONTEXT = 10,
    RNDV_SOURCE = 12,
    RNDV_TAG = 16,
    RNDV_SEQUENCE = 20,
    RNDV_LENGTH = 24,
    RNDV_REQUEST = 32
};
enum {
    PUT_REQUEST = 16,
    PUT_FRAGMENT = 24,
    PUT_RECEIVE = 32,
    PUT_OFFSET = 40,
    PUT_ADDRESS = 48,
    PUT_LENGTH = 56
};
enum { ACK_REQUEST = 16 };
enum { FIN_LENGTH = 16, FIN_FRAGMENT = 24 };
enum { DATA_ADDRESS = 8, DATA_LENGTH = 16 };

/* The first PUT of a message says so by its flags: that no ACK comes besides. */
enum { FIRST_PUT = 0x44 };

static const uint8_t magic[] = {'O', 'P', 'A', 'L', '-', 'T', 'C', 'P', '-', 'B', 'T', 'L'};

/* The hosts' order. */
static uint64_t get(const uint8_t *at, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = bytes; i > 0; i--)
        v = v << 8 | at[i - 1];
    return v;
}

static void put(uint8_t *at, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

bool ob1_is_handshake(const uint8_t bytes[OB1_HANDSHAKE_BYTES])
{
    return memcmp(bytes + MAGIC, magic, sizeof(magic)) == 0;
}

uint32_t ob1_job_of(const uint8_t bytes[OB1_HANDSHAKE_BYTES])
{
    return (uint32_t)get(bytes, 4);
}

bool ob1_parse_frame(struct ob1_frame *f, const uint8_t bytes[OB1_FRAME_BYTES])
{
    *f = (struct ob1_frame){.tag = bytes[0],
                            .type = bytes[1],
                            .segments = (uint16_t)get(bytes + SEGMENTS, 2),
                            .bytes = (uint32_t)get(bytes + BYTES, 4)};
    return f->type == OB1_SEND || f->type == OB1_BTL_PUT;
}

uint64_t ob1_frame_length(const struct ob1_frame *f)
{
    const uint64_t segments = f->type == OB1_BTL_PUT ? f->segments : 0;

    return OB1_FRAME_BYTES + segments * OB1_SEGMENT_BYTES + f->bytes;
}

bool ob1_is(const struct ob1_frame *f, enum ob1_tag tag)
{
    static const struct {
        uint8_t tag, length;
    } lengths[] = {{OB1_RNDV, OB1_RNDV_BYTES},
                   {OB1_PUT, OB1_PUT_BYTES},
                   {OB1_FIN, OB1_FIN_BYTES},
                   {OB1_ACK, OB1_ACK_BYTES}};

    if (f->tag != tag)
        return false;
    if (tag == OB1_DATA)
        return f->type == OB1_BTL_PUT && f->segments == 1;
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        if (lengths[i].tag == tag)
            return f->type == OB1_SEND && ob1_frame_length(f) == lengths[i].length;
    return false;
}

void ob1_parse_rndv(struct ob1_rndv *r, const uint8_t bytes[OB1_RNDV_BYTES])
{
    *r = (struct ob1_rndv){.context = (uint16_t)get(bytes + RNDV_CONTEXT, 2),
                           .sequence = (uint16_t)get(bytes + RNDV_SEQUENCE, 2),
                           .source = (int32_t)get(bytes + RNDV_SOURCE, 4),
                           .tag = (int32_t)get(bytes + RNDV_TAG, 4),
                           .length = get(bytes + RNDV_LENGTH, 8),
                           .request = get(bytes + RNDV_REQUEST, 8)};
}

void ob1_parse_put(struct ob1_put *p, const uint8_t bytes[OB1_PUT_BYTES])
{
    *p = (struct ob1_put){.request = get(bytes + PUT_REQUEST, 8),
                          .fragment = get(bytes + PUT_FRAGMENT, 8),
                          .receive = get(bytes + PUT_RECEIVE, 8),
                          .offset = get(bytes + PUT_OFFSET, 8),
                          .address = get(bytes + PUT_ADDRESS, 8),
                          .length = get(bytes + PUT_LENGTH, 8)};
}

void ob1_parse_fin(struct ob1_fin *f, const uint8_t bytes[OB1_FIN_BYTES])
{
    *f = (struct ob1_fin){.length = get(bytes + FIN_LENGTH, 8), .fragment = get(bytes + FIN_FRAGMENT, 8)};
}

uint64_t ob1_acknowledged(const uint8_t bytes[OB1_ACK_BYTES])
{
    return get(bytes + ACK_REQUEST, 8);
}

static void build_send(uint8_t *bytes, enum ob1_tag tag, unsigned length)
{
    memset(bytes, 0, length);
    bytes[0] = bytes[PML_TYPE] = (uint8_t)tag;
    bytes[1] = OB1_SEND;
    put(bytes + BYTES, 4, length - OB1_FRAME_BYTES);
}

void ob1_build_put(uint8_t bytes[OB1_PUT_BYTES], const struct ob1_put *p)
{
    build_send(bytes, OB1_PUT, OB1_PUT_BYTES);
    bytes[PML_FLAGS] = FIRST_PUT;
    put(bytes + PUT_REQUEST, 8, p->request);
    put(bytes + PUT_FRAGMENT, 8, p->fragment);
    put(bytes + PUT_RECEIVE, 8, p->receive);
    put(bytes + PUT_OFFSET, 8, p->offset);
    put(bytes + PUT_ADDRESS, 8, p->address);
    put(bytes + PUT_LENGTH, 8, p->length);
}

void ob1_build_fin(uint8_t bytes[OB1_FIN_BYTES], const struct ob1_fin *f)
{
    build_send(bytes, OB1_FIN, OB1_FIN_BYTES);
    put(bytes + FIN_LENGTH, 8, f->length);
    put(bytes + FIN_FRAGMENT, 8, f->fragment);
}

bool ob1_parse_data(struct ob1_data *d, const uint8_t bytes[OB1_DATA_BYTES])
{
    *d = (struct ob1_data){.address = get(bytes + DATA_ADDRESS, 8), .length = get(bytes + DATA_LENGTH, 8)};
    return d->length == get(bytes + BYTES, 4);
}

void ob1_build_data(uint8_t bytes[OB1_DATA_BYTES], const struct ob1_data *d)
{
    bytes[0] = OB1_DATA;
    bytes[1] = OB1_BTL_PUT;
    put(bytes + SEGMENTS, 2, 1);
    put(bytes + BYTES, 4, d->length);
    put(bytes + DATA_ADDRESS, 8, d->address);
    put(bytes + DATA_LENGTH, 8, d->length);
}

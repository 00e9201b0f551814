/* Packets of host-addressed aggregation: UDP datagrams from workers to a host, which a switch on the way
 * takes out and answers ("An In-Network Parameter Aggregation using DPDK for Multi-GPU Deep Learning",
 * Furukawa, Itsubo, Matsutani, 2021, section 4.2.1, which gives the ten bytes of header; their layout is
 * ours).
 *
 * Header, integers big endian: kind (1), job (1), worker (2), sequence (4), run (2). Then the elements, in
 * the byte order of the wire (kernels/kernels.h), whole ones only.
 *
 * A *run* is one life of a job's programs: its chunks are numbered from 0, and all its workers carry its
 * number. Of two numbers the newer is the one that is less than 2^15 ahead (serial numbers, RFC 1982).
 *
 * Pure and reentrant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HAG_HEADER_BYTES = 10, HAG_EVERYBODY = 0xffff };

enum hag_kind {
    /* To the switch, addressed to the host. */
    HAG_GRADIENT = 1, /* worker's contribution to chunk `sequence` */
    HAG_ASK = 2,      /* what has become of it? From workers and the host; no body */
    /* From the switch. */
    HAG_SUM = 3,     /* of all workers' contributions; worker: HAG_EVERYBODY */
    HAG_DONE = 4,    /* the sum is complete; to who does not want it, or asks for a chunk before the last */
    HAG_WAITING = 5, /* an answer: not complete. Body: a bit for each worker whose contribution is there, bit
                        w % 8 of byte w / 8 */
    HAG_DIFFERS = 6, /* an answer to a contribution that is not as long as another: that one's worker (2),
                        length of its body (2) */
    HAG_KINDS
};

enum { HAG_DIFFERS_BYTES = 4 };

struct hag_packet {
    enum hag_kind kind;
    uint8_t job;
    uint16_t worker;
    uint16_t run;
    uint32_t sequence;
    const uint8_t *body;
    size_t body_bytes;
};

/* False: too short, or of an unknown kind; *p is then undefined. p->body refers to the payload. */
bool hag_parse(struct hag_packet *p, const uint8_t *payload, size_t bytes);

/* Writes the header, HAG_HEADER_BYTES. */
void hag_build_header(uint8_t *payload, const struct hag_packet *p);

/* Whether run a is newer than run b. */
static inline bool hag_is_newer(uint16_t a, uint16_t b)
{
    return (int16_t)(a - b) > 0;
}

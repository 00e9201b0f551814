/* What Open MPI 4.1 says over TCP (its BTL "tcp" below its PML "ob1"), as far as a long message needs it.
 * Numbers are in the hosts' own order: little endian here. A connection begins with a handshake of 24 bytes
 * in each direction; then come frames:
 *
 *     BTL         tag (1), type (1), segments (2), bytes (4)
 *     type SEND   so many bytes of the PML: a header that begins with its type, the same as the tag; and data
 *     type PUT    segments {address (8), length (8)}, then so many bytes, which the receiver writes there
 *
 * A message above the eager limit between hosts' contiguous memory takes four frames:
 *
 *     to the receiver    RNDV   what it is, and how long
 *     to the sender      PUT    where it is to be written, once a receive fits it
 *     to the receiver    BTL's PUT
 *     to the receiver    FIN
 *
 * Type and operation of a collective's elements are not said. Pure and reentrant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OB1_HANDSHAKE_BYTES = 24,
    OB1_FRAME_BYTES = 8,    /* BTL's header */
    OB1_SEGMENT_BYTES = 16, /* of a BTL PUT */
    OB1_TAG_REDUCE = -21,   /* of MPI_Reduce's messages in any communicator */
};

enum ob1_frame_type { OB1_SEND = 1, OB1_BTL_PUT = 2 };

/* Tags, which are the PML headers' types. */
enum ob1_tag {
    OB1_RNDV = 0x42,
    OB1_ACK = 0x44,
    OB1_PUT = 0x48,
    OB1_FIN = 0x49,
    OB1_DATA = 0x20 /* of a BTL PUT */
};

struct ob1_frame {
    uint8_t tag, type;
    uint16_t segments;
    uint32_t bytes; /* of the PML, or that are written */
};

/* Of a SEND of this tag, whole; others are not looked into. */
enum { OB1_RNDV_BYTES = 8 + 32, OB1_PUT_BYTES = 8 + 56, OB1_FIN_BYTES = 8 + 24, OB1_ACK_BYTES = 8 + 40 };

struct ob1_rndv {
    uint16_t context, sequence;
    int32_t source, tag; /* rank in the communicator; negative tags are Open MPI's own */
    uint64_t length;
    uint64_t request; /* of the sender */
};

struct ob1_put {
    uint64_t request;           /* of the sender: it says so in RNDV */
    uint64_t fragment, receive; /* of the receiver, who hears the first again in FIN */
    uint64_t offset, address, length;
};

struct ob1_fin {
    uint64_t length, fragment;
};

bool ob1_is_handshake(const uint8_t bytes[OB1_HANDSHAKE_BYTES]);
/* Of which job the process is: one mpirun's. */
uint32_t ob1_job_of(const uint8_t bytes[OB1_HANDSHAKE_BYTES]);

/* False: it is none that Open MPI 4.1 sends. */
bool ob1_parse_frame(struct ob1_frame *f, const uint8_t bytes[OB1_FRAME_BYTES]);
/* How long the whole frame is. */
uint64_t ob1_frame_length(const struct ob1_frame *f);

/* Whether the frame is one of these, by its header. */
bool ob1_is(const struct ob1_frame *f, enum ob1_tag tag);

/* Of whole frames of that tag. */
void ob1_parse_rndv(struct ob1_rndv *r, const uint8_t bytes[OB1_RNDV_BYTES]);
void ob1_parse_put(struct ob1_put *p, const uint8_t bytes[OB1_PUT_BYTES]);
void ob1_parse_fin(struct ob1_fin *f, const uint8_t bytes[OB1_FIN_BYTES]);
/* Whose RNDV is acknowledged: its request. */
uint64_t ob1_acknowledged(const uint8_t bytes[OB1_ACK_BYTES]);
void ob1_build_put(uint8_t bytes[OB1_PUT_BYTES], const struct ob1_put *p);
void ob1_build_fin(uint8_t bytes[OB1_FIN_BYTES], const struct ob1_fin *f);

/* A BTL PUT of one segment: what comes before its bytes. */
enum { OB1_DATA_BYTES = OB1_FRAME_BYTES + OB1_SEGMENT_BYTES };
struct ob1_data {
    uint64_t address;
    uint64_t length; /* the frame's, too */
};
/* False: its lengths differ. */
bool ob1_parse_data(struct ob1_data *d, const uint8_t bytes[OB1_DATA_BYTES]);
void ob1_build_data(uint8_t bytes[OB1_DATA_BYTES], const struct ob1_data *d);

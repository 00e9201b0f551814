/* What the ranks of a job and the switch agree on before the first packet, in a form that only the protocol
 * itself can read (struct agg_protocol): its number, a version and bytes. The same form serves for what a
 * rank wishes and for what the job is granted. Plain values, to be copied and compared byte by byte: unused
 * bytes are zero.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Protocols, as membership and telemetry number them. */
enum agg_protocol_id {
    AGG_PROTOCOL_SWITCHML = 1,
    AGG_PROTOCOL_HOSTAGG = 2,
    AGG_PROTOCOL_CLONE = 3,
    AGG_PROTOCOL_ATP = 4,        /* its parameter servers */
    AGG_PROTOCOL_ATP_SWITCH = 5, /* its switches */
    AGG_PROTOCOL_ROCE = 6,       /* SwitchML by RDMA */
    AGG_PROTOCOL_IDS             /* greater than all */
};

enum {
    AGG_TERMS_MAX = 64,    /* bytes */
    AGG_TEXT_MAX = 200,    /* of a reason in words, with its terminating zero */
    AGG_LISTED_TERMS = 12, /* that are shown one by one, at most */
};

struct agg_terms {
    uint8_t protocol; /* enum agg_protocol_id */
    uint8_t version;  /* of this protocol's terms */
    uint8_t bytes;    /* of data */
    uint8_t data[AGG_TERMS_MAX];
};

/* Of headers, IPv4's and UDP's: a payload has that much less than the MTU. */
enum { AGG_IP_UDP_BYTES = 20 + 8 };

/* What a switch lets a job have. */
struct agg_limits {
    uint16_t payload_bytes; /* of the longest payload that its ports carry; 0: any */
    uint64_t random;        /* unpredictable: where the numbers of a new job's packets begin */
    bool keyed; /* the job's packets are to be keyed: its members share a secret, and their tenant's data_keys
                   say so */
    bool passed_on; /* what is granted goes on as a wish, to the switch above, who says whether packets are
                       keyed */
    uint32_t group; /* IPv4 multicast group that the job's results may be sent to, network order; 0: none */
};

/* One of the terms, for telemetry. */
struct agg_term {
    const char *name;
    const char *word; /* its value; NULL: it is the number */
    uint32_t number;
};

/* Why two ranks' wishes cannot both be granted, in words: "sums on arrival", "ordered sums". */
struct agg_difference {
    const char *first, *second;
};

/* Why terms are not granted. */
struct agg_refusal {
    uint16_t rank; /* whom it is about; UINT16_MAX: nobody alone */
    char text[AGG_TEXT_MAX];
};

/* What a rank says of memory that it shares with others: LOCAL_VERSION (local/plan.h) twice, and 1 more if it
 * has found others; 0: it looks for none. Granted, of all ranks together: 0 if they differ in more than the
 * last bit. */
static inline uint8_t agg_local_of_both(uint8_t one, uint8_t other)
{
    return one >> 1 == other >> 1 ? one | other : 0;
}

/* Writes why something is not granted, and returns false. */
__attribute__((format(printf, 2, 3))) bool agg_refuse(char why[AGG_TEXT_MAX], const char *format, ...);

/* The terms of an ATP job (protocol/terms.h), as a struct, as bytes and in words. Pure and reentrant. */
#pragma once

#include "atp/topology.h"
#include "protocol/terms.h"
#include "transfer/blocks.h"
#include "wire/transfer.h"

enum { ATP_TERMS_VERSION = 1, ATP_TERMS_BYTES = 34, ATP_TERMS_BYTES_LEAST = 30 };
enum { ATP_MIN_WINDOW = 16, ATP_MAX_WINDOW = 4096 };

/* How a chunk gets its aggregator's index. */
enum atp_mapping {
    ATP_MAP_REMAP = 0, /* each of the window's places keeps an index of its own, until a packet of it meets
                          another's aggregator: then the server chooses another one */
    ATP_MAP_FIXED = 1, /* ... for ever */
    ATP_MAP_HASH = 2,  /* the paper's: a hash of job and sequence number */
    ATP_MAPPINGS
};

struct atp_terms {
    enum xfer_mode mode; /* ordered: the server alone adds, no switch saves any traffic, and the server holds
                            all contributions to a chunk */
    enum xfer_format format; /* of elements */
    enum atp_mapping mapping;
    uint16_t window;         /* chunks under way at once, at most; a wish: the job gets a power of two */
    uint16_t chunk_bytes;    /* of elements and descriptor; a wish: at most */
    uint8_t per_rack, near;  /* struct atp_topology */
    uint8_t server, servers; /* this is the server-th of so many parameter servers; chunk c of a collective
                                goes to server c % servers */
    uint8_t priority;
    enum xfer_checksum checksum; /* a wish: NONE or CRC32C */
    bool keyed;    /* a wish: this rank has a key, so its packets can be keyed. Granted: they are, and the
                      checksum is left out */
    uint32_t list; /* a hash of the servers that this rank has named, in their order; 0: one */
    bool resumed;  /* a wish: this rank was in the job before its server restarted; window and chunk_bytes are
                      exactly as they were, first_sequence is the oldest chunk whose result it lacks. Granted:
                      some rank was */
    uint8_t local; /* agg_local_of_both */
    /* Granted: */
    uint32_t life, first_sequence;
    uint32_t group;      /* as in struct agg_limits: who hears it has results by it */
    uint16_t group_port; /* host order */
};

/* What packets end with under these terms, which are granted. */
static inline enum xfer_checksum atp_terms_seal(const struct atp_terms *t)
{
    return t->keyed ? XFER_CHECKSUM_KEYED : t->checksum;
}

/* "remap", "fixed", "hash". */
const char *atp_mapping_name(enum atp_mapping mapping);

/* Big endian: mode, format, mapping, priority; window (2), chunk_bytes (2); per_rack, near, server, servers;
 * life (4), first_sequence (4); group (4), group_port (2), list (4); checksum, keyed, resumed, local. t must
 * be within its types' ranges. */
void atp_terms_build(struct agg_terms *out, const struct atp_terms *t);

/* False: they are of another protocol or version, or too short. Those of older versions lack what is behind
 * the list, which is 0 then. Further bytes are ignored. */
bool atp_terms_parse(struct atp_terms *t, const struct agg_terms *in);

/* The functions of struct agg_protocol on terms. */
bool atp_terms_check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX]);
bool atp_terms_differ(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d);
bool atp_terms_grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                     struct agg_terms *granted, struct agg_refusal *why);
bool atp_terms_lower(struct agg_terms *granted);
unsigned atp_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS]);

/* The terms of a switch's table, which its configuration makes. */
enum { ATP_SWITCH_TERMS_VERSION = 2, ATP_SWITCH_TERMS_BYTES = 30 };

struct atp_switch_terms {
    uint32_t aggregators; /* as in struct atp_table_config, and so on */
    uint16_t chunk_bytes;
    uint64_t max_age_ns;
    bool preempt;
    uint16_t parts;
    uint32_t forward_ppm;
    uint64_t seed;
};

/* Big endian: aggregators (4), chunk_bytes (2), preempt, zero, max_age_ns (8), parts (2), forward_ppm (4),
 * seed (8). */
void atp_switch_terms_build(struct agg_terms *out, const struct atp_switch_terms *t);
bool atp_switch_terms_parse(struct atp_switch_terms *t, const struct agg_terms *in);
unsigned atp_switch_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS]);

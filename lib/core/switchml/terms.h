/* The terms of a SwitchML job (protocol/terms.h), as a struct, as bytes and in words. Pure and reentrant. */
#pragma once

#include "protocol/terms.h"
#include "switchml/pool.h"

enum { SML_TERMS_VERSION = 1, SML_TERMS_BYTES = 52, SML_TERMS_BYTES_LEAST = 16 };

struct sml_terms {
    enum xfer_format format;
    enum xfer_mode mode;
    enum xfer_checksum checksum;
    /* a wish: at most, at least 2; the job gets a power of two. Of a rank that resumes: exactly */
    uint16_t slots;
    uint16_t chunk_bytes; /* a wish: at most. Of a rank that resumes: exactly */
    bool resumed; /* a wish: this rank was in the job before the switch restarted. Granted: some rank was */
    bool moved;   /* a wish, if resumed: the job comes from another switch, and is new to this one */
    /* a wish, if resumed: the oldest chunk whose result this rank lacks. Granted: the first */
    uint32_t first_tag;
    uint8_t tag_bits; /* as in switchml/pool.h; no rank may wish for other than 0 */
    bool plain; /* a wish: nothing but the published packet, DATA of 32, 64, 128 or 256 elements. Granted:
                   this rank or the switch wished so; the switch may know no other */
    /* Of jobs in a switch's configuration; no rank may wish for them. */
    bool labelled;   /* as in switchml/pool.h */
    uint8_t threads; /* as in switchml/pool.h; else 0 */
    bool keyed;      /* a wish: this rank has a key, so its packets can be keyed. Granted: they are, and the
                        checksum that the ranks wished for is left out */
    struct sml_table table; /* what the indices of the ranks' compressed calls stand for (elements.h); the
                               same on all ranks */
    /* what else of it only the ranks need to know, but must be the same on all of them */
    uint32_t compression;
    uint16_t quorum;  /* a chunk may be closed with the contributions of so many ranks, ... 0: all */
    uint16_t wait_ms; /* ... once the first of them has waited so long for the others */
    bool empties; /* a wish: this rank's contributions may lack elements, as broadcasts need it. Granted: all
                     ranks wished so, and the switch takes them */
    bool interleaved; /* with empties. A wish: this rank knows xfer_interleaved. Granted: so chunks leave; all
                         ranks wished so */
    uint8_t place, places; /* this is the place-th of so many switches that share every call's elements;
                              places 0: it is the only one */
    uint32_t list; /* of ranks that know of no trees: a hash of the addresses that they have named; 0: of
                      others. Granted: that of the former, who insist on it */
    uint8_t local; /* agg_local_of_both */
    uint8_t lanes; /* a wish: so many threads of this rank would share calls. Granted: the least of all */
    bool rated; /* with places. A wish: this rank knows how ranks agree on how much each switch sums, and on
                   which of them is there again. Granted: all do */
};

/* Under these terms, which are granted. */
static inline enum xfer_checksum sml_terms_checksum(const struct sml_terms *t)
{
    return t->keyed ? XFER_CHECKSUM_KEYED : t->checksum;
}

/* Big endian: format (0 int32, 1 typed, 2 fp16), mode, checksum, resumed (2: and moved); slots (2),
 * chunk_bytes (2); first_tag (4); tag_bits, plain, labelled, threads; keyed; table: code, values (16);
 * compression (4); quorum (2), wait_ms (2); empties (2: and interleaved; who does not know that reads 1);
 * place, places, list (4); local; lanes; rated (2; 1 was another way to agree). t must be within its types'
 * ranges. */
void sml_terms_build(struct agg_terms *out, const struct sml_terms *t);

/* False: they are of another protocol or version, or too short. Those of older versions lack what is behind
 * `threads`, `keyed`, `compression`, `wait_ms`, `empties`, `list`, `local` or `lanes`, which is 0 then.
 * Further bytes are ignored, so that fields can be added. A format that is not known becomes XFER_FORMATS. */
bool sml_terms_parse(struct sml_terms *t, const struct agg_terms *in);

/* Whether packets of the published sizes carry these chunks. */
bool sml_terms_published(const struct sml_terms *t);

/* The functions of struct agg_protocol on terms. */
bool sml_terms_check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX]);
bool sml_terms_differ(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d);
bool sml_terms_grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                     struct agg_terms *granted, struct agg_refusal *why);
bool sml_terms_lower(struct agg_terms *granted);
uint16_t sml_terms_quorum(const struct agg_terms *granted);
unsigned sml_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS]);

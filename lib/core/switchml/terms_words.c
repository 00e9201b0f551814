/* Terms in words: where two differ, and one by one. */
#include "switchml/terms_words.h"

#include <string.h>

const char *xfer_format_words(enum xfer_format format)
{
    static const char *const words[XFER_FORMATS] = {[XFER_FORMAT_INT32] = "int32 elements with exponents",
                                                    [XFER_FORMAT_TYPED] = "typed elements",
                                                    [XFER_FORMAT_FP16] = "fp16 elements with exponents"};

    return words[format];
}

static const char *mode_words(enum xfer_mode mode)
{
    return mode == XFER_ORDERED ? "ordered sums" : "sums on arrival";
}

static const char *checksum_words(enum xfer_checksum checksum)
{
    return checksum == XFER_CHECKSUM_NONE ? "packets without a checksum" : "packets with a CRC32C";
}

static const char *plain_words(bool plain)
{
    return plain ? "published packets only" : "packets of all kinds";
}

const char *sml_keyed_words(bool keyed)
{
    return keyed ? "keyed" : "not keyed";
}

#define COMPRESSION "compression "

static const char *compression_words(const struct sml_table *t)
{
    static const char *const words[][SML_INDEX_BITS_MAX] = {
        {COMPRESSION "to 1 bit, sums of 8", COMPRESSION "to 2 bits, sums of 8",
         COMPRESSION "to 3 bits, sums of 8", COMPRESSION "to 4 bits, sums of 8"},
        {COMPRESSION "to 1 bit, sums of 16", COMPRESSION "to 2 bits, sums of 16",
         COMPRESSION "to 3 bits, sums of 16", COMPRESSION "to 4 bits, sums of 16"},
    };

    if (!sml_table_valid(t))
        return t->code == 0 ? "no compression" : "compression by a table that is none";
    return words[sml_sum_bits(t->code) == 16][sml_index_bits(t->code) - 1];
}

static const char *quorum_words(const struct sml_terms *t)
{
    return t->quorum == 0 ? "sums of all ranks" : "sums of a quorum of ranks";
}

bool sml_terms_differ(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d)
{
    struct sml_terms a, b;

    if (!sml_terms_parse(&a, wish) || !sml_terms_parse(&b, other))
        *d = (struct agg_difference){"other terms than SwitchML's", "other terms than SwitchML's"};
    else if (a.format != b.format)
        *d = (struct agg_difference){xfer_format_words(a.format), xfer_format_words(b.format)};
    else if (a.mode != b.mode)
        *d = (struct agg_difference){mode_words(a.mode), mode_words(b.mode)};
    else if (a.checksum != b.checksum)
        *d = (struct agg_difference){checksum_words(a.checksum), checksum_words(b.checksum)};
    else if (a.table.code != b.table.code)
        *d = (struct agg_difference){compression_words(&a.table), compression_words(&b.table)};
    else if (memcmp(&a.table, &b.table, sizeof a.table) != 0 || a.compression != b.compression)
        *d = (struct agg_difference){"one granularity, fraction and block of compression", "others"};
    else if ((a.quorum == 0) != (b.quorum == 0))
        *d = (struct agg_difference){quorum_words(&a), quorum_words(&b)};
    else if (a.quorum != b.quorum || a.wait_ms != b.wait_ms)
        *d = (struct agg_difference){"one quorum and time to wait for the others", "another"};
    else if (a.plain != b.plain)
        *d = (struct agg_difference){plain_words(a.plain), plain_words(b.plain)};
    else
        return false;
    return true;
}

unsigned sml_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS])
{
    struct sml_terms t;
    unsigned n = 0;

    if (!sml_terms_parse(&t, terms))
        return 0;

    if (t.format >= XFER_FORMATS || t.checksum > XFER_CHECKSUM_CRC32C)
        return 0;
    list[n++] = (struct agg_term){.name = "format", .word = xfer_format_name(t.format)};
    list[n++] =
        (struct agg_term){.name = "mode", .word = t.mode == XFER_ON_ARRIVAL ? "on_arrival" : "ordered"};
    list[n++] = (struct agg_term){.name = "checksum", .word = xfer_checksum_name(sml_terms_checksum(&t))};
    list[n++] = (struct agg_term){.name = "slots", .number = t.slots};
    list[n++] = (struct agg_term){.name = "chunk_bytes", .number = t.chunk_bytes};
    list[n++] = (struct agg_term){.name = "resumed", .number = t.resumed};
    if (t.table.code != 0)
        list[n++] = (struct agg_term){.name = "compression",
                                      .word = compression_words(&t.table) + strlen(COMPRESSION)};
    if (t.quorum != 0) {
        list[n++] = (struct agg_term){.name = "quorum", .number = t.quorum};
        list[n++] = (struct agg_term){.name = "quorum_wait_ms", .number = t.wait_ms};
    }
    if (t.labelled)
        list[n++] = (struct agg_term){.name = "threads", .number = t.threads};
    return n;
}

#include "switchml/terms.h"

#include <string.h>

#include "protocol/ranks.h"
#include "wire/bytes.h"

static const char *format_words(enum xfer_format format)
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

static const char *moved_words(bool moved)
{
    return moved ? "to go on with a job of another switch's" : "a job of this switch's";
}

static const char *keyed_words(bool keyed)
{
    return keyed ? "keyed" : "not keyed";
}

#define TO_COMPRESS "compression "

static const char *compression_words(const struct sml_table *t)
{
    static const char *const words[][SML_INDEX_BITS_MAX] = {
        {TO_COMPRESS "to 1 bit, sums of 8", TO_COMPRESS "to 2 bits, sums of 8",
         TO_COMPRESS "to 3 bits, sums of 8", TO_COMPRESS "to 4 bits, sums of 8"},
        {TO_COMPRESS "to 1 bit, sums of 16", TO_COMPRESS "to 2 bits, sums of 16",
         TO_COMPRESS "to 3 bits, sums of 16", TO_COMPRESS "to 4 bits, sums of 16"},
    };

    if (!sml_table_valid(t))
        return t->code == 0 ? "no compression" : "compression by a table that is none";
    return words[sml_sum_bits(t->code) == 16][sml_index_bits(t->code) - 1];
}

static const char *quorum_words(const struct sml_terms *t)
{
    return t->quorum == 0 ? "sums of all ranks" : "sums of a quorum of ranks";
}

/* In a tree "this switch" is the root, whichever leaf the rank has named. */
static const char *place_words(uint8_t place)
{
    static const char *const words[] = {
        "this switch behind its first link", "this switch behind its second link",
        "this switch behind its third link", "this switch behind its fourth link"};

    return place < sizeof words / sizeof *words ? words[place] : "this switch behind a later link";
}

#define LISTED "one list of switches that share calls"

/* Who knows of trees compares no addresses: ranks name their own leaves. */
static bool lists_differ(uint32_t a, uint32_t b)
{
    return a != b && a != 0 && b != 0;
}

bool sml_terms_differ(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d)
{
    struct sml_terms a, b;

    if (!sml_terms_parse(&a, wish) || !sml_terms_parse(&b, other))
        *d = (struct agg_difference){"other terms than SwitchML's", "other terms than SwitchML's"};
    else if (a.format != b.format)
        *d = (struct agg_difference){format_words(a.format), format_words(b.format)};
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
    else if (a.places != b.places)
        *d = (struct agg_difference){"one number of switches that share calls", "another"};
    else if (a.place != b.place)
        *d = (struct agg_difference){place_words(a.place), place_words(b.place)};
    else if (lists_differ(a.list, b.list))
        *d = (struct agg_difference){LISTED, "another"};
    else if (a.moved != b.moved)
        *d = (struct agg_difference){moved_words(a.moved), moved_words(b.moved)};
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
                                      .word = compression_words(&t.table) + strlen(TO_COMPRESS)};
    if (t.quorum != 0) {
        list[n++] = (struct agg_term){.name = "quorum", .number = t.quorum};
        list[n++] = (struct agg_term){.name = "quorum_wait_ms", .number = t.wait_ms};
    }
    if (t.labelled)
        list[n++] = (struct agg_term){.name = "threads", .number = t.threads};
    return n;
}

/* Where these are in the bytes. */
enum {
    KEYED = 16,
    TABLE = 17,
    COMPRESSION = TABLE + 1 + SML_INDICES_MAX,
    QUORUM = COMPRESSION + 4,
    EMPTIES = QUORUM + 4,
    PLACE = EMPTIES + 1,
    LOCAL = PLACE + 6,
    LANES,
    RATED
};

enum { EMPTIES_INTERLEAVED = 2 }; /* at EMPTIES */

enum { RESUMED = 3, RESUMED_MOVED = 2 }; /* where that is; at RESUMED */

enum { RATED_AND_BACK = 2 }; /* at RATED */

static_assert((int)RATED + 1 == (int)SML_TERMS_BYTES && (int)SML_TERMS_BYTES <= (int)AGG_TERMS_MAX,
              "they have room");

enum { NEW_JOB_SLOTS_MIN = 2, PUBLISHED_BYTES_MIN = 128, PUBLISHED_BYTES_MAX = 1024 };

/* The codes on the wire. The published format has 0. */
static const uint8_t format_codes[XFER_FORMATS] = {
    [XFER_FORMAT_TYPED] = 1, [XFER_FORMAT_INT32] = 0, [XFER_FORMAT_FP16] = 2};

/* XFER_FORMATS: of none. */
static enum xfer_format format_of_code(uint8_t code)
{
    enum xfer_format f = 0;

    while (f < XFER_FORMATS && format_codes[f] != code)
        f++;
    return f;
}

void sml_terms_build(struct agg_terms *out, const struct sml_terms *t)
{
    *out = (struct agg_terms){
        .protocol = AGG_PROTOCOL_SWITCHML, .version = SML_TERMS_VERSION, .bytes = SML_TERMS_BYTES};
    out->data[0] = format_codes[t->format];
    out->data[1] = (uint8_t)t->mode;
    out->data[2] = (uint8_t)t->checksum;
    out->data[RESUMED] = t->resumed && t->moved ? RESUMED_MOVED : t->resumed;
    put_be16(out->data + 4, t->slots);
    put_be16(out->data + 6, t->chunk_bytes);
    put_be32(out->data + 8, t->first_tag);
    out->data[12] = t->tag_bits;
    out->data[13] = t->plain;
    out->data[14] = t->labelled;
    out->data[15] = t->threads;
    out->data[KEYED] = t->keyed;
    out->data[TABLE] = t->table.code;
    memcpy(out->data + TABLE + 1, t->table.values, SML_INDICES_MAX);
    put_be32(out->data + COMPRESSION, t->compression);
    put_be16(out->data + QUORUM, t->quorum);
    put_be16(out->data + QUORUM + 2, t->wait_ms);
    out->data[EMPTIES] = t->empties && t->interleaved ? EMPTIES_INTERLEAVED : t->empties;
    out->data[PLACE] = t->place;
    out->data[PLACE + 1] = t->places;
    put_be32(out->data + PLACE + 2, t->list);
    out->data[LOCAL] = t->local;
    out->data[LANES] = t->lanes;
    out->data[RATED] = t->rated ? RATED_AND_BACK : 0;
}

bool sml_terms_parse(struct sml_terms *t, const struct agg_terms *in)
{
    if (in->protocol != AGG_PROTOCOL_SWITCHML || in->version != SML_TERMS_VERSION ||
        in->bytes < SML_TERMS_BYTES_LEAST || in->bytes > AGG_TERMS_MAX)
        return false;
    *t = (struct sml_terms){
        .format = format_of_code(in->data[0]),
        .mode = in->data[1],
        .checksum = in->data[2],
        .resumed = in->data[RESUMED] != 0,
        .moved = in->data[RESUMED] == RESUMED_MOVED,
        .slots = get_be16(in->data + 4),
        .chunk_bytes = get_be16(in->data + 6),
        .first_tag = get_be32(in->data + 8),
        .tag_bits = in->data[12],
        .plain = in->data[13] != 0,
        .labelled = in->data[14] != 0,
        .threads = in->data[15],
        .keyed = in->bytes > KEYED && in->data[KEYED] != 0,
    };
    if (in->bytes < QUORUM)
        return true;
    t->table.code = in->data[TABLE];
    memcpy(t->table.values, in->data + TABLE + 1, SML_INDICES_MAX);
    t->compression = get_be32(in->data + COMPRESSION);
    if (in->bytes < EMPTIES)
        return true;
    t->quorum = get_be16(in->data + QUORUM);
    t->wait_ms = get_be16(in->data + QUORUM + 2);
    if (in->bytes > EMPTIES) {
        t->empties = in->data[EMPTIES] != 0;
        t->interleaved = in->data[EMPTIES] >= EMPTIES_INTERLEAVED;
    }
    if (in->bytes < LOCAL)
        return true;
    t->place = in->data[PLACE];
    t->places = in->data[PLACE + 1];
    t->list = get_be32(in->data + PLACE + 2);
    t->local = in->bytes > LOCAL ? in->data[LOCAL] : 0;
    t->lanes = in->bytes > LANES ? in->data[LANES] : 0;
    t->rated = in->bytes > RATED && in->data[RATED] == RATED_AND_BACK;
    return true;
}

static bool is_power_of_two(unsigned n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

bool sml_terms_check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX])
{
    struct sml_terms t;

    if (!sml_terms_parse(&t, wish))
        return agg_refuse(why, "terms of protocol %u, version %u, in %u bytes are not known here",
                          wish->protocol, wish->version, wish->bytes);
    if (t.format >= XFER_FORMATS)
        return agg_refuse(why, "packet format %u is not known here", wish->data[0]);
    if (t.mode > XFER_ORDERED)
        return agg_refuse(why, "mode %u is not known here", t.mode);
    if (t.checksum > XFER_CHECKSUM_CRC32C)
        return agg_refuse(why, "checksum %u is not known here", t.checksum);
    if (t.checksum != XFER_CHECKSUM_NONE && xfer_has_exponents(t.format))
        return agg_refuse(why, "packets of %s have no checksum", format_words(t.format));
    if (t.table.code != 0 && !sml_table_valid(&t.table))
        return agg_refuse(why, "the table of code 0x%02x is none of 1 to %d bits whose values ascend from 0",
                          t.table.code, SML_INDEX_BITS_MAX);
    if (t.table.code != 0 && t.format != XFER_FORMAT_TYPED)
        return agg_refuse(why, "packets of %s cannot be compressed", format_words(t.format));
    if (t.table.code != 0 && t.chunk_bytes < SML_LOOK_UP_CHUNK_MIN)
        return agg_refuse(why, "compressed calls take chunks of %d bytes at least, not %u",
                          SML_LOOK_UP_CHUNK_MIN, t.chunk_bytes);
    if (t.quorum != 0 && t.format != XFER_FORMAT_TYPED)
        return agg_refuse(why, "packets of %s cannot be summed by a quorum: their exponents are all ranks'",
                          format_words(t.format));
    if (t.plain && t.format != XFER_FORMAT_INT32)
        return agg_refuse(why, "packets of %s are not the published ones", format_words(t.format));
    if (t.plain && t.chunk_bytes < PUBLISHED_BYTES_MIN)
        return agg_refuse(why, "the published packets have chunks of %d bytes at least, not %u",
                          PUBLISHED_BYTES_MIN, t.chunk_bytes);
    if (t.chunk_bytes < SML_MIN_CHUNK_BYTES || t.chunk_bytes > SML_MAX_CHUNK_BYTES || t.chunk_bytes % 4 != 0)
        return agg_refuse(why, "a chunk has %d to %d bytes, a multiple of 4, not %u", SML_MIN_CHUNK_BYTES,
                          SML_MAX_CHUNK_BYTES, t.chunk_bytes);
    if (t.places != 0 ? t.place >= t.places : t.place != 0)
        return agg_refuse(why, "place %u is none of %u switches that share calls", t.place, t.places);
    if (t.slots < NEW_JOB_SLOTS_MIN || t.slots > SML_MAX_SLOTS)
        return agg_refuse(why, "a job has %d to %d slots, not %u", NEW_JOB_SLOTS_MIN, SML_MAX_SLOTS, t.slots);
    if (t.moved ? resumes : t.resumed != resumes)
        return agg_refuse(why, "the terms are those of a rank that %s, the rank %s",
                          t.resumed ? "resumes" : "is new", resumes ? "resumes" : "is new");
    if (t.resumed && !is_power_of_two(t.slots))
        return agg_refuse(why, "a job with %u slots, not a power of two, cannot be resumed", t.slots);
    if (t.tag_bits != 0)
        return agg_refuse(why, "tags of %u bits are for replayed jobs only", t.tag_bits);
    if (t.labelled || t.threads != 0)
        return agg_refuse(why, "only jobs in the switch's configuration may be of published clients");
    return true;
}

/* How many ranks are within the slots of the one that is furthest ahead, by so many chunks of the first's. It
 * has seen its last chunk closed, with a quorum; and whoever contributed to that chunk was so near it. */
static unsigned count_near(const struct agg_terms wish[], uint16_t n, const struct sml_terms *first,
                           int64_t newest)
{
    struct sml_terms t;
    unsigned near = 0;

    for (uint16_t rank = 0; rank < n; rank++)
        near += sml_terms_parse(&t, &wish[rank]) && t.resumed &&
                (int32_t)(t.first_tag - first->first_tag) >= newest - first->slots;
    return near;
}

/* Whether the ranks that do not resume can start where the others go on. They have sent no contribution, so
 * no chunk has completed unless a quorum of others was at it. Then nothing tells such a rank in the midst of
 * which call they are, and its own first one would be added to that. */
static bool can_all_start_there(const struct agg_terms wish[], uint16_t n, uint16_t quorum,
                                struct agg_refusal *why)
{
    uint16_t resumed = 0, beginner = 0;
    struct sml_terms t;

    for (uint16_t rank = 0; rank < n; rank++)
        if (sml_terms_parse(&t, &wish[rank]) && t.resumed)
            resumed++;
        else
            beginner = rank;
    if (quorum == 0 || resumed < quorum || resumed == n)
        return true;
    why->rank = beginner;
    return agg_refuse(why->text,
                      "rank %u had not begun when the switch restarted, but %u others had, who may have sums "
                      "without it by the quorum of %u: begin the job anew",
                      beginner, resumed, quorum);
}

static bool resume(const struct agg_terms wish[], uint16_t n, uint16_t first_rank, struct sml_terms *granted,
                   struct agg_refusal *why)
{
    int64_t oldest = 0, newest = 0; /* relative to the first's */
    uint16_t furthest = first_rank;
    struct sml_terms first, t;

    sml_terms_parse(&first, &wish[first_rank]);
    for (uint16_t rank = first_rank; rank < n; rank++) {
        if (!sml_terms_parse(&t, &wish[rank]) || !t.resumed)
            continue;
        why->rank = rank;
        if (t.slots != first.slots || t.chunk_bytes != first.chunk_bytes)
            return agg_refuse(
                why->text,
                "rank %u had %u slots and %u bytes a chunk, rank %u had %u and %u: not the same job",
                first_rank, first.slots, first.chunk_bytes, rank, t.slots, t.chunk_bytes);
        if (t.keyed != first.keyed)
            return agg_refuse(why->text,
                              "the packets of rank %u were %s, those of rank %u were %s: not the same job",
                              first_rank, keyed_words(first.keyed), rank, keyed_words(t.keyed));
        int32_t ahead = (int32_t)(t.first_tag - first.first_tag);
        oldest = ahead < oldest ? ahead : oldest;
        furthest = ahead > newest ? rank : furthest;
        newest = ahead > newest ? ahead : newest;
    }
    *granted = first;
    if (!can_all_start_there(wish, n, first.quorum, why))
        return false;
    if (first.quorum != 0 && newest - oldest > first.slots) {
        const unsigned near = count_near(wish, n, &first, newest);
        why->rank = furthest;
        if (near < first.quorum)
            return agg_refuse(why->text,
                              "rank %u says that it is %lld chunks ahead of the last one, but of the ranks "
                              "near it, which must be a quorum of %u, there are only %u",
                              furthest, (long long)(newest - oldest), first.quorum, near);
        oldest = newest - first.slots; /* what those that lag further lack is lost to them */
    }
    granted->first_tag = first.first_tag + (uint32_t)oldest;
    why->rank = UINT16_MAX;
    if (newest - oldest > first.slots)
        return agg_refuse(why->text, "the ranks are %lld chunks apart, further than %u slots allow",
                          (long long)(newest - oldest), first.slots);
    return true;
}

/* Whole elements of 4 bytes that the longest payload has room for. */
static uint16_t chunk_bytes_that_fit(size_t payload_bytes, enum xfer_checksum checksum)
{
    const size_t rest = SML_HEADER_BYTES + xfer_trailer_bytes(checksum);
    const size_t room = payload_bytes < rest ? 0 : (payload_bytes - rest) / 4 * 4;

    return (uint16_t)(payload_bytes == 0 || room > SML_MAX_CHUNK_BYTES ? SML_MAX_CHUNK_BYTES : room);
}

bool sml_terms_published(const struct sml_terms *t)
{
    return t->format == XFER_FORMAT_INT32 && sml_size_code(t->chunk_bytes) != SML_SIZE_AGREED;
}

/* The longest chunk of a published packet that is not longer than this; 0: there is none. */
static uint16_t published_length(uint16_t chunk_bytes)
{
    uint16_t length = PUBLISHED_BYTES_MAX;

    while (length > chunk_bytes)
        length /= 2;
    return length >= PUBLISHED_BYTES_MIN ? length : 0;
}

/* Results name who is in them, behind their elements. */
static bool make_room_for_names(struct sml_terms *job, uint16_t n, struct agg_refusal *why)
{
    const size_t taken = (ranks_map_bytes(n) + 3) / 4 * 4;

    if (job->quorum == 0)
        return true;
    if (job->quorum > n)
        return agg_refuse(why->text, "a quorum of %u ranks is more than there are, %u", job->quorum, n);
    if (job->chunk_bytes < SML_MIN_CHUNK_BYTES + taken)
        return agg_refuse(why->text,
                          "chunks of %d bytes at least and the names of %u ranks have no room in %u bytes",
                          SML_MIN_CHUNK_BYTES, n, job->chunk_bytes);
    job->chunk_bytes -= (uint16_t)taken;
    return true;
}

/* How long a rank's chunk may be if its packets are keyed, and no longer than it wished. */
static uint16_t keyed_chunk_bytes(const struct sml_terms *wish)
{
    const size_t payload = SML_HEADER_BYTES + wish->chunk_bytes + xfer_trailer_bytes(wish->checksum);

    return chunk_bytes_that_fit(payload, XFER_CHECKSUM_KEYED);
}

/* Whether sums of all ranks' values always fit. A chunk may have become shorter than any rank wished. */
static bool table_fits(const struct sml_terms *job, uint16_t n, struct agg_refusal *why)
{
    const unsigned bits = job->table.code == 0 ? 0 : sml_sum_bits(job->table.code);

    if (bits == 0)
        return true;
    if (job->chunk_bytes < SML_LOOK_UP_CHUNK_MIN)
        return agg_refuse(why->text,
                          "compressed calls take chunks of %d bytes at least, there is room for %u",
                          SML_LOOK_UP_CHUNK_MIN, job->chunk_bytes);
    return sml_table_fits(&job->table, n) ||
           agg_refuse(
               why->text,
               "a granularity of %u times %u ranks does not fit sums of %u bits: compress with a granularity "
               "of %u at "
               "most%s",
               sml_table_greatest(&job->table), n, bits, ((1u << bits) - 1) / n,
               bits == 8 ? ", or sums of 16 bits" : "");
}

/* Has the packets of a new job keyed, whose terms are complete otherwise. */
static bool key_packets(const struct agg_terms wish[], uint16_t n, struct sml_terms *job,
                        struct agg_refusal *why)
{
    struct sml_terms t;

    if (job->plain)
        return agg_refuse(why->text,
                          "published packets cannot be keyed: that needs data_keys: false for the tenant");
    for (uint16_t rank = 0; rank < n; rank++) {
        sml_terms_parse(&t, &wish[rank]);
        why->rank = rank;
        if (!t.keyed)
            return agg_refuse(
                why->text,
                "rank %u cannot key its packets, its libswagg is too old: update it, or set the tenant's "
                "data_keys to false",
                rank);
        if (keyed_chunk_bytes(&t) < job->chunk_bytes)
            job->chunk_bytes = keyed_chunk_bytes(&t);
    }
    why->rank = UINT16_MAX;
    job->keyed = true;
    return job->chunk_bytes >= SML_MIN_CHUNK_BYTES ||
           agg_refuse(why->text, "keyed packets have chunks of %d bytes at least, there is room for %u",
                      SML_MIN_CHUNK_BYTES, job->chunk_bytes);
}

bool sml_terms_grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                     struct agg_terms *granted, struct agg_refusal *why)
{
    struct sml_terms job = {0}, t;
    uint32_t slots = SML_MAX_SLOTS;

    *why = (struct agg_refusal){.rank = UINT16_MAX};
    for (uint16_t rank = 0; rank < n; rank++) {
        if (!sml_terms_parse(&t, &wish[rank]))
            return agg_refuse(why->text, "rank %u has other terms than SwitchML's", rank);
        if (t.resumed) {
            if (!resume(wish, n, rank, &job, why))
                return false;
            job.moved &= limits->passed_on; /* else it is this switch's from here on */
            sml_terms_build(granted, &job);
            return true;
        }
        if (rank == 0) {
            job = t;
            job.keyed = t.keyed && limits->passed_on;
            job.chunk_bytes =
                chunk_bytes_that_fit(limits->payload_bytes, limits->keyed ? XFER_CHECKSUM_KEYED : t.checksum);
            job.empties = job.interleaved = t.format == XFER_FORMAT_TYPED && t.quorum == 0;
        }
        if (t.chunk_bytes < job.chunk_bytes)
            job.chunk_bytes = t.chunk_bytes;
        if (lists_differ(job.list, t.list)) {
            why->rank = rank;
            return agg_refuse(why->text, "rank %u wants " LISTED ", a rank before it another", rank);
        }
        job.list |= t.list;
        job.empties &= t.empties;
        job.interleaved &= t.interleaved;
        job.rated &= t.rated;
        job.local = agg_local_of_both(job.local, t.local);
        if (t.lanes < job.lanes)
            job.lanes = t.lanes;
        while (slots > t.slots)
            slots /= 2;
    }
    if (limits->keyed && !key_packets(wish, n, &job, why))
        return false;
    if (job.plain && published_length(job.chunk_bytes) == 0)
        return agg_refuse(why->text,
                          "the published packets have chunks of %d bytes at least, there is room for %u",
                          PUBLISHED_BYTES_MIN, job.chunk_bytes);
    if (job.plain)
        job.chunk_bytes = published_length(job.chunk_bytes);
    if (!make_room_for_names(&job, n, why) || !table_fits(&job, n, why))
        return false;
    job.slots = (uint16_t)slots;
    job.first_tag = (uint32_t)limits->random;
    sml_terms_build(granted, &job);
    return true;
}

bool sml_terms_lower(struct agg_terms *granted)
{
    struct sml_terms t;

    if (!sml_terms_parse(&t, granted) || t.resumed || t.slots <= NEW_JOB_SLOTS_MIN)
        return false;
    t.slots /= 2;
    sml_terms_build(granted, &t);
    return true;
}

uint16_t sml_terms_quorum(const struct agg_terms *granted)
{
    struct sml_terms t;

    return sml_terms_parse(&t, granted) ? t.quorum : 0;
}

#include "atp/terms.h"

#include <string.h>

#include "wire/bytes.h"

static const char *const mapping_names[ATP_MAPPINGS] = {
    [ATP_MAP_REMAP] = "remap", [ATP_MAP_FIXED] = "fixed", [ATP_MAP_HASH] = "hash"};

const char *atp_mapping_name(enum atp_mapping mapping)
{
    return mapping_names[mapping];
}

enum { LOCAL = ATP_TERMS_BYTES - 1 }; /* where it is in the bytes */

void atp_terms_build(struct agg_terms *out, const struct atp_terms *t)
{
    *out = (struct agg_terms){
        .protocol = AGG_PROTOCOL_ATP, .version = ATP_TERMS_VERSION, .bytes = ATP_TERMS_BYTES};
    out->data[0] = (uint8_t)t->mode;
    out->data[1] = (uint8_t)t->format;
    out->data[2] = (uint8_t)t->mapping;
    out->data[3] = t->priority;
    put_be16(out->data + 4, t->window);
    put_be16(out->data + 6, t->chunk_bytes);
    out->data[8] = t->per_rack;
    out->data[9] = t->near;
    out->data[10] = t->server;
    out->data[11] = t->servers;
    put_be32(out->data + 12, t->life);
    put_be32(out->data + 16, t->first_sequence);
    memcpy(out->data + 20, &t->group, sizeof t->group);
    put_be16(out->data + 24, t->group_port);
    put_be32(out->data + 26, t->list);
    out->data[30] = (uint8_t)t->checksum;
    out->data[31] = t->keyed;
    out->data[32] = t->resumed;
    out->data[LOCAL] = t->local;
}

bool atp_terms_parse(struct atp_terms *t, const struct agg_terms *in)
{
    if (in->protocol != AGG_PROTOCOL_ATP || in->version != ATP_TERMS_VERSION ||
        in->bytes < ATP_TERMS_BYTES_LEAST || in->bytes > AGG_TERMS_MAX)
        return false;
    *t = (struct atp_terms){
        .mode = in->data[0],
        .format = in->data[1],
        .mapping = in->data[2],
        .priority = in->data[3],
        .window = get_be16(in->data + 4),
        .chunk_bytes = get_be16(in->data + 6),
        .per_rack = in->data[8],
        .near = in->data[9],
        .server = in->data[10],
        .servers = in->data[11],
        .group_port = get_be16(in->data + 24),
        .life = get_be32(in->data + 12),
        .first_sequence = get_be32(in->data + 16),
        .list = get_be32(in->data + 26),
    };
    memcpy(&t->group, in->data + 20, sizeof t->group);
    if (in->bytes < LOCAL)
        return true;
    t->checksum = in->data[30];
    t->keyed = in->data[31] != 0;
    t->resumed = in->data[32] != 0;
    t->local = in->bytes > LOCAL ? in->data[LOCAL] : 0;
    return true;
}

static const char *seal_words(enum xfer_checksum seal)
{
    return seal == XFER_CHECKSUM_CRC32C ? "packets with a CRC32C" : "packets without a checksum";
}

static const char *mode_words(enum xfer_mode mode)
{
    return mode == XFER_ORDERED ? "ordered sums" : "sums on arrival";
}

bool atp_terms_check(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX])
{
    struct atp_terms t;

    if (!atp_terms_parse(&t, wish))
        return agg_refuse(why, "terms of protocol %u, version %u, in %u bytes are not known here",
                          wish->protocol, wish->version, wish->bytes);
    if (t.mode > XFER_ORDERED || t.format >= XFER_FORMATS || t.mapping >= ATP_MAPPINGS)
        return agg_refuse(why, "mode %u, element format %u or choice of aggregators %u is not known here",
                          t.mode, t.format, t.mapping);
    if (t.checksum > XFER_CHECKSUM_CRC32C)
        return agg_refuse(why, "checksum %u is not known here", t.checksum);
    if (t.window < ATP_MIN_WINDOW || t.window > ATP_MAX_WINDOW)
        return agg_refuse(why, "a job has %d to %d chunks under way, not %u", ATP_MIN_WINDOW, ATP_MAX_WINDOW,
                          t.window);
    if (t.chunk_bytes < ATP_MIN_CHUNK_BYTES || t.chunk_bytes > ATP_MAX_CHUNK_BYTES || t.chunk_bytes % 4 != 0)
        return agg_refuse(why, "a chunk has %d to %d bytes, a multiple of 4, not %u", ATP_MIN_CHUNK_BYTES,
                          ATP_MAX_CHUNK_BYTES, t.chunk_bytes);
    if (t.per_rack < 1 || t.per_rack > ATP_LEVEL)
        return agg_refuse(why, "a rack has 1 to %d ranks, not %u", ATP_LEVEL, t.per_rack);
    if (t.resumed != resumes)
        return agg_refuse(why, "the terms are those of a rank that %s, the rank %s",
                          t.resumed ? "resumes" : "is new", resumes ? "resumes" : "is new");
    if (t.resumed && (t.window & (t.window - 1)) != 0)
        return agg_refuse(why, "a job with a window of %u, not a power of two, cannot be resumed", t.window);
    if (t.servers < 1 || t.server >= t.servers)
        return agg_refuse(why, "there is no parameter server %u of %u: they count from 0", t.server,
                          t.servers);
    return true;
}

bool atp_terms_differ(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d)
{
    struct atp_terms a, b;

    if (!atp_terms_parse(&a, wish) || !atp_terms_parse(&b, other))
        *d = (struct agg_difference){"other terms than ATP's", "other terms than ATP's"};
    else if (a.mode != b.mode)
        *d = (struct agg_difference){mode_words(a.mode), mode_words(b.mode)};
    else if (a.format != b.format)
        *d = (struct agg_difference){xfer_format_name(a.format), xfer_format_name(b.format)};
    else if (a.checksum != b.checksum)
        *d = (struct agg_difference){seal_words(a.checksum), seal_words(b.checksum)};
    else if (a.mapping != b.mapping)
        *d = (struct agg_difference){mapping_names[a.mapping], mapping_names[b.mapping]};
    else if (a.per_rack != b.per_rack || a.near != b.near)
        *d = (struct agg_difference){"other racks", "other racks"};
    else if (a.server != b.server || a.servers != b.servers || a.list != b.list)
        *d = (struct agg_difference){
            "another list of parameter servers",
            "its own: the list (options.server_ip, SWAGG_SERVER) must be the same on every rank"};
    else if (a.priority != b.priority)
        *d = (struct agg_difference){"another priority", "another priority"};
    else
        return false;
    return true;
}

/* Whole elements of 4 bytes that a payload has room for beside header and trailer. */
static uint16_t chunk_bytes_that_fit(size_t payload_bytes, enum xfer_checksum seal)
{
    const size_t rest = ATP_HEADER_BYTES + xfer_trailer_bytes(seal);
    const size_t room = payload_bytes < rest ? 0 : (payload_bytes - rest) / 4 * 4;

    return (uint16_t)(room > ATP_MAX_CHUNK_BYTES ? ATP_MAX_CHUNK_BYTES : room);
}

/* As long as this rank wishes, if its packets end with what the job's do. */
static uint16_t chunk_bytes_wished(const struct atp_terms *wish, enum xfer_checksum seal)
{
    return chunk_bytes_that_fit(
        ATP_HEADER_BYTES + (size_t)wish->chunk_bytes + xfer_trailer_bytes(wish->checksum), seal);
}

/* The packets of all ranks can be keyed, if the job's are to be. */
static bool can_be_keyed(const struct atp_terms *wish, uint16_t rank, const struct agg_limits *limits,
                         struct agg_refusal *why)
{
    if (!limits->keyed || wish->keyed)
        return true;
    why->rank = rank;
    return agg_refuse(
        why->text,
        "rank %u cannot key its packets, its libswagg is too old: update it, or set the tenant's "
        "data_keys to false",
        rank);
}

static bool is_same_job(const struct atp_terms *a, const struct atp_terms *b)
{
    return a->window == b->window && a->chunk_bytes == b->chunk_bytes && a->keyed == b->keyed;
}

/* The job goes on at the oldest chunk that some rank lacks. A rank that does not resume has sent no
 * contribution, so no chunk can have completed, and it can start there, too. */
static bool resume(const struct agg_terms wish[], uint16_t n, uint16_t first_rank, struct atp_terms *job,
                   struct agg_refusal *why)
{
    int64_t oldest = 0, newest = 0; /* relative to the first's */
    struct atp_terms first, t;

    atp_terms_parse(&first, &wish[first_rank]);
    for (uint16_t rank = first_rank; rank < n; rank++) {
        if (!atp_terms_parse(&t, &wish[rank]) || !t.resumed)
            continue;
        why->rank = rank;
        if (!is_same_job(&first, &t))
            return agg_refuse(
                why->text,
                "rank %u had a window of %u and %u bytes a chunk%s, rank %u %u and %u%s: not the same job",
                first_rank, first.window, first.chunk_bytes, first.keyed ? ", keyed" : "", rank, t.window,
                t.chunk_bytes, t.keyed ? ", keyed" : "");
        const int32_t ahead = (int32_t)(t.first_sequence - first.first_sequence);
        oldest = ahead < oldest ? ahead : oldest;
        newest = ahead > newest ? ahead : newest;
    }
    why->rank = UINT16_MAX;
    *job = first;
    job->first_sequence += (uint32_t)oldest;
    return newest - oldest <= first.window ||
           agg_refuse(why->text, "the ranks are %lld chunks apart, further than a window of %u allows",
                      (long long)(newest - oldest), first.window);
}

/* What is new in each life of a job. */
static void grant_life(struct agg_terms *granted, struct atp_terms *job, const struct agg_limits *limits)
{
    job->life = (uint32_t)(limits->random >> 32);
    job->group = limits->group;
    job->group_port = limits->group == 0 ? 0 : ATP_GROUP_PORT;
    atp_terms_build(granted, job);
}

bool atp_terms_grant(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                     struct agg_terms *granted, struct agg_refusal *why)
{
    struct atp_terms job = {0}, t;
    uint16_t window = ATP_MAX_WINDOW;

    *why = (struct agg_refusal){.rank = UINT16_MAX};
    for (uint16_t rank = 0; rank < n; rank++) {
        if (!atp_terms_parse(&t, &wish[rank]))
            return agg_refuse(why->text, "rank %u has other terms than ATP's", rank);
        if (t.resumed) {
            if (!resume(wish, n, rank, &job, why))
                return false;
            grant_life(granted, &job, limits);
            return true;
        }
        if (rank == 0) {
            job = t;
            job.keyed = limits->keyed;
            job.chunk_bytes = limits->payload_bytes == 0
                                  ? ATP_MAX_CHUNK_BYTES
                                  : chunk_bytes_that_fit(limits->payload_bytes, atp_terms_seal(&job));
        }
        if (!can_be_keyed(&t, rank, limits, why))
            return false;
        if (chunk_bytes_wished(&t, atp_terms_seal(&job)) < job.chunk_bytes)
            job.chunk_bytes = chunk_bytes_wished(&t, atp_terms_seal(&job));
        job.local = agg_local_of_both(job.local, t.local);
        while (window > t.window)
            window /= 2;
    }
    const struct atp_topology racks = {.workers = n, .per_rack = job.per_rack, .near = job.near};
    if (!atp_topology_fits(&racks))
        return agg_refuse(why->text,
                          "%u ranks in racks of %u are more than one switch can tell apart (%d), or have no "
                          "rack %u for the parameter server: change the racks' size",
                          n, job.per_rack, ATP_LEVEL, job.near);
    if (job.chunk_bytes < ATP_MIN_CHUNK_BYTES)
        return agg_refuse(why->text, "a chunk has %d bytes at least, there is room for %u",
                          ATP_MIN_CHUNK_BYTES, job.chunk_bytes);
    job.window = window;
    job.first_sequence = (uint32_t)limits->random;
    grant_life(granted, &job, limits);
    return true;
}

bool atp_terms_lower(struct agg_terms *granted)
{
    struct atp_terms t;

    if (!atp_terms_parse(&t, granted) || t.resumed || t.window <= ATP_MIN_WINDOW)
        return false;
    t.window /= 2;
    atp_terms_build(granted, &t);
    return true;
}

unsigned atp_terms_list(const struct agg_terms *terms, struct agg_term list[AGG_LISTED_TERMS])
{
    struct atp_terms t;
    unsigned n = 0;

    if (!atp_terms_parse(&t, terms) || t.format >= XFER_FORMATS || t.mapping >= ATP_MAPPINGS ||
        t.checksum > XFER_CHECKSUM_CRC32C)
        return 0;
    list[n++] = (struct agg_term){.name = "format", .word = xfer_format_name(t.format)};
    list[n++] = (struct agg_term){.name = "mode", .word = t.mode == XFER_ORDERED ? "ordered" : "on_arrival"};
    list[n++] = (struct agg_term){.name = "checksum", .word = xfer_checksum_name(atp_terms_seal(&t))};
    list[n++] = (struct agg_term){.name = "aggregators", .word = mapping_names[t.mapping]};
    list[n++] = (struct agg_term){.name = "window", .number = t.window};
    list[n++] = (struct agg_term){.name = "chunk_bytes", .number = t.chunk_bytes};
    list[n++] = (struct agg_term){.name = "resumed", .number = t.resumed};
    list[n++] = (struct agg_term){.name = "per_rack", .number = t.per_rack};
    list[n++] = (struct agg_term){.name = "servers", .number = t.servers};
    list[n++] = (struct agg_term){.name = "priority", .number = t.priority};
    return n;
}

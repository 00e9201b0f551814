#include "switchml/worker.h"

#include <string.h>

#include "switchml/stream.h"
#include "switchml/terms.h"

#define STREAM(name) sml_stream_##name
#include "transfer/worker_stream.h"

/* A switch that knows of no tables grants none: its jobs have no compressed calls, which is for the rank to
 * say. */
static bool has_my_table(const struct sml_terms *job, const struct sml_terms *mine)
{
    return job->table.code == 0 ||
           (memcmp(&job->table, &mine->table, sizeof job->table) == 0 &&
            job->compression == mine->compression && job->chunk_bytes >= SML_LOOK_UP_CHUNK_MIN);
}

/* Nor does one that knows of no quorum grant one: its sums are of all ranks. */
static bool has_my_quorum(const struct sml_terms *job, const struct sml_terms *mine)
{
    return job->quorum == 0 || (job->quorum == mine->quorum && job->wait_ms == mine->wait_ms);
}

static bool accept(const struct agg_terms *wish, const struct agg_terms *granted, uint32_t *progress)
{
    struct sml_terms mine, job;

    if (!sml_terms_parse(&mine, wish) || !sml_terms_parse(&job, granted))
        return false;
    if (job.format != mine.format || job.mode != mine.mode || job.checksum != mine.checksum ||
        job.tag_bits != 0 || (job.keyed && (!mine.keyed || job.plain)))
        return false;
    if (job.plain ? !sml_terms_published(&job) : mine.plain)
        return false;
    if (!has_my_table(&job, &mine) || !has_my_quorum(&job, &mine))
        return false;
    if (job.place != mine.place || job.places != mine.places)
        return false; /* a switch that knows of no others would add different elements of two ranks */
    if (job.empties ? !mine.empties : mine.resumed && mine.empties)
        return false;
    if (job.interleaved ? !mine.interleaved : mine.resumed && mine.interleaved)
        return false;
    if (job.rated ? !mine.rated : mine.resumed && mine.rated)
        return false;
    if (mine.resumed && (job.slots != mine.slots || job.chunk_bytes != mine.chunk_bytes))
        return false;
    *progress = job.first_tag;
    return job.slots >= 2 && job.slots <= SML_MAX_SLOTS && (job.slots & (job.slots - 1)) == 0 &&
           job.chunk_bytes >= SML_MIN_CHUNK_BYTES && job.chunk_bytes <= mine.chunk_bytes;
}

static struct agg_terms go_on_wish(const struct agg_terms *granted, uint32_t progress, bool moved)
{
    struct agg_terms wish = *granted;
    struct sml_terms job;

    if (sml_terms_parse(&job, granted)) {
        job.resumed = true;
        job.moved = moved;
        job.first_tag = progress;
        sml_terms_build(&wish, &job);
    }
    return wish;
}

static struct agg_terms resume(const struct agg_terms *granted, uint32_t progress)
{
    return go_on_wish(granted, progress, false);
}

static struct agg_terms move(const struct agg_terms *granted, uint32_t progress)
{
    return go_on_wish(granted, progress, true);
}

uint16_t sml_worker_chunk_bytes(unsigned mtu, enum xfer_checksum checksum)
{
    size_t room = (mtu - AGG_IP_UDP_BYTES - SML_HEADER_BYTES - xfer_trailer_bytes(checksum)) / 4 * 4;

    return (uint16_t)(room < SML_MAX_CHUNK_BYTES ? room : SML_MAX_CHUNK_BYTES);
}

static size_t packet_bytes(unsigned mtu, enum xfer_checksum checksum)
{
    return SML_HEADER_BYTES + sml_worker_chunk_bytes(mtu, checksum) + xfer_trailer_bytes(checksum);
}

/* With several switches chunks lie elsewhere than whoever owns a block of a tensor thinks. */
static bool may_be_empty(const struct agg_wishes *w)
{
    return w->format == XFER_FORMAT_TYPED && w->quorum == 0 && w->switches <= 1;
}

static struct agg_terms wish(const struct agg_wishes *w, unsigned i, unsigned mtu, bool keyed)
{
    struct agg_terms out;
    const struct sml_terms wish = {.format = w->format,
                                   .mode = w->format == XFER_FORMAT_INT32 ? XFER_ON_ARRIVAL : w->mode,
                                   .checksum = w->checksum,
                                   .slots = w->slots,
                                   .chunk_bytes = sml_worker_chunk_bytes(mtu, w->checksum),
                                   .keyed = keyed,
                                   .table = w->table != NULL ? sml_table_of(w->table, w->sum_bits)
                                                             : (struct sml_table){0},
                                   .compression = w->compression,
                                   .quorum = w->quorum,
                                   .wait_ms = w->wait_ms,
                                   .empties = may_be_empty(w),
                                   .interleaved = may_be_empty(w),
                                   .place = (uint8_t)(w->switches > 1 ? i : 0),
                                   .places = (uint8_t)(w->switches > 1 ? w->switches : 0),
                                   .local = w->local,
                                   .lanes = w->lanes,
                                   .rated = w->switches > 1};
    sml_terms_build(&out, &wish);
    return out;
}

static struct sml_terms parse(const struct agg_terms *granted)
{
    struct sml_terms terms = {0};
    sml_terms_parse(&terms, granted); /* the session has accepted them */
    return terms;
}

static struct agg_granted terms(const struct agg_terms *granted)
{
    const struct sml_terms t = parse(granted);
    return (struct agg_granted){.slots = t.slots,
                                .chunk_bytes = t.chunk_bytes,
                                .keyed = t.keyed,
                                .compressed = t.table.code != 0,
                                .quorum = t.quorum != 0,
                                .parts = t.empties,
                                .local = t.local,
                                .lanes = t.lanes,
                                .rated = t.rated};
}

static struct sml_stream_config stream_config(const struct agg_stream_config *cfg)
{
    const struct sml_terms t = parse(cfg->granted);
    return (struct sml_stream_config){
        .rank = cfg->wishes.rank,
        .workers = cfg->wishes.size,
        .slots = t.slots,
        .chunk_bytes = t.chunk_bytes,
        .job = cfg->job,
        .checksum = sml_terms_checksum(&t),
        .shared = cfg->shared,
        .format = t.format,
        .look_up = t.table.code,
        .place = t.place,
        .places = t.places,
        .plain = t.plain,
        .quorum = t.quorum != 0,
        .empties = t.empties,
        .interleaved = t.interleaved,
        .first_tag = t.first_tag,
        .buffer_reduces = cfg->wishes.buffer_reduces,
        .may_leave = cfg->wishes.may_leave,
        .calls = cfg->wishes.calls,
        .window_max = cfg->wishes.window,
        .kernels = cfg->kernels,
    };
}

static size_t footprint(const struct agg_stream_config *cfg)
{
    const struct sml_stream_config config = stream_config(cfg);
    return sml_stream_footprint(&config);
}

static void *init(void *mem, const struct agg_stream_config *cfg)
{
    const struct sml_stream_config config = stream_config(cfg);
    return sml_stream_init(mem, &config);
}

static const char *go_on(void *stream, const struct agg_stream_config *cfg, uint64_t now)
{
    const struct sml_terms t = parse(cfg->granted);
    if (sml_stream_resume(stream, cfg->job, t.first_tag, cfg->shared, now) == 0)
        return NULL;
    return t.plain ? "takes back no sums that ranks hold: it knows the published packets only"
                   : "some rank lags too far behind to be helped";
}

static bool lacks(const void *stream, uint64_t *from, uint64_t *offset, size_t *bytes)
{
    return sml_stream_lacks(stream, from, offset, bytes);
}

static bool leave(void *stream)
{
    return sml_stream_leave(stream);
}

static bool buffered(const void *stream)
{
    return sml_stream_buffered(stream);
}

static uint64_t rest(const void *stream, uint64_t now)
{
    return sml_stream_rest(stream, now);
}

static void hold(void *stream, uint32_t number, uint64_t elements)
{
    sml_stream_hold(stream, number, elements);
}

static uint64_t arrived(const void *stream, uint32_t number, uint64_t *from)
{
    return sml_stream_arrived(stream, number, from);
}

static void share(void *stream, uint32_t from, uint32_t to)
{
    sml_stream_share(stream, from, to);
}

static const struct xfer_turnout *turnout(const void *stream, uint32_t number)
{
    return sml_stream_turnout(stream, number);
}

static void call_roll(void *stream, struct xfer_roll roll[])
{
    sml_stream_call_roll(stream, roll);
}

const struct agg_worker sml_worker = {
    .accept = accept,
    .resume = resume,
    .move = move,
    .packet_bytes = packet_bytes,
    .wish = wish,
    .terms = terms,
    .footprint = footprint,
    .init = init,
    .go_on = go_on,
    WORKER_STREAM,
    .buffered = buffered,
    .lacks = lacks,
    .leave = leave,
    .rest = rest,
    .share = share,
    .hold = hold,
    .arrived = arrived,
    .turnout = turnout,
    .call_roll = call_roll,
};

/* SwitchML's streams (switchml/stream.h) as a flow. */
#include "flow.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "switchml/worker.h"

static size_t packet_bytes(unsigned mtu, enum sml_checksum checksum)
{
    return SML_HEADER_BYTES + client_chunk_bytes(mtu, checksum) + sml_trailer_bytes(checksum);
}

static struct agg_terms wish(const struct client_options *o, unsigned i, unsigned mtu, bool keyed)
{
    struct agg_terms out;
    (void)i; /* there is one switch */
    const struct sml_terms wish = {.format = o->format,
                                   .mode = o->format == SML_FORMAT_INT32 ? SML_ON_ARRIVAL : o->mode,
                                   .checksum = o->checksum,
                                   .slots = o->slots,
                                   .chunk_bytes = client_chunk_bytes(mtu, o->checksum),
                                   .keyed = keyed,
                                   .table = client_compression_table(&o->compression),
                                   .compression = client_compression_rest(&o->compression),
                                   .quorum = o->quorum,
                                   .wait_ms = o->quorum_wait_ms};
    sml_terms_build(&out, &wish);
    return out;
}

static struct sml_terms parse(const struct agg_terms *granted)
{
    struct sml_terms terms = {0};
    sml_terms_parse(&terms, granted); /* the session has accepted them */
    return terms;
}

static struct flow_terms terms(const struct agg_terms *granted)
{
    const struct sml_terms t = parse(granted);
    return (struct flow_terms){.slots = t.slots,
                               .chunk_bytes = t.chunk_bytes,
                               .keyed = t.keyed,
                               .compressed = t.table.code != 0,
                               .quorum = t.quorum != 0};
}

static struct sml_stream_config stream_config(const struct flow_config *cfg)
{
    const struct sml_terms t = parse(cfg->granted);
    return (struct sml_stream_config){
        .rank = cfg->options->rank,
        .workers = cfg->options->size,
        .slots = t.slots,
        .chunk_bytes = t.chunk_bytes,
        .job = cfg->job,
        .checksum = sml_terms_checksum(&t),
        .shared = cfg->shared,
        .format = t.format,
        .look_up = t.table.code,
        .plain = t.plain,
        .quorum = t.quorum != 0,
        .first_tag = t.first_tag,
        .buffer_reduces = cfg->options->buffer_reduces,
        .may_leave = cfg->options->compression.patience_ns > 0,
        .window_max = cfg->options->window,
        .kernels = cfg->kernels,
    };
}

static size_t footprint(const struct flow_config *cfg)
{
    const struct sml_stream_config config = stream_config(cfg);
    return sml_stream_footprint(&config);
}

static void *init(void *mem, const struct flow_config *cfg)
{
    const struct sml_stream_config config = stream_config(cfg);
    return sml_stream_init(mem, &config);
}

static const char *resume(void *stream, const struct flow_config *cfg, uint64_t now)
{
    const struct sml_terms t = parse(cfg->granted);
    if (sml_stream_resume(stream, cfg->job, t.first_tag, cfg->shared, now) == 0)
        return NULL;
    return t.plain ? "takes back no sums that ranks hold: it knows the published packets only"
                   : "some rank lags too far behind to be helped";
}

static int begin(void *stream, const struct sml_call *call, struct sml_segment segments[], size_t n,
                 uint64_t now)
{
    return sml_stream_begin_segments(stream, call, segments, n, now);
}

static bool poll(void *stream, uint64_t now, struct sml_send *send)
{
    return sml_stream_poll(stream, now, send);
}

static enum sml_receive receive(void *stream, const uint8_t *payload, size_t bytes, uint64_t now)
{
    return sml_stream_receive(stream, payload, bytes, now);
}

static enum sml_stream_status status(const void *stream)
{
    return sml_stream_status(stream);
}

static const struct sml_mismatch *mismatch(const void *stream)
{
    return sml_stream_mismatch(stream);
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

static uint64_t timer(const void *stream)
{
    return sml_stream_timer(stream);
}

static uint64_t rest(const void *stream, uint64_t now)
{
    return sml_stream_rest(stream, now);
}

static uint64_t left(const void *stream)
{
    return sml_stream_left(stream);
}

static uint32_t completed(const void *stream)
{
    return sml_stream_completed(stream);
}

static uint32_t oldest(const void *stream)
{
    return sml_stream_oldest(stream);
}

static uint64_t progress(const void *stream)
{
    return sml_stream_progress(stream);
}

static const struct sml_call *oldest_call(const void *stream)
{
    return sml_stream_oldest_call(stream);
}

static uint64_t packets(const void *stream, const struct sml_call *call)
{
    return sml_stream_packets(stream, call);
}

static unsigned missing(const void *stream, uint16_t ranks[], unsigned max)
{
    return sml_stream_missing(stream, ranks, max);
}

static void stats(const void *stream, struct sml_stream_stats *out)
{
    sml_stream_stats(stream, out);
}

static const struct sml_turnout *turnout(const void *stream)
{
    return sml_stream_turnout(stream);
}

static void call_roll(void *stream, struct sml_roll roll[])
{
    sml_stream_call_roll(stream, roll);
}

const struct flow flow_switchml = {
    .protocol = &sml_protocol,
    .worker = &sml_worker,
    .packet_bytes = packet_bytes,
    .wish = wish,
    .terms = terms,
    .footprint = footprint,
    .init = init,
    .resume = resume,
    .begin = begin,
    .poll = poll,
    .receive = receive,
    .status = status,
    .mismatch = mismatch,
    .buffered = buffered,
    .lacks = lacks,
    .leave = leave,
    .timer = timer,
    .rest = rest,
    .left = left,
    .completed = completed,
    .oldest = oldest,
    .progress = progress,
    .oldest_call = oldest_call,
    .packets = packets,
    .missing = missing,
    .stats = stats,
    .turnout = turnout,
    .call_roll = call_roll,
};

/* SwitchML's streams (switchml/stream.h) as a flow. */
#include "flow.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "switchml/worker.h"

#define STREAM(name) sml_stream_##name
#include "flow_stream.h"

static size_t packet_bytes(unsigned mtu, enum xfer_checksum checksum)
{
    return SML_HEADER_BYTES + client_chunk_bytes(mtu, checksum) + xfer_trailer_bytes(checksum);
}

static struct agg_terms wish(const struct client_options *o, unsigned i, unsigned mtu, bool keyed)
{
    struct agg_terms out;
    (void)i; /* there is one switch */
    const struct sml_terms wish = {.format = o->format,
                                   .mode = o->format == XFER_FORMAT_INT32 ? XFER_ON_ARRIVAL : o->mode,
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

static const struct xfer_turnout *turnout(const void *stream)
{
    return sml_stream_turnout(stream);
}

static void call_roll(void *stream, struct xfer_roll roll[])
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
    FLOW_STREAM,
    .buffered = buffered,
    .lacks = lacks,
    .leave = leave,
    .rest = rest,
    .turnout = turnout,
    .call_roll = call_roll,
};

#include "atp/worker.h"

#include "atp/stream.h"

#define STREAM(name) atp_stream_##name
#include "transfer/worker_stream.h"

static bool accept(const struct agg_terms *wish, const struct agg_terms *granted, uint32_t *progress)
{
    struct atp_terms mine, job;

    if (!atp_terms_parse(&mine, wish) || !atp_terms_parse(&job, granted))
        return false;
    if (job.mode != mine.mode || job.format != mine.format || job.checksum != mine.checksum ||
        (job.keyed && !mine.keyed) || job.mapping != mine.mapping || job.per_rack != mine.per_rack ||
        job.near != mine.near || job.server != mine.server || job.servers != mine.servers)
        return false;
    if (mine.resumed && (job.window != mine.window || job.chunk_bytes != mine.chunk_bytes))
        return false;
    *progress = job.first_sequence;
    return job.window >= ATP_MIN_WINDOW && job.window <= mine.window &&
           (job.window & (job.window - 1)) == 0 && job.chunk_bytes >= ATP_MIN_CHUNK_BYTES &&
           job.chunk_bytes <= mine.chunk_bytes && job.chunk_bytes % 4 == 0;
}

static struct agg_terms resume(const struct agg_terms *granted, uint32_t progress)
{
    struct agg_terms wish = *granted;
    struct atp_terms job;

    if (atp_terms_parse(&job, granted)) {
        job.resumed = true;
        job.first_sequence = progress;
        atp_terms_build(&wish, &job);
    }
    return wish;
}

static uint16_t chunk_bytes(unsigned mtu, enum xfer_checksum checksum)
{
    const size_t room = (mtu - AGG_IP_UDP_BYTES - ATP_HEADER_BYTES - xfer_trailer_bytes(checksum)) / 4 * 4;
    return (uint16_t)(room < ATP_MAX_CHUNK_BYTES ? room : ATP_MAX_CHUNK_BYTES);
}

static size_t packet_bytes(unsigned mtu, enum xfer_checksum checksum)
{
    return ATP_HEADER_BYTES + chunk_bytes(mtu, checksum) + xfer_trailer_bytes(checksum);
}

/* The slots that the caller wishes for bound what is under way, as in a switch: at each server. */
static struct agg_terms wish(const struct agg_wishes *w, unsigned i, unsigned mtu, bool keyed)
{
    struct agg_terms out;
    const struct atp_terms wish = {.mode = w->mode,
                                   .format = w->format,
                                   .mapping = ATP_MAP_REMAP,
                                   .window = w->slots < ATP_MIN_WINDOW   ? ATP_MIN_WINDOW
                                             : w->slots > ATP_MAX_WINDOW ? ATP_MAX_WINDOW
                                                                         : w->slots,
                                   .chunk_bytes = chunk_bytes(mtu, w->checksum),
                                   .per_rack = w->per_rack,
                                   .near = w->near,
                                   .server = (uint8_t)i,
                                   .servers = w->servers,
                                   .list = w->list,
                                   .checksum = w->checksum,
                                   .keyed = keyed,
                                   .local = w->local};
    atp_terms_build(&out, &wish);
    return out;
}

static struct atp_terms parse(const struct agg_terms *granted)
{
    struct atp_terms terms = {0};
    atp_terms_parse(&terms, granted); /* the session has accepted them */
    return terms;
}

static struct agg_granted terms(const struct agg_terms *granted)
{
    const struct atp_terms t = parse(granted);
    return (struct agg_granted){.slots = t.window,
                                .chunk_bytes = t.chunk_bytes,
                                .keyed = t.keyed,
                                .unhelped = t.keyed
                                                ? "its packets are keyed, and switches on the way have no "
                                                  "key (data_keys: false for the tenant lets them add)"
                                                : NULL,
                                .group = t.group,
                                .group_port = t.group_port,
                                .local = t.local};
}

static struct atp_stream_config stream_config(const struct agg_stream_config *cfg)
{
    struct atp_terms terms = parse(cfg->granted);
    terms.chunk_bytes = cfg->chunk_bytes;
    return (struct atp_stream_config){.rank = cfg->wishes.rank,
                                      .workers = cfg->wishes.size,
                                      .job = cfg->job,
                                      .terms = terms,
                                      .calls = cfg->wishes.calls,
                                      .fixed_window = cfg->wishes.window,
                                      .shared = cfg->shared,
                                      .kernels = cfg->kernels};
}

static size_t footprint(const struct agg_stream_config *cfg)
{
    const struct atp_stream_config config = stream_config(cfg);
    return atp_stream_footprint(&config);
}

static void *init(void *mem, const struct agg_stream_config *cfg)
{
    const struct atp_stream_config config = stream_config(cfg);
    struct atp_stream *stream = atp_stream_init(mem, &config);
    if (stream)
        atp_stream_deal(stream, cfg->data_ports);
    return stream;
}

static const char *go_on(void *stream, const struct agg_stream_config *cfg, uint64_t now)
{
    const struct atp_terms terms = stream_config(cfg).terms;
    const int rc = atp_stream_resume(stream, cfg->job, &terms, cfg->shared, now);
    atp_stream_deal(stream, cfg->data_ports);
    return rc == 0 ? NULL : "some rank lags too far behind to be helped";
}

static bool buffered(const void *stream)
{
    (void)stream;
    return false;
}

static uint64_t rest(const void *stream, uint64_t now)
{
    (void)stream;
    (void)now;
    return 0;
}

const struct agg_worker atp_worker = {
    .at_servers = true,
    .accept = accept,
    .resume = resume,
    .packet_bytes = packet_bytes,
    .wish = wish,
    .terms = terms,
    .footprint = footprint,
    .init = init,
    .go_on = go_on,
    WORKER_STREAM,
    .buffered = buffered,
    .rest = rest,
};

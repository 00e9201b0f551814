/* ATP's streams, each to one parameter server (atp/stream.h), as a flow. */
#include "atp/protocol.h"
#include "atp/stream.h"
#include "atp/worker.h"
#include "flow.h"

#define STREAM(name) atp_stream_##name
#include "flow_stream.h"

static uint16_t chunk_bytes(unsigned mtu, enum xfer_checksum checksum)
{
    const size_t room = (mtu - CLIENT_IP_UDP_BYTES - ATP_HEADER_BYTES - xfer_trailer_bytes(checksum)) / 4 * 4;
    return (uint16_t)(room < ATP_MAX_CHUNK_BYTES ? room : ATP_MAX_CHUNK_BYTES);
}

static size_t packet_bytes(unsigned mtu, enum xfer_checksum checksum)
{
    return ATP_HEADER_BYTES + chunk_bytes(mtu, checksum) + xfer_trailer_bytes(checksum);
}

/* The slots that the caller wishes for bound what is under way, as in a switch: at each server. */
static struct agg_terms wish(const struct client_options *o, unsigned i, unsigned mtu, bool keyed)
{
    struct agg_terms out;
    const struct atp_terms wish = {.mode = o->mode == XFER_ORDERED ? ATP_ORDERED : ATP_ON_ARRIVAL,
                                   .format = o->format,
                                   .mapping = ATP_MAP_REMAP,
                                   .window = o->slots < ATP_MIN_WINDOW   ? ATP_MIN_WINDOW
                                             : o->slots > ATP_MAX_WINDOW ? ATP_MAX_WINDOW
                                                                         : o->slots,
                                   .chunk_bytes = chunk_bytes(mtu, o->checksum),
                                   .per_rack = o->per_rack,
                                   .near = o->near,
                                   .server = (uint8_t)i,
                                   .servers = (uint8_t)o->in_servers.n,
                                   .list = client_places_hash(&o->in_servers),
                                   .checksum = o->checksum,
                                   .keyed = keyed};
    atp_terms_build(&out, &wish);
    return out;
}

static struct atp_terms parse(const struct agg_terms *granted)
{
    struct atp_terms terms = {0};
    atp_terms_parse(&terms, granted); /* the session has accepted them */
    return terms;
}

static struct flow_terms terms(const struct agg_terms *granted)
{
    const struct atp_terms t = parse(granted);
    return (struct flow_terms){.slots = t.window,
                               .chunk_bytes = t.chunk_bytes,
                               .keyed = t.keyed,
                               .unhelped = t.keyed ? "its packets are keyed, and switches on the way have no "
                                                     "key (data_keys: false for the tenant lets them add)"
                                                   : NULL,
                               .group = {.s_addr = t.group},
                               .group_port = t.group_port};
}

static struct atp_stream_config stream_config(const struct flow_config *cfg)
{
    struct atp_terms terms = parse(cfg->granted);
    terms.chunk_bytes = cfg->chunk_bytes;
    return (struct atp_stream_config){.rank = cfg->options->rank,
                                      .workers = cfg->options->size,
                                      .job = cfg->job,
                                      .terms = terms,
                                      .fixed_window = cfg->options->window,
                                      .shared = cfg->shared,
                                      .kernels = cfg->kernels};
}

static size_t footprint(const struct flow_config *cfg)
{
    const struct atp_stream_config config = stream_config(cfg);
    return atp_stream_footprint(&config);
}

static void *init(void *mem, const struct flow_config *cfg)
{
    const struct atp_stream_config config = stream_config(cfg);
    struct atp_stream *stream = atp_stream_init(mem, &config);
    if (stream)
        atp_stream_deal(stream, cfg->data_ports);
    return stream;
}

static const char *resume(void *stream, const struct flow_config *cfg, uint64_t now)
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

const struct flow flow_atp = {
    .protocol = &atp_protocol,
    .worker = &atp_worker,
    .packet_bytes = packet_bytes,
    .wish = wish,
    .terms = terms,
    .footprint = footprint,
    .init = init,
    .resume = resume,
    FLOW_STREAM,
    .buffered = buffered,
    .rest = rest,
};

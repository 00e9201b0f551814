/* What the library needs of the worker's side of an aggregation protocol, as a table of functions: it cuts
 * collectives into packets, and makes the results of what comes back. switchml/stream.h says what each of the
 * functions of the same name does (begin: sml_stream_begin_segments), and who owns the tensors meanwhile;
 * other protocols' do the same, with the same types. A stream is one thread's at a time. Where several places
 * sum a job, each has a stream, which sends and receives that place's chunks of every call.
 */
#ifndef SWAGG_CLIENT_FLOW_H
#define SWAGG_CLIENT_FLOW_H

#include "options.h"
#include "protocol/protocol.h"
#include "protocol/worker.h"
#include "switchml/stream.h"

/* What is agreed on, for the library's own use. */
struct flow_terms {
    unsigned slots;       /* how many chunks may be under way */
    uint16_t chunk_bytes; /* of elements in a packet, at most */
    bool keyed;           /* packets are keyed with the job's secret */
    const char *unhelped; /* why no switch on the way adds though the protocol has such: words that whoever
                             runs the job should see. NULL: there is nothing to say */
    struct in_addr group; /* that results may come by; 0: there is none */
    uint16_t group_port;  /* host order */
    bool compressed;      /* there may be compressed calls, as the options have them */
    bool quorum;          /* sums may lack ranks */
};

/* What a stream is made of, and goes on with in another life of its job. */
struct flow_config {
    const struct client_options *options;
    const struct agg_terms *granted;
    const struct keys_shared *shared; /* read during the call only */
    const struct agg_kernels *kernels;
    uint8_t job;          /* number on the wire */
    uint8_t data_ports;   /* of the place, that packets are dealt to */
    uint16_t chunk_bytes; /* the least that any of the job's places has granted: calls are cut by it */
};

struct flow {
    const struct agg_protocol *protocol; /* its UDP ports, and by what packets are dealt to them */
    const struct agg_worker *worker;     /* for the session */
    /* Bytes of the longest UDP payload that a job sends on a path with this MTU. */
    size_t (*packet_bytes)(unsigned mtu, enum xfer_checksum checksum);
    /* What to wish for from the i-th of the job's places. */
    struct agg_terms (*wish)(const struct client_options *o, unsigned i, unsigned mtu, bool keyed);
    /* Of terms that the worker's side has accepted. */
    struct flow_terms (*terms)(const struct agg_terms *granted);

    size_t (*footprint)(const struct flow_config *cfg); /* 0: out of range */
    void *(*init)(void *mem, const struct flow_config *cfg);
    /* NULL, or why the job cannot go on: a constant clause. */
    const char *(*resume)(void *stream, const struct flow_config *cfg, uint64_t now);

    int (*begin)(void *stream, const struct xfer_call *call, struct xfer_segment segments[], size_t n,
                 uint64_t now);
    bool (*poll)(void *stream, uint64_t now, struct xfer_send *send);
    enum xfer_receive (*receive)(void *stream, const uint8_t *payload, size_t bytes, uint64_t now);

    enum xfer_status (*status)(const void *stream);
    const struct xfer_mismatch *(*mismatch)(const void *stream);
    bool (*buffered)(const void *stream);
    /* NULL, both: every call is waited for. Where they are not, a job has one place. */
    bool (*lacks)(const void *stream, uint64_t *from, uint64_t *offset, size_t *bytes);
    bool (*leave)(void *stream);
    uint64_t (*timer)(const void *stream);
    uint64_t (*rest)(const void *stream, uint64_t now);
    uint64_t (*left)(const void *stream);
    uint32_t (*completed)(const void *stream);
    uint32_t (*oldest)(const void *stream);
    uint64_t (*progress)(const void *stream);
    const struct xfer_call *(*oldest_call)(const void *stream);
    uint64_t (*packets)(const void *stream, const struct xfer_call *call);
    unsigned (*missing)(const void *stream, uint16_t ranks[], unsigned max);
    void (*stats)(const void *stream, struct xfer_stats *out);
    /* NULL, both: there is never a quorum. */
    const struct xfer_turnout *(*turnout)(const void *stream);
    void (*call_roll)(void *stream, struct xfer_roll roll[]);
};

extern const struct flow flow_switchml, flow_atp;

#endif

/* The worker's half of a protocol, as the library has it: a constant table of functions, which say what a
 * rank wishes for, cut collectives into packets, and make the results of what comes back. switchml/stream.h
 * says what each of the functions of the same name does (begin: sml_stream_begin_segments), and who owns the
 * tensors meanwhile; other protocols' do the same. A stream is one thread's at a time. Where several places
 * sum a job, each has a stream, which sends and receives that place's chunks of every call. Pure.
 */
#pragma once

#include "protocol/terms.h"
#include "transfer/stream.h"
#include "transfer/turnout.h"

struct thc_table;

/* What a rank would have. A protocol takes what it knows of. */
struct agg_wishes {
    uint16_t rank, size;
    enum xfer_mode mode;
    enum xfer_checksum checksum;
    enum xfer_format format;
    uint16_t slots;  /* chunks under way, at most: a power of two */
    uint16_t window; /* the same for this rank alone; 0: up to the slots */
    uint16_t calls;  /* in progress at once, at most: as xfer_queue_room (queue.h) */
    bool buffer_reduces;
    bool may_leave; /* calls */
    /* Of compressed calls: */
    const struct thc_table *table; /* NULL: there are none */
    uint8_t sum_bits;
    uint32_t compression;     /* what else must be the same on all ranks */
    uint16_t quorum, wait_ms; /* 0: sums have all ranks */
    uint8_t local;            /* agg_local_of_both */
    uint8_t lanes;            /* so many threads of this rank would share calls; 0: they cannot */
    /* Where several servers share the job: */
    uint8_t per_rack, near; /* struct atp_topology */
    uint8_t servers;
    uint32_t list; /* a hash of them, in their order */
    /* Where several switches share every call: */
    uint8_t switches;
};

/* What is agreed on, whatever the protocol. */
struct agg_granted {
    unsigned slots;       /* how many chunks may be under way */
    uint16_t chunk_bytes; /* of elements in a packet, at most */
    bool keyed;           /* packets are keyed with the job's secret */
    const char *unhelped; /* why no switch on the way adds though the protocol has such: words that whoever
                             runs the job should see. NULL: there is nothing to say */
    uint32_t group;       /* IPv4 group that results may come by, network order; 0: there is none */
    uint16_t group_port;  /* host order */
    bool compressed;      /* there may be compressed calls, as wished */
    bool quorum;          /* sums may lack ranks */
    bool parts;    /* there may be calls of bytes in which ranks bring and get different ones (parts.h) */
    uint8_t local; /* agg_local_of_both, of all ranks */
    uint8_t lanes; /* so many threads of each can share calls; 0: some rank does not know how */
    bool rated;    /* all ranks know how to agree on what each place sums, and which is there again */
};

/* What a stream is made of, and goes on with in another life of its job. */
struct agg_stream_config {
    struct agg_wishes wishes;
    const struct agg_terms *granted;
    const struct keys_secret *shared; /* read during the call only */
    const struct agg_kernels *kernels;
    uint8_t job;          /* number on the wire */
    uint8_t data_ports;   /* of the place, that packets are dealt to */
    uint16_t chunk_bytes; /* the least that any of the job's places has granted: calls are cut by it */
};

struct agg_worker {
    bool at_servers; /* its jobs are summed by parameter servers, which may share one; else by the switch */
    /* Whether a rank with this wish can work under what is granted (untrusted). If so, *progress is where a
     * new job begins, as the protocol counts. */
    bool (*accept)(const struct agg_terms *wish, const struct agg_terms *granted, uint32_t *progress);
    /* After a restart of the switch: the wish of a rank that has come this far in a job with these terms. */
    struct agg_terms (*resume)(const struct agg_terms *granted, uint32_t progress);
    /* The same at another switch, which goes on with the job in the place of one that is given up. NULL: none
     * can. */
    struct agg_terms (*move)(const struct agg_terms *granted, uint32_t progress);
    /* Bytes of the longest UDP payload that a job sends on a path with this MTU. */
    size_t (*packet_bytes)(unsigned mtu, enum xfer_checksum checksum);
    /* What to wish for from the i-th of the job's places. */
    struct agg_terms (*wish)(const struct agg_wishes *w, unsigned i, unsigned mtu, bool keyed);
    /* Of terms that the worker's side has accepted. */
    struct agg_granted (*terms)(const struct agg_terms *granted);

    size_t (*footprint)(const struct agg_stream_config *cfg); /* 0: out of range */
    void *(*init)(void *mem, const struct agg_stream_config *cfg);
    /* NULL, or why the job cannot go on: a constant clause. */
    const char *(*go_on)(void *stream, const struct agg_stream_config *cfg, uint64_t now);

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
    uint32_t (*ended)(const void *stream);
    uint32_t (*completed)(const void *stream);
    uint32_t (*oldest)(const void *stream);
    uint64_t (*progress)(const void *stream);
    const struct xfer_call *(*oldest_call)(const void *stream);
    uint64_t (*packets)(const void *stream, const struct xfer_call *call);
    unsigned (*missing)(const void *stream, uint16_t ranks[], unsigned max);
    void (*stats)(const void *stream, struct xfer_stats *out);
    /* NULL: places sum alike. */
    void (*share)(void *stream, uint32_t from, uint32_t to);
    /* NULL, both: there are no compressed calls, and no tensor is sent before all of it is there. */
    void (*hold)(void *stream, uint32_t number, uint64_t elements);
    uint64_t (*arrived)(const void *stream, uint32_t number, uint64_t *from);
    /* NULL, both: there is never a quorum. */
    const struct xfer_turnout *(*turnout)(const void *stream, uint32_t number);
    void (*call_roll)(void *stream, struct xfer_roll roll[]);
};

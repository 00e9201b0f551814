/* swagg_options, checked and with every default filled in. */
#pragma once

#include <limits.h>
#include <netinet/in.h>
#include <stdint.h>

#include "describe.h"
#include "protocol/protocol.h"
#include "swagg.h"
#include "switchml/pool.h"
#include "thc/table.h"
#include "transfer/worker.h"
#include "wire/control.h"

/* Who sums a job's tensors: a switch, or the parameter servers that share an ATP job. */
struct client_node {
    const char *what; /* "switch", "parameter server": for messages */
    struct in_addr ip;
    char text[INET_ADDRSTRLEN]; /* the same */
};

struct client_nodes {
    unsigned n; /* 0: not given, and not needed */
    struct client_node at[SWAGG_SERVERS_MAX];
};

enum { CLIENT_ARGUMENTS_MAX = 512, CLIENT_THREADS_MAX = 8 };

/* How calls are compressed. */
struct client_compression {
    bool on, feedback;
    uint8_t sum_bits;
    struct thc_table table;
    uint32_t one_in;       /* of so many numbers one is clamped */
    uint32_t block, least; /* floats */
    size_t feedback_bytes;
    uint64_t patience_ns; /* what comes later counts as zeros; 0: nothing does */
};

/* The device that carries a job's packets in the kernel's place. */
struct client_port {
    const char *driver;                /* file that drives it (network.h); NULL: the kernel carries them */
    char device[CLIENT_ARGUMENTS_MAX]; /* as DPDK names it, with its arguments; or as RDMA does, "": any */
    unsigned message_packets;          /* of RDMA's: of a message; 0: as measured */
    /* Of DPDK's: */
    char eal[CLIENT_ARGUMENTS_MAX];  /* further arguments of DPDK's, with spaces between them */
    struct in_addr address, gateway; /* its own; the way to what is not on its link, 0: there is none */
    uint32_t netmask;                /* network order */
    unsigned mtu;                    /* of its IP packets, at most; 0: as usual */
};

/* The level within the host. */
struct client_local {
    uint8_t wish;             /* what the rank says of it (protocol/terms.h); 0: the job has none */
    bool only;                /* all ranks are on this host: there is no word to the network */
    char directory[PATH_MAX]; /* of the socket by which they meet; "": it has a name in no directory */
};

struct local_plan;

struct client_options {
    struct client_nodes in_switch, in_servers; /* for jobs at one place; at servers (struct agg_worker) */
    const struct agg_protocol *protocol;
    const struct agg_protocol *instead; /* if the switch has no slots for the job; NULL: nothing */
    char job[CTL_NAME_MAX];
    uint16_t rank, size;
    enum xfer_mode mode;
    enum xfer_checksum checksum;
    enum xfer_format format;
    bool buffer_reduces;
    bool progress_thread;
    struct client_compression compression;
    uint16_t quorum, quorum_wait_ms; /* 0: sums have all ranks */
    bool one_switch;                 /* none above it is to take part */
    uint16_t slots;                  /* a power of two */
    uint16_t window;                 /* 0: up to the slots */
    uint8_t per_rack;                /* 1..64 */
    uint8_t near;                    /* the parameter servers' rack, from 0 on; ATP_NOT_NEAR: none */
    unsigned threads;                /* that share calls; 0: as measured */
    unsigned mtu;                    /* 0: the path's */
    struct client_port port;
    char gpu_driver[PATH_MAX]; /* of libraries that the program has loaded; "": no buffers are a GPU's */
    uint64_t join_timeout_ns, call_timeout_ns, warn_after_ns, answer_timeout_ns, link_timeout_ns;
    struct logger log;
    void (*progress)(void *ctx); /* may be NULL */
    void *progress_ctx;
    struct describe_names names;
    char key_file[PATH_MAX]; /* "": none */
    struct client_local local;
    const struct local_plan *hosts; /* of a rail's job: its members are these hosts; else NULL */
};

/* 0, or SWAGG_ERR_ARGUMENT with the text set. */
int client_options_resolve(struct client_options *out, const struct swagg_options *in);

/* The part of it that is about the transport, once the nodes are known. */
int client_port_resolve(struct client_options *out, const struct swagg_options *in);

/* The part of it that is about compression, once the rest is checked. */
int client_compression_resolve(struct client_compression *out, const struct swagg_options *in);

/* What it says to the job's protocol. The table lies in the options. */
struct agg_wishes client_wishes(const struct client_options *o);

/* How calls of a job with such numbers travel; which ones do. */
enum xfer_format client_format(enum swagg_numbers numbers);
bool client_format_carries(enum xfer_format format, enum swagg_type type, enum swagg_op op);

/* Of an IP packet: with room for the least chunk of any protocol. */
enum { CLIENT_MTU_MIN = AGG_IP_UDP_BYTES + SML_HEADER_BYTES + SML_MIN_CHUNK_BYTES + XFER_TRAILER_BYTES };

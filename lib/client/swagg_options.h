/* The options of a job of libswagg's. Programs include swagg.h, which has the rest, and includes this. */
#ifndef SWAGG_OPTIONS_H
#define SWAGG_OPTIONS_H

/* In which order the switch adds. */
enum swagg_mode {
    SWAGG_ORDERED = 0,   /* in rank order: the same floats give the same bits in every run. The default */
    SWAGG_ON_ARRIVAL = 1 /* as contributions come: less memory in the switch, other roundings each run */
};

/* How damaged data packets are recognized. */
enum swagg_checksum {
    SWAGG_CHECKSUM_NONE = 0,  /* UDP's checksum alone. The default */
    SWAGG_CHECKSUM_CRC32C = 1 /* an end-to-end CRC32C instead of UDP's checksum */
};

/* How floats travel (docs/libswagg.md, "SwitchML's numbers"). Sums of i32 are exact in all of these. */
enum swagg_numbers {
    SWAGG_NUMBERS_NATIVE = 0, /* as they are, and added as floats. The default */
    SWAGG_NUMBERS_INT32 = 1,  /* as int32 with a scale for each packet, as in the SwitchML paper: for switches
                                 that add integers only. Sum and avg of f32 and f16, sum of i32 */
    SWAGG_NUMBERS_FP16 = 2    /* as binary16 with a scale for each packet, in half the bytes. Sum and avg of
                                 f32 and f16 */
};

/* Whether allreduces may be approximate, to send fewer bytes (docs/libswagg.md, "Compressed sums"). */
enum swagg_compression {
    SWAGG_COMPRESSION_NONE = 0, /* sums are exact, but for floats' rounding. The default */
    SWAGG_COMPRESSION_THC = 1   /* sum and avg of at least compress_least f32 are approximate, and travel in a
                                   few bits a number. All other calls are as without it */
};

/* Error feedback: whether what compression leaves out of a tensor is added to it the next time. */
enum swagg_feedback {
    SWAGG_FEEDBACK_BY_TENSOR = 0, /* yes. A tensor is known by its name (swagg_name_tensor), else by the
                                     address and length that it is sent from. The default */
    SWAGG_FEEDBACK_OFF = 1        /* no: for programs whose buffers hold different tensors in turn */
};

/* When swagg_reduce returns on a rank that is not the root. */
enum swagg_reduce_return {
    SWAGG_REDUCE_COMPLETE = 0, /* when all ranks' contributions are summed: the call succeeds or fails on all
                                  ranks alike. The default */
    SWAGG_REDUCE_BUFFERED = 1  /* as soon as what is not summed yet fits the job's buffer, one packet a slot.
                                  If the reduce fails after that, this rank's log and next call say so */
};

/* How a job's tensors are summed (docs/libswagg.md, "ATP"). */
enum swagg_protocol {
    SWAGG_PROTOCOL_SWITCHML = 0, /* by a switch, in slots that belong to the job alone. The default */
    SWAGG_PROTOCOL_ATP = 1, /* by a parameter server, and by switches on the way to it as far as they have
                               room: jobs share that room */
    SWAGG_PROTOCOL_AUTO = 2 /* by SwitchML; if the switch has no slots for the job, by ATP */
};

/* Who goes on with posted calls (docs/libswagg.md, "Posted calls"). */
enum swagg_progress_thread {
    SWAGG_PROGRESS_THREAD_OFF = 0, /* threads in a call of the job; between calls, at leisure, the job's own.
                                      The default */
    SWAGG_PROGRESS_THREAD_ON = 1 /* a thread that the job has for this: for programs that compute meanwhile */
};

enum { SWAGG_SERVERS_MAX = 16 }; /* parameter servers of a job */

/* How far up a tree of switches the job's sums go (docs/libswagg.md, "Trees of switches"). */
enum swagg_uplink {
    SWAGG_UPLINK_CONFIGURED = 0, /* as the switch's configuration says. The default */
    SWAGG_UPLINK_NONE = 1        /* not beyond the switch at switch_ip: all ranks must be at that one */
};

/* Whether ranks of one host sum in its memory before the switch does. */
enum swagg_local {
    SWAGG_LOCAL_AUTO = 0, /* yes, where they find one another. The default */
    SWAGG_LOCAL_OFF = 1   /* no: each is summed by the switch, in the order of ranks wherever they run */
};

enum swagg_log_level { SWAGG_LOG_ERROR = 0, SWAGG_LOG_WARN = 1, SWAGG_LOG_INFO = 2, SWAGG_LOG_DEBUG = 3 };

/* Begin with SWAGG_OPTIONS_DEFAULT. 0 or NULL stands for an option's default; "[same]" marks options that
 * must have the same value on every rank. An option out of its range is SWAGG_ERR_ARGUMENT. */
struct swagg_options {
    size_t struct_size;    /* of this struct as the caller knows it, so that it can grow */
    const char *switch_ip; /* dotted IPv4 of the switch; required, but for ATP with server_ip, and where all
                              ranks are on one host. Or of up to SWAGG_SERVERS_MAX, separated by commas,
                              in the same order on every rank, which may name leaves of its own: each sums
                              a part of every call */
    const char *job;       /* [same] name, 1..47 printable ASCII characters; required */
    int rank, size;        /* 0 <= rank < size <= 1024; size [same]; required */
    enum swagg_mode mode;  /* [same] */
    enum swagg_checksum checksum; /* [same] */
    enum swagg_reduce_return reduce;
    int slots;  /* most slots that the switch is asked for, at least 2; 0 = 1024 */
    int window; /* most packets in flight; 0 = adapted to the measured path, up to about half the slots. With
                   ATP: exactly so many, without congestion control; 0 = congestion control decides */
    int mtu;    /* longest IP packet, in bytes; 0 = the longest that gets to the switch and back */
    int join_timeout_ms; /* within which all ranks must have called swagg_open; 0 = 30000. After a restart of
                            the switch they have as long again */
    int call_timeout_ms; /* within which a collective must be complete; 0 = 120000. Time in which this process
                            was stopped for a second or more does not count */
    int warn_after_ms;   /* a call that waits logs who is missing after this, then after twice as long, and so
                            on; 0 = 2000 */
    /* Called from either thread, the caller's or the job's own. */
    void (*log)(void *ctx, enum swagg_log_level level, const char *line);
    void *log_ctx;
    /* For callers with other communication to drive, such as MPI's point-to-point messages, without which a
     * peer may never reach the collective. Called at least once a millisecond from the thread that is in a
     * collective, or in a swagg_close that waits for buffered reduces. Must return soon, and must not use
     * this job. */
    void (*progress)(void *ctx);
    void *progress_ctx;
    int answer_timeout_ms; /* swagg_open gives up a switch that is silent for so long; 0 = 3000 */
    /* Names of types and operations in messages, for callers whose users know them by others than "f32" and
     * "sum", such as MPI's. They return constant strings. Set both or neither. */
    const char *(*type_name)(enum swagg_type type, enum swagg_op op);
    const char *(*op_name)(enum swagg_op op);
    enum swagg_numbers numbers; /* [same] */
    /* Path of a file with the key that the switch's tenant shares with its workers (docs/configuration.md,
     * "Key files"). Nobody without the key can take this rank's place, end the job, or answer in the switch's
     * name. Read by swagg_open only. */
    const char *key_file;

    /* Compressed calls. */
    enum swagg_compression compression; /* [same], and so are the next six */
    int thc_bits;                       /* of a number on its way to the switch, 1..4; 0 = 4 */
    int thc_granularity;                /* of the table, up to 255; 0 = 30, or less to fit sums of 8 bits */
    int thc_clamped_one_in;             /* one number in so many is clamped; 0 = 32 */
    int thc_block;      /* floats that are transformed together: a power of two from 64 on; 0 = 4096 */
    int thc_sum_bits;   /* of a sum on its way back: 8 or 16; 0 = 8 if the ranks' sums fit, else 16 */
    int compress_least; /* calls of fewer floats are not compressed; 0 = 16384 */
    enum swagg_feedback feedback;
    size_t feedback_bytes; /* most memory for error feedback; the tensor used longest ago is forgotten first.
                              0 = 1 GiB */

    enum swagg_protocol protocol; /* [same] */
    /* Dotted IPv4 of ATP's parameter server, which is swagg-ps or a switch. Or of up to SWAGG_SERVERS_MAX,
     * separated by commas, [same] and in the same order: they share each call's packets. NULL: switch_ip. */
    const char *server_ip;
    enum swagg_uplink uplink; /* [same] */
    /* Compressed calls: a rank that has received no sum for so long goes on with the sums that it has, and
     * zeros for the others (docs/libswagg.md, "Best effort"). 0: it waits for all. */
    int best_effort_ms;

    /* Sums of fewer than all ranks (docs/libswagg.md, "Sums of a quorum"). Set one of the first two: how many
     * ranks are enough for a sum, 1..size; or what share of them, 1..100 percent, rounded up. Both 0: a call
     * has all ranks, or fails. */
    int quorum, quorum_percent; /* [same] */
    int quorum_wait_ms;         /* [same] how long the ranks beyond the quorum are waited for, from the first
                                   contribution to a packet on: 0..65535 */
    /* ATP with hosts at several switches: where the ranks and the parameter servers are. */
    int ranks_per_rack; /* [same] how many ranks, in their order, are at each switch: 1..64; 0 = 64 */
    int server_rack;    /* [same] the rack of ranks at whose switch the servers are, the first being 1: 1..64;
                           0, or a rack that the job does not have: they are at another switch */

    int unused; /* not read */
    /* What carries the packets: NULL or "kernel": its sockets. "dpdk:DEVICE": a device that DPDK drives, such
     * as "dpdk:0000:03:00.0", for this process alone, which its jobs share (docs/libswagg.md, "Without the
     * kernel"). "roce", "roce:DEVICE": an RDMA device (the same, "By RoCE"). */
    const char *transport;
    const char *address; /* with a device: this rank's own, like "10.0.0.1/24" */
    const char
        *gateway;    /* with a device: the way to switches that are not in that subnet; NULL: there is none */
    const char *eal; /* with a device: further arguments of DPDK's EAL. */

    enum swagg_progress_thread progress_thread;
    int unused_too; /* not read */
    /* Ranks of one host sum in its memory first (docs/libswagg.md, "Ranks of one host"). */
    enum swagg_local local; /* [same] */
    int local_ranks; /* how many of the job's ranks run on this host; 0: the caller does not know. If it is
                        size, or there is no switch_ip, all are here, and no word goes to the network */
    /* A directory by which ranks of one host find one another that are in different network namespaces, as in
     * containers: the same one, in which all of them may make a socket. NULL: there is none. The next option
     * comes behind this one: never where an older program has padding. */
    const char *local_directory;

    int threads; /* of this rank that share long calls, each with sockets of its own; the least of all ranks'
                    counts. 0: as many as the link is worth and the process has CPUs for (docs/libswagg.md,
                    "Threads of a rank") */
    int unused_three; /* not read */

    int link_timeout_ms; /* of several switches one that is silent for so long, while another answers, is done
                            without: another goes on with its part of every call; 0 = 10000 */
    int unused_four;     /* not read */
    /* CUDA's driver, as the program loads it, if tensors may be a GPU's (docs/libswagg.md, "Tensors of
     * GPUs"). NULL: "libcuda.so.1"; "off": they are the host's. */
    const char *gpu_driver;

    int message_packets; /* with "roce": packets that are one message of the NIC's, 1..16; 0 = as measured */
    int unused_five;     /* not read */
};
#define SWAGG_OPTIONS_DEFAULT SWAGG_SIZED(struct swagg_options)

#endif

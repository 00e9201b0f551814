/* An aggregation protocol, as the programs that carry its packets see it (the daemon, the simulator, tests):
 * a constant table of functions, a packet on its way, and a verdict on it. One folder of the core implements
 * one protocol. A burst passes through it in these steps:
 *
 *   agg_shard_key   which shard owns the packet's state; from the first bytes alone, by whoever received it
 *   locate          the burst's headers, jobs, senders and slots; asks for the slots' memory. Only reads
 *   apply           packet after packet, up to the first that asks the caller for something
 *   tick            what time alone brings about
 *
 * Pure: no clock (now in ns, monotonic), no malloc, no output; memory is the caller's, 64-byte aligned.
 * Threads: a pool's slots are dealt to shards, and one shard's packets and ticks are one thread's at a time;
 * different shards may be different threads'. Functions that only read (locate, refuse, view) are any
 * thread's.
 */
#pragma once

#include "kernels/kernels.h"
#include "protocol/delays.h"
#include "protocol/jobs.h"
#include "protocol/ranks.h"
#include "protocol/terms.h"
#include "protocol/tree.h"

struct agg_line;
struct agg_words;
struct agg_worker;
struct keys_secret;

enum {
    AGG_MAX_REASONS = 40,   /* of one protocol */
    AGG_PARSED_BYTES = 40,  /* for what a protocol has parsed of a packet */
    AGG_ANSWER_BYTES = 536, /* of the longest answer that does not lie in a slot */
    AGG_HEAD_BYTES = 32,    /* of what a protocol puts in front of a payload, for its receiver alone, ... */
    AGG_TAIL_BYTES = 4,     /* ... and behind it */
};

/* What is to be done with a packet. */
enum agg_action {
    AGG_DROP,      /* nothing: it does not count */
    AGG_HOLD,      /* nothing yet: it counts */
    AGG_REPLY,     /* send to who sent the packet */
    AGG_TO_ALL,    /* send to every rank of the packet's job */
    AGG_TO_PARENT, /* send to the switch above this one, as whose worker this one acts; and brief, if there
                      is one, to who sent the packet */
    AGG_PASS_ON,   /* send on to where the packet was addressed, in its place */
    AGG_PASS_AND_KEEP, /* the packet itself goes on as it came; the pool has what it needs of it */
    AGG_SEND_AS,       /* send as somebody who is not here, to somebody who is not: verdict.as says who */
    AGG_ACTIONS
};

/* Whether something is wrong with a job whose members' packets are dropped for a reason. */
enum agg_amiss {
    AGG_NOT_AMISS,
    AGG_AMISS_ALONE, /* copies that are late are such packets, too; but not if nothing else comes */
    AGG_AMISS,       /* workers and job are not configured alike */
    AGG_AMISSES = AGG_AMISS
};

/* Why a packet got its action: each protocol has a table of reasons, and each reason a counter. */
struct agg_reason {
    const char *name;    /* as an operator reads it in telemetry */
    const char *meaning; /* what it means, and what can be done about it */
    enum agg_action action;
    bool strange; /* the packet belongs to no job: malformed, or of no job or member here. Counted by the port
                     that it came in by. All others are about packets of jobs */
};

/* Whose packet it is, and to whom it goes. */
struct agg_flow {
    struct agg_sender from, to; /* both in the network of from */
};

/* A packet on its way. */
struct agg_packet {
    /* The caller's. */
    uint8_t *payload; /* untrusted; written to only where buffer or AGG_PASS_ON says so */
    size_t bytes;
    const uint8_t *headers; /* of the datagram that payload is of, from IPv4's on, which has no options; NULL:
                               the caller has not got them */
    struct agg_sender from;
    struct agg_sender to; /* of protocols whose packets are addressed to others; else not used */
    void *buffer; /* the caller's name for the memory that payload lies in, which the pool may keep and write
                     to instead of copying; NULL: it may not. To be set before apply */
    /* locate's. */
    const struct agg_job *job; /* NULL: none that runs */
    void *slot;     /* NULL: refused, for this reason; apply does no more than pass it on, if the reason says
                       so */
    uint16_t rank;  /* of the sender; in a tree (tree.h) its number as a contributor, or AGG_PARENT */
    uint8_t thread; /* of the sender: from its first UDP port on */
    /* Set by locate if it refuses the packet, else by apply. */
    uint8_t reason;
    uint64_t parsed[AGG_PARSED_BYTES / sizeof(uint64_t)]; /* the protocol's own */
};

/* What is to be done after a packet, or after a tick. */
struct agg_verdict {
    enum agg_action action;
    uint8_t reason; /* the packet's */
    bool kept; /* the packet's buffer is the pool's now (with AGG_PASS_AND_KEEP also the caller's: both read
                  it only) */
    void *released; /* a buffer that was the pool's is the caller's again; NULL: none */

    /* REPLY, TO_ALL, TO_PARENT, PASS_ON, SEND_AS: what to send. It lies in the packet, in a slot, in a buffer
     * that the pool keeps, or in answer, so the verdict must not be moved. It stays as it is until the slot's
     * next packet at least; the protocol may promise more. */
    const uint8_t *payload;
    size_t bytes;
    void *buffer;              /* the kept buffer that payload lies in; NULL: it lies in none */
    const struct agg_flow *as; /* SEND_AS; it lies in a slot, as payload may */
    /* TO_ALL: what to send to ranks that do not want payload. TO_PARENT: the answer to who sent the packet. 0
     * bytes: nothing. */
    const uint8_t *brief;
    size_t brief_bytes;
    const uint64_t *wants; /* the set (ranks.h) of those that want payload */
    /* TO_ALL, of pools with a group (agg_footprint): those of wants that have payload by one packet to the
     * group, instead of one each; NULL: none has. */
    const uint64_t *grouped;
    uint8_t answer[AGG_ANSWER_BYTES];
    uint8_t aside[AGG_ANSWER_BYTES]; /* for a second one, as with TO_PARENT */
};

/* What is around a verdict's payload in the packet to one rank. */
struct agg_wrapping {
    uint8_t head[AGG_HEAD_BYTES];
    uint8_t head_bytes, tail_bytes;
};

/* After TO_ALL: whether this rank is to be sent payload, else brief. */
static inline bool agg_wants(const struct agg_verdict *v, unsigned rank)
{
    return ranks_has(v->wants, rank);
}

/* After TO_ALL of a pool with a group: whether this rank has payload by the group. */
static inline bool agg_grouped(const struct agg_verdict *v, unsigned rank)
{
    return v->grouped != NULL && ranks_has(v->grouped, rank) && ranks_has(v->wants, rank);
}

/* What a protocol has to know of the members of a job beyond their addresses, in the order of their ranks: in
 * a form that the protocol says. */
struct agg_particulars {
    const void *at;
    size_t bytes; /* of all; 0: there is nothing to know */
};

/* The state of one job, or of all jobs of a protocol that share one. */
struct agg_pool_config {
    uint8_t job;                        /* number on the wire */
    uint16_t workers;                   /* 1 .. AGG_MAX_WORKERS; in a tree: contributors */
    uint16_t shards;                    /* that its packets are dealt to, by their number modulo this; 0: 1 */
    bool delays;                        /* keep what view_rank shows, if the protocol can */
    struct agg_terms terms;             /* granted */
    struct agg_particulars particulars; /* read by init only */
    const struct agg_kernels *kernels;
    const struct keys_secret *shared; /* by the job's members and the switch; read by footprint and init only.
                                         NULL: they share no secret */
    const struct agg_node *tree; /* NULL: this is the job's only switch. Else the table of the pool is that of
                                    relay/protocol.h; read by footprint and init only */
};

/* What a pool needs. */
struct agg_footprint {
    size_t bytes;
    uint32_t slots;
    uint32_t buffers;       /* that it may keep at once */
    uint16_t payload_bytes; /* of the longest packet */
    bool checked;           /* packets go without UDP's checksum, since they have one of their own */
    bool keyed;             /* packets are proven with what the members share */
    uint32_t group;         /* IPv4 group that results may be sent to, network order; 0: none. Only where
                               agg_limits has offered one */
    uint16_t group_port;    /* UDP port at the group; host order */
};

/* For telemetry: what a slot is doing. */
struct agg_slot_view {
    uint32_t chunk;                     /* that is being collected */
    uint16_t contributed;               /* ranks that have contributed to it; 0: idle */
    uint64_t ranks[AGG_MAX_RANKS / 64]; /* which (ranks.h); members who never contribute are among them */
};

/* For telemetry: the last sum that a slot has made. */
enum { AGG_SUM_VIEW_BYTES = 256 };
struct agg_sum_view {
    uint32_t chunk;
    uint8_t code;   /* of operation and type (kernels.h) */
    uint16_t bytes; /* of its elements, in the order of the wire; of a longer chunk the first */
    uint8_t elements[AGG_SUM_VIEW_BYTES];
};

/* Where in a packet the number lies by which packets are dealt to shards: 16 bits under this mask. Receiving
 * threads read it in every packet, so it is data instead of a function. */
struct agg_key_field {
    uint16_t at, mask;
    bool little; /* endian; else big */
};

struct agg_protocol {
    const char *name;
    uint8_t id;                      /* enum agg_protocol_id */
    const struct agg_worker *worker; /* the worker's half (transfer/worker.h); NULL: nobody joins its jobs */
    const struct agg_reason *reason;
    unsigned reasons;     /* at most AGG_MAX_REASONS */
    const uint8_t *amiss; /* enum agg_amiss by reason; NULL: nothing ever is */

    /* Its packets are whole frames between others: the switch forwards each as it came, whatever becomes of
     * the packet, which is read only. Senders are known by their MAC addresses (agg_sender_of_mac). Else they
     * are the payloads of UDP datagrams. */
    bool frames;
    /* UDP ports of the switch that its packets come to, both included; host order. 0: none, its packets are
     * addressed to others. */
    struct {
        uint16_t first, last;
    } udp_ports;
    /* UDP ports, both included, host order: what goes between others to one of them, or comes from one, is
     * its packets, where the switch has jobs of it. 0: none. */
    struct {
        uint16_t first, last;
    } transit_ports;
    /* The UDP port by which its members are known, host order, whichever they send from; 0: by that one. */
    uint16_t members_port;
    /* enum agg_protocol_id: sends of NICs' to its ports may carry packets of this one (wire/roce.h). 0: none
     * do. */
    uint8_t carries;
    uint16_t header_bytes; /* of a packet, before its elements; a carrier best places it so that the elements
                              begin a cache line */

    /* By what packets are dealt to shards, unless what is configured says it more closely: packets of one
     * slot must have one key. */
    struct agg_key_field shard_key;
    /* The same of a job of the configuration, whose packets go to others, with these terms. NULL: as above.
     */
    struct agg_key_field (*job_key)(const struct agg_terms *terms);

    /* Terms. A function that says no tells why. */
    /* Whether they are well formed and within this protocol's ranges. resumes: whether the rank says that it
     * resumes; its terms must say the same. */
    bool (*check)(const struct agg_terms *wish, bool resumes, char why[AGG_TEXT_MAX]);
    bool (*differ)(const struct agg_terms *wish, const struct agg_terms *other, struct agg_difference *d);
    /* What a job of n ranks with these wishes is granted (wishes by rank, all checked, none differs); false:
     * they cannot form a job. */
    bool (*grant)(const struct agg_terms wish[], uint16_t n, const struct agg_limits *limits,
                  struct agg_terms *granted, struct agg_refusal *why);
    /* To fewer slots, for a job that gets less memory; false: they cannot be lowered (any more). */
    bool (*lower)(struct agg_terms *granted);
    /* How many ranks a job needs to go on when others are lost; 0: all. NULL: always all. */
    uint16_t (*quorum)(const struct agg_terms *granted);
    unsigned (*list)(const struct agg_terms *terms,
                     struct agg_term list[AGG_LISTED_TERMS]); /* returns how many */

    /* A pool's life. */
    bool (*footprint)(const struct agg_pool_config *cfg,
                      struct agg_footprint *f); /* false: terms out of range */
    /* mem: footprint.bytes, 64-byte aligned. The pool begins there. */
    void *(*init)(void *mem, const struct agg_pool_config *cfg);
    void (*drain)(void *pool,
                  void (*release)(void *buffer)); /* the end of the pool: gives back all kept buffers */
    /* Whether, since this was last asked, a packet came that belongs to what the pool is doing, so that
     * somebody works on it. Any thread may ask, one at a time. Only of pools of jobs of the
     * configuration; NULL: this protocol has none there. */
    bool (*heard)(void *pool);

    /* Packets. */
    /* Notes in a packet that it has met a congested queue (IP's mark, ECN): before locate, if at all. NULL:
     * there is nothing to note. */
    void (*mark)(uint8_t *payload, size_t bytes);
    /* The same of one that came by the job's group. NULL: this protocol's jobs have none. */
    void (*note_group)(uint8_t *payload, size_t bytes);
    void (*locate)(const struct agg_jobs *jobs, struct agg_packet p[], unsigned n);
    /* Handles p[0], p[1], ... up to and including the first for which something is to be sent, or a buffer
     * was kept or released; v is the verdict on that packet, or on p[n - 1]. Returns how many packets it has
     * handled, at least one if n >= 1. All before the last are held or dropped, as their reasons tell. The
     * burst came at `now`. */
    unsigned (*apply)(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v);
    /* Of protocols whose packets to different ranks differ: after TO_ALL and REPLY, for each receiver in
     * turn. wrap: what is around the payload; false: this rank is sent nothing now. seal: writes the tail;
     * headers: from IPv4's on, as they will be sent, to the end of head. NULL: all are sent the payload as it
     * is. */
    bool (*wrap)(const struct agg_job *job, uint16_t rank, const struct agg_verdict *v,
                 struct agg_wrapping *w);
    void (*seal)(const struct agg_verdict *v, const uint8_t *headers, size_t bytes,
                 uint8_t tail[AGG_TAIL_BYTES]);
    /* An answer for the sender of a packet that locate has refused as strange. boot_id: this switch's.
     * Returns its length; 0: there is none. The sender's address may be forged, so the caller must limit how
     * many answers it sends. NULL: this protocol refuses no packet as strange. */
    size_t (*refuse)(const struct agg_packet *p, uint64_t boot_id, uint8_t answer[AGG_ANSWER_BYTES]);
    /* Of a capture: appends what the packet says. It is untrusted. NULL: nothing is known to say. */
    void (*describe)(struct agg_line *l, const struct agg_words *how, const uint8_t *payload, size_t bytes);
    /* The next verdict that is due by now in this one of so many shards; false: there is none. There is no
     * packet, so it replies to nobody, passes nothing on and keeps no buffer. NULL: this protocol does
     * nothing by time alone. */
    bool (*tick)(const struct agg_job *job, unsigned shard, unsigned shards, uint64_t now,
                 struct agg_verdict *v);
    /* Whether tick may have something to do in this shard though no packet comes, so that whoever carries the
     * shard's packets must not sleep for long. NULL: if there is a tick, it always may. */
    bool (*ticks)(const void *pool, unsigned shard);

    /* False: there is no slot i, they count from 0. */
    bool (*view)(const void *pool, uint32_t i, struct agg_slot_view *view);
    /* How a rank of the job keeps up; false: the pool does not keep that. Any thread may ask, also while
     * packets are applied. NULL: this protocol's pools never keep it. */
    bool (*view_rank)(const void *pool, uint16_t rank, struct agg_rank_view *view);
    /* The last sum of slot i; false: there is none, or it is just being made. Any thread may ask, also while
     * packets are applied. NULL: this protocol's sums are not shown. */
    bool (*view_sum)(const void *pool, uint32_t i, struct agg_sum_view *view);
};

/* For drain, of pools that keep no buffers. */
static inline void agg_drain_nothing(void *pool, void (*release)(void *buffer))
{
    (void)pool;
    (void)release;
}

/* Who has sent a packet to the switch, as the job's seats have him. */
static inline struct agg_sender agg_seated(const struct agg_protocol *protocol, const struct agg_sender *from)
{
    struct agg_sender member = *from;

    if (protocol->members_port != 0)
        member.port = __builtin_bswap16(protocol->members_port);
    return member;
}

/* The number by which a packet is dealt to a shard. 0 for a packet that is too short to have one: locate
 * refuses it in any shard. */
static inline unsigned agg_shard_key(const struct agg_key_field *field, const uint8_t *payload, size_t bytes)
{
    const uint8_t *at;

    if (bytes < field->at + 2u)
        return 0;
    at = payload + field->at;
    return (unsigned)(field->little ? at[1] << 8 | at[0] : at[0] << 8 | at[1]) & field->mask;
}

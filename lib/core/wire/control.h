/* Control messages: what lies in the UDP payload on port 0xBEDF (docs/protocol.md, "Control messages").
 *
 * Every message has the same 40-byte head, then a body by type. Big endian throughout. Fields may be appended
 * to a body; readers ignore what they do not know. Parsing is checked over (pointer, length); strings are
 * copied out, always terminated, zero behind their end. Pure and reentrant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keys/keys.h"
#include "protocol/terms.h"
#include "wire/ranks.h"

enum {
    CTL_PORT = 0xBEDF, /* the switch's UDP port */
    CTL_VERSION = 2,
    CTL_HEAD_BYTES = 40,
    CTL_NAME_MAX = 48,               /* a job's name with its terminating zero */
    CTL_TEXT_MAX = AGG_TEXT_MAX,     /* a reason with its terminating zero */
    CTL_SEAL_BYTES = 32,             /* behind a sealed message (wire/seal.h) */
    CTL_MESSAGE_MAX = 512,           /* no message is longer, sealed or not */
    CTL_DATA_PORTS_MAX = 16,         /* UDP ports of the switch that a worker may deal its slots to */
    CTL_JOIN_INTERVAL_MAX_MS = 1000, /* a worker that waits to get in repeats its JOIN at least this often */
    CTL_HEARTBEATS_PER_LOSS = 5,     /* in the time after which a silent worker is lost */
    CTL_LEVELS_MAX = 8,              /* of switches above one another in a tree */
};

enum ctl_type {
    /* worker to switch */
    CTL_JOIN = 1,      /* I am rank r of n of job NAME; repeated until READY, REFUSED or the deadline */
    CTL_HEARTBEAT = 2, /* I am alive; how far I am */
    CTL_LEAVE = 3,     /* I am done with this job, this far; repeated until LEFT */
    CTL_ABORT = 4,     /* I cannot go on, because ...; repeated until the switch says ABORTED */
    /* switch to worker */
    CTL_PENDING = 16, /* answer to JOIN: these ranks are still missing */
    CTL_READY = 17,   /* answer to JOIN, and pushed when the last rank comes: all are there; the terms */
    CTL_REFUSED = 18, /* answer to JOIN: no, because ... */
    CTL_ALIVE = 19,   /* answer to HEARTBEAT: the job is well; how many are behind */
    CTL_LEFT = 20,    /* answer to LEAVE */
    CTL_ABORTED = 21, /* answer to anything about a job that has failed, and pushed when it fails */
    /* answer to HEARTBEAT, LEAVE or ABORT: this switch has no such job, or the job no such member */
    CTL_UNKNOWN = 22,
};

/* Reasons, in REFUSED, ABORT and ABORTED; the text says it in words. */
enum ctl_reason {
    CTL_OK = 0,
    CTL_BAD_VERSION = 1, /* this switch does not speak the message's version */
    /* rank, size, terms, ... out of range, or a protocol that this switch does not speak */
    CTL_BAD_ARGUMENT = 2,
    CTL_TERMS_DIFFER = 3,   /* size, protocol or terms do not go with what the job's first member said */
    CTL_RANK_TAKEN = 4,     /* another live endpoint has this rank */
    CTL_NO_SLOTS = 5,       /* the pool is used up */
    CTL_NO_JOBS = 6,        /* all job numbers are taken */
    CTL_RANK_LOST = 7,      /* no sign of life from a rank for lost_after */
    CTL_MISMATCH = 8,       /* ranks called different collectives */
    CTL_DEADLINE = 9,       /* a rank gave up waiting */
    CTL_CANNOT_RESUME = 10, /* the switch restarted and the job's state cannot be put together again */
    CTL_APPLICATION = 11,   /* the application aborted */
    CTL_RANK_LEFT = 12,     /* a rank left while others still need it */
    CTL_NOT_ADMITTED = 13,  /* the switch's operator does not let this address into a job of this name */
    CTL_BAD_KEY = 14,       /* the message's key is not known here, is not the name's, or its seal is wrong */
    CTL_ENDED = 15,         /* the switch's operator has ended the job */
    CTL_MOVED_BACK = 16,    /* another switch, in whose place this one summed, does so itself again */
    CTL_LEFT_RESUMING = 17, /* the switch restarted, and a rank has left: there is no further call */
};

/* The head, common to all and to every version of the protocol. */
struct ctl_head {
    uint8_t type;         /* enum ctl_type */
    uint8_t version;      /* CTL_VERSION */
    bool sealed;          /* a seal follows the message (wire/seal.h), which somebody must compare */
    uint64_t boot_id;     /* what the switch shows this address; 0 from a worker that has not heard it yet */
    uint64_t incarnation; /* the member's, random at swagg_open: tells a new process from a late packet */
    uint32_t epoch;       /* the job's, from READY; 0 before */
    uint16_t rank, size;
    uint32_t serial; /* counts the worker's messages from 1; the switch answers with the newest it has had */
};

/* The numbers on the wire that a job has at the switches above one. They travel with the job's number here,
 * so that the ranks can tell each switch, after a restart, which number it is not to use again. */
struct ctl_above {
    uint8_t levels; /* how many switches, less than CTL_LEVELS_MAX; 0: this one is the root */
    uint8_t number[CTL_LEVELS_MAX - 1]; /* the next one's first */
};

struct ctl_join {
    char name[CTL_NAME_MAX];
    uint16_t data_port;  /* the UDP port this member sends its data packets from */
    uint32_t queue_pair; /* of the NIC that carries them (wire/roce.h), 24 bits; 0: they are UDP datagrams */
    bool resume;         /* the job was READY under another boot id: take it up as the terms say */
    bool root_here;      /* the switch that this is sent to is to sum the job alone, whatever is above it */
    bool waited;         /* not resume: this process has been joining since before the switch restarted */
    uint8_t job; /* resume: the number that it had on the wire; it gets another, so that late packets reach no
                    job */
    uint64_t roster;        /* resume: that of READY */
    struct agg_terms terms; /* wished for; resume: also where this rank goes on */
    struct ctl_above above; /* resume: that of READY */
    uint64_t ticket;        /* resume: that of READY */
    /* Filled in by switches that pass the JOIN up: */
    uint8_t hops;  /* how many have; 0: this is from the rank itself. Else data_port is the last one's, which
                      sums for all ranks that come by it */
    uint32_t host; /* hops > 0: IP address of the rank, network order */
    uint32_t via;  /* hops > 0: that of its own switch, the first of them */
};

/* Whether data packets are heard from the NIC that JOIN has named, and are sent to it. */
enum ctl_nic {
    CTL_NIC_NONE = 0,
    CTL_NIC_PACKETS = 1, /* as messages of one packet alone: the switch is older than longer ones */
    CTL_NIC_MESSAGES = 3 /* heard as messages of several packets, too */
};

/* As a switch of this version hears the one with that queue pair. */
static inline uint8_t ctl_nic_of(uint32_t queue_pair)
{
    return queue_pair != 0 ? CTL_NIC_MESSAGES : CTL_NIC_NONE;
}

struct ctl_ready {
    uint8_t job;        /* number on the wire */
    uint16_t data_port; /* the switch's first UDP port for data packets */
    uint8_t data_ports; /* how many there are: packets of slot i best go to data_port + i % data_ports; never
                           0 after parsing */
    uint8_t nic;        /* enum ctl_nic */
    uint32_t lost_after_ms; /* silence after which a member counts as lost; heartbeats come at least four
                               times as often */
    bool resumed; /* the job goes on where it was under another boot id: the answer to a JOIN with resume */
    uint64_t roster;        /* who is in the job: the exclusive or of all ranks' incarnations */
    struct agg_terms terms; /* granted: the same for all ranks */
    /* The secret that the job's members and the switch share, covered (keys_cover). Sent if sealed. */
    uint8_t covered[KEYS_SECRET_BYTES];
    struct ctl_above above;  /* the switches above the one that says it */
    struct ctl_ranks bundle; /* to a switch that has passed JOINs up: the ranks for which it is to send one
                                sum; else empty */
    uint64_t ticket; /* shows, after a restart of the switch, that this rank was in the job; 0: there is none
                      */
};

/* REFUSED, ABORT, ABORTED. rank: whom it is about, or UINT16_MAX. The text does not name the job; whoever
 * shows it adds the name. */
struct ctl_failure {
    uint16_t reason; /* enum ctl_reason */
    uint16_t rank;
    char text[CTL_TEXT_MAX];
};

struct ctl_pending {
    uint32_t waited_ms; /* how long the job has been forming */
    bool occupied;  /* the job cannot form yet: an earlier one of this name is not over, or this rank is taken
                       by a process that may be dead. `missing` then has the ranks that are in the way */
    bool preparing; /* all ranks are there, and the switch is getting ready for them */
    bool no_room;   /* all ranks are there, but the job must wait for room: jobs that ran before the switch
                       restarted go first. If this rank is missing, the job has no place among them */
    struct ctl_ranks missing; /* ranks that have not joined (but see `occupied`) */
    /* Who was refused last while the job formed, which may be why a rank is missing; of no rank: what else
     * keeps them out; reason CTL_OK: nothing. */
    struct ctl_failure turned_away;
};

/* What stands between who is missing, in words, and the text of turned_away. */
static inline const char *ctl_pending_because(const struct ctl_pending *p)
{
    if (p->turned_away.reason == CTL_OK)
        return "";
    return p->turned_away.rank == UINT16_MAX ? "; " : "; turned away was: ";
}

/* HEARTBEAT, LEAVE */
struct ctl_heartbeat {
    /* collectives completed. Exact in a LEAVE: the job fails for peers that wait in a later one */
    uint32_t calls;
    bool waiting;        /* in a collective now */
    uint32_t stalled_ms; /* and without progress for this long */
    uint32_t progress;   /* how far this rank is, as the protocol counts; SwitchML: the oldest chunk without a
                            result */
    /* For people; 0 in messages of workers that do not tell. */
    uint32_t window;        /* packets that it keeps on their way now */
    uint32_t resumed;       /* restarts of the switch that it has outlived in this job */
    uint64_t retransmitted; /* packets that it has sent again */
    /* Of jobs with several places: the calls that this rank has completed at all of them, modulo 2^32. */
    bool tells_finished;
    uint32_t finished;
};

struct ctl_alive {
    uint16_t behind; /* members that have finished fewer calls than who asks, or have not told yet */
};

struct ctl_message {
    struct ctl_head head;
    union {
        struct ctl_join join;
        struct ctl_ready ready;
        struct ctl_pending pending;
        struct ctl_heartbeat heartbeat;
        struct ctl_failure failure;
        struct ctl_alive alive;
    }; /* LEFT, UNKNOWN have no body */
};

enum ctl_parse_error {
    CTL_PARSED = 0,
    CTL_TOO_SHORT,   /* for a head, for its type's body, or for the terms that it announces */
    CTL_NOT_CONTROL, /* no magic number */
    CTL_OTHER_VERSION,
    CTL_BAD_TYPE,
    CTL_BAD_STRING, /* a name or text that is not terminated, not printable ASCII, or an empty name */
    /* Never from ctl_parse, but from those who compare seals: */
    CTL_UNKNOWN_KEY, /* sealed with a key that is not known here */
    CTL_BAD_SEAL,    /* the seal is wrong: damaged or forged, or the message was sent from elsewhere */
};

/* Writes the message and returns its length (<= CTL_MESSAGE_MAX). What is not printable in a string becomes
 * '?', so that every message of a known type parses, but for one with an empty name. */
size_t ctl_build(uint8_t out[CTL_MESSAGE_MAX], const struct ctl_message *m);

/* On an error only m->head is defined: as in the message, so that a refusal can be sent, or all zero if the
 * message is too short for it. */
enum ctl_parse_error ctl_parse(struct ctl_message *m, const uint8_t *payload, size_t bytes);

/* The incarnation in a message's head; of what is none, any number. */
uint64_t ctl_peek_incarnation(const uint8_t *payload, size_t bytes);

/* Whether workers send it (else the switch does). */
static inline bool ctl_type_from_worker(unsigned type)
{
    return type < CTL_PENDING;
}

const char *ctl_type_name(unsigned type);     /* "JOIN", ...; "?" if none */
const char *ctl_reason_name(unsigned reason); /* "rank lost", ... */

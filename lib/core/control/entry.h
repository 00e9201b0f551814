/* An entry of the registry: one job, who is in it, on what terms, and what has become of it. Only the
 * registry changes it; others read it. Pure. */
#pragma once

#include <assert.h>
#include <string.h>

#include "wire/control.h"

struct agg_protocol;

/* Where a member is reached; opaque to the registry but for equality (memcmp). */
struct ctl_endpoint {
    uint8_t mac[6];
    uint8_t port;      /* the switch's port it was heard on; only a hint for the first answer */
    uint8_t network;   /* of several that the switch keeps apart: which it was heard in. A job's members are
                          all in one, and each network has names of its own */
    uint32_t ip;       /* network order */
    uint16_t udp_port; /* host order: of the control socket */
    uint16_t key;      /* the registry's own, 0 outside: which of its keys the messages are sealed with, from
                          1 on; 0: with none */
};

static_assert(sizeof(struct ctl_endpoint) == 16, "no byte is padding");

/* The same process speaks from another MAC address: another router or network card has taken over. */
static inline bool ctl_endpoint_has_moved(const struct ctl_endpoint *before, const struct ctl_endpoint *now)
{
    return now->ip == before->ip && now->udp_port == before->udp_port && now->key == before->key &&
           memcmp(now->mac, before->mac, sizeof now->mac) != 0;
}

enum ctl_entry_state {
    CTL_ENTRY_FREE = 0,
    CTL_ENTRY_FORMING,   /* ranks are missing, or it waits for room */
    CTL_ENTRY_PREPARING, /* all ranks are there, and the pool is being made */
    CTL_ENTRY_RUNNING,
    CTL_ENTRY_FAILED,
};
enum ctl_member_state {
    CTL_MEMBER_ABSENT = 0,
    CTL_MEMBER_JOINED,
    CTL_MEMBER_LEFT,
    CTL_MEMBER_LOST,
    CTL_MEMBER_RECALLED, /* it was in the job, and is to join again: a switch below has restarted */
};

/* What a member was before the switch restarted, as its JOIN says. */
enum ctl_origin {
    CTL_IS_NEW,  /* it began to join under this boot id */
    CTL_WAITED,  /* it began to join before the switch restarted, and never was READY */
    CTL_RESUMES, /* it was READY before the switch restarted */
};

/* A newcomer that waits for the member in its way to prove that it lives, or to fall silent. */
struct ctl_challenge {
    uint64_t since;       /* 0: nobody waits */
    struct ctl_head head; /* of its JOIN */
    struct ctl_endpoint endpoint;
    struct agg_terms wish;
};

struct ctl_member {
    enum ctl_member_state state;
    struct ctl_endpoint endpoint; /* its own, or that of the switch that it comes by */
    uint16_t data_port;           /* of who sends its sums */
    uint32_t queue_pair;          /* of its NIC, which carries its packets; 0: UDP does */
    uint8_t hops;                 /* switches that it comes by; 0: it sends for itself */
    uint32_t host, via;           /* hops > 0: IP addresses of the rank and of its own switch */
    struct agg_terms wish;        /* of its JOIN */
    uint64_t incarnation;
    uint64_t heard_at;
    uint32_t serial;          /* the newest heard */
    uint32_t endpoint_serial; /* that of the message which its endpoint is from */
    enum ctl_origin origin;
    bool proven; /* if the job resumes: it was in it before, as the roster or this switch's memory shows. One
                    that has waited may have, and only the roster of all can tell */
    uint8_t resume_job;
    uint32_t restarts;              /* processes that had this rank before it, while the job formed */
    bool confirmed;                 /* has shown that it knows of READY */
    struct ctl_heartbeat heartbeat; /* the last one */
    struct ctl_challenge challenge;
};

struct ctl_entry {
    enum ctl_entry_state state;
    char name[CTL_NAME_MAX]; /* each tenant has names of its own */
    int tenant;              /* whose job it is (ctl_registry_actions.tenant_of) */
    uint8_t network;         /* of its members' endpoints */
    bool keyed;              /* its members have the tenant's key, and nobody else can be one */
    uint32_t epoch;
    uint64_t since;       /* when it entered this state; PREPARING: since it has been FORMING */
    uint64_t give_up_at;  /* FORMING, PREPARING: it fails if it is not RUNNING by then. FAILED: until then it
                             is kept for members that are yet to hear of it */
    uint64_t preparation; /* while PREPARING: which call of prepare it waits for */
    uint32_t restarts;    /* jobs of its tenant and name before it, as far as the switch remembers. Stays, as
                             do tenant, keyed and name, while FREE */
    uint32_t founder; /* the IP address that its first member speaks from: its own, or of the switch that it
                         comes by, whatever that says of whose host it is */
    uint32_t founder_below; /* and whose host that switch says it is; 0: it comes by none */
    uint16_t size, present; /* present: members JOINED */
    uint8_t number;         /* on the wire; valid while RUNNING */
    const struct agg_protocol *protocol;
    struct agg_terms terms; /* granted, from PREPARING on; before, what its first member wished */
    bool resumed;           /* some member resumes */
    bool came_back;  /* and the first that did so came soon enough after this switch's start for the job to
                        have run before it. Later anybody may say so */
    bool draining;   /* nobody else is let in (ctl_registry_drain) */
    bool no_room;    /* while FORMING: all are there, but there was no pool for them; failure says why */
    uint64_t roster; /* the exclusive or of its members' incarnations, from PREPARING on. Of a job that
                        resumes: what its members say it was, known from the first one on */
    uint8_t secret[KEYS_SECRET_BYTES]; /* that its members and this switch share, if they have a key; from
                                          PREPARING on. Not to be shown */
    struct ctl_failure failure;        /* while FAILED, or no_room */
    struct ctl_failure turned_away;    /* while it forms: who was refused last; reason CTL_OK: nobody */
    uint64_t push_at, push_every;      /* the next repetition of READY or ABORTED */
    uint64_t report_at, report_every;  /* the next event that names who is missing */
    uint64_t late_since;               /* RUNNING: a rank, which was named, is late since then; 0: none is */
    const struct ctl_member *first_left; /* while RUNNING: of those that left, who left after the fewest
                                            collectives; NULL: nobody has */
    struct ctl_member *members;          /* by rank, `size` of them; the memory is the entry's for good */
};

/* Not yet RUNNING. */
static inline bool ctl_entry_is_forming(const struct ctl_entry *job)
{
    return job->state == CTL_ENTRY_FORMING || job->state == CTL_ENTRY_PREPARING;
}

static inline bool ctl_entry_is_live(const struct ctl_entry *job)
{
    return ctl_entry_is_forming(job) || job->state == CTL_ENTRY_RUNNING;
}

/* Whether a resumed job may still have packets under this number on their way, from before its switch
 * restarted. */
bool ctl_entry_had_number(const struct ctl_entry *job, uint8_t number);

/* JOINED members not heard since then. */
struct ctl_ranks ctl_entry_silent(const struct ctl_entry *job, uint64_t since);
struct ctl_ranks ctl_entry_in_state(const struct ctl_entry *job, enum ctl_member_state state);
/* Those that are not JOINED and may be, ABSENT or RECALLED. */
struct ctl_ranks ctl_entry_missing(const struct ctl_entry *job);
/* Whether a job that has failed is yet to tell some member why: who is to join again; and who was lost before
 * it was known to know, as others do, that the job runs. It may live, and still ask to join: without an
 * answer it would wait in another job of that name for those who have heard. */
bool ctl_entry_is_to_tell(const struct ctl_entry *job);
/* Whether some JOINED member is of this origin. */
bool ctl_entry_has(const struct ctl_entry *job, enum ctl_origin origin);
/* How many members a RUNNING job needs to go on when others are lost or leave: all, but where its protocol
 * makes sums of fewer. */
uint16_t ctl_entry_needs(const struct ctl_entry *job);
/* How many members take, or have taken, part in the collective that this one waits in. */
unsigned ctl_entry_count_in(const struct ctl_entry *job, const struct ctl_member *waiter);
/* The exclusive or of all members' incarnations. */
uint64_t ctl_entry_roster(const struct ctl_entry *job);

/* The IP address that all its members speak from; 0: they have several. */
uint32_t ctl_entry_host(const struct ctl_entry *job);
/* The IP address whose part of the memory it counts against; 0: nobody's. A job that came back may first have
 * been founded from any of its members', so that it is nobody's if these are several. */
uint32_t ctl_entry_debtor(const struct ctl_entry *job);

const char *ctl_entry_state_name(enum ctl_entry_state s);
const char *ctl_member_state_name(enum ctl_member_state s); /* "joined" */

/* Which members of a job send for themselves, and which come by a switch that sends one sum for several. */

/* Fills in contributor[rank] for each member that is JOINED, as in struct agg_node, and AGG_NOBODY for the
 * others. Returns how many contributors there are. first: by contributor, its lowest rank, whose endpoint and
 * data port are the contributor's; NULL: not wanted. */
uint16_t ctl_tree_contributors(const struct ctl_entry *job, uint16_t contributor[], uint16_t first[]);

/* Whether a switch sends for some member, so that the job's pool is one in a tree. */
bool ctl_tree_has_switches(const struct ctl_entry *job);

/* The members that come by the same switch as this one, itself and those that have left included; none, if it
 * sends for itself. */
struct ctl_ranks ctl_tree_bundle(const struct ctl_entry *job, unsigned rank);

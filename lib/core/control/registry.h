/* The switch's side of the control protocol: which jobs there are, who is in them, and what becomes of them.
 *
 *   state    event                                   next     what is done
 *   (none)   JOIN                                    FORMING  job created; PENDING
 *   FORMING  JOIN of a missing rank                  FORMING  PENDING
 *   FORMING  JOIN of the last missing rank           RUNNING  open_pool; READY to all
 *   FORMING  ... but open_pool says no, or           FAILED   ABORTED to all
 *            the ranks cannot resume together
 *   FORMING  ... but jobs from before a restart      FORMING  PENDING (no room); tried again in each tick
 *            go first; or it resumes and there is
 *            no room
 *   FORMING  JOIN of a taken rank, or under other    FORMING  PENDING (occupied) until the member in the way
 *            terms                                            proves that it lives: REFUSED; or falls silent
 *   FORMING  the same, by one that has waited since  FORMING  the newcomer in the way is forgotten, the other
 *            before a restart, or resumes                     is in
 *   FORMING  a member silent, or LEAVE               FORMING  forgotten; the job is dropped with the last one
 *   FORMING  not all there within forming_max        FAILED   DEADLINE: ABORTED to all
 *   FORMING  JOIN with resume                        FORMING  its newcomers are forgotten, and from now on it
 *                                                             is the resuming job of that roster; dropped
 *                                                             instead, if its terms are others
 *   FORMING  ABORT                                   FAILED   ABORTED to all
 *   (none)   JOIN with resume                        FORMING  resuming: a job of this roster, beside whatever
 *                                                             there is of its name
 *   resuming JOIN with resume, of its roster         FORMING  PENDING
 *   resuming JOIN that has waited since before the   FORMING  PENDING; in the place of another that has
 *            restart                                          waited, for nothing tells which is right but:
 *   resuming all are there, but not the roster       FORMING  those that have waited are forgotten
 *   resuming newcomer's JOIN                         FORMING  PENDING (occupied); as above, if somebody has
 *                                                             its rank or the terms are others
 *   resuming LEAVE                                   FAILED   CANNOT_RESUME: ABORTED to all
 *   resuming not all back within lost_after          FAILED   CANNOT_RESUME, or why there is no room: ABORTED
 *                                                             to all
 *   RUNNING  JOIN by a member (its READY was lost)   RUNNING  READY again
 *   RUNNING  HEARTBEAT                               RUNNING  ALIVE
 *   RUNNING  LEAVE                                   RUNNING  LEFT; the job is dropped when all have left
 *   RUNNING  a member waits in a collective that     FAILED   RANK_LEFT: close_pool; ABORTED to all
 *            one who left is not in
 *   RUNNING  ABORT, or members silent                FAILED   close_pool; ABORTED to all
 *   RUNNING  JOIN by a newcomer                      RUNNING  PENDING (occupied) until the member of its rank
 *                                                             proves that it lives: REFUSED; or falls
 *                                                             silent; or the job ends
 *   FAILED   LEAVE                                   FAILED   LEFT
 *   FAILED   anything else from a member             FAILED   ABORTED; dropped when all have left or fallen
 *                                                             silent
 *   FAILED   resuming, and a JOIN of that roster     FAILED   REFUSED: why it failed
 *   FAILED   JOIN by a newcomer                      FAILED   founds a new job of the same name, next epoch,
 *                                                             beside this one
 *   any      HEARTBEAT of another epoch or boot id,           UNKNOWN
 *            LEAVE or ABORT of nobody's incarnation
 *   any      JOIN that does not know this boot id             PENDING, no more: it may be a late copy from
 *                                                             before a restart; a live worker learns the id
 *   any      a serial older than the member's last            ignored
 *
 * Resuming: FORMING, and some member was READY before a restart. It is known by its roster, which only its
 * members were told; its name proves nothing. A newcomer is an incarnation that is in no job of that name,
 * and does not say that it was there before a restart. That a newcomer speaks from a member's endpoint proves
 * nothing either: it may be a late copy of an earlier owner's JOIN.
 *
 * Silent: not heard for lost_after (while FORMING at least 5 s, since JOINs may come as rarely as every
 * second; the same for "not all back within"). READY and ABORTED are pushed again,
 * with back-off, to members that have not shown that they know.
 *
 * Pure: no sockets, no clock (now in ns, monotonic), no malloc; memory is the caller's. The effects go out
 * through struct ctl_registry_actions, synchronously, from inside ctl_registry_receive and ctl_registry_tick.
 * One thread.
 */
#ifndef SWAGG_CORE_CONTROL_REGISTRY_H
#define SWAGG_CORE_CONTROL_REGISTRY_H

#include "switchml/pool.h"
#include "wire/control.h"

/* Where a member is reached; opaque to the registry but for equality (memcmp): zero the padding. */
struct ctl_endpoint {
    uint8_t mac[6];
    uint8_t port;       /* the switch's port it was heard on; only a hint for the first answer */
    uint8_t reserved;   /* zero */
    uint32_t ip;        /* network order */
    uint16_t udp_port;  /* host order: of the control socket */
    uint16_t reserved2; /* zero */
};

enum ctl_job_state { CTL_JOB_FREE = 0, CTL_JOB_FORMING, CTL_JOB_RUNNING, CTL_JOB_FAILED };
enum ctl_member_state { CTL_MEMBER_ABSENT = 0, CTL_MEMBER_JOINED, CTL_MEMBER_LEFT, CTL_MEMBER_LOST };

/* Since when a member has been there, as its JOIN says. */
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
    uint8_t format, mode, checksum;
};

struct ctl_member {
    enum ctl_member_state state;
    struct ctl_endpoint endpoint;
    uint16_t data_port;
    uint16_t slots, chunk_bytes; /* wished for */
    uint64_t incarnation;
    uint64_t joined_at, heard_at;
    uint32_t serial; /* the newest heard */
    enum ctl_origin origin;
    uint32_t resume_tag;
    uint8_t resume_job;
    bool confirmed;                 /* has shown that it knows of READY */
    struct ctl_heartbeat heartbeat; /* the last one */
    struct ctl_challenge challenge;
};

struct ctl_job {
    enum ctl_job_state state;
    char name[CTL_NAME_MAX];
    uint32_t epoch;
    uint64_t since;         /* when it entered this state */
    uint64_t give_up_at;    /* while FORMING: it fails if it is not RUNNING by then */
    uint32_t founder;       /* the IP address of its first member */
    uint16_t size, present; /* present: members JOINED */
    uint8_t number;         /* on the wire; valid while RUNNING */
    enum sml_format format;
    enum sml_mode mode;
    enum sml_checksum checksum;
    uint16_t slots, chunk_bytes;
    bool resumed;    /* some member resumes */
    bool no_room;    /* while FORMING: all are there, but open_pool has said no; failure says why */
    uint64_t roster; /* the exclusive or of its members' incarnations, from RUNNING on; if it resumes, from
                        the first member on: what they say */
    uint32_t first_tag;
    struct ctl_failure failure;       /* while FAILED, or no_room */
    uint64_t push_at, push_every;     /* the next repetition of READY or ABORTED */
    uint64_t report_at, report_every; /* the next event that names who is missing */
    struct ctl_member members[SML_MAX_WORKERS];
};

struct ctl_registry_actions {
    void *ctx;
    void (*send)(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes);
    /* Makes a pool for the job: fills in *number (of the free ones that ctl_job_had_number does not exclude
     * that which was freed longest ago, so that late packets of an ended job meet nobody) and may lower
     * *slots (stays a power of two; exactly as asked if job->resumed). 0, or -ENOSPC (no slots), -EMFILE (no
     * job numbers) or -EINVAL (not within this switch's limits); text says it in words. From here on data
     * packets of its members count. */
    int (*open_pool)(void *ctx, const struct ctl_job *job, uint16_t *slots, uint8_t *number,
                     char text[CTL_TEXT_MAX]);
    /* The job's packets are to be refused and its slots freed. job->number still holds. */
    void (*close_pool)(void *ctx, const struct ctl_job *job);
    /* 64 random bits that nobody can foretell, from a generator made for secrets: an epoch or a first tag
     * that others could guess would let them meddle with a job that they are not in. */
    uint64_t (*random)(void *ctx);
    /* For the log: something changed. what is a short sentence that does not name the job. May be NULL. */
    void (*event)(void *ctx, const struct ctl_job *job, const char *what);
    /* Whether a process at this address may be in a job of this name, now and later; if not, text says why.
     * May be NULL: everybody may. */
    bool (*may_join)(void *ctx, const struct ctl_endpoint *from, const char *name, char text[CTL_TEXT_MAX]);
};

struct ctl_registry_config {
    uint16_t max_jobs;       /* 1..256 */
    uint16_t jobs_per_host;  /* live jobs that were founded from one IP address; 0: all but a quarter */
    uint64_t boot_id;        /* random, not 0 */
    uint64_t lost_after_ns;  /* 10 ms .. 1 h; 5 s is a good value */
    uint64_t forming_max_ns; /* how long a new job may take to form; 0: 10 minutes */
    uint16_t data_port;      /* told in READY, as is: */
    uint8_t data_ports;      /* how many from there on workers should deal their slots to; 0: 1 */
    uint16_t payload_bytes;  /* of the longest UDP payload that the switch's ports carry; 0: any */
    struct ctl_registry_actions actions;
};

struct ctl_registry;
size_t ctl_registry_footprint(const struct ctl_registry_config *cfg); /* 0: out of range */
struct ctl_registry *ctl_registry_init(void *mem, const struct ctl_registry_config *cfg);

/* A UDP payload that came to CTL_PORT from `from`. Returns what parsing said; anything but CTL_PARSED was
 * answered with REFUSED where that is possible (CTL_BAD_TYPE includes types that only a switch sends), and is
 * to be counted. */
enum ctl_parse_error ctl_registry_receive(struct ctl_registry *r, const struct ctl_endpoint *from,
                                          const uint8_t *payload, size_t bytes, uint64_t now);

/* Whether a message with this head is from a process that is, or was, in a job that is still there. */
bool ctl_registry_knows(struct ctl_registry *r, const struct ctl_head *head);

/* Call at least every lost_after / 10: finds the silent, repeats what may have been lost, names who is
 * missing. */
void ctl_registry_tick(struct ctl_registry *r, uint64_t now);

/* For telemetry and tests: the job in place i (0 <= i < max_jobs), maybe CTL_JOB_FREE. */
const struct ctl_job *ctl_registry_job(const struct ctl_registry *r, unsigned i);

/* Whether a resumed job may still have packets under this number on their way, from before its switch
 * restarted. */
bool ctl_job_had_number(const struct ctl_job *job, uint8_t number);

const char *ctl_job_state_name(enum ctl_job_state s);

#endif

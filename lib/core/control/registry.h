/* The switch's side of the control protocol: which jobs there are, who is in them, and what becomes of them.
 *
 *   state     event                                     next      what is done
 *   (none)    JOIN                                      FORMING   job created; PENDING to the sender
 *   FORMING   JOIN of a missing rank, others missing    FORMING   PENDING
 *   FORMING   JOIN of the last missing rank             RUNNING   open_pool; READY to all (or REFUSED to all, job dropped)
 *   FORMING   a member silent for lost_after, or LEAVE  FORMING   the member is forgotten; dropped with the last member
 *   RUNNING   JOIN by a member (its READY was lost)     RUNNING   READY again
 *   RUNNING   HEARTBEAT                                 RUNNING   ALIVE
 *   RUNNING   LEAVE                                     RUNNING   LEFT; the job is dropped when all have left
 *   RUNNING   ABORT, a member silent for lost_after,    FAILED    close_pool; ABORTED to all
 *             JOIN of a member's rank by another incarnation from the same endpoint
 *             (it was killed and has come back)
 *   FAILED    anything from a member                    FAILED    ABORTED; dropped when all have left, fallen silent, or joined anew
 *   FAILED    JOIN by a new incarnation                 FORMING   a new job of the same name, next epoch
 *
 * Pure: no sockets, no clock (now in ns, monotonic), no malloc; memory is the caller's. The effects go out through
 * struct ctl_registry_actions, synchronously, from inside ctl_registry_receive and ctl_registry_tick. One thread.
 */
#ifndef SWAGG_CORE_CONTROL_REGISTRY_H
#define SWAGG_CORE_CONTROL_REGISTRY_H

#include "switchml/pool.h"
#include "wire/control.h"

/* Where a member is reached; opaque to the registry but for equality (memcmp): zero the padding. */
struct ctl_endpoint {
    uint8_t mac[6];
    uint8_t port;      /* the switch's port it was heard on; only a hint for the first answer */
    uint8_t reserved;  /* zero */
    uint32_t ip;       /* network order */
    uint16_t udp_port; /* host order: of the control socket */
    uint16_t reserved2; /* zero */
};

enum ctl_job_state { CTL_JOB_FREE = 0, CTL_JOB_FORMING, CTL_JOB_RUNNING, CTL_JOB_FAILED };
enum ctl_member_state { CTL_MEMBER_ABSENT = 0, CTL_MEMBER_JOINED, CTL_MEMBER_LEFT, CTL_MEMBER_LOST };

struct ctl_member {
    enum ctl_member_state state;
    struct ctl_endpoint endpoint;
    uint16_t data_port;
    uint64_t incarnation;
    uint64_t joined_at, heard_at;
    uint32_t resume_tag;
    struct ctl_heartbeat heartbeat; /* the last one */
};

struct ctl_job {
    enum ctl_job_state state;
    char name[CTL_NAME_MAX];
    uint32_t epoch;
    uint64_t since; /* when it entered this state */
    uint16_t size, present;
    uint8_t number; /* on the wire; valid while RUNNING */
    enum sml_format format;
    enum sml_mode mode;
    uint16_t slots, chunk_bytes;
    bool resumed;
    uint32_t first_tag;
    struct ctl_failure failure; /* while FAILED */
    struct ctl_member members[SML_MAX_WORKERS];
};

struct ctl_registry_actions {
    void *ctx;
    void (*send)(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes);
    /* Makes a pool for the job: fills in *number and may lower *slots (stays a power of two; exactly as asked if
     * job->resumed). 0, or -ENOSPC (no slots; text says what is used up) or -EMFILE (no job numbers). From here on data packets
     * of its members count. */
    int (*open_pool)(void *ctx, const struct ctl_job *job, uint16_t *slots, uint8_t *number, char text[CTL_TEXT_MAX]);
    /* The job's packets are to be refused and its slots freed. */
    void (*close_pool)(void *ctx, const struct ctl_job *job);
    /* For the log: something changed. what is a short sentence. May be NULL. */
    void (*event)(void *ctx, const struct ctl_job *job, const char *what);
};

struct ctl_registry_config {
    uint16_t max_jobs;      /* 1..256 */
    uint64_t boot_id;       /* random, not 0 */
    uint64_t lost_after_ns; /* default 5 s */
    uint64_t seed;          /* for first tags */
    uint16_t data_port;     /* told in READY */
    struct ctl_registry_actions actions;
};

struct ctl_registry;
size_t ctl_registry_footprint(const struct ctl_registry_config *cfg); /* 0: out of range */
struct ctl_registry *ctl_registry_init(void *mem, const struct ctl_registry_config *cfg);

/* A UDP payload that came to CTL_PORT from `from`. Returns what parsing said; anything but CTL_PARSED was answered with
 * REFUSED where that is possible, and is to be counted. */
enum ctl_parse_error ctl_registry_receive(struct ctl_registry *r, const struct ctl_endpoint *from,
                                          const uint8_t *payload, size_t bytes, uint64_t now);

/* Call at least every lost_after / 10: finds the silent, repeats what may have been lost, names who is missing. */
void ctl_registry_tick(struct ctl_registry *r, uint64_t now);

/* For telemetry and tests: the job in place i (0 <= i < max_jobs), maybe CTL_JOB_FREE. */
const struct ctl_job *ctl_registry_job(const struct ctl_registry *r, unsigned i);

const char *ctl_job_state_name(enum ctl_job_state s);

#endif

/* The daemon's configuration: a YAML file, read by tables of its settings (settings/settings.h), checked,
 * completed with defaults (docs/configuration.md). Nothing here needs DPDK, so a configuration can be checked
 * anywhere. Main lcore only. A struct config is a plain value that contains its strings; nothing needs to be
 * freed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/log.h"
#include "clone/layout.h"
#include "config/placement.h"
#include "hostagg/pool.h"
#include "impair/impair.h"
#include "protocol/terms.h"
#include "roce/pool.h"
#include "settings/settings.h"
#include "wire/switchml.h"

enum {
    CONFIG_NAME_MAX = 32,
    CONFIG_DEVICE_MAX = 256,
    CONFIG_SOCKET_MAX = 108, /* a Unix socket's path with its end */
    CONFIG_REPLAYS_MAX = 16,
    CONFIG_STATIC_JOBS_MAX = 16,
    CONFIG_STATIC_WORKERS_MAX = 256,
    CONFIG_HOSTAGG_JOBS_MAX = AGG_JOBS,
    CONFIG_CLONE_JOBS_MAX = AGG_JOBS,
    CONFIG_ROCE_JOBS_MAX = 4,
    /* in all those lists, and the pool of ATP */
    CONFIG_FIXED_JOBS_MAX = CONFIG_REPLAYS_MAX + CONFIG_STATIC_JOBS_MAX + CONFIG_HOSTAGG_JOBS_MAX +
                            CONFIG_CLONE_JOBS_MAX + CONFIG_ROCE_JOBS_MAX + 1,
    /* of packets to others, and of hosts' questions */
    CONFIG_FLOWS_MAX = 2 * CONFIG_HOSTAGG_JOBS_MAX + CONFIG_CLONE_JOBS_MAX,
    CONFIG_CLONE_WORKERS_MAX = 64,
    CONFIG_SERVER_THREADS_MAX = 16,
    CONFIG_TENANTS_MAX = 64,
    CONFIG_TENANT_ADDRESSES_MAX = 64,
    CONFIG_PATTERNS_MAX = 16,
    CONFIG_JOB_MAX = 48,
    CONFIG_FILE_MAX = 256,
    CONFIG_WEIGHT_MAX = 1000,
    CONFIG_VLANS_MAX = 64,
    CONFIG_MAC_AGE_S = 300, /* unless the file says */
};

#define CONFIG_CONTROL_NONE "none" /* control.path: no socket for operators */

enum config_memory_mode { CONFIG_MEMORY_AUTO, CONFIG_MEMORY_HUGEPAGES, CONFIG_MEMORY_NO_HUGE };
enum config_privileges { CONFIG_PRIVILEGES_NEEDED, CONFIG_PRIVILEGES_ALL };

#define CONFIG_KERNEL_DEVICE "kernel:"
#define CONFIG_CHIP_DEVICE   "chip:" /* a Tofino's: swagg-tofino takes them, swagg does not */

/* The socket for operators' tools (swaggctl). */
struct config_control {
    bool off;
    char path[CONFIG_SOCKET_MAX]; /* absolute; "": the default */
    uint32_t mode;                /* permissions, at most 0777 */
    char group[CONFIG_NAME_MAX];  /* "": the process's */
};

enum { CONFIG_TREE_MAX = 64 };

/* Where a host is told about, over HTTP. */
struct config_teller {
    uint32_t ip;   /* network order */
    uint32_t port; /* TCP; 0: nowhere */
};

/* Where /metrics is told (metrics/metrics.h). */
struct config_metrics {
    struct config_teller at; /* 0.0.0.0: every address of the machine */
    uint32_t ranks;          /* of all jobs, that have series of their own at most */
    unsigned switches; /* of the same tree, perhaps this one among them, and where they are told about */
    struct config_teller tree[CONFIG_TREE_MAX];
};

struct config_impair {
    struct impair_config rx, tx; /* hold_for in microseconds */
};

/* Frames that go to every port. */
enum config_storm_kind {
    CONFIG_STORM_BROADCAST,
    CONFIG_STORM_MULTICAST,
    CONFIG_STORM_UNKNOWN, /* to one station, which the switch does not know */
    CONFIG_STORM_KINDS
};

struct config_storm {
    uint32_t frames[CONFIG_STORM_KINDS]; /* a second, that a port lets in; 0: any number */
};

struct config_port {
    char name[CONFIG_NAME_MAX];     /* unique, printable, without spaces; by default "port0", ...; "": there
                                       is no port of this number (reload.h) */
    char device[CONFIG_DEVICE_MAX]; /* CONFIG_KERNEL_DEVICE and the name of a kernel interface; or for EAL's
                                       --vdev (net_memif0,role=server); or a PCI address with options, as
                                       DPDK writes it (0000:3a:00.0) */
    uint32_t rx_queues, tx_queues;  /* 1..SWAGG_MAX_QUEUES */
    struct config_impair impair;
    struct config_storm storm;
    uint32_t ecn_above;   /* bytes that wait to be sent, beyond which frames are marked; 0: never */
    uint32_t vlan;        /* of its untagged frames; 0: it has none */
    unsigned trunk_count; /* VLANs whose frames have a tag */
    uint32_t trunk[CONFIG_VLANS_MAX];
};

/* A network that the switch keeps apart from others. */
struct config_vlan {
    uint32_t id;
    uint32_t ip; /* of the switch in it, in network order; 0: none */
    uint8_t prefix;
};

struct config_pool {
    uint32_t slots_per_job;       /* the most that a job gets; a power of two */
    uint32_t slots;               /* of all jobs together; 0: as many as megabytes hold */
    uint32_t megabytes;           /* for all jobs' pools together */
    uint32_t megabytes_per_job;   /* 0: no bound but those on all */
    uint32_t kept_frames;         /* packet buffers that all jobs' pools together may keep, to sum in */
    uint32_t kept_frames_per_job; /* 0: no bound but those on all */
    bool delays;                  /* note by how much each rank is late (protocol/delays.h) */
};

struct config_limits {
    uint32_t jobs;          /* at once */
    uint32_t jobs_per_host; /* of these, founded from one IP address; 0: all but a quarter */
    uint32_t workers;       /* of one job */
};

struct config_timers {
    uint32_t lost_after_ms; /* silence after which a worker counts as lost */
    uint32_t late_after_ms; /* others have waited for so long for a worker that lives: the log names it */
    uint32_t late_ends_s;   /* and its job ends; 0: never */
    uint32_t forming_s;     /* how long a job may take to form */
    uint32_t mac_age_s;     /* silence after which the bridge forgets a station */
};

/* Which frames to 01:80:c2:00:00:0X pass. */
enum config_link_local {
    CONFIG_LINK_LOCAL_STP,         /* those of spanning trees, in which this switch takes no part */
    CONFIG_LINK_LOCAL_DROP,        /* none */
    CONFIG_LINK_LOCAL_TRANSPARENT, /* all but pause frames */
};

/* Loops that somebody has made by mistake. */
struct config_loops {
    bool find;        /* look for them by probes */
    uint32_t probe_s; /* how often it is looked for them unasked; 0: never */
    uint32_t block_s; /* how long a port is blocked; 0: not at all */
};

struct config_memory {
    enum config_memory_mode mode;
    uint32_t megabytes; /* for all of DPDK: pools, mbufs and rings */
};

struct config_idle {
    uint32_t spin;         /* empty polls before an lcore sleeps */
    uint32_t max_sleep_us; /* sleeps grow up to this; 0: never sleep */
    uint32_t until_due_us; /* the same where everything that comes ends them: more, unless the file says
                              max_sleep_us */
};

/* A job that nobody joins, for captures that are replayed over and over (swagg-pcap gen). Its first chunk has
 * tag 0; after slots * phases chunks, a power of two, tags start over. */
struct config_replay {
    uint32_t workers, slots, phases;
    uint32_t chunk_bytes; /* of elements in a packet, at most */
    enum xfer_format format;
    bool ordered;           /* contributions are added in rank order; else on arrival */
    struct agg_terms terms; /* made from these keys, as if they had been granted */
    uint8_t worker_mac[6];  /* of rank 0; the others count on from its MAC and IP ... */
    uint32_t worker_ip;     /* network order */
    uint32_t worker_port;
    int tenant;    /* by number; -1: nobody's */
    bool one_host; /* ... or from its port */
};

/* A station that is in a job without joining it. */
struct config_peer {
    uint8_t mac[6]; /* its router's, if there is one between */
    uint32_t ip;    /* network order */
    uint32_t port;  /* UDP; the first of its threads', the others count on from it */
};

/* How each job of the following lists begins, of which nobody joins one. */
struct config_fixed {
    char name[CONFIG_JOB_MAX]; /* unique, printable, without spaces */
    uint32_t vlan;             /* that its packets are in; 0: the first in which the switch has an address */
    uint8_t network;           /* the place of that in config.vlan */
    int tenant;                /* by number; -1: nobody's */
    uint32_t quiet_ms;         /* silence after which the job starts over; 0: it does not */
    bool added;                /* by an operator: it is in no file */
    struct agg_terms terms;    /* made from its list's keys, as if they had been granted */
    unsigned workers;
};

/* A job of published SwitchML clients. */
struct config_static {
    struct config_fixed common;
    uint32_t threads;        /* of each worker */
    uint32_t slots;          /* of each thread */
    uint32_t elements;       /* in a packet */
    enum xfer_format format; /* int32 or fp16, with exponents */
    bool ordered;            /* contributions are added in rank order; else on arrival */
    bool udp_checksum;       /* results have one; else 0 */
    struct config_peer worker[CONFIG_STATIC_WORKERS_MAX]; /* by rank */
};

/* A job of workers that send their gradients to a host, which the switch sums in its place. */
struct config_hostagg {
    struct config_fixed common;
    uint32_t number;         /* on the wire */
    struct config_peer host; /* port: that the workers send to */
    enum hag_host host_gets;
    uint32_t slots;
    uint32_t elements;                                    /* in a packet, at most */
    struct config_peer worker[CONFIG_STATIC_WORKERS_MAX]; /* by number */
};

/* A job of workers whose frames to a host pass by, and are summed without being touched. */
struct config_clone {
    struct config_fixed common;
    uint8_t host[6]; /* that the frames are sent to */
    uint32_t ether_type;
    uint32_t slots;
    uint32_t sequence_at, elements_at, match_at; /* bytes from the frame's beginning on */
    bool little;                                 /* the sequence number's byte order; else big endian */
    uint8_t match[CLN_MATCH_MAX], match_bytes;   /* a frame of gradients has these at match_at; 0: any */
    uint32_t elements;
    uint32_t missing_after_ms;
    bool has_collector;
    struct config_peer collector;                /* that gets sums and reports */
    uint8_t worker[CONFIG_CLONE_WORKERS_MAX][6]; /* by number */
};

/* A worker of published SwitchML's RDMA clients. */
struct config_rdma_peer {
    uint8_t mac[6]; /* its router's, if there is one between */
    uint32_t ip;    /* network order */
    uint32_t rkey;
    unsigned queue_pairs; /* in all these ranges */
    unsigned ranges;
    struct config_range {
        uint32_t first, last; /* numbers of queue pairs */
    } range[RCE_MAX_QUEUE_PAIRS];
};

/* A job of published SwitchML's RDMA clients. */
struct config_roce {
    struct config_fixed common;
    uint32_t packet_elements, message_elements;
    struct config_rdma_peer worker[RCE_MAX_WORKERS]; /* by rank */
    struct rce_member member[RCE_MAX_WORKERS];       /* made from these */
};

/* The addresses whose masked value is network; network order. */
struct config_network {
    uint32_t network, mask;
};

/* Names of jobs: those that fit one of these patterns, as in fnmatch(3). */
struct config_patterns {
    unsigned n;
    char text[CONFIG_PATTERNS_MAX][CONFIG_JOB_MAX];
};

/* What all jobs of a tenant may hold together; 0: no quota. */
struct config_quota {
    uint32_t jobs;
    uint32_t slots, megabytes; /* of the pool */
    uint32_t kept_frames;
};

/* Who shares the switch with others: whose processes these are, and which jobs they may join. */
struct config_tenant {
    char name[CONFIG_NAME_MAX]; /* unique, printable, without spaces */
    unsigned addresses;
    struct config_network address[CONFIG_TENANT_ADDRESSES_MAX]; /* of its hosts */
    struct config_patterns jobs;                                /* its jobs' names */
    char key_file[CONFIG_FILE_MAX];                             /* of its shared key; "": it has none */
    bool data_keys; /* with a key: the data packets of its jobs are keyed, not only its control messages */
    struct config_quota quota;
    uint32_t weight; /* its share of what the switch can do, beside others' weights */
};

/* A switch above this one, the parent, and the jobs in which this one is its worker. */
struct config_uplink {
    uint32_t parent; /* its address; network order */
    uint32_t via;    /* the router on the way to it, network order; 0: there is none */
    struct config_patterns jobs;
    uint64_t tenants;               /* bit t: jobs of tenant t */
    char key_file[CONFIG_FILE_MAX]; /* of the key that the parent knows us by; "": there is none */
    /* that it is in, as are its jobs' workers; 0: the first in which the switch has an address */
    uint32_t vlan;
    uint8_t network; /* the place of that in config.vlan */
};

/* What a switch on the way of ATP's packets has to add with. */
struct config_atp {
    uint32_t aggregators;   /* 0: nothing */
    uint32_t max_age_ms;    /* who is untouched for so long gives way */
    bool preempt;           /* a job of higher priority takes aggregators from others */
    uint32_t parts;         /* that aggregators are divided into; a job has one */
    double forward;         /* 0..1: the share of all chunks that is passed on */
    struct agg_terms terms; /* made from these keys, as if they had been granted; of chunks as long as mtu */
};

/* Of swagg-ps: a server that sums, in the place of a switch. */
struct config_server {
    uint32_t ip;      /* that workers send to, network order */
    uint32_t threads; /* 1..CONFIG_SERVER_THREADS_MAX; 0: as many as there are CPUs, but no more than that */
    uint32_t first_group, groups; /* IPv4 groups for jobs' results: the first, network order, and how many; 0:
                                     none */
    uint32_t group_ttl;           /* 1..255: how many networks these packets get into */
};

struct config {
    unsigned ports; /* 1..; of a server 0 */
    struct config_port port[SWAGG_MAX_PORTS];

    bool has_mac; /* false: the first port's MAC with the locally administered bit set */
    uint8_t mac[6];
    bool has_ip;    /* false: no control, no engine: the daemon is a plain L2 switch */
    uint32_t ip;    /* network order */
    uint8_t prefix; /* 1..32; 32 where none is given */
    /* 0: ports carry none, and tags mean nothing here. Else has_ip, ip, prefix are the first's */
    unsigned vlans;
    struct config_vlan vlan[CONFIG_VLANS_MAX]; /* those in which the switch has an address come first */

    bool has_placement; /* false: use placement_default once the CPUs are known */
    struct placement placement;

    enum config_link_local link_local;
    uint32_t mtu;         /* longest IP packet that ports carry, in bytes */
    uint32_t tx_delay_us; /* that a frame may wait for others to the same port */
    struct config_pool pool;
    struct config_limits limits;
    struct config_timers timers;
    struct config_memory memory;
    struct config_idle idle;
    struct config_loops loops;
    bool has_memory, has_idle, has_loops; /* in the file, so that who has no use for them can say so */
    struct config_control control;
    char state[CONFIG_FILE_MAX]; /* folder of what outlives a restart; "": nothing does */
    struct config_metrics metrics;
    enum log_level log_level;
    enum config_privileges privileges;
    uint64_t seed; /* of the impairments, and of atp.forward */

    unsigned tenants; /* 0: nobody may join. Without a list: one, everybody */
    unsigned leaving; /* after them, those that a reload has taken out while they had jobs (reload.h) */
    struct config_tenant tenant[CONFIG_TENANTS_MAX];

    unsigned uplinks;
    struct config_uplink uplink[SWAGG_MAX_UPLINKS]; /* the first that fits a job counts */

    unsigned static_jobs;
    struct config_static static_job[CONFIG_STATIC_JOBS_MAX];

    unsigned hostagg_jobs;
    struct config_hostagg hostagg[CONFIG_HOSTAGG_JOBS_MAX];

    unsigned clone_jobs;
    struct config_clone clone[CONFIG_CLONE_JOBS_MAX];

    unsigned roce_jobs;
    struct config_roce roce[CONFIG_ROCE_JOBS_MAX];

    struct config_atp atp;
    struct config_server server;

    unsigned replays;
    struct config_replay replay[CONFIG_REPLAYS_MAX]; /* their numbers on the wire are 0, 1, ... */
};

/* Whose it is, for messages. */
static inline const char *config_word(const struct config *c)
{
    return c->server.ip != 0 ? "server" : "switch";
}

/* Reads and checks a file. Returns 0, or after reporting everything that is wrong with it: -ENOENT, -EACCES,
 * ... (cannot be read), -EINVAL (not YAML, or not a good configuration), -ENOMEM. *c is unspecified on error.
 */
int config_load(struct config *c, const char *path, settings_report report, void *context);

/* The same of a server's file, which has no ports. */
int config_load_server(struct config *c, const char *path, settings_report report, void *context);

/* The same as config_load of a text; name stands for the file in messages. */
int config_load_text(struct config *c, const char *name, const char *text, settings_report report,
                     void *context);

/* The settings of a file as this one. */
const struct setting *config_settings(const struct config *c);

/* All settings, in Markdown: tables of docs/configuration.md. */
void config_print_settings(FILE *page);

/* Writes it as a file that makes it again, with defaults as comments. 0, or -ENOMEM. */
int config_write(FILE *to, const struct config *c);

/* A device (config_port.device) without its arguments, which follow a comma. */
void config_device_name(char name[CONFIG_DEVICE_MAX], const char *device);
/* Whether it is an interface of the kernel's. */
bool config_is_kernel_device(const char *device);
bool config_is_chip_device(const char *device);
/* Whether it is a PCI address, of a NIC of the switch's own. */
bool config_is_pci_device(const char *device);

/* What of this device another has, too, so that there cannot be both: its name, with which it begins, or
 * behind that its kernel interface; of *length. NULL: nothing. */
const char *config_device_clash(const char *device, const char *other, size_t *length);

/* Whether a name is one of those. */
bool config_fits(const struct config_patterns *patterns, const char *name);
/* Whether some name fits one of those and this pattern, too. A bracket is taken for any text: the answer may
 * be yes where it is no, and never the other way. */
bool config_could_fit(const struct config_patterns *patterns, const char *pattern);

/* The first tenant that a process at this address (network order) belongs to in a job of this name; -1: it
 * may not join it. key: the tenant whose key it has, which then is the only one; -1: none, and a job of a
 * name that a tenant with a key has is closed to it. */
int config_tenant_of(const struct config *c, uint32_t ip, int key, const char *job);

/* The first tenant with a key that has jobs of this name; -1: none has. */
int config_key_owner(const struct config *c, const char *job);

/* A job of the configuration, which nobody joins, whichever list it is in. What is 0 does not concern it. */
struct config_job {
    const char *list;
    unsigned place;  /* in it */
    bool alone;      /* list is no list, but a group */
    bool may_change; /* it may come, go and be another while the switch runs */
    bool is_replay;  /* of captures */
    bool is_named;   /* by the configuration: nobody else may have this name */
    const char *name;
    const struct agg_terms *terms;
    int tenant; /* by number; -1: nobody's */
    uint8_t network;
    unsigned members;
    unsigned threads; /* of each */
    int number;       /* on the wire; -1: any */
    uint32_t quiet_ms;
    bool without_udp_sum; /* members get packets without UDP's checksum */
    uint16_t heard_from;  /* UDP port that members get packets from */
    /* Flows of packets to others that are the job's: UDP datagrams to this host, and whether it sends some to
     * the same port of the switch; frames of this type to a station. */
    const struct config_peer *host;
    bool host_asks;
    const uint8_t *station;
    uint16_t ether_type;
    struct agg_particulars particulars; /* of its members; they lie in the configuration */
};

/* A member of such a job; network order. */
struct config_member {
    uint8_t mac[6];
    uint16_t port; /* UDP */
    uint32_t ip;
    uint32_t hears_from; /* the address that it gets packets from; 0: the switch's */
};

/* How many such jobs the file has; job i of them, those first whose numbers on the wire depend on it; and
 * its member of this rank. */
unsigned config_jobs(const struct config *c);
struct config_job config_job(const struct config *c, unsigned i);
/* Which of all such jobs the one in this place of the list is. */
unsigned config_job_number(const struct config *c, const char *list, unsigned place);
struct config_member config_job_member(const struct config *c, const struct config_job *job, unsigned rank);

/* How many of them are this tenant's. */
unsigned config_jobs_of(const struct config *c, unsigned tenant);

/* Whether one of them that has a name is this tenant's, and has this one. */
bool config_has_job(const struct config *c, int tenant, const char *name);

/* The place of this VLAN in c->vlan; -1: it is none of the switch's. */
int config_find_vlan(const struct config *c, uint32_t id);

/* The uplink of a tenant's jobs of this name in this network; -1: this switch is their root. */
int config_uplink_of(const struct config *c, unsigned network, int tenant, const char *job);

/* Writes how many queues each port has. */
void config_queues(const struct config *c, struct placement_ports *ports);

/* Whether the machine has what a configuration asks of it: memory, the group of the socket for operators, and
 * no file in the place of the state's folder; else the log says all that it has not. */
bool machine_suits(const struct config *cfg);

/* The group of this name; (gid_t)-1 for "". -ENOENT: there is none, which the log says. */
int machine_group(gid_t *group, const char *name);

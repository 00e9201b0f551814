/* The parts of a configuration, each in a file of its own: the tables of its settings, and the checks of what
 * no table can say. A check may call on what those before it have filled in; each reports all that is wrong.
 */
#pragma once

#include "config/config.h"
#include "net/vlan.h"
#include "settings/settings.h"

extern const struct setting config_port_fields[], config_lcore_fields[], config_tenant_fields[],
    config_uplink_fields[], config_static_fields[], config_hostagg_fields[], config_clone_fields[],
    config_roce_fields[], config_replay_fields[], config_atp_fields[], config_server_fields[];

/* In this order, behind has_mac and has_ip. */
void config_check_ports(struct settings *s, struct config *c);
/* VLANs of ports, and switch.vlans. Sets has_ip, ip and prefix if ports carry any. */
void config_check_vlans(struct settings *s, struct config *c);
void config_check_lcores(struct settings *s, struct config *c);
void config_check_tenants(struct settings *s, struct config *c);
void config_check_uplinks(struct settings *s, struct config *c);
/* Each job of the lists of fixed jobs. */
void config_check_lists(struct settings *s, struct config *c);
void config_check_replay(struct settings *s, struct config *c);
void config_check_atp(struct settings *s, struct config *c);
/* That there is room for all jobs of the file, in the switch and in the quotas of their tenants. */
void config_check_jobs(struct settings *s, const struct config *c);
/* Only of a server's file. */
void config_check_server(struct settings *s, struct config *c);

/* Names of jobs, of a tenant or uplink; "*" if nothing is said. */
extern const struct setting config_pattern;
void config_complete_patterns(struct config_patterns *patterns);

/* Fields that all fixed jobs have; the number of the tenant and the network are put in by their check. */
/* clang-format off */
#define CONFIG_JOB_NAME(whole, effect, otherwise, more) {.key = "name", .type = SETTING_NAME, SETTING_AT(whole, common.name), \
     .most = CONFIG_JOB_MAX - 1, .when = (effect), .usual = (otherwise), \
     .meaning = "as logs, telemetry and `swaggctl` call the job; no other of the file has it" more}
#define CONFIG_JOB_QUIET(whole, words) {.key = "quiet_ms", SETTING_NUMBER_AT(whole, common.quiet_ms, 100, 600000, 0), \
     .unit = "ms", .usual = "`timers.lost_after_ms`", .meaning = (words)}
#define CONFIG_JOB_TENANT(whole, effect) {.key = "tenant", .type = SETTING_LATER, SETTING_AT(whole, common.tenant), \
     .most = CONFIG_NAME_MAX - 1, .when = (effect), .show = config_show_tenant, \
     .kind = "name of a [tenant](#tenants-a-list-up-to-64)", \
     .meaning = "whose job it is: what it holds counts against the tenant's `quota`, and it is served by the tenant's `weight`"}
#define CONFIG_JOB_VLAN(whole, effect, of) {.key = "vlan", SETTING_NUMBER_AT(whole, common.vlan, 1, NET_VLAN_LAST, 0), \
     .refusal = "is no VLAN", .when = (effect), .usual = "the first of `switch.vlans`", \
     .meaning = "the [VLAN](#vlans) " of}
/* clang-format on */
void config_show_tenant(char text[SETTING_SHOWN_MAX], const void *configuration, const void *tenant);

/* The number of the tenant that is named at path; -1: nothing is there, or there is no such tenant, which is
 * reported. */
int config_find_tenant(struct settings *s, const struct config *c, const char *path);

/* The network of the VLAN that path names, id; 0 if nothing is there. with_address: the switch must have an
 * address in it. */
uint8_t config_find_network(struct settings *s, const struct config *c, const char *path, uint32_t id,
                            bool with_address);

/* Of a list to which operators add while a switch runs, and whose jobs may come, go and be others by another
 * configuration: no two workers of jobs of one network may be the same to the switch. */
enum { CONFIG_WORDS_MAX = 80 };
struct config_open_list {
    bool (*same)(const void *job, unsigned worker, const void *other, unsigned others);
    /* What others may not have of a worker, for a message: "10.0.0.1 is", whose it is follows. */
    void (*words)(char text[CONFIG_WORDS_MAX], const void *job, unsigned worker);
    const char *remedy; /* what a message about it ends with */
};

/* What jobs.c has to know of a list of jobs that nobody joins. */
struct config_jobs_list {
    const char *key;
    size_t jobs;          /* offset of their number in struct config */
    size_t first, stride; /* of fixed jobs: offset of the first, from one to the next; else 0 */
    bool addressed;       /* their packets are sent to the switch's address */
    bool starts_over;     /* a job that has been quiet, by default for timers.lost_after_ms */
    bool alone;           /* it is one job, if that is not 0 */
    const char *title;    /* of jobs without a name of their own; else NULL */
    /* Of fixed jobs: checks one, and makes its terms. */
    void (*check)(struct settings *s, struct config *c, unsigned place);
    /* Fills in what the list says of a job. What fixed jobs have in common is there; of others terms, tenant
     * and members at least. */
    void (*job)(const struct config *c, unsigned place, struct config_job *job);
    struct config_member (*member)(const struct config *c, unsigned place,
                                   unsigned rank); /* NULL: no members */
    const struct config_open_list *open;           /* NULL: it is what the file says, until a restart */
};
#define CONFIG_FIXED_LIST(jobs_at, job_at)                                                                   \
    .jobs = offsetof(struct config, jobs_at), .first = offsetof(struct config, job_at),                      \
    .stride = sizeof(((struct config *)NULL)->job_at[0])
extern const struct config_jobs_list *const config_jobs_lists[]; /* to a NULL */
extern const struct config_jobs_list config_replay_jobs, config_static_jobs, config_hostagg_jobs,
    config_clone_jobs, config_roce_jobs, config_atp_jobs;
struct config_member config_member_of(const struct config_peer *peer);

/* How many a list has, and a job of a list of fixed ones. */
unsigned *config_count(const struct config *c, const struct config_jobs_list *list);
struct config_fixed *config_fixed(const struct config *c, const struct config_jobs_list *list,
                                  unsigned place);
/* Looks up its network and its tenant. with_address: the switch must have an address in that. */
void config_check_fixed(struct settings *s, struct config *c, const struct config_jobs_list *list,
                        unsigned place, bool with_address);
/* Reports a worker, at path, that is the same to the switch as an earlier one, of this job or of another. */
void config_check_distinct(struct settings *s, const struct config *c, const struct config_jobs_list *list,
                           unsigned place, unsigned worker, const char *path);
/* The first of so many workers of another job that is the same; -1: none is. */
int config_find_same(const struct config_open_list *open, const struct config_fixed *job, unsigned worker,
                     const struct config_fixed *other, unsigned workers);

/* A station with a UDP port. */
extern const struct setting config_peer_fields[];
/* Reports what is wrong with the station at path, which has so many UDP ports from its first on. */
void config_check_peer(struct settings *s, const struct config *c, const char *path, unsigned ports,
                       const struct config_peer *peer);

/* Type and operation of a job's elements in one byte (kernels.h), from the words of item i of a list; float32
 * and sum where they are absent. 0: they do not go together, which was reported. */
uint8_t config_find_code(struct settings *s, const char *list, unsigned i);
/* Of a setting whose value is the job's terms: the word of its type, or operation; "-": there are none. */
void config_show_type(char text[SETTING_SHOWN_MAX], const void *configuration, const void *terms);
void config_show_operation(char text[SETTING_SHOWN_MAX], const void *configuration, const void *terms);

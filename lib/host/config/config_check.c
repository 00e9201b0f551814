#include "config/config_check.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "atp/table.h"
#include "atp/terms.h"
#include "config/config_room.h"
#include "config/config_value.h"
#include "protocols.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct config_number numbers[] = {
    {"mtu", offsetof(struct config, mtu), 256, 9600, 1500},
    {"tx_delay_us", offsetof(struct config, tx_delay_us), 0, 1000, 0},
    {"pool.slots_per_job", offsetof(struct config, pool.slots_per_job), 2, 16384, 1024},
    {"pool.slots", offsetof(struct config, pool.slots), 0, 1 << 22, 0},
    {"pool.megabytes", offsetof(struct config, pool.megabytes), 1, 1 << 20, 64},
    {"pool.megabytes_per_job", offsetof(struct config, pool.megabytes_per_job), 0, 1 << 20, 0},
    {"pool.kept_frames", offsetof(struct config, pool.kept_frames), 0, 1 << 23, 4096},
    {"pool.kept_frames_per_job", offsetof(struct config, pool.kept_frames_per_job), 0, 1 << 23, 0},
    {"limits.jobs", offsetof(struct config, limits.jobs), 1, 256, 16},
    {"limits.jobs_per_host", offsetof(struct config, limits.jobs_per_host), 0, 256, 0},
    {"limits.workers", offsetof(struct config, limits.workers), 1, 1024, 64},
    {"timers.lost_after_ms", offsetof(struct config, timers.lost_after_ms), 100, 600000, 5000},
    {"timers.forming_s", offsetof(struct config, timers.forming_s), 1, 86400, 600},
    {"timers.mac_age_s", offsetof(struct config, timers.mac_age_s), 1, 86400, 300},
    {"loops.probe_s", offsetof(struct config, loops.probe_s), 0, 3600, 0},
    {"loops.block_s", offsetof(struct config, loops.block_s), 0, 86400, 60},
    {"memory.megabytes", offsetof(struct config, memory.megabytes), 1, 1 << 20, 320},
    {"atp.aggregators", offsetof(struct config, atp.aggregators), 0, 65536, 0},
    {"atp.max_age_ms", offsetof(struct config, atp.max_age_ms), 1, 60000, 1000},
    {"atp.parts", offsetof(struct config, atp.parts), 1, 64, 1},
    {"idle.spin", offsetof(struct config, idle.spin), 1, 1 << 30, 1000},
    {"idle.max_sleep_us", offsetof(struct config, idle.max_sleep_us), 0, 100000, 1000},
};

enum {
    SEED = 1,
    UNTIL_DUE_US = 100000,
    /* a thread shows so often that it is alive while silence makes a worker count as lost */
    SIGNS_PER_LOSS = 8,
    IP_UDP_BYTES = 20 + 8,
};

/* A bound in the file is one for all sleeps. */
static void set_naps(struct config_text *t, struct config *c)
{
    const uint64_t sign_us = c->timers.lost_after_ms * UINT64_C(1000) / SIGNS_PER_LOSS;

    c->idle.until_due_us = c->idle.max_sleep_us;
    if (!config_text_has(t, "idle.max_sleep_us"))
        c->idle.until_due_us = sign_us < UNTIL_DUE_US ? (uint32_t)sign_us : UNTIL_DUE_US;
}

static void set_defaults(struct config_text *t, struct config *c)
{
    config_default_numbers(t, "", c, numbers, COUNT(numbers));
    set_naps(t, c);
    if (!config_text_has(t, "loops.find"))
        c->loops.find = true;
    if (!config_text_has(t, "log_level"))
        c->log_level = CONFIG_LOG_NOTICE;
    if (!config_text_has(t, "seed"))
        c->seed = SEED;
    if (!config_text_has(t, "pool.delays"))
        c->pool.delays = true;
}

/* A job of the configuration, which nobody joins. */
struct fixed_job {
    const char *list, *name;
    unsigned place; /* in its list */
    const struct agg_terms *terms;
    unsigned members;
    int tenant;
};

/* Job i of all lists; false: there is none. */
static bool fixed_job(const struct config *c, unsigned i, struct fixed_job *job)
{
    const unsigned statics = c->static_jobs, hostaggs = statics + c->hostagg_jobs,
                   clones = hostaggs + c->clone_jobs;

    if (i < statics) {
        const struct config_static *s = &c->static_job[i];

        *job = (struct fixed_job){"static", s->name, i, &s->terms, s->workers, s->tenant};
    } else if (i < hostaggs) {
        const struct config_hostagg *h = &c->hostagg[i - statics];

        *job = (struct fixed_job){"hostagg", h->name, i - statics, &h->terms, config_hostagg_members(h),
                                  h->tenant};
    } else if (i < clones) {
        const struct config_clone *k = &c->clone[i - hostaggs];

        *job = (struct fixed_job){"clone",  k->name, i - hostaggs, &k->terms, k->workers + k->has_collector,
                                  k->tenant};
    } else if (i < clones + c->replays) {
        const struct config_replay *r = &c->replay[i - clones];

        *job = (struct fixed_job){"replay", "replay", i - clones, &r->terms, r->workers, r->tenant};
    } else if (i == clones + c->replays && c->atp.aggregators > 0) {
        *job = (struct fixed_job){"atp", "atp", 0, &c->atp.terms, 0, -1};
    } else {
        return false;
    }
    return true;
}

/* What its pool takes; false: a key is out of range, which was reported. */
static bool pool_of(const struct config *c, const struct fixed_job *job, struct agg_footprint *f)
{
    const struct agg_pool_config pool = {
        .workers = (uint16_t)job->members, .delays = c->pool.delays, .terms = *job->terms};

    return agg_protocol_find(job->terms->protocol)->footprint(&pool, f);
}

/* Nobody would notice if one of the jobs that nobody joins got no pool, so it is checked now that there is
 * room for all of them, in the pool of the switch and in the quotas of their tenants. */
static void check_room(struct config_text *t, const struct config *c)
{
    struct room_job running[CONFIG_FIXED_JOBS_MAX];
    struct room room = {.whose = "the switch",
                        .bytes = (uint64_t)c->pool.megabytes << 20,
                        .slots = c->pool.slots,
                        .bytes_a_job = (uint64_t)c->pool.megabytes_per_job << 20,
                        .tenants = c->tenants,
                        .tenant = c->tenant,
                        .job = running};
    char path[CONFIG_PATH_MAX], text[AGG_TEXT_MAX];
    struct agg_footprint f;
    struct fixed_job job;

    if (config_text_is_faulty(t, "pool") || config_text_is_faulty(t, "tenants"))
        return;
    for (unsigned i = 0; fixed_job(c, i, &job); i++) {
        if (config_text_is_faulty(t, job.list) || !pool_of(c, &job, &f))
            continue;
        running[room.jobs] =
            (struct room_job){.name = job.name, .tenant = job.tenant, .slots = f.slots, .bytes = f.bytes};
        if (!room_for(&room, &running[room.jobs], text)) {
            snprintf(path, sizeof(path), "%s[%u]", job.list, job.place);
            config_fault(t, strcmp(job.list, "atp") == 0 ? "atp" : path, "%s", text);
            return;
        }
        room.held += f.bytes;
        room.jobs++;
    }
}

unsigned config_jobs_of(const struct config *c, unsigned tenant)
{
    struct fixed_job job;
    unsigned jobs = 0;

    for (unsigned i = 0; fixed_job(c, i, &job); i++)
        jobs += job.tenant == (int)tenant;
    return jobs;
}

bool config_has_job(const struct config *c, int tenant, const char *name)
{
    const unsigned named = c->static_jobs + c->hostagg_jobs + c->clone_jobs;
    struct fixed_job job;

    for (unsigned i = 0; i < named && fixed_job(c, i, &job); i++)
        if (job.tenant == tenant && strcmp(job.name, name) == 0)
            return true;
    return false;
}

/* They always run, so they must fit into the quotas of their tenants. */
static void check_quotas(struct config_text *t, const struct config *c)
{
    for (unsigned tenant = 0; tenant < c->tenants; tenant++) {
        const unsigned jobs = config_jobs_of(c, tenant);
        char path[CONFIG_PATH_MAX];

        snprintf(path, sizeof(path), "tenants[%u].quota.jobs", tenant);
        if (c->tenant[tenant].quota.jobs != 0 && jobs > c->tenant[tenant].quota.jobs)
            config_fault(t, path, "%s has %u jobs in this file, more than the quota of %u: raise it",
                         c->tenant[tenant].name, jobs, c->tenant[tenant].quota.jobs);
    }
}

/* What neighbours say to one another over a cable makes no sense if several hear it. */
static void check_link_local(struct config_text *t, const struct config *c)
{
    if (c->link_local == CONFIG_LINK_LOCAL_TRANSPARENT && c->ports != 2)
        config_fault(t, "switch.link_local",
                     "transparent is for a switch with two ports, which stands for a cable; this one has %u: "
                     "write stp, or drop",
                     c->ports);
}

static void check_atp(struct config_text *t, const struct config *c)
{
    if (c->atp.parts > 1 && c->atp.parts > c->atp.aggregators)
        config_fault(t, "atp.parts", "%u parts of %u aggregators: there must be one in each, atp.aggregators",
                     c->atp.parts, c->atp.aggregators);
    if (!(c->atp.forward >= 0 && c->atp.forward <= 1)) /* false for NaN, too */
        config_fault(t, "atp.forward", "%g is not a share (0..1)", c->atp.forward);
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_atp_terms(struct config *c)
{
    const uint32_t room = (c->mtu - IP_UDP_BYTES - ATP_HEADER_BYTES) / 4 * 4;
    const struct atp_switch_terms terms = {
        .aggregators = c->atp.aggregators,
        .chunk_bytes = (uint16_t)(room < ATP_MAX_CHUNK_BYTES ? room : ATP_MAX_CHUNK_BYTES),
        .max_age_ns = c->atp.max_age_ms * UINT64_C(1000000),
        .preempt = c->atp.preempt,
        .parts = (uint16_t)c->atp.parts,
        .forward_ppm = (uint32_t)(c->atp.forward * ATP_ALL_CHUNKS + 0.5),
        .seed = c->seed};

    atp_switch_terms_build(&c->atp.terms, &terms);
}

void config_check(struct config_text *t, struct config_raw *raw)
{
    struct config *c = &raw->config;

    set_defaults(t, c);
    config_check_ports(t, c);
    c->has_mac = config_text_has(t, "switch.mac");
    if (c->has_mac)
        config_parse_mac(t, "switch.mac", raw->sw.mac, c->mac);
    c->has_ip = config_text_has(t, "switch.ip");
    if (c->has_ip)
        config_parse_ip(t, "switch.ip", raw->sw.ip, &c->ip, &c->prefix);
    config_check_vlans(t, raw);
    c->link_local = raw->sw.link_local;
    check_link_local(t, c);
    if (config_text_has(t, "lcores"))
        config_check_lcores(t, raw);
    config_check_numbers(t, "", c, numbers, COUNT(numbers));
    config_check_power_of_two(t, "pool.slots_per_job", c->pool.slots_per_job);
    config_check_control(t, raw);
    config_check_tenants(t, raw);
    config_check_uplinks(t, raw);
    config_check_static(t, raw);
    config_check_hostagg(t, raw);
    config_check_clone(t, raw);
    config_check_replay(t, raw);
    check_atp(t, c);
    make_atp_terms(c);
    check_room(t, c);
    check_quotas(t, c);
}

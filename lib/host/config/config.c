/* The settings of a file as a whole, of a switch's and of a server's; and how one is loaded. */
#include "config/config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config_parts.h"
#include "settings/page.h"
#include "settings/values.h"
#include "settings/write.h"

enum {
    MODE_MAX = 0777,
    UNTIL_DUE_US = 100000,
    /* a thread shows so often that it is alive while silence makes a worker count as lost */
    SIGNS_PER_LOSS = 8,
};

/* The settings */

static const struct setting_word link_locals[] = {{"stp", CONFIG_LINK_LOCAL_STP},
                                                  {"drop", CONFIG_LINK_LOCAL_DROP},
                                                  {"transparent", CONFIG_LINK_LOCAL_TRANSPARENT},
                                                  {NULL, 0}};
static const struct setting_word memory_modes[] = {{"auto", CONFIG_MEMORY_AUTO},
                                                   {"hugepages", CONFIG_MEMORY_HUGEPAGES},
                                                   {"no-huge", CONFIG_MEMORY_NO_HUGE},
                                                   {NULL, 0}};
static const struct setting_word privileges[] = {
    {"needed", CONFIG_PRIVILEGES_NEEDED}, {"all", CONFIG_PRIVILEGES_ALL}, {NULL, 0}};
static const struct setting_word log_levels[] = {{"error", LOG_LEVEL_ERROR},   {"warning", LOG_LEVEL_WARNING},
                                                 {"notice", LOG_LEVEL_NOTICE}, {"info", LOG_LEVEL_INFO},
                                                 {"debug", LOG_LEVEL_DEBUG},   {NULL, 0}};

static_assert(offsetof(struct config, prefix) - offsetof(struct config, ip) ==
                      offsetof(struct setting_address, prefix) &&
                  offsetof(struct config_vlan, prefix) - offsetof(struct config_vlan, ip) ==
                      offsetof(struct setting_address, prefix),
              "an address and its prefix are written together");

/* With VLANs it is the first one's, and said there. */
static void show_switch_ip(char text[SETTING_SHOWN_MAX], const void *configuration, const void *address)
{
    setting_show_address(text, configuration, address);
    if (((const struct config *)configuration)->vlans > 0)
        snprintf(text, SETTING_SHOWN_MAX, "-");
}

/* clang-format off */
static const struct setting vlan_fields[] = {
    {.key = "vlan", .required = true, SETTING_NUMBER_AT(struct config_vlan, id, 1, NET_VLAN_LAST, 0),
     .refusal = "is no VLAN", .meaning = "a VLAN that some port carries"},
    {.key = "ip", SETTING_ADDRESS, .required = true, SETTING_AT(struct config_vlan, ip),
     .meaning = "the switch's address in it, in the place of `switch.ip`; the same rules hold in each VLAN"},
    {.key = NULL},
};

static const struct setting switch_fields[] = {
    {.key = "mac", SETTING_MAC, .when = SETTING_RESTART, SETTING_AT(struct config, mac),
     .usual = "derived from the first port's",
     .meaning = "frames to it are for the switch itself; all others are switched"},
    {.key = "ip", .type = SETTING_PARSED, .when = SETTING_RESTART, SETTING_AT(struct config, ip), .most = 63,
     .parse = setting_parse_address, .show = show_switch_ip, .kind = "IPv4 address, optionally /prefix",
     .meaning = "the address that workers join and send to; it answers ARP and ping. Without it there is no aggregation"},
    {.key = "vlans", SETTING_LIST_AT(struct config, vlan, vlans, 1, CONFIG_VLANS_MAX), .when = SETTING_RESTART,
     .fields = vlan_fields, .meaning = "the switch's addresses, where ports carry [VLANs](#vlans)"},
    {.key = "link_local", .type = SETTING_WORD, SETTING_AT(struct config, link_local), .words = link_locals,
     .meaning = "which frames between neighbours pass: see [Frames for everybody](#frames-for-everybody)"},
    {.key = NULL},
};

/* Rows of tables of a switch and of a server. */
#define SLOTS_PER_JOB {.key = "slots_per_job", SETTING_NUMBER_AT(struct config_pool, slots_per_job, 2, 16384, 1024), \
     .power_of_two = true, .when = SETTING_NEW_JOBS, .unit = "slots", \
     .meaning = "what a job gets at most: about bandwidth × round trip / packet size. [More](#slots-per-job)"}
#define MEGABYTES {.key = "megabytes", SETTING_NUMBER_AT(struct config_pool, megabytes, 1, 1 << 20, 64), \
     .when = SETTING_NEW_JOBS, .unit = "MB", \
     .meaning = "for the slots of all jobs: two chunks a slot, *ordered* one a worker more, with sums on arrival two more"}
#define MEGABYTES_PER_JOB {.key = "megabytes_per_job", \
     SETTING_NUMBER_AT(struct config_pool, megabytes_per_job, 0, 1 << 20, 0), .when = SETTING_NEW_JOBS, .unit = "MB", \
     .meaning = "for the slots of one job; 0: no bound but those on all"}
#define DELAYS {.key = "delays", .type = SETTING_BOOL, .when = SETTING_NEW_JOBS, SETTING_AT(struct config_pool, delays), \
     .fallback = true, \
     .meaning = "note of each rank how much later than the first it comes, so that it can be told [who is late](#who-is-late)"}

static const struct setting pool_fields[] = {
    SLOTS_PER_JOB,
    {.key = "slots", SETTING_NUMBER_AT(struct config_pool, slots, 0, 1 << 22, 0), .when = SETTING_NEW_JOBS,
     .unit = "slots", .meaning = "of all jobs together; 0: as many as `pool.megabytes` has room for"},
    MEGABYTES,
    MEGABYTES_PER_JOB,
    {.key = "kept_frames", SETTING_NUMBER_AT(struct config_pool, kept_frames, 0, 1 << 23, 4096),
     .when = SETTING_RESTART, .unit = "frames",
     .meaning = "buffers set aside for sums to be made in, beside those to receive into. [More](#kept-frames)"},
    {.key = "kept_frames_per_job", SETTING_NUMBER_AT(struct config_pool, kept_frames_per_job, 0, 1 << 23, 0),
     .when = SETTING_NEW_JOBS, .unit = "frames",
     .meaning = "the most that one job may keep; 0: no bound but its part"},
    DELAYS,
    {.key = NULL},
};

static const struct setting limits_fields[] = {
    {.key = "jobs", SETTING_NUMBER_AT(struct config_limits, jobs, 1, 256, 16),
     .meaning = "jobs at once; after a restart of the switch those that ran before come first"},
    {.key = "jobs_per_host", SETTING_NUMBER_AT(struct config_limits, jobs_per_host, 0, 256, 0),
     .meaning = "of these, jobs that were founded from one IP address; 0: all but a quarter. [More](#jobs-per-host)"},
    {.key = "workers", SETTING_NUMBER_AT(struct config_limits, workers, 1, 1024, 64),
     .meaning = "workers of one job. [What a large one costs](#large-jobs), [how many were tried](scale.md#limits)"},
    {.key = NULL},
};

#define LOST_AFTER_MS {.key = "lost_after_ms", SETTING_NUMBER_AT(struct config_timers, lost_after_ms, 100, 600000, 5000), \
     .when = SETTING_RESTART, .unit = "ms", \
     .meaning = "a worker that is silent for so long is lost, and its job fails with its rank in the message"}
#define LATE_AFTER_MS {.key = "late_after_ms", SETTING_NUMBER_AT(struct config_timers, late_after_ms, 100, 600000, 2000), \
     .unit = "ms", \
     .meaning = "a worker that lives, and that others have waited for so long, is named in the log, and again ever more rarely. [More](#late)"}
#define LATE_ENDS_S {.key = "late_ends_s", SETTING_NUMBER_AT(struct config_timers, late_ends_s, 0, 86400, 0), .unit = "s", \
     .meaning = "after so long its job fails, with its rank in the message; 0: never. [More](#late)"}
#define FORMING_S {.key = "forming_s", SETTING_NUMBER_AT(struct config_timers, forming_s, 1, 86400, 600), \
     .when = SETTING_NEW_JOBS, .unit = "s", \
     .meaning = "a new job whose ranks are not all there by then fails, and says who is missing"}

static const struct setting timers_fields[] = {
    LOST_AFTER_MS,
    LATE_AFTER_MS,
    LATE_ENDS_S,
    FORMING_S,
    {.key = "mac_age_s", SETTING_NUMBER_AT(struct config_timers, mac_age_s, 1, 86400, CONFIG_MAC_AGE_S), .unit = "s",
     .meaning = "a station that is silent for so long is forgotten, and frames to it are flooded again"},
    {.key = NULL},
};

static const struct setting memory_fields[] = {
    {.key = "mode", .type = SETTING_WORD, SETTING_AT(struct config_memory, mode), .words = memory_modes,
     .meaning = "hugepages if enough are free, else ordinary pages; or only the ones, or only the others. The log says which"},
    {.key = "megabytes", SETTING_NUMBER_AT(struct config_memory, megabytes, 1, 1 << 20, 320), .unit = "MB",
     .meaning = "for all of DPDK; `swagg --check` says how much if it is too little. [More](#memory)"},
    {.key = NULL},
};

static const struct setting idle_fields[] = {
    {.key = "spin", SETTING_NUMBER_AT(struct config_idle, spin, 1, 1 << 30, 1000), .unit = "polls",
     .meaning = "empty polls in a row before a thread begins to sleep; meanwhile it offers its CPU to other programs. [More](#sleep)"},
    {.key = "max_sleep_us", SETTING_NUMBER_AT(struct config_idle, max_sleep_us, 0, 100000, 1000), .unit = "µs",
     .meaning = "the longest sleep; 0: never sleep: least latency, a CPU always full. [More](#sleep)"},
    {.key = "max_sleep_us", .type = SETTING_MORE, SETTING_AT(struct config_idle, until_due_us)},
    {.key = NULL},
};

static const struct setting loops_fields[] = {
    {.key = "find", .type = SETTING_BOOL, SETTING_AT(struct config_loops, find), .fallback = true,
     .meaning = "look for [loops](#frames-for-everybody) by probes"},
    {.key = "probe_s", SETTING_NUMBER_AT(struct config_loops, probe_s, 0, 3600, 0), .unit = "s",
     .meaning = "how often every port is probed unasked; 0: never"},
    {.key = "block_s", SETTING_NUMBER_AT(struct config_loops, block_s, 0, 86400, 60), .unit = "s",
     .meaning = "how long a port with a loop behind it is blocked; 0: it is only reported"},
    {.key = NULL},
};
/* clang-format on */

/* An absolute path, or none. */
static void parse_control_path(struct settings *s, const char *path, const char *text, void *control)
{
    struct config_control *to = control;

    to->off = strcmp(text, CONFIG_CONTROL_NONE) == 0;
    if (to->off)
        return;
    if (text[0] != '/')
        settings_fault(s, path, "\"%s\" is neither an absolute path, nor " CONFIG_CONTROL_NONE, text);
    snprintf(to->path, sizeof(to->path), "%s", text);
}

static void show_control_path(char text[SETTING_SHOWN_MAX], const void *configuration, const void *control)
{
    const struct config_control *c = control;

    (void)configuration;
    snprintf(text, SETTING_SHOWN_MAX, "%s",
             c->off               ? CONFIG_CONTROL_NONE
             : c->path[0] == '\0' ? "-"
                                  : c->path);
}

/* Octal, as chmod takes it. */
static void parse_mode(struct settings *s, const char *path, const char *text, void *mode)
{
    const unsigned long value = strtoul(text, NULL, 8);

    if (strspn(text, "01234567") != strlen(text) || value > MODE_MAX)
        settings_fault(s, path, "\"%s\" is no mode of a file: three octal digits, such as \"660\"", text);
    *(uint32_t *)mode = (uint32_t)value;
}

static void show_mode(char text[SETTING_SHOWN_MAX], const void *configuration, const void *mode)
{
    (void)configuration;
    snprintf(text, SETTING_SHOWN_MAX, "%o", *(const uint32_t *)mode);
}

/* clang-format off */
static const struct setting control_fields[] = {
    {.key = "path", .type = SETTING_PARSED, .most = CONFIG_SOCKET_MAX - 1, .parse = parse_control_path,
     .show = show_control_path, .kind = "absolute path to 107 characters, or `none`",
     .usual = "`/run/swagg/NAME.ctl`",
     .meaning = "where it is; NAME is the file prefix, `swagg` unless chosen (`--file-prefix`). `none`: no socket"},
    {.key = "mode", .type = SETTING_PARSED, SETTING_AT(struct config_control, mode), .most = 15, .parse = parse_mode,
     .show = show_mode, .initial = "660", .kind = "octal digits", .meaning = "permissions of the file"},
    {.key = "group", .type = SETTING_TEXT, SETTING_AT(struct config_control, group), .most = CONFIG_NAME_MAX - 1,
     .kind = "name of a group", .usual = "the process's", .meaning = "group of the file"},
    {.key = NULL},
};
/* clang-format on */

/* "10.77.0.1:9273" */
static void parse_teller(struct settings *s, const char *path, const char *text, void *teller)
{
    struct config_teller *to = teller;
    const char *colon = strrchr(text, ':');
    char alone[INET_ADDRSTRLEN];
    const unsigned long port = colon == NULL ? 0 : strtoul(colon + 1, NULL, 10);

    snprintf(alone, sizeof(alone), "%.*s", (int)(colon == NULL ? 0 : colon - text), text);
    if (colon == NULL || colon - text >= (ptrdiff_t)sizeof(alone) ||
        inet_pton(AF_INET, alone, &to->ip) != 1 || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        port < 1 || port > UINT16_MAX) {
        settings_fault(s, path, "\"%s\" is no IPv4 address with a TCP port, like 127.0.0.1:9273", text);
        return;
    }
    to->port = (uint32_t)port;
}

static void show_teller(char text[SETTING_SHOWN_MAX], const void *configuration, const void *teller)
{
    const struct config_teller *t = teller;
    const uint8_t *b = (const uint8_t *)&t->ip;

    (void)configuration;
    snprintf(text, SETTING_SHOWN_MAX, t->port == 0 ? "-" : "%u.%u.%u.%u:%u", b[0], b[1], b[2], b[3], t->port);
}

static const struct setting tree_item = {
    .type = SETTING_PARSED, .most = 63, .parse = parse_teller, .show = show_teller, .kind = "the same"};

/* clang-format off */
static const struct setting metrics_fields[] = {
    {.key = "listen", .type = SETTING_PARSED, SETTING_AT(struct config_metrics, at), .most = 63, .parse = parse_teller, .show = show_teller,
     .kind = "IPv4 address and TCP port, as in 127.0.0.1:9273", .usual = "nowhere",
     .meaning = "where `/metrics` is told; whoever reaches it can read it, so an address of a network of operators' own. `0.0.0.0`: every address of the machine. `swagg` opens no port below 1024, unless `privileges: all`"},
    {.key = "ranks", SETTING_NUMBER_AT(struct config_metrics, ranks, 1, 16384, 1024), .unit = "ranks",
     .meaning = "of all jobs together that have series of their own at most; jobs have equal parts, and each its latest ranks"},
    {.key = "tree", SETTING_LIST_AT(struct config_metrics, tree, switches, 1, CONFIG_TREE_MAX), .item = &tree_item,
     .usual = "none", .meaning = "`metrics.listen` of the switches of its tree, as `swaggctl tree` reaches them; the same list does for all of them, since each finds itself there"},
    {.key = NULL},
};

#define METRICS {.key = "metrics", .type = SETTING_GROUP, .when = SETTING_RESTART, SETTING_AT(struct config, metrics), \
     .fields = metrics_fields, .title = "`metrics`: group"}
#define MTU {.key = "mtu", SETTING_NUMBER_AT(struct config, mtu, 256, 9600, 1500), .when = SETTING_RESTART, .unit = "bytes", \
     .meaning = "longest IP packet that ports carry; longer frames are dropped as `oversize`. [More](#mtu)"}
#define LIMITS {.key = "limits", .type = SETTING_GROUP, SETTING_AT(struct config, limits), .fields = limits_fields}
#define TENANTS {.key = "tenants", SETTING_LIST_AT(struct config, tenant, tenants, 0, CONFIG_TENANTS_MAX), .named = true, \
     .fields = config_tenant_fields, .title = "`tenants`: a list, up to 64"}
#define CONTROL {.key = "control", .type = SETTING_GROUP, .when = SETTING_RESTART, SETTING_AT(struct config, control), \
     .fields = control_fields, .title = "`control`: group"}
#define STATE {.key = "state", .type = SETTING_TEXT, .when = SETTING_RESTART, SETTING_AT(struct config, state), \
     .most = CONFIG_FILE_MAX - 1, .kind = "path of a folder", \
     .meaning = "where it keeps what outlives a restart, so that only ranks that were in a job can [resume](#state) it"}
#define LOG_LEVEL {.key = "log_level", .type = SETTING_WORD, SETTING_AT(struct config, log_level), .words = log_levels, \
     .fallback = LOG_LEVEL_NOTICE, \
     .meaning = "how much goes to standard error: a line an event, with the time in UTC. [More](#log)"}

static const struct setting switch_file[] = {
    {.key = "ports", SETTING_LIST_AT(struct config, port, ports, 1, SWAGG_MAX_PORTS), .required = true, .named = true,
     .fields = config_port_fields, .title = "`ports`: a list, 1 to 64, required"},
    {.key = "switch", .type = SETTING_GROUP, .fields = switch_fields, .title = "`switch`: group"},
    {.key = "lcores", SETTING_LIST_AT(struct config, placement.lcore, placement.lcores, 1, SWAGG_MAX_LCORES),
     .fields = config_lcore_fields, .title = "`lcores`: a list, 1 to 64"},
    MTU,
    {.key = "tx_delay_us", SETTING_NUMBER_AT(struct config, tx_delay_us, 0, 1000, 0), .unit = "µs",
     .meaning = "how long a frame may wait for more to the same port, while there is other work. [More](#tx-delay)"},
    {.key = "pool", .type = SETTING_GROUP, SETTING_AT(struct config, pool), .fields = pool_fields},
    LIMITS,
    TENANTS,
    {.key = "uplink", SETTING_LIST_AT(struct config, uplink, uplinks, 1, SWAGG_MAX_UPLINKS),
     .fields = config_uplink_fields, .title = "`uplink`: a list, 1 to 4"},
    {.key = "timers", .type = SETTING_GROUP, SETTING_AT(struct config, timers), .fields = timers_fields},
    {.key = "memory", .type = SETTING_GROUP, .when = SETTING_RESTART, SETTING_AT(struct config, memory),
     .fields = memory_fields},
    {.key = "idle", .type = SETTING_GROUP, SETTING_AT(struct config, idle), .fields = idle_fields},
    {.key = "loops", .type = SETTING_GROUP, SETTING_AT(struct config, loops), .fields = loops_fields},
    CONTROL,
    METRICS,
    STATE,
    {.key = "atp", .type = SETTING_GROUP, .when = SETTING_RESTART, SETTING_AT(struct config, atp),
     .fields = config_atp_fields, .title = "`atp`: group"},
    LOG_LEVEL,
    {.key = "privileges", .type = SETTING_WORD, .when = SETTING_RESTART, SETTING_AT(struct config, privileges), .words = privileges,
     .meaning = "which capabilities the daemon keeps once it has started: those that its ports need, or all that it has. [More](#privileges)"},
    {.key = "seed", SETTING_NUMBER_AT(struct config, seed, 0, UINT64_MAX, 1),
     .meaning = "of the impairments, and of `atp.forward`"},
    {.key = "static", SETTING_LIST_AT(struct config, static_job, static_jobs, 1, CONFIG_STATIC_JOBS_MAX),
     .named = true, .leaves = SETTING_WHEN_QUIET, .fields = config_static_fields,
     .title = "`static`: a list, 1 to 16"},
    {.key = "hostagg", SETTING_LIST_AT(struct config, hostagg, hostagg_jobs, 1, CONFIG_HOSTAGG_JOBS_MAX),
     .named = true, .when = SETTING_RESTART, .arrives = SETTING_RESTART, .leaves = SETTING_RESTART,
     .fields = config_hostagg_fields, .title = "`hostagg`: a list, 1 to 256"},
    {.key = "clone", SETTING_LIST_AT(struct config, clone, clone_jobs, 1, CONFIG_CLONE_JOBS_MAX), .named = true,
     .when = SETTING_RESTART, .arrives = SETTING_RESTART, .leaves = SETTING_RESTART, .fields = config_clone_fields,
     .title = "`clone`: a list, 1 to 256"},
    {.key = "roce", SETTING_LIST_AT(struct config, roce, roce_jobs, 1, CONFIG_ROCE_JOBS_MAX), .named = true,
     .leaves = SETTING_WHEN_QUIET, .fields = config_roce_fields,
     .title = "`roce`: a list, 1 to 4"},
    {.key = "replay", SETTING_LIST_AT(struct config, replay, replays, 1, CONFIG_REPLAYS_MAX), .when = SETTING_RESTART,
     .fields = config_replay_fields, .title = "`replay`: a list, 1 to 16"},
    {.key = NULL},
};

static const struct setting server_pool_fields[] = {SLOTS_PER_JOB, MEGABYTES, MEGABYTES_PER_JOB, DELAYS, {.key = NULL}};
static const struct setting server_timers_fields[] = {LOST_AFTER_MS, LATE_AFTER_MS, LATE_ENDS_S, FORMING_S, {.key = NULL}};

static const struct setting server_file[] = {
    {.key = "server", .type = SETTING_GROUP, .required = true, .when = SETTING_RESTART,
     SETTING_AT(struct config, server), .fields = config_server_fields, .title = "`server`: group"},
    MTU,
    {.key = "pool", .type = SETTING_GROUP, SETTING_AT(struct config, pool), .fields = server_pool_fields},
    LIMITS,
    TENANTS,
    {.key = "timers", .type = SETTING_GROUP, SETTING_AT(struct config, timers), .fields = server_timers_fields},
    CONTROL,
    METRICS,
    STATE,
    LOG_LEVEL,
    {.key = NULL},
};
/* clang-format on */

const struct setting *config_settings(const struct config *c)
{
    return c->server.ip != 0 ? server_file : switch_file;
}

int config_write(FILE *to, const struct config *c)
{
    fputs("# What is in force. Keys behind a # were not set, and have these values.\n", to);
    return settings_write(to, config_settings(c), c, sizeof(*c));
}

void config_print_settings(FILE *page)
{
    settings_print(page, "Numbers and words", switch_file, SETTING_AT_ONCE);
    settings_print(page, "`server`: group", config_server_fields, SETTING_RESTART);
}

/* Loading */

/* What a file is about: its settings, and what they must keep to. */
struct kind {
    const struct setting *table;
    const char *own, *others; /* a key that every such file has, and one of the other kind's */
    const char *instead;      /* what that other file is for */
    const char *least;        /* what does in the place of an empty one */
};

static const struct kind of_switch = {
    .table = switch_file,
    .own = "ports",
    .others = "server",
    .instead = "this is the file of a server: swagg-ps takes it. A switch has `ports`",
    .least = "ports: [{device: kernel:eth0}]",
};
static const struct kind of_server = {
    .table = server_file,
    .own = "server",
    .others = "ports",
    .instead = "this is the file of a switch: swagg takes it, or swagg-tofino. A server has `server`",
    .least = "server: {ip: 10.0.0.1}",
};

/* A bound in the file is one for all sleeps. */
static void set_naps(struct settings *s, struct config *c)
{
    const uint64_t sign_us = c->timers.lost_after_ms * UINT64_C(1000) / SIGNS_PER_LOSS;

    c->idle.until_due_us = c->idle.max_sleep_us;
    if (!settings_has(s, "idle.max_sleep_us"))
        c->idle.until_due_us = sign_us < UNTIL_DUE_US ? (uint32_t)sign_us : UNTIL_DUE_US;
}

/* What neighbours say to one another over a cable makes no sense if several hear it. */
static void check_link_local(struct settings *s, const struct config *c)
{
    if (c->link_local == CONFIG_LINK_LOCAL_TRANSPARENT && c->ports != 2)
        settings_fault(s, "switch.link_local",
                       "transparent is for a switch with two ports, which stands for a cable; this one has "
                       "%u: write stp, or drop",
                       c->ports);
}

/* Somebody is to be able to look before it is too late. */
static void check_late(struct settings *s, const struct config_timers *t)
{
    if (t->late_ends_s > 0 && t->late_ends_s * UINT64_C(1000) <= t->late_after_ms)
        settings_fault(
            s, "timers.late_ends_s",
            "%u s is not longer than timers.late_after_ms, %u: a late worker is named first, and ends "
            "its job later",
            t->late_ends_s, t->late_after_ms);
}

static void check(struct settings *s, struct config *c)
{
    c->has_mac = settings_has(s, "switch.mac");
    c->has_ip = settings_has(s, "switch.ip");
    c->has_memory = settings_has(s, "memory");
    c->has_idle = settings_has(s, "idle");
    c->has_loops = settings_has(s, "loops");
    set_naps(s, c);
    config_check_ports(s, c);
    config_check_vlans(s, c);
    check_link_local(s, c);
    check_late(s, &c->timers);
    config_check_lcores(s, c);
    config_check_tenants(s, c);
    config_check_uplinks(s, c);
    config_check_lists(s, c);
    config_check_replay(s, c);
    config_check_atp(s, c);
    config_check_jobs(s, c);
}

/* What a server's file has no keys for is as in a switch's that says nothing. */
static int read_settings(struct config *c, struct settings *s, const struct kind *kind)
{
    memset(c, 0, sizeof(*c));
    if (settings_has(s, kind->others) && !settings_has(s, kind->own)) {
        settings_fault(s, kind->others, "%s", kind->instead);
        return -EINVAL;
    }
    settings_default(s, switch_file, c);
    settings_read(s, kind->table, c);
    check(s, c);
    if (kind == &of_server)
        config_check_server(s, c);
    return s->faults > 0 ? -EINVAL : 0;
}

/* rc: of opening s, which is closed here. */
static int load(struct config *c, struct settings *s, int rc, const struct kind *kind)
{
    if (rc < 0)
        return rc;
    rc = read_settings(c, s, kind);
    settings_close(s);
    return rc;
}

int config_load(struct config *c, const char *path, settings_report report, void *context)
{
    struct settings s;

    return load(c, &s, settings_open(&s, path, of_switch.least, report, context), &of_switch);
}

int config_load_server(struct config *c, const char *path, settings_report report, void *context)
{
    struct settings s;

    return load(c, &s, settings_open(&s, path, of_server.least, report, context), &of_server);
}

int config_load_text(struct config *c, const char *name, const char *text, settings_report report,
                     void *context)
{
    struct settings s;

    return load(c, &s, settings_take(&s, name, text, report, context), &of_switch);
}

static bool has_memory(const char *key, uint32_t megabytes)
{
    const uint64_t here = ((uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE)) >> 20;

    if (megabytes <= here)
        return true;
    log_error("%s: %u is more than this machine's memory, which is %llu MB", key, megabytes,
              (unsigned long long)here);
    return false;
}

/* A folder that is not there may come yet: systemd makes that of a service. */
static bool has_folder(const char *state)
{
    struct stat found;

    if (state[0] == '\0' || stat(state, &found) < 0 || S_ISDIR(found.st_mode))
        return true;
    log_error("state: %s is no folder: name one, such as /var/lib/swagg/NAME", state);
    return false;
}

bool machine_suits(const struct config *cfg)
{
    const bool memory = cfg->ports > 0 ? has_memory("memory.megabytes", cfg->memory.megabytes)
                                       : has_memory("pool.megabytes", cfg->pool.megabytes);
    const bool folder = has_folder(cfg->state);
    gid_t group;

    return machine_group(&group, cfg->control.off ? "" : cfg->control.group) == 0 && memory && folder;
}

int machine_group(gid_t *group, const char *name)
{
    const struct group *found = name[0] == '\0' ? NULL : getgrnam(name);

    *group = found == NULL ? (gid_t)-1 : found->gr_gid;
    if (name[0] == '\0' || found != NULL)
        return 0;
    return log_fail(-ENOENT,
                    "control.group: there is no group %s on this machine: groupadd %s, or name another", name,
                    name);
}

/* The list of jobs of published SwitchML's RDMA clients, which do not join. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/config_parts.h"
#include "roce/terms.h"
#include "settings/values.h"

enum { HEADERS_BYTES = ROCE_IP_UDP_BYTES + ROCE_HEADERS_MAX + ROCE_ICRC_BYTES, ELEMENT_BYTES = 4 };

static void parse_range(struct settings *s, const char *path, const char *text, void *value);
static void show_range(char text[SETTING_SHOWN_MAX], const void *configuration, const void *value);

static const struct setting range = {.type = SETTING_PARSED,
                                     .most = 47,
                                     .parse = parse_range,
                                     .show = show_range,
                                     .kind = "numbers and ranges, as in `[0x11-0x50, 99]`"};

/* clang-format off */
static const struct setting worker_fields[] = {
    {.key = "ip", SETTING_IP, .required = true, SETTING_AT(struct config_rdma_peer, ip),
     .meaning = "where its packets come from, and sums go to; each in one job only"},
    {.key = "mac", SETTING_MAC, .required = true, SETTING_AT(struct config_rdma_peer, mac),
     .meaning = "the same; the router's if there is one between"},
    {.key = "rkey", SETTING_NUMBER_AT(struct config_rdma_peer, rkey, 0, UINT32_MAX, 0), .required = true,
     .meaning = "of its registered memory: sums are written with it"},
    {.key = "queue_pairs", SETTING_LIST_AT(struct config_rdma_peer, range, ranges, 1, RCE_MAX_QUEUE_PAIRS),
     .required = true, .item = &range,
     .meaning = "the numbers of its queue pairs (QPNs), 1 to 256 of them, in the order of their indices; all workers have as many"},
    {.key = NULL},
};

const struct setting config_roce_fields[] = {
    {.key = "name", .type = SETTING_NAME, .when = SETTING_WHEN_QUIET, SETTING_AT(struct config_roce, name),
     .most = CONFIG_JOB_MAX - 1, .usual = "`roce[0]`, ...", .meaning = "as logs, telemetry and `swaggctl` call the job"},
    {.key = "workers", SETTING_LIST_AT(struct config_roce, worker, workers, 1, RCE_MAX_WORKERS),
     .required = true, .when = SETTING_WHEN_QUIET, .fields = worker_fields, .meaning = "the workers, in the order of their ranks"},
    {.key = "packet_elements", SETTING_NUMBER_AT(struct config_roce, packet_elements, 32, 256, 256), .power_of_two = true,
     .when = SETTING_WHEN_QUIET, .meaning = "in each packet (`packet_numel`): the MTU of the workers' queue pairs has 4 bytes for each"},
    {.key = "message_elements", SETTING_NUMBER_AT(struct config_roce, message_elements, 32, 16384, 1024), .power_of_two = true,
     .when = SETTING_WHEN_QUIET, .meaning = "in each message (`msg_numel`): 1 to 64 packets"},
    {.key = "quiet_ms", SETTING_NUMBER_AT(struct config_roce, quiet_ms, 100, 600000, 0), .unit = "ms",
     .usual = "`timers.lost_after_ms`",
     .meaning = "when for so long nothing was heard that belongs to what the job is doing, it starts over: workers that were started anew wait for so long"},
    CONFIG_JOB_TENANT(struct config_roce, SETTING_WHEN_QUIET),
    CONFIG_JOB_VLAN(struct config_roce, SETTING_WHEN_QUIET, "that its workers are in"),
    {.key = NULL},
};
/* clang-format on */

/* The number at *text, which is moved behind it; false: there is none. */
static bool take_number(const char **text, unsigned long *number)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return false;
    *number = strtoul(*text, &end, 0);
    *text = end;
    return true;
}

static void parse_range(struct settings *s, const char *path, const char *text, void *value)
{
    struct config_range *r = value;
    unsigned long first, last;
    const char *at = text;
    bool good = take_number(&at, &first);

    last = first;
    if (good && *at == '-') {
        at++;
        good = take_number(&at, &last);
    }
    if (!good || *at != '\0' || first > last || last >= ROCE_NUMBERS)
        settings_fault(s, path, "\"%s\" is no number or range below %d, like 0x11-0x50 or 99", text,
                       ROCE_NUMBERS);
    else
        *r = (struct config_range){.first = (uint32_t)first, .last = (uint32_t)last};
}

static void show_range(char text[SETTING_SHOWN_MAX], const void *configuration, const void *value)
{
    const struct config_range *r = value;

    (void)configuration;
    if (r->first == r->last)
        snprintf(text, SETTING_SHOWN_MAX, "0x%x", r->first);
    else
        snprintf(text, SETTING_SHOWN_MAX, "0x%x-0x%x", r->first, r->last);
}

/* Writes the numbers one by one, as far as there is room; returns how many there are. */
static unsigned list_queue_pairs(const struct config_rdma_peer *w, uint32_t number[RCE_MAX_QUEUE_PAIRS])
{
    unsigned n = 0;

    for (const struct config_range *r = w->range; r < w->range + w->ranges; r++)
        for (uint32_t i = r->first; i <= r->last; i++, n++)
            if (n < RCE_MAX_QUEUE_PAIRS)
                number[n] = i;
    return n;
}

static void check_lengths(struct settings *s, const struct config *c, const struct config_roce *r, unsigned i)
{
    const char *message = settings_path(s, "roce[%u].message_elements", i),
               *packet = settings_path(s, "roce[%u].packet_elements", i);
    const size_t bytes = r->packet_elements * ELEMENT_BYTES + HEADERS_BYTES;

    if (settings_are_faulty(s, message) || settings_are_faulty(s, packet))
        return;
    if (r->message_elements < r->packet_elements ||
        r->message_elements > r->packet_elements * RCE_MAX_PACKETS)
        settings_fault(s, message, "%u are not 1 to %d packets of %u", r->message_elements, RCE_MAX_PACKETS,
                       r->packet_elements);
    if (!settings_are_faulty(s, "mtu") && bytes > c->mtu)
        settings_fault(s, packet,
                       "%u make packets of %zu bytes, and mtu is %u: raise it, or have fewer elements",
                       r->packet_elements, bytes, c->mtu);
}

/* The first of so many workers of another job that has this one's address; -1: none has. */
static int find_same_address(const struct config_roce *job, const struct config_rdma_peer *worker,
                             const struct config_roce *others, unsigned workers)
{
    for (unsigned other = 0; other < workers; other++)
        if (others->network == job->network && others->worker[other].ip == worker->ip)
            return (int)other;
    return -1;
}

/* Workers are known by their addresses: no two of this network may have the same. Reports one that is an
 * earlier worker's, of this job or of another. */
static void check_distinct(struct settings *s, const struct config *c, unsigned i, unsigned rank,
                           const char *path)
{
    const struct config_roce *r = &c->roce[i];
    const uint8_t *ip = (const uint8_t *)&r->worker[rank].ip;

    for (unsigned j = 0; j <= i; j++) {
        const struct config_roce *others = &c->roce[j];
        const int other = find_same_address(r, &r->worker[rank], others, j < i ? others->workers : rank);

        if (other >= 0) {
            settings_fault(s, path, "%u.%u.%u.%u is roce[%u].workers[%d]'s, too", ip[0], ip[1], ip[2], ip[3],
                           j, other);
            return;
        }
    }
}

static void check_worker(struct settings *s, const struct config *c, unsigned i, unsigned rank)
{
    const struct config_roce *r = &c->roce[i];
    const struct config_rdma_peer *w = &r->worker[rank];
    const char *path = settings_path(s, "roce[%u].workers[%u]", i, rank);
    struct config_peer peer = {.ip = w->ip, .port = ROCE_PORT};

    memcpy(peer.mac, w->mac, sizeof(peer.mac));
    config_check_peer(s, c, path, 1, &peer);
    if (settings_are_faulty(s, path))
        return;
    if (w->queue_pairs > RCE_MAX_QUEUE_PAIRS)
        settings_fault(s, settings_path(s, "%s.queue_pairs", path), "are %u, and there are at most %d",
                       w->queue_pairs, RCE_MAX_QUEUE_PAIRS);
    else if (w->queue_pairs != r->worker[0].queue_pairs)
        settings_fault(s, settings_path(s, "%s.queue_pairs", path), "are %u, and workers[0] has %u",
                       w->queue_pairs, r->worker[0].queue_pairs);
    check_distinct(s, c, i, rank, path);
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_terms(struct config_roce *r)
{
    const struct rce_terms terms = {
        .queue_pairs = (uint16_t)r->worker[0].queue_pairs,
        .packet_bytes = (uint16_t)(r->packet_elements * ELEMENT_BYTES),
        .packets = (uint16_t)(r->packet_elements == 0 ? 0 : r->message_elements / r->packet_elements)};

    rce_terms_build(&r->terms, &terms);
}

static void check_job(struct settings *s, struct config *c, unsigned i)
{
    struct config_roce *r = &c->roce[i];

    config_check_name(s, "roce", c->roce[0].name, sizeof(*r), i);
    if (r->quiet_ms == 0)
        r->quiet_ms = c->timers.lost_after_ms;
    r->network = config_find_network(s, c, settings_path(s, "roce[%u].vlan", i), r->vlan, true);
    r->tenant = config_find_tenant(s, c, settings_path(s, "roce[%u].tenant", i));
    check_lengths(s, c, r, i);
    for (unsigned rank = 0; rank < r->workers; rank++) {
        r->member[rank].key = r->worker[rank].rkey;
        r->worker[rank].queue_pairs = list_queue_pairs(&r->worker[rank], r->member[rank].queue_pair);
        check_worker(s, c, i, rank);
    }
    make_terms(r);
}

void config_check_roce(struct settings *s, struct config *c)
{
    if (c->roce_jobs > 0 && !c->has_ip && !settings_are_faulty(s, "switch.ip"))
        settings_fault(s, "roce", "needs switch.ip, the address that the packets are sent to");
    for (unsigned i = 0; i < c->roce_jobs; i++)
        check_job(s, c, i);
}

static void describe(const struct config *c, unsigned place, struct config_job *job)
{
    const struct config_roce *r = &c->roce[place];

    job->name = r->name;
    job->terms = &r->terms;
    job->tenant = r->tenant;
    job->network = r->network;
    job->members = r->workers;
    job->quiet_ms = r->quiet_ms;
    job->particulars = (struct agg_particulars){r->member, r->workers * sizeof(r->member[0])};
}

/* Whatever port a NIC sends from, it hears at RoCE's. */
static struct config_member member(const struct config *c, unsigned place, unsigned rank)
{
    const struct config_rdma_peer *w = &c->roce[place].worker[rank];
    struct config_peer peer = {.ip = w->ip, .port = ROCE_PORT};

    memcpy(peer.mac, w->mac, sizeof(peer.mac));
    return config_member_of(&peer);
}

static int beside(const void *item, const void *other)
{
    const struct config_roce *job = item, *others = other;

    for (unsigned rank = 0; rank < job->workers; rank++) {
        const struct config_rdma_peer *worker = &job->worker[rank];
        const uint8_t *ip = (const uint8_t *)&worker->ip;

        if (find_same_address(job, worker, others, others->workers) >= 0)
            return log_fail(-EADDRINUSE, "roce[%s].workers[%u]: %u.%u.%u.%u is in job %s", job->name, rank,
                            ip[0], ip[1], ip[2], ip[3], others->name);
    }
    return 0;
}

static const struct config_open_list open_list = {.tenant = offsetof(struct config_roce, tenant),
                                                  .network = offsetof(struct config_roce, network),
                                                  .added = offsetof(struct config_roce, added),
                                                  .beside = beside};

const struct config_jobs_list config_roce_jobs = {.key = "roce",
                                                  .jobs = offsetof(struct config, roce_jobs),
                                                  .job = describe,
                                                  .member = member,
                                                  .open = &open_list};

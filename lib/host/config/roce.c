/* The list of jobs of published SwitchML's RDMA clients, which do not join. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    CONFIG_JOB_NAME(struct config_roce, SETTING_WHEN_QUIET, "`roce[0]`, ...", ""),
    {.key = "workers", SETTING_LIST_AT(struct config_roce, worker, common.workers, 1, RCE_MAX_WORKERS),
     .required = true, .when = SETTING_WHEN_QUIET, .fields = worker_fields, .meaning = "the workers, in the order of their ranks"},
    {.key = "packet_elements", SETTING_NUMBER_AT(struct config_roce, packet_elements, 32, 256, 256), .power_of_two = true,
     .when = SETTING_WHEN_QUIET, .meaning = "in each packet (`packet_numel`): the MTU of the workers' queue pairs has 4 bytes for each"},
    {.key = "message_elements", SETTING_NUMBER_AT(struct config_roce, message_elements, 32, 16384, 1024), .power_of_two = true,
     .when = SETTING_WHEN_QUIET, .meaning = "in each message (`msg_numel`): 1 to 64 packets"},
    CONFIG_JOB_QUIET(struct config_roce,
                     "when for so long nothing was heard that belongs to what the job is doing, it starts over: workers that were started anew wait for so long"),
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

/* Workers are known by their addresses. */
static bool same(const void *job, unsigned worker, const void *other, unsigned others)
{
    return ((const struct config_roce *)job)->worker[worker].ip ==
           ((const struct config_roce *)other)->worker[others].ip;
}

static void words(char text[CONFIG_WORDS_MAX], const void *job, unsigned worker)
{
    const uint8_t *ip = (const uint8_t *)&((const struct config_roce *)job)->worker[worker].ip;

    snprintf(text, CONFIG_WORDS_MAX, "%u.%u.%u.%u is", ip[0], ip[1], ip[2], ip[3]);
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
    config_check_distinct(s, c, &config_roce_jobs, i, rank, path);
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_terms(struct config_roce *r)
{
    const struct rce_terms terms = {
        .queue_pairs = (uint16_t)r->worker[0].queue_pairs,
        .packet_bytes = (uint16_t)(r->packet_elements * ELEMENT_BYTES),
        .packets = (uint16_t)(r->packet_elements == 0 ? 0 : r->message_elements / r->packet_elements)};

    rce_terms_build(&r->common.terms, &terms);
}

static void check_job(struct settings *s, struct config *c, unsigned i)
{
    struct config_roce *r = &c->roce[i];

    config_check_fixed(s, c, &config_roce_jobs, i, true);
    check_lengths(s, c, r, i);
    for (unsigned rank = 0; rank < r->common.workers; rank++) {
        r->member[rank].key = r->worker[rank].rkey;
        r->worker[rank].queue_pairs = list_queue_pairs(&r->worker[rank], r->member[rank].queue_pair);
        check_worker(s, c, i, rank);
    }
    make_terms(r);
}

static void describe(const struct config *c, unsigned place, struct config_job *job)
{
    const struct config_roce *r = &c->roce[place];

    job->particulars = (struct agg_particulars){r->member, r->common.workers * sizeof(r->member[0])};
}

/* Whatever port a NIC sends from, it hears at RoCE's. */
static struct config_member member(const struct config *c, unsigned place, unsigned rank)
{
    const struct config_rdma_peer *w = &c->roce[place].worker[rank];
    struct config_peer peer = {.ip = w->ip, .port = ROCE_PORT};

    memcpy(peer.mac, w->mac, sizeof(peer.mac));
    return config_member_of(&peer);
}

static const struct config_open_list open_list = {.same = same, .words = words, .remedy = ""};

const struct config_jobs_list config_roce_jobs = {.key = "roce",
                                                  CONFIG_FIXED_LIST(roce_jobs, roce),
                                                  .addressed = true,
                                                  .starts_over = true,
                                                  .check = check_job,
                                                  .job = describe,
                                                  .member = member,
                                                  .open = &open_list};

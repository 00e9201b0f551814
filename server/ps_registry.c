#include "ps_registry.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/secret.h"
#include "protocols.h"
#include "registry/tenants.h"
#include "sodium_keys.h"

enum { IP_UDP_BYTES = 20 + 8 };

static void send_message(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const struct ps *ps = context;
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = to->ip, .sin_port = htons(to->udp_port)};

    /* What is lost here is as if it had been lost on the way. */
    (void)sendto(ps->control_fd, payload, bytes, MSG_DONTWAIT, (const struct sockaddr *)&at, sizeof(at));
}

static int prepare(void *context, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                   char text[CTL_TEXT_MAX])
{
    struct ps *ps = context;

    return jobs_open(&ps->jobs, job, terms, number, text);
}

static void release(void *context, const struct ctl_entry *job)
{
    struct ps *ps = context;

    jobs_close(&ps->jobs, job->protocol, job->number);
}

static bool heard(void *context, const struct ctl_entry *job, unsigned rank)
{
    const struct ps *ps = context;

    return jobs_heard(&ps->jobs, job, rank);
}

static uint64_t random64(void *context)
{
    (void)context;
    return secret64();
}

static void report(void *context, const struct ctl_entry *job, const char *what)
{
    struct ps *ps = context;

    if (job_lines_admit(&ps->lines, clock_ns()))
        log_notice("job %s: %s", job->name, what);
}

static int tenant_of(void *context, const struct ctl_endpoint *from, int key, const char *name,
                     char text[CTL_TEXT_MAX])
{
    const struct ps *ps = context;

    return tenants_admit(ps->cfg, from, key, name, text);
}

struct ctl_registry_config ps_registry_config(struct ps *ps, const struct config *cfg,
                                              const struct keyring *keys)
{
    unsigned protocols;

    return (struct ctl_registry_config){
        .protocols = agg_protocols(&protocols),
        .protocols_known = protocols,
        .max_jobs = (uint16_t)cfg->limits.jobs,
        .max_workers = (uint16_t)cfg->limits.workers,
        .tenants_known = cfg->tenants + cfg->leaving,
        .tenants = ps->tenant,
        .jobs_per_host = (uint16_t)cfg->limits.jobs_per_host,
        .forming_max_ns = cfg->timers.forming_s * UINT64_C(1000000000),
        .boot_id = ps->boot_id,
        .lost_after_ns = cfg->timers.lost_after_ms * UINT64_C(1000000),
        .data_ports = (uint8_t)ps->shards,
        .payload_bytes = (uint16_t)(cfg->mtu - IP_UDP_BYTES),
        .first_group = ntohl(cfg->server.first_group),
        .groups = cfg->server.groups,
        .library = keys_sodium(),
        .key = keys->key,
        .keys = keys->keys,
        .actions = {.ctx = ps,
                    .send = send_message,
                    .prepare = prepare,
                    .release = release,
                    .heard = heard,
                    .random = random64,
                    .event = report,
                    .tenant_of = tenant_of},
    };
}

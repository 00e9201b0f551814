#include "registry/reception.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/secret.h"
#include "registry/anteroom.h"

enum {
    MESSAGES_AT_ONCE = 1024,
    SERVED_BUDGET = 8, /* of strangers' messages, before members are heard again */
};

/* A stranger's that waits. */
struct message {
    struct ctl_endpoint from;
    size_t bytes;
    uint8_t payload[CTL_MESSAGE_MAX + 1]; /* the last byte tells that it is too long */
};

void reception_init(struct reception *r, const struct config *cfg)
{
    ctl_intake_rules_init(&r->rules, cfg->limits.workers, secret64());
    ctl_intake_init(&r->intake, &r->rules);
}

void reception_follow(struct reception *r, const struct config *cfg)
{
    ctl_intake_rules_follow(&r->rules, cfg->limits.workers);
}

void reception_free(struct reception *r)
{
    while (r->strangers.items > 0)
        free(fair_queue_take(&r->strangers));
}

static void handle(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                   uint64_t now)
{
    struct ctl_endpoint sender = *from;
    enum ctl_parse_error fault;

    if (r->neighbour != NULL && !r->neighbour(r->context, &sender))
        return;
    fault = registry_host_receive(r->host, &sender, payload, bytes, now);
    if (fault != CTL_PARSED)
        counter_add(&r->counts.drop[DROP_CONTROL_TOO_SHORT + (fault - CTL_TOO_SHORT)], 1);
}

static enum drop let_wait(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload,
                          size_t bytes)
{
    const unsigned lane = (unsigned)(ctl_intake_source(&r->rules, from) % FAIR_QUEUE_LANES);
    struct message *m = malloc(sizeof(*m));

    if (m == NULL)
        return DROP_CONTROL_FULL;
    m->from = *from;
    m->bytes = bytes < sizeof(m->payload) ? bytes : sizeof(m->payload);
    memcpy(m->payload, payload, m->bytes);
    if (fair_queue_put(&r->strangers, lane, m))
        return DROP_REASONS;
    free(m);
    return DROP_CONTROL_FULL;
}

void reception_message(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload,
                       size_t bytes, uint64_t now)
{
    const enum ctl_intake_verdict verdict = ctl_intake_admit(&r->intake, from, false, payload, bytes, now);
    enum drop why = anteroom_refusal(verdict);

    if (verdict == CTL_INTAKE_MEMBER)
        handle(r, from, payload, bytes, now);
    else if (verdict == CTL_INTAKE_STRANGER)
        why = let_wait(r, from, payload, bytes);
    counter_add(&r->counts.event[EVENT_CONTROL_RECEIVED], 1);
    if (why != DROP_REASONS)
        counter_add(&r->counts.drop[why], 1);
}

void reception_take(struct reception *r, int fd, uint64_t now)
{
    for (unsigned i = 0; i < MESSAGES_AT_ONCE; i++) {
        uint8_t payload[CTL_MESSAGE_MAX + 1]; /* the last byte tells that it is too long */
        struct sockaddr_in at;
        socklen_t length = sizeof(at);
        const ssize_t n =
            recvfrom(fd, payload, sizeof(payload), MSG_DONTWAIT, (struct sockaddr *)&at, &length);
        const struct ctl_endpoint from = {.ip = at.sin_addr.s_addr, .udp_port = ntohs(at.sin_port)};

        if (n < 0 && errno == EAGAIN)
            return;
        if (n >= 0) /* or it was an error of an earlier message's */
            reception_message(r, &from, payload, (size_t)n, now);
    }
}

bool reception_serve(struct reception *r, uint64_t now)
{
    const bool any = r->strangers.items > 0;

    for (unsigned served = 0; served < SERVED_BUDGET && r->strangers.items > 0; served++) {
        struct message *m = fair_queue_take(&r->strangers);

        handle(r, &m->from, m->payload, m->bytes, now);
        free(m);
    }
    if (any)
        registry_host_list_members(r->host, &r->rules.members); /* they may be some now */
    return r->strangers.items > 0;
}

void reception_tick(struct reception *r, uint64_t now)
{
    registry_host_tick(r->host, now);
    registry_host_list_members(r->host, &r->rules.members);
}

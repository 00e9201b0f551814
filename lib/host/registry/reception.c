#include "registry/reception.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/counter.h"
#include "base/secret.h"

enum { MESSAGES_AT_ONCE = 1024 };

static void handle(void *context, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                   uint64_t now)
{
    struct reception *r = context;
    struct ctl_endpoint sender = *from;
    enum ctl_parse_error fault;

    if (r->neighbour != NULL && !r->neighbour(r->context, &sender))
        return;
    fault = registry_host_receive(r->host, &sender, payload, bytes, now);
    if (fault != CTL_PARSED)
        counter_add(&r->counts.drop[DROP_CONTROL_TOO_SHORT + (fault - CTL_TOO_SHORT)], 1);
}

void reception_init(struct reception *r, const struct config *cfg)
{
    anteroom_init(&r->anteroom, cfg, secret64(), handle, r);
}

void reception_follow(struct reception *r, const struct config *cfg)
{
    ctl_intake_rules_follow(&r->anteroom.rules, cfg->limits.workers);
}

void reception_free(struct reception *r)
{
    anteroom_free(&r->anteroom);
}

void reception_message(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload,
                       size_t bytes, uint64_t now)
{
    const enum drop why = anteroom_take(&r->anteroom, from, payload, bytes, now);

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
    if (anteroom_serve(&r->anteroom, now) > 0)
        registry_host_list_members(r->host, &r->anteroom.rules.members); /* they may be some now */
    return anteroom_has_waiting(&r->anteroom);
}

void reception_tick(struct reception *r, uint64_t now)
{
    registry_host_tick(r->host, now);
    registry_host_list_members(r->host, &r->anteroom.rules.members);
}

#include "registry/anteroom.h"

#include <stdlib.h>
#include <string.h>

enum { SERVED_BUDGET = 8 }; /* of strangers' messages, before members are heard again */

/* A stranger's message that waits. */
struct waiting {
    struct ctl_endpoint from;
    size_t bytes;
    uint8_t payload[CTL_MESSAGE_MAX + 1]; /* the last byte tells that it is too long */
};

void anteroom_init(struct anteroom *a, const struct config *cfg, uint64_t seed, anteroom_handle *handle,
                   void *context)
{
    ctl_intake_rules_init(&a->rules, cfg->limits.workers, seed);
    ctl_intake_init(&a->intake, &a->rules);
    memset(&a->strangers, 0, sizeof(a->strangers));
    a->handle = handle;
    a->context = context;
}

void anteroom_free(struct anteroom *a)
{
    while (a->strangers.items > 0)
        free(fair_queue_take(&a->strangers));
}

static enum drop let_wait(struct anteroom *a, const struct ctl_endpoint *from, const uint8_t *payload,
                          size_t bytes)
{
    const unsigned lane = (unsigned)(ctl_intake_source(&a->rules, from) % FAIR_QUEUE_LANES);
    struct waiting *w = malloc(sizeof(*w));

    if (w == NULL)
        return DROP_CONTROL_FULL;
    w->from = *from;
    w->bytes = bytes < sizeof(w->payload) ? bytes : sizeof(w->payload);
    memcpy(w->payload, payload, w->bytes);
    if (fair_queue_put(&a->strangers, lane, w))
        return DROP_REASONS;
    free(w);
    return DROP_CONTROL_FULL;
}

enum drop anteroom_take(struct anteroom *a, const struct ctl_endpoint *from, const uint8_t *payload,
                        size_t bytes, uint64_t now)
{
    const enum ctl_intake_verdict verdict = ctl_intake_admit(&a->intake, from, false, payload, bytes, now);

    if (verdict == CTL_INTAKE_STRANGER)
        return let_wait(a, from, payload, bytes);
    if (verdict == CTL_INTAKE_MEMBER)
        a->handle(a->context, from, payload, bytes, now);
    return anteroom_refusal(verdict);
}

unsigned anteroom_serve(struct anteroom *a, uint64_t now)
{
    unsigned served = 0;

    for (; served < SERVED_BUDGET && a->strangers.items > 0; served++) {
        struct waiting *w = fair_queue_take(&a->strangers);

        a->handle(a->context, &w->from, w->payload, w->bytes, now);
        free(w);
    }
    return served;
}

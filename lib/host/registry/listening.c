#include "registry/listening.h"

#include <string.h>

void listening_init(struct listening *l, uint64_t pause_ns, uint64_t now)
{
    memset(l, 0, sizeof(*l));
    l->pause_ns = pause_ns;
    l->time = l->asked_at = now;
    for (unsigned i = 0; i < SWAGG_MAX_LCORES; i++)
        l->receiver[i].moved_at = now;
}

uint32_t listening_ask_every_ms(uint32_t lost_after_ms)
{
    const uint32_t ms = lost_after_ms / 100 + 1;

    return ms < LISTENING_ASK_MS ? ms : LISTENING_ASK_MS;
}

/* Until when all receivers are known to have listened; pauses shorter than pause_ns do not count. */
static uint64_t heard_until(struct listening *l, const uint64_t rounds[], unsigned receivers, uint64_t now)
{
    uint64_t until = now;

    for (unsigned i = 0; i < receivers; i++) {
        if (l->receiver[i].rounds != rounds[i]) {
            l->receiver[i].rounds = rounds[i];
            l->receiver[i].moved_at = now;
        }
        if (l->receiver[i].moved_at + l->pause_ns < until)
            until = l->receiver[i].moved_at + l->pause_ns;
    }
    return until;
}

uint64_t listening_time(struct listening *l, const uint64_t rounds[], unsigned receivers, uint64_t now)
{
    const uint64_t until = heard_until(l, rounds, receivers, now);
    const uint64_t counts = until > l->asked_at ? until - l->asked_at : 0;

    l->time += counts < l->pause_ns ? counts : l->pause_ns;
    l->asked_at = now;
    return l->time;
}

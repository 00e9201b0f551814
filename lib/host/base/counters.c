#include "base/counters.h"

#include "protocols.h"

static const struct {
    const char *name, *meaning;
} drops[DROP_REASONS] = {
#define X(id, name, meaning) [DROP_##id] = {name, meaning},
    DROP_LIST(X)
#undef X
};

static const struct {
    const char *name, *meaning;
} events[EVENTS] = {
#define X(id, name, meaning) [EVENT_##id] = {name, meaning},
    EVENT_LIST(X)
#undef X
};

/* NULL: no protocol has this one. */
static const struct agg_reason *strange_reason(unsigned kind)
{
    const unsigned reason = (kind - DROP_REASONS) % AGG_MAX_REASONS;
    const struct agg_protocol *protocol = agg_protocol_find((kind - DROP_REASONS) / AGG_MAX_REASONS);

    if (protocol == NULL || reason >= protocol->reasons || !protocol->reason[reason].strange)
        return NULL;
    return &protocol->reason[reason];
}

const char *drop_name(unsigned kind)
{
    if (kind < DROP_REASONS)
        return drops[kind].name;
    return strange_reason(kind) == NULL ? NULL : strange_reason(kind)->name;
}

const char *drop_meaning(unsigned kind)
{
    if (kind < DROP_REASONS)
        return drops[kind].meaning;
    return strange_reason(kind) == NULL ? NULL : strange_reason(kind)->meaning;
}

const char *event_name(enum event event)
{
    return events[event].name;
}

const char *event_meaning(enum event event)
{
    return events[event].meaning;
}

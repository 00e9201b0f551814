#include "base/counters.h"

static const struct {
    const char *name, *meaning;
} drops[DROP_REASONS] = {
#define X(id, name, meaning) [DROP_##id] = {name, meaning},
    DROP_LIST(X)
#undef X
};

static const char *const events[EVENTS] = {
#define X(id, name, meaning) [EVENT_##id] = name,
    EVENT_LIST(X)
#undef X
};

const char *drop_name(enum drop reason)
{
    return drops[reason].name;
}

const char *drop_meaning(enum drop reason)
{
    return drops[reason].meaning;
}

const char *event_name(enum event event)
{
    return events[event];
}

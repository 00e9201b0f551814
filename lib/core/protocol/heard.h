/* The flag behind agg_protocol.heard. All shards set it, so its line is written only where it changes. */
#ifndef SWAGG_CORE_PROTOCOL_HEARD_H
#define SWAGG_CORE_PROTOCOL_HEARD_H

#include <stdbool.h>

static inline void agg_heard_set(bool *heard)
{
    if (!__atomic_load_n(heard, __ATOMIC_RELAXED))
        __atomic_store_n(heard, true, __ATOMIC_RELAXED);
}

/* Whether it was set since this was last asked. */
static inline bool agg_heard_take(bool *heard)
{
    return __atomic_exchange_n(heard, false, __ATOMIC_RELAXED);
}

#endif

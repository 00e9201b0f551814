#include "protocol/protocol.h"

const char *agg_action_name(enum agg_action action)
{
    static const char *const names[AGG_ACTIONS] = {
        [AGG_DROP] = "drop",
        [AGG_HOLD] = "hold",
        [AGG_REPLY] = "reply",
        [AGG_TO_ALL] = "to_all",
        [AGG_TO_PARENT] = "to_parent",
        [AGG_PASS_ON] = "pass_on",
        [AGG_PASS_AND_KEEP] = "pass_and_keep",
    };

    return action < AGG_ACTIONS ? names[action] : "?";
}

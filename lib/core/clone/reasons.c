#include "clone/reasons.h"

const struct agg_reason cln_reasons[CLN_REASONS] = {
    [CLN_SEND_SUM] = {"clone_send_sum", "the last copy of a chunk: its sum goes to the collector", AGG_TO_ALL,
                      false},
    [CLN_SEND_MISSING] = {"clone_send_missing",
                          "a chunk has lacked copies for longer than missing_after_ms: the collector is told "
                          "which",
                          AGG_TO_ALL, false},
    [CLN_SEND_GIVEN_UP] =
        {"clone_send_given_up",
         "a chunk that lacks copies makes room for a later one: it gets no sum, and the "
         "collector is told which copies are there; more slots help if workers are far apart",
         AGG_TO_ALL, false},
    [CLN_SUMMED] = {"clone_summed", "the last copy of a chunk: its sum can be read", AGG_HOLD, false},
    [CLN_MISSING] = {"clone_missing", "a chunk has lacked copies for longer than missing_after_ms", AGG_HOLD,
                     false},
    [CLN_GIVEN_UP] = {"clone_given_up",
                      "a chunk that lacks copies makes room for a later one: it gets no sum", AGG_HOLD,
                      false},
    [CLN_HELD] = {"clone_held", "a copy, kept; others are still missing", AGG_HOLD, false},
    [CLN_DROP_DUPLICATE] =
        {"clone_drop_duplicate",
         "the worker has sent this frame before; it goes on, its copy does not count again", AGG_DROP, false},
    [CLN_DROP_STALE] = {"clone_drop_stale",
                        "older than what its slot collects: sent again, or given up already", AGG_DROP,
                        false},
    [CLN_IGNORED_NO_MATCH] = {"clone_ignored_no_match", "a frame of the flow without the bytes of match",
                              AGG_DROP, false},
    [CLN_IGNORED_TOO_SHORT] = {"clone_ignored_too_short", "a frame that ends before its elements do",
                               AGG_DROP, false},
    [CLN_IGNORED_SENDER] = {"clone_ignored_sender", "a frame of the flow from none of its job's workers",
                            AGG_DROP, false},
};

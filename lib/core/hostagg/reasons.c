#include "hostagg/reasons.h"

const struct agg_reason hag_reasons[HAG_REASONS] = {
    [HAG_SEND_ALL] = {"hostagg_send_all",
                      "the last contribution to a chunk: its sum goes to every worker, and the host "
                      "hears of it",
                      AGG_TO_ALL, false},
    [HAG_SEND_SUM] = {"hostagg_send_sum",
                      "a packet for the chunk completed last: its sender gets the sum again (the "
                      "first copy was lost, or is late)",
                      AGG_REPLY, false},
    [HAG_SEND_ANSWER] = {"hostagg_send_answer",
                         "a question: its sender is told which contributions have come, or that "
                         "the chunk is done",
                         AGG_REPLY, false},
    [HAG_SEND_DIFFERS] = {"hostagg_send_differs",
                          "a contribution that is not as long as the others to its chunk: its "
                          "sender is told",
                          AGG_REPLY, false},
    [HAG_HELD] = {"hostagg_held", "a contribution, kept; others are still missing", AGG_HOLD, false},
    [HAG_DROP_DUPLICATE] = {"hostagg_drop_duplicate", "the worker has contributed to this chunk already",
                            AGG_DROP, false},
    [HAG_DROP_STALE] = {"hostagg_drop_stale", "older than the chunk completed last in its slot: a late copy",
                        AGG_DROP, false},
    [HAG_DROP_AHEAD] = {"hostagg_drop_ahead",
                        "a chunk that the worker cannot have reached yet: it keeps more chunks "
                        "under way than the job has slots",
                        AGG_DROP, false},
    [HAG_DROP_OLD_RUN] = {"hostagg_drop_old_run",
                          "of a run before the one that its slot has seen: a late copy, or a "
                          "worker that was not started anew with the others",
                          AGG_DROP, false},
    [HAG_DROP_BAD_LENGTH] = {"hostagg_drop_bad_length",
                             "empty, longer than the job's chunks, or not whole elements", AGG_DROP, false},
    [HAG_DROP_BAD_KIND] = {"hostagg_drop_bad_kind", "a kind that this sender does not send", AGG_DROP, false},
    [HAG_DROP_BAD_WORKER] = {"hostagg_drop_bad_worker",
                             "its sender has the address of another worker than the one that "
                             "the packet names",
                             AGG_DROP, false},

    [HAG_PASSED_NOT_OURS] = {"hostagg_passed_not_ours",
                             "passed on to the host: no packet of host-addressed "
                             "aggregation, or of a job that does not run",
                             AGG_PASS_AND_KEEP, false},
    [HAG_PASSED_FOREIGN_SENDER] = {"hostagg_passed_foreign_sender",
                                   "passed on to the host: its sender is none of "
                                   "the job's workers",
                                   AGG_PASS_AND_KEEP, false},
    [HAG_PASSED_FOREIGN_MAC] = {"hostagg_passed_foreign_mac",
                                "passed on to the host: from a worker's address and "
                                "UDP port, but not from its MAC",
                                AGG_PASS_AND_KEEP, false},
};

#include "switchml/reasons.h"

const struct agg_reason sml_reasons[SML_REASONS] = {
    [SML_SEND_ALL] = {"send_all", "the last contribution to a chunk: its sum goes to every rank", AGG_TO_ALL,
                      false},
    [SML_RESTORED] = {"restored",
                      "a rank has handed back a sum from before the switch restarted: it goes to every rank",
                      AGG_TO_ALL, false},
    [SML_SEND_ONE] =
        {"send_one",
         "a packet for a chunk that is complete: its sender gets the sum again (the first copy was "
         "lost, or is late)",
         AGG_REPLY, false},
    [SML_SEND_ANSWER] =
        {"send_answer",
         "a probe for a chunk that is not complete: its sender is told whether its contribution "
         "has come, and for whom it waits",
         AGG_REPLY, false},
    [SML_SEND_MISMATCH] = {"send_mismatch",
                           "a contribution that differs from the others: ranks have called different "
                           "collectives; the sender is told both calls",
                           AGG_REPLY, false},
    [SML_SEND_QUORUM] = {"send_quorum",
                         "a chunk is closed with a quorum of the contributions: their sum goes to every rank",
                         AGG_TO_ALL, false},
    [SML_SEND_LATE] =
        {"send_late",
         "a contribution to a chunk that was closed without it: its sender gets the sum that it "
         "is not in",
         AGG_REPLY, false},
    [SML_SEND_STRAGGLES] = {"send_straggles",
                            "a contribution, or a question, about a chunk whose sum is gone: its sender is "
                            "told that it lags",
                            AGG_REPLY, false},
    [SML_SEND_PARENT] = {"send_parent",
                         "the last contribution from below to a chunk: their sum goes to the switch above",
                         AGG_TO_PARENT, false},
    [SML_SEND_PARENT_AGAIN] =
        {"send_parent_again",
         "the switch above lacks the sum of those below: it gets it again (the first copy was "
         "lost)",
         AGG_TO_PARENT, false},
    [SML_ASK_PARENT] = {"ask_parent",
                        "a rank asks for a chunk that only the switch above can complete: it is asked",
                        AGG_TO_PARENT, false},
    [SML_RESTORE_PARENT] =
        {"restore_parent",
         "a rank has handed back a sum from before a switch restarted: it goes to the switch above",
         AGG_TO_PARENT, false},
    [SML_PARENT_RESULT] = {"parent_result", "a sum from the switch above: it goes to all below", AGG_TO_ALL,
                           false},
    [SML_PARENT_WORD] =
        {"parent_word",
         "from the switch above: ranks have called different collectives, or it does not know the job "
         "(any more): passed on to whom it concerns",
         AGG_TO_ALL, false},
    [SML_HELD] = {"held", "a contribution, added; others are still missing", AGG_HOLD, false},
    [SML_PARENT_WAITS] = {"parent_waits", "from the switch above: whom it waits for", AGG_HOLD, false},
    [SML_DROP_PARENT] = {"drop_parent",
                         "from the switch above: late, a copy, or not what those below have asked for",
                         AGG_DROP, false},
    [SML_DROP_DUPLICATE] = {"drop_duplicate", "the rank has contributed to this chunk already", AGG_DROP,
                            false},
    [SML_DROP_STALE] = {"drop_stale",
                        "older than the chunk completed last in its slot: a late copy; or, of a static job, "
                        "its clients were started again before all were silent for its quiet_ms",
                        AGG_DROP, false},
    [SML_DROP_AHEAD] =
        {"drop_ahead",
         "a chunk that the rank cannot have reached yet: the job is being resumed, or the worker "
         "is broken",
         AGG_DROP, false},
    [SML_DROP_BAD_SLOT] = {"drop_bad_slot",
                           "a slot that the job does not have, or not for this chunk; of a static job: its "
                           "slots must be twice the packets that a thread of a client may have in flight "
                           "(max_outstanding_packets / num_worker_threads)",
                           AGG_DROP, false},
    [SML_DROP_BAD_LENGTH] =
        {"drop_bad_length",
         "longer than the agreed chunk, not whole elements, or contradicting the size code; of a static job: "
         "its elements must be as many as in a packet of its clients (packet_numel)",
         AGG_DROP, false},
    [SML_DROP_BAD_TYPE] = {"drop_bad_type", "an unknown type or operation", AGG_DROP, false},
    [SML_DROP_BAD_CHECKSUM] = {"drop_bad_checksum",
                               "damaged on the way: the job's checksum is missing or wrong, or there is one "
                               "though none was agreed",
                               AGG_DROP, false},
    [SML_DROP_UNPROVEN] = {"drop_unproven",
                           "does not show that its sender has the job's key: forged, or damaged on the way",
                           AGG_DROP, false},
    [SML_DROP_MISMATCH] = {"drop_mismatch",
                           "a published client's contribution that differs from the others in its length or "
                           "size code: its configuration is not theirs",
                           AGG_DROP, false},
    [SML_DROP_BAD_KIND] = {"drop_bad_kind", "a kind that workers do not send, or not in this job", AGG_DROP,
                           false},

    [SML_REFUSED_TOO_SHORT] = {"sml_too_short",
                               "gradient packet shorter than its header and the trailer it announces",
                               AGG_DROP, true},
    [SML_REFUSED_BAD_KIND] = {"sml_bad_kind", "gradient packet of an unknown kind", AGG_DROP, true},
    [SML_REFUSED_BAD_SIZE_CODE] = {"sml_bad_size_code", "gradient packet with an unknown size code", AGG_DROP,
                                   true},
    [SML_REFUSED_BAD_SLOT] = {"sml_bad_slot", "gradient packet with a reserved bit set in its pool index",
                              AGG_DROP, true},
    [SML_REFUSED_BAD_LENGTH] = {"sml_bad_length",
                                "gradient packet whose length contradicts its kind or size code", AGG_DROP,
                                true},
    [SML_REFUSED_UNKNOWN_JOB] = {"sml_unknown_job",
                                 "gradient packet for a job that does not run, or no longer", AGG_DROP, true},
    [SML_REFUSED_FOREIGN_SENDER] = {"sml_foreign_sender",
                                    "gradient packet from an address or UDP port that is not in the job",
                                    AGG_DROP, true},
    [SML_REFUSED_FOREIGN_MAC] = {"sml_foreign_mac",
                                 "gradient packet from a member's address and UDP port, but not from the MAC "
                                 "that it was last heard from: forged, or the member's MAC, or its "
                                 "router's, has changed, which its next heartbeat tells",
                                 AGG_DROP, true},
};

const uint8_t sml_amiss[SML_REASONS] = {
    [SML_DROP_STALE] = AGG_AMISS_ALONE, [SML_DROP_AHEAD] = AGG_AMISS_ALONE, [SML_DROP_BAD_SLOT] = AGG_AMISS,
    [SML_DROP_BAD_LENGTH] = AGG_AMISS,  [SML_DROP_BAD_TYPE] = AGG_AMISS,    [SML_DROP_BAD_KIND] = AGG_AMISS,
    [SML_DROP_MISMATCH] = AGG_AMISS,
};

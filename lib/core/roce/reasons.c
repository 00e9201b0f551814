#include "roce/reasons.h"

const struct agg_reason rce_reasons[RCE_REASONS] = {
    [RCE_SEND_ALL] = {"roce_send_all",
                      "the last contribution to a packet's slot: the sum goes to every worker", AGG_TO_ALL,
                      false},
    [RCE_SEND_ONE] =
        {"roce_send_one",
         "a packet of a message that is summed: its sender gets the sum again (the first copy was "
         "lost, or is late)",
         AGG_REPLY, false},
    [RCE_HELD] = {"roce_held", "a contribution; others are still missing", AGG_HOLD, false},
    [RCE_DROP_DUPLICATE] = {"roce_drop_duplicate",
                            "of a message that is sent again: the worker has contributed this part already",
                            AGG_DROP, false},
    [RCE_DROP_STALE] = {"roce_drop_stale", "its number is behind its queue pair's: a late copy", AGG_DROP,
                        false},
    [RCE_DROP_OUT_OF_ORDER] =
        {"roce_drop_out_of_order",
         "a packet of its message before it was lost, or overtaken: what follows of the "
         "message is dropped, until the worker sends it again",
         AGG_DROP, false},
    [RCE_DROP_BAD_LENGTH] = {"roce_drop_bad_length",
                             "of a message, or packet, that is not as long as the job's", AGG_DROP, false},
    [RCE_DROP_BAD_SLOT] = {"roce_drop_bad_slot", "its message's key names slots of another queue pair",
                           AGG_DROP, false},
    [RCE_DROP_BAD_ICRC] = {"roce_drop_bad_icrc", "the ICRC is wrong: damaged on its way", AGG_DROP, false},
    [RCE_DROP_BAD_QUEUE_PAIR] = {"roce_drop_bad_queue_pair",
                                 "to a queue pair that the job does not have, or of another worker", AGG_DROP,
                                 false},

    [RCE_REFUSED_TOO_SHORT] = {"roce_refused_too_short", "too short for what its opcode says", AGG_DROP,
                               true},
    [RCE_REFUSED_NO_WRITE] = {"roce_refused_no_write",
                              "no RDMA write of an unreliable connection: another operation or transport",
                              AGG_DROP, true},
    [RCE_REFUSED_BAD_SEND] =
        {"roce_refused_bad_send",
         "a send, as ranks of libswagg's have their packets carried, but damaged, or to a "
         "queue pair that is no rank's",
         AGG_DROP, true},
    [RCE_REFUSED_BAD_HEADER] = {"roce_refused_bad_header",
                                "another version, padding, or not the default partition", AGG_DROP, true},
    [RCE_REFUSED_FOREIGN_SENDER] = {"roce_refused_foreign_sender", "its sender's address is in no job's list",
                                    AGG_DROP, true},
    [RCE_REFUSED_FOREIGN_MAC] = {"roce_refused_foreign_mac", "from a worker's address, but not from its MAC",
                                 AGG_DROP, true},
};

const uint8_t rce_amiss[RCE_REASONS] = {
    [RCE_DROP_STALE] = AGG_AMISS_ALONE,
    [RCE_DROP_BAD_LENGTH] = AGG_AMISS,
    [RCE_DROP_BAD_SLOT] = AGG_AMISS,
    [RCE_DROP_BAD_QUEUE_PAIR] = AGG_AMISS,
};

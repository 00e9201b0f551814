/* The worker's stream, by transcripts (stream_script.h tells how to read them). */
#include "stream_script.h"

TEST(chunks_go_out_in_order_and_results_come_in_any)
{
    SCRIPT("open 0 2 4 4", "status done", "timer never", "idle", "allreduce 43", "status running",
           "> open 0 want", "> data 1-2 want", "idle", "timer 20000", "at 100", "< result 1 = result",
           "< result 0 = result", "status running", "< result 2 = result", "status done", "sum",
           "timer never", "idle");
}

TEST(collectives_follow_each_other_through_the_slots)
{
    SCRIPT("open 0 2 2 2", "allreduce 27", "> open 0 want", "> data 1 want", "at 100",
           "< result 0-1 = result", "status done", "sum", "inplace 12", "> open 2 want", "> data 3 want",
           "at 200", "< result 3 = result", "< result 3 = duplicate", "< result 1 = duplicate",
           "< result 2 = result", "sum", "status done", "allreduce 1", "> open 4 want", "at 300",
           "< result 4 = result", "status done", "sum");
}

/* Chunks have 11 elements, and then 16. */
TEST(what_is_held_leaves_when_it_may)
{
    SCRIPT("open 0 2 8 8", "allreduce 60", "hold 0", "idle", "arrived 0", "hold 10", "idle", "hold 11",
           "> open 0 want", "idle", "timer 20000", "hold 43", "> data 1-2 want", "idle", "at 100",
           "< result 1 = result", "arrived 0", "< result 0 = result", "arrived 27", "< result 2 = result",
           "arrived 43", "timer never", "status running", "hold none", "> data 3-4 want", "idle",
           "< result 3 = result", "arrived 59", "< result 4 = result", "arrived all", "sum", "status done");
}

/* What has left before leaves again; what is held does not. */
TEST(what_is_held_waits_for_a_restart_too)
{
    SCRIPT("open 0 2 8 8", "allreduce 60", "hold 27", "> open 0 want", "> data 1 want", "idle", "at 100",
           "< result 0 = result", "arrived 11", "resume 8 0 ok", "job 8", "> restore 0", "> data 1 want",
           "idle", "hold none", "> data 2-4 want", "idle");
}

TEST(an_empty_tensor_still_meets_its_peers)
{
    SCRIPT("open 0 2 4 4", "allreduce 0", "> open 0 want", "idle", "status running", "< result 0 = result",
           "status done");
}

TEST(no_chunk_overtakes_its_slot)
{
    SCRIPT("open 0 2 4 4", "allreduce 123", "> open 0 want", "> data 1-3 want", "idle", "at 10",
           "< result 1-2 = result", "idle", "< result 0 = result", "> data 4-6 want", "idle");
}

TEST(spare_slots_carry_on_while_a_chunk_is_held_up)
{
    SCRIPT("open 0 2 8 2", "allreduce 200", "> open 0 want", "> data 1 want", "idle", "< result 1 = result",
           "> data 2 want", "idle", "< result 2 = result", "> data 3 want", "< result 3 = result",
           "> data 4 want", "< result 4 = result", "> data 5 want", "< result 5 = result", "> data 6 want",
           "< result 6 = result", "> data 7 want", "< result 7 = result", "idle", "< result 0 = result",
           "> data 8 want");
}

/* One round trip is 100 us. Chunk 0 is late once a chunk sent after it is answered. */
#define LATE_CHUNK_0                                                                                         \
    "open 0 2 8 2", "allreduce 200", "> open 0 want", "> data 1 want", "at 100", "< result 1 = result",      \
        "> data 2 want", "idle", "at 200", "< result 2 = result", "> probe 0 want", "> data 3 want", "idle"

TEST(a_late_chunk_is_asked_for_before_any_timer)
{
    SCRIPT(LATE_CHUNK_0, "at 300", "< result 0 = result", "< result 0 = duplicate", "> data 4 want", "idle");
}

TEST(a_little_reordering_is_no_loss)
{
    SCRIPT("open 0 2 8 3", "allreduce 200", "> open 0 want", "> data 1-2 want", "at 100",
           "< result 1 = result", "> data 3 want", "< result 2 = result", "at 110", "> data 4 want",
           "< result 0 = result", "> data 5 want", "at 210", "< result 4-5 = result", "> data 6-7 want",
           "idle", "at 220", "< result 3 = result");
}

/* Another rank is late by 1000 us for a while: its chunks come in order all the same, so nothing is late. */
TEST(a_lagging_peer_is_no_loss)
{
    SCRIPT("open 0 2 8 3", "allreduce 200", "> open 0 want", "> data 1-2 want", "at 100",
           "< result 0 = result", "> data 3 want", "at 400", "> probe 1 want", "< wait 1 0x1 = news",
           "at 1100", "< result 1 = result", "> data 4 want", "idle", "at 1101", "< result 2 = result",
           "> data 5 want", "idle", "at 1102", "< result 3 = result", "> data 6 want", "idle", "at 1300",
           "< result 4 = result", "> data 7 want", "idle");
}

/* All that was sent is due at the same time, but only what others have overtaken is asked for, and once. */
TEST(several_losses_are_asked_for_together)
{
    SCRIPT("open 0 2 8 8", "allreduce 123", "> open 0 want", "> data 1-7 want", "at 100",
           "< result 1 = result", "< result 5 = result", "idle", "timer 125", "at 125", "> probe 0 want",
           "> probe 2-4 want", "idle", "timer 350");
}

TEST(a_lost_contribution_is_sent_again_at_once)
{
    SCRIPT(LATE_CHUNK_0, "at 300", "< nack 0 = news", "> open 0 want", "idle",
           /* nothing was asked since, so another can only be an answer to an earlier probe */
           "at 400", "< nack 0 = duplicate", "< result 3 = result", "> data 4 want", "at 500",
           "< result 4 = result", "> probe 0 want", "< nack 0 = news", "> open 0 want", "> data 5 want",
           "< result 0 = result");
}

/* The first question at 200, the second a round trip and the allowance after the answer to it, the third, as
 * that one is not answered, after twice as long. */
TEST(who_waits_for_others_asks_ever_more_rarely)
{
    SCRIPT("open 0 2 16 2", "allreduce 200", "> open 0 want", "> data 1 want", "at 100",
           "< result 1 = result", "> data 2 want", "idle", "at 200", "< result 2 = result", "> probe 0 want",
           "> data 3 want", "idle", "at 300", "< wait 0 0x1 = news", "missing 1", "< result 3 = result",
           "> data 4 want", "idle", "at 400", "< result 4 = result", "> data 5 want", "idle", "timer 425",
           "at 425", "> probe 0 want", "idle", "at 500", "< result 5 = result", "> data 6 want", "idle",
           "at 600", "< result 6 = result", "> data 7 want", "idle", "timer 675", "at 675", "> probe 0 want",
           "idle");
}

/* Chunk 1 comes behind those that were sent after it. How long it took says nothing of those before it. */
TEST(what_was_overtaken_measures_nothing)
{
    SCRIPT("open 0 2 16 4", "allreduce 200", "> open 0 want", "> data 1-3 want", "at 100",
           "< result 2-3 = result", "> data 4-5 want", "idle", "timer 125", "at 124", "< result 1 = result",
           "> data 6 want", "idle", "at 127", "> probe 0 want", "idle");
}

TEST(while_a_peer_computes_only_the_oldest_chunk_is_asked_for_and_ever_more_rarely)
{
    SCRIPT(
        "open 0 3 4 4", "allreduce 59", "> open 0 want", "> data 1-3 want", "idle", "missing", "timer 20000",
        "at 19999", "idle", "at 20000", "> probe 0 want", "idle", "timer 60000",
        /* the answer measures the path, 100 us, so the timer's minimum of 2 ms holds, times 2, 4, 8, ... */
        "at 20100", "< wait 0 0x3 = news", "missing 2", "idle", "timer 24000", "at 24000", "> probe 0 want",
        "idle", "timer 32000", "at 24100", "< wait 0 0x1 = news", "missing 1 2", "at 32000", "> probe 0 want",
        "timer 48000", "< wait 0 0x1 = news", "at 48000", "> probe 0 want", "< wait 0 0x1 = news",
        "timer 80000", "at 80000", "> probe 0 want", "< wait 0 0x1 = news", "timer 144000", "at 144000",
        "> probe 0 want", "< wait 0 0x1 = news", "timer 272000", "at 272000", "> probe 0 want",
        "< wait 0 0x1 = news", "timer 472000", "at 472000", "> probe 0 want", "idle", "< wait 0 0x1 = news",
        "timer 672000",
        /* progress ends the back-off */
        "at 600000", "< result 0 = result", "missing", "timer 600300", "< result 1-3 = result", "status done",
        "sum");
}

TEST(when_nothing_is_heard_only_the_oldest_few_are_sent_again)
{
    SCRIPT("open 0 2 8 8", "allreduce 123", "> open 0 want", "> data 1-7 want", "idle", "at 20000",
           "> probe 0 want", "idle", "at 60000", "> open 0 want", "> data 1-3 want", "idle", "timer 140000",
           "at 140000", "> probe 0 want", "idle", "timer 300000", "at 300000", "> open 0 want",
           "> data 1-3 want", "idle", "timer 500000");
}

TEST(what_the_switch_has_is_not_sent_again)
{
    SCRIPT("open 0 2 4 4", "allreduce 43", "> open 0 want", "> data 1-2 want", "at 20000", "> probe 0 want",
           "at 20100", "< wait 0 0x1 = news", "at 24000", "> probe 0 want", "at 32000", "> data 1-2 want",
           "idle");
}

/* Two samples of 100 us: mean 100, variance 37.5. A result after a probe could answer either packet, so it is
 * none. */
TEST(ambiguous_round_trips_are_not_measured)
{
    SCRIPT(LATE_CHUNK_0, "at 5000", "< result 0 = result", "timer 5250");
}

TEST(a_reduce_gives_the_sum_to_its_root_only)
{
    SCRIPT("open 1 2 4 4", "reduce 27 1", "> open 0 want", "> data 1 want", "< ack 1 = bad", "< ack 0 = bad",
           "< result 0-1 = result", "status done", "sum");
    SCRIPT("open 1 2 4 4", "reduce 27 0", "> open 0", "> data 1", "< result 1 = bad", "< ack 1 = result",
           "status running", "at 20000", "> probe 0", "< ack 0 = result", "status done");
}

TEST(a_buffered_reduce_is_done_before_it_is_sent)
{
    SCRIPT("open 1 2 4 4 buffer", "reduce 27 0", "status done", "left 2 0", "> open 0", "> data 1", "idle",
           /* the next one goes on behind it */
           "reduce 27 0", "status done", "left 4 0", "> open 2", "> data 3", "idle",
           /* what no copy has room for must wait */
           "reduce 11 0", "status running", "left 5 0", "< ack 0 = result", "status done", "left 4 0",
           "> open 4", "< ack 1 = result", "left 3 1", "< ack 2-3 = result", "left 1 2", "< ack 4 = result",
           "left 0 3", "timer never");
}

TEST(a_buffered_reduce_ends_when_its_rest_fits_the_slots)
{
    SCRIPT("open 1 2 2 2 buffer", "reduce 43 0", "status running", "> open 0", "> data 1", "idle",
           "< ack 1 = result", "status running", "< ack 0 = result", "status done", "left 1 0", "> data 2",
           "< ack 2 = result", "left 0 1");
}

TEST(a_sum_waits_for_what_was_buffered_before_it)
{
    SCRIPT("open 1 2 4 4 buffer", "reduce 11 0", "status done", "allreduce 11", "status running", "> open 0",
           "> open 1 want", "< result 1 = result", "status running", "left 2 0", "< ack 0 = result",
           "status done", "left 0 2", "sum");
    SCRIPT("open 1 2 4 4 buffer", "reduce 11 1", "status running", "> open 0 want", "< result 0 = result",
           "status done", "left 0 1", "sum");
}

TEST(what_was_buffered_is_repaired_between_calls)
{
    SCRIPT("open 1 2 4 4 buffer", "reduce 27 0", "status done", "> open 0", "> data 1", "at 20000",
           "> probe 0", "< nack 0 = news", "> open 0", "< ack 0 = result", "at 21000", "status done",
           "left 1 0");
    SCRIPT("open 1 2 4 4 buffer", "reduce 27 0", "> open 0", "> data 1", "< mismatch 0 1 = news",
           "status mismatch");
    SCRIPT("open 1 2 4 4 buffer", "reduce 27 0", "> open 0", "> data 1", "< reject 1 5 = news",
           "status rejected");
}

/* A turn of results that others may lack, and a turn that this rank has returned from. */
TEST(a_restarted_switch_gets_all_that_was_buffered)
{
    SCRIPT("open 1 2 2 2 buffer", "allreduce 27", "> open 0 want", "> data 1 want", "< result 0-1 = result",
           "reduce 27 0", "status done", "> open 2", "> data 3", "resume 8 0 ok", "> restore 0-1", "idle",
           "< ack 0 = news", "> open 2", "< ack 1 = news", "> data 3", "reduce 27 0", "status running",
           "< ack 2 = result", "> open 4", "< ack 3 = result", "status done", "> data 5", "< ack 5 = result",
           "< ack 4 = result", "left 0 3");
}

TEST(who_will_not_wait_leaves)
{
    SCRIPT("open 1 2 4 4 leave", "allreduce 48", "lacks 0 1 2 3", "> open 0 want", "> data 1-3 want",
           "< result 1 = result", "< result 3 = result", "lacks 0 2", "leave", "status done", "left 4 0",
           "stay",
           /* the next one must wait for its slot, which it shares with the first */
           "allreduce 11", "idle", "status running");
    /* the next one needs none of what is missing */
    SCRIPT("open 1 2 8 8 leave", "allreduce 48", "> open 0 want", "> data 1-3 want", "< result 1-3 = result",
           "leave", "left 4 0", "allreduce 27", "> open 4 want", "> data 5 want", "< result 5 = result",
           "status running", "< result 4 = result", "status done", "sum", "left 6 0");
    SCRIPT("open 1 2 4 4 leave", "allreduce 48", "> open 0 want", "> data 1-3 want", "< result 0-1 = result",
           "< result 3 = result", "lacks 2", "leave", "left 2 0",
           /* what comes too late is good for the others, and lets this rank go on */
           "< result 2 = result", "left 0 1", "timer never", "status done");
    /* more is missing than can be kept */
    SCRIPT("open 1 2 2 2 leave", "allreduce 43", "> open 0 want", "> data 1 want", "stay",
           "< result 0 = result", "> data 2 want", "lacks 1 2", "leave", "status done");
    SCRIPT("open 1 2 4 4", "allreduce 11", "> open 0 want", "stay", "status running");
    SCRIPT("open 1 2 4 4 leave", "allreduce 11", "> open 0 want", "< mismatch 0 1 = news", "stay",
           "status mismatch");
}

/* The contributions of what was left are sent again, and sums that came too late are handed back. */
TEST(what_was_left_outlives_a_restart)
{
    SCRIPT("open 1 2 4 4 leave", "allreduce 48", "> open 0 want", "> data 1-3 want", "< result 0 = result",
           "< result 3 = result", "leave", "left 3 0", "< result 2 = result", "oldest 1", "resume 8 0 ok",
           "> restore 0", "> data 1 want", "> restore 2-3", "< result 1 = result", "left 0 1");
}

TEST(in_place_repeats_only_what_has_no_result_yet)
{
    SCRIPT("open 0 2 4 4", "inplace 59", "> open 0 want", "> data 1-3 want", "at 100", "< result 2 = result",
           "< result 0 = result", "at 400", "> probe 1 want", "at 500", "< nack 1 = news", "> data 1 want",
           "< result 1 = result", "< result 3 = result", "sum");
}

TEST(a_mismatch_ends_it_if_it_is_ours)
{
    SCRIPT("open 1 4 4 4", "allreduce 43", "> open 0 want", "> data 1-2 want", "< result 1 = result",
           "< mismatch 0 2 = bad", "< mismatch 1 1 = duplicate", "< mismatch 3 1 = bad", "status running",
           "< mismatch 0 1 = news", "status mismatch", "timer never", "idle",
           /* the tensors are the caller's again */
           "< result 0 = bad", "at 20000", "idle");
}

TEST(a_rejection_holds_until_another_word_is_heard)
{
    SCRIPT("open 0 2 8 2", "allreduce 200", "> open 0 want", "> data 1 want", "< reject 5 1 = bad",
           "< reject 0 9 = news", "status rejected", "idle", "timer 20000", "at 20000", "> probe 0 want",
           "idle", "< result 1 = result", "status running", "> data 2 want");
}

TEST(a_restarted_switch_is_given_what_it_lacks_in_order)
{
    SCRIPT("open 0 2 4 4", "allreduce 107", /* chunks 0 to 6 */
           "> open 0 want", "> data 1-3 want", "at 100", "< result 0 = result", "> data 4 want",
           "< result 1 = result", "> data 5 want", "< result 3 = result", "oldest 2", "idle",
           "< reject 2 9 = news", "status rejected", "resume 8 0 ok", "status running",
           /* results where it has them, contributions where not */
           "> restore 0-1", "> data 2 want", "> restore 3", "idle", "at 200", "< ack 0 = news",
           "< ack 0 = duplicate", "> data 4 want", "< ack 1 = news", "> data 5 want", "< result 2 = result",
           "> data 6 want", "idle", "at 300", "< ack 3 = news", "< result 4-6 = result", "status done", "sum",
           "timer never");
}

/* The last results of a call, behind which none comes that would show that they are late. */
TEST(many_results_lost_at_the_end_take_few_round_trips)
{
    SCRIPT("open 0 2 32 16", "allreduce 251", "> open 0 want", "> data 1-15 want", "idle", "at 100",
           "< result 0-1 = result", "idle", "timer 350", "at 350", "> probe 2 want", "idle", "at 450",
           "< result 2 = result", "> probe 3-4 want", "idle", "at 550", "< result 3-4 = result",
           "> probe 5-8 want", "idle", "at 650", "< result 5-8 = result", "> probe 9-15 want", "idle",
           "at 750", "< result 9-15 = result", "status done", "sum", "timer never");
}

/* A peer was late: what had to be waited for is on its way, and is asked for no more. */
TEST(results_that_come_by_themselves_are_not_asked_for)
{
    SCRIPT("open 0 2 32 16", "allreduce 123", "> open 0 want", "> data 1-7 want", "idle", "at 100",
           "< result 0 = result", "idle", "timer 400", "at 400", "> probe 1 want", "idle", "at 450",
           "< result 1-2 = result", "idle", "at 500", "< result 1 = duplicate", "idle", "< result 3 = result",
           "idle");
    SCRIPT("open 0 2 32 16", "allreduce 123", "> open 0 want", "> data 1-7 want", "idle", "at 100",
           "< result 0 = result", "idle", "timer 400", "at 400", "> probe 1 want", "idle", "at 450",
           "< result 1 = result", "> probe 2-3 want", "idle", "at 460", "< result 2 = result",
           "< result 1 = duplicate", "idle", "< result 3 = result", "< result 2 = duplicate", "idle");
}

TEST(what_is_handed_back_is_repeated_until_it_arrives)
{
    SCRIPT("open 0 2 4 4", "inplace 43", "> open 0 want", "> data 1-2 want", "at 100",
           "< result 0-1 = result", "resume 8 0 ok", "> restore 0-1", "> data 2 want", "idle", "timer 350",
           "at 350", "> probe 0", "idle", "at 450", "< nack 0 = news",
           "> restore 0", /* what was sent with it may be lost, too */
           "> probe 1", "> probe 2 want", "idle", "at 550", "< ack 0 = news", "idle", "< nack 1 = news",
           "> restore 1", "< result 2 = result", "status done", "sum", "< ack 1 = news", "timer never");
}

TEST(results_are_kept_when_the_call_has_ended)
{
    SCRIPT("open 0 2 4 4", "allreduce 12", "> open 0 want", "> data 1 want", "< result 0-1 = result",
           "reduce 12 1", "> open 2", "> data 3", "< ack 2-3 = result", "status done", "at 1000",
           "resume 9 0 ok", "status done",
           /* two results, two contributions to sums that others hold */
           "> restore 0-1", "> open 2", "> data 3", "idle", "at 1100", "< ack 0 = news",
           /* the next call goes on behind them */
           "allreduce 12", "> open 4 want", "idle", "< ack 3 = news", "idle", "< ack 1 = news",
           "> data 5 want", "< ack 2 = news", "< result 4-5 = result", "status done", "sum", "timer never");
}

/* Rank 1, which lacks the first of four sums, does not come back: this rank waits for it there, and cannot
 * ask about the oldest one that it has not contributed to itself. */
TEST(who_is_missing_after_a_restart_is_known)
{
    SCRIPT("open 0 2 4 4", "reduce 75 1", "> open 0", "> data 1-3", "idle", "at 100", "< ack 0-3 = result",
           "oldest 4", "resume 8 0 ok", "> open 0", "> data 1-3", "idle", "missing", "at 350", "> probe 0",
           "< wait 0 0x1 = news", "missing 1", "< ack 0 = news", "missing");
}

TEST(a_switch_can_be_lost_again_and_again)
{
    SCRIPT("open 0 2 4 4", "allreduce 107", "> open 0 want", "> data 1-3 want", "< result 0 = result",
           "resume 8 0 ok", "> restore 0", "> data 1 want", "resume 9 1 ok", "> data 1-4 want", "idle",
           "< result 2 = result", "resume 10 1 ok", "> data 1 want", "> restore 2", "> data 3-4 want", "idle",
           "< result 1 = result", "> data 5 want", "< ack 2 = news", "> data 6 want", "< result 3-6 = result",
           "status done", "sum");
}

/* A contribution of the switch's earlier life was still under way: the chunk can complete before it is sent
 * again, and then the chunk a turn before it is done as well. */
TEST(a_result_can_come_before_its_chunk_is_sent_again)
{
    SCRIPT("open 0 2 2 2", "allreduce 43", "> open 0 want", "> data 1 want", "< result 0 = result",
           "> data 2 want", "resume 8 0 ok", "> restore 0", "> data 1 want", "< result 2 = result", "idle",
           "< ack 0 = duplicate", "< result 1 = result", "status done", "sum", "timer never", "idle");
}

TEST(what_is_no_longer_kept_cannot_be_resumed)
{
    SCRIPT("open 0 2 2 2", "resume 8 1 gone", "allreduce 43", "> open 0 want", "> data 1 want",
           "< result 0-1 = result", "> data 2 want", "< result 2 = result", "status done", "resume 8 0 gone",
           "resume 8 4 gone", "resume 8 1 ok", "> restore 1-2");
    SCRIPT("open 0 2 4 4", "allreduce 1", "> open 0 want", "< result 0 = result", "resume 8 0 ok",
           "> restore 0");
}

/* Every kind of packet that a switch sends, under a number that is not the job's. */
#define ALL_KINDS_ABOUT(chunk)                                                                               \
    "< result " chunk " = bad", "< nack " chunk " = bad", "< wait " chunk " 0x1 = bad",                      \
        "< reject " chunk " 9 = bad", "< mismatch " chunk " 0 = bad", "status running", "missing", "idle"

TEST(packets_of_another_job_are_refused_whatever_they_say)
{
    SCRIPT("open 0 2 4 4", "allreduce 43", "> open 0 want", "> data 1-2 want", "at 20000", "> probe 0 want",
           "job 6", ALL_KINDS_ABOUT("0"), "job 7", "< wait 0 0x1 = news", "missing 1", "< nack 0 = news",
           "> open 0 want", "< result 0 = result", "at 60000", "> probe 1 want",
           /* late packets of the switch's earlier life, in which the job had its old number */
           "resume 8 0 ok", "> restore 0", "> data 1-2 want", "at 80000", "> probe 0", "job 7",
           ALL_KINDS_ABOUT("1"), "< ack 0 = bad", "job 8", "< ack 0 = news", "< result 1-2 = result",
           "status done", "sum");
}

TEST(only_sound_calls_begin)
{
    struct script sc = {.line = "calls"};
    int32_t x[4] = {0};

    script_open(&sc, 1, 2, 4, 4);
    const struct {
        struct xfer_call call;
        const void *in;
        void *out;
        int rc;
    } cases[] = {
        {{0, 0, AGG_I32, AGG_SUM, 0, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, 3, AGG_I32, AGG_SUM, 0, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, XFER_ALLREDUCE, 0, AGG_SUM, 0, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, XFER_ALLREDUCE, AGG_TYPES, AGG_SUM, 0, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, XFER_ALLREDUCE, AGG_I32, 0, 0, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, XFER_ALLREDUCE, AGG_I32, AGG_OPS, 0, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, XFER_ALLREDUCE, AGG_F32, AGG_BAND, 0, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, XFER_ALLREDUCE, AGG_I32, AGG_SUM, 1, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, XFER_REDUCE, AGG_I32, AGG_SUM, 2, 4, 0, 0, 0}, x, x, -EINVAL},
        {{0, XFER_ALLREDUCE, AGG_I32, AGG_SUM, 0, 4, 0, 0, 0}, NULL, x, -EINVAL},
        {{0, XFER_ALLREDUCE, AGG_I32, AGG_SUM, 0, 4, 0, 0, 0}, x, NULL, -EINVAL},
        {{0, XFER_ALLREDUCE, AGG_I32, AGG_SUM, 0, UINT64_MAX / 2, 0, 0, 0}, x, x, -EOVERFLOW},
        {{0, XFER_ALLREDUCE, AGG_F64, AGG_SUM, 0, UINT64_C(1) << 40, 0, 0, 0}, x, x, -EOVERFLOW},
        {{0, XFER_REDUCE, AGG_I32, AGG_SUM, 0, 4, 0, 0, 0}, x, NULL, 0},
        {{0, XFER_REDUCE, AGG_I32, AGG_SUM, 0, 4, 0, 0, 0}, x, NULL, -EBUSY},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sc.line_number = i;
        SCRIPT_CHECK(&sc, sml_stream_begin(sc.stream, &cases[i].call, cases[i].in, cases[i].out, 0) ==
                              cases[i].rc);
    }
    free(sc.stream);
}

TEST(only_sound_segments_begin)
{
    struct script sc = {.line = "segments"};
    int32_t x[4] = {0};
    struct xfer_segment good[] = {
        {.in = x, .out = x, .count = 1}, {0}, {.in = x + 1, .out = x + 1, .count = 3}};
    struct xfer_segment no_in = {.out = x, .count = 1}, no_out = {.in = x, .count = 1};
    struct xfer_segment huge[] = {{.in = x, .out = x, .count = UINT64_MAX / 8},
                                  {.in = x, .out = x, .count = UINT64_MAX / 8}};
    const struct xfer_call all = {.collective = XFER_ALLREDUCE, .type = AGG_I32, .op = AGG_SUM, .count = 77};
    const struct xfer_call one = {.collective = XFER_REDUCE, .type = AGG_I32, .op = AGG_SUM};

    script_open(&sc, 1, 2, 4, 4);
    SCRIPT_CHECK(&sc, sml_stream_begin_segments(sc.stream, &all, &no_in, 1, 0) == -EINVAL);
    SCRIPT_CHECK(&sc, sml_stream_begin_segments(sc.stream, &all, &no_out, 1, 0) == -EINVAL);
    SCRIPT_CHECK(&sc, sml_stream_begin_segments(sc.stream, &all, huge, 2, 0) == -EOVERFLOW);
    SCRIPT_CHECK(&sc, sml_stream_begin_segments(sc.stream, &all, good, 3, 0) == 0);
    SCRIPT_CHECK(&sc, sml_stream_oldest_call(sc.stream)->count == 4); /* theirs, whatever the call says */
    SCRIPT_CHECK(&sc, sml_stream_begin_segments(sc.stream, &all, good, 3, 0) == -EBUSY);
    script_open(&sc, 1, 2, 4, 4);
    SCRIPT_CHECK(&sc, sml_stream_begin_segments(sc.stream, &one, &no_out, 1, 0) == 0);
    script_open(&sc, 1, 2, 4, 4);
    SCRIPT_CHECK(&sc, sml_stream_begin_segments(sc.stream, &all, NULL, 0, 0) == 0);
    SCRIPT_CHECK(&sc, sml_stream_oldest_call(sc.stream)->count == 0);
    SCRIPT_CHECK(&sc, sml_stream_left(sc.stream) == 1);
    free(sc.stream);
}

TEST(only_sound_configurations_have_a_footprint)
{
    struct sml_stream_config sound = {.format = XFER_FORMAT_TYPED,
                                      .rank = 1,
                                      .workers = 2,
                                      .slots = 4,
                                      .chunk_bytes = 64},
                             c;

    CU_ASSERT(sml_stream_footprint(&sound) > 0);
    c = sound, c.rank = 2;
    CU_ASSERT_EQUAL(sml_stream_footprint(&c), 0);
    c = sound, c.workers = AGG_MAX_RANKS + 1;
    CU_ASSERT_EQUAL(sml_stream_footprint(&c), 0);
    c = sound, c.slots = 3;
    CU_ASSERT_EQUAL(sml_stream_footprint(&c), 0);
    c = sound, c.slots = 0;
    CU_ASSERT_EQUAL(sml_stream_footprint(&c), 0);
    c = sound, c.slots = 32768;
    CU_ASSERT_EQUAL(sml_stream_footprint(&c), 0);
    c = sound, c.chunk_bytes = 60;
    CU_ASSERT_EQUAL(sml_stream_footprint(&c), 0);
    c = sound, c.chunk_bytes = SML_MAX_CHUNK_BYTES + 4;
    CU_ASSERT_EQUAL(sml_stream_footprint(&c), 0);
}

/* A right result, spoilt in one place at a time, is bad and leaves no trace; then the right one is taken. */
TEST(a_spoilt_result_is_refused)
{
    struct script sc = {.line = "spoil"};
    uint8_t good[SML_HEADER_BYTES + SCRIPT_CHUNK_BYTES], bad[sizeof(good) + 8];
    struct sml_packet p;
    struct xfer_send send;

    script_open(&sc, 0, 2, 4, 4);
    script_begin(&sc, XFER_ALLREDUCE, 27, 0, false);
    while (sml_stream_poll(sc.stream, 0, &send))
        ;
    p = script_header(&sc, SML_OPEN, 0);
    sml_build_header(good, &p);
    xfer_build_call(good + SML_HEADER_BYTES, &sc.call);
    size_t bytes = SML_HEADER_BYTES + XFER_CALL_BYTES;
    bytes += script_elements(&sc, 0, 10, good + bytes);

    for (size_t i = 0; i < SML_HEADER_BYTES + XFER_CALL_BYTES; i++) {
        sc.line_number = (unsigned)i;
        if (i == 9 || i == SML_HEADER_BYTES + 7) /* the flags, and a reserved byte */
            continue;
        memcpy(bad, good, bytes);
        bad[i] ^= 0x41;
        enum xfer_receive worth = sml_stream_receive(sc.stream, bad, bytes, 0);
        SCRIPT_CHECK(&sc,
                     worth == XFER_RX_BAD || worth == XFER_RX_DUPLICATE); /* a tag can become an old one */
    }
    memset(bad, 0, sizeof(bad));
    memcpy(bad, good, bytes);
    for (size_t n = 0; n < sizeof(bad); n++) {
        sc.line_number = (unsigned)n;
        if (n != bytes)
            SCRIPT_CHECK(&sc, sml_stream_receive(sc.stream, bad, n, 0) == XFER_RX_BAD);
    }
    for (unsigned i = 0; i < 27; i++)
        CU_ASSERT_EQUAL(sc.out[i], -1);
    CU_ASSERT_EQUAL(sml_stream_receive(sc.stream, good, bytes, 0), XFER_RX_RESULT);
    free(sc.stream);
}

/* With a checksum agreed, whatever leaves carries one of this rank's, and only what carries one of the
 * switch's is taken. */
TEST(with_a_checksum_nothing_without_it_counts)
{
    struct script sc = {.line = "checksum"};
    uint8_t sent[SML_HEADER_BYTES + SCRIPT_CHUNK_BYTES + XFER_TRAILER_BYTES], good[sizeof(sent)];
    struct xfer_stats stats;
    struct sml_packet p;
    struct xfer_send send;

    script_open(&sc, 1, 2, 4, 4);
    free(sc.stream);
    sc.cfg.checksum = XFER_CHECKSUM_CRC32C;
    sc.stream = stream_of(&sc.cfg);
    script_begin(&sc, XFER_ALLREDUCE, 11, 0, false);
    CU_ASSERT_FATAL(sml_stream_poll(sc.stream, 0, &send));
    size_t bytes = xfer_send_copy(&send, sent);
    CU_ASSERT_EQUAL_FATAL(sml_parse(&p, sent, bytes), SML_OK);
    CU_ASSERT(sml_checksum_holds(&p, XFER_CHECKSUM_CRC32C, 1));

    p = script_header(&sc, SML_OPEN, 0);
    p.checksum = XFER_CHECKSUM_CRC32C;
    sml_build_header(good, &p);
    xfer_build_call(good + SML_HEADER_BYTES, &sc.call);
    bytes = SML_HEADER_BYTES + XFER_CALL_BYTES;
    bytes += script_elements(&sc, 0, 10, good + bytes);
    sml_build_trailer(good + bytes, 1, good, bytes, NULL, 0); /* as if a rank had sent it */
    CU_ASSERT_EQUAL(sml_stream_receive(sc.stream, good, bytes + XFER_TRAILER_BYTES, 0), XFER_RX_DAMAGED);
    sml_build_trailer(good + bytes, XFER_SWITCH, good, bytes, NULL, 0);
    for (size_t i = 2; i < bytes + XFER_TRAILER_BYTES; i++) {
        good[i] ^= 0x08;
        CU_ASSERT_EQUAL(sml_stream_receive(sc.stream, good, bytes + XFER_TRAILER_BYTES, 0), XFER_RX_DAMAGED);
        good[i] ^= 0x08;
    }
    good[0] ^= 0x08; /* no checksum: the trailer is four bytes more of elements */
    CU_ASSERT_EQUAL(sml_stream_receive(sc.stream, good, bytes, 0), XFER_RX_DAMAGED);
    good[0] ^= 0x08;
    for (unsigned i = 0; i < 11; i++)
        CU_ASSERT_EQUAL(sc.out[i], -1);
    CU_ASSERT_EQUAL(sml_stream_receive(sc.stream, good, bytes + XFER_TRAILER_BYTES, 0), XFER_RX_RESULT);
    sml_stream_stats(sc.stream, &stats);
    CU_ASSERT_EQUAL(stats.damaged, bytes + XFER_TRAILER_BYTES);
    CU_ASSERT_EQUAL(stats.bad, 0);
    free(sc.stream);
}

static unsigned send_all(struct script *sc)
{
    struct xfer_send send;
    unsigned n = 0;

    for (; sml_stream_poll(sc->stream, sc->now, &send); n++)
        ;
    return n;
}

/* Rounds of 800 us in which half of what is in flight is answered, so that the window grows. */
TEST(results_may_gather_while_many_are_in_flight_and_keep_coming)
{
    struct script sc = {.line = ""};
    unsigned answered = 0, in_flight;

    script_open(&sc, 0, 2, 256, 256);
    script_begin(&sc, XFER_ALLREDUCE, SCRIPT_COUNT_MAX, 0, false);
    in_flight = send_all(&sc);
    CU_ASSERT(in_flight < 64);
    while (in_flight < 64 && answered < 128) {
        CU_ASSERT_EQUAL(sml_stream_rest(sc.stream, sc.now), 0);
        sc.now += 800000;
        for (unsigned n = in_flight / 2; n > 0; n--, in_flight--)
            script_receive(&sc, "result", answered++, "", "result");
        in_flight += send_all(&sc);
    }
    CU_ASSERT(in_flight >= 64);
    uint64_t rest = sml_stream_rest(sc.stream, sc.now);
    CU_ASSERT(rest > 0 && rest <= 100000);
    /* a peer has gone silent: nothing gathers */
    CU_ASSERT_EQUAL(sml_stream_rest(sc.stream, sc.now + 10000000), 0);
    free(sc.stream);
}

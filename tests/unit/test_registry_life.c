/* The registry: what can happen to a running job. */
#include "registry_script.h"

TEST(unconfirmed_ready_is_pushed_again)
{
    play(4, "running 2\n"
            "alive b\n"
            "wait 0.1\n"
            "  a READY 128 slots 1460 bytes\n"
            "wait 0.1\n"
            "wait 0.1\n"
            "  a READY 128 slots 1460 bytes\n"
            "wait 3.2\n"
            "  a READY 128 slots 1460 bytes\n"
            "  a READY 128 slots 1460 bytes\n"
            "  a READY 128 slots 1460 bytes\n"
            "alive a b\n"
            "wait 5\n");
}

TEST(abort_first_one_counts)
{
    play(4, "running 2\n"
            "ABORT b first\n"
            "  close\n"
            "  ab ABORTED application: first\n"
            "ABORT a second\n"
            "  a ABORTED application: first\n"
            "HEARTBEAT a\n"
            "  a ABORTED application: first\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "again\n"
            "  a LEFT\n"
            "wait 3.4\n"
            "  b ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "HEARTBEAT b\n"
            "  b UNKNOWN\n");
}

TEST(lost)
{
    play(4, "running 3\n"
            "alive a b c\n"
            "wait 6\n"
            "alive a\n"
            "wait 4\n"
            "again\n"
            "  a ALIVE\n"
            "wait 0.1\n"
            "  close\n"
            "  abc ABORTED rank lost: ranks 1 and 2 (10.0.0.2, 10.0.0.3) lost: no sign of life for 10.1 s\n"
            "HEARTBEAT b\n"
            "  b ABORTED rank lost: ranks 1 and 2 (10.0.0.2, 10.0.0.3) lost: no sign of life for 10.1 s\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "HEARTBEAT c\n"
            "  c UNKNOWN\n");
}

/* Whose HEARTBEATs are lost, but whose packets come, lives; and who has sent none since is lost as ever. */
TEST(who_sends_packets_is_not_lost)
{
    play(4, "running 3\n"
            "alive a b c\n"
            "wait 6\n"
            "packets a b c\n"
            "wait 6\n"
            "packets a b\n"
            "wait 4.2\n"
            "  close\n"
            "  abc ABORTED rank lost: rank 2 (10.0.0.3) lost: no sign of life for 10.1 s\n"
            "HEARTBEAT a\n"
            "  a ABORTED rank lost: rank 2 (10.0.0.3) lost: no sign of life for 10.1 s\n");
}

/* With a switch or a host several ranks die at once, each some time after its last heartbeat. */
TEST(those_that_died_with_the_lost_one_are_named)
{
    play(4, "running 3\n"
            "alive a b c\n"
            "wait 1.9\n"
            "alive a c\n"
            "wait 6\n"
            "alive a\n"
            "wait 2.2\n"
            "  close\n"
            "  abc ABORTED rank lost: ranks 1 and 2 (10.0.0.2, 10.0.0.3) lost: no sign of life for 10.1 s\n");
    play(4, "running 3\n"
            "alive a b c\n"
            "wait 2.2\n"
            "alive a c\n"
            "wait 6\n"
            "alive a\n"
            "wait 1.9\n"
            "  close\n"
            "  abc ABORTED rank lost: rank 1 (10.0.0.2) lost: no sign of life for 10.1 s\n");
}

/* A rank that waits to get in may say so as rarely as every second. */
TEST(silence_counts_from_ready_on)
{
    play(4, "hasty\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "wait 1.1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  ab READY 128 slots 1460 bytes\n"
            "alive b\n"
            "wait 0.1\n"
            "  a READY 128 slots 1460 bytes\n"
            "alive a\n");
}

/* Its READY was lost, and it with its link. It would found a job of its own, and wait there for those who
 * have heard. */
TEST(who_was_lost_before_it_knew_of_the_job_hears_why)
{
    play(4, "running 2\n"
            "alive b\n"
            "wait 6\n"
            "  a READY 128 slots 1460 bytes\n"
            "  a READY 128 slots 1460 bytes\n"
            "  a READY 128 slots 1460 bytes\n"
            "  a READY 128 slots 1460 bytes\n"
            "  a READY 128 slots 1460 bytes\n"
            "alive b\n"
            "wait 4.1\n"
            "  close\n"
            "  ab ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "wait 4.8\n"
            "  a ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  a ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  a ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  a ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  a ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "JOIN a 0/2\n"
            "  a ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "wait 0.2\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n");
}

TEST(a_failed_job_ends_with_its_members)
{
    play(4, "running 1\n"
            "HEARTBEAT a stranger\n"
            "  a UNKNOWN\n"
            "alive a\n"
            "loud\n"
            "wait 10.1\n"
            "  close\n"
            "  job 't': failed (rank lost): rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  a ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  job 't': over: all ranks have left or fallen silent\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n");
}

/* Until its ranks have left, it lingers beside the next one of its name. */
TEST(a_failed_job_is_listed_until_another_has_its_name)
{
    play(4, "running 2\n"
            "ABORT b first\n"
            "  close\n"
            "  ab ABORTED application: first\n"
            "list\n"
            "  failed\n"
            "JOIN c 0/2\n"
            "  c PENDING rank 1\n"
            "list\n"
            "  forming\n"
            "JOIN d 1/2\n"
            "  open\n"
            "  cd READY 128 slots 1460 bytes\n"
            "ABORT c second\n"
            "  close\n"
            "  cd ABORTED application: second\n"
            "list\n"
            "  failed\n");
}

/* A switch that was stopped for a while has not listened: its members' silence is its own. */
TEST(own_absence_loses_nobody)
{
    play(4, "running 1\n"
            "alive a\n"
            "wait 1\n"
            "sleep 60\n"
            "alive a\n");
}

/* A port has one owner at a time, but a JOIN from it may be a late copy of an earlier owner's: it is no proof
 * that the member has died. */
TEST(a_late_join_from_a_members_endpoint)
{
    play(4, "running 2\n"
            "alive a b\n"
            "JOIN c 1/2 like=b\n"
            "  c PENDING occupied by ranks 0 and 1\n"
            "again\n"
            "  c PENDING occupied by ranks 0 and 1\n"
            "wait 1\n"
            "HEARTBEAT b\n"
            "  c REFUSED rank taken: rank 1 (10.0.0.2) is taken by a process that is alive\n"
            "  b ALIVE\n"
            "alive a\n");
    /* The same while the job forms. */
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN c 0/2 like=a\n"
            "  c PENDING occupied by rank 0\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  ab READY 128 slots 1460 bytes\n");
}

TEST(killed_and_back_on_the_same_endpoint)
{
    play(4, "running 2\n"
            "alive a b\n"
            "wait 3\n"
            "JOIN d 1/2 like=b\n"
            "  d PENDING occupied by ranks 0 and 1\n"
            "alive a\n"
            "wait 7.1\n"
            "  close\n"
            "  ab ABORTED rank lost: rank 1 (10.0.0.2) lost: no sign of life for 10.1 s\n"
            "JOIN d 1/2 like=b\n"
            "  d PENDING rank 0\n"
            "JOIN e 0/2\n"
            "  open\n"
            "  ed READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ABORTED rank lost: rank 1 (10.0.0.2) lost: no sign of life for 10.1 s\n"
            "alive e\n");
}

TEST(killed_and_back_on_another_endpoint)
{
    play(4, "running 2\n"
            "alive a b\n"
            "wait 3\n"
            "JOIN c 1/2\n"
            "  c PENDING occupied by ranks 0 and 1\n"
            "alive a\n"
            "wait 7\n"
            "wait 0.1\n"
            "  close\n"
            "  ab ABORTED rank lost: rank 1 (10.0.0.2) lost: no sign of life for 10.1 s\n"
            "JOIN c 1/2\n"
            "  c PENDING rank 0\n");
}

TEST(rank_left)
{
    play(4, "running 2\n"
            "HEARTBEAT b calls=1 waiting\n"
            "  b ALIVE\n"
            "LEAVE a calls=2\n"
            /* b's collective is complete in the switch; b will get it */
            "  a LEFT\n"
            "HEARTBEAT b calls=2\n"
            "  b ALIVE\n"
            "HEARTBEAT b calls=2 waiting\n"
            "  b ALIVE\n"
            "  close\n"
            "  b ABORTED rank left: rank 0 (10.0.0.1) left after 2 collectives, but rank 1 (10.0.0.2) waits "
            "for it in another\n"
            "LEAVE b calls=2\n"
            "  b LEFT\n"
            "HEARTBEAT b\n"
            "  b UNKNOWN\n");
}

TEST(rank_left_while_others_wait)
{
    play(4, "running 3\n"
            "HEARTBEAT a calls=5 waiting\n"
            "  a ALIVE\n"
            "LEAVE c calls=5\n"
            "  c LEFT\n"
            "  close\n"
            "  ab ABORTED rank left: rank 2 (10.0.0.3) left after 5 collectives, but rank 0 (10.0.0.1) waits "
            "for it in another\n");
}

TEST(late_messages)
{
    play(4, "running 2\n"
            "alive a a\n"
            "old a LEAVE\n"
            "old a ABORT\n"
            "alive a\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "JOIN a 0/2\n"
            "  a LEFT\n"
            "HEARTBEAT a\n"
            "  a LEFT\n"
            "ABORT a after all\n"
            "  a LEFT\n"
            "alive b\n");
}

TEST(stalled_is_reported)
{
    play(4, "running 3\n"
            "alive a\n"
            "HEARTBEAT b calls=7\n"
            "  b ALIVE\n"
            "alive c\n"
            "wait 2.5\n"
            "loud\n"
            "HEARTBEAT c calls=6 waiting stalled=2100\n"
            "  c ALIVE\n"
            "HEARTBEAT a calls=7 waiting stalled=2200\n"
            "  a ALIVE\n"
            "wait 0.1\n"
            "  job 't': rank 0 (10.0.0.1) has waited 2.2 s in collective 7 for ranks 1 and 2 (10.0.0.2, "
            "10.0.0.3)\n"
            "wait 1.9\n"
            "HEARTBEAT a calls=7 waiting stalled=4200\n"
            "  a ALIVE\n"
            "wait 0.1\n"
            "  job 't': rank 0 (10.0.0.1) has waited 4.2 s in collective 7 for ranks 1 and 2 (10.0.0.2, "
            "10.0.0.3)\n"
            "HEARTBEAT c calls=7 waiting stalled=0\n"
            "  c ALIVE\n"
            "HEARTBEAT b calls=7 waiting stalled=0\n"
            "  b ALIVE\n"
            "wait 4\n"
            "  job 't': rank 0 (10.0.0.1) has waited 4.2 s in collective 7, though all that are there are "
            "in it\n"
            "HEARTBEAT a calls=8\n"
            "  a ALIVE\n"
            "wait 1\n"
            "  job 't': goes on, after 8.3 s of waiting\n"
            "wait 1\n"
            "HEARTBEAT a calls=9 waiting stalled=1900\n"
            "  a ALIVE\n"
            "wait 1\n"
            "HEARTBEAT a calls=10\n"
            "  a ALIVE\n"
            "wait 1\n");
}

/* Named ever more rarely, for as long as it lives, and never ended unless the configuration says so. */
TEST(who_is_late_is_not_dead)
{
    play(4, "running 2\n"
            "alive a b\n"
            "wait 3\n"
            "loud\n"
            "HEARTBEAT a calls=1 waiting stalled=3000\n"
            "  a ALIVE\n"
            "wait 5\n"
            "  job 't': rank 0 (10.0.0.1) has waited 3.0 s in collective 1 for rank 1 (10.0.0.2)\n"
            "  job 't': rank 0 (10.0.0.1) has waited 3.0 s in collective 1 for rank 1 (10.0.0.2)\n"
            "HEARTBEAT a calls=1 waiting stalled=8000\n"
            "  a ALIVE\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "wait 5\n"
            "  job 't': rank 0 (10.0.0.1) has waited 8.0 s in collective 1 for rank 1 (10.0.0.2)\n"
            "HEARTBEAT a calls=1 waiting stalled=13000\n"
            "  a ALIVE\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "wait 3\n"
            "list\n"
            "  running\n"
            "HEARTBEAT b calls=1 waiting\n"
            "  b ALIVE\n"
            "HEARTBEAT a calls=2\n"
            "  a ALIVE\n"
            "wait 2\n"
            "  job 't': goes on, after 16.0 s of waiting\n");
}

#define LATE_ENDS                                                                                            \
    "rank 1 (10.0.0.2) late: others have waited 5.0 s in collective 1 (timers.late_ends_s in the switch's "  \
    "configuration)"

TEST(who_is_late_for_too_long_ends_the_job)
{
    play(4, "strict 5\n"
            "running 3\n"
            "alive a b c\n"
            "wait 4.9\n"
            "loud\n"
            "HEARTBEAT a calls=1 waiting stalled=4900\n"
            "  a ALIVE\n"
            "HEARTBEAT c calls=1 waiting stalled=4800\n"
            "  c ALIVE\n"
            "wait 0.1\n"
            "  job 't': rank 0 (10.0.0.1) has waited 4.9 s in collective 1 for rank 1 (10.0.0.2)\n"
            "HEARTBEAT a calls=1 waiting stalled=5000\n"
            "  a ALIVE\n"
            "wait 0.1\n"
            "  close\n"
            "  job 't': failed (deadline): " LATE_ENDS "\n"
            "  abc ABORTED deadline: " LATE_ENDS "\n");
}

/* However long they wait: it is for nobody that they do. */
TEST(who_is_there_is_not_late)
{
    play(4, "strict 5\n"
            "running 2\n"
            "alive a b\n"
            "wait 6\n"
            "loud\n"
            "HEARTBEAT a calls=1 waiting stalled=6000\n"
            "  a ALIVE\n"
            "HEARTBEAT b calls=1 waiting stalled=6000\n"
            "  b ALIVE\n"
            "wait 1\n"
            "  job 't': rank 0 (10.0.0.1) has waited 6.0 s in collective 1, though all that are there are in "
            "it\n");
}

/* All have waited for a switch that had restarted, or had stood still: one that comes back in an older
 * collective than the others, or has not said yet in which it is, is not late. */
TEST(who_waits_for_the_switch_is_not_late)
{
    play(4, "strict 5\n"
            "running 2\n"
            "restart\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 resume=100\n"
            "  open\n"
            "  ab READY 128 slots 1460 bytes resumed at 100\n"
            "loud\n"
            "HEARTBEAT a calls=7 waiting stalled=60000\n"
            "  a ALIVE\n"
            "wait 0.1\n"
            "  b READY 128 slots 1460 bytes resumed at 100\n"
            "HEARTBEAT b calls=6 waiting stalled=60000\n"
            "  b ALIVE\n"
            "wait 1\n");
    play(4, "strict 5\n"
            "running 2\n"
            "alive a b\n"
            "wait 1\n"
            "sleep 60\n"
            "loud\n"
            "HEARTBEAT a calls=7 waiting stalled=60000\n"
            "  a ALIVE\n"
            "wait 1\n"
            "HEARTBEAT b calls=6 waiting stalled=60000\n"
            "  b ALIVE\n"
            "wait 1\n");
}

/* A JOIN that does not know the switch may be a late copy from before its restart: it changes nothing. */
TEST(join_by_a_stranger)
{
    play(4, "JOIN a 0/2 stranger\n"
            "  a PENDING no rank\n"
            "running 2\n"
            "restart\n"
            "again\n"
            "  b PENDING no rank\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 stranger\n"
            "  b PENDING no rank\n"
            "JOIN b 1/2 resume=101\n"
            "  open\n"
            "  ab READY 128 slots 1460 bytes resumed at 100\n");
}

TEST(the_operator_ends_a_job)
{
    play(4, "running 2\n"
            "end\n"
            "  close\n"
            "  ab ABORTED ended by the operator: the switch's operator has ended the job\n"
            "end\n"
            "  nothing\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "JOIN c 0/2\n"
            "  c PENDING rank 1\n"
            "end\n"
            "  c ABORTED ended by the operator: the switch's operator has ended the job\n");
}

TEST(a_drained_job_lets_nobody_else_in)
{
    play(4, "drain\n"
            "  nothing\n"
            "running 2\n"
            "alive a b\n"
            "drain\n"
            "JOIN c 0/2\n"
            "  c REFUSED not admitted: the switch's operator lets the job of this name come to its end: "
            "nobody else "
            "may join\n"
            "JOIN a 0/2\n"
            "  a READY 128 slots 1460 bytes\n"
            "alive a b\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "  close\n"
            "JOIN c 0/2\n"
            "  c PENDING rank 1\n"
            "drain\n"
            "  c ABORTED ended by the operator: the switch's operator has ended the job\n");
}

/* Ranks of the one tenant never get into the other's job, and neither does what the operator does. */
TEST(the_operator_names_tenants)
{
    play(4, "JOIN a 0/1 job=shared\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "JOIN b 0/1 job=shared\n"
            "  open\n"
            "  b READY 128 slots 1460 bytes\n"
            "alive a b\n"
            "drain shared of 1\n"
            "JOIN c 0/1 job=shared\n"
            "  c REFUSED not admitted: the switch's operator lets the job of this name come to its end: "
            "nobody else may join\n"
            "JOIN d 0/1 job=shared\n"
            "  d PENDING occupied by rank 0\n"
            "end shared of 0\n"
            "  close\n"
            "  b ABORTED ended by the operator: the switch's operator has ended the job\n"
            "alive a\n"
            "end shared of 0\n"
            "  nothing\n"
            "end shared of 1\n"
            "  close\n"
            "  a ABORTED ended by the operator: the switch's operator has ended the job\n");
}

/* Another than the one that began under its name after the restart. */
TEST(a_job_resumes_beside_a_drained_one_of_its_name)
{
    play(4, "running 1\n"
            "drain\n"
            "JOIN b 0/2 resume=5 among=bc\n"
            "  b PENDING rank 1\n"
            "JOIN c 1/2 resume=5 among=bc\n"
            "  open\n"
            "  b READY 128 slots 1460 bytes resumed at 5\n"
            "  c READY 128 slots 1460 bytes resumed at 5\n"
            "JOIN d 0/2\n"
            "  d REFUSED not admitted: the switch's operator lets the job of this name come to its end: "
            "nobody else may join\n");
}

TEST(nobody_joins_from_a_fixed_worker_s_address)
{
    play(4, "running 1\n"
            "JOIN b 0/1 job=other fixed\n"
            "  b REFUSED not admitted: port 4000 of host 2 is fixed\n"
            "JOIN c 0/2 job=other\n"
            "  c PENDING rank 1\n");
}

/* Another router, say: from the same IP address and port, and knowing the job. */
TEST(a_member_may_get_another_mac_address)
{
    play(
        4,
        "running 2\n"
        "alive a b\n"
        "loud\n"
        "HEARTBEAT a mac=77\n"
        "  rank 0 moved to 77\n"
        "  job 't': rank 0 speaks from MAC address 02:00:00:00:00:4d now: another router or network card has "
        "taken over\n"
        "  a ALIVE\n"
        "HEARTBEAT a\n"
        "  a ALIVE\n"
        "ABORT b gone\n" /* a hears of it where it is now */
        "  close\n"
        "  job 't': failed (application): gone\n"
        "  ab ABORTED application: gone\n");
}

TEST(a_copy_moves_nobody)
{
    play(4, "running 2\n"
            "alive a b\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "again mac=77\n"
            "  a ALIVE\n"
            "HEARTBEAT a mac=97\n" /* where it always was */
            "  a ALIVE\n");
}

TEST(a_stranger_moves_nobody)
{
    play(4, "running 2\n"
            "alive a b\n"
            "HEARTBEAT a stranger mac=77\n"
            "  a UNKNOWN\n"
            "HEARTBEAT a mac=97\n"
            "  a ALIVE\n");
}

/* Who asks whether the switch is there, by a heartbeat of nobody under no boot id, was in no job. */
TEST(who_only_asks_keeps_nobody_waiting)
{
    play(4, "wait 0.1\n"
            "HEARTBEAT c asks\n"
            "  c UNKNOWN\n"
            "running 2\n");
}
/* Of jobs at several switches. Numbers are compared modulo 2^32. */
TEST(who_tells_what_it_has_finished_hears_who_has_not)
{
    play(4, "running 3\n"
            "HEARTBEAT a finished=4294967295\n"
            "  a ALIVE 2 behind\n" /* they have told nothing yet */
            "HEARTBEAT b finished=4294967295\n"
            "  b ALIVE 1 behind\n"
            "HEARTBEAT c finished=0\n"
            "  c ALIVE 2 behind\n"
            "HEARTBEAT a finished=1\n"
            "  a ALIVE 2 behind\n"
            "HEARTBEAT b finished=0\n"
            "  b ALIVE\n"
            "HEARTBEAT b finished=1\n"
            "  b ALIVE 1 behind\n"
            "LEAVE c finished=1\n"
            "  c LEFT\n"
            "HEARTBEAT b finished=1\n"
            "  b ALIVE\n");
}

TEST(who_does_not_tell_what_it_has_finished_is_not_behind)
{
    play(4, "running 2\n"
            "HEARTBEAT a finished=1\n"
            "  a ALIVE 1 behind\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "HEARTBEAT a finished=1\n"
            "  a ALIVE\n");
}

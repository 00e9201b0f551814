/* The registry: what can happen to a running job, and how a job is resumed after a restart of the switch. */
#include "registry_script.h"

static void test_unconfirmed_ready_is_pushed_again(void)
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

static void test_abort_first_one_counts(void)
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

static void test_lost(void)
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

/* A rank that waits to get in may say so as rarely as every second. */
static void test_silence_counts_from_ready_on(void)
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

static void test_a_failed_job_ends_with_its_members(void)
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

/* A switch that was stopped for a while has not listened: its members' silence is its own. */
static void test_own_absence_loses_nobody(void)
{
    play(4, "running 1\n"
            "alive a\n"
            "wait 1\n"
            "sleep 60\n"
            "alive a\n");
}

/* A port has one owner at a time, but a JOIN from it may be a late copy of an earlier owner's: it is no proof
 * that the member has died. */
static void test_a_late_join_from_a_members_endpoint(void)
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

static void test_killed_and_back_on_the_same_endpoint(void)
{
    play(4, "running 2\n"
            "alive a b\n"
            "wait 2\n"
            "JOIN d 1/2 like=b\n"
            "  d PENDING occupied by ranks 0 and 1\n"
            "alive a\n"
            "wait 8.1\n"
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

static void test_killed_and_back_on_another_endpoint(void)
{
    play(4, "running 2\n"
            "alive a b\n"
            "wait 2\n"
            "JOIN c 1/2\n"
            "  c PENDING occupied by ranks 0 and 1\n"
            "alive a\n"
            "wait 8\n"
            "wait 0.1\n"
            "  close\n"
            "  ab ABORTED rank lost: rank 1 (10.0.0.2) lost: no sign of life for 10.1 s\n"
            "JOIN c 1/2\n"
            "  c PENDING rank 0\n");
}

static void test_rank_left(void)
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

static void test_rank_left_while_others_wait(void)
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

static void test_late_messages(void)
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

static void test_stalled_is_reported(void)
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
            "  job 't': rank 0 (10.0.0.1) has waited 4.2 s in collective 7, though all ranks are in it\n"
            "HEARTBEAT a calls=8\n"
            "  a ALIVE\n"
            "wait 1\n");
}

static void test_resume(void)
{
    play(4, "running 3\n"
            "restart\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "JOIN a 0/3 resume=4294967280\n"
            "  a PENDING ranks 1 and 2\n"
            "HEARTBEAT a\n"
            /* sent before it knew */
            "  a UNKNOWN\n"
            "JOIN b 1/3 resume=4294967290\n"
            "  b PENDING rank 2\n"
            "JOIN a 0/3 resume=35\n"
            "  a PENDING rank 2\n"
            "JOIN c 2/3 resume=10\n"
            "  open\n"
            "  abc READY 128 slots 1460 bytes resumed at 4294967290\n"
            "JOIN c 2/3 resume=10\n"
            "  c READY 128 slots 1460 bytes resumed at 4294967290\n"
            "alive c\n");
}

/* Late packets from before the restart must not find a job under their number. The script's prepare, which
 * takes one number after the other from 0, says when it may not. */
static void test_resume_under_another_number(void)
{
    play(4, "JOIN a 0/1 was=0\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n");
    play(4, "JOIN a 0/2 resume=5\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 resume=5 was=0\n"
            "  open, but not under its old number\n"
            "  ab READY 128 slots 1460 bytes resumed at 5\n");
}

static void test_resume_too_far_apart(void)
{
    play(4, "JOIN a 0/2 slots=64 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 slots=64 resume=164\n"
            "  open\n"
            "  ab READY 64 slots 1460 bytes resumed at 100\n");
    play(4, "JOIN a 0/2 slots=64 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 slots=64 resume=165\n"
            "  ab ABORTED cannot resume: the ranks are 65 chunks apart, further than 64 slots allow\n");
    play(4,
         "JOIN a 0/3 slots=64 resume=0\n"
         "  a PENDING ranks 1 and 2\n"
         "JOIN b 1/3 slots=64 resume=2147483647\n"
         "  b PENDING rank 2\n"
         "JOIN c 2/3 slots=64 resume=4294967294\n"
         "  abc ABORTED cannot resume: the ranks are 2147483649 chunks apart, further than 64 slots allow\n");
}

static void test_resume_other_terms(void)
{
    play(4, "JOIN a 0/2 slots=64 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 slots=32 resume=100\n"
            "  ab ABORTED cannot resume: rank 0 had 64 slots and 1460 bytes a chunk, rank 1 had 32 and 1460: "
            "not the same job\n");
}

/* Others may have taken the room while the switch was starting, and may go again. */
static void test_resume_waits_for_room(void)
{
    play(4, "full\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "loud\n"
            "JOIN b 1/2 resume=100\n"
            "  job 't': rank 1 of 2 has joined again\n"
            "  job 't': all ranks are back, but there is no room yet: all slots are in use\n"
            "  b PENDING no room\n"
            "wait 2\n"
            "  job 't': all ranks are there, waiting for room for 2.0 s\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING no room\n"
            "roomy\n"
            "wait 0.1\n"
            "  open\n"
            "  job 't': resumed: 2 ranks, number 0, switchml, format typed, mode ordered, "
            "checksum none, slots 128, chunk_bytes 1460, resumed 1\n"
            "  ab READY 128 slots 1460 bytes resumed at 100\n");
    play(4, "numberless\n"
            "JOIN a 0/1 resume=100\n"
            "  a PENDING no room\n"
            "wait 9.9\n"
            "JOIN a 0/1 resume=100\n"
            "  a PENDING no room\n"
            "wait 0.1\n"
            "  a ABORTED no jobs: all numbers are in use\n");
}

/* A process that cannot show that it was in a job has no part in it; when a rank of the job does not come
 * back, the job ends, and says for whom it waited. */
static void test_fresh_rank_among_resuming(void)
{
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN d 1/3\n"
            "  d PENDING occupied by rank 0\n"
            "JOIN c 2/3 resume=100\n"
            "  c PENDING rank 1\n"
            "JOIN b 1/3 resume=100\n"
            "  open\n"
            "  abc READY 128 slots 1460 bytes resumed at 100\n");
    play(4, "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "wait 5\n"
            "JOIN d 1/2\n"
            "  d PENDING occupied by rank 0\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "wait 5\n"
            "  a ABORTED cannot resume: rank 1 did not come back within 10.0 s after the switch restarted\n"
            "JOIN d 1/2\n"
            "  d PENDING rank 0\n"
            "JOIN b 1/2 resume=100\n" /* too late */
            "  b REFUSED cannot resume: rank 1 did not come back within 10.0 s after the switch restarted\n");
}

/* Strangers of the same name, under the same terms or others, before all members are back and before any is.
 */
static void test_strangers_among_resuming(void)
{
    play(4,
         "JOIN a 0/2 resume=100\n"
         "  a PENDING rank 1\n"
         "JOIN d 3/4 mode=0\n"
         "  d PENDING occupied by rank 0\n"
         "JOIN e 0/2\n"
         "  e PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2 resume=100\n"
         "  d REFUSED terms differ: rank 3 (10.0.0.4) says that there are 4 ranks, rank 0 (10.0.0.1) says 2\n"
         "  a PENDING rank 1\n"
         "JOIN b 1/2 resume=100\n"
         "  open\n"
         "  ab READY 128 slots 1460 bytes resumed at 100\n"
         "alive a b\n"
         "JOIN e 0/2\n"
         "  e PENDING occupied by ranks 0 and 1\n"
         "wait 1\n"
         "HEARTBEAT a\n"
         "  e REFUSED rank taken: rank 0 (10.0.0.1) is taken by a process that is alive\n"
         "  a ALIVE\n");
    play(4, "loud\n"
            "JOIN d 3/4 mode=0\n"
            "  job 't': rank 3 of 4 has joined\n"
            "  d PENDING ranks 0-2\n"
            "JOIN a 0/2 resume=100\n"
            "  job 't': gives way to a job that ran before the switch restarted\n"
            "  job 't': rank 0 of 2 has joined again\n"
            "  a PENDING rank 1\n"
            "JOIN d 3/4 mode=0\n"
            "  d PENDING occupied by rank 0\n");
    /* The stranger's job runs already: the two share the name, and nothing else. */
    play(4, "JOIN d 0/1\n"
            "  open\n"
            "  d READY 128 slots 1460 bytes\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 resume=100\n"
            "  open\n"
            "  ab READY 128 slots 1460 bytes resumed at 100\n"
            "alive d a b\n");
}

/* Jobs from before a restart get the places and the room first. */
static void test_resumers_go_first(void)
{
    play(1, "loud\n"
            "JOIN d 0/2 job=other\n"
            "  job 'other': rank 0 of 2 has joined\n"
            "  d PENDING rank 1\n"
            "JOIN a 0/2 resume=100\n"
            "  job 'other': gives its place to a job that ran before the switch restarted\n"
            "  job 't': rank 0 of 2 has joined again\n"
            "  a PENDING rank 1\n"
            "JOIN d 0/2 job=other\n"
            "  d REFUSED no jobs: the switch has 1 jobs, as many as its limits.jobs allows: t\n");
    /* Also where their host has founded as many as it may. */
    play(4, "JOIN b 0/2 job=j1\n"
            "  b PENDING rank 1\n"
            "JOIN c 0/2 job=j2 host=b\n"
            "  c PENDING rank 1\n"
            "wait 0.01\n"
            "JOIN d 0/2 job=j3 host=b\n"
            "  d PENDING rank 1\n"
            "loud\n"
            "JOIN a 0/2 resume=100 host=b\n"
            "  job 'j3': gives its place to a job that ran before the switch restarted\n"
            "  job 't': rank 0 of 2 has joined again\n"
            "  a PENDING rank 1\n");
    play(4, "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN d 0/1 job=other\n"
            "  d PENDING no room\n"
            "JOIN b 1/2 resume=100\n"
            "  open\n"
            "  ab READY 128 slots 1460 bytes resumed at 100\n"
            "alive a b\n"
            "wait 0.1\n"
            "  open\n"
            "  d READY 128 slots 1460 bytes\n");
    /* A heartbeat of the old job comes before its JOIN. */
    play(4, "running 1\n"
            "restart\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "JOIN d 0/1 job=other\n"
            "  d PENDING no room\n"
            "JOIN a 0/1 resume=100\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes resumed at 100\n"
            "alive a\n"
            "wait 2.4\n"
            "wait 0.1\n"
            "  open\n"
            "  d READY 128 slots 1460 bytes\n");
}

/* The switch restarted when some ranks were READY and others had not heard of it yet: no chunk can have
 * completed without these, so all go on together, whoever comes first. */
static void test_resume_with_ranks_that_never_were_ready(void)
{
    play(4, "JOIN a 0/3 resume=100 slots=64\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3 waited\n"
            "  b PENDING rank 2\n"
            "JOIN c 2/3 resume=100 slots=64\n"
            "  open\n"
            "  a READY 64 slots 1460 bytes resumed at 100\n"
            "  b READY 64 slots 1460 bytes\n"
            "  c READY 64 slots 1460 bytes resumed at 100\n");
    play(4, "JOIN b 1/2 waited\n"
            "  b PENDING rank 0\n"
            "JOIN a 0/2 resume=100 slots=64\n"
            "  open\n"
            "  a READY 64 slots 1460 bytes resumed at 100\n"
            "  b READY 64 slots 1460 bytes\n");
    /* Only the job's old number is to be avoided. */
    play(4, "JOIN b 1/2 waited was=0\n"
            "  b PENDING rank 0\n"
            "JOIN a 0/2 resume=100 was=0\n"
            "  open, but not under its old number\n"
            "  a READY 128 slots 1460 bytes resumed at 100\n"
            "  b READY 128 slots 1460 bytes\n");
    play(4, "JOIN a 0/2 waited was=0\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 resume=7 was=9\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes resumed at 7\n");
    play(4, "JOIN a 0/2 waited\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 waited\n"
            "  open\n"
            "  ab READY 128 slots 1460 bytes\n");
}

/* A process that waited may not be the one that the others were READY with: that one may have had sums. Only
 * the roster can tell, so each that comes for the rank gets its turn. */
static void test_waiting_is_no_proof(void)
{
    play(4, "JOIN x 1/2 waited\n"
            "  x PENDING rank 0\n"
            "JOIN a 0/2 resume=100 among=ab\n"
            "  a PENDING rank 1\n"
            "JOIN x 1/2 waited\n"
            "  x PENDING rank 1\n"
            "JOIN b 1/2 waited\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes resumed at 100\n"
            "  b READY 128 slots 1460 bytes\n");
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN x 1/3 waited\n"
            "  x PENDING rank 2\n"
            "JOIN b 1/3 waited\n"
            "  b PENDING rank 2\n"
            "JOIN c 2/3 resume=100\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes resumed at 100\n"
            "  b READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes resumed at 100\n");
    play(4, "JOIN x 0/2 waited\n"
            "  x PENDING rank 1\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN x 0/2 waited\n"
            "  x PENDING occupied by rank 0\n");
    play(4,
         "JOIN a 0/2 resume=100 among=ax\n"
         "  a PENDING rank 1\n"
         "JOIN b 1/2 resume=100 among=ax\n"
         "  ab ABORTED cannot resume: the ranks that came back are not those that were in the job before the "
         "switch restarted\n");
}

static void test_newcomer_among_resuming_and_waiting(void)
{
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3 waited\n"
            "  b PENDING rank 2\n"
            "JOIN d 2/3\n"
            "  d PENDING occupied by ranks 0 and 1\n"
            "JOIN e 1/3\n" /* nor does it take the place of one that waited */
            "  e PENDING occupied by ranks 0 and 1\n"
            "JOIN c 2/3 resume=100\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes resumed at 100\n"
            "  b READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes resumed at 100\n");
    play(4, "JOIN b 1/3 waited\n"
            "  b PENDING ranks 0 and 2\n"
            "JOIN d 2/3\n"
            "  d PENDING rank 0\n"
            "JOIN a 0/3 resume=100\n" /* d gives way */
            "  a PENDING rank 2\n"
            "JOIN c 2/3 resume=100\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes resumed at 100\n"
            "  b READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes resumed at 100\n");
    /* One that has waited goes before a newcomer, too: others may come back to it. */
    play(4, "JOIN d 2/3 mode=0\n"
            "  d PENDING ranks 0 and 1\n"
            "JOIN b 1/3 waited\n"
            "  b PENDING ranks 0 and 2\n"
            "JOIN d 2/3 mode=0\n"
            "  d PENDING occupied by rank 1\n");
    /* The only one that resumed leaves: the one that waited is told. */
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3 waited\n"
            "  b PENDING rank 2\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "  b ABORTED cannot resume: rank 0 (10.0.0.1) left, so the job cannot resume\n");
}

static void test_leave_and_abort_while_resuming(void)
{
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3 resume=100\n"
            "  b PENDING rank 2\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "  a ABORTED cannot resume: rank 1 (10.0.0.2) left, so the job cannot resume\n"
            "JOIN c 2/3 resume=100\n"
            "  c REFUSED cannot resume: rank 1 (10.0.0.2) left, so the job cannot resume\n");
}

/* A JOIN that does not know the switch may be a late copy from before its restart: it changes nothing. */
static void test_join_by_a_stranger(void)
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

/* Pools that take time */

static void test_a_pool_that_is_ready_later(void)
{
    play(4, "slow\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 slots=4096\n"
            "  prepare\n"
            "  b PENDING preparing\n"
            "JOIN a 0/2\n"
            "  a PENDING preparing\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "JOIN c 1/2\n"
            "  c PENDING occupied by ranks 0 and 1\n"
            "wait 3\n"
            "prepared\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "prepared\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "  close\n");
}

static void test_a_pool_that_never_will_be_ready(void)
{
    play(4, "slow\n"
            "JOIN a 0/1\n"
            "  prepare\n"
            "  a PENDING preparing\n"
            "lacking\n"
            "  a ABORTED no slots: the parent has no slots\n"
            "lacking\n"
            "prepared\n");
}

/* What comes for a job that does not wait for it any more is nobody's. */
static void test_a_rank_goes_while_the_pool_is_made(void)
{
    play(4, "slow\n"
            "loud\n"
            "JOIN a 0/2\n"
            "  job 't': rank 0 of 2 has joined\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  job 't': rank 1 of 2 has joined\n"
            "  prepare\n"
            "  job 't': all ranks are there, its pool is being made\n"
            "  b PENDING preparing\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "  job 't': rank 1 has left\n"
            "  never mind\n"
            "prepared\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN c 1/2\n"
            "  job 't': rank 1 of 2 has joined\n"
            "  prepare\n"
            "  job 't': all ranks are there, its pool is being made\n"
            "  c PENDING preparing\n"
            "wait 2\n"
            "  job 't': all ranks are there, waiting for its pool for 2.0 s\n"
            "JOIN a 0/2\n"
            "  a PENDING preparing\n"
            "wait 8.1\n"
            "  job 't': all ranks are there, waiting for its pool for 4.0 s\n"
            "  job 't': all ranks are there, waiting for its pool for 8.0 s\n"
            "  job 't': forgotten, silent for too long: rank 1 (10.0.0.3)\n"
            "  never mind\n"
            "prepared\n");
}

static void test_abort_while_the_pool_is_made(void)
{
    play(4, "slow\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  prepare\n"
            "  b PENDING preparing\n"
            "ABORT a no more\n"
            "  never mind\n"
            "  a ABORTED application: no more\n"
            "  b ABORTED application: no more\n"
            "prepared\n");
}

/* It has as long as its ranks had to come back; there may be room later, until then. */
static void test_a_resumed_job_waits_for_its_pool(void)
{
    play(4, "slow\n"
            "restart\n"
            "JOIN a 0/1 resume=5\n"
            "  prepare\n"
            "  a PENDING preparing\n"
            "lacking\n"
            "JOIN a 0/1 resume=5\n"
            "  a PENDING no room\n"
            "wait 0.1\n"
            "  prepare\n"
            "prepared\n"
            "  a READY 128 slots 1460 bytes resumed at 5\n");
    play(4, "slow\n"
            "restart\n"
            "JOIN a 0/1 resume=5\n"
            "  prepare\n"
            "  a PENDING preparing\n"
            "wait 9\n"
            "JOIN a 0/1 resume=5\n"
            "  a PENDING preparing\n"
            "wait 1\n"
            "  never mind\n"
            "  a ABORTED cannot resume: all ranks are there, but the switch was not ready for the job within "
            "10.0 s\n");
}

static void test_the_operator_ends_a_job(void)
{
    play(4, "running 2\n"
            "end\n"
            "  close\n"
            "  ab ABORTED not admitted: the switch's operator has ended the job\n"
            "end\n"
            "  nothing\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "JOIN c 0/2\n"
            "  c PENDING rank 1\n"
            "end\n"
            "  c ABORTED not admitted: the switch's operator has ended the job\n");
}

static void test_a_drained_job_lets_nobody_else_in(void)
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
            "  c ABORTED not admitted: the switch's operator has ended the job\n");
}

/* Ranks of the one tenant never get into the other's job, and neither does what the operator does. */
static void test_the_operator_names_tenants(void)
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
            "  b ABORTED not admitted: the switch's operator has ended the job\n"
            "alive a\n"
            "end shared of 0\n"
            "  nothing\n"
            "end shared of 1\n"
            "  close\n"
            "  a ABORTED not admitted: the switch's operator has ended the job\n");
}

/* Another than the one that began under its name after the restart. */
static void test_a_job_resumes_beside_a_drained_one_of_its_name(void)
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

static void test_nobody_joins_from_a_fixed_worker_s_address(void)
{
    play(4, "running 1\n"
            "JOIN b 0/1 job=other fixed\n"
            "  b REFUSED not admitted: port 4000 of host 2 is fixed\n"
            "JOIN c 0/2 job=other\n"
            "  c PENDING rank 1\n");
}

/* Another router, say: from the same IP address and port, and knowing the job. */
static void test_a_member_may_get_another_mac_address(void)
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

static void test_a_copy_moves_nobody(void)
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

static void test_a_stranger_moves_nobody(void)
{
    play(4, "running 2\n"
            "alive a b\n"
            "HEARTBEAT a stranger mac=77\n"
            "  a UNKNOWN\n"
            "HEARTBEAT a mac=97\n"
            "  a ALIVE\n");
}

/* Who asks whether the switch is there, by a heartbeat of nobody under no boot id, was in no job. */
static void test_who_only_asks_keeps_nobody_waiting(void)
{
    play(4, "wait 0.1\n"
            "HEARTBEAT c asks\n"
            "  c UNKNOWN\n"
            "running 2\n");
}

/* Another process has the registry's jobs now. */
static void test_a_running_job_goes_on_in_another_process(void)
{
    play(4, "running 3\n"
            "alive a b c\n"
            "wait 9\n"
            "reborn\n"
            "alive a b c\n"
            "wait 9\n"
            "alive b c\n"
            "wait 2\n"
            "  close\n"
            "  abc ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  abc ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  abc ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n"
            "  abc ABORTED rank lost: rank 0 (10.0.0.1) lost: no sign of life for 10.1 s\n");
}

static void test_ready_may_not_have_been_sent_before(void)
{
    play(4, "running 2\n"
            "reborn\n"
            "alive a\n"
            "wait 0.1\n"
            "  b READY 128 slots 1460 bytes\n"
            "JOIN b 1/2\n"
            "  b READY 128 slots 1460 bytes\n"
            "alive b\n"
            "wait 5\n");
}

static void test_who_has_left_is_remembered(void)
{
    play(4, "running 2\n"
            "HEARTBEAT b calls=1 waiting\n"
            "  b ALIVE\n"
            "LEAVE a calls=2\n"
            "  a LEFT\n"
            "reborn\n"
            "again\n"
            "  a LEFT\n"
            "HEARTBEAT b calls=2 waiting\n"
            "  b ALIVE\n"
            "  close\n"
            "  b ABORTED rank left: rank 0 (10.0.0.1) left after 2 collectives, but rank 1 (10.0.0.2) waits "
            "for it in another\n");
}

static void test_what_cannot_go_on(void)
{
    struct stage *s = open_stage(2), *other = open_stage(2);
    struct ctl_member members[2];
    struct ctl_entry job;

    s->silent = true;
    do_line(s, "JOIN a 0/2");
    do_line(s, "JOIN b 1/2");
    job = *ctl_registry_entry(s->registry, 0);
    CU_ASSERT_EQUAL_FATAL(job.state, CTL_ENTRY_RUNNING);
    memcpy(members, job.members, sizeof members);
    job.members = members;
    CU_ASSERT_FALSE(ctl_registry_restore(s->registry, &job, s->now)); /* it is there */
    job.epoch++;
    CU_ASSERT_FALSE(ctl_registry_restore(s->registry, &job, s->now)); /* its number is taken */
    job.number++;
    members[1].endpoint.key = 1;
    CU_ASSERT_FALSE(ctl_registry_restore(other->registry, &job, other->now)); /* there are no keys */
    job.keyed = true;
    CU_ASSERT_FALSE(ctl_registry_restore(other->registry, &job, other->now));
    job.keyed = false;
    members[1].endpoint.key = 0;
    job.size = 0;
    CU_ASSERT_FALSE(ctl_registry_restore(other->registry, &job, other->now));
    job.size = 2;
    CU_ASSERT_TRUE(ctl_registry_restore(s->registry, &job, s->now));
    job.epoch++;
    job.number++;
    CU_ASSERT_FALSE(ctl_registry_restore(s->registry, &job, s->now)); /* there is no room */
    CU_ASSERT_TRUE(ctl_registry_restore(other->registry, &job, other->now));
    close_stage(other);
    close_stage(s);
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_unconfirmed_ready_is_pushed_again),
        UNIT_TEST(test_abort_first_one_counts),
        UNIT_TEST(test_lost),
        UNIT_TEST(test_silence_counts_from_ready_on),
        UNIT_TEST(test_a_failed_job_ends_with_its_members),
        UNIT_TEST(test_own_absence_loses_nobody),
        UNIT_TEST(test_a_late_join_from_a_members_endpoint),
        UNIT_TEST(test_killed_and_back_on_the_same_endpoint),
        UNIT_TEST(test_killed_and_back_on_another_endpoint),
        UNIT_TEST(test_rank_left),
        UNIT_TEST(test_rank_left_while_others_wait),
        UNIT_TEST(test_late_messages),
        UNIT_TEST(test_stalled_is_reported),
        UNIT_TEST(test_resume),
        UNIT_TEST(test_resume_under_another_number),
        UNIT_TEST(test_resume_too_far_apart),
        UNIT_TEST(test_resume_other_terms),
        UNIT_TEST(test_resume_waits_for_room),
        UNIT_TEST(test_fresh_rank_among_resuming),
        UNIT_TEST(test_strangers_among_resuming),
        UNIT_TEST(test_resumers_go_first),
        UNIT_TEST(test_resume_with_ranks_that_never_were_ready),
        UNIT_TEST(test_waiting_is_no_proof),
        UNIT_TEST(test_newcomer_among_resuming_and_waiting),
        UNIT_TEST(test_leave_and_abort_while_resuming),
        UNIT_TEST(test_join_by_a_stranger),
        UNIT_TEST(test_a_pool_that_is_ready_later),
        UNIT_TEST(test_a_pool_that_never_will_be_ready),
        UNIT_TEST(test_a_rank_goes_while_the_pool_is_made),
        UNIT_TEST(test_abort_while_the_pool_is_made),
        UNIT_TEST(test_a_resumed_job_waits_for_its_pool),
        UNIT_TEST(test_the_operator_ends_a_job),
        UNIT_TEST(test_a_drained_job_lets_nobody_else_in),
        UNIT_TEST(test_the_operator_names_tenants),
        UNIT_TEST(test_a_job_resumes_beside_a_drained_one_of_its_name),
        UNIT_TEST(test_nobody_joins_from_a_fixed_worker_s_address),
        UNIT_TEST(test_a_member_may_get_another_mac_address),
        UNIT_TEST(test_a_copy_moves_nobody),
        UNIT_TEST(test_a_stranger_moves_nobody),
        UNIT_TEST(test_who_only_asks_keeps_nobody_waiting),
        UNIT_TEST(test_a_running_job_goes_on_in_another_process),
        UNIT_TEST(test_ready_may_not_have_been_sent_before),
        UNIT_TEST(test_who_has_left_is_remembered),
        UNIT_TEST(test_what_cannot_go_on),
        CU_TEST_INFO_NULL,
    };
    return unit_main("control/registry, running jobs", tests);
}

/* The registry: how a job is resumed after a restart of the switch, or goes on in another process. */
#include "registry_script.h"

TEST(resume)
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
TEST(resume_under_another_number)
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

/* Only then can the job have run before. */
TEST(who_resumes_soon_after_the_start_comes_back)
{
    struct stage *s = open_stage(4);

    s->silent = true;
    do_line(s, "JOIN a 0/2 resume=5");
    CU_ASSERT(ctl_registry_entry(s->registry, 0)->came_back);
    do_line(s, "wait 60");
    CU_ASSERT_EQUAL_FATAL(ctl_registry_entry(s->registry, 0)->state, CTL_ENTRY_FREE);
    do_line(s, "JOIN b 0/2 resume=5");
    CU_ASSERT(ctl_registry_entry(s->registry, 0)->resumed);
    CU_ASSERT(!ctl_registry_entry(s->registry, 0)->came_back);
    close_stage(s);
}

/* So whoever says so later has no claim to his place before others. */
TEST(who_resumes_later_makes_room_as_newcomers_do)
{
    play(4, "wait 60\n"
            "JOIN a 0/2 job=j1 resume=5\n"
            "  a PENDING rank 1\n"
            "JOIN b 0/2 job=j2 host=a resume=5\n"
            "  b PENDING rank 1\n"
            "JOIN c 0/2 job=j3 host=a resume=5\n"
            "  c PENDING rank 1\n"
            "JOIN d 0/2 job=j4 resume=5\n"
            "  d PENDING rank 1\n"
            "loud\n"
            "wait 0.01\n"
            "JOIN e 0/2 job=j5\n"
            "  job 'j1': gives its place to a host that has fewer\n"
            "  job 'j5': rank 0 of 2 has joined\n"
            "  e PENDING rank 1\n");
}

TEST(resume_too_far_apart)
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

/* Who has gone to another switch meanwhile, and whose word of it was lost, has chunks behind him since:
 * nothing ends for what he lacked when he came. */
TEST(what_a_silent_rank_lacked_when_it_came_fails_nothing)
{
    play(4, "JOIN a 0/2 slots=64 resume=100\n"
            "  a PENDING rank 1\n"
            "wait 1.1\n"
            "JOIN b 1/2 slots=64 resume=300\n"
            "  b PENDING rank 0\n"
            "JOIN a 0/2 slots=64 resume=290\n"
            "  open\n"
            "  ab READY 64 slots 1460 bytes resumed at 290\n");
}

TEST(resume_other_terms)
{
    play(4, "JOIN a 0/2 slots=64 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 slots=32 resume=100\n"
            "  ab ABORTED cannot resume: rank 0 had 64 slots and 1460 bytes a chunk, rank 1 had 32 and 1460: "
            "not the same job\n");
}

/* Others may have taken the room while the switch was starting, and may go again. */
TEST(resume_waits_for_room)
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
TEST(fresh_rank_among_resuming)
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
TEST(strangers_among_resuming)
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
         "  a PENDING rank 1, turned away: rank 3, terms differ\n"
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
TEST(resumers_go_first)
{
    play(1,
         "loud\n"
         "JOIN d 0/2 job=other\n"
         "  job 'other': rank 0 of 2 has joined\n"
         "  d PENDING rank 1\n"
         "JOIN a 0/2 resume=100\n"
         "  job 'other': gives its place to a job that ran before the switch restarted\n"
         "  job 't': rank 0 of 2 has joined again\n"
         "  a PENDING rank 1\n"
         "JOIN d 0/2 job=other\n"
         "  d PENDING no room\n"
         "JOIN b 1/2 resume=100\n"
         "  job 't': rank 1 of 2 has joined again\n"
         "  open\n"
         "  job 't': resumed: 2 ranks, number 0, switchml, format typed, mode ordered, checksum none, slots "
         "128, chunk_bytes 1460, resumed 1\n"
         "  ab READY 128 slots 1460 bytes resumed at 100\n"
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
TEST(resume_with_ranks_that_never_were_ready)
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
TEST(waiting_is_no_proof)
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

TEST(newcomer_among_resuming_and_waiting)
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
    /* The only one that resumed leaves: nothing shows that the one that waited was with it. */
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3 waited\n"
            "  b PENDING rank 2\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "JOIN b 1/3 waited\n"
            "  b PENDING ranks 0 and 2\n");
}

/* Who says that he was in a job before the restart, or waited for one, is believed only as long as that can
 * be: later he takes nothing from anybody, however often he asks. */
TEST(late_claims_take_nothing)
{
    play(2, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "wait 10\n"
            "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "loud\n"
            "JOIN x 0/3 waited\n"
            "  x PENDING occupied by rank 0\n"
            "JOIN y 1/2 resume=100 among=yz\n" /* under other terms */
            "  job 't': rank 1 of 2 has joined again\n"
            "  y PENDING rank 0\n"
            "JOIN z 0/3 resume=100 among=vwz\n" /* under these */
            "  z REFUSED no jobs: the switch has 2 jobs, as many as its limits.jobs allows: t, t\n"
            "JOIN v 0/1 resume=100 job=v\n"
            "  v REFUSED no jobs: the switch has 2 jobs, as many as its limits.jobs allows: t, t\n"
            "JOIN b 1/3\n"
            "  job 't': rank 1 of 3 has joined\n"
            "  b PENDING rank 2\n"
            "JOIN c 2/3\n"
            "  job 't': rank 2 of 3 has joined\n"
            "  open\n"
            "  job 't': ready: 3 ranks, number 0, switchml, format typed, mode ordered, checksum none, slots "
            "128, chunk_bytes 1460, resumed 0\n"
            "  abc READY 128 slots 1460 bytes\n");
    /* The whole job may be late, since a port of an ordinary switch on the way was not open yet. */
    play(4, "wait 60\n"
            "JOIN b 1/3 waited\n"
            "  b PENDING ranks 0 and 2\n"
            "JOIN a 0/3 resume=100\n"
            "  a PENDING rank 2\n"
            "JOIN c 2/3 waited\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes resumed at 100\n"
            "  bc READY 128 slots 1460 bytes\n");
}

/* In a tree a switch below has restarted, and this one's members are gone: it has not restarted itself, and
 * does not say so. */
TEST(who_comes_back_alone_is_told_no_restart)
{
    play(1, "wait 60\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "wait 10\n"
            "  a ABORTED cannot resume: rank 1 did not come back within 10.0 s to a job that did not run "
            "here any more\n");
}

/* Ranks that had to give way have not failed, and come back. */
TEST(who_gave_way_comes_back)
{
    play(1, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN x 0/2 resume=100 job=other\n"
            "  x PENDING rank 1\n"
            "JOIN a 0/2\n"
            "  a PENDING no room\n"
            "wait 10\n"
            "  x ABORTED cannot resume: rank 1 did not come back within 10.0 s after the switch restarted\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  ab READY 128 slots 1460 bytes\n");
}

/* Only the roster can tell whether one that has waited belongs to the job that resumes. Until then neither
 * speaks for the other. */
TEST(one_that_has_waited_ends_no_job)
{
    static const char *const ends[] = {"LEAVE x\n  x LEFT\n", "ABORT x enough\n  x UNKNOWN\n"};
    char script[1000];

    for (unsigned i = 0; i < 2; i++) {
        snprintf(script, sizeof script,
                 "JOIN a 0/3 resume=100\n"
                 "  a PENDING ranks 1 and 2\n"
                 "JOIN x 1/3 waited\n"
                 "  x PENDING rank 2\n"
                 "%s"
                 "JOIN b 1/3 resume=100\n"
                 "  b PENDING rank 2\n"
                 "JOIN c 2/3 resume=100\n"
                 "  open\n"
                 "  abc READY 128 slots 1460 bytes resumed at 100\n",
                 ends[i]);
        play(4, script);
    }
}

TEST(one_that_resumes_ends_no_job_of_those_that_have_waited)
{
    static const char *const ends[] = {
        "LEAVE e\n  e LEFT\n", "ABORT e enough\n  e ABORTED application: enough\n",
        "wait 4\nJOIN a 0/3 waited\n  a PENDING rank 2\nwait 6\n"
        "  e ABORTED cannot resume: rank 2 did not come back within 10.0 s after the switch restarted\n"};
    char script[1000];

    for (unsigned i = 0; i < 3; i++) {
        snprintf(script, sizeof script,
                 "JOIN a 0/3 waited\n"
                 "  a PENDING ranks 1 and 2\n"
                 "JOIN e 1/3 resume=100 among=efg\n"
                 "  e PENDING rank 2\n"
                 "%s"
                 "JOIN a 0/3 waited\n"
                 "  a PENDING ranks 1 and 2\n"
                 "JOIN b 1/3 waited\n"
                 "  b PENDING rank 2\n"
                 "JOIN c 2/3 waited\n"
                 "  open\n"
                 "  abc READY 128 slots 1460 bytes\n",
                 ends[i]);
        play(4, script);
    }
}

TEST(leave_and_abort_while_resuming)
{
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3 resume=100\n"
            "  b PENDING rank 2\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "  a ABORTED left while resuming: rank 1 (10.0.0.2) left, so the job cannot resume\n"
            "JOIN c 2/3 resume=100\n"
            "  c REFUSED left while resuming: rank 1 (10.0.0.2) left, so the job cannot resume\n");
}

/* Who comes later is told, for as long as all would have been waited for. */
TEST(the_first_to_be_back_leaves)
{
    play(4, "JOIN a 0/2 resume=100 among=ab\n"
            "  a PENDING rank 1\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "wait 5\n"
            "JOIN b 1/2 resume=100 among=ab\n"
            "  b REFUSED left while resuming: rank 0 (10.0.0.1) left, so the job cannot resume\n"
            "loud\n"
            "wait 5\n"
            "  job 't': over: all ranks have left or fallen silent\n"
            "JOIN b 1/2 resume=100 among=ab\n"
            "  job 't': rank 1 of 2 has joined again\n"
            "  b PENDING rank 0\n");
}

/* Another process has the registry's jobs now. */
TEST(a_running_job_goes_on_in_another_process)
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

TEST(ready_may_not_have_been_sent_before)
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

TEST(who_has_left_is_remembered)
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

TEST(what_cannot_go_on)
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
    CU_ASSERT(!ctl_registry_restore(s->registry, &job, s->now)); /* it is there */
    job.epoch++;
    CU_ASSERT(!ctl_registry_restore(s->registry, &job, s->now)); /* its number is taken */
    job.number++;
    members[1].endpoint.key = 1;
    CU_ASSERT(!ctl_registry_restore(other->registry, &job, other->now)); /* there are no keys */
    job.keyed = true;
    CU_ASSERT(!ctl_registry_restore(other->registry, &job, other->now));
    job.keyed = false;
    members[1].endpoint.key = 0;
    job.size = 0;
    CU_ASSERT(!ctl_registry_restore(other->registry, &job, other->now));
    job.size = 2;
    CU_ASSERT(ctl_registry_restore(s->registry, &job, s->now));
    job.epoch++;
    job.number++;
    CU_ASSERT(!ctl_registry_restore(s->registry, &job, s->now)); /* there is no room */
    CU_ASSERT(ctl_registry_restore(other->registry, &job, other->now));
    close_stage(other);
    close_stage(s);
}

/* Ranks that have yet to join again when their job fails do not bring it back to life. */
TEST(a_recalled_job_that_has_failed_stays_so)
{
    play(4, "running 2\n"
            "alive a b\n"
            "JOIN a 0/2 resume=5 below=1\n"
            "  close\n"
            "  a PENDING rank 1\n"
            "wait 6\n"
            "JOIN a 0/2 resume=5 below=1\n"
            "  a PENDING rank 1\n"
            "wait 4\n"
            "  a ABORTED cannot resume: rank 1 did not come back within 10.0 s after the switch restarted\n"
            "JOIN b 1/2 resume=5 below=2\n"
            "  b ABORTED cannot resume: rank 1 did not come back within 10.0 s after the switch restarted\n");
    play(4, "running 3\n"
            "alive a b c\n"
            "JOIN a 0/3 resume=5 below=1\n"
            "  close\n"
            "  a PENDING ranks 1 and 2\n"
            "end t\n"
            "  a ABORTED ended by the operator: the switch's operator has ended the job\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "JOIN c 2/3 resume=5 below=2\n"
            "  c ABORTED ended by the operator: the switch's operator has ended the job\n");
}

/* Who leaves while others have yet to join again ends the job, and they are told so. */
TEST(ranks_that_are_recalled_hear_who_has_left)
{
    play(4, "running 3\n"
            "alive a b c\n"
            "JOIN a 0/3 resume=5 below=1\n"
            "  close\n"
            "  a PENDING ranks 1 and 2\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "wait 1\n"
            "HEARTBEAT b\n"
            "  b UNKNOWN, join again\n"
            "JOIN b 1/3 resume=5 below=2\n"
            "  b ABORTED left while resuming: rank 0 (10.0.1.1, at switch 0.0.0.0 on level 2) left, "
            "so the job cannot resume\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "JOIN c 2/3 resume=5 below=2\n"
            "  c ABORTED left while resuming: rank 0 (10.0.1.1, at switch 0.0.0.0 on level 2) left, "
            "so the job cannot resume\n"
            "loud\n"
            "LEAVE c\n"
            "  c LEFT\n"
            "wait 0.1\n"
            "  job 't': over: all ranks have left or fallen silent\n");
    play(4, "running 2\n"
            "alive a b\n"
            "JOIN a 0/2 resume=5 below=1\n"
            "  close\n"
            "  a PENDING rank 1\n"
            "ABORT a of its own accord\n"
            "  a ABORTED application: of its own accord\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "JOIN b 1/2 resume=5 below=2\n"
            "  b ABORTED application: of its own accord\n"
            "loud\n"
            "wait 9.8\n"
            "wait 0.2\n"
            "  job 't': over: all ranks have left or fallen silent\n");
}

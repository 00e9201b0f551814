/* The registry: joining, what is refused, extremes. The scripts are told in registry_script.h. */
#include "registry_script.h"
#include "terms_of.h"

TEST(forms)
{
    play(4, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN c 2/3 slots=100 chunk=1000\n"
            "  c PENDING rank 1\n"
            "JOIN a 0/3 moved\n"
            "  a PENDING rank 1\n"
            "again\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/3 slots=4096\n"
            "  open\n"
            "  a READY 64 slots 1000 bytes\n"
            "  b READY 64 slots 1000 bytes\n"
            "  c READY 64 slots 1000 bytes\n"
            "JOIN b 1/3\n"
            "  b READY 64 slots 1000 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n");
}

/* 1000 bytes, less the header of 10 and a trailer of 4, hold so many whole elements of 4. */
TEST(chunks_fit_the_switch)
{
    play(4, "narrow\n"
            "JOIN a 0/1 chunk=8960\n"
            "  open\n"
            "  a READY 128 slots 988 bytes\n");
    play(4, "narrow\n"
            "JOIN a 0/1 chunk=8960 checksum=1\n"
            "  open\n"
            "  a READY 128 slots 984 bytes\n");
    play(4, "narrow\n"
            "JOIN a 0/1 chunk=400\n"
            "  open\n"
            "  a READY 128 slots 400 bytes\n");
}

TEST(one_rank)
{
    play(4, "JOIN a 0/1\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "  close\n"
            "LEAVE a\n"
            "  a UNKNOWN\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "ABORT a too late\n"
            "  a UNKNOWN\n");
}

TEST(prepare_lowers_slots)
{
    play(4, "JOIN a 0/1 slots=16384\n"
            "  open\n"
            "  a READY 256 slots 1460 bytes\n");
}

TEST(no_slots)
{
    play(4, "full\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  a ABORTED no slots: all slots are in use\n"
            "  b ABORTED no slots: all slots are in use\n"
            "JOIN a 0/2\n"
            "  a ABORTED no slots: all slots are in use\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "JOIN a 0/2\n"
            "  a LEFT\n");
}

TEST(no_numbers)
{
    play(4, "numberless\n"
            "JOIN a 0/1\n"
            "  a ABORTED no jobs: all numbers are in use\n");
}

TEST(forming_forgets_the_silent)
{
    play(4, "loud\n"
            "JOIN a 0/3\n"
            "  job 't': rank 0 of 3 has joined\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  job 't': rank 1 of 3 has joined\n"
            "  b PENDING rank 2\n"
            "wait 2\n"
            "  job 't': waiting for rank 2 for 2.0 s\n"
            "wait 4\n"
            "  job 't': waiting for rank 2 for 4.0 s\n"
            "JOIN a 0/3\n"
            "  a PENDING rank 2\n"
            "wait 4.1\n"
            "  job 't': waiting for rank 2 for 8.0 s\n"
            "  job 't': forgotten, silent for too long: rank 1 (10.0.0.2)\n"
            "wait 5.9\n"
            "  job 't': waiting for ranks 1 and 2 for 16.0 s\n"
            "wait 0.1\n"
            "  job 't': forgotten, silent for too long: rank 0 (10.0.0.1)\n"
            "  job 't': over: nobody is left in it\n");
}

/* JOINs may be a second apart, however soon a running job's members count as lost. */
TEST(forming_is_patient)
{
    play(4, "hasty\n"
            "loud\n"
            "JOIN a 0/2\n"
            "  job 't': rank 0 of 2 has joined\n"
            "  a PENDING rank 1\n"
            "wait 4.9\n"
            "  job 't': waiting for rank 1 for 2.0 s\n"
            "  job 't': waiting for rank 1 for 4.0 s\n"
            "JOIN b 1/2\n"
            "  job 't': rank 1 of 2 has joined\n"
            "  open\n"
            "  job 't': ready: 2 ranks, number 0, switchml, format typed, mode ordered, "
            "checksum none, slots 128, chunk_bytes 1460, resumed 0\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n");
}

TEST(forming_leave_and_abort)
{
    play(4, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  b PENDING rank 2\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "JOIN c 2/3\n"
            "  c PENDING rank 1\n"
            "ABORT c no more\n"
            "  a ABORTED application: no more\n"
            "  c ABORTED application: no more\n"
            "JOIN a 0/3\n"
            "  a ABORTED application: no more\n");
}

TEST(rank_taken)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN c 0/2\n"
            "  c PENDING occupied by rank 0\n"
            "JOIN a 0/2\n" /* may have been sent before it died */
            "  a PENDING rank 1\n"
            "wait 0.2\n"
            "JOIN c 0/2\n"
            "  c PENDING occupied by rank 0\n"
            "JOIN a 0/2\n"
            "  c REFUSED rank taken: rank 0 (10.0.0.1) is taken by a process that is alive\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "JOIN c 0/2\n"
            "  c PENDING occupied by ranks 0 and 1\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "wait 1\n"
            "HEARTBEAT a\n"
            "  c REFUSED rank taken: rank 0 (10.0.0.1) is taken by a process that is alive\n"
            "  a ALIVE\n");
}

/* A copy of what the dead one sent before it died proves nothing. */
TEST(a_copy_is_no_sign_of_life)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "wait 1\n"
            "JOIN c 0/2\n"
            "  c PENDING occupied by rank 0\n"
            "wait 1\n"
            "JOIN a 0/2\n"
            "  c REFUSED rank taken: rank 0 (10.0.0.1) is taken by a process that is alive\n"
            "  a PENDING rank 1\n"
            "wait 1\n"
            "again\n"
            "  a PENDING rank 1\n"
            "wait 9.1\n"
            "JOIN c 0/2\n"
            "  c PENDING rank 1\n");
}

TEST(terms_differ)
{
    play(4,
         "JOIN a 0/2\n"
         "  a PENDING rank 1\n"
         "JOIN c 2/3\n"
         "  c PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  c REFUSED terms differ: rank 2 (10.0.0.3) says that there are 3 ranks, rank 0 (10.0.0.1) says 2\n"
         "  a PENDING rank 1, turned away: rank 2, terms differ\n"
         "JOIN b 1/2 mode=0\n"
         "  b PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  b REFUSED terms differ: rank 1 (10.0.0.2) wants sums on arrival, rank 0 (10.0.0.1) wants ordered "
         "sums\n"
         "  a PENDING rank 1, turned away: rank 1, terms differ\n"
         "JOIN e 1/2 checksum=1\n"
         "  e PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  e REFUSED terms differ: rank 1 (10.0.0.5) wants packets with a CRC32C, rank 0 (10.0.0.1) wants "
         "packets "
         "without a checksum\n"
         "  a PENDING rank 1, turned away: rank 1, terms differ\n"
         "JOIN d 1/2 format=0\n"
         "  d PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  d REFUSED terms differ: rank 1 (10.0.0.4) wants int32 elements with exponents, rank 0 (10.0.0.1) "
         "wants typed elements\n"
         "  a PENDING rank 1, turned away: rank 1, terms differ\n"
         "JOIN f 0/2 checksum=1\n"
         "  f PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  f REFUSED terms differ: another rank 0 (10.0.0.6) wants packets with a CRC32C, rank 0 (10.0.0.1) "
         "wants "
         "packets without a checksum\n"
         "  a PENDING rank 1, turned away: rank 1, terms differ\n"
         "JOIN e 1/2 data=a\n"
         "  e PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  e REFUSED rank taken: rank 1 (10.0.0.1) uses the data port of rank 0 (10.0.0.1)\n"
         "  a PENDING rank 1, turned away: rank 1, rank taken\n");
}

TEST(new_terms_after_the_old_have_died)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 0/4\n"
            "  b PENDING occupied by rank 0\n"
            "wait 10.1\n"
            "JOIN b 0/4\n"
            "  b PENDING ranks 1-3\n");
}

TEST(leaver_comes_back_for_the_next_job)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "HEARTBEAT b calls=2\n"
            "  b ALIVE\n"
            "LEAVE a calls=2\n"
            "  a LEFT\n"
            "JOIN c 0/2 like=a\n"
            "  c PENDING occupied by rank 1\n"
            "wait 1\n"
            "HEARTBEAT b calls=2\n"
            "  b ALIVE\n"
            "LEAVE b calls=2\n"
            "  b LEFT\n"
            "  close\n"
            "JOIN c 0/2 like=a\n"
            "  c PENDING rank 1\n");
}

TEST(who_may_not_join_founds_nothing)
{
    play(1, "JOIN a 0/1 job=closed\n"
            "  a REFUSED not admitted: 10.0.0.1 may not\n"
            "JOIN b 0/1 job=open\n" /* the only place is free */
            "  open\n"
            "  b READY 128 slots 1460 bytes\n");
}

/* Whoever waits for that rank learns why it does not come, until somebody comes in its place. */
TEST(who_waits_learns_who_may_not_join)
{
    play(4, "JOIN a 0/3 job=picky\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3 job=picky\n"
            "  b REFUSED not admitted: 10.0.0.2 may not\n"
            "JOIN c 2/3 job=picky\n"
            "  c PENDING rank 1, turned away: rank 1, not admitted\n"
            "JOIN a 0/3 job=picky\n"
            "  a PENDING rank 1, turned away: rank 1, not admitted\n"
            "LEAVE c calls=0\n"
            "  c LEFT\n"
            "JOIN d 1/3 job=picky\n"
            "  d PENDING rank 2\n");
}

TEST(each_tenant_has_names_of_its_own)
{
    play(2, "JOIN a 0/2 job=shared-name\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 job=shared-name\n" /* tenant 0's: another job */
            "  b PENDING rank 0\n"
            "JOIN c 1/2 job=shared-name\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes\n");
}

/* A configuration that is read anew while a job forms: its ranks must not be of two tenants, and wait for one
 * another in two jobs. */
TEST(a_rank_that_becomes_another_tenants_goes_where_the_others_are)
{
    play(2, "JOIN a 0/3 job=shared-name\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN c 1/3 job=shared-name\n"
            "  c PENDING rank 2\n"
            "alone\n"
            "JOIN b 2/3 job=shared-name\n"
            "  b PENDING ranks 0 and 1\n"
            "JOIN c 1/3 job=shared-name\n"
            "  c PENDING rank 0\n"
            "JOIN a 0/3 job=shared-name\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "JOIN d 0/1\n" /* nothing is left of the former one */
            "  open\n"
            "  d READY 128 slots 1460 bytes\n");
}

TEST(a_running_job_stays_its_tenants)
{
    play(2, "JOIN a 0/2 job=shared-name\n"
            "  a PENDING rank 1\n"
            "JOIN c 1/2 job=shared-name\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes\n"
            "alone\n"
            "JOIN c 1/2 job=shared-name\n"
            "  c READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n");
}

/* Two jobs of one name, and a member that is heard in another network than its job's is none. */
TEST(each_network_has_names_of_its_own)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 0/2 network=1\n"
            "  b PENDING rank 1\n"
            "JOIN c 1/2 network=1\n"
            "  open\n"
            "  b READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes\n"
            "JOIN d 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  d READY 128 slots 1460 bytes\n"
            "HEARTBEAT d\n"
            "  d ALIVE\n"
            "JOIN d 1/2 network=1\n"
            "  d PENDING occupied by ranks 0 and 1\n"
            "HEARTBEAT d\n"
            "  d UNKNOWN\n");
}

TEST(a_tenant_has_no_more_jobs_than_its_quota)
{
    play(8, "JOIN a 0/2 job=shared-1\n"
            "  a PENDING rank 1\n"
            "JOIN c 0/2 job=shared-2\n"
            "  c PENDING rank 1\n"
            "JOIN e 0/2 job=shared-3\n"
            "  e REFUSED no jobs: tenant odd has 3 jobs, as many as the switch's tenants[1].quota.jobs "
            "allows: 1 in the switch's configuration, shared-1, shared-2\n"
            "JOIN b 0/2 job=shared-3\n" /* another tenant's */
            "  b PENDING rank 1\n"
            "JOIN e 1/2 job=shared-2\n"
            "  open\n"
            "  c READY 128 slots 1460 bytes\n"
            "  e READY 128 slots 1460 bytes\n");
}

TEST(a_place_that_is_kept_is_only_for_whom_it_is_kept)
{
    play(2, "reserved\n"
            "JOIN a 0/1 job=x\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "JOIN b 0/1 job=y\n"
            "  b REFUSED no jobs: the switch has 1 jobs and 1 places that are reserved, as many as its "
            "limits.jobs allows: x\n"
            "JOIN c 0/1 job=reserved\n"
            "  open\n"
            "  c READY 128 slots 1460 bytes\n");
}

TEST(jobs_side_by_side)
{
    play(2, "JOIN a 0/1 job=x\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "JOIN b 0/2 job=y\n"
            "  b PENDING rank 1\n"
            "JOIN c 0/1 job=z\n"
            "  c REFUSED no jobs: the switch has 2 jobs, as many as its limits.jobs allows: x, y\n"
            "ABORT a no more\n"
            "  close\n"
            "  a ABORTED application: no more\n"
            "JOIN c 0/1 job=z\n" /* a failed job gives up its place */
            "  open\n"
            "  c READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "JOIN b 0/2 job=y\n"
            "  b PENDING rank 1\n");
}

TEST(the_oldest_failed_job_gives_up_its_place)
{
    play(2, "JOIN a 0/1 job=x\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "JOIN b 0/1 job=y\n"
            "  open\n"
            "  b READY 128 slots 1460 bytes\n"
            "ABORT b first\n"
            "  close\n"
            "  b ABORTED application: first\n"
            "wait 0.05\n"
            "ABORT a second\n"
            "  close\n"
            "  a ABORTED application: second\n"
            "JOIN c 0/1 job=z\n"
            "  open\n"
            "  c READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ABORTED application: second\n"
            "HEARTBEAT b\n"
            "  b UNKNOWN\n");
}

/* A host that founds one job after the other never has all places, and those that only form make room for a
 * host that has clearly fewer. Which of a job's ranks founds it is chance: one whose host has its share waits
 * a little for another's, unless there is none. */
TEST(a_host_has_its_share_of_places)
{
    play(4, "JOIN a 0/2 job=j1\n"
            "  a PENDING rank 1\n"
            "JOIN b 0/2 job=j2 host=a\n"
            "  b PENDING rank 1\n"
            "JOIN c 0/2 job=j3 host=a\n"
            "  c PENDING rank 1\n"
            "JOIN d 0/1 job=alone host=a\n"
            "  d REFUSED no jobs: 10.0.0.1 has founded 3 jobs, as many as the switch's limits.jobs_per_host "
            "allows: j1, j2, j3\n"
            "JOIN i 1/2 job=j5 host=a\n"
            "  i PENDING no room\n"
            "JOIN d 0/2 job=j4 host=a asked=2\n"
            "  d PENDING no room\n"
            "JOIN d 0/2 job=j4 host=a\n"
            "  d REFUSED no jobs: 10.0.0.1 has founded 3 jobs, as many as the switch's limits.jobs_per_host "
            "allows: j1, j2, j3\n"
            "JOIN e 0/2 job=j5\n"
            "  e PENDING rank 1\n"
            "JOIN i 1/2 job=j5 host=a\n"
            "  open\n"
            "  e READY 128 slots 1460 bytes\n"
            "  i READY 128 slots 1460 bytes\n"
            "loud\n"
            "wait 0.01\n"
            "JOIN f 0/2 job=j6\n"
            "  job 'j1': gives its place to a host that has fewer\n"
            "  job 'j6': rank 0 of 2 has joined\n"
            "  f PENDING rank 1\n"
            "JOIN g 0/2 job=j7\n"
            "  job 'j2': gives its place to a host that has fewer\n"
            "  job 'j7': rank 0 of 2 has joined\n"
            "  g PENDING rank 1\n"
            "JOIN h 0/2 job=j8\n" /* the others have hardly more than it would */
            "  h REFUSED no jobs: the switch has 4 jobs, as many as its limits.jobs allows: j6, j7, j3, j5\n"
            "LEAVE c\n"
            "  c LEFT\n"
            "  job 'j3': rank 0 has left\n"
            "  job 'j3': over: nobody is left in it\n");
}

/* Whoever says that he is a switch is as much as a host, however many hosts he speaks for. */
TEST(a_switch_below_has_its_share_of_places)
{
    play(4, "JOIN a 0/2 job=j1 below=1\n"
            "  a PENDING rank 1\n"
            "JOIN b 0/2 job=j2 host=a below=2\n"
            "  b PENDING rank 1\n"
            "JOIN c 0/2 job=j3 host=a below=3\n"
            "  c PENDING rank 1\n"
            "JOIN d 0/2 job=j4 host=a below=4 asked=4\n"
            "  d REFUSED no jobs: 10.0.0.1 has founded 3 jobs, as many as the switch's limits.jobs_per_host "
            "allows: j1, j2, j3\n"
            "JOIN e 0/1 job=j5\n"
            "  open\n"
            "  e READY 128 slots 1460 bytes\n");
}

/* Nor does one of the hosts below a switch have all the places of that switch. */
TEST(a_host_below_a_switch_has_its_share_of_places)
{
    play(4, "JOIN a 0/2 job=j1 below=1\n"
            "  a PENDING rank 1\n"
            "JOIN b 0/2 job=j2 host=a below=1\n"
            "  b PENDING rank 1\n"
            "JOIN c 0/2 job=j3 host=a below=1\n"
            "  c PENDING rank 1\n"
            "loud\n"
            "wait 0.01\n"
            "JOIN d 0/2 job=j4 host=a below=2\n"
            "  job 'j1': gives its place to a host that has fewer\n"
            "  job 'j4': rank 0 of 2 has joined\n"
            "  d PENDING rank 1\n"
            "JOIN e 0/2 job=j5 host=a below=1 asked=4\n"
            "  e REFUSED no jobs: 10.0.0.1 has founded 3 jobs, as many as the switch's limits.jobs_per_host "
            "allows: j4, j2, j3\n"
            "JOIN f 0/2 job=j6 host=a below=3\n"
            "  job 'j2': gives its place to a host that has fewer\n"
            "  job 'j6': rank 0 of 2 has joined\n"
            "  f PENDING rank 1\n");
}

TEST(forming_has_an_end)
{
    struct stage *s = open_stage(1);
    do_line(s, "JOIN a 0/2");
    for (unsigned i = 0; i < 599; i++) {
        do_line(s, "wait 1");
        do_line(s, "JOIN a 0/2");
        s->used = 0;
    }
    s->out[0] = '\0';
    do_line(s, "wait 0.9");
    CU_ASSERT_STRING_EQUAL(s->out, "");
    do_line(s, "wait 0.1");
    CU_ASSERT_STRING_EQUAL(
        s->out, "  a ABORTED deadline: rank 1 did not join within 600.0 s, as long as a job may take to "
                "form (timers.forming_s in the switch's configuration)\n");
    close_stage(s);
}

TEST(bad_arguments)
{
    play(4, "JOIN a 0/0\n"
            "  a REFUSED bad argument: a job has 1 to 1024 ranks, not 0\n"
            "JOIN a 0/1025\n"
            "  a REFUSED bad argument: a job has 1 to 1024 ranks, not 1025\n"
            "JOIN a 4/4\n"
            "  a REFUSED bad argument: rank 4 is not one of the 4 ranks, which count from 0\n"
            "JOIN a 0/1 format=3\n"
            "  a REFUSED bad argument: packet format 3 is not known here\n"
            "JOIN a 0/1 mode=2\n"
            "  a REFUSED bad argument: mode 2 is not known here\n"
            "JOIN a 0/1 checksum=2\n"
            "  a REFUSED bad argument: checksum 2 is not known here\n"
            "JOIN a 0/1 checksum=1 format=0\n"
            "  a REFUSED bad argument: packets of int32 elements with exponents have no checksum\n"
            "JOIN a 0/1 chunk=60\n"
            "  a REFUSED bad argument: a chunk has 64 to 8960 bytes, a multiple of 4, not 60\n"
            "JOIN a 0/1 chunk=66\n"
            "  a REFUSED bad argument: a chunk has 64 to 8960 bytes, a multiple of 4, not 66\n"
            "JOIN a 0/1 chunk=8964\n"
            "  a REFUSED bad argument: a chunk has 64 to 8960 bytes, a multiple of 4, not 8964\n"
            "JOIN a 0/1 slots=1\n"
            "  a REFUSED bad argument: a job has 2 to 16384 slots, not 1\n"
            "JOIN a 0/1 slots=16385\n"
            "  a REFUSED bad argument: a job has 2 to 16384 slots, not 16385\n"
            "JOIN a 0/1 slots=96 resume=1\n"
            "  a REFUSED bad argument: a job with 96 slots, not a power of two, cannot be resumed\n"
            "JOIN a 1023/1024 slots=2 chunk=64\n"
            "  a PENDING ranks 0-1022\n");
}

TEST(not_every_switch_hears_nics)
{
    play(4, "JOIN a 0/2 pair=17\n"
            "  a REFUSED bad argument: rank 0 would send by its NIC (RoCE), which is not heard here: open "
            "the job "
            "with the kernel's sockets (transport=kernel)\n"
            "hearing\n"
            "JOIN a 0/2 pair=17\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes by its NIC\n"
            "  b READY 128 slots 1460 bytes\n");
}

TEST(protocols_that_are_not_spoken)
{
    play(4, "JOIN a 0/1 protocol=7\n"
            "  a REFUSED bad argument: aggregation protocol 7 is not spoken by this switch, which speaks "
            "switchml (1)\n"
            "JOIN a 0/1 terms=9\n"
            "  a REFUSED bad argument: terms of protocol 1, version 9, in 52 bytes are not known here\n"
            "JOIN a 0/1 unlike\n"
            "  a REFUSED bad argument: the terms are those of a rank that resumes, the rank is new\n"
            "JOIN a 0/1 resume=3 unlike\n"
            "  a REFUSED bad argument: the terms are those of a rank that is new, the rank resumes\n");
}

static const struct sml_terms small = {.chunk_bytes = 64, .slots = 2};

/* On a stage of one process, a JOIN as it has to be. */
static struct ctl_message join_alone(struct stage *s)
{
    struct process *p = &s->processes[0];
    *p = (struct process){.rank = 0, .size = 1, .data_port = 1, .boot_id = s->boot_id};
    struct ctl_message m = message_from('a', p, CTL_JOIN);
    m.join = (struct ctl_join){.name = "t", .data_port = 1, .terms = terms_of(small)};
    return m;
}

/* What a script cannot say: arguments that no process has, reasons that nobody may give. */
TEST(bad_heads_and_reasons)
{
    struct stage *s = open_stage(1);
    struct process *p = &s->processes[0];
    struct ctl_message m = join_alone(s);
    m.join.data_port = 0;
    deliver(s, p, &m);
    CU_ASSERT_STRING_EQUAL(s->out, "  a REFUSED bad argument: the data port is 0\n");
    m.join.data_port = 1;
    m.head.incarnation = 0;
    s->silent = true; /* its answer is for nobody that the stage knows */
    deliver(s, p, &m);
    CU_ASSERT_EQUAL(ctl_registry_entry(s->registry, 0)->state, CTL_ENTRY_FREE);
    m.head.incarnation = 'a';
    deliver(s, p, &m);
    CU_ASSERT_EQUAL(ctl_registry_entry(s->registry, 0)->state, CTL_ENTRY_RUNNING);

    m = message_from('a', p, CTL_ABORT);
    m.failure = (struct ctl_failure){.reason = CTL_OK, .rank = 7, .text = "because"};
    deliver(s, p, &m);
    const struct ctl_entry *job = ctl_registry_entry(s->registry, 0);
    CU_ASSERT_EQUAL(job->state, CTL_ENTRY_FAILED);
    CU_ASSERT_EQUAL(job->failure.reason, CTL_APPLICATION);
    CU_ASSERT_EQUAL(job->failure.rank, 0);
    close_stage(s);
}

/* Why a job is over that a member has ended for this reason. */
static unsigned reason_after_abort(unsigned reason)
{
    struct stage *s = open_stage(1);
    struct ctl_message m = join_alone(s);
    s->silent = true;
    deliver(s, &s->processes[0], &m);
    m = message_from('a', &s->processes[0], CTL_ABORT);
    m.failure = (struct ctl_failure){.reason = (uint16_t)reason, .text = "because"};
    deliver(s, &s->processes[0], &m);
    const unsigned why = ctl_registry_entry(s->registry, 0)->failure.reason;
    close_stage(s);
    return why;
}

TEST(members_have_reasons_of_their_own)
{
    for (unsigned reason = CTL_BAD_VERSION; reason <= CTL_RANK_LEFT; reason++)
        CU_ASSERT_EQUAL(reason_after_abort(reason), reason);
    CU_ASSERT_EQUAL(reason_after_abort(CTL_MOVED_BACK), CTL_MOVED_BACK);
    CU_ASSERT_EQUAL(reason_after_abort(CTL_ENDED), CTL_APPLICATION);
}

static void do_script(struct stage *s, const char *lines[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        do_line(s, lines[i]);
}

/* Rank 1's process is started anew while the job forms; then the whole job, and another in its place. */
TEST(restarts_are_counted)
{
    static const char *forming[] = {"JOIN a 0/3", "JOIN b 1/3", "LEAVE b", "JOIN c 1/3", "JOIN d 2/3"},
                      *anew[] = {"ABORT a over", "LEAVE a", "LEAVE c", "LEAVE d", "JOIN e 0/2"},
                      *others[] = {"LEAVE e", "JOIN f 0/2 job=other", "LEAVE f", "JOIN g 0/2"};
    struct stage *s = open_stage(1);
    const struct ctl_entry *job = ctl_registry_entry(s->registry, 0);

    do_script(s, forming, sizeof forming / sizeof *forming);
    CU_ASSERT_EQUAL(job->state, CTL_ENTRY_RUNNING);
    CU_ASSERT(job->restarts == 0 && job->members[0].restarts == 0 && job->members[1].restarts == 1);
    do_script(s, anew, sizeof anew / sizeof *anew);
    CU_ASSERT_EQUAL(job->state, CTL_ENTRY_FORMING);
    CU_ASSERT(job->restarts == 1 && job->members[0].restarts == 0 && job->members[1].restarts == 0);
    do_script(s, others, sizeof others / sizeof *others);
    CU_ASSERT_STRING_EQUAL(job->name, "t");
    CU_ASSERT_EQUAL(job->restarts, 0); /* the only entry was another's meanwhile */
    close_stage(s);
}

static uint64_t first_zero(void *ctx)
{
    struct stage *s = ctx;
    return s->random++;
}

/* An epoch of 0 stands for none. */
TEST(no_epoch_is_zero)
{
    static struct stage s;
    struct ctl_registry_config cfg = {
        .protocols = spoken,
        .protocols_known = 1,
        .max_jobs = 1,
        .boot_id = 1,
        .lost_after_ns = SECOND,
        .actions = {&s, effect_send, effect_prepare, effect_release, first_zero, NULL},
    };
    memset(&s, 0, sizeof s);
    s.silent = true;
    s.registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
    struct process *p = &s.processes[0];
    *p = (struct process){.rank = 0, .size = 2, .data_port = 1, .boot_id = cfg.boot_id};
    struct ctl_message m = message_from('a', p, CTL_JOIN);
    m.join = (struct ctl_join){.name = "t", .terms = terms_of(small), .data_port = 1};
    deliver(&s, p, &m);
    CU_ASSERT_EQUAL(ctl_registry_entry(s.registry, 0)->state, CTL_ENTRY_FORMING);
    CU_ASSERT_EQUAL(ctl_registry_entry(s.registry, 0)->epoch, 1);
    free(s.registry);
}

/* What cannot be parsed is refused in words, unless it may be an answer itself. */
TEST(unparsed)
{
    struct stage *s = open_stage(1);
    struct process *p = &s->processes[0];
    *p = (struct process){.rank = 1, .size = 2};
    struct ctl_message m = message_from('a', p, CTL_JOIN);
    strcpy(m.join.name, "t");
    uint8_t bytes[CTL_MESSAGE_MAX];
    size_t length = ctl_build(bytes, &m);
    struct {
        size_t at, length;
        uint8_t value;
        enum ctl_parse_error error;
        const char *answer;
    } cases[] = {
        {40, 39, 't', CTL_TOO_SHORT, ""},
        {0, length, 'X', CTL_NOT_CONTROL, ""},
        {4, length, 1, CTL_OTHER_VERSION,
         "  a REFUSED bad version: this switch speaks version 2 of the control protocol, not 1\n"},
        {5, length, 9, CTL_BAD_TYPE, "  a REFUSED bad argument: message type 9 is not known here\n"},
        {5, length, 99, CTL_BAD_TYPE, ""},
        {5, length, CTL_READY, CTL_BAD_TYPE, ""},
        {40, length, 0, CTL_BAD_STRING,
         "  a REFUSED bad argument: a string in JOIN is empty, too long or not printable ASCII\n"},
        {40, length - 1, 't', CTL_TOO_SHORT, "  a REFUSED bad argument: the message is too short for JOIN\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t before = bytes[cases[i].at];
        bytes[cases[i].at] = cases[i].value;
        s->used = 0;
        s->out[0] = 0;
        CU_ASSERT_EQUAL(ctl_registry_receive(s->registry, &p->endpoint, bytes, cases[i].length, 0),
                        cases[i].error);
        CU_ASSERT_STRING_EQUAL(s->out, cases[i].answer);
        bytes[cases[i].at] = before;
    }
    CU_ASSERT_EQUAL(ctl_registry_entry(s->registry, 0)->state, CTL_ENTRY_FREE);
    close_stage(s);
}

TEST(footprint)
{
    static struct stage s;
    struct ctl_registry_config good = {
        .protocols = spoken,
        .protocols_known = 1,
        .max_jobs = 256,
        .boot_id = UINT64_MAX,
        .lost_after_ns = 3600 * SECOND,
        .actions = {&s, effect_send, effect_prepare, effect_release, effect_random, NULL},
    };
    CU_ASSERT(ctl_registry_footprint(&good) > 256 * sizeof(struct ctl_entry));
    struct ctl_registry *r = ctl_registry_init(malloc(ctl_registry_footprint(&good)), &good);
    CU_ASSERT_EQUAL(ctl_registry_entry(r, 255)->state, CTL_ENTRY_FREE);
    ctl_registry_tick(r, UINT64_MAX);
    free(r);

    struct ctl_registry_config bad[12];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bad[i] = good;
    bad[0].max_jobs = 0;
    bad[1].max_jobs = 257;
    bad[2].boot_id = 0;
    bad[3].lost_after_ns = 10 * MS - 1;
    bad[4].lost_after_ns = 3600 * SECOND + 1;
    bad[5].actions.send = NULL;
    bad[6].actions.prepare = NULL;
    bad[7].actions.release = NULL;
    bad[8].lost_after_ns = 0;
    bad[9].actions.random = NULL;
    bad[10].protocols_known = 0;
    bad[11].max_workers = CTL_RANKS_MAX + 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_EQUAL(ctl_registry_footprint(&bad[i]), 0);
}

/* Of 256 jobs every eighth has as many ranks as a job can have. */
static uint16_t extreme_size(unsigned job)
{
    return job % 8 == 0 ? CTL_RANKS_MAX : 32;
}

TEST(extremes)
{
    struct stage *s = open_stage(256);
    for (unsigned job = 0; job < 256; job++)
        for (unsigned rank = 0; rank < extreme_size(job); rank++) {
            struct process *p = &s->processes[0];
            *p = (struct process){
                .rank = (uint16_t)rank, .size = extreme_size(job), .data_port = 1, .boot_id = s->boot_id};
            p->endpoint.ip = 1 + job + rank; /* each job is of another founder */
            struct ctl_message m = message_from('a', p, CTL_JOIN);
            m.head.incarnation = (uint64_t)job << 40 | rank << 8 | 'a';
            m.join = (struct ctl_join){.data_port = 1, .terms = terms_of(small)};
            snprintf(m.join.name, sizeof m.join.name, "job %u", job);
            uint8_t bytes[CTL_MESSAGE_MAX];
            size_t length = ctl_build(bytes, &m);
            s->used = sizeof s->out - 1; /* nobody reads what is said */
            if (rank == extreme_size(job) - 1u)
                break; /* all but the last */
            ctl_registry_receive(s->registry, &p->endpoint, bytes, length, 1);
        }
    for (unsigned job = 0; job < 256; job++) {
        CU_ASSERT_EQUAL(ctl_registry_entry(s->registry, job)->state, CTL_ENTRY_FORMING);
        CU_ASSERT_EQUAL(ctl_registry_entry(s->registry, job)->present, extreme_size(job) - 1);
        unsigned of_that_epoch = 0;
        for (unsigned i = 0; i < 256; i++)
            of_that_epoch +=
                ctl_registry_entry(s->registry, i)->epoch == ctl_registry_entry(s->registry, job)->epoch;
        CU_ASSERT_EQUAL(of_that_epoch, 1);
    }
    close_stage(s);
}

TEST(state_names)
{
    CU_ASSERT_STRING_EQUAL(ctl_entry_state_name(CTL_ENTRY_RUNNING), "running");
    CU_ASSERT_STRING_EQUAL(ctl_entry_state_name((enum ctl_entry_state)9), "?");
}

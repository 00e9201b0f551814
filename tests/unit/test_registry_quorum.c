/* Members of jobs with a quorum that fall silent or leave: the job goes on while enough of them are left. */
#include "registry_script.h"

#define RUNNING                                                                                              \
    "JOIN a 0/3 quorum=2\n"                                                                                  \
    "  a PENDING ranks 1 and 2\n"                                                                            \
    "JOIN b 1/3 quorum=2\n"                                                                                  \
    "  b PENDING rank 2\n"                                                                                   \
    "JOIN c 2/3 quorum=2\n"                                                                                  \
    "  open\n"                                                                                               \
    "  abc READY 128 slots 1456 bytes\n"                                                                     \
    "alive a b c\n"                                                                                          \
    "loud\n"

TEST(a_quorum_goes_on_without_a_lost_rank)
{
    play(4,
         RUNNING "wait 6\n"
                 "alive a b\n"
                 "wait 4.1\n"
                 "  job 't': rank 2 (10.0.0.3) lost: no sign of life for 10.1 s; goes on with 2 of 3 ranks\n"
                 "alive a b\n"
                 "wait 6\n"
                 "alive a\n"
                 "wait 4.1\n"
                 "  close\n"
                 "  job 't': failed (rank lost): rank 1 (10.0.0.2) lost: no sign of life for 10.1 s\n"
                 "  abc ABORTED rank lost: rank 1 (10.0.0.2) lost: no sign of life for 10.1 s\n");
}

TEST(a_lost_rank_that_is_heard_again_is_back)
{
    play(4, RUNNING
         "wait 6\n"
         "alive a b\n"
         "wait 4.1\n"
         "  job 't': rank 2 (10.0.0.3) lost: no sign of life for 10.1 s; goes on with 2 of 3 ranks\n"
         "HEARTBEAT c\n"
         "  job 't': rank 2 is heard again, and counts as there\n"
         "  c ALIVE\n"
         "alive a b\n"
         "wait 6\n"
         "alive a c\n"
         "wait 4.1\n"
         "  job 't': rank 1 (10.0.0.2) lost: no sign of life for 10.1 s; goes on with 2 of 3 ranks\n");
}

/* Nobody is to hold its slots any more. */
TEST(the_last_to_leave_leaves_nothing_though_a_rank_was_lost)
{
    play(4,
         RUNNING "wait 6\n"
                 "alive a b\n"
                 "wait 4.1\n"
                 "  job 't': rank 2 (10.0.0.3) lost: no sign of life for 10.1 s; goes on with 2 of 3 ranks\n"
                 "LEAVE a calls=3\n"
                 "  a LEFT\n"
                 "  job 't': rank 0 has left\n"
                 "LEAVE b calls=3\n"
                 "  b LEFT\n"
                 "  job 't': rank 1 has left\n"
                 "  close\n"
                 "  job 't': over: nobody is left in it\n");
}

TEST(a_rank_lost_after_all_others_have_left_leaves_nothing)
{
    play(4,
         RUNNING "LEAVE a calls=3\n"
                 "  a LEFT\n"
                 "  job 't': rank 0 has left\n"
                 "LEAVE b calls=3\n"
                 "  b LEFT\n"
                 "  job 't': rank 1 has left\n"
                 "wait 10.1\n"
                 "  job 't': rank 2 (10.0.0.3) lost: no sign of life for 10.1 s; goes on with 2 of 3 ranks\n"
                 "  close\n"
                 "  job 't': over: all ranks have left or fallen silent\n"
                 "HEARTBEAT c\n"
                 "  c UNKNOWN\n");
}

/* It has had its part in all that the others wait for. */
TEST(who_has_left_counts_for_those_behind_it)
{
    play(4, RUNNING "LEAVE a calls=3\n"
                    "  a LEFT\n"
                    "  job 't': rank 0 has left\n"
                    "LEAVE b calls=3\n"
                    "  b LEFT\n"
                    "  job 't': rank 1 has left\n"
                    "HEARTBEAT c calls=2 waiting\n"
                    "  c ALIVE\n"
                    "HEARTBEAT c calls=3 waiting\n"
                    "  c ALIVE\n"
                    "  close\n"
                    "  job 't': failed (rank left): rank 0 (10.0.0.1) left after 3 collectives, but rank 2 "
                    "(10.0.0.3) waits for it in "
                    "another\n"
                    "  c ABORTED rank left: rank 0 (10.0.0.1) left after 3 collectives, but rank 2 "
                    "(10.0.0.3) waits for it in another\n");
}

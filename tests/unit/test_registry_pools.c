/* The registry: pools that take time to make. */
#include "registry_script.h"

TEST(a_pool_that_is_ready_later)
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

TEST(a_pool_that_never_will_be_ready)
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
TEST(a_rank_goes_while_the_pool_is_made)
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

TEST(abort_while_the_pool_is_made)
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
TEST(a_resumed_job_waits_for_its_pool)
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

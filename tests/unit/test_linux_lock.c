/* Locks on interfaces within one process. Others are in tests/net/configuration.sh. Where there is no file
 * for locks, it is the same. */
#include "port/linux/lock.h"

#include <errno.h>
#include <limits.h>

#include "unit.h"

enum { ONE = INT_MAX, OTHER = INT_MAX - 1 }; /* no interface has these numbers */

TEST(an_interface_is_locked_once)
{
    CU_ASSERT_EQUAL(linux_lock(ONE), 0);
    CU_ASSERT_EQUAL(linux_lock(ONE), -EALREADY);
    CU_ASSERT_EQUAL(linux_lock(OTHER), 0);
    linux_unlock(ONE);
    CU_ASSERT_EQUAL(linux_lock(OTHER), -EALREADY);
    CU_ASSERT_EQUAL(linux_lock(ONE), 0);
    linux_unlock(ONE);
    linux_unlock(OTHER);
}

#include "late.h"

#include "random/splitmix.h"

void late_choose(uint64_t *random, unsigned n, unsigned late, bool is_late[])
{
    for (unsigned i = 0; i < n; i++) {
        is_late[i] = splitmix_next(random) % (n - i) < late;
        late -= is_late[i];
    }
}

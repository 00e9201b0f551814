#include "lcore/priority.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PRIORITY_NICE = -10 };

int priority_raise_thread(void)
{
    if (getpriority(PRIO_PROCESS, 0) > PRIORITY_NICE && setpriority(PRIO_PROCESS, 0, PRIORITY_NICE) < 0)
        return -errno;
    return 0;
}

void priority_raise_session(void)
{
    int nice_value;
    FILE *group;

    if (getsid(0) != getpid())
        return;
    group = fopen("/proc/self/autogroup", "r+e");
    if (group == NULL)
        return;
    if (fscanf(group, "/autogroup-%*d nice %d", &nice_value) == 1 && nice_value > PRIORITY_NICE) {
        rewind(group);
        fprintf(group, "%d", PRIORITY_NICE);
    }
    fclose(group);
}

#include "registry/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <sys/signalfd.h>

#include "base/log.h"

static const struct {
    int number;
    enum { MEANS_NOTHING, STOPS, RELOADS } means;
} known[] = {
    {SIGINT, STOPS},          {SIGTERM, STOPS},         {SIGHUP, RELOADS},          {SIGUSR1, MEANS_NOTHING},
    {SIGUSR2, MEANS_NOTHING}, {SIGALRM, MEANS_NOTHING}, {SIGVTALRM, MEANS_NOTHING}, {SIGPROF, MEANS_NOTHING},
    {SIGIO, MEANS_NOTHING},   {SIGPWR, MEANS_NOTHING},  {SIGSTKFLT, MEANS_NOTHING},
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

static sigset_t watched(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (unsigned i = 0; i < KNOWN; i++)
        sigaddset(&set, known[i].number);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) /* none of them means anything */
        sigaddset(&set, number);
    return set;
}

void signals_block(void)
{
    const sigset_t set = watched();

    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a log that may not grow is no reason to end */
}

int signals_open(void)
{
    const sigset_t set = watched();

    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int signals_take(int fd)
{
    struct signalfd_siginfo come;

    if (read(fd, &come, sizeof(come)) != sizeof(come))
        return 0;
    for (unsigned i = 0; i < KNOWN; i++)
        if (known[i].number == (int)come.ssi_signo && known[i].means != MEANS_NOTHING)
            return known[i].means == RELOADS ? SIGNALS_RELOAD : known[i].number;
    log_notice("signal %u (%s) from process %u means nothing here; SIGTERM stops this process",
               come.ssi_signo, strsignal((int)come.ssi_signo), come.ssi_pid);
    return 0;
}

#include "control/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <sys/signalfd.h>

#include "base/log.h"

static const struct {
    int number;
    bool stops;
} known[] = {
    {SIGINT, true},   {SIGTERM, true},  {SIGHUP, true},     {SIGUSR1, false},
    {SIGUSR2, false}, {SIGALRM, false}, {SIGVTALRM, false}, {SIGPROF, false},
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* Whether a signal is ignored; if blocked, it would be delivered all the same. */
static bool is_ignored(int number)
{
    struct sigaction now;

    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static sigset_t watched(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (unsigned i = 0; i < KNOWN; i++)
        if (known[i].number != SIGHUP || !is_ignored(SIGHUP))
            sigaddset(&set, known[i].number);
    return set;
}

void signals_block(void)
{
    const sigset_t set = watched();

    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
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
        if (known[i].number == (int)come.ssi_signo && known[i].stops)
            return known[i].number;
    log_notice("signal %u (%s) from process %u means nothing here; SIGTERM stops swagg, and it reads its "
               "configuration only at the start",
               come.ssi_signo, strsignal((int)come.ssi_signo), come.ssi_pid);
    return 0;
}

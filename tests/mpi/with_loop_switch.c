/* with-loop-switch COMMAND...: runs a command beside two switches on loopback. SWITCH_IP in its environment
 * is the address of one; SWITCH_PID takes SIGUSR1 (that switch dies, as by kill -9) and SIGUSR2 (it starts
 * again). FULL_SWITCH_IP is that of one that has no slots left. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop_switch.h"

static pid_t start(char **command, const sigset_t *mask)
{
    pid_t child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        execvp(command[0], command);
        fprintf(stderr, "with-loop-switch: %s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    return child;
}

/* Serves signals until the command ends; its exit status. */
static int serve(struct loop_switch *ls, pid_t child, const sigset_t *signals)
{
    for (;;) {
        int signal, status;
        sigwait(signals, &signal);
        if (signal == SIGUSR1)
            loop_switch_kill(ls);
        else if (signal == SIGUSR2)
            loop_switch_revive(ls);
        else if (waitpid(child, &status, WNOHANG) == child && !WIFSTOPPED(status))
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
}

int main(int argc, char **argv)
{
    char pid[16];
    sigset_t signals, before;
    if (argc < 2) {
        fprintf(stderr, "usage: with-loop-switch COMMAND...\n");
        return 2;
    }
    /* Before the switch's thread starts, so that no signal goes to that. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = 1});
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("SWITCH_PID", pid, 1);
    setenv("SWITCH_IP", loop_switch_ip(ls), 1);
    struct loop_switch *full = loop_switch_start(&(struct loop_switch_config){.seed = 2, .full = true});
    setenv("FULL_SWITCH_IP", loop_switch_ip(full), 1);
    pid_t child = start(argv + 1, &before);
    int status = child < 0 ? 1 : serve(ls, child, &signals);
    loop_switch_stop(ls);
    loop_switch_stop(full);
    return status;
}

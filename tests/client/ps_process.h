/* swagg-ps as a process of its own, at a loopback address of its own. Functions abort the test with a message
 * when the machine gives no processes or files. One thread. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* It, as the build made it: set before the rest is used. */
extern const char *ps_program;

struct ps_process {
    char ip[INET_ADDRSTRLEN];
    int claim;       /* a socket: the address is this process's */
    char folder[32]; /* with the configuration and the socket for operators */
    char socket[64];
    pid_t pid; /* 0: it does not run */
    FILE *log;
};

/* Writes a configuration: the address, then `more`, YAML lines. Who is merely slow is not lost, unless these
 * say so. */
void ps_make(struct ps_process *ps, const char *more);

/* Another configuration, for its next start, or when it reads its file anew. */
void ps_configure(const struct ps_process *ps, const char *more);

/* Waits for a line of its log that has these words; those before it go to stderr. */
void ps_await(const struct ps_process *ps, const char *words);

/* Starts it and waits until it serves. After ps_kill: again, with the same configuration. */
void ps_start(struct ps_process *ps);

/* Both. */
void ps_begin(struct ps_process *ps, const char *more);

/* One for each test of a file that says EACH_TEST(start_server, stop_server). */
extern struct ps_process the_server;
void start_server(void);
void stop_server(void);

/* SIGKILL. */
void ps_kill(struct ps_process *ps);

/* SIGTERM, and removes its files. Returns its exit status. */
int ps_stop(struct ps_process *ps);

/* Asks it what an operator's tool asks: a request, from the command on without braces ("\"reload\""). The
 * answer is to be freed. */
char *ps_ask(const struct ps_process *ps, const char *request);

/* Whether the answer has these words; prints it, if not. */
bool ps_answers(const struct ps_process *ps, const char *request, const char *words);

/* The number that follows this name in the answer to a command. */
uint64_t ps_counted(const struct ps_process *ps, const char *command, const char *name);

/* Packets that it has sent, but for its answers to who asks again, which a busy machine has many of. Of eight
 * ranks. */
uint64_t ps_sent_unasked(const struct ps_process *ps);

/* Whether `swagg-ps --check` on a file of these lines ends with this status and has these words. */
bool ps_check(const char *lines, int status, const char *words);

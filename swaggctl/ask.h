/* Finding the switches that run, and one request to one of them with its answer (lib/host/operator/reply.h
 * has the form of both). */
#pragma once

#include <jansson.h>
#include <sys/un.h>

/* Where running switches answer: sockets NAME.ctl in /run/swagg, or links to sockets elsewhere
 * (control.path). */
enum { INSTANCES_MAX = 64, INSTANCE_NAME_MAX = 64, INSTANCE_WHY_MAX = 512 };

#define INSTANCES_DIRECTORY "/run/swagg"

struct instance {
    char name[INSTANCE_NAME_MAX];
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* The switch to talk to. wanted: its name, or the path of its socket; NULL: the only one that runs, or one
 * that the user is asked for, if there is a terminal. 0, or -1: why says what is wrong, and how to mend it.
 */
int instance_choose(struct instance *instance, const char *wanted, char why[INSTANCE_WHY_MAX]);

/* Connects: a descriptor, or -1 with why. */
int instance_connect(const struct instance *instance, char why[INSTANCE_WHY_MAX]);

/* Calls visit with the name of every switch that runs and lets us connect. */
void instances_visit(void (*visit)(void *context, const char *name), void *context);

/* Connects, and asks. The answer is an object, the caller's to release; NULL: why says what is wrong. request
 * is not taken over. */
json_t *ask(const struct instance *instance, const json_t *request, char why[INSTANCE_WHY_MAX]);

/* The same on a connection that stays open; what comes after the answer's line is not read. */
json_t *ask_on(int fd, const struct instance *instance, const json_t *request, char why[INSTANCE_WHY_MAX]);

/* A request with this command; add its arguments. */
json_t *ask_request(const char *command);

/* Asks for a view, unless NULL of what has this name. */
json_t *ask_view(const struct instance *instance, const char *view, const char *name,
                 char why[INSTANCE_WHY_MAX]);

/* The name by which one asks for a job, of its row in the view of all: "tenant/job". */
enum { JOB_CALLED_MAX = 256 };
void ask_job_called(char called[JOB_CALLED_MAX], const json_t *row);

/* Asks the user which of several he means. choices: an array of texts. The index of the one that was chosen;
 * -1: none, or there is no terminal. */
int choose(const json_t *choices, const char *question);

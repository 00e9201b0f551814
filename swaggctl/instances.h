/* Where running switches answer: sockets NAME.ctl in /run/swagg, or links to sockets elsewhere
 * (control.path). */
#ifndef SWAGGCTL_INSTANCES_H
#define SWAGGCTL_INSTANCES_H

#include <sys/un.h>

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
void instances_visit(void (*visit)(const char *name));

#endif

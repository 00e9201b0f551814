/* Where running switches answer: sockets NAME.ctl in /run/swagg, or links to sockets elsewhere
 * (control.path). */
#ifndef SWAGGCTL_PLACES_H
#define SWAGGCTL_PLACES_H

#include <sys/un.h>

enum { PLACES_MAX = 64, PLACE_NAME_MAX = 64, PLACE_WHY_MAX = 512 };

#define PLACES_DIRECTORY "/run/swagg"

struct place {
    char name[PLACE_NAME_MAX];
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* The switch to talk to. wanted: its name, or the path of its socket; NULL: the only one that runs, or one
 * that the user is asked for, if there is a terminal. 0, or -1: why says what is wrong, and how to mend it.
 */
int place_choose(struct place *place, const char *wanted, char why[PLACE_WHY_MAX]);

/* Connects: a descriptor, or -1 with why. */
int place_connect(const struct place *place, char why[PLACE_WHY_MAX]);

/* Calls visit with the name of every switch that runs and lets us connect. */
void places_visit(void (*visit)(const char *name));

#endif

/* The directory that all of swagg's daemons on a machine share: sockets for operators (NAME.ctl, where tools
 * look for daemons), locks on interfaces, claims to CPUs, notes of what must be undone. Who needs it makes
 * it. */
#ifndef SWAGG_BASE_RUN_DIRECTORY_H
#define SWAGG_BASE_RUN_DIRECTORY_H

#define RUN_DIRECTORY "/run/swagg"

#endif

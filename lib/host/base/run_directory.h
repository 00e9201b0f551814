/* The directory that all of swagg's daemons on a machine share: sockets for operators (NAME.ctl, where tools
 * look for daemons), locks on interfaces, claims to CPUs, notes of what must be undone. Who needs it makes
 * it. A service that is another user's has a directory of its own in it, with its socket. */
#pragma once

#define RUN_DIRECTORY "/run/swagg"

/* The keyed hashes of libsodium, for the core (keys/keys.h). Of Debian's two libraries that have such hashes
 * it is the one whose functions keep no contexts: nothing to allocate, to free or to share among threads, no
 * configuration file and no providers to load into somebody else's MPI program.
 */
#pragma once

#include "keys/keys.h"

/* Any thread, any number of times; NULL: libsodium cannot be used on this machine. */
const struct keys_library *keys_sodium(void);

/* Overwrites what nobody shall read any more. */
void keys_erase(void *secret, size_t bytes);

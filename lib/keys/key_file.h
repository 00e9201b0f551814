/* Files with a tenant's secrets, as the switch and its workers read them (docs/configuration.md, "Key
 * files"): lines of 64 hexadecimal digits, one or two of them; empty lines, and what follows a #, do not
 * count. The first is the one that workers use; a switch knows both.
 */
#pragma once

#include "sodium_keys.h"

enum { KEY_FILE_KEYS = 2, KEY_FILE_WHY_MAX = 400 };

struct key_file {
    unsigned keys; /* at least 1 */
    struct keys_key key[KEY_FILE_KEYS];
};

/* Reads it and makes keys of its secrets, of which nothing else is kept. A file that others can read or write
 * is refused. 0, or -errno and what is wrong and how to mend it in why. Any thread. */
int key_file_read(struct key_file *f, const char *path, char why[KEY_FILE_WHY_MAX]);

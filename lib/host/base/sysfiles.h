/* Files of /proc and /sys, of this machine or of a copy of another's. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Where they are: "" for this machine's own, or the folder of a copy. The text stays the caller's. */
void sysfiles_below(const char *folder);

/* The first line of a file, without its end. False: there is none, and text is "". */
__attribute__((format(printf, 3, 4))) bool sysfile_line(char *text, size_t room, const char *path, ...);

/* Its number; otherwise, if it has none. */
__attribute__((format(printf, 2, 3))) long sysfile_number(long otherwise, const char *path, ...);

/* The last part of where a link leads, such as a driver's name. False: there is no link. */
__attribute__((format(printf, 3, 4))) bool sysfile_link(char *text, size_t room, const char *path, ...);

/* Whether there is such a file or folder; how many entries a folder has. */
__attribute__((format(printf, 1, 2))) bool sysfile_is_there(const char *path, ...);
__attribute__((format(printf, 1, 2))) unsigned sysfile_entries(const char *path, ...);

/* Whether a list as the kernel writes it, "0-3,8", has this number. */
bool sysfile_list_has(const char *list, unsigned number);

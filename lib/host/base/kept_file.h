/* Files that outlive their process, and the machine's restart. One thread a file. */
#pragma once

#include <stddef.h>

#include <jansson.h>

/* The file is this content, readable by its owner alone, or it is as it was before: also where the machine
 * loses its power meanwhile. flags are jansson's. 0, or -errno. */
int kept_file_write(const char *path, const json_t *content, size_t flags);

/* To read it: what lies in its place is opened as it is. No link is followed, and nobody waited for who
 * writes to a pipe. A descriptor; or -1 and errno. */
int kept_file_open(const char *path);

/* What was renamed or linked in the folder of this file is on the disk. 0, or -errno. */
int kept_file_settle(const char *path);

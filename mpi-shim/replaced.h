/* Files that are written beside their place and then renamed into it. */
#pragma once

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Where such a file is: of a link what it leads to, if that is there, so that the link stays. Returns 0, or
 * -errno: -ENOTSUP is of what is no file, as a device, whose place must not be taken, or a pipe, which would
 * be waited for. */
static inline int replaced_at(const char *file, char at[PATH_MAX])
{
    struct stat st;
    if (stat(file, &st) == 0 && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -ENOTSUP;
    if (!realpath(file, at) && snprintf(at, PATH_MAX, "%s", file) >= PATH_MAX)
        return -ENAMETOOLONG;
    return 0;
}

#include "sysfiles.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *below = "";

void sysfiles_below(const char *folder)
{
    below = folder;
}

/* The path that the arguments make, in the folder. */
#define PATH_OF(path, format)                                                                                \
    do {                                                                                                     \
        va_list arguments;                                                                                   \
        const int used = snprintf(path, sizeof(path), "%s", below);                                          \
        va_start(arguments, format);                                                                         \
        if (used >= 0 && (size_t)used < sizeof(path))                                                        \
            vsnprintf(path + used, sizeof(path) - (size_t)used, format, arguments);                          \
        va_end(arguments);                                                                                   \
    } while (0)

static bool first_line(char *text, size_t room, const char *path)
{
    FILE *file = fopen(path, "re");
    const bool good = file != NULL && fgets(text, (int)room, file) != NULL;

    if (file != NULL)
        fclose(file);
    if (!good)
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return good;
}

bool sysfile_line(char *text, size_t room, const char *format, ...)
{
    char path[PATH_MAX];

    PATH_OF(path, format);
    return first_line(text, room, path);
}

long sysfile_number(long otherwise, const char *format, ...)
{
    char path[PATH_MAX], text[64], *end;

    PATH_OF(path, format);
    if (!first_line(text, sizeof(text), path))
        return otherwise;
    const long number = strtol(text, &end, 10);
    return end == text ? otherwise : number;
}

bool sysfile_link(char *text, size_t room, const char *format, ...)
{
    char path[PATH_MAX], to[PATH_MAX];

    PATH_OF(path, format);
    const ssize_t n = readlink(path, to, sizeof(to) - 1);

    if (n <= 0) {
        text[0] = '\0';
        return false;
    }
    to[n] = '\0';
    snprintf(text, room, "%s", strrchr(to, '/') != NULL ? strrchr(to, '/') + 1 : to);
    return true;
}

bool sysfile_is_there(const char *format, ...)
{
    char path[PATH_MAX];

    PATH_OF(path, format);
    return access(path, F_OK) == 0;
}

unsigned sysfile_entries(const char *format, ...)
{
    char path[PATH_MAX];
    unsigned n = 0;

    PATH_OF(path, format);
    DIR *folder = opendir(path);
    for (const struct dirent *e = folder ? readdir(folder) : NULL; e != NULL; e = readdir(folder))
        n += e->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return n;
}

bool sysfile_list_has(const char *list, unsigned number)
{
    unsigned first, last;
    int used;

    for (const char *at = list; *at != '\0'; at += at[used] == ',' ? used + 1 : used) {
        if (sscanf(at, "%u%n", &first, &used) != 1)
            return false;
        last = first;
        if (at[used] == '-') {
            const char *behind = at + used + 1;
            int more;

            if (sscanf(behind, "%u%n", &last, &more) != 1)
                return false;
            used += 1 + more;
        }
        if (number >= first && number <= last)
            return true;
    }
    return false;
}

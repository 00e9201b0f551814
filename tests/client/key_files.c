#include "key_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keys/keys.h"

void key_file_change(const char *path, const char *digits)
{
    FILE *f = fopen(path, "w");
    if (!f)
        abort();
    for (; *digits; digits++) {
        char line[2 * KEYS_SECRET_BYTES + 1];
        memset(line, *digits, sizeof line - 1);
        line[sizeof line - 1] = '\0';
        fprintf(f, "%s\n", line);
    }
    if (fclose(f) != 0)
        abort();
}

void key_file_make(char path[KEY_FILES_PATH_MAX], const char *digits)
{
    strcpy(path, "/tmp/swagg-key-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0)
        abort();
    close(fd);
    key_file_change(path, digits);
}

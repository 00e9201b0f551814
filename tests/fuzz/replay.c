/* Plays files, and the files in directories, through a fuzz target: its regression test. Fails when there is
 * nothing to play. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned played;

static void fail(const char *path)
{
    fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
}

static void play_file(const char *path, size_t size)
{
    uint8_t *data = malloc(size ? size : 1);
    FILE *f = fopen(path, "rb");
    if (!f || fread(data, 1, size, f) != size)
        fail(path);
    fclose(f);
    printf("%s\n", path);
    fflush(stdout); /* so that it is known which one ended the process */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    played++;
}

static void play(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        fail(path);
    if (!S_ISDIR(st.st_mode)) {
        play_file(path, (size_t)st.st_size);
        return;
    }
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0)
        fail(path);
    for (int i = 0; i < n; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            play(inside);
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        play(argv[i]);
    printf("%u inputs\n", played);
    return played > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

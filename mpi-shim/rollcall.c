#include "rollcall.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board.h"
#include "choices.h"
#include "front.h"
#include "random/splitmix.h"
#include "report.h"
#include "swagg.h"

enum { SETTINGS_MAX = 32 };

static bool published;
static uint64_t *hosts; /* of all ranks */

/* By its name. */
static uint64_t own_host(void)
{
    char name[HOST_NAME_MAX + 1] = "";
    gethostname(name, HOST_NAME_MAX);
    return splitmix_bytes(0, name, strlen(name));
}

/* The format, the build, the front, the host, what is kept and the settings, a line each. */
static void write_text(const struct settings *s, char text[BOARD_TEXT_MAX])
{
    char kept[KEPT_PACKED_MAX];
    choices_read(s, kept);
    int used = snprintf(text, BOARD_TEXT_MAX, "%d\n%s\n%s\n%" PRIx64 "\n%s\n", ROLLCALL_FORMAT,
                        swagg_version(), front.name, own_host(), *kept ? kept : "-");
    settings_write(s, text + used, (size_t)(BOARD_TEXT_MAX - used));
}

void rollcall_publish(void)
{
    struct settings s;
    char text[BOARD_TEXT_MAX];
    if (published)
        return;
    settings_read(&s, front.environment(), text, sizeof text); /* mistakes in them are reported later */
    if (s.disable)
        return;
    write_text(&s, text);
    published = board_put_up(text);
}

/* What a rank has published. */
struct said {
    long format;
    const char *build;
    const char *front; /* of another format "" */
    uint64_t host;     /* of this format only, all of these */
    const char *kept;
    struct settings settings;
};

static const char *next_line(char **rest, const char *otherwise)
{
    const char *line = strtok_r(*rest, "\n", rest);
    return line ? line : otherwise;
}

/* Parses the text, into which *said points then. */
static void read_text(struct said *said, char text[BOARD_TEXT_MAX])
{
    char *rest, *words[SETTINGS_MAX + 1] = {0}, unused[1];
    said->format = strtol(text, &rest, 10);
    said->build = next_line(&rest, "of an unknown build");
    said->front = "";
    if (said->format != ROLLCALL_FORMAT)
        return;
    said->front = next_line(&rest, "");
    said->host = strtoull(next_line(&rest, "0"), NULL, 16);
    said->kept = next_line(&rest, "-");
    for (int i = 0; i < SETTINGS_MAX && (words[i] = strtok_r(NULL, " ", &rest)); i++)
        ;
    settings_read(&said->settings, words, unused, sizeof unused);
}

/* Why two ranks cannot work together; false: they can. */
static bool differ(int a, const struct said *x, int b, const struct said *y, char *text, size_t size)
{
    if (x->format != y->format)
        snprintf(text, size,
                 "rank %d has swagg-mpi %.64s (format %ld), rank %d has %.64s (format %ld): "
                 "install the same build on all hosts",
                 b, y->build, y->format, a, x->build, x->format);
    else if (strcmp(x->front, y->front) != 0)
        snprintf(text, size, "rank %d has swagg as a %.64s, rank %d as a %.64s: start all ranks alike", b,
                 y->front, a, x->front);
    else
        return false;
    return true;
}

/* Compares every rank with the lowest that takes part, so that all come to the same answer. */
static void compare(struct settings *s, int size, struct roll *roll)
{
    char first_text[BOARD_TEXT_MAX], text[BOARD_TEXT_MAX];
    struct said lowest = {0}, other = {0};
    int first = 0;
    while (first < size && !board_read(first, first_text))
        first++;
    roll->speaker = first;
    read_text(&lowest, first_text);
    if (lowest.format == ROLLCALL_FORMAT) {
        *s = lowest.settings;
        kept_unpack(lowest.kept, &roll->kept);
    }
    hosts[first] = lowest.host;
    for (int r = first ? 0 : 1; r < size; r++) {
        if (!board_read(r, text)) {
            snprintf(roll->trouble, sizeof roll->trouble,
                     "rank %d has no shim, or SWAGG_DISABLE=1: start all ranks alike, with %s", r,
                     front.start_it);
            return;
        }
        read_text(&other, text);
        hosts[r] = other.host;
        if (differ(first, &lowest, r, &other, roll->trouble, sizeof roll->trouble))
            return;
    }
}

void rollcall(struct settings *s, int size, struct roll *roll)
{
    *roll = (struct roll){0};
    if (size == 1)
        return;
    hosts = allocate_or_abort(MPI_COMM_WORLD, (size_t)size * sizeof *hosts, "a list of hosts");
    const char *why_not = published ? board_is_unreliable() : board_is_missing();
    if (why_not)
        snprintf(roll->trouble, sizeof roll->trouble, "whether all ranks have the shim cannot be known%s%s",
                 published ? ": " : ", since ", why_not);
    else
        compare(s, size, roll);
}

uint64_t rollcall_host(int rank)
{
    return hosts[rank];
}

#include "kept.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replaced.h"

static const char head[] = "swagg choices 1\n";
static const char *const hosts_words[] = {"several-hosts", "one-host"};
static const char *const way_words[WAYS] = {[WAY_LIBRARY] = "library", [WAY_SWITCH] = "switch"};

/* Longer ones are not swagg's. */
enum { LINE_BYTES = KEPT_NETWORK_MAX + 200, ROWS_MAX = 10000 };

struct row {
    time_t when;
    enum crossing kind;
    unsigned size;
    struct like like;
    enum way way;
    char network[KEPT_NETWORK_MAX];
};

static int place_of(const char *word, const char *const words[], int n)
{
    int place = 0;
    while (place < n && strcmp(words[place], word) != 0)
        place++;
    return place < n ? place : -1;
}

static int size_of(size_t bytes)
{
    for (int size = 0; size < CROSSOVER_SIZES; size++)
        if (crossover_sizes[size] == bytes)
            return size;
    return -1;
}

static bool parse(const char *line, struct row *row)
{
    char date[32], kind[32], hosts[32], way[32];
    size_t bytes;
    unsigned ranks;
    struct tm tm = {0};
    int used = 0;
    if (sscanf(line, "%31s %31s %zu bytes %u ranks %31s %31s %599s%n", date, kind, &bytes, &ranks, hosts, way,
               row->network, &used) != 7 ||
        strcmp(line + used, "\n") != 0)
        return false;
    const char *end = strptime(date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    const int size = size_of(bytes), known_kind = place_of(kind, crossing_words, CROSSINGS),
              on_one = place_of(hosts, hosts_words, 2), known_way = place_of(way, way_words, WAYS);
    if (!end || *end || size < 0 || known_kind < 0 || on_one < 0 || known_way < 0)
        return false;
    row->when = timegm(&tm);
    row->kind = (enum crossing)known_kind;
    row->size = (unsigned)size;
    row->like.on_one_host = on_one;
    row->way = (enum way)known_way;
    for (row->like.size_class = 0; row->like.size_class < KEPT_CLASSES; row->like.size_class++)
        if (1u << row->like.size_class == ranks)
            return true;
    return false;
}

static void write_row(FILE *f, const struct row *row)
{
    char date[32];
    struct tm tm;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&row->when, &tm));
    fprintf(f, "%s %s %zu bytes %u ranks %s %s %s\n", date, crossing_words[row->kind],
            crossover_sizes[row->size], 1u << row->like.size_class, hosts_words[row->like.on_one_host],
            way_words[row->way], row->network);
}

/* Rows up to the end, which must have their number. Returns that, or -EBADMSG. */
static int read_rows(FILE *f, struct row rows[ROWS_MAX])
{
    char line[LINE_BYTES], end[32];
    int n = 0;
    if (!fgets(line, sizeof line, f) || strcmp(line, head) != 0)
        return -EBADMSG;
    while (n < ROWS_MAX && fgets(line, sizeof line, f) && parse(line, &rows[n]))
        n++;
    snprintf(end, sizeof end, "end %d\n", n);
    return strcmp(line, end) == 0 && !fgets(line, sizeof line, f) ? n : -EBADMSG;
}

/* All that the file has, to be given to free(). Returns how many, or -errno. */
static int read_file(const char *file, struct row **rows)
{
    char at[PATH_MAX];
    *rows = NULL;
    const int rc = replaced_at(file, at); /* a pipe would be waited for */
    if (rc < 0)
        return rc;
    FILE *f = fopen(file, "re");
    if (!f)
        return errno == ENOENT ? 0 : -errno;
    *rows = calloc(ROWS_MAX, sizeof **rows);
    const int n = *rows ? read_rows(f, *rows) : -ENOMEM;
    fclose(f);
    return n;
}

static bool is_fresh(const struct row *row, time_t now)
{
    return row->when <= now && now - row->when < (time_t)KEPT_DAYS * 24 * 60 * 60;
}

static struct crossover *cell(struct choices *c, const struct row *row)
{
    return &c->of[row->like.size_class][row->like.on_one_host][row->kind];
}

int kept_read(const char *file, const char *network, time_t now, struct choices *c)
{
    struct row *rows;
    const int n = read_file(file, &rows);
    int counted = n < 0 ? n : 0;
    for (int i = 0; i < n; i++)
        if (is_fresh(&rows[i], now) && strcmp(rows[i].network, network) == 0) {
            crossover_note(cell(c, &rows[i]), rows[i].size, rows[i].way);
            counted++;
        }
    free(rows);
    return counted;
}

/* --- writing --- */

static int write_measured(FILE *f, const char *network, time_t now, const struct choices *c)
{
    struct row row = {.when = now};
    int n = 0;
    snprintf(row.network, sizeof row.network, "%s", network);
    for (unsigned cell = 0; cell < KEPT_CLASSES * 2 * CROSSINGS * CROSSOVER_SIZES; cell++) {
        row.size = cell % CROSSOVER_SIZES;
        row.kind = (enum crossing)(cell / CROSSOVER_SIZES % CROSSINGS);
        row.like.on_one_host = cell / CROSSOVER_SIZES / CROSSINGS % 2;
        row.like.size_class = cell / CROSSOVER_SIZES / CROSSINGS / 2;
        const struct crossover *x = &c->of[row.like.size_class][row.like.on_one_host][row.kind];
        if (!crossover_is_measured(x, row.size))
            continue;
        row.way = crossover_way(x, crossover_sizes[row.size]);
        write_row(f, &row);
        n++;
    }
    return n;
}

static int write_all(FILE *f, const char *network, time_t now, const struct choices *c, struct row *before,
                     int n)
{
    fputs(head, f);
    int written = write_measured(f, network, now, c);
    struct choices measured = *c;
    for (int i = 0; i < n && written < ROWS_MAX; i++) {
        const bool replaced = strcmp(before[i].network, network) == 0 &&
                              crossover_is_measured(cell(&measured, &before[i]), before[i].size);
        if (replaced || !is_fresh(&before[i], now))
            continue;
        write_row(f, &before[i]);
        written++;
    }
    fprintf(f, "end %d\n", written);
    return ferror(f) ? -EIO : 0;
}

int kept_write(const char *file, const char *network, time_t now, const struct choices *c)
{
    char at[PATH_MAX], draft[PATH_MAX];
    struct row *before;
    int rc = replaced_at(file, at);
    if (rc < 0)
        return rc;
    if (snprintf(draft, sizeof draft, "%s.%d.part", at, (int)getpid()) >= (int)sizeof draft)
        return -ENAMETOOLONG;
    const int n = read_file(file, &before);
    FILE *f = fopen(draft, "we");
    rc = f ? write_all(f, network, now, c, before, n) : -errno;
    free(before);
    if (!f)
        return rc;
    if (fclose(f) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(draft, at) != 0)
        rc = -errno;
    if (rc < 0)
        unlink(draft);
    return rc;
}

/* --- for other ranks --- */

void kept_pack(const struct choices *c, char text[KEPT_PACKED_MAX])
{
    size_t used = 0;
    *text = '\0';
    for (unsigned cell = 0; cell < KEPT_CLASSES * 2 * CROSSINGS; cell++) {
        const struct crossover *x = &c->of[cell / CROSSINGS / 2][cell / CROSSINGS % 2][cell % CROSSINGS];
        char word[64];
        const int length = snprintf(word, sizeof word, "%x.%" PRIx64 ".%" PRIx64 ",", cell,
                                    (uint64_t)x->better[WAY_LIBRARY], (uint64_t)x->better[WAY_SWITCH]);
        if (!(x->better[WAY_LIBRARY] | x->better[WAY_SWITCH]) || used + (size_t)length >= KEPT_PACKED_MAX)
            continue;
        memcpy(text + used, word, (size_t)length + 1);
        used += (size_t)length;
    }
}

void kept_unpack(const char *text, struct choices *c)
{
    unsigned cell;
    uint64_t library, in_switch;
    for (int used; sscanf(text, "%x.%" SCNx64 ".%" SCNx64 ",%n", &cell, &library, &in_switch, &used) == 3;
         text += used) {
        if (cell >= KEPT_CLASSES * 2 * CROSSINGS)
            return;
        struct crossover *x = &c->of[cell / CROSSINGS / 2][cell / CROSSINGS % 2][cell % CROSSINGS];
        x->better[WAY_LIBRARY] = (int64_t)library;
        x->better[WAY_SWITCH] = (int64_t)in_switch;
        x->kept = (int64_t)(library | in_switch);
    }
}

#include "profile.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 6, LINE = 512 };

static const uint64_t bucket_usual = 25 << 20, /* of PyTorch's DistributedDataParallel */
    bytes_most = UINT64_C(1) << 42;
static const double ms_most = 1e7;

struct reader {
    struct profile *profile;
    const char *path;
    unsigned line, room;
    char *why;
};

__attribute__((format(printf, 2, 3))) static bool wrong(const struct reader *r, const char *format, ...)
{
    va_list list;
    int n = r->line > 0 ? snprintf(r->why, PROFILE_WHY, "%.128s:%u: ", r->path, r->line)
                        : snprintf(r->why, PROFILE_WHY, "%.128s: ", r->path);

    va_start(list, format);
    vsnprintf(r->why + n, PROFILE_WHY - (size_t)n, format, list);
    va_end(list);
    return false;
}

static bool read_bytes(const struct reader *r, const char *text, uint64_t least, uint64_t *bytes)
{
    static const char *const letters = "KMG";
    char *end;

    errno = 0;
    *bytes = strtoull(text, &end, 10);
    const char *letter = *end != '\0' ? strchr(letters, *end) : NULL;
    const unsigned shift = letter != NULL ? 10 * (unsigned)(letter - letters + 1) : 0;
    if (isdigit((unsigned char)text[0]) && errno == 0 && end[letter != NULL] == '\0' &&
        *bytes <= bytes_most >> shift && *bytes << shift >= least) {
        *bytes <<= shift;
        return true;
    }
    return wrong(r, "\"%s\" is no number of bytes from %llu to 4096G", text, (unsigned long long)least);
}

static bool read_ms(const struct reader *r, const char *text, double *ms)
{
    char *end;

    *ms = strtod(text, &end);
    if (end != text && *end == '\0' && *ms >= 0 && *ms <= ms_most)
        return true;
    return wrong(r, "\"%s\" is no time from 0 to %.0f ms", text, ms_most);
}

static bool read_name(const struct reader *r, const char *text, char name[PROFILE_NAME])
{
    if (strlen(text) >= PROFILE_NAME)
        return wrong(r, "the name \"%.16s...\" has more than %d bytes", text, PROFILE_NAME - 1);
    for (const char *c = text; *c != '\0'; c++)
        if (*c <= ' ' || *c > '~' || *c == '"' || *c == '\\') /* it goes into JSON as it is */
            return wrong(r,
                         "the name has a byte of code %d: use printable ASCII without quotes and backslashes",
                         (unsigned char)*c);
    strcpy(name, text);
    return true;
}

static bool read_model(struct reader *r, char *values[])
{
    return read_name(r, values[0], r->profile->model);
}

static bool read_bucket(struct reader *r, char *values[])
{
    return read_bytes(r, values[0], 1, &r->profile->bucket_bytes);
}

static bool read_layer(struct reader *r, char *values[])
{
    struct profile *p = r->profile;

    if (p->layers == PROFILE_LAYERS_MAX)
        return wrong(r, "there are more than %d layers", PROFILE_LAYERS_MAX);
    if (p->layers == r->room) {
        const unsigned room = r->room == 0 ? 64 : 2 * r->room;
        struct profile_layer *more = realloc(p->layer, room * sizeof(*more));
        if (more == NULL)
            return wrong(r, "no memory for so many layers");
        p->layer = more;
        r->room = room;
    }
    struct profile_layer *l = &p->layer[p->layers];
    if (!read_name(r, values[0], l->name) || !read_bytes(r, values[1], 0, &l->bytes) ||
        !read_ms(r, values[2], &l->forward_ms) || !read_ms(r, values[3], &l->backward_ms))
        return false;
    p->layers++;
    return true;
}

static const struct {
    const char *word, *values;
    unsigned count;
    bool (*read)(struct reader *r, char *values[]);
} words[] = {
    {"model", "NAME", 1, read_model},
    {"bucket", "BYTES", 1, read_bucket},
    {"layer", "NAME BYTES FORWARD_MS BACKWARD_MS", 4, read_layer},
};

static bool read_line(struct reader *r, char *line)
{
    char *word[WORDS_MAX], *rest = line;
    unsigned n = 0;

    line[strcspn(line, "#")] = '\0';
    while (n < WORDS_MAX && (word[n] = strtok_r(NULL, " \t\r\n", &rest)) != NULL)
        n++;
    if (n == 0)
        return true;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word[0], words[i].word) != 0)
            continue;
        if (n != words[i].count + 1)
            return wrong(r, "expected is \"%s %s\"", words[i].word, words[i].values);
        return words[i].read(r, &word[1]);
    }
    return wrong(r, "\"%.32s\" is none of model, bucket, layer", word[0]);
}

static bool read_file(struct reader *r, FILE *f)
{
    char line[LINE];

    while (fgets(line, sizeof(line), f) != NULL) {
        const size_t length = strlen(line);
        r->line++;
        if (length == LINE - 1 && line[LINE - 2] != '\n')
            return wrong(r, "the line has more than %d bytes", LINE - 2);
        if (length == 0 || (line[length - 1] != '\n' && !feof(f)))
            return wrong(r, "a byte is 0: this is no text");
        if (!read_line(r, line))
            return false;
    }
    const int error = errno;
    r->line = 0;
    return ferror(f) ? wrong(r, "cannot be read: %s", strerror(error)) : true;
}

/* What lines alone do not show. */
static bool check(const struct reader *r)
{
    const struct profile *p = r->profile;

    if (p->model[0] == '\0')
        return wrong(r, "there is no line \"model NAME\"");
    if (p->layers == 0)
        return wrong(r, "there is no line \"layer NAME BYTES FORWARD_MS BACKWARD_MS\"");
    if (profile_bytes(p) == 0)
        return wrong(r, "no layer has gradients: all bytes are 0");
    return true;
}

int profile_read(struct profile *p, const char *path, char why[PROFILE_WHY])
{
    struct reader r = {.profile = p, .path = path, .why = why};
    FILE *f = fopen(path, "re");

    *p = (struct profile){.bucket_bytes = bucket_usual};
    if (f == NULL) {
        wrong(&r, "cannot be read: %s", strerror(errno));
        return -1;
    }
    const bool good = read_file(&r, f) && check(&r);
    fclose(f);
    if (!good)
        profile_free(p);
    return good ? 0 : -1;
}

void profile_free(struct profile *p)
{
    free(p->layer);
    *p = (struct profile){0};
}

uint64_t profile_bytes(const struct profile *p)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < p->layers; i++)
        bytes += p->layer[i].bytes;
    return bytes;
}

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "nearest.h"
#include "options_table.h"
#include "swagg.h"

static const struct option_field *find(const char *name)
{
    for (const struct option_field *f = option_fields; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static int no_such_option(const char *name)
{
    struct nearest meant = nearest_to(name);
    for (const struct option_field *f = option_fields; f->name; f++)
        nearest_offer(&meant, f->name);
    if (meant.best)
        return client_fail(SWAGG_ERR_ARGUMENT, "options: there is no \"%.64s\"; did you mean \"%s\"?", name,
                           meant.best);
    return client_fail(SWAGG_ERR_ARGUMENT, "options: there is no \"%.64s\": docs/libswagg.md has them", name);
}

static int read_word(int *to, const struct option_field *f, const char *value)
{
    char known[256] = "";
    for (int i = 0; f->words[i]; i++) {
        if (strcmp(f->words[i], value) == 0) {
            *to = i;
            return SWAGG_OK;
        }
        const size_t at = strlen(known);
        snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", f->words[i]);
    }
    return client_fail(SWAGG_ERR_ARGUMENT, "options.%s is \"%.64s\": it must be one of %s", f->name, value,
                       known);
}

/* feedback_bytes alone is a size_t; swagg_open knows what the others may be. */
static int read_number(struct swagg_options *to, const struct option_field *f, const char *value)
{
    char *end;
    errno = 0;
    const long long n = strtoll(value, &end, 10);
    const bool is_size = f->offset == offsetof(struct swagg_options, feedback_bytes);
    if (end == value || *end || errno || n < (is_size ? 0 : INT_MIN) || n > (is_size ? LLONG_MAX : INT_MAX))
        return client_fail(SWAGG_ERR_ARGUMENT, "options.%s is \"%.64s\": it must be a number", f->name,
                           value);
    if (is_size)
        to->feedback_bytes = (size_t)n;
    else
        *(int *)((char *)to + f->offset) = (int)n;
    return SWAGG_OK;
}

static int read_option(struct swagg_options *to, const struct swagg_word *w)
{
    if (!w->name || !w->value)
        return client_fail(SWAGG_ERR_ARGUMENT, "options: a name or a value is NULL");
    const struct option_field *f = find(w->name);
    if (!f)
        return no_such_option(w->name);
    if (f->form == OPTION_WORD)
        return read_word((int *)((char *)to + f->offset), f, w->value);
    if (f->form == OPTION_NUMBER)
        return read_number(to, f, w->value);
    *(const char **)((char *)to + f->offset) = w->value;
    return SWAGG_OK;
}

const char *swagg_option_of_variable(const char *variable)
{
    const size_t length = variable ? strcspn(variable, "=") : 0;
    for (const struct option_field *f = option_fields; f->name; f++)
        if (f->variable && strlen(f->variable) == length && memcmp(f->variable, variable, length) == 0)
            return f->name;
    return NULL;
}

int swagg_open_words(struct swagg_job **job, const struct swagg_word *words, size_t n,
                     void (*log)(void *ctx, enum swagg_log_level level, const char *line), void *log_ctx)
{
    struct swagg_options options = SWAGG_OPTIONS_DEFAULT;
    if (!job)
        return client_fail(SWAGG_ERR_ARGUMENT, "swagg_open_words: job is NULL");
    *job = NULL;
    if (!words && n)
        return client_fail(SWAGG_ERR_ARGUMENT, "swagg_open_words: words is NULL");
    for (size_t i = 0; i < n; i++) {
        const int rc = read_option(&options, &words[i]);
        if (rc < 0)
            return rc;
    }
    options.log = log;
    options.log_ctx = log_ctx;
    return swagg_open(job, &options);
}

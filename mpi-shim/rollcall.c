#include "rollcall.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front.h"
#include "swagg.h"

#define KEY "swagg.mpi"
enum { TEXT_MAX = 2048, SETTINGS_MAX = 32 };

static bool published;

/* Open MPI's PMIx plugin loads the library into a scope of its own. */
void *rollcall_pmix(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_NOLOAD);
    return dlsym(library ? library : RTLD_NEXT, name);
}

/* The format, the build, the front and the settings, a line each. */
static void write_text(const struct settings *s, char text[TEXT_MAX])
{
    int used = snprintf(text, TEXT_MAX, "%d\n%s\n%s\n", ROLLCALL_FORMAT, swagg_version(), front.name);
    settings_write(s, text + used, (size_t)(TEXT_MAX - used));
}

void rollcall_publish(void)
{
    pmix_status_t (*put)(pmix_scope_t, const char *, pmix_value_t *) = rollcall_pmix("PMIx_Put");
    struct settings s;
    char text[TEXT_MAX];
    if (published)
        return;
    settings_read(&s, front.environment(), text, sizeof text); /* mistakes in them are reported later */
    if (s.disable || !put)
        return;
    write_text(&s, text);
    pmix_value_t value = {.type = PMIX_STRING, .data.string = text};
    published = put(PMIX_GLOBAL, KEY, &value) == PMIX_SUCCESS;
}

/* The text that a rank published; false: it has published none, and never will. */
static bool look_up(int rank, char text[TEXT_MAX])
{
    static pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t,
                                pmix_value_t **);
    pmix_info_t at_once = {.key = PMIX_IMMEDIATE, .value = {.type = PMIX_BOOL, .data.flag = true}};
    pmix_proc_t proc = {.rank = (pmix_rank_t)rank};
    pmix_value_t *value = NULL;
    if (!get)
        get = rollcall_pmix("PMIx_Get");
    snprintf(proc.nspace, sizeof proc.nspace, "%s", getenv("PMIX_NAMESPACE"));
    if (!get || get(&proc, KEY, &at_once, 1, &value) != PMIX_SUCCESS)
        return false;
    bool found = value->type == PMIX_STRING;
    if (found) {
        snprintf(text, TEXT_MAX, "%s", value->data.string);
        free(value->data.string);
    }
    free(value);
    return found;
}

/* What a rank has published. */
struct said {
    long format;
    const char *build;
    const char *front; /* of this format only, as the rest */
    struct settings settings;
};

static const char *next_line(char **rest, const char *otherwise)
{
    const char *line = strtok_r(*rest, "\n", rest);
    return line ? line : otherwise;
}

/* Parses the text, into which *said points then. */
static void read_text(struct said *said, char text[TEXT_MAX])
{
    char *rest, *words[SETTINGS_MAX + 1] = {0}, unused[1];
    said->format = strtol(text, &rest, 10);
    said->build = next_line(&rest, "of an unknown build");
    if (said->format != ROLLCALL_FORMAT)
        return;
    said->front = next_line(&rest, "");
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
    char first_text[TEXT_MAX], text[TEXT_MAX];
    struct said lowest = {0}, other = {0};
    int first = 0;
    while (first < size && !look_up(first, first_text))
        first++;
    roll->speaker = first;
    read_text(&lowest, first_text);
    if (lowest.format == ROLLCALL_FORMAT)
        *s = lowest.settings;
    for (int r = first ? 0 : 1; r < size; r++) {
        if (!look_up(r, text)) {
            snprintf(roll->trouble, sizeof roll->trouble,
                     "rank %d has no shim, or SWAGG_DISABLE=1: start all ranks alike, with %s", r,
                     front.start_it);
            return;
        }
        read_text(&other, text);
        if (differ(first, &lowest, r, &other, roll->trouble, sizeof roll->trouble))
            return;
    }
}

/* With settings by which Open MPI does not wait for all ranks, or does not collect what they publish, ranks
 * may see different texts. */
static bool exchange_is_complete(void)
{
    const char *async = getenv("OMPI_MCA_pmix_base_async_modex");
    const char *collect = getenv("OMPI_MCA_pmix_base_collect_data");
    return (!async || atoi(async) == 0) && (!collect || atoi(collect) != 0);
}

void rollcall(struct settings *s, int size, struct roll *roll)
{
    *roll = (struct roll){0};
    if (size == 1)
        return;
    if (published && getenv("PMIX_NAMESPACE") && exchange_is_complete())
        compare(s, size, roll);
    else if (published)
        snprintf(roll->trouble, sizeof roll->trouble,
                 "whether all ranks have the shim cannot be known: run without "
                 "OMPI_MCA_pmix_base_async_modex and OMPI_MCA_pmix_base_collect_data");
    else
        snprintf(roll->trouble, sizeof roll->trouble,
                 "whether all ranks have the shim cannot be known, since this program's Open MPI does not "
                 "use Debian's PMIx (libpmix.so.2): start it with mpirun, or with srun --mpi=pmix");
}

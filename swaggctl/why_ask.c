#include "why_ask.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "exit_status.h"
#include "monotonic.h"
#include "why.h"

static void drop(const struct why_look *look)
{
    json_decref(look->job);
    json_decref(look->ranks);
    json_decref(look->lcores);
    json_decref(look->drops);
}

/* EXIT_GOOD, or the status; what there is of it is to be dropped in any case. Who has no such view, as a
 * server has no lcores, says so, which is no mistake. */
static int look_at(const struct instance *instance, const char *called, struct why_look *look,
                   char why[INSTANCE_WHY_MAX])
{
    const char *error;

    *look = (struct why_look){.job = ask_view(instance, "job", called, why)};
    if (look->job == NULL)
        return EXIT_NO_SWITCH;
    error = json_string_value(json_object_get(look->job, "error"));
    if (error != NULL) {
        snprintf(why, INSTANCE_WHY_MAX, "%s", error);
        return EXIT_BAD;
    }
    look->ranks = ask_view(instance, "ranks", called, why);
    look->lcores = ask_view(instance, "lcores", NULL, why);
    look->drops = ask_view(instance, "drops", NULL, why);
    return look->ranks == NULL || look->lcores == NULL || look->drops == NULL ? EXIT_NO_SWITCH : EXIT_GOOD;
}

static json_t *to_json(const struct why *why)
{
    json_t *object =
        json_pack("{s:s, s:s, s:s}", "cause", why_word(why->cause), "text", why->text, "todo", why->todo);

    if (why->rank >= 0)
        json_object_set_new(object, "rank", json_integer(why->rank));
    return object;
}

static void print_json(const struct why whys[WHY_MOST], size_t n)
{
    json_t *object = to_json(&whys[0]), *also = json_array();

    for (size_t i = 1; i < n; i++)
        json_array_append_new(also, to_json(&whys[i]));
    json_object_set_new(object, "also", also);
    json_dumpf(object, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
}

static void print(const struct why whys[WHY_MOST], size_t n)
{
    for (const struct why *why = whys; why < whys + n; why++) {
        printf("%s%s: %s\n", why > whys ? "also " : "", why_word(why->cause), why->text);
        if (why->todo[0] != '\0')
            printf("%s\n", why->todo);
    }
}

int why_run(const struct instance *instance, const char *called, double seconds, bool json,
            char why[INSTANCE_WHY_MAX])
{
    const struct timespec pause = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    struct why_look before, now = {0};
    const double from = monotonic_seconds();
    struct why whys[WHY_MOST];
    int status = look_at(instance, called, &before, why);

    if (status == EXIT_GOOD) {
        nanosleep(&pause, NULL);
        status = look_at(instance, called, &now, why);
    }
    if (status == EXIT_GOOD) {
        const size_t n = why_decide(whys, &before, &now, monotonic_seconds() - from);

        if (json)
            print_json(whys, n);
        else
            print(whys, n);
    }
    drop(&before);
    drop(&now);
    return status;
}

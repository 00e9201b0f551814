#include "watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exit_status.h"
#include "monotonic.h"

/* Rates need two answers: so long at most until there is something to see on a terminal. Who reads the first
 * table elsewhere, perhaps the only one, gets what was in a whole interval. */
static const double FIRST_SECONDS = 1;

void sleep_for(double seconds)
{
    const struct timespec t = {.tv_sec = (time_t)seconds,
                               .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    nanosleep(&t, NULL);
}

static void print(const struct watch *w, const json_t *view)
{
    if (w->json) {
        json_dumpf(view, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
        putchar('\n');
    } else {
        if (isatty(STDOUT_FILENO))
            fputs("\033[H\033[2J", stdout); /* clears the screen */
        print_view(stdout, view, &w->style);
        if (!isatty(STDOUT_FILENO))
            putchar('\n');
    }
    fflush(stdout);
}

/* Tells once why there is nothing to show. told: what was told since something was shown. */
static void tell(char told[INSTANCE_WHY_MAX], const char *why)
{
    if (strcmp(told, why) != 0)
        fprintf(stderr, "swaggctl: %s; trying again\n", why);
    snprintf(told, INSTANCE_WHY_MAX, "%s", why);
}

/* Whether the answer can be shown; if not, why says what is wrong. */
static bool is_good(const json_t *answer, char why[INSTANCE_WHY_MAX])
{
    const char *error = json_string_value(json_object_get(answer, "error"));

    if (json_is_true(json_object_get(answer, "ok")))
        return true;
    if (answer != NULL)
        snprintf(why, INSTANCE_WHY_MAX, "%s", error != NULL ? error : "the switch says no, and not why");
    return false;
}

/* The first answer: nothing is shown of it but what is wrong with it, since nothing has grown yet. */
static int begin(const struct watch *w, const json_t *answer, char why[INSTANCE_WHY_MAX])
{
    json_t *view = rates_view(answer, NULL, 0, w->json);
    const bool lacks = print_lacks(view, &w->style, why, INSTANCE_WHY_MAX);

    json_decref(view);
    return lacks ? EXIT_USAGE : EXIT_GOOD;
}

static void show(const struct watch *w, const json_t *answer, const json_t *before, double seconds)
{
    json_t *view = rates_view(answer, before, seconds, w->json);

    print(w, view);
    json_decref(view);
}

/* While a job's ranks join a switch that was started anew, it says that there is no such job. What it tells
 * then counts from the start, so rates begin with its first answer. */
int watch_run(const struct watch *w, char why[INSTANCE_WHY_MAX])
{
    json_t *before = NULL, *answer; /* good ones */
    char told[INSTANCE_WHY_MAX] = "";
    double asked_at = 0, now;
    unsigned long shown = 0;
    int status = EXIT_GOOD;

    for (bool first = true; status == EXIT_GOOD && !ferror(stdout); first = false) {
        answer = ask(&w->instance, w->request, why);
        now = monotonic_seconds();
        if (is_good(answer, why)) {
            if (before != NULL) {
                show(w, answer, before, now - asked_at);
                shown++;
            } else if (shown == 0) {
                status = begin(w, answer, why);
            }
            json_decref(before);
            before = answer;
            asked_at = now;
            told[0] = '\0';
        } else {
            if (answer == NULL || told[0] != '\0')
                tell(told, why);
            else
                status = EXIT_BAD;
            json_decref(answer);
            json_decref(before);
            before = NULL;
        }
        if (w->times != 0 && shown >= w->times)
            break;
        if (status == EXIT_GOOD)
            sleep_for(first && w->every > FIRST_SECONDS && isatty(STDOUT_FILENO) ? FIRST_SECONDS : w->every);
    }
    json_decref(before);
    return status;
}

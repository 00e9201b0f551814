#include "watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exit_status.h"
#include "rates.h"

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_for(double seconds)
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
static void tell(char told[PLACE_WHY_MAX], const char *why)
{
    if (strcmp(told, why) != 0)
        fprintf(stderr, "swaggctl: %s; trying again\n", why);
    snprintf(told, PLACE_WHY_MAX, "%s", why);
}

/* Whether the answer can be shown; if not, why says what is wrong. */
static bool is_good(const json_t *answer, char why[PLACE_WHY_MAX])
{
    const char *error = json_string_value(json_object_get(answer, "error"));

    if (json_is_true(json_object_get(answer, "ok")))
        return true;
    if (answer != NULL)
        snprintf(why, PLACE_WHY_MAX, "%s", error != NULL ? error : "the switch says no, and not why");
    return false;
}

/* As watch_run. first: nothing was shown before it. */
static int show(const struct watch *w, const json_t *view, bool first, char why[PLACE_WHY_MAX])
{
    if (first && print_lacks(view, &w->style, why, PLACE_WHY_MAX))
        return EXIT_USAGE;
    print(w, view);
    return EXIT_GOOD;
}

/* While a job's ranks join a switch that was started anew, it says that there is no such job. */
int watch_run(const struct watch *w, char why[PLACE_WHY_MAX])
{
    json_t *before = NULL, *answer, *view;
    char told[PLACE_WHY_MAX] = "";
    double asked_at = 0, now;
    int status = EXIT_GOOD;

    for (unsigned long shown = 0;
         (w->times == 0 || shown < w->times) && status == EXIT_GOOD && !ferror(stdout);) {
        answer = ask(&w->place, w->request, why);
        now = seconds_now();
        if (is_good(answer, why)) {
            view = rates_view(answer, before, now - asked_at, w->json);
            status = show(w, view, shown == 0, why);
            json_decref(view);
            asked_at = now;
            told[0] = '\0';
            shown++;
        } else if (answer == NULL || told[0] != '\0') {
            tell(told, why);
        } else {
            status = EXIT_BAD;
        }
        json_decref(before);
        before = answer;
        if (status == EXIT_GOOD && (w->times == 0 || shown < w->times))
            sleep_for(w->every);
    }
    json_decref(before);
    return status;
}

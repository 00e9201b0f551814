#include "watch.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

/* The next answer; NULL: none came. silent: whether that has been told already. */
static json_t *next_answer(const struct watch *w, bool *silent)
{
    char why[PLACE_WHY_MAX];
    json_t *answer = ask(&w->place, w->request, why);

    if (answer == NULL && !*silent)
        fprintf(stderr, "swaggctl: %s; trying again\n", why);
    *silent = answer == NULL;
    return answer;
}

int watch_run(const struct watch *w, char why[PLACE_WHY_MAX])
{
    json_t *before = NULL, *answer, *view;
    double asked_at = 0, now;
    bool silent = false, refused = false;

    for (unsigned long shown = 0; (w->times == 0 || shown < w->times) && !refused && !ferror(stdout);) {
        answer = next_answer(w, &silent);
        now = seconds_now();
        refused = answer != NULL && !json_is_true(json_object_get(answer, "ok"));
        if (answer != NULL && !refused) {
            view = rates_view(answer, before, now - asked_at, w->json);
            print(w, view);
            json_decref(view);
            asked_at = now;
            shown++;
        }
        if (refused)
            snprintf(why, PLACE_WHY_MAX, "%s", json_string_value(json_object_get(answer, "error")));
        json_decref(before);
        before = answer;
        if (!refused && (w->times == 0 || shown < w->times))
            sleep_for(w->every);
    }
    json_decref(before);
    return refused;
}

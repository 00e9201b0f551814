#include "watch.h"

#include <ncurses.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exit_status.h"

/* Rates need two answers: so long at most until there is something to see. */
static const double FIRST_SECONDS = 1;

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
        now = seconds_now();
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
            sleep_for(first && w->every > FIRST_SECONDS ? FIRST_SECONDS : w->every);
    }
    json_decref(before);
    return status;
}

/* --- several on a full screen --- */

static const struct {
    const char *view, *only; /* NULL: all columns */
} shown[] = {
    {"status", "name,version,up_s,ip,ports,ports_up,stations"},
    {"jobs", NULL},
    {"ports", "name,link,rx_frames/s,rx_bytes/s,tx_frames/s,tx_bytes/s,drops/s"},
    {"lcores", NULL},
};

/* How soon the second answer is asked for, without which there are no rates. */
static const double TOP_FIRST_SECONDS = 0.25;

enum { SHOWN = sizeof(shown) / sizeof(shown[0]) };

struct top {
    const struct instance *instance;
    json_t *before[SHOWN]; /* the last answers */
    double asked_at;
    char *text; /* what is on the screen, and beyond its end */
    int first;  /* line on the screen */
    bool paused;
};

/* Writes one view; false: no answer. */
static bool write_view(struct top *t, unsigned i, FILE *to, double seconds)
{
    const struct print_style style = {.only = shown[i].only};
    char why[INSTANCE_WHY_MAX];
    json_t *request = ask_request(shown[i].view), *answer = ask(t->instance, request, why), *view;

    json_decref(request);
    if (answer == NULL) {
        fprintf(to, "%s\n", why);
        return false;
    }
    view = rates_view(answer, t->before[i], seconds, false);
    fprintf(to, "%s\n", shown[i].view);
    print_view(to, view, &style);
    fputc('\n', to);
    json_decref(view);
    json_decref(t->before[i]);
    t->before[i] = answer;
    return true;
}

static void refresh_text(struct top *t)
{
    const double now = seconds_now();
    size_t bytes;
    FILE *to;

    free(t->text);
    t->text = NULL;
    to = open_memstream(&t->text, &bytes);
    if (to == NULL)
        return;
    for (unsigned i = 0; i < SHOWN && write_view(t, i, to, now - t->asked_at); i++)
        ;
    fclose(to);
    t->asked_at = now;
}

static bool is_heading(const char *line, size_t length)
{
    for (unsigned i = 0; i < SHOWN; i++)
        if (strlen(shown[i].view) == length && memcmp(shown[i].view, line, length) == 0)
            return true;
    return false;
}

static void draw(const struct top *t)
{
    int line = 0;

    erase();
    for (const char *at = t->text; at != NULL && *at != '\0'; line++) {
        const size_t length = strcspn(at, "\n");

        if (line >= t->first && line - t->first < LINES - 1) {
            attrset(is_heading(at, length) ? A_BOLD : A_NORMAL);
            mvaddnstr(line - t->first, 0, at, (int)length < COLS ? (int)length : COLS);
        }
        at += length + (at[length] == '\n');
    }
    attrset(A_REVERSE);
    mvaddnstr(LINES - 1, 0,
              t->paused ? "paused; space goes on, q ends" : "q ends, space pauses, arrows scroll", COLS);
    attrset(A_NORMAL);
    refresh();
}

/* False: the user has had enough. */
static bool take_key(struct top *t, int key)
{
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case ' ':
        t->paused = !t->paused;
        break;
    case KEY_DOWN:
        t->first++;
        break;
    case KEY_UP:
        t->first -= t->first > 0;
        break;
    case KEY_NPAGE:
        t->first += LINES / 2;
        break;
    case KEY_PPAGE:
        t->first = t->first > LINES / 2 ? t->first - LINES / 2 : 0;
        break;
    default:
        break;
    }
    return true;
}

int top_run(const struct instance *instance, double every, char why[INSTANCE_WHY_MAX])
{
    struct top t = {.instance = instance};
    int key = ERR;

    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO)) {
        snprintf(why, INSTANCE_WHY_MAX, "top needs a terminal; without one, use watch");
        return -1;
    }
    initscr();
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    timeout((int)(every * 1000));
    refresh_text(&t); /* rates need two answers */
    napms(every < TOP_FIRST_SECONDS ? (int)(every * 1000) : (int)(TOP_FIRST_SECONDS * 1000));
    do {
        if (key == ERR && !t.paused)
            refresh_text(&t);
        draw(&t);
        key = getch();
    } while (take_key(&t, key));
    endwin();
    for (unsigned i = 0; i < SHOWN; i++)
        json_decref(t.before[i]);
    free(t.text);
    return 0;
}

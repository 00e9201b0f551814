#include "top.h"

#include <ncurses.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exit_status.h"
#include "monotonic.h"
#include "print.h"
#include "watch.h"

static const struct {
    const char *view, *only; /* NULL: all columns */
} shown[] = {
    {"status", "name,version,up_s,ip,ports,ports_up,stations"},
    {"jobs", NULL}, /* made here */
    {"ports", "name,link,rx_frames/s,rx_bytes/s,tx_frames/s,tx_bytes/s,drops/s"},
    {"lcores", NULL},
};

/* How soon the second answer is asked for, without which there are no rates, on a terminal. */
static const double FIRST_SECONDS = 0.25;

/* Jobs that are looked at, and those with the most bytes that are shown. */
enum { SHOWN = sizeof(shown) / sizeof(shown[0]), JOBS_MAX = 64, JOBS_SHOWN = 16 };

/* By the jobs' calls: those of this look, which take the place of the last ones'. */
struct answers {
    json_t *before, *now;
};

struct top {
    const struct instance *instance;
    json_t *before[SHOWN];     /* the last answers */
    struct answers job, ranks; /* of each job */
    double asked_at;
    char *text; /* what is on the screen, and beyond its end */
    int first;  /* line on the screen */
    bool paused;
};

/* --- jobs ---------------------------------------------------------------------------------------------- */

struct job_row {
    char call[JOB_CALLED_MAX];
    const json_t *listed; /* its row of the view of jobs */
    json_t *rated;        /* the view of it, with rates */
    double bytes;         /* a second */
};

/* A view of a job, with rates since the last answer, of which `of` has it. NULL: it is over. */
static json_t *ask_rated(const struct top *t, const char *view, const char *call, const struct answers *of,
                         double seconds)
{
    char why[INSTANCE_WHY_MAX];
    json_t *answer = ask_view(t->instance, view, call, why), *rated = NULL;

    if (json_is_true(json_object_get(answer, "ok"))) {
        rated = rates_view(answer, json_object_get(of->before, call), seconds, false);
        json_object_set(of->now, call, answer);
    }
    json_decref(answer);
    return rated;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static int by_bytes(const void *a, const void *b)
{
    const double x = ((const struct job_row *)a)->bytes, y = ((const struct job_row *)b)->bytes;

    return (x < y) - (x > y);
}

/* The rank that others waited for most in that time, and how late it was on average. */
static void put_latest(json_t *row, const json_t *ranks)
{
    const json_t *rank, *latest = NULL;
    double lost = 0;
    size_t i;

    json_array_foreach (json_object_get(ranks, "ranks"), i, rank) {
        lost += number(rank, "lost_up/s") + number(rank, "lost_down/s");
        if (number(rank, "delayed_us/s") > number(latest, "delayed_us/s"))
            latest = rank;
    }
    json_object_set_new(row, "lost/s", json_real(lost));
    json_object_set_new(row, "latest_rank",
                        latest == NULL ? json_string("") : json_incref(json_object_get(latest, "rank")));
    json_object_set_new(
        row, "late_us",
        json_integer(number(latest, "contributions/s") > 0
                         ? (json_int_t)(number(latest, "delayed_us/s") / number(latest, "contributions/s"))
                         : 0));
}

static json_t *row_of(const struct top *t, const struct job_row *job, double seconds)
{
    json_t *ranks = ask_rated(t, "ranks", job->call, &t->ranks, seconds), *row = json_object();
    const json_t *tenant = json_object_get(job->listed, "tenant");
    char present[64];

    snprintf(present, sizeof(present), "%.0f/%.0f", number(job->listed, "present"),
             number(job->listed, "size"));
    json_object_set(row, "name", json_object_get(job->listed, "name"));
    json_object_set_new(row, "tenant", tenant == NULL ? json_string("") : json_copy((json_t *)tenant));
    json_object_set(row, "state", json_object_get(job->listed, "state"));
    json_object_set_new(row, "ranks", json_string(present));
    json_object_set_new(row, "bytes/s", json_integer((json_int_t)job->bytes));
    put_latest(row, ranks);
    json_decref(ranks);
    return row;
}

/* Looks at the jobs of the list, as many as there is room for; returns how many are still there. */
static unsigned look_at_jobs(const struct top *t, const json_t *list, struct job_row job[JOBS_MAX],
                             double seconds)
{
    const json_t *listed;
    unsigned n = 0;
    size_t i;

    json_array_foreach (list, i, listed) {
        struct job_row *j = &job[n];

        if (n == JOBS_MAX)
            break;
        j->listed = listed;
        ask_job_called(j->call, listed);
        j->rated = ask_rated(t, "job", j->call, &t->job, seconds);
        if (j->rated == NULL)
            continue;
        j->bytes = number(j->rated, "bytes/s");
        n++;
    }
    return n;
}

/* The table of jobs, those with the most bytes first, in the place of the view's. */
static json_t *jobs_of(const struct top *t, const json_t *view, double seconds)
{
    struct job_row job[JOBS_MAX];
    const unsigned n = look_at_jobs(t, json_object_get(view, "jobs"), job, seconds);
    json_t *rows = json_array();

    qsort(job, n, sizeof(job[0]), by_bytes);
    for (unsigned i = 0; i < n; i++) {
        if (i < JOBS_SHOWN)
            json_array_append_new(rows, row_of(t, &job[i], seconds));
        json_decref(job[i].rated);
    }
    return json_pack("{s:o}", "jobs", rows);
}

/* --- the text ------------------------------------------------------------------------------------------ */

/* Writes one view; false: no answer. */
static bool write_view(struct top *t, unsigned i, FILE *to, double seconds)
{
    const struct print_style style = {.only = shown[i].only};
    char why[INSTANCE_WHY_MAX];
    json_t *answer = ask_view(t->instance, shown[i].view, NULL, why), *view, *jobs;

    if (answer == NULL) {
        fprintf(to, "%s\n", why);
        return false;
    }
    if (!json_is_true(json_object_get(answer, "ok"))) { /* a server has no ports */
        json_decref(answer);
        return true;
    }
    view = rates_view(answer, t->before[i], seconds, false);
    if (strcmp(shown[i].view, "jobs") == 0) {
        jobs = jobs_of(t, view, seconds);
        json_decref(view);
        view = jobs;
    }
    fprintf(to, "%s\n", shown[i].view);
    print_view(to, view, &style);
    fputc('\n', to);
    json_decref(view);
    json_decref(t->before[i]);
    t->before[i] = answer;
    return true;
}

static void turn(struct answers *of)
{
    json_decref(of->before);
    of->before = of->now;
    of->now = json_object();
}

static void refresh_text(struct top *t)
{
    const double now = monotonic_seconds();
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
    turn(&t->job);
    turn(&t->ranks);
    t->asked_at = now;
}

static void print_again_and_again(struct top *t, double every, unsigned long times)
{
    refresh_text(t);
    sleep_for(every); /* so that what comes now and then is in the first table, perhaps the only one */
    for (unsigned long n = 1;; n++) {
        refresh_text(t);
        fputs(t->text == NULL ? "" : t->text, stdout);
        fflush(stdout);
        if (ferror(stdout) || n == times)
            return;
        sleep_for(every);
    }
}

/* --- the screen ---------------------------------------------------------------------------------------- */

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

static void show_on_a_screen(struct top *t, double every)
{
    int key = ERR;

    initscr();
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    timeout((int)(every * 1000));
    refresh_text(t);
    napms((int)((every < FIRST_SECONDS ? every : FIRST_SECONDS) * 1000));
    do {
        if (key == ERR && !t->paused)
            refresh_text(t);
        draw(t);
        key = getch();
    } while (take_key(t, key));
    endwin();
}

int top_run(const struct instance *instance, double every, unsigned long times)
{
    struct top t = {.instance = instance, .job.now = json_object(), .ranks.now = json_object()};

    if (isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
        show_on_a_screen(&t, every);
    else
        print_again_and_again(&t, every, times);
    for (unsigned i = 0; i < SHOWN; i++)
        json_decref(t.before[i]);
    json_decref(t.job.before);
    json_decref(t.job.now);
    json_decref(t.ranks.before);
    json_decref(t.ranks.now);
    free(t.text);
    return EXIT_GOOD;
}

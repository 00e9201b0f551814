#include "scale/scale.h"
#include "exit_status.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "scale/report.h"
#include "sim.h"

enum { PATH_BYTES_MAX = 4096 };

/* What is to be run: the largest points first, so that no CPU is left with one at the end. */
struct work {
    struct report *report;
    const struct costs *costs;
    struct report_point *point[PLAN_TREES * (PLAN_SPEEDS_MAX * PLAN_LOSSES_MAX + 1)];
    unsigned points;
    atomic_uint next;
};

static void add_tree(struct work *w, unsigned t)
{
    struct report *r = w->report;
    const struct plan *plan = r->plan;

    r->twice[t].cfg = plan_config(plan, t, plan->main_speed, 0, w->costs);
    r->twice[t].cfg.chunks *= 2;
    w->point[w->points++] = &r->twice[t];
    for (unsigned s = plan->speeds; s-- > 0;)
        for (unsigned l = plan->losses; l-- > 0;) {
            r->point[t][s][l].cfg = plan_config(plan, t, s, l, w->costs);
            w->point[w->points++] = &r->point[t][s][l];
        }
}

static void add_restarts(struct report *r)
{
    static const struct {
        uint32_t loss_ppm;
        uint64_t down_ns;
    } restarts[REPORT_RESTARTS] = {{0, 100 * MS}, {0, 1 * S}, {1000, 100 * MS}};
    const struct scale_tree *tree = &r->plan->tree[0];

    for (unsigned i = 0; i < REPORT_RESTARTS; i++)
        r->restart[i].cfg = (struct restart_config){.leaves = tree->fan_in[0],
                                                    .workers = tree->fan_in[1],
                                                    .bits_per_s = UINT64_C(10000000000),
                                                    .delay_ns = 1000,
                                                    .loss_ppm = restarts[i].loss_ppm,
                                                    .tensor_bytes = 2000000,
                                                    .down_ns = restarts[i].down_ns,
                                                    .seed = 1};
}

static void run_one(struct work *w, unsigned i)
{
    if (i < w->points) {
        struct report_point *p = w->point[i];
        p->result = scale_run(&p->cfg);
        fprintf(stderr, "%u workers, %u Gb/s, loss %g%%, %llu chunks: %.3f of the ideal, %llu events%s\n",
                scale_workers(&p->cfg.tree), (unsigned)(p->cfg.bits_per_s / 1000000000),
                p->cfg.loss_ppm / 1e4, (unsigned long long)p->cfg.chunks, p->result.steady,
                (unsigned long long)p->result.events, p->result.exact ? "" : ", WRONG SUMS");
    } else {
        struct report_restart *restart = &w->report->restart[i - w->points];
        restart->result = restart_run(&restart->cfg);
    }
}

static void *work(void *ctx)
{
    struct work *w = ctx;

    for (unsigned i; (i = atomic_fetch_add(&w->next, 1)) < w->points + REPORT_RESTARTS;)
        run_one(w, i);
    return NULL;
}

static void run_all(struct work *w, unsigned jobs)
{
    pthread_t thread[SCALE_JOBS_MAX];

    for (unsigned i = 0; i < jobs; i++)
        if (pthread_create(&thread[i], NULL, work, w) != 0)
            sim_die("cannot start a thread");
    for (unsigned i = 0; i < jobs; i++)
        pthread_join(thread[i], NULL);
}

/* Files */

static _Noreturn void die(const char *path, const char *why)
{
    fprintf(stderr, "swagg-sim: %s: %s\n", path, why);
    exit(EXIT_BAD);
}

static void write_file(const char *path, const struct report *r,
                       void (*write)(const struct report *r, FILE *out))
{
    FILE *out = fopen(path, "w");

    if (out == NULL)
        die(path, strerror(errno));
    write(r, out);
    if (fclose(out) != 0)
        die(path, strerror(errno));
}

/* A whole file, with a terminating zero. */
static void read_file(const char *path, char **text)
{
    FILE *in = fopen(path, "r");
    size_t room = 0;

    if (in == NULL)
        die(path, strerror(errno));
    if (getdelim(text, &room, '\0', in) < 0)
        die(path, "is empty");
    fclose(in);
}

static const char begin_mark[] = "<!-- swagg-sim scale -->\n", end_mark[] = "<!-- end of swagg-sim scale -->";

/* Puts the tables between the page's marks; nothing else in it changes. */
static void write_tables(const char *path, const struct report *r)
{
    char *page = NULL;

    read_file(path, &page);
    const char *begin = strstr(page, begin_mark), *end = strstr(page, end_mark);
    if (begin == NULL || end == NULL || end < begin)
        die(path,
            "there is no section between '<!-- swagg-sim scale -->' and '<!-- end of swagg-sim scale -->'");
    FILE *out = fopen(path, "w");
    if (out == NULL)
        die(path, strerror(errno));
    fwrite(page, 1, (size_t)(begin - page) + sizeof(begin_mark) - 1, out);
    report_tables(r, out);
    fputs(end, out);
    if (fclose(out) != 0)
        die(path, strerror(errno));
    free(page);
}

int scale_command(const struct scale_command *c)
{
    struct report *r = memory_of(sizeof(*r));
    const struct costs costs = costs_read(c->costs);
    struct work w = {.report = r, .costs = &costs};
    char path[PATH_BYTES_MAX];

    r->plan = c->small ? &plan_small : &plan_whole;
    for (unsigned t = PLAN_TREES; t-- > 0;)
        add_tree(&w, t);
    add_restarts(r);
    run_all(&w, c->jobs);
    const bool exact = report_is_exact(r);
    report_tables(r, stdout);
    if (!exact)
        printf("\nWRONG SUMS\n");
    if (c->json != NULL)
        write_file(c->json, r, report_json);
    if (c->out != NULL && exact) {
        snprintf(path, sizeof(path), "%s/scale.svg", c->out);
        write_file(path, r, report_picture);
        snprintf(path, sizeof(path), "%s/scale.md", c->out);
        write_tables(path, r);
    }
    free(r);
    return exact ? 0 : 1;
}

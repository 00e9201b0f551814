#include "curves/curves.h"
#include "exit_status.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curves/plan.h"
#include "memory.h"
#include "sim.h"

struct curves {
    bool small;
    unsigned n;
    atomic_uint next;
    struct point point[PLAN_POINTS_MAX];
    struct point_result result[PLAN_POINTS_MAX];
};

static const char *yes_no(bool yes)
{
    return yes ? "true" : "false";
}

static void print_point(FILE *out, const struct point *p, const struct point_result *r)
{
    fprintf(out,
            "{\"curve\": \"%s\", \"workers\": %u, \"jobs\": %u, \"loss_pct\": %g, \"forwarded\": %g, "
            "\"aggregators\": %u, \"window\": %u, \"parts\": %u, \"control\": %s, \"share\": %.4f, \"jain\": "
            "%.4f, \"to_server\": %.3f, \"switched\": %.4f, \"overflowed\": %.4f, \"window_at_end\": %.1f}",
            p->curve, p->workers, p->jobs, p->loss_ppm / 1e4, p->forward_ppm / 1e6, p->aggregators, p->window,
            p->parts, yes_no(!p->no_control), r->share, r->jain, r->to_server, r->switched, r->overflowed,
            r->window);
}

static void *work(void *ctx)
{
    struct curves *c = ctx;

    for (unsigned i; (i = atomic_fetch_add(&c->next, 1)) < c->n;) {
        c->result[i] = point_measure(&c->point[i], plan_chunks(&c->point[i], c->small));
        flockfile(stderr);
        print_point(stderr, &c->point[i], &c->result[i]);
        fprintf(stderr, " %llu events%s%s\n", (unsigned long long)c->result[i].events,
                c->result[i].failed ? " FAILED " : "", c->result[i].why);
        funlockfile(stderr);
    }
    return NULL;
}

static void run_all(struct curves *c, unsigned threads)
{
    pthread_t thread[CURVES_THREADS_MAX];

    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, c) != 0)
            sim_die("cannot start a thread");
    for (unsigned i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
}

static void print_points(const struct curves *c, FILE *out)
{
    fprintf(
        out,
        "{\"gbps\": %g, \"chunk_bytes\": %u, \"carried_bytes\": %u, \"delay_us\": %g, \"queue_bytes\": %u, "
        "\"mark_bytes\": %u, \"settle_ms\": %g, \"settle_jobs_ms\": %g, \"nap_every_us\": %g, "
        "\"nap_most_us\": %g, \"points\": [",
        (double)point_bits_per_s / 1e9, (unsigned)POINT_CHUNK_BYTES, (unsigned)POINT_CARRIED,
        (double)point_delay_ns / 1e3, point_queue_bytes, point_mark_bytes, (double)point_settle_ns / 1e6,
        (double)point_settle_jobs_ns / 1e6, (double)point_nap_every_ns / 1e3,
        (double)point_nap_most_ns / 1e3);
    for (unsigned i = 0; i < c->n; i++) {
        fputs(i == 0 ? "\n " : ",\n ", out);
        print_point(out, &c->point[i], &c->result[i]);
    }
    fputs("]}\n", out);
}

static void cannot_write(const char *path)
{
    fprintf(stderr, "swagg-sim: --json: cannot write %s: %s\n", path, strerror(errno));
    exit(EXIT_BAD);
}

int curves_command(const struct curves_command *command)
{
    FILE *out = command->json == NULL ? NULL : fopen(command->json, "w");
    struct curves *c = memory_of(sizeof *c);
    bool failed = false;

    if (command->json != NULL && out == NULL) /* not after all the points were played */
        cannot_write(command->json);
    c->small = command->small;
    c->n = plan_points(c->point, c->small);
    run_all(c, command->threads);
    for (unsigned i = 0; i < c->n; i++)
        failed |= c->result[i].failed;
    if (out != NULL && !failed)
        print_points(c, out);
    if (out != NULL && fclose(out) != 0)
        cannot_write(command->json);
    free(c);
    return failed ? 1 : 0;
}

/* /metrics: what becomes of declared views as text, and how much of it there can be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/metrics.h"
#include "unit.h"

enum { RANKS = 64 };

/* A host that this test plays. */
struct played {
    unsigned jobs;
    const char *name; /* of every job; NULL: by their numbers */
};

static const char *job_name(const struct played *p, unsigned job, char text[16])
{
    snprintf(text, 16, "j%u", job);
    return p->name != NULL ? p->name : text;
}

static void play_ports(struct view_out *out)
{
    const struct port_view row = {
        .name = "up\"link\\1", .device = "kernel:eth0", .link = "up", .rx_frames = 7, .drops = 2};

    view_row(out, &row);
}

static void play_drops(struct view_out *out)
{
    static const struct view_count of[] = {{"runt", 3}, {"oversize", 0}};
    const struct counted_view shown = {.counts = {2, of}};

    view_fields(out, &shown);
}

static void play_lcores(struct view_out *out)
{
    const struct lcore_view row = {.lcore = 1, .cpu = 3, .shards = 1, .busy_percent = 40};

    view_row(out, &row);
}

static void play_jobs(const struct played *p, struct view_out *out)
{
    char text[16];

    for (unsigned i = 0; i < p->jobs; i++) {
        const struct jobs_view row = {
            .name = job_name(p, i, text), .state = "running", .tenant = "lab", .size = RANKS};

        view_row(out, &row);
    }
}

static int play_job(const struct played *p, const char *name, struct view_out *out)
{
    const struct job_view shown = {.name = p->name != NULL ? p->name : name + 4,
                                   .tenant = "lab",
                                   .state = "running",
                                   .size = RANKS,
                                   .delays = true,
                                   .lost_up = 5};

    if (strncmp(name, "lab/", 4) != 0)
        return -1;
    view_fields(out, &shown);
    return 0;
}

/* The higher its number, the later is a rank. Ranks 20 to 29 come by a switch below, in one packet. */
static void play_ranks(struct view_out *out)
{
    for (unsigned r = 0; r < RANKS; r++) {
        struct rank_view row = {
            .rank = r, .joined = true, .state = "joined", .delays_noted = true, .contributions = 3};

        row.together = r > 20 && r < 30;
        row.sent_with = row.together ? 20 : r;
        row.delayed_us = r == 63 ? UINT64_MAX : r * UINT64_C(10250);
        row.heard_ms_ago = r;

        row.delays[1] = 1;
        row.delays[11] = 2;
        row.late_us_log2 = (struct view_delays){12, row.delays, r * UINT64_C(1000000)};
        view_row(out, &row);
    }
    view_fields(out, &(struct of_job_view){.name = "j"});
}

static int play(void *context, const struct view *view, const char *name, struct view_out *out)
{
    const struct played *p = context;

    switch (view - views) {
    case VIEW_PORTS:
        play_ports(out);
        return 0;
    case VIEW_DROPS:
        play_drops(out);
        return 0;
    case VIEW_LCORES:
        play_lcores(out);
        return 0;
    case VIEW_JOBS:
        play_jobs(p, out);
        return 0;
    case VIEW_JOB:
        return play_job(p, name, out);
    case VIEW_MEMBERS:
        play_ranks(out);
        return 0;
    default:
        return -1; /* it has no such view */
    }
}

/* To be freed. */
static char *collect(const struct played *p, unsigned ranks, bool open)
{
    const struct view_source host = {.fill = play, .context = (void *)p};
    size_t bytes = 0;
    char *text = metrics_collect(&host, ranks, open, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_EQUAL(bytes, strlen(text));
    return text;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        n++;
    return n;
}

static void expect(const char *text, const char *line)
{
    if (strstr(text, line) == NULL)
        printf("\nnot there: %s\n", line);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
}

TEST(a_field_of_a_view_is_a_family)
{
    char *text = collect(&(struct played){.jobs = 1}, 64, false);

    expect(text, "# HELP swagg_port_rx_frames_total ports: received; frames\n# TYPE "
                 "swagg_port_rx_frames_total counter\n"
                 "swagg_port_rx_frames_total{port=\"up\\\"link\\\\1\"} 7\n");
    expect(text, "\nswagg_port_drops_total{port=\"up\\\"link\\\\1\"} 2\n");
    expect(text, "\nswagg_dropped_frames_total{reason=\"runt\"} "
                 "3\nswagg_dropped_frames_total{reason=\"oversize\"} 0\n");
    expect(text, "# TYPE swagg_lcore_busy_ratio gauge\nswagg_lcore_busy_ratio{lcore=\"1\"} 0.4\n");
    expect(text, "\nswagg_job_size{job_name=\"j0\",tenant=\"lab\"} 64\n");
    expect(text, "\nswagg_job_lost_up_total{job_name=\"j0\",tenant=\"lab\"} 5\n");
    CU_ASSERT_EQUAL(count(text, "cpu"), 0); /* says which, and not how much */
    CU_ASSERT_EQUAL(count(text, "# TYPE swagg_job_size "), 1);
    free(text);
}

TEST(delays_are_a_histogram_in_seconds)
{
    char *text = collect(&(struct played){.jobs = 1}, 64, false);
    const char *of = "{job_name=\"j0\",tenant=\"lab\",rank=\"7\",le=";
    char line[160];

    expect(text, "# TYPE swagg_rank_late_seconds histogram\n");
    snprintf(line, sizeof(line), "swagg_rank_late_seconds_bucket%s\"2.048e-06\"} 1\n", of);
    expect(text, line);
    snprintf(line, sizeof(line), "swagg_rank_late_seconds_bucket%s\"0.002097152\"} 3\n", of);
    expect(text, line);
    snprintf(line, sizeof(line), "swagg_rank_late_seconds_bucket%s\"+Inf\"} 3\n", of);
    expect(text, line);
    expect(text, "swagg_rank_late_seconds_sum{job_name=\"j0\",tenant=\"lab\",rank=\"7\"} 0.007\n"
                 "swagg_rank_late_seconds_count{job_name=\"j0\",tenant=\"lab\",rank=\"7\"} 3\n");
    free(text);
}

TEST(times_are_told_exactly_in_seconds)
{
    char *text = collect(&(struct played){.jobs = 1}, 64, false), line[160];
    const struct {
        unsigned rank;
        const char *delayed, *heard;
    } told[] = {
        {0, "0", "0"}, {1, "0.01025", "0.001"}, {40, "0.41", "0.04"}, {63, "18446744073709.551615", "0.063"}};

    for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        const char *of = "job_name=\"j0\",tenant=\"lab\",rank=";

        snprintf(line, sizeof(line), "\nswagg_rank_delayed_seconds_total{%s\"%u\"} %s\n", of, told[i].rank,
                 told[i].delayed);
        expect(text, line);
        snprintf(line, sizeof(line), "\nswagg_rank_heard_ago_seconds{%s\"%u\"} %s\n", of, told[i].rank,
                 told[i].heard);
        expect(text, line);
    }
    free(text);
}

TEST(what_ranks_send_together_is_told_once)
{
    char *text = collect(&(struct played){.jobs = 1}, 64, false);

    CU_ASSERT_EQUAL(count(text, "\nswagg_rank_delayed_seconds_total{"), RANKS - 9);
    CU_ASSERT_EQUAL(count(text, "\nswagg_rank_late_seconds_count{"), RANKS - 9);
    CU_ASSERT_EQUAL(count(text, "\nswagg_rank_heard_ago_seconds{"), RANKS);
    free(text);
}

/* In OpenMetrics a counter's family has the name without its samples' end. */
TEST(openmetrics_ends_and_names_counters_otherwise)
{
    char *text = collect(&(struct played){.jobs = 1}, 64, true);

    expect(text, "# TYPE swagg_port_rx_frames counter\nswagg_port_rx_frames_total{");
    CU_ASSERT_STRING_EQUAL(text + strlen(text) - 6, "# EOF\n");
    free(text);
}

/* However many jobs and ranks there are, so many have series; of each job the latest. */
TEST(the_number_of_series_is_bounded)
{
    char *text = collect(&(struct played){.jobs = 256}, 1024, false);

    CU_ASSERT_EQUAL(count(text, "\nswagg_job_size{"), 256);
    CU_ASSERT_EQUAL(count(text, "\nswagg_rank_late_seconds_count{"), 1024);
    expect(text, "swagg_rank_late_seconds_count{job_name=\"j9\",tenant=\"lab\",rank=\"63\"}");
    CU_ASSERT_EQUAL(count(text, "swagg_rank_late_seconds_count{job_name=\"j9\",tenant=\"lab\",rank=\"59\"}"),
                    0);
    free(text);
    text = collect(&(struct played){.jobs = 256}, 1, false);
    CU_ASSERT_EQUAL(count(text, "\nswagg_rank_late_seconds_count{"), 256);
    free(text);
}

TEST(without_jobs_there_is_the_rest)
{
    char *text = collect(&(struct played){0}, 64, false);

    expect(text, "swagg_port_rx_frames_total");
    CU_ASSERT_EQUAL(count(text, "swagg_job_") + count(text, "swagg_rank_"), 0);
    free(text);
}

/* What a job may be called ends no label. */
TEST(names_are_quoted)
{
    char *text = collect(&(struct played){.jobs = 1, .name = "a\"\\\nb"}, 64, false);

    expect(text, "\nswagg_job_size{job_name=\"a\\\"\\\\\\nb\",tenant=\"lab\"} 64\n");
    free(text);
}

#include "scale/report.h"

#include "scale/svg.h"
#include "sim.h"

static unsigned workers(const struct report *r, unsigned tree)
{
    return scale_workers(&r->plan->tree[tree]);
}

static const struct report_point *main_point(const struct report *r, unsigned tree)
{
    return &r->point[tree][r->plan->main_speed][0];
}

static double tensor_mb(const struct scale_config *cfg)
{
    return (double)cfg->chunks * cfg->chunk_bytes / 1e6;
}

/* As a share of what links and framing allow. */
static double ring_share(const struct scale_config *cfg)
{
    return scale_ideal_s(cfg) / plan_ring_s(cfg);
}

bool report_is_exact(const struct report *r)
{
    bool exact = true;

    for (unsigned t = 0; t < PLAN_TREES; t++) {
        exact &= r->twice[t].result.exact;
        for (unsigned s = 0; s < r->plan->speeds; s++)
            for (unsigned l = 0; l < r->plan->losses; l++)
                exact &= r->point[t][s][l].result.exact;
    }
    for (unsigned i = 0; i < REPORT_RESTARTS; i++)
        exact &= r->restart[i].result.exact;
    return exact;
}

/* Tables */

/* Of the switch that needs most. */
static double pool_mb(const struct scale_config *cfg)
{
    size_t most = 0;

    for (unsigned l = 0; l < cfg->tree.levels; l++) {
        const size_t bytes = scale_pool_bytes(cfg, l);
        most = bytes > most ? bytes : most;
    }
    return (double)most / 1e6;
}

static void goodput_row(const struct report *r, unsigned t, unsigned s, FILE *out)
{
    const struct report_point *p = &r->point[t][s][0];
    const struct scale_config *cfg = &p->cfg;

    fprintf(out, "| %u; %u switches, %u levels | %u Gb/s | %u | %.3f | %.3f | %u%s | %u | %.1f MB |\n",
            workers(r, t), scale_switches(&cfg->tree), cfg->tree.levels, r->plan->gbps[s],
            scale_frame_bytes(cfg->chunk_bytes), p->result.steady, ring_share(cfg), cfg->lcores,
            cfg->lcores == PLAN_LCORES_MAX ? ", all" : "", cfg->slots, pool_mb(cfg));
}

static void goodput_table(const struct report *r, FILE *out)
{
    fputs("| workers | links | frame, bytes | goodput, of the ideal | a ring, at most | lcores a switch | "
          "slots | memory a switch |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|\n",
          out);
    for (unsigned t = 0; t < PLAN_TREES; t++)
        for (unsigned s = 0; s < r->plan->speeds; s++)
            goodput_row(r, t, s, out);
}

/* As a multiple of those that one contribution and one result for each chunk and cable are. */
static double packets_sent(const struct report_point *p)
{
    const struct scale_tree *tree = &p->cfg.tree;
    const unsigned cables = scale_workers(tree) + scale_switches(tree) - 1;

    return (double)p->result.frames / (2.0 * cables * (double)p->cfg.chunks);
}

static void time_row(const struct report_point *p, FILE *out)
{
    const struct scale_result *s = &p->result;

    fprintf(out,
            "| %u | %g Gb/s | %g%% | %.1f MB | %.2f ms | %.2f ms | %.2f ms | %.3f | %.2f | %.0f%% | %u |\n",
            scale_workers(&p->cfg.tree), (double)p->cfg.bits_per_s / 1e9, p->cfg.loss_ppm / 1e4,
            tensor_mb(&p->cfg), scale_ideal_s(&p->cfg) * 1e3, s->seconds * 1e3, plan_ring_s(&p->cfg) * 1e3,
            s->share, packets_sent(p), s->busiest * 100, s->waiting);
}

static void time_table(const struct report *r, FILE *out)
{
    fputs("\n## Each allreduce\n\n| workers | links | loss | tensor | ideal | through the switches | a ring "
          "without loss, at least | of the "
          "ideal | packets, of the least | work for the busiest lcore, of the time | packets that wait for "
          "one, at most |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
          out);
    for (unsigned t = 0; t < PLAN_TREES; t++)
        for (unsigned s = 0; s < r->plan->speeds; s++)
            for (unsigned l = 0; l < r->plan->losses; l++)
                time_row(&r->point[t][s][l], out);
}

static void size_table(const struct report *r, FILE *out)
{
    fprintf(out,
            "\n## Does the tensor's size matter?\n\n| workers, %u Gb/s | tensor | of the ideal | twice the "
            "tensor | of the ideal "
            "|\n|---|---:|---:|---:|---:|\n",
            r->plan->gbps[r->plan->main_speed]);
    for (unsigned t = 0; t < PLAN_TREES; t++) {
        const struct report_point *one = main_point(r, t), *two = &r->twice[t];
        fprintf(out, "| %u | %.1f MB | %.4f | %.1f MB | %.4f |\n", workers(r, t), tensor_mb(&one->cfg),
                one->result.steady, tensor_mb(&two->cfg), two->result.steady);
    }
}

static void restart_table(const struct report *r, FILE *out)
{
    fputs("\n## When a leaf restarts\n\n| workers, leaves | links | loss | the allreduce on its links | the "
          "leaf is down for | the "
          "allreduce is "
          "later by |\n|---|---:|---:|---:|---:|---:|\n",
          out);
    for (unsigned i = 0; i < REPORT_RESTARTS; i++) {
        const struct restart_config *c = &r->restart[i].cfg;
        fprintf(out, "| %u, %u | %g Gb/s | %g%% | %.2f ms | %.2f s | %.3f s |\n", c->leaves * c->workers,
                c->leaves, (double)c->bits_per_s / 1e9, c->loss_ppm / 1e4, r->restart[i].result.usual_s * 1e3,
                (double)c->down_ns / (double)S, r->restart[i].result.delayed_s);
    }
}

void report_tables(const struct report *r, FILE *out)
{
    goodput_table(r, out);
    time_table(r, out);
    size_table(r, out);
    restart_table(r, out);
}

/* JSON */

static void json_point(const struct report_point *p, const char *name, FILE *out)
{
    const struct scale_result *s = &p->result;

    fprintf(out,
            ",\n  \"%s_share\": %.4f,\n  \"%s_whole_share\": %.4f,\n  \"%s_ms\": %.4f,\n  \"%s_frames\": "
            "%llu,\n  \"%s_lost\": %llu,\n"
            "  \"%s_probes\": %llu,\n  \"%s_retransmitted\": %llu,\n  \"%s_events\": %llu",
            name, s->steady, name, s->share, name, s->seconds * 1e3, name, (unsigned long long)s->frames,
            name, (unsigned long long)s->lost, name, (unsigned long long)s->probes, name,
            (unsigned long long)s->retransmitted, name, (unsigned long long)s->events);
}

void report_json(const struct report *r, FILE *out)
{
    char name[64];

    fprintf(out, "{\n  \"exact\": %d", report_is_exact(r));
    for (unsigned t = 0; t < PLAN_TREES; t++) {
        const struct report_point *p = main_point(r, t);

        fprintf(out,
                ",\n  \"goodput_%u_share\": %.4f,\n  \"goodput_%u_share_twice\": %.4f,\n  \"ring_%u_share\": "
                "%.4f",
                workers(r, t), p->result.steady, workers(r, t), r->twice[t].result.steady, workers(r, t),
                ring_share(&p->cfg));
        for (unsigned s = 0; s < r->plan->speeds; s++)
            for (unsigned l = 0; l < r->plan->losses; l++) {
                snprintf(name, sizeof(name), "scale_%u_%ug_%uppm", workers(r, t), r->plan->gbps[s],
                         r->plan->loss_ppm[l]);
                json_point(&r->point[t][s][l], name, out);
            }
    }
    for (unsigned i = 0; i < REPORT_RESTARTS; i++)
        fprintf(out, ",\n  \"restart_%u_delayed_s\": %.4f", i, r->restart[i].result.delayed_s);
    fputs("\n}\n", out);
}

/* The picture */

enum { BY_SPEED, BY_LOSS, PANELS };

struct names {
    char workers[PLAN_TREES][24], ring[PLAN_TREES][24], heading[64];
};

static struct svg_panel speeds_panel(const struct report *r, const struct names *names)
{
    struct svg_panel p = {.heading = "No loss, in the middle of a call",
                          .unit = "goodput, of the ideal",
                          .x_unit = "links, Gb/s",
                          .x_values = r->plan->speeds,
                          .series = 2 * PLAN_TREES,
                          .top = 1};

    for (unsigned t = 0; t < PLAN_TREES; t++) {
        p.line[t] = (struct svg_series){.name = names->workers[t], .colour = t, .points = r->plan->speeds};
        p.line[PLAN_TREES + t] =
            (struct svg_series){.name = names->ring[t], .colour = 3, .points = r->plan->speeds};
        for (unsigned s = 0; s < r->plan->speeds; s++) {
            snprintf(p.x[s], sizeof(p.x[s]), "%u", r->plan->gbps[s]);
            p.line[t].y[s] = r->point[t][s][0].result.steady;
            p.line[PLAN_TREES + t].y[s] = ring_share(&r->point[t][s][0].cfg);
        }
    }
    return p;
}

static struct svg_panel losses_panel(const struct report *r, const struct names *names)
{
    struct svg_panel p = {.heading = names->heading,
                          .unit = "goodput, of the ideal",
                          .x_unit = "loss on each cable, %",
                          .x_values = r->plan->losses,
                          .series = PLAN_TREES,
                          .top = 1};

    for (unsigned t = 0; t < PLAN_TREES; t++) {
        p.line[t] = (struct svg_series){.name = names->workers[t], .colour = t, .points = r->plan->losses};
        for (unsigned l = 0; l < r->plan->losses; l++) {
            snprintf(p.x[l], sizeof(p.x[l]), "%g", r->plan->loss_ppm[l] / 1e4);
            p.line[t].y[l] = r->point[t][r->plan->main_speed][l].result.share;
        }
    }
    return p;
}

void report_picture(const struct report *r, FILE *out)
{
    struct names names;
    struct svg_panel panels[PANELS];

    snprintf(names.heading, sizeof(names.heading), "%u Gb/s, with loss, a whole call",
             r->plan->gbps[r->plan->main_speed]);
    for (unsigned t = 0; t < PLAN_TREES; t++) {
        snprintf(names.workers[t], sizeof(names.workers[t]), "%u workers", workers(r, t));
        snprintf(names.ring[t], sizeof(names.ring[t]), "a ring of %u, at most", workers(r, t));
    }
    panels[BY_SPEED] = speeds_panel(r, &names);
    panels[BY_LOSS] = losses_panel(r, &names);
    svg_lines(out, "Goodput of trees of switches, by the links' speed and by loss", panels, PANELS);
}

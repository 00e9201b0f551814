/* What `swagg-sim scale` writes: tables in Markdown, figures as JSON, a picture. */
#pragma once

#include <stdio.h>

#include "scale/plan.h"
#include "scale/restart.h"
#include "scale/run.h"

enum { REPORT_RESTARTS = 3 };

struct report_point {
    struct scale_config cfg;
    struct scale_result result;
};

struct report_restart {
    struct restart_config cfg;
    struct restart_result result;
};

struct report {
    const struct plan *plan;
    struct report_point point[PLAN_TREES][PLAN_SPEEDS_MAX][PLAN_LOSSES_MAX];
    struct report_point twice[PLAN_TREES]; /* without loss, the main speed, tensors twice as large */
    struct report_restart restart[REPORT_RESTARTS];
};

/* Whether all sums were exact. */
bool report_is_exact(const struct report *r);

void report_tables(const struct report *r, FILE *out);
void report_json(const struct report *r, FILE *out); /* one flat object */
void report_picture(const struct report *r, FILE *out);

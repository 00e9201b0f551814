#include "local/level.h"

enum { SLOTS_LEAST = 128 /* unless the job has fewer */ };

/* What a rail warns of is about hosts. */
static void log_of_rail(void *ctx, enum swagg_log_level severity, const char *line)
{
    struct level *l = ctx;
    char text[CLIENT_TEXT_MAX];
    if (severity <= SWAGG_LOG_WARN)
        local_name_hosts(&l->plan, line, text, sizeof text);
    l->rail_log.log(l->rail_log.ctx, severity, severity <= SWAGG_LOG_WARN ? text : line);
}

/* The job's slots are divided among its rails. */
static uint16_t rail_slots(const struct level *l, unsigned slots)
{
    unsigned rails = 1;
    while (rails < l->plan.rails)
        rails *= 2;
    const unsigned each = slots / rails, least = slots < SLOTS_LEAST ? slots : SLOTS_LEAST;
    return (uint16_t)(each > least ? each : least);
}

void level_rail_options(struct level *l, struct client_options *o)
{
    *o = l->job->options;
    local_job_name(l->job->options.job, "rail", l->member.me, o->job);
    o->rank = l->member.host;
    o->size = l->plan.hosts;
    o->slots = rail_slots(l, o->slots);
    o->local = (struct client_local){0};
    o->instead = NULL;
    o->buffer_reduces = false;
    o->compression = (struct client_compression){0};
    o->progress_thread = false;
    o->hosts = &l->plan;
    l->rail_log = o->log;
    if (o->log.log)
        o->log = (struct logger){.log = log_of_rail, .ctx = l};
}

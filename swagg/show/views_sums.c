/* The view of sums that a switch keeps for whoever wants to read them. */
#include <errno.h>

#include "kernels/kernels.h"
#include "reference.h"
#include "show/shown_jobs.h"
#include "show/views.h"

enum { SUMS_SHOWN = 64 /* the latest */, ELEMENT_TEXT = 80, ELEMENT_BYTES = 16 };

struct sums_showing {
    const struct jobs *jobs;
    struct writer *w;
};

typedef void sum_visitor(void *context, const struct agg_sum_view *sum);

static void visit_sums(const struct job *running, sum_visitor *visit, void *context)
{
    const struct agg_protocol *protocol = running->common.protocol;
    struct agg_sum_view sum;

    for (uint32_t i = 0; protocol->view_sum != NULL && i < running->slots; i++)
        if (protocol->view_sum(running->common.pool, i, &sum))
            visit(context, &sum);
}

struct latest {
    uint32_t chunk;
    unsigned sums;
};

/* Numbers of chunks wrap around. */
static void find_latest(void *context, const struct agg_sum_view *sum)
{
    struct latest *latest = context;

    if (latest->sums++ == 0 || (int32_t)(sum->chunk - latest->chunk) > 0)
        latest->chunk = sum->chunk;
}

static void write_elements(struct writer *w, const struct agg_sum_view *sum)
{
    const size_t size = agg_code_bytes(sum->code);
    uint8_t element[ELEMENT_BYTES];
    char text[ELEMENT_TEXT];

    writer_texts(w, "elements");
    for (size_t at = 0; at + size <= sum->bytes; at += size) {
        agg_kernels_scalar.convert[agg_code_type(sum->code)](element, sum->elements + at, size);
        reference_print(sum->code, element, text, sizeof(text));
        writer_text(w, NULL, text);
    }
    writer_end(w);
}

struct listing {
    struct writer *w;
    uint32_t latest;
};

static void write_sum(void *context, const struct agg_sum_view *sum)
{
    const struct listing *l = context;

    if ((int32_t)(l->latest - sum->chunk) >= SUMS_SHOWN)
        return;
    writer_row(l->w);
    writer_number(l->w, "chunk", sum->chunk);
    write_elements(l->w, sum);
    writer_end(l->w);
}

static void show_sums(void *context, const struct shown_job *job)
{
    const struct sums_showing *s = context;
    const struct job *running =
        job->state == CTL_ENTRY_RUNNING ? jobs_find(s->jobs, job->protocol->id, job->number) : NULL;
    struct latest latest = {0};
    struct listing listing = {.w = s->w};

    if (running != NULL)
        visit_sums(running, find_latest, &latest);
    listing.latest = latest.chunk;
    writer_text(s->w, "name", job->name);
    writer_table(s->w, "sums");
    if (running != NULL)
        visit_sums(running, write_sum, &listing);
    writer_end(s->w);
    writer_number(s->w, "there_are", latest.sums);
}

int view_sums(const struct show_parts *parts, const char *name, struct writer *w)
{
    struct sums_showing s = {.jobs = parts->jobs, .w = w};

    return name == NULL ? -EINVAL : shown_jobs_find(parts, name, show_sums, &s);
}

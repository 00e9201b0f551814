/* The view of sums that a switch keeps for whoever wants to read them. */
#include <errno.h>

#include "kernels/kernels.h"
#include "reference.h"
#include "show/shown_jobs.h"
#include "show/views.h"

enum { SUMS_SHOWN = 64 /* the latest */, ELEMENT_TEXT = 80, ELEMENT_BYTES = 16 };

static void add_sum(struct view_out *out, const struct agg_sum_view *sum)
{
    const size_t size = agg_code_bytes(sum->code);
    char text[AGG_SUM_VIEW_BYTES][ELEMENT_TEXT];
    struct sum_view row = {.chunk = sum->chunk, .elements = {0, text[0], ELEMENT_TEXT}};
    uint8_t element[ELEMENT_BYTES];

    for (size_t at = 0; at + size <= sum->bytes; at += size) {
        agg_kernels_scalar.convert[agg_code_type(sum->code)](element, sum->elements + at, size);
        reference_print(sum->code, element, text[row.elements.n++], ELEMENT_TEXT);
    }
    view_row(out, &row);
}

static void show_sums(const struct job_showing *s, const struct shown_job *job)
{
    const struct switch_job *running = shown_job_running(s->parts, job);
    const struct agg_protocol *protocol = job->protocol;
    const uint32_t slots = running == NULL || protocol->view_sum == NULL ? 0 : running->slots;
    struct of_job_view shown = {.name = job->name};
    struct agg_sum_view sum;
    uint32_t latest = 0;

    for (uint32_t i = 0; i < slots; i++)
        if (protocol->view_sum(running->common.pool, i, &sum) &&
            (shown.there_are++ == 0 || (int32_t)(sum.chunk - latest) > 0)) /* numbers wrap around */
            latest = sum.chunk;
    for (uint32_t i = 0; i < slots; i++)
        if (protocol->view_sum(running->common.pool, i, &sum) && (int32_t)(latest - sum.chunk) < SUMS_SHOWN)
            add_sum(s->out, &sum);
    view_fields(s->out, &shown);
}

int view_sums(const struct show_parts *parts, const char *name, struct view_out *out)
{
    return shown_jobs_show(parts, name, out, show_sums);
}

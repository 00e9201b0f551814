#include "job_part.h"

#include <stdio.h>

#include "job.h"

int parts_begin(struct swagg_job *job, const struct sml_call *call, struct sml_segment segments[], size_t n,
                uint64_t now)
{
    int rc = 0; /* the first part has no fewer packets than the others: they say the same */
    for (unsigned i = 0; i < job->part_count && rc == 0; i++)
        rc = job->flow->begin(job->parts[i].stream, call, segments, n, now);
    return rc;
}

enum sml_stream_status parts_status(const struct swagg_job *job)
{
    enum sml_stream_status all = SML_STREAM_DONE;
    for (unsigned i = 0; i < job->part_count; i++) {
        const enum sml_stream_status status = job->flow->status(job->parts[i].stream);
        if (status == SML_STREAM_MISMATCH)
            return status;
        if (all != SML_STREAM_REJECTED && status != SML_STREAM_DONE)
            all = status;
    }
    return all;
}

bool parts_buffered(const struct swagg_job *job)
{
    for (unsigned i = 0; i < job->part_count; i++)
        if (job->flow->buffered(job->parts[i].stream))
            return true;
    return false;
}

uint64_t parts_left(const struct swagg_job *job)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < job->part_count; i++)
        left += job->flow->left(job->parts[i].stream);
    return left;
}

uint64_t parts_packets(const struct swagg_job *job, const struct sml_call *call)
{
    uint64_t packets = 0;
    for (unsigned i = 0; i < job->part_count; i++)
        packets += job->flow->packets(job->parts[i].stream, call);
    return packets;
}

uint64_t parts_progress(const struct swagg_job *job)
{
    uint64_t newest = 0;
    for (unsigned i = 0; i < job->part_count; i++) {
        const uint64_t progress = job->flow->progress(job->parts[i].stream);
        newest = progress > newest ? progress : newest;
    }
    return newest;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void parts_stats(const struct swagg_job *job, struct sml_stream_stats *out)
{
    job->flow->stats(job->parts[0].stream, out);
    for (unsigned i = 1; i < job->part_count; i++) {
        struct sml_stream_stats s;
        job->flow->stats(job->parts[i].stream, &s);
        *out = (struct sml_stream_stats){
            .sent = out->sent + s.sent,
            .retransmitted = out->retransmitted + s.retransmitted,
            .probes = out->probes + s.probes,
            .results = out->results + s.results,
            .duplicates = out->duplicates + s.duplicates,
            .bad = out->bad + s.bad,
            .timeouts = out->timeouts + s.timeouts,
            .kept = out->kept + s.kept,
            .damaged = out->damaged + s.damaged,
            .srtt_ns = larger(out->srtt_ns, s.srtt_ns),
            .rttvar_ns = larger(out->rttvar_ns, s.rttvar_ns),
            .rto_ns = larger(out->rto_ns, s.rto_ns),
            .window = out->window + s.window,
            .unanswered = out->unanswered > s.unanswered ? out->unanswered : s.unanswered,
        };
    }
}

struct job_part *parts_slowest(const struct swagg_job *job)
{
    struct job_part *slowest = NULL;
    for (unsigned i = 0; i < job->part_count; i++) {
        struct job_part *p = &job->parts[i];
        if (job->flow->status(p->stream) != SML_STREAM_DONE &&
            (!slowest || job->flow->progress(p->stream) < job->flow->progress(slowest->stream)))
            slowest = p;
    }
    return slowest ? slowest : &job->parts[0];
}

const char *part_name(const struct job_part *part, char text[PART_NAME_MAX])
{
    text[0] = '\0';
    if (part->job->part_count > 1)
        snprintf(text, PART_NAME_MAX, " at the %s %s", part->place->what, part->place->text);
    return text;
}

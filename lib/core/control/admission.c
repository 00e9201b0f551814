#include "control/admission.h"

#include <stdarg.h>
#include <stdio.h>

#include "control/job.h"

void ctl_failure_set(struct ctl_failure *f, enum ctl_reason reason, unsigned rank, const char *format, ...)
{
    f->reason = (uint16_t)reason;
    f->rank = (uint16_t)rank;
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

static bool is_power_of_two(unsigned n)
{
    return n && (n & (n - 1)) == 0;
}

static const char *format_name(unsigned format)
{
    return format == SML_FORMAT_TYPED ? "typed elements" : "int32 elements with exponents";
}

bool ctl_admission_arguments(const struct ctl_message *m, struct ctl_failure *why)
{
    const struct ctl_join *j = &m->join;
    unsigned rank = m->head.rank;
    if (m->head.size < 1 || m->head.size > SML_MAX_WORKERS)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "a job has 1 to %u ranks, not %u", SML_MAX_WORKERS,
                        m->head.size);
    else if (rank >= m->head.size)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "rank %u is not one of the %u ranks, which count from 0",
                        rank, m->head.size);
    else if (m->head.incarnation == 0)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "the incarnation is 0");
    else if (j->format > SML_FORMAT_TYPED)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "packet format %u is not known here", j->format);
    else if (j->mode > SML_WHEN_COMPLETE)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "mode %u is not known here", j->mode);
    else if (j->checksum > SML_CHECKSUM_CRC32C)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "checksum %u is not known here", j->checksum);
    else if (j->checksum != SML_CHECKSUM_NONE && j->format == SML_FORMAT_INT32)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "packets of %s have no checksum",
                        format_name(j->format));
    else if (j->data_port == 0)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "the data port is 0");
    else if (j->chunk_bytes < 64 || j->chunk_bytes > SML_MAX_CHUNK_BYTES || j->chunk_bytes % 4)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "a chunk has 64 to %u bytes, a multiple of 4, not %u",
                        SML_MAX_CHUNK_BYTES, j->chunk_bytes);
    else if (j->slots < 2 || j->slots > SML_MAX_SLOTS)
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank, "a job has 2 to %u slots, not %u", SML_MAX_SLOTS,
                        j->slots);
    else if (j->resume && !is_power_of_two(j->slots))
        ctl_failure_set(why, CTL_BAD_ARGUMENT, rank,
                        "a job with %u slots, not a power of two, cannot be resumed", j->slots);
    else
        return true;
    return false;
}

bool ctl_admission_terms_differ(const struct ctl_job *job, const struct ctl_message *m)
{
    return m->head.size != job->size || m->join.format != job->format || m->join.mode != job->mode ||
           m->join.checksum != job->checksum;
}

/* The member that shows most of where it comes from; of several, the first from this rank on, around the end.
 * Every job has one. */
static int strongest(const struct ctl_job *job, unsigned rank)
{
    int best = -1;
    for (unsigned i = 0; i < job->size; i++) {
        unsigned r = (rank + i) % job->size;
        const struct ctl_member *member = &job->members[r];
        if (member->state == CTL_MEMBER_JOINED && (best < 0 || member->origin > job->members[best].origin))
            best = (int)r;
    }
    return best;
}

/* Data packets are told apart by IP address and port. */
static int same_data_source(const struct ctl_job *job, const struct ctl_endpoint *from, uint16_t data_port)
{
    for (unsigned r = 0; r < job->size; r++) {
        const struct ctl_member *member = &job->members[r];
        if (member->state == CTL_MEMBER_JOINED && member->endpoint.ip == from->ip &&
            member->data_port == data_port)
            return (int)r;
    }
    return -1;
}

int ctl_admission_rival(const struct ctl_job *job, const struct ctl_endpoint *from,
                        const struct ctl_message *m)
{
    unsigned rank = m->head.rank;
    if (rank < job->size && job->members[rank].state != CTL_MEMBER_ABSENT)
        return (int)rank;
    if (ctl_admission_terms_differ(job, m))
        return strongest(job, rank);
    return same_data_source(job, from, m->join.data_port);
}

static const char *mode_name(unsigned mode)
{
    return mode == SML_WHEN_COMPLETE ? "ordered sums" : "sums on arrival";
}

static const char *checksum_name(unsigned checksum)
{
    return checksum == SML_CHECKSUM_NONE ? "packets without a checksum" : "packets with a CRC32C";
}

/* Who cannot have its way; and what it wants, and what the member. */
static void refuse_terms(struct ctl_failure *why, const char *who, const char *member, unsigned rank,
                         const char *wants, const char *other)
{
    ctl_failure_set(why, CTL_TERMS_DIFFER, rank, "%s wants %s, %s wants %s", who, wants, member, other);
}

void ctl_admission_refusal(const struct ctl_job *job, unsigned rank, struct ctl_failure *why)
{
    const struct ctl_member *member = &job->members[rank];
    const struct ctl_challenge *c = &member->challenge;
    unsigned newcomer = c->head.rank;
    const uint8_t *theirs = (const uint8_t *)&c->endpoint.ip;
    char who[CTL_WHO_MAX], whom[CTL_WHO_MAX];
    snprintf(who, sizeof who, "%s %u (%u.%u.%u.%u)", newcomer == rank ? "another rank" : "rank", newcomer,
             theirs[0], theirs[1], theirs[2], theirs[3]);
    ctl_job_who_is(job, rank, whom);
    if (c->head.size != job->size)
        ctl_failure_set(why, CTL_TERMS_DIFFER, newcomer, "%s says that there are %u ranks, %s says %u", who,
                        c->head.size, whom, job->size);
    else if (c->format != job->format)
        refuse_terms(why, who, whom, newcomer, format_name(c->format), format_name(job->format));
    else if (c->mode != job->mode)
        refuse_terms(why, who, whom, newcomer, mode_name(c->mode), mode_name(job->mode));
    else if (c->checksum != job->checksum)
        refuse_terms(why, who, whom, newcomer, checksum_name(c->checksum), checksum_name(job->checksum));
    else if (newcomer == rank)
        ctl_failure_set(why, CTL_RANK_TAKEN, rank, "%s is taken by a process that is alive", whom);
    else
        ctl_failure_set(why, CTL_RANK_TAKEN, rank, "%s uses the data port of %s", who, whom);
}

uint64_t ctl_admission_roster(const struct ctl_job *job)
{
    uint64_t all = 0;
    for (unsigned r = 0; r < job->size; r++)
        all ^= job->members[r].incarnation;
    return all;
}

/* A rank that was not READY before the restart has sent no contribution, so no chunk can have completed, and
 * those that were READY lack them all: it can start where they go on. */
static bool resume_terms(struct ctl_job *job, struct ctl_failure *why)
{
    const struct ctl_member *first = job->members;
    int64_t oldest = 0, newest = 0; /* relative to the first's */
    while (first->origin != CTL_RESUMES)
        first++;
    job->slots = first->slots;
    job->chunk_bytes = first->chunk_bytes;
    for (unsigned r = 0; r < job->size; r++) {
        const struct ctl_member *member = &job->members[r];
        if (member->origin != CTL_RESUMES)
            continue;
        if (member->slots != first->slots || member->chunk_bytes != first->chunk_bytes) {
            ctl_failure_set(
                why, CTL_CANNOT_RESUME, r,
                "rank %u had %u slots and %u bytes a chunk, rank %u had %u and %u: not the same job",
                (unsigned)(first - job->members), first->slots, first->chunk_bytes, r, member->slots,
                member->chunk_bytes);
            return false;
        }
        int32_t ahead = (int32_t)(member->resume_tag - first->resume_tag);
        oldest = ahead < oldest ? ahead : oldest;
        newest = ahead > newest ? ahead : newest;
    }
    job->first_tag = first->resume_tag + (uint32_t)oldest;
    if (newest - oldest <= job->slots)
        return true;
    ctl_failure_set(why, CTL_CANNOT_RESUME, UINT16_MAX,
                    "the ranks are %lld chunks apart, further than %u slots allow",
                    (long long)(newest - oldest), job->slots);
    return false;
}

/* Whole elements that the longest payload has room for. */
static uint16_t chunk_bytes_that_fit(size_t payload_bytes, enum sml_checksum checksum)
{
    size_t room = (payload_bytes - SML_HEADER_BYTES - sml_trailer_bytes(checksum)) / 4 * 4;
    return (uint16_t)(payload_bytes == 0 || room > SML_MAX_CHUNK_BYTES ? SML_MAX_CHUNK_BYTES : room);
}

static void fresh_terms(struct ctl_job *job, size_t payload_bytes)
{
    unsigned slots = SML_MAX_SLOTS;
    job->chunk_bytes = chunk_bytes_that_fit(payload_bytes, job->checksum);
    for (unsigned r = 0; r < job->size; r++) {
        const struct ctl_member *member = &job->members[r];
        if (member->chunk_bytes < job->chunk_bytes)
            job->chunk_bytes = member->chunk_bytes;
        while (slots > member->slots)
            slots /= 2;
    }
    job->slots = (uint16_t)slots;
}

bool ctl_admission_terms(struct ctl_job *job, size_t payload_bytes, struct ctl_failure *why)
{
    if (job->resumed && job->roster != ctl_admission_roster(job)) {
        ctl_failure_set(
            why, CTL_CANNOT_RESUME, UINT16_MAX,
            "the ranks that came back are not those that were in the job before the switch restarted");
        return false;
    }
    job->roster = ctl_admission_roster(job);
    if (job->resumed)
        return resume_terms(job, why);
    fresh_terms(job, payload_bytes);
    return true;
}

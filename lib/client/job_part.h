/* What a job has of one place that sums it: a job by SwitchML has one such part, a job by ATP one for each of
 * its parameter servers. Each is a membership of its own, with its own stream, and so has its own number,
 * packets and congestion control; a call is complete when all streams are done with it. The functions say of
 * all of a job's streams what those of struct flow say of one; they are called as these are. */
#ifndef SWAGG_CLIENT_JOB_PART_H
#define SWAGG_CLIENT_JOB_PART_H

#include "flow.h"
#include "membership.h"
#include "transport.h"

struct swagg_job;

struct job_part {
    struct swagg_job *job;
    unsigned index;                   /* which of the job's places it is */
    const struct client_place *place; /* of the job's options */
    struct membership membership;
    bool membership_is_open;
    struct transport *transport; /* what follows is under the job's lock */
    void *stream_memory;
    void *stream;            /* the flow's */
    struct flow_terms terms; /* as the session has them now */
    unsigned generation;     /* of the session: the one that the stream works under */
    bool rejoining;          /* the switch has restarted: nothing is received until the job is joined anew */
    bool rejected;           /* so the stream was when it was last looked at */
    uint32_t resumed;
};

/* An error leaves all of them as they were. */
int parts_begin(struct swagg_job *job, const struct sml_call *call, struct sml_segment segments[], size_t n,
                uint64_t now);

/* MISMATCH or REJECTED if any is; else RUNNING if any is; else DONE. */
enum sml_stream_status parts_status(const struct swagg_job *job);
bool parts_buffered(const struct swagg_job *job);
uint64_t parts_left(const struct swagg_job *job);
uint64_t parts_packets(const struct swagg_job *job, const struct sml_call *call);
uint64_t parts_progress(const struct swagg_job *job);
void parts_stats(const struct swagg_job *job, struct sml_stream_stats *out);

/* The one that has not been done with the call in progress for longest; the first if all are. */
struct job_part *parts_slowest(const struct swagg_job *job);

/* " at the parameter server 10.0.0.9", to be appended to what is said of a part; empty if it is the only one.
 */
enum { PART_NAME_MAX = 64 };
const char *part_name(const struct job_part *part, char text[PART_NAME_MAX]);

#endif

#include "rate.h"

#include <stdint.h>
#include <stdlib.h>

#include <swagg.h>

#include "monotonic.h"

enum { FLOATS = 1 << 20 };

static int sum_for(struct swagg_job *job, float *tensor, double seconds, double *took, unsigned *calls)
{
    const uint64_t began = monotonic_ns();
    int rc = SWAGG_OK;

    for (*calls = 0, *took = 0; rc == SWAGG_OK && (*calls == 0 || *took < seconds); ++*calls) {
        rc = swagg_allreduce(job, tensor, tensor, FLOATS, SWAGG_F32, SWAGG_SUM);
        *took = (double)(monotonic_ns() - began) / 1e9;
    }
    return rc;
}

static void measure(struct findings *f, const struct rate_wish *wish, struct swagg_job *job)
{
    struct swagg_stats stats = SWAGG_STATS_INIT;
    float *tensor = calloc(FLOATS, sizeof(*tensor));
    unsigned calls = 0;
    double took = 0;

    if (tensor == NULL)
        return;
    if (sum_for(job, tensor, wish->seconds, &took, &calls) != SWAGG_OK) {
        finding_type(found(f, FINDING_FAULT, "rate", wish->switch_ip, "%s", swagg_last_error()),
                     "on the switch: swaggctl events, swaggctl drops");
    } else {
        swagg_get_stats(job, &stats);
        found(f, FINDING_OK, "rate", wish->switch_ip,
              "%.2f Gbit/s there and as much back, by one rank; %llu of %llu packets were sent again",
              (double)calls * FLOATS * sizeof(*tensor) * 8 / took / 1e9,
              (unsigned long long)stats.retransmitted, (unsigned long long)stats.packets_sent);
    }
    free(tensor);
}

void rate_look(struct findings *f, const struct rate_wish *wish)
{
    struct swagg_options o = SWAGG_OPTIONS_DEFAULT;
    struct swagg_job *job;

    if (!findings_want(f, "rate") || wish->seconds <= 0)
        return;
    o.switch_ip = wish->switch_ip;
    o.job = wish->job;
    o.size = 1;
    o.local = SWAGG_LOCAL_OFF;
    o.key_file = wish->key_file;
    o.answer_timeout_ms = o.join_timeout_ms = (int)(wish->patience * 1000);
    const int rc = swagg_open(&job, &o);
    if (rc != SWAGG_OK) {
        finding_type(found(f, FINDING_FAULT, "rate", wish->switch_ip, "a job of one rank cannot begin: %s",
                           swagg_last_error()),
                     "%s",
                     rc == SWAGG_ERR_REFUSED || rc == SWAGG_ERR_ARGUMENT
                         ? "--job NAME and --key-file FILE, such as the switch's tenants have them; "
                           "there: swaggctl tenants"
                         : "on the switch: swaggctl events");
        return;
    }
    measure(f, wish, job);
    swagg_close(job);
}

#include "samples/summing.h"

#include <stdlib.h>
#include <string.h>

#include "hostagg/reasons.h"
#include "kernels_chosen.h"

enum { LINE = 64 };

bool summing_init(struct summing *s, const struct job_options *job, int fd)
{
    const struct hag_pool_config cfg = {.workers = (uint16_t)job->workers,
                                        .slots = (uint16_t)job->slots,
                                        .chunk_bytes = job_chunk_bytes(job),
                                        .job = (uint8_t)job->job,
                                        .code = job_code(),
                                        .host = HAG_HOST_ABSENT,
                                        .kernels = kernels_or_exit()};
    const size_t bytes = hag_pool_footprint(&cfg);
    void *memory = bytes == 0 ? NULL : aligned_alloc(LINE, bytes);

    *s = (struct summing){.job = job,
                          .worker = calloc(job->workers, sizeof(*s->worker)),
                          .in = calloc(1, sizeof(*s->in)),
                          .out = calloc(1, sizeof(*s->out))};
    if (memory == NULL || s->worker == NULL || s->in == NULL || s->out == NULL) {
        free(memory);
        summing_free(s);
        complain("no memory for %u slots of %u workers", job->slots, job->workers);
        return false;
    }
    s->pool = hag_pool_init(memory, &cfg);
    datagrams_init(s->in, fd);
    datagrams_init(s->out, fd);
    return true;
}

void summing_free(struct summing *s)
{
    free(s->pool);
    free(s->worker);
    free(s->in);
    free(s->out);
    *s = (struct summing){0};
}

static bool send_payload(struct summing *s, const struct sockaddr_in *to, const struct agg_verdict *v)
{
    memcpy(datagrams_payload(s->out), v->payload, v->bytes);
    return datagrams_put(s->out, to, v->bytes);
}

static bool send_to_all(struct summing *s, const struct agg_verdict *v)
{
    for (unsigned i = 0; i < s->job->workers; i++)
        if (s->worker[i].sin_port != 0 && !send_payload(s, &s->worker[i], v))
            return false;
    return true;
}

static bool take(struct summing *s, const struct hag_packet *p, const struct sockaddr_in *from)
{
    struct agg_verdict v;

    s->worker[p->worker] = *from;
    s->gradients += p->kind == HAG_GRADIENT;
    hag_pool_apply(s->pool, hag_pool_locate(s->pool, p->sequence), p->worker, p, &v);
    if (v.reason == HAG_SEND_ALL) {
        s->sums++;
        return send_to_all(s, &v);
    }
    return hag_reasons[v.reason].action != AGG_REPLY || send_payload(s, from, &v);
}

bool summing_step(struct summing *s)
{
    struct hag_packet p;

    datagrams_receive(s->in);
    for (unsigned i = 0; i < s->in->n; i++)
        if (hag_parse(&p, s->in->payload[i], datagrams_bytes(s->in, i)) && p.job == s->job->job &&
            p.worker < s->job->workers && !take(s, &p, &s->in->address[i]))
            return false;
    return datagrams_flush(s->out);
}

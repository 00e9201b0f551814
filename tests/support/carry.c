#include "carry.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "control/entry.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "relay/protocol.h"

struct carry_job {
    struct agg_job job;
    struct agg_sender member[];
};

struct agg_sender carry_sender(const uint8_t mac[AGG_MAC_BYTES], uint32_t ip, uint16_t port)
{
    struct agg_sender sender = {.ip = ip, .port = htons(port)};

    memcpy(sender.mac, mac, AGG_MAC_BYTES);
    return sender;
}

struct agg_job *carry_open(struct agg_jobs *jobs, const struct agg_protocol *protocol,
                           const struct agg_pool_config *cfg, const struct agg_sender members[],
                           struct agg_footprint *f)
{
    struct agg_footprint footprint;
    struct carry_job *made;
    struct agg_job *job;

    if (!protocol->footprint(cfg, &footprint))
        return NULL;
    if (f != NULL)
        *f = footprint;
    made = memory_of(sizeof(*made) + cfg->workers * sizeof(members[0]));
    memcpy(made->member, members, cfg->workers * sizeof(members[0]));
    job = &made->job;
    *job = (struct agg_job){.protocol = protocol, .number = cfg->job, .size = cfg->workers};
    job->pool = protocol->init(room_of(footprint.bytes), cfg);
    job->seats = agg_seats_for(cfg->workers + 1u); /* one for a switch above */
    job->seat = memory_of(job->seats * sizeof(*job->seat));
    job->heard = memory_of(cfg->workers * sizeof(*job->heard));
    for (uint16_t rank = 0; rank < cfg->workers; rank++)
        agg_job_seat(job, &members[rank], rank, 0);
    agg_jobs_set(jobs, cfg->job, job);
    return job;
}

struct agg_job *carry_open_tree(struct agg_jobs *jobs, const struct ctl_entry *joined, uint8_t number,
                                const struct agg_terms *terms, const struct keys_library *library,
                                const struct agg_node *tree, const struct agg_sender *parent,
                                struct agg_footprint *f)
{
    uint16_t contributor[AGG_MAX_WORKERS], first[AGG_MAX_WORKERS];
    struct keys_secret shared = {.library = library};
    const struct agg_pool_config cfg = {.job = number,
                                        .workers = ctl_tree_contributors(joined, contributor, first),
                                        .terms = *terms,
                                        .kernels = kernels_or_exit(),
                                        .shared = joined->keyed ? &shared : NULL,
                                        .tree = tree};
    struct agg_sender members[AGG_MAX_WORKERS];
    struct agg_job *job;

    memcpy(shared.secret, joined->secret, sizeof(shared.secret));
    for (uint16_t c = 0; c < cfg.workers; c++) {
        const struct ctl_member *m = &joined->members[first[c]];
        members[c] = carry_sender(m->endpoint.mac, m->endpoint.ip, m->data_port);
    }
    job = carry_open(jobs, relay_protocol_of(joined->protocol), &cfg, members, f);
    if (job != NULL && parent != NULL)
        agg_job_seat(job, parent, AGG_PARENT, 0);
    return job;
}

struct agg_job *carry_open_joined(struct agg_jobs *jobs, const struct ctl_entry *joined, uint8_t number,
                                  const struct agg_terms *terms, const struct keys_library *library,
                                  struct agg_footprint *f)
{
    struct keys_secret shared = {.library = library};
    const struct agg_pool_config cfg = {.job = number,
                                        .workers = joined->size,
                                        .terms = *terms,
                                        .kernels = kernels_or_exit(),
                                        .shared = joined->keyed ? &shared : NULL};
    struct agg_sender members[AGG_MAX_WORKERS];
    uint16_t contributor[AGG_MAX_WORKERS];
    const struct agg_node tree = {.ranks = joined->size, .contributor = contributor};

    if (ctl_tree_has_switches(joined)) {
        ctl_tree_contributors(joined, contributor, NULL);
        return carry_open_tree(jobs, joined, number, terms, library, &tree, NULL, f);
    }
    memcpy(shared.secret, joined->secret, sizeof(shared.secret));
    for (uint16_t rank = 0; rank < joined->size; rank++) {
        const struct ctl_member *m = &joined->members[rank];
        members[rank] = carry_sender(m->endpoint.mac, m->endpoint.ip, m->data_port);
    }
    return carry_open(jobs, joined->protocol, &cfg, members, f);
}

void carry_seat_threads(struct agg_job *job, unsigned threads)
{
    free(job->seat);
    job->seats = agg_seats_for(job->size * threads);
    job->seat = memory_of(job->seats * sizeof(*job->seat));
    for (unsigned rank = 0; rank < job->size; rank++)
        for (unsigned t = 0; t < threads; t++) {
            struct agg_sender at = ((const struct carry_job *)job)->member[rank];

            at.port = htons((uint16_t)(ntohs(at.port) + t));
            agg_job_seat(job, &at, rank, t);
        }
}

void carry_close(struct agg_jobs *jobs, struct agg_job *job)
{
    agg_jobs_set(jobs, job->number, NULL);
    free(job->pool);
    free(job->heard);
    free(job->seat);
    free((struct carry_job *)job);
}

static const struct agg_sender *member(const struct agg_job *job, unsigned rank)
{
    return &((const struct carry_job *)job)->member[rank];
}

static void send_wrapped(const struct agg_job *job, const struct agg_packet *answered,
                         const struct agg_verdict *v, unsigned rank, carry_send_fn *send, void *ctx)
{
    uint8_t whole[CARRY_HEADERS_BYTES + 10000] = {0}, *payload = whole + CARRY_HEADERS_BYTES;
    struct agg_wrapping w;

    if (!job->protocol->wrap(job, (uint16_t)rank, v, &w))
        return;
    memcpy(payload, w.head, w.head_bytes);
    memcpy(payload + w.head_bytes, v->payload, v->bytes);
    job->protocol->seal(v, whole, CARRY_HEADERS_BYTES + w.head_bytes, payload + w.head_bytes + v->bytes);
    send(ctx, job, answered,
         &(struct carried){.rank = rank,
                           .member = member(job, rank),
                           .payload = payload,
                           .bytes = w.head_bytes + v->bytes + w.tail_bytes});
}

static void wrapped_out(const struct agg_job *job, const struct agg_packet *answered,
                        const struct agg_verdict *v, carry_send_fn *send, void *ctx)
{
    if (v->action == AGG_REPLY)
        send_wrapped(job, answered, v, answered->rank, send, ctx);
    for (unsigned rank = 0; v->action == AGG_TO_ALL && rank < job->size; rank++)
        if (agg_wants(v, rank))
            send_wrapped(job, answered, v, rank, send, ctx);
}

static void send_to_all(const struct agg_job *job, const struct agg_packet *answered,
                        const struct agg_verdict *v, carry_send_fn *send, void *ctx)
{
    struct carried what = {.to = CARRY_TO_RANK};

    for (what.rank = 0; what.rank < job->size; what.rank++) {
        const bool wants = agg_wants(v, what.rank);
        if (!wants && v->brief_bytes == 0)
            continue;
        what.member = member(job, what.rank);
        what.payload = wants ? v->payload : v->brief;
        what.bytes = wants ? v->bytes : v->brief_bytes;
        what.buffer = wants ? v->buffer : NULL;
        what.by_group = job->protocol->note_group != NULL && agg_grouped(v, what.rank);
        if (what.bytes > 0)
            send(ctx, job, answered, &what);
    }
}

/* What TO_PARENT has for who sent the packet. */
static void answer_beside(const struct agg_job *job, const struct agg_packet *answered,
                          const struct agg_verdict *v, carry_send_fn *send, void *ctx)
{
    struct carried what = {.payload = v->brief, .bytes = v->brief_bytes};

    if (answered == NULL || answered->rank >= job->size || v->brief_bytes == 0)
        return;
    what.rank = answered->rank;
    what.member = member(job, what.rank);
    send(ctx, job, answered, &what);
}

void carry_out(const struct agg_job *job, const struct agg_packet *answered, const struct agg_verdict *v,
               carry_send_fn *send, void *ctx)
{
    struct carried what = {.payload = v->payload, .bytes = v->bytes, .buffer = v->buffer};

    if (job != NULL && job->protocol->wrap != NULL) {
        wrapped_out(job, answered, v, send, ctx);
        return;
    }
    switch (v->action) {
    case AGG_TO_ALL:
        send_to_all(job, answered, v, send, ctx);
        return;
    case AGG_REPLY:
        what.rank = answered->rank;
        what.member = member(job, what.rank);
        break;
    case AGG_TO_PARENT:
        what.to = CARRY_TO_PARENT;
        answer_beside(job, answered, v, send, ctx);
        break;
    case AGG_PASS_AND_KEEP:
        what = (struct carried){.payload = answered->payload, .bytes = answered->bytes};
        what.to = CARRY_ONWARD;
        break;
    case AGG_PASS_ON:
        what.to = CARRY_ONWARD;
        break;
    default: /* nothing to send */
        return;
    }
    send(ctx, job, answered, &what);
}

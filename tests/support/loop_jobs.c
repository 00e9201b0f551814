#include "loop_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/path.h"

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory) {
        fprintf(stderr, "loop switch: no memory: %zu bytes\n", bytes);
        abort();
    }
    return memory;
}

static int open_pool(void *ctx, const struct ctl_job *job, uint16_t *slots, uint8_t *number,
                     char text[CTL_TEXT_MAX])
{
    struct loop_life *life = ctx;
    unsigned i = 0;
    while (i < LOOP_JOBS && (life->jobs[i].pool || ctl_job_had_number(job, (uint8_t)i)))
        i++;
    if (i == LOOP_JOBS) {
        snprintf(text, CTL_TEXT_MAX, "all %d job numbers are taken", LOOP_JOBS);
        return -EMFILE;
    }
    struct sml_pool_config config = {
        .workers = job->size,
        .slots = *slots,
        .chunk_bytes = job->chunk_bytes,
        .job = (uint8_t)i,
        .format = job->format,
        .mode = job->mode,
        .checksum = job->checksum,
        .first_tag = job->first_tag,
        .resumed = job->resumed,
        .kernels = agg_kernels_best(),
    };
    void *memory = allocate(sml_pool_footprint(&config));
    life->jobs[i] = (struct loop_job){.members = job, .pool = sml_pool_init(memory, &config)};
    *number = (uint8_t)i;
    return 0;
}

static void close_pool(void *ctx, const struct ctl_job *job)
{
    struct loop_life *life = ctx;
    free(life->jobs[job->number].pool);
    life->jobs[job->number] = (struct loop_job){0};
}

static void send_control(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct loop_life *life = ctx;
    life->send(life->ctx, LOOP_CONTROL, to->ip, to->udp_port, payload, bytes);
}

static uint64_t next_random(void *ctx)
{
    struct loop_life *life = ctx;
    return life->random = life->random * UINT64_C(6364136223846793005) + life->boot_id;
}

void loop_life_begin(struct loop_life *life, uint64_t boot_id, uint64_t lost_after_ns, loop_send_fn *send,
                     void *ctx)
{
    *life = (struct loop_life){.boot_id = boot_id, .send = send, .ctx = ctx};
    struct ctl_registry_config config = {
        .max_jobs = LOOP_JOBS,
        .boot_id = boot_id,
        .lost_after_ns = lost_after_ns,
        .data_port = SML_PORT_FIRST,
        .actions = {.ctx = life,
                    .send = send_control,
                    .open_pool = open_pool,
                    .close_pool = close_pool,
                    .random = next_random},
    };
    life->registry = ctl_registry_init(allocate(ctl_registry_footprint(&config)), &config);
}

void loop_life_control(struct loop_life *life, uint32_t ip, uint16_t port, const uint8_t *payload,
                       size_t bytes, uint64_t now)
{
    struct ctl_endpoint from = {.ip = ip, .udp_port = port};
    ctl_registry_receive(life->registry, &from, payload, bytes, now);
}

static int rank_of(const struct ctl_job *job, uint32_t ip, uint16_t port)
{
    for (int r = 0; r < job->size; r++)
        if (job->members[r].endpoint.ip == ip && job->members[r].data_port == port)
            return r;
    return -1;
}

static void reject(struct loop_life *life, uint32_t ip, uint16_t port, const struct sml_packet *p)
{
    uint8_t answer[SML_REJECT_BYTES];
    size_t bytes = sml_build_reject(answer, p, life->boot_id);
    life->send(life->ctx, LOOP_DATA, ip, port, answer, bytes);
}

static void send_one(struct loop_life *life, const struct ctl_job *job, unsigned rank, const uint8_t *payload,
                     size_t bytes)
{
    const struct ctl_member *m = &job->members[rank];
    if (rank >= 32 || !(life->deaf >> rank & 1))
        life->send(life->ctx, LOOP_DATA, m->endpoint.ip, m->data_port, payload, bytes);
}

static void send_all(struct loop_life *life, const struct loop_job *job, const struct agg_verdict *v)
{
    for (uint16_t r = 0; r < job->members->size; r++) {
        if (agg_wants(v, r))
            send_one(life, job->members, r, v->payload, v->bytes);
        else
            send_one(life, job->members, r, v->brief, v->brief_bytes);
    }
}

static void answer_path_probe(struct loop_life *life, uint32_t ip, uint16_t port, const uint8_t *question,
                              size_t bytes)
{
    uint8_t *answer = allocate(bytes);
    memcpy(answer, question, bytes);
    path_answer(answer, 1);
    life->send(life->ctx, LOOP_DATA, ip, port, answer, bytes);
    free(answer);
}

void loop_life_data(struct loop_life *life, uint32_t ip, uint16_t port, const uint8_t *payload, size_t bytes)
{
    struct sml_packet p;
    if (path_is_question(payload, bytes)) {
        answer_path_probe(life, ip, port, payload, bytes);
        return;
    }
    if (sml_parse(&p, payload, bytes) != SML_OK)
        return;
    const struct loop_job *job = p.job < LOOP_JOBS && life->jobs[p.job].pool ? &life->jobs[p.job] : NULL;
    int rank = job ? rank_of(job->members, ip, port) : -1;
    if (rank < 0) {
        reject(life, ip, port, &p);
        return;
    }
    struct sml_slot *slot = sml_pool_locate(job->pool, &p);
    if (!slot)
        return;
    struct agg_verdict v;
    sml_pool_apply(job->pool, slot, (uint16_t)rank, &p, NULL, &v);
    switch (v.reason) {
    case SML_SEND_ALL:
    case SML_RESTORED:
        send_all(life, job, &v);
        break;
    case SML_SEND_ONE:
        send_one(life, job->members, (unsigned)rank, v.payload, v.bytes);
        break;
    case SML_SEND_ANSWER:
    case SML_SEND_QUARREL:
        send_one(life, job->members, (unsigned)rank, v.payload, v.bytes);
        break;
    default: /* held or dropped */
        break;
    }
}

void loop_life_end(struct loop_life *life)
{
    for (unsigned i = 0; i < LOOP_JOBS; i++)
        free(life->jobs[i].pool);
    free(life->registry);
}

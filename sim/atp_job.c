#include "atp_job.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "atp/protocol.h"
#include "atp/worker.h"
#include "atp_numbers.h"
#include "carry.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "toy_keys.h"

/* Of a call's input, and of its result, at most. */
static size_t most_bytes(const struct atp_job_config *cfg)
{
    return 8 * (size_t)cfg->elements;
}

__attribute__((format(printf, 2, 3))) static void fail(struct atp_job *job, const char *format, ...)
{
    va_list args;

    if (job->failed)
        return;
    job->failed = true;
    va_start(args, format);
    vsnprintf(job->why, sizeof job->why, format, args);
    va_end(args);
}

static struct atp_terms terms_of(const struct atp_job *job, unsigned server)
{
    struct atp_terms t = job->cfg.terms;

    t.server = (uint8_t)server;
    t.servers = job->cfg.servers;
    t.life = (uint32_t)splitmix_hash(job->seed + 16 * job->life + server);
    /* In some jobs nothing but its number tells a life from the one before; they wrap around soon. */
    t.first_sequence = job->seed & 1 ? UINT32_MAX - 20 : (uint32_t)splitmix_hash(t.life);
    return t;
}

/* The secret of a life. */
static struct keys_secret shared_of(const struct atp_terms *terms)
{
    struct keys_secret shared = {.library = &toy_library};

    memcpy(shared.secret, &terms->life, sizeof terms->life);
    return shared;
}

/* Servers */

static void open_server(struct atp_job *job, unsigned i, const struct atp_terms *terms)
{
    struct atp_job_server *server = &job->servers[i];
    const struct keys_secret shared = shared_of(terms);
    struct agg_pool_config cfg = {
        .job = job->cfg.number, .workers = job->cfg.workers, .shared = &shared, .kernels = kernels_or_exit()};
    struct agg_sender members[ATP_JOB_WORKERS];

    server->terms = *terms;
    server->wishes = 0;
    atp_terms_build(&cfg.terms, terms);
    for (unsigned r = 0; r < job->cfg.workers; r++)
        members[r] = atp_net_sender(job->cfg.host[r]);
    if (server->job != NULL)
        carry_close(&server->jobs, server->job);
    server->job = carry_open(&server->jobs, &atp_protocol, &cfg, members, NULL);
    if (server->job == NULL)
        sim_die("no such job");
}

/* What a server has to say. */
struct answer {
    struct atp_job *job;
    unsigned here;
    bool by_group;
};

static void send_data(void *ctx, const struct agg_job *of, const struct agg_packet *answered,
                      const struct carried *what)
{
    struct answer *a = ctx;

    (void)of, (void)answered;
    if (what->by_group)
        a->by_group = true;
    else
        atp_net_send(a->job->net, a->here, atp_net_host(what->member), what->payload, what->bytes);
}

static void serve(struct atp_job *job, unsigned i, const struct agg_sender *from, uint8_t *payload,
                  size_t bytes)
{
    struct atp_job_server *server = &job->servers[i];
    struct answer a = {job, job->cfg.server_host[i], false};
    struct agg_packet p = {.payload = payload, .bytes = bytes, .from = *from};
    struct agg_verdict v;
    uint8_t answer[AGG_ANSWER_BYTES];

    atp_protocol.locate(&server->jobs, &p, 1);
    atp_protocol.apply(&p, 1, job->net->sim->now, &v);
    server->reasons[v.reason]++;
    carry_out(p.job, &p, &v, send_data, &a);
    if (a.by_group)
        atp_net_send(job->net, a.here, ATP_NET_ALL, v.payload, v.bytes);
    if (atp_protocol.reason[v.reason].strange && (bytes = atp_protocol.refuse(&p, 1, answer)) > 0)
        atp_net_send(job->net, a.here, atp_net_host(from), answer, bytes);
}

/* Workers */

static struct xfer_call call_of(const struct atp_job_worker *w)
{
    const struct atp_job *job = w->job;
    struct xfer_call call =
        atp_numbers_call(job->seed, w->call, job->cfg.workers, job->cfg.elements, job->cfg.terms.format);

    if (job->cfg.fixed_size)
        call = (struct xfer_call){.seq = w->call,
                                  .collective = XFER_ALLREDUCE,
                                  .type = AGG_I32,
                                  .op = AGG_SUM,
                                  .count = w->call == 0 ? 1 : job->cfg.elements};
    return call;
}

static void drive(void *ctx, uint64_t argument);
static void rejoin(struct atp_job_worker *w, unsigned i);

static void wake_at(struct atp_job_worker *w, uint64_t at)
{
    if (at >= w->timer && w->timer > w->job->net->sim->now)
        return;
    w->timer = at;
    sim_at(w->job->net->sim, at, drive, w, 0);
}

static void open_streams(struct atp_job_worker *w)
{
    for (unsigned i = 0; i < w->job->cfg.servers; i++) {
        const struct atp_terms terms = terms_of(w->job, i);
        const struct keys_secret shared = shared_of(&terms);
        const struct atp_stream_config cfg = {.rank = (uint16_t)w->rank,
                                              .workers = w->job->cfg.workers,
                                              .job = w->job->cfg.number,
                                              .terms = terms,
                                              .shared = &shared,
                                              .fixed_window = w->job->cfg.fixed_window,
                                              .kernels = kernels_or_exit()};
        w->rejoining[i] = false;
        free(w->memory[i]);
        w->memory[i] = memory_of(atp_stream_footprint(&cfg));
        w->stream[i] = atp_stream_init(w->memory[i], &cfg);
    }
}

static void begin_life(struct atp_job *job)
{
    for (unsigned i = 0; i < job->cfg.servers; i++) {
        const struct atp_terms t = terms_of(job, i);
        open_server(job, i, &t);
    }
    for (unsigned r = 0; r < job->cfg.workers; r++) {
        open_streams(&job->workers[r]);
        job->workers[r].timer = 0;
        wake_at(&job->workers[r], job->net->sim->now + (job->life == 0 ? job->cfg.start : 0) +
                                      rng_below(&job->rng, job->cfg.pause + 1));
    }
}

static void begin_call(struct atp_job_worker *w)
{
    const struct xfer_call call = call_of(w);

    atp_numbers_fill(&call, w->job->seed, w->rank, w->in);
    memset(w->out, 0xee, most_bytes(&w->job->cfg));
    for (unsigned i = 0; i < w->job->cfg.servers; i++) {
        w->segment[i] = (struct xfer_segment){.in = w->in, .out = w->out, .count = call.count};
        if (atp_stream_begin_segments(w->stream[i], &call, &w->segment[i], 1, w->job->net->sim->now) != 0)
            fail(w->job, "rank %u cannot begin call %u", w->rank, w->call);
    }
    w->calling = true;
}

static bool call_is_done(struct atp_job_worker *w)
{
    for (unsigned i = 0; i < w->job->cfg.servers; i++) {
        const enum xfer_status status = atp_stream_status(w->stream[i]);
        if (status == XFER_MISMATCH)
            fail(w->job, "rank %u: a mismatch in call %u", w->rank, w->call);
        if (status != XFER_DONE)
            return false;
    }
    return true;
}

/* A rank can only end a call when all others have begun it, so one result is known at a time. */
static bool is_right(struct atp_job_worker *w, const struct xfer_call *call, uint64_t *at)
{
    struct atp_job *job = w->job;
    const size_t bytes = call->count * agg_element_size(call->type, call->op);

    if (job->known == w->call + 1 && memcmp(w->out, job->right, bytes) == 0)
        return true;
    if (!atp_numbers_hold(call, job->seed, job->cfg.workers, job->cfg.terms.format, w->out, at))
        return false;
    memcpy(job->right, w->out, bytes);
    job->known = w->call + 1;
    return true;
}

static void pass_turn(struct atp_job *job)
{
    for (unsigned r = 0; r < job->cfg.workers; r++)
        if (job->workers[r].call < job->turns)
            return;
    job->next->turns++;
    for (unsigned r = 0; r < job->next->cfg.workers; r++)
        wake_at(&job->next->workers[r], job->net->sim->now + 1);
}

static void end_call(struct atp_job_worker *w)
{
    struct atp_job *job = w->job;
    const struct xfer_call call = call_of(w);
    const bool wants = call.collective == XFER_ALLREDUCE || call.root == w->rank;
    uint64_t at = 0;

    if (wants && !is_right(w, &call, &at))
        fail(job, "rank %u, call %u: element %llu of %llu is wrong", w->rank, w->call, (unsigned long long)at,
             (unsigned long long)call.count);
    w->calling = false;
    w->call++;
    job->sums += wants;
    job->bytes += wants ? call.count * agg_element_size(call.type, call.op) : 0;
    if (job->cfg.takes_turns)
        pass_turn(job);
}

static bool life_is_over(const struct atp_job *job)
{
    for (unsigned r = 0; r < job->cfg.workers; r++)
        if (job->workers[r].calling || job->workers[r].call < (job->life + 1) * job->cfg.calls)
            return false;
    return true;
}

static bool may_begin(const struct atp_job_worker *w)
{
    const struct atp_job *job = w->job;

    return !w->calling && w->call < (job->life + 1) * job->cfg.calls &&
           (!job->cfg.takes_turns || w->call < job->turns);
}

/* As libswagg: a call leaves the servers alone that have no more chunks of it (has_work in
 * lib/client/drive.c); between calls nobody is left alone. */
static bool has_work(const struct atp_job_worker *w, unsigned i)
{
    return !w->rejoining[i] && (!w->calling || atp_stream_status(w->stream[i]) != XFER_DONE ||
                                atp_stream_timer(w->stream[i]) != UINT64_MAX);
}

static void send_all(struct atp_job_worker *w)
{
    uint8_t payload[ATP_NET_PAYLOAD];
    struct xfer_send send;

    for (unsigned i = 0; i < w->job->cfg.servers; i++) {
        if (atp_stream_status(w->stream[i]) == XFER_REJECTED)
            rejoin(w, i);
        while (has_work(w, i) && atp_stream_poll(w->stream[i], w->job->net->sim->now, &send))
            atp_net_send(w->job->net, w->job->cfg.host[w->rank], w->job->cfg.server_host[i], payload,
                         xfer_send_copy(&send, payload));
    }
}

/* It is to be driven again when a stream wants that. */
static void sleep_on_streams(struct atp_job_worker *w)
{
    const uint64_t now = w->job->net->sim->now;
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < w->job->cfg.servers; i++) {
        const uint64_t at = w->rejoining[i] ? UINT64_MAX : atp_stream_timer(w->stream[i]);
        next = at < next ? at : next;
    }
    if (next != UINT64_MAX)
        wake_at(w, next > now ? next : now + 1);
}

/* Between calls: others may need what it has. */
static void serve_others(struct atp_job_worker *w)
{
    send_all(w);
    sleep_on_streams(w);
}

/* A rank goes on as far as it can. */
static void drive(void *ctx, uint64_t argument)
{
    struct atp_job_worker *w = ctx;
    struct atp_job *job = w->job;

    (void)argument;
    if (w->dead || job->failed)
        return;
    if (may_begin(w))
        begin_call(w);
    send_all(w);
    if (w->calling && call_is_done(w)) {
        end_call(w);
        if (life_is_over(job) && job->life + 1 < job->cfg.lives) {
            job->life++;
            begin_life(job);
        } else if (w->call < (job->life + 1) * job->cfg.calls) {
            wake_at(w, job->net->sim->now + 1 + rng_below(&job->rng, job->cfg.pause + 1));
        }
        return;
    }
    sleep_on_streams(w);
}

/* READY has come. The argument: which server, and for which of its restarts. */
static void resume(void *ctx, uint64_t argument)
{
    struct atp_job_worker *w = ctx;
    const unsigned i = argument % ATP_JOB_SERVERS;
    struct atp_job_server *server = &w->job->servers[i];
    const struct keys_secret shared = shared_of(&server->terms);

    if (server->restarts != argument / ATP_JOB_SERVERS || !w->rejoining[i])
        return;
    w->rejoining[i] = false;
    if (atp_stream_resume(w->stream[i], w->job->cfg.number, &server->terms, &shared, w->job->net->sim->now) !=
        0)
        fail(w->job, "rank %u cannot resume at server %u", w->rank, i);
    serve_others(w);
}

/* All ranks have come back to a server that has restarted. */
static void form_again(struct atp_job *job, unsigned i)
{
    struct atp_job_server *server = &job->servers[i];
    const struct agg_limits limits = {.random = rng_next(&job->rng), .group = job->cfg.terms.group};
    struct agg_terms granted;
    struct agg_refusal why;
    struct atp_terms terms;

    if (!atp_protocol.grant(server->wish, job->cfg.workers, &limits, &granted, &why) ||
        !atp_terms_parse(&terms, &granted)) {
        fail(job, "server %u: %.100s", i, why.text);
        return;
    }
    open_server(job, i, &terms);
    for (unsigned r = 0; r < job->cfg.workers; r++)
        sim_at(job->net->sim, job->net->sim->now + rng_below(&job->rng, 20 * MS), resume, &job->workers[r],
               server->restarts * ATP_JOB_SERVERS + i);
}

static void rejoin(struct atp_job_worker *w, unsigned i)
{
    struct atp_job_server *server = &w->job->servers[i];
    struct agg_terms had;

    if (w->rejoining[i] || agg_jobs_find(&server->jobs, w->job->cfg.number) != NULL)
        return;
    w->rejoining[i] = true;
    atp_terms_build(&had, &server->terms);
    server->wish[w->rank] = atp_worker.resume(&had, atp_stream_oldest(w->stream[i]));
    if (++server->wishes == w->job->cfg.workers)
        form_again(w->job, i);
}

/* A heartbeat's answer: the server does not know the job. */
static void hear_of_restart(void *ctx, uint64_t argument)
{
    struct atp_job_worker *w = ctx;
    const unsigned i = argument % ATP_JOB_SERVERS;

    if (w->job->servers[i].restarts == argument / ATP_JOB_SERVERS)
        rejoin(w, i);
}

bool atp_job_receive(struct atp_job *job, unsigned host, uint8_t *payload, size_t bytes,
                     const struct agg_sender *from)
{
    for (unsigned i = 0; i < job->cfg.servers; i++)
        if (job->cfg.server_host[i] == host) {
            if (!job->servers[i].dead)
                serve(job, i, from, payload, bytes);
            return true;
        }
    for (unsigned r = 0; r < job->cfg.workers; r++)
        if (job->cfg.host[r] == host) {
            struct atp_job_worker *w = &job->workers[r];
            for (unsigned i = 0; i < job->cfg.servers && !w->dead; i++)
                if (job->cfg.server_host[i] == atp_net_host(from) && from->port == ATP_NET_PORT &&
                    !w->rejoining[i])
                    atp_stream_receive(w->stream[i], payload, bytes, job->net->sim->now);
            if (w->calling)
                drive(w, 0);
            else if (!w->dead)
                serve_others(w);
            return true;
        }
    return false;
}

void atp_job_init(struct atp_job *job, struct atp_net *net, const struct atp_job_config *cfg, uint64_t seed)
{
    const size_t bytes = most_bytes(cfg);

    *job = (struct atp_job){.cfg = *cfg, .net = net, .seed = seed, .rng = seed, .right = memory_of(bytes)};
    for (unsigned r = 0; r < cfg->workers; r++)
        job->workers[r] =
            (struct atp_job_worker){.job = job, .rank = r, .in = memory_of(bytes), .out = memory_of(bytes)};
    begin_life(job);
}

void atp_job_take_turns(struct atp_job jobs[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        jobs[i].next = &jobs[(i + 1) % n];
    jobs[0].turns = 1;
}

void atp_job_fini(struct atp_job *job)
{
    free(job->right);
    for (unsigned r = 0; r < job->cfg.workers; r++) {
        for (unsigned i = 0; i < job->cfg.servers; i++)
            free(job->workers[r].memory[i]);
        free(job->workers[r].in);
        free(job->workers[r].out);
    }
    for (unsigned i = 0; i < job->cfg.servers; i++)
        carry_close(&job->servers[i].jobs, job->servers[i].job);
}

bool atp_job_is_done(const struct atp_job *job)
{
    return job->life + 1 == job->cfg.lives && life_is_over(job);
}

void atp_job_kill(struct atp_job *job, unsigned rank)
{
    job->workers[rank].dead = true;
}

void atp_job_kill_server(struct atp_job *job, unsigned server)
{
    job->servers[server].dead = true;
}

void atp_job_restart_server(struct atp_job *job, unsigned i)
{
    struct atp_job_server *server = &job->servers[i];

    server->restarts++;
    server->wishes = 0;
    agg_jobs_set(&server->jobs, job->cfg.number, NULL);
    for (unsigned r = 0; r < job->cfg.workers; r++) {
        job->workers[r].rejoining[i] = false;
        sim_at(job->net->sim, job->net->sim->now + rng_magnitude(&job->rng, 10 * US, S), hear_of_restart,
               &job->workers[r], server->restarts * ATP_JOB_SERVERS + i);
    }
}

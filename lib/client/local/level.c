#include "local/level.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "await.h"
#include "describe.h"
#include "monotonic.h"
#include "own_thread.h"

enum {
    LOOK_US = 500,    /* until who is awaited is looked at ... */
    LOOK_MAX_MS = 50, /* ... for the first time, and between looks, later */
    HEAR_MS = 10,     /* between looks whether others have said why the job has ended */
    GONE_MS = 100,    /* within which they say why one of them is gone */
    WORLD_MS = 500,   /* within which the other ranks say why a rail has failed, as they know better */
    OTHERS_MS = 700,  /* beyond the deadline, who waits for other hosts says for whom */
    STANDSTILL_MS = 1000,
    LOOK_AT_GPU_US = 20, /* about what a piece takes that is copied (staging.h) */
};

/* --- how it comes to be --- */

static bool look(void *ctx);
static void tell(void *ctx, int status, enum ctl_reason reason, const char *text);
static const struct turns_posts posts;

int level_make(struct level **out, struct swagg_job *job, struct memory *memory, const uint64_t ids[])
{
    struct level *l = calloc(1, sizeof *l);
    if (!l)
        return -ENOMEM;
    l->job = job;
    local_plan_make(&l->plan, ids, job->options.size);
    const unsigned locals = l->plan.locals[l->plan.host[job->options.rank]];
    l->memory = *memory;
    *memory = MEMORY_NONE;
    const size_t bytes = local_board_bytes(locals, LOCAL_BLOCK_BYTES);
    int rc = l->memory.board ? memory_map(&l->memory, bytes) : memory_make(&l->memory, bytes, bytes);
    if (rc < 0) {
        memory_close(&l->memory);
        free(l);
        return rc;
    }
    turns_open(&l->turns, &posts, l);
    local_member_init(&l->member, &l->plan, job->options.rank, l->memory.board, LOCAL_BLOCK_BYTES,
                      job->kernels);
    *out = l;
    return 0;
}

bool level_has_rail(const struct level *l)
{
    return l->member.me < l->plan.rails;
}

void level_begin(struct level *l, struct swagg_job *rail)
{
    l->rail = rail;
    if (rail)
        rail->look = (struct job_look){.at = look, .ctx = l};
    pthread_mutex_lock(&l->job->lock);
    l->job->tell = (struct job_tell){.others = tell, .ctx = l};
    l->job->rail = rail;
    l->job->level = l;
    pthread_mutex_unlock(&l->job->lock);
    memory_wake(local_sit(&l->member, LOCAL_SEATED));
}

/* --- how it ends --- */

static void wake_all(struct level *l)
{
    for (unsigned local = 0; local < l->member.locals; local++) {
        memory_wake_sleepers(&l->memory.board->seats[local].in);
        memory_wake_sleepers(&l->memory.board->seats[local].summed);
    }
    memory_wake_sleepers(&l->memory.board->fault);
}

/* In words that name ranks already. Who is in the rail hears it from its session. */
static void abort_rail(struct level *l, const char *text)
{
    struct swagg_job *rail = l->rail;
    if (!rail || atomic_exchange(&l->told, true))
        return;
    for (unsigned i = 0; i < rail->part_count; i++)
        membership_abort(&rail->parts[i].membership, CTL_APPLICATION, rail->options.rank, text);
}

/* The job has failed: those of this host hear it by the board, those who wait in the rail by that. With the
 * job's lock. */
static void tell(void *ctx, int status, enum ctl_reason reason, const char *text)
{
    struct level *l = ctx;
    struct local_fault fault = {.status = status, .reason = (uint16_t)reason};
    snprintf(fault.text, sizeof fault.text, "%.*s", CTL_TEXT_MAX - 1, text);
    local_raise(&l->member, &fault);
    wake_all(l);
    abort_rail(l, fault.text);
}

/* Ends the job, unless it has failed already; by whoever has its lock. Returns its failure. */
static int fail(struct level *l, int status, enum ctl_reason reason, const char *text)
{
    struct swagg_job *job = l->job;
    if (pthread_mutex_trylock(&job->lock) == 0) {
        if (!job->failure)
            job_fail_and_tell(job, status, reason, text);
        pthread_mutex_unlock(&job->lock);
    } else {
        job_end(job, status, text);
    }
    return requests_failure(&job->requests);
}

/* Another's deadline is not this rank's. */
static int follow_fault(struct level *l)
{
    struct local_fault fault = {.status = SWAGG_ERR_ABORTED};
    local_faulted(&l->member, &fault);
    if (fault.status >= 0 || fault.status == SWAGG_ERR_DEADLINE || fault.status == SWAGG_ERR_SYSTEM)
        fault.status = SWAGG_ERR_ABORTED;
    return fail(l, fault.status, (enum ctl_reason)fault.reason, fault.text);
}

/* Whether the job has failed; from the thread that is in a rail. */
static bool look(void *ctx)
{
    struct level *l = ctx;
    struct local_fault fault;
    return local_faulted(&l->member, &fault) || requests_failure(&l->job->requests) < 0;
}

/* The job's failure, if others tell of one within so long; or 0. */
static int hear_others(struct level *l, uint64_t patience)
{
    struct local_fault fault;
    for (;;) {
        const int rc = requests_failure(&l->job->requests);
        if (rc < 0)
            return rc;
        if (local_faulted(&l->member, &fault))
            return follow_fault(l);
        if (l->job->part_count == 0 || patience == 0)
            return 0;
        const uint64_t slice = earlier(patience, HEAR_MS * NS_PER_MS), began = monotonic_ns();
        memory_sleep(&l->memory.board->fault, 0, slice);
        patience = patience_left(patience, slice, began, monotonic_ns());
    }
}

/* --- waiting --- */

/* What a call has to do in time. */
struct vigil {
    const struct xfer_call *call;
    uint64_t posted, began, deadline; /* began: its turn */
    uint64_t warn_after, warn_at;
};

/* " of host 1", where there are others. */
enum { PLACE_MAX = 24 };
static const char *place(const struct level *l, char text[PLACE_MAX])
{
    text[0] = '\0';
    if (l->plan.hosts > 1)
        snprintf(text, PLACE_MAX, " of host %u", l->member.host);
    return text;
}

/* It may have gone because the job has failed, which it heard of before. */
static int fail_gone(struct level *l, unsigned rank, const char *how)
{
    char text[CTL_TEXT_MAX], where[PLACE_MAX];
    const int rc = hear_others(l, GONE_MS * NS_PER_MS);
    if (rc < 0)
        return rc;
    snprintf(text, sizeof text, "rank %u%s %s", rank, place(l, where), how);
    return fail(l, SWAGG_ERR_LOST, CTL_RANK_LOST, text);
}

static const char *describe_wait(const struct level *l, const struct local_step *s, char text[CTL_TEXT_MAX])
{
    const struct ctl_ranks missing = local_awaited(&l->member);
    char ranks[CTL_RANKS_TEXT_MAX], where[PLACE_MAX];
    snprintf(text, CTL_TEXT_MAX, "waiting for %s%s%s", ctl_ranks_text(&missing, ranks), place(l, where),
             s->sums ? l->plan.hosts > 1 ? " to hear from the other hosts" : " to add up" : "");
    return text;
}

static int fail_deadline(struct level *l, const char *wait, const struct vigil *v, uint64_t now)
{
    const struct swagg_job *job = l->job;
    char call[DESCRIBE_CALL_MAX], text[CLIENT_TEXT_MAX];
    snprintf(text, sizeof text, "rank %u: %s: no sum within %.1f s: %s", job->options.rank,
             describe_call(&job->options.names, v->call, call), (double)(now - v->posted) / NS_PER_SECOND,
             wait);
    return fail(l, SWAGG_ERR_DEADLINE, CTL_DEADLINE, text);
}

static void warn(const struct level *l, const struct local_step *s, struct vigil *v, uint64_t now)
{
    struct swagg_job *job = l->job;
    const struct ctl_ranks missing = local_awaited(&l->member);
    char call[DESCRIBE_CALL_MAX], wait[CTL_TEXT_MAX], text[CLIENT_TEXT_MAX];
    snprintf(text, sizeof text, "job '%s': rank %u: nothing for %.1f s, %s: %s", job->options.job,
             job->options.rank, (double)(now - v->began) / NS_PER_SECOND,
             describe_call(&job->options.names, v->call, call), describe_wait(l, s, wait));
    logger_write(&job->options.log, SWAGG_LOG_WARN, "%s", text);
    job_tell_late(job, text, &missing, v->began, now, v->deadline);
    v->warn_after *= 2;
    v->warn_at = v->began + v->warn_after;
}

/* Who was awaited was missing up to now, also if he has just come. */
static void note_waits(struct level *l, const struct local_step *s, uint64_t since, uint64_t now)
{
    struct ctl_ranks missing = local_awaited(&l->member);
    uint16_t list[AGG_MAX_WORKERS];
    unsigned n = 0;
    if (s->rank != l->job->options.rank)
        ctl_ranks_add(&missing, s->rank);
    for (unsigned rank = 0; rank < l->plan.ranks; rank++)
        if (ctl_ranks_has(&missing, rank))
            list[n++] = (uint16_t)rank;
    waits_note(&l->job->local_waits, since, list, n, now);
}

static bool is_there(const struct local_step *s)
{
    return atomic_load_explicit(&s->word->value, memory_order_acquire) != s->value;
}

/* It makes no more steps: what that means the next look at the board says. */
static bool has_left(const struct level *l, const struct local_step *s)
{
    struct local_seat *seat = &l->memory.board->seats[l->plan.number[s->rank]];
    return atomic_load_explicit(&seat->state.value, memory_order_acquire) == LOCAL_LEFT;
}

/* What is looked at now and then while a call waits. Who leaves says so before his process no longer lives.
 */
static int check(struct level *l, const struct local_step *s, struct vigil *v, uint64_t since, uint64_t now)
{
    const int failed = requests_failure(&l->job->requests);
    char wait[CTL_TEXT_MAX];
    if (failed < 0 && !is_there(s))
        return failed;
    if (!own_fd_holds(&l->memory.file))
        return fail(
            l, SWAGG_ERR_SYSTEM, CTL_APPLICATION,
            "this program has closed the memory that the ranks of its host share: a program that closes "
            "descriptors it did not open must do so before swagg_open");
    if (s->rank != l->job->options.rank && !memory_lives(&l->memory, s->rank) && !is_there(s) &&
        !has_left(l, s))
        return fail_gone(l, s->rank,
                         "has died: its process has ended, or closed descriptors that are not its own");
    note_waits(l, s, since, now);
    if (now >= v->deadline + (s->sums && l->plan.hosts > 1 ? OTHERS_MS * NS_PER_MS : 0))
        return fail_deadline(l, describe_wait(l, s, wait), v, now);
    if (now >= v->warn_at)
        warn(l, s, v, now);
    return SWAGG_OK;
}

/* What the rail has under way goes on without this thread. */
static void leave_rail(struct level *l)
{
    if (l->attends)
        await_leave(l->rail);
    l->attends = false;
}

/* A call whose blocks its rails sum one behind the other is hardly delayed by waking up (spin.h). */
static bool is_long(const struct level *l)
{
    return l->plan.hosts > 1 && l->member.blocks > 1;
}

static uint64_t progress_at(const struct level *l)
{
    return l->job->options.progress && !l->in_thread ? l->progress_at : UINT64_MAX;
}

static void let_others_progress(struct level *l, uint64_t now)
{
    if (now < progress_at(l))
        return;
    l->job->options.progress(l->job->options.progress_ctx);
    l->progress_at = monotonic_ns() + OWN_THREAD_PROGRESS_US * NS_PER_US;
}

/* Looks again and again for a moment, as long as no other program wants the CPU. A thread of the library's
 * leaves it to the program's. */
static bool spin(struct level *l, const struct local_step *s, uint64_t *now)
{
    if (l->in_thread)
        return is_there(s);
    spin_begin(&l->spin, is_long(l) ? UINT64_MAX : 0, *now);
    while (spin_may(&l->spin, *now)) {
        if (is_there(s))
            return true;
        sched_yield();
        const uint64_t after = monotonic_ns();
        spin_offered(&l->spin, *now, after);
        let_others_progress(l, *now = after);
    }
    return is_there(s);
}

static int fail_mismatch(struct level *l, const struct local_step *s)
{
    const struct swagg_job *job = l->job;
    const struct xfer_mismatch m = {.your_rank = job->options.rank,
                                    .peer_rank = s->rank,
                                    .opening = true,
                                    .yours = l->member.call,
                                    .peers = s->call};
    char text[DESCRIBE_MISMATCH_MAX];
    describe_mismatch(&job->options.names, &m, job->options.format, text);
    return fail(l, SWAGG_ERR_MISMATCH, CTL_MISMATCH, text);
}

/* Until the word has changed, or there is something else to be seen. */
static int wait_for(struct level *l, const struct local_step *s, struct vigil *v)
{
    struct local_step astray;
    uint64_t now = monotonic_ns(), pause = LOOK_US * NS_PER_US;
    const uint64_t since = now;
    if (spin(l, s, &now))
        return SWAGG_OK;
    waits_begin(&l->job->local_waits, 0, since, since);
    for (uint64_t look_at = now + pause; !is_there(s) && !has_left(l, s);) {
        struct local_fault fault;
        if (local_faulted(&l->member, &fault))
            return follow_fault(l);
        if (local_strays(&l->member, &astray))
            return fail_mismatch(l, &astray);
        let_others_progress(l, now);
        uint64_t until = earlier(look_at, progress_at(l));
        if (v->deadline > now)
            until = earlier(until, v->deadline);
        memory_sleep(s->word, s->value, ns_between(now, until));
        now = monotonic_ns();
        if (now > until + STANDSTILL_MS * NS_PER_MS)
            v->deadline += now - until;
        if (now < earlier(look_at, v->deadline))
            continue;
        leave_rail(l);
        const int rc = check(l, s, v, since, now);
        if (rc < 0)
            return rc;
        pause = earlier(2 * pause, LOOK_MAX_MS * NS_PER_MS);
        look_at = now + pause;
    }
    note_waits(l, s, since, now);
    return SWAGG_OK;
}

/* --- calls --- */

/* Why the rail has failed, as the other ranks say it; else in its own words, which name its job. */
static int fail_rail(struct level *l, int status)
{
    const size_t before = strlen("job '': ") + strlen(l->rail->options.job);
    char own[CLIENT_TEXT_MAX], text[CTL_TEXT_MAX];
    snprintf(own, sizeof own, "%s", swagg_last_error());
    const int rc = hear_others(l, WORLD_MS * NS_PER_MS);
    if (rc < 0)
        return rc;
    snprintf(text, sizeof text, "%.*s", CTL_TEXT_MAX - 1, strlen(own) > before ? own + before : own);
    return fail(l, status, job_reason_of(status), text);
}

/* It follows what is being summed, in the same stream. */
static int begin_rail(struct level *l, const struct local_step *s, const struct swagg_request *of)
{
    struct swagg_request *r = &l->railing[l->begun % 2];
    *r = (struct swagg_request){
        .job = l->rail,
        .call = s->call,
        .only = {.in = s->elements, .out = s->elements, .count = s->call.count},
        .segments = &r->only,
        .n = 1,
        .began = of->began,
        .deadline = of->deadline,
        .part_of_long = is_long(l),
    };
    const int rc = requests_append(&l->rail->requests, r);
    if (rc < 0)
        return fail_rail(l, rc);
    l->begun++;
    return SWAGG_OK;
}

static bool has_changed(void *ctx)
{
    const struct local_step *s = ctx;
    return s->word && is_there(s);
}

/* Goes on with the rail until the oldest share is summed, or the word of the step has changed: 1 or 0, or the
 * job's failure. */
static int drive_rail(struct level *l, struct local_step *s)
{
    struct swagg_request *oldest = &l->railing[l->railed % 2];
    l->attends = true;
    l->rail->progress_at = l->progress_at;
    const bool changed = await_any_or(l->rail, &oldest, 1, has_changed, s, l->in_thread) > 0;
    l->progress_at = l->rail->progress_at;
    if (changed)
        return 0;
    l->railed++;
    const int rc = await_end(oldest);
    return rc < 0 ? fail_rail(l, rc) : 1;
}

/* A call that has failed leaves nothing in the rail, which has failed with it. */
static void end_rail(struct level *l)
{
    struct local_step nothing = {0};
    while (l->railed != l->begun)
        (void)drive_rail(l, &nothing);
}

/* Until so much of a GPU's tensor is there; the rail goes on meanwhile. */
static int await_tensor(struct level *l, struct staging *staged, uint64_t bytes, struct vigil *v)
{
    struct local_fault fault;
    uint64_t now = monotonic_ns();
    int rc;
    while ((rc = staging_come(staged)) == 0 && staging_there(staged, 0) < bytes) {
        const int failed = requests_failure(&l->job->requests);
        if (failed < 0)
            return failed;
        if (local_faulted(&l->member, &fault))
            return follow_fault(l);
        if (now >= v->deadline)
            return fail_deadline(l, "the GPU's driver has not copied all of the tensor from it", v, now);
        if (l->railed != l->begun)
            await_push(l->rail);
        let_others_progress(l, now);
        const uint64_t until = now + LOOK_AT_GPU_US * NS_PER_US;
        memory_sleep(&l->memory.board->fault, 0, LOOK_AT_GPU_US * NS_PER_US);
        now = monotonic_ns();
        if (now > until + STANDSTILL_MS * NS_PER_MS)
            v->deadline += now - until;
    }
    return rc < 0 ? job_end_here(l->job) : SWAGG_OK;
}

/* Of a call that flows: what is summed goes back to the GPU, and what the next step reads has come from it.
 */
static int flow(struct level *l, struct staging *staged, struct vigil *v)
{
    const struct staging_span given = {0, local_given(&l->member)};
    if (staging_leave(staged, 0, &given, 1) < 0)
        return job_end_here(l->job);
    return await_tensor(l, staged, local_reads(&l->member), v);
}

/* 1: it goes on. */
static int step_on(struct level *l, const struct swagg_request *r, struct vigil *v)
{
    struct local_step s;
    int rc = staging_flows(r->staged) ? flow(l, r->staged, v) : SWAGG_OK;
    if (rc < 0)
        return rc;
    const enum local_next next = local_go(&l->member, &s);
    if (s.wake)
        memory_wake(s.wake);
    switch (next) {
    case LOCAL_ON:
        return 1;
    case LOCAL_DONE:
        return 0;
    case LOCAL_WAIT:
        rc = wait_for(l, &s, v);
        break;
    case LOCAL_RAIL:
        rc = begin_rail(l, &s, r);
        break;
    case LOCAL_RAILING:
        if ((rc = drive_rail(l, &s)) > 0)
            local_railed(&l->member);
        break;
    case LOCAL_MISMATCH:
        return fail_mismatch(l, &s);
    case LOCAL_GONE:
        return fail_gone(l, s.rank, "has left the job");
    case LOCAL_FAULT:
        return follow_fault(l);
    }
    return rc < 0 ? rc : 1;
}

/* At its turn, which is now. */
static int make(struct level *l, struct swagg_request *r, bool in_thread, uint64_t now)
{
    struct swagg_job *job = l->job;
    struct vigil v = {.call = &r->call,
                      .posted = r->began,
                      .began = now,
                      .deadline = r->deadline,
                      .warn_after = job->options.warn_after_ns,
                      .warn_at = now + job->options.warn_after_ns};
    uint64_t elements;
    int rc = requests_failure(&job->requests);
    if (rc < 0)
        return rc;
    l->in_thread = in_thread;
    xfer_segments_measure(r->segments, r->n, agg_element_size(r->call.type, r->call.op), &elements);
    if (r->staged && !staging_flows(r->staged) && (rc = await_tensor(l, r->staged, UINT64_MAX, &v)) < 0)
        return rc;
    local_begin(&l->member, &r->call, r->segments, r->n);
    while ((rc = step_on(l, r, &v)) > 0)
        ;
    end_rail(l);
    leave_rail(l);
    if (rc == 0)
        job_count(job, &r->call, monotonic_ns() - r->began);
    return rc;
}

int level_call(struct swagg_job *job, struct swagg_request *r)
{
    struct level *l = job->level;
    const bool waited = turns_take(&l->turns, r, job->options.progress, job->options.progress_ctx);
    const int rc = make(l, r, false, waited ? monotonic_ns() : r->began);
    turns_over(&l->turns);
    return rc;
}

static int make_posted(void *ctx, struct swagg_request *r)
{
    return make(ctx, r, true, monotonic_ns());
}

/* Who waits for it may be one who drives the job's other calls. */
static void end_posted(void *ctx, struct swagg_request *r, int status)
{
    struct level *l = ctx;
    requests_made(&l->job->requests, r, status);
    waker_wake(&l->job->waker);
}

static const struct turns_posts posts = {make_posted, end_posted};

int level_post(struct swagg_job *job, struct swagg_request *r)
{
    const int rc = turns_post(&job->level->turns, r);
    if (rc == 0)
        return SWAGG_OK;
    client_fail(SWAGG_ERR_SYSTEM, "no thread for posted calls: %s", strerror(-rc));
    return job_end_here(job); /* the others make this call */
}

void level_leave(struct swagg_job *job)
{
    struct level *l = job->level;
    if (!l || job->owner != getpid())
        return;
    struct xfer_call oldest;
    if (turns_posted(&l->turns, &oldest))
        job_cancel(job, &oldest);
    turns_close(&l->turns);
    pthread_mutex_lock(&job->lock);
    job->tell = (struct job_tell){0};
    pthread_mutex_unlock(&job->lock);
    local_sit(&l->member, LOCAL_LEFT);
    wake_all(l);
}

void level_free(struct level *l)
{
    if (!l)
        return;
    memory_close(&l->memory);
    free(l);
}

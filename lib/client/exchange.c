/* Collectives in which ranks bring and get different parts of a tensor (transfer/parts.h). */
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "transfer/parts.h"

/* Why the job has none of them, as a clause. NULL: it has. */
static const char *missing(struct swagg_job *job)
{
    if (job->part_count == 0)
        return "it has no switch: set options.switch_ip";
    if (job->worker->at_servers)
        return "it is summed by ATP: open one with SWAGG_PROTOCOL_SWITCHML";
    if (job->options.format != XFER_FORMAT_TYPED)
        return "its numbers travel scaled: open one with SWAGG_NUMBERS_NATIVE";
    if (job->options.quorum != 0)
        return "its calls end with a quorum of the ranks: open one without options.quorum";
    if (job->part_count > 1)
        return "several switches share its calls: open one with a single one in options.switch_ip";
    if (!job_terms(job).parts)
        return "a switch on its way, or a rank's libswagg, is too old: update it";
    return NULL;
}

/* What every one of them begins with. */
static int check(struct swagg_job *job, const char *name, const struct posting *posting)
{
    int rc = collective_check(job, posting);
    if (rc < 0)
        return rc;
    const char *why = missing(job);
    return why ? client_fail(SWAGG_ERR_ARGUMENT, "this job has no %s: %s", name, why) : SWAGG_OK;
}

static int check_given(const char *name, const void *pointer, size_t bytes)
{
    if (pointer || bytes == 0)
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT, "%s is NULL and there is something in it", name);
}

static int check_apart(const void *send, size_t send_bytes, const void *recv, size_t recv_bytes)
{
    const uintptr_t s = (uintptr_t)send, r = (uintptr_t)recv;
    if (send_bytes == 0 || recv_bytes == 0 || s + send_bytes <= r || r + recv_bytes <= s)
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT,
                       "send and recv overlap, and are not where the one goes in the other");
}

/* Sum of lengths, in units of so many bytes; false: they fit no address space. */
static bool add_up(const size_t lengths[], size_t n, size_t unit, size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < n; i++) {
        if (lengths[i] > (PTRDIFF_MAX - *total) / unit)
            return false;
        *total += lengths[i] * unit;
    }
    return true;
}

static int check_lengths(const struct swagg_job *job, const char *name, const size_t lengths[], size_t unit,
                         size_t *total)
{
    if (!lengths)
        return client_fail(SWAGG_ERR_ARGUMENT, "%s is NULL", name);
    if (!add_up(lengths, (size_t)job->options.size, unit, total))
        return client_fail(SWAGG_ERR_ARGUMENT, "%s: so much fits no address space", name);
    return SWAGG_OK;
}

static int check_offsets(const struct swagg_job *job, const size_t offsets[], const size_t bytes[])
{
    for (int r = 0; offsets && r < job->options.size; r++)
        if (bytes[r] > 0 && offsets[r] > PTRDIFF_MAX - bytes[r])
            return client_fail(SWAGG_ERR_ARGUMENT,
                               "offsets[%d] is %zu: a block of %zu bytes there fits no address space", r,
                               offsets[r], bytes[r]);
    return SWAGG_OK;
}

static int check_blocks(const struct swagg_job *job, size_t bytes)
{
    if (bytes <= (size_t)PTRDIFF_MAX / (unsigned)job->options.size)
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT, "bytes is %zu: so much times %d ranks fits no address space",
                       bytes, job->options.size);
}

static struct xfer_call copy_of(enum xfer_collective collective, uint32_t root, uint64_t bytes)
{
    return (struct xfer_call){
        .collective = (uint8_t)collective, .type = AGG_U8, .op = AGG_BOR, .root = root, .count = bytes};
}

/* Either may be a GPU's. */
static int copy(struct swagg_job *job, void *to, const void *from, size_t bytes)
{
    if (bytes == 0 || to == from)
        return SWAGG_OK;
    const int rc = staging_move(&job->gpu, to, from, bytes);
    return rc < 0 ? job_end_here(job) : rc;
}

int swagg_has_exchanges(struct swagg_job *job)
{
    const int rc = job_check_own(job);
    return rc < 0 ? rc : missing(job) == NULL;
}

static int broadcast(struct swagg_job *job, void *buffer, size_t bytes, int root,
                     const struct posting *posting)
{
    struct swagg_request own = {0}, *request = &own;
    int rc = check(job, "broadcast", posting);
    if (rc < 0 || (rc = collective_check_root(job, root)) < 0 ||
        (rc = check_given("buffer", buffer, bytes)) < 0 ||
        (rc = collective_begin(job, posting, 1, &request)) < 0)
        return rc;
    request->call = copy_of(XFER_BROADCAST, (uint32_t)root, bytes);
    request->only.count = bytes;
    if (root == job->options.rank)
        request->only.in = buffer;
    else
        request->only.out = buffer;
    return collective_run(job, posting, request);
}

int swagg_broadcast(struct swagg_job *job, void *buffer, size_t bytes, int root)
{
    return broadcast(job, buffer, bytes, root, NULL);
}

int swagg_post_broadcast(struct swagg_job *job, void *buffer, size_t bytes, int root,
                         const struct swagg_post *how, struct swagg_request **request)
{
    return broadcast(job, buffer, bytes, root, &(const struct posting){how, request});
}

/* The hash of the blocks' lengths, by which the ranks compare them. */
static int hash_blocks(struct swagg_job *job, const size_t lengths[], uint32_t *hash)
{
    const size_t n = (size_t)job->options.size;
    uint64_t *wide = calloc(n, sizeof *wide);
    if (!wide) {
        client_fail(SWAGG_ERR_SYSTEM, "no memory for the lengths of %zu blocks", n);
        return job_end_here(job);
    }
    for (size_t i = 0; i < n; i++)
        wide[i] = lengths[i];
    *hash = xfer_blocks_hash(wide, n);
    free(wide);
    return SWAGG_OK;
}

/* What a rank brings to an all-gather does not come back to it. */
static void finish_gathered(struct swagg_request *r)
{
    const struct xfer_segment *own = &r->segments[r->job->options.rank];
    if (own->count > 0 && own->out != own->in)
        memmove(own->out, own->in, own->count);
}

static int gather_to_all(struct swagg_job *job, const void *send, uint8_t *recv, const size_t bytes[],
                         const size_t offsets[], size_t total, const struct posting *posting)
{
    const size_t n = (size_t)job->options.size, rank = (size_t)job->options.rank;
    struct swagg_request own = {0}, *request = &own;
    uint32_t hash = 0;
    size_t offset = 0;
    int rc = hash_blocks(job, bytes, &hash);
    if (rc < 0 || (rc = collective_begin(job, posting, n, &request)) < 0)
        return rc;
    request->call = copy_of(XFER_ALLGATHER, hash, total);
    request->finish = finish_gathered;
    for (size_t r = 0; r < n; r++) {
        uint8_t *at = bytes[r] > 0 ? recv + (offsets ? offsets[r] : offset) : NULL;
        request->segments[r] =
            (struct xfer_segment){.in = r == rank ? send : NULL, .out = at, .count = bytes[r]};
        offset += bytes[r];
    }
    return collective_run(job, posting, request);
}

static int allgatherv(struct swagg_job *job, const void *send, void *recv, const size_t bytes[],
                      const size_t offsets[], const struct posting *posting)
{
    size_t total = 0, own = 0;
    int rc = check(job, "allgather", posting);
    if (rc < 0 || (rc = check_lengths(job, "bytes", bytes, 1, &total)) < 0 ||
        (rc = check_offsets(job, offsets, bytes)) < 0 || (rc = check_given("recv", recv, total)) < 0 ||
        (rc = check_given("send", send, bytes[job->options.rank])) < 0)
        return rc;
    for (int r = 0; r < job->options.rank; r++)
        own += bytes[r];
    own = offsets ? offsets[job->options.rank] : own;
    const size_t mine = bytes[job->options.rank];
    uint8_t *at = mine > 0 ? (uint8_t *)recv + own : NULL;
    for (int r = 0; mine > 0 && send != at && r < job->options.size; r++) {
        const uint8_t *block = (uint8_t *)recv + (offsets ? offsets[r] : 0);
        if ((rc = check_apart(send, mine, block, offsets ? bytes[r] : total)) < 0)
            return rc;
    }
    return gather_to_all(job, send, recv, bytes, offsets, total, posting);
}

int swagg_allgatherv(struct swagg_job *job, const void *send, void *recv, const size_t bytes[],
                     const size_t offsets[])
{
    return allgatherv(job, send, recv, bytes, offsets, NULL);
}

int swagg_post_allgatherv(struct swagg_job *job, const void *send, void *recv, const size_t bytes[],
                          const size_t offsets[], const struct swagg_post *how,
                          struct swagg_request **request)
{
    return allgatherv(job, send, recv, bytes, offsets, &(const struct posting){how, request});
}

/* Lengths that are all the same: NULL, there is no memory, and the job has ended. */
static size_t *alike(struct swagg_job *job, size_t length)
{
    size_t *each = calloc((size_t)job->options.size, sizeof *each);
    if (!each) {
        client_fail(SWAGG_ERR_SYSTEM, "no memory for the lengths of %d blocks", job->options.size);
        job_end_here(job);
    }
    for (int r = 0; each && r < job->options.size; r++)
        each[r] = length;
    return each;
}

static int allgather(struct swagg_job *job, const void *send, void *recv, size_t bytes,
                     const struct posting *posting)
{
    int rc = check(job, "allgather", posting);
    if (rc < 0 || (rc = check_blocks(job, bytes)) < 0)
        return rc;
    size_t *each = alike(job, bytes);
    rc = each ? allgatherv(job, send, recv, each, NULL, posting) : SWAGG_ERR_SYSTEM;
    free(each);
    return rc;
}

int swagg_allgather(struct swagg_job *job, const void *send, void *recv, size_t bytes)
{
    return allgather(job, send, recv, bytes, NULL);
}

int swagg_post_allgather(struct swagg_job *job, const void *send, void *recv, size_t bytes,
                         const struct swagg_post *how, struct swagg_request **request)
{
    return allgather(job, send, recv, bytes, &(const struct posting){how, request});
}

/* Blocks of one length, but for the root's, which does not travel: at the root they lie at `blocks`,
 * elsewhere the rank's own one at `own`. */
static int to_or_from_root(struct swagg_job *job, enum xfer_collective collective, void *blocks, void *own,
                           size_t bytes, int root)
{
    const bool gathers = collective == XFER_GATHER, is_root = root == job->options.rank;
    const size_t n = (size_t)job->options.size;
    struct swagg_request here = {0}, *request = &here;
    int rc = collective_begin(job, NULL, n, &request);
    if (rc < 0)
        return rc;
    request->call = copy_of(collective, (uint32_t)root, (n - 1) * bytes);
    for (size_t r = 0; r < n; r++) {
        struct xfer_segment *s = &request->segments[r];
        void *at = is_root && bytes > 0 ? (uint8_t *)blocks + r * bytes : NULL;
        s->count = r == (size_t)root ? 0 : bytes;
        if (r == (size_t)job->options.rank)
            at = own;
        if (gathers == is_root)
            s->out = at;
        else
            s->in = at;
    }
    return collective_run(job, NULL, request);
}

static int check_root_call(struct swagg_job *job, const char *name, size_t bytes, int root)
{
    int rc = check(job, name, NULL);
    return rc < 0 || (rc = collective_check_root(job, root)) < 0 ? rc : check_blocks(job, bytes);
}

int swagg_gather(struct swagg_job *job, const void *send, void *recv, size_t bytes, int root)
{
    int rc = check_root_call(job, "gather", bytes, root);
    if (rc < 0 || (rc = check_given("send", send, bytes)) < 0)
        return rc;
    if (root != job->options.rank)
        return to_or_from_root(job, XFER_GATHER, NULL, (void *)send, bytes, root);
    if ((rc = check_given("recv", recv, bytes)) < 0)
        return rc;
    uint8_t *at = bytes > 0 ? (uint8_t *)recv + (size_t)root * bytes : NULL;
    if (send != at && (rc = check_apart(send, bytes, recv, (size_t)job->options.size * bytes)) < 0)
        return rc;
    rc = copy(job, at, send, bytes);
    return rc < 0 ? rc : to_or_from_root(job, XFER_GATHER, recv, NULL, bytes, root);
}

int swagg_scatter(struct swagg_job *job, const void *send, void *recv, size_t bytes, int root)
{
    int rc = check_root_call(job, "scatter", bytes, root);
    if (rc < 0 || (rc = check_given("recv", recv, bytes)) < 0)
        return rc;
    if (root != job->options.rank)
        return to_or_from_root(job, XFER_SCATTER, NULL, recv, bytes, root);
    if ((rc = check_given("send", send, bytes)) < 0)
        return rc;
    const uint8_t *at = bytes > 0 ? (const uint8_t *)send + (size_t)root * bytes : NULL;
    if (recv != at && (rc = check_apart(send, (size_t)job->options.size * bytes, recv, bytes)) < 0)
        return rc;
    rc = copy(job, recv, at, bytes);
    return rc < 0 ? rc : to_or_from_root(job, XFER_SCATTER, (void *)send, NULL, bytes, root);
}

enum { ADDED_AT_ONCE = 4096 }; /* bytes, a multiple of any element's */

/* sum = sum op own, in the host's order. */
static void add_own(const struct agg_kernels *kernels, const struct xfer_call *call, uint8_t *sum,
                    const uint8_t *own, size_t bytes)
{
    agg_convert_fn *convert = kernels->convert[call->type];
    uint8_t wire[ADDED_AT_ONCE];
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < sizeof wire ? bytes - at : sizeof wire;
        convert(wire, own + at, n);
        convert(sum + at, sum + at, n);
        kernels->operations[agg_code(call->type, call->op)].fold(sum + at, wire, n);
        convert(sum + at, sum + at, n);
    }
}

/* The part of a reduce-scatter's sum that was not sent, because this rank owns it. */
static void finish_own(struct swagg_request *r)
{
    const struct swagg_job *job = r->job;
    const struct agg_granted terms = job_terms(r->job);
    const size_t element = agg_element_size(r->call.type, r->call.op);
    const struct xfer_segment *block = &r->segments[job->options.rank];
    uint64_t first, end;
    if (!terms.parts || !xfer_owner_adds(job->kernels, &r->call, (unsigned)job->options.size))
        return;
    xfer_own_chunks(terms.chunk_bytes, element, r->call.count * element, r->own.before,
                    r->own.before + r->own.bytes, &first, &end);
    if (end > first)
        add_own(job->kernels, &r->call, (uint8_t *)block->out + (first - r->own.before),
                (const uint8_t *)block->in + (first - r->own.before), end - first);
}

static int check_operation(int type, int op, size_t *element)
{
    *element = agg_element_size((unsigned)type, (unsigned)op);
    if (*element > 0)
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT,
                       "there is no operation %d of type %d: swagg_element_size() tells which operations a "
                       "type has",
                       op, type);
}

static int reduce_scatter(struct swagg_job *job, const void *send, void *recv, const size_t counts[],
                          enum swagg_type type, enum swagg_op op, const struct posting *posting)
{
    struct swagg_request here = {0}, *request = &here;
    size_t element, total = 0, offset = 0;
    uint32_t hash = 0;
    int rc = check(job, "reduce_scatter", posting);
    if (rc < 0 || (rc = check_operation((int)type, (int)op, &element)) < 0 ||
        (rc = check_lengths(job, "counts", counts, element, &total)) < 0)
        return rc;
    const size_t n = (size_t)job->options.size, mine = counts[job->options.rank] * element;
    if ((rc = check_given("send", send, total)) < 0 || (rc = check_given("recv", recv, mine)) < 0 ||
        (rc = check_apart(send, total, recv, mine)) < 0 || (rc = hash_blocks(job, counts, &hash)) < 0 ||
        (rc = collective_begin(job, posting, n, &request)) < 0)
        return rc;
    request->call = (struct xfer_call){.collective = XFER_REDUCE_SCATTER,
                                       .type = (uint8_t)type,
                                       .op = (uint8_t)op,
                                       .root = hash,
                                       .count = total / element};
    request->finish = finish_own;
    request->own = (struct request_own){.bytes = mine};
    for (size_t r = 0; r < n; r++) {
        const bool own = r == (size_t)job->options.rank;
        request->segments[r] =
            (struct xfer_segment){.in = counts[r] > 0 ? (const uint8_t *)send + offset : NULL,
                                  .out = own ? recv : NULL,
                                  .count = counts[r]};
        if (own)
            request->own.before = offset;
        offset += counts[r] * element;
    }
    return collective_run(job, posting, request);
}

int swagg_reduce_scatter(struct swagg_job *job, const void *send, void *recv, const size_t counts[],
                         enum swagg_type type, enum swagg_op op)
{
    return reduce_scatter(job, send, recv, counts, type, op, NULL);
}

int swagg_post_reduce_scatter(struct swagg_job *job, const void *send, void *recv, const size_t counts[],
                              enum swagg_type type, enum swagg_op op, const struct swagg_post *how,
                              struct swagg_request **request)
{
    return reduce_scatter(job, send, recv, counts, type, op, &(const struct posting){how, request});
}

static int reduce_scatter_block(struct swagg_job *job, const void *send, void *recv, size_t count,
                                enum swagg_type type, enum swagg_op op, const struct posting *posting)
{
    int rc = check(job, "reduce_scatter", posting);
    if (rc < 0)
        return rc;
    size_t *each = alike(job, count);
    rc = each ? reduce_scatter(job, send, recv, each, type, op, posting) : SWAGG_ERR_SYSTEM;
    free(each);
    return rc;
}

int swagg_reduce_scatter_block(struct swagg_job *job, const void *send, void *recv, size_t count,
                               enum swagg_type type, enum swagg_op op)
{
    return reduce_scatter_block(job, send, recv, count, type, op, NULL);
}

int swagg_post_reduce_scatter_block(struct swagg_job *job, const void *send, void *recv, size_t count,
                                    enum swagg_type type, enum swagg_op op, const struct swagg_post *how,
                                    struct swagg_request **request)
{
    return reduce_scatter_block(job, send, recv, count, type, op, &(const struct posting){how, request});
}

/* Where packets carry no calls of their own, and at servers, it is a sum of no elements, for which ranks
 * wait, too. Without a switch it goes by the level within the host. */
static int barrier(struct swagg_job *job, const struct posting *posting)
{
    struct swagg_request here = {0}, *request = &here;
    int rc = collective_check(job, posting);
    if (rc < 0)
        return rc;
    if (job->options.quorum != 0)
        return client_fail(SWAGG_ERR_ARGUMENT, "this job has no barrier: its calls end with a quorum of the "
                                               "ranks: open one without options.quorum");
    if (job->part_count > 0 && job->options.format != XFER_FORMAT_TYPED)
        return collective_of_nothing(job, SWAGG_F32, SWAGG_SUM, posting);
    if (job->part_count > 0 && job->worker->at_servers)
        return collective_of_nothing(job, SWAGG_U8, SWAGG_BOR, posting);
    if ((rc = collective_begin(job, posting, 0, &request)) < 0)
        return rc;
    request->call = copy_of(XFER_BARRIER, 0, 0);
    return collective_run(job, posting, request);
}

int swagg_barrier(struct swagg_job *job)
{
    return barrier(job, NULL);
}

int swagg_post_barrier(struct swagg_job *job, const struct swagg_post *how, struct swagg_request **request)
{
    return barrier(job, &(const struct posting){how, request});
}

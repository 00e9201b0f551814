#include "local/board.h"

#include <assert.h>
#include <string.h>

#include "random/splitmix.h"

static_assert(sizeof(struct local_word) + 2 * sizeof(struct local_order) <= 64,
              "a step and its call are one line");
static_assert(2 * sizeof(struct local_word) + sizeof(struct local_aside) <= 64,
              "who waits for a sum has what else is to be seen of its rank in the same line");

enum { PAGE = 4096, GRAIN = 1024 /* elements of a share */ };

size_t local_board_head(unsigned locals)
{
    return (sizeof(struct local_board) + locals * sizeof(struct local_seat) + PAGE - 1) / PAGE * PAGE;
}

size_t local_board_bytes(unsigned locals, size_t block_bytes)
{
    return local_board_head(locals) + 2 * (locals + (size_t)1) * block_bytes;
}

/* Where a local rank's block is, or, of the one past the last, its sums. */
static uint8_t *place_of(const struct local_member *m, unsigned local, uint32_t block)
{
    return (uint8_t *)m->board + local_board_head(m->locals) +
           (2 * (size_t)local + block % 2) * m->block_bytes;
}

static uint8_t *sums_of(const struct local_member *m, uint32_t block)
{
    return place_of(m, m->locals, block);
}

void local_member_init(struct local_member *m, const struct local_plan *plan, unsigned rank,
                       struct local_board *board, size_t block_bytes, const struct agg_kernels *kernels)
{
    unsigned local = 0;

    *m = (struct local_member){.plan = plan,
                               .board = board,
                               .block_bytes = block_bytes,
                               .kernels = kernels,
                               .host = plan->host[rank],
                               .me = plan->number[rank],
                               .locals = plan->locals[plan->host[rank]]};
    for (unsigned other = 0; other < plan->ranks; other++)
        if (plan->host[other] == m->host)
            m->rank_of[local++] = (uint16_t)other;
}

/* --- the arithmetic --- */

/* int32 travels in another order than that of most hosts, and so do kernels add it. Where signs do not
 * matter, those of uint32 do the same. */
static bool is_unsigned_too(unsigned op)
{
    return op == AGG_SUM || op == AGG_PROD || op == AGG_LAND || op == AGG_LOR || op == AGG_LXOR ||
           op == AGG_BAND || op == AGG_BOR || op == AGG_BXOR;
}

static const struct agg_operation *operation(const struct local_member *m)
{
    return &m->kernels->operations[m->code];
}

static agg_convert_fn *convert(const struct local_member *m)
{
    return m->swapped ? m->kernels->convert[m->call.type] : agg_convert_same;
}

/* Averages are sums that are divided at the end. Only those that are rounded as they are made (kernels.h:
 * wide) are averages on each host, so that no sum gets too large; for which all hosts must have as many
 * ranks. */
static void choose_kernel(struct local_member *m)
{
    const unsigned type = m->call.type, op = m->call.op;
    const bool wide = agg_is_wide(&m->kernels->operations[agg_code(type, op)]);

    m->code = agg_code(type, op);
    m->swapped = m->kernels->convert[type] != agg_convert_same;
    m->divides = op == AGG_AVG && !(wide && m->plan->even);
    if (m->divides)
        m->code = agg_code(type, AGG_SUM);
    if (type == AGG_I32 && is_unsigned_too(agg_code_op(m->code))) {
        m->code = agg_code(AGG_U32, agg_code_op(m->code));
        m->swapped = false;
    }
}

/* In the host's order. */
static void divide(const struct local_member *m, uint8_t *sums, size_t bytes)
{
    enum { WIDE = 1024 };
    const struct agg_operation *average = &m->kernels->operations[agg_code(m->call.type, AGG_AVG)];
    agg_convert_fn *swap = m->kernels->convert[m->call.type];
    float wide[WIDE];

    if (!agg_is_wide(average)) {
        swap(sums, sums, bytes);
        average->finish(sums, sums, m->plan->ranks, bytes);
        swap(sums, sums, bytes);
        return;
    }
    for (size_t at = 0, n; at < bytes; at += n) {
        n = bytes - at < WIDE * m->element ? bytes - at : WIDE * m->element;
        average->start(wide, sums + at, n);
        average->finish(sums + at, wide, m->plan->ranks, n);
    }
}

/* Of all ranks' blocks these bytes. own: where this rank's are, unless they are in its area. */
static void add(struct local_member *m, uint8_t *out, uint32_t block, size_t at, size_t bytes,
                const uint8_t *own)
{
    for (unsigned local = 0; local < m->locals; local++)
        m->areas[local] = place_of(m, local, block) + at;
    if (own != NULL)
        m->areas[m->me] = own;
    operation(m)->reduce(out, m->areas, m->locals, bytes);
    convert(m)(out, out, bytes);
    if (m->divides && m->plan->hosts == 1)
        divide(m, out, bytes);
}

/* --- where a call is --- */

enum phase { COPY_FIRST, GATHER, COPY_AHEAD, ADD, RAIL, RAILING, TELL, COLLECT };

static uint32_t number(const struct local_member *m, uint64_t index)
{
    return m->block + (uint32_t)index;
}

static size_t bytes_of(const struct local_member *m, uint64_t index)
{
    const uint64_t left = m->bytes - index * m->block_bytes;
    return left < m->block_bytes ? (size_t)left : m->block_bytes;
}

/* What this rank adds of a block, in bytes. */
static struct local_share my_share(const struct local_member *m, uint64_t index)
{
    const struct local_share s = local_share_of(bytes_of(m, index) / m->element, m->adders, m->me, GRAIN);
    return (struct local_share){s.first * m->element, s.count * m->element};
}

static bool is_small(const struct local_member *m)
{
    return m->bytes <= LOCAL_SMALL_BYTES && m->bytes <= m->block_bytes;
}

/* What is small goes one way, by the first of the rails; else the adders are as many as can be used. */
static uint16_t choose_adders(const struct local_member *m)
{
    if (m->plan->hosts == 1)
        return m->locals;
    return is_small(m) ? 1 : m->plan->rails;
}

static bool is_adder(const struct local_member *m)
{
    return m->me < m->adders;
}

/* What an adder adds of its own block nobody else reads: it stays in the tensor. */
static bool keeps_share(const struct local_member *m)
{
    return is_adder(m) && !m->small && !m->swapped;
}

void local_begin(struct local_member *m, const struct xfer_call *call, const struct xfer_segment segments[],
                 size_t n)
{
    m->call = *call;
    m->calls++;
    m->segments = segments;
    m->segment_count = n;
    m->element = agg_element_size(call->type, call->op);
    m->bytes = call->count * m->element;
    m->blocks = m->bytes == 0 ? 1 : (m->bytes + m->block_bytes - 1) / m->block_bytes;
    m->index = m->added = 0;
    m->takes = xfer_gives(call->collective, call->root, m->rank_of[m->me]);
    m->small = m->plan->hosts == 1 && is_small(m);
    m->adders = choose_adders(m);
    m->phase = COPY_FIRST;
    m->next = 0;
    choose_kernel(m);
}

/* --- steps --- */

static void store(struct local_word *word, uint32_t value, struct local_step *step)
{
    atomic_store(&word->value, value);
    step->wake = atomic_load(&word->sleepers) > 0 ? word : NULL;
}

static struct local_order order_of(const struct xfer_call *call)
{
    return (struct local_order){.count = call->count,
                                .seq = call->seq,
                                .root = call->root,
                                .collective = call->collective,
                                .type = call->type,
                                .op = call->op};
}

static bool same_call(const struct xfer_call *a, const struct xfer_call *b)
{
    return a->count == b->count && a->seq == b->seq && a->root == b->root && a->collective == b->collective &&
           a->type == b->type && a->op == b->op;
}

static struct xfer_call theirs(const struct local_member *m, unsigned local)
{
    const struct local_order *o = &m->board->seats[local].order[m->block % 2];
    return (struct xfer_call){.seq = o->seq,
                              .collective = o->collective,
                              .type = o->type,
                              .op = o->op,
                              .root = o->root,
                              .count = o->count};
}

static bool is_beyond(uint32_t value, uint32_t number)
{
    return (int32_t)(value - number) > 0;
}

void local_pass(struct local_member *m, const struct xfer_call *call)
{
    struct local_aside *a = &m->board->seats[m->me].aside;
    const uint32_t before = call->seq - m->asides++;

    atomic_store_explicit(&a->place, 0, memory_order_relaxed);
    atomic_store_explicit(&a->count, call->count, memory_order_release);
    atomic_store_explicit(&a->root, call->root, memory_order_release);
    atomic_store_explicit(&a->collective, call->collective, memory_order_release);
    atomic_store_explicit(&a->type, call->type, memory_order_release);
    atomic_store_explicit(&a->op, call->op, memory_order_release);
    atomic_store(&a->place, (uint64_t)m->asides << 32 | before);
}

/* False: it has changed meanwhile, and is to be looked at again. */
static bool read_aside(struct local_aside *a, uint64_t place, struct xfer_call *call)
{
    *call = (struct xfer_call){
        .seq = (uint32_t)place + (uint32_t)(place >> 32) - 1,
        .count = atomic_load_explicit(&a->count, memory_order_acquire),
        .root = atomic_load_explicit(&a->root, memory_order_acquire),
        .collective = atomic_load_explicit(&a->collective, memory_order_acquire),
        .type = atomic_load_explicit(&a->type, memory_order_acquire),
        .op = atomic_load_explicit(&a->op, memory_order_acquire),
    };
    return atomic_load_explicit(&a->place, memory_order_relaxed) == place;
}

bool local_strays(const struct local_member *m, struct local_step *step)
{
    const uint32_t call = m->calls - 1, asides = m->call.seq - call; /* that were made here before it */

    for (unsigned local = 0; local < m->locals; local++) {
        struct local_aside *a = &m->board->seats[local].aside;
        const uint64_t place = atomic_load_explicit(&a->place, memory_order_acquire);
        if (place == 0 || is_beyond((uint32_t)place, call) || !is_beyond((uint32_t)(place >> 32), asides))
            continue;
        step->rank = m->rank_of[local];
        if (read_aside(a, place, &step->call))
            return true;
    }
    return false;
}

/* These bytes of a block, in the tensor. */
static struct xfer_pieces part(const struct local_member *m, uint64_t index, size_t at, size_t bytes,
                               bool out)
{
    return xfer_segments_find(m->segments, m->segment_count, index * m->block_bytes + at, bytes, out);
}

static struct xfer_pieces pieces(const struct local_member *m, uint64_t index, bool out)
{
    return part(m, index, 0, bytes_of(m, index), out);
}

static void copy_part(const struct local_member *m, uint64_t index, size_t at, size_t bytes)
{
    const struct xfer_pieces from = part(m, index, at, bytes, false);

    if (bytes > 0)
        xfer_pieces_gather(&from, place_of(m, m->me, number(m, index)) + at, convert(m));
}

static void copy_in(struct local_member *m, uint64_t index, struct local_step *step)
{
    struct local_seat *seat = &m->board->seats[m->me];
    const struct local_share kept = keeps_share(m) ? my_share(m, index) : (struct local_share){0};
    const size_t behind = kept.first + kept.count;

    copy_part(m, index, 0, kept.first);
    copy_part(m, index, behind, bytes_of(m, index) - behind);
    if (index == 0)
        seat->order[m->block % 2] = order_of(&m->call);
    store(&seat->in, number(m, index) + 1, step);
}

/* The word that tells of a local rank's steps: of its shares, or of its blocks. */
static struct local_word *steps_of(const struct local_member *m, unsigned local, bool sums)
{
    struct local_seat *seat = &m->board->seats[local];

    return sums ? &seat->summed : &seat->in;
}

static bool has_come(const struct local_member *m, unsigned local, uint64_t index, bool sums)
{
    return is_beyond(atomic_load_explicit(&steps_of(m, local, sums)->value, memory_order_acquire),
                     number(m, index));
}

/* A rank is awaited, unless it has come meanwhile: with this block, or its share of it. */
static enum local_next await(struct local_member *m, uint64_t index, bool sums, struct local_step *step)
{
    const bool left =
        atomic_load_explicit(&m->board->seats[m->next].state.value, memory_order_acquire) == LOCAL_LEFT;

    step->word = steps_of(m, m->next, sums);
    step->value = atomic_load_explicit(&step->word->value, memory_order_acquire);
    step->sums = sums;
    step->rank = m->rank_of[m->next];
    if (is_beyond(step->value, number(m, index)))
        return LOCAL_ON;
    if (!left)
        return LOCAL_WAIT;
    /* it may have left because of a fault, which it saw */
    return atomic_load_explicit(&m->board->fault.value, memory_order_acquire) != 0 ? LOCAL_FAULT : LOCAL_GONE;
}

static enum local_next gather(struct local_member *m, struct local_step *step)
{
    for (; m->next < m->locals; m->next++) {
        if (!has_come(m, m->next, m->added, false))
            return await(m, m->added, false, step);
        const struct xfer_call other = m->added == 0 ? theirs(m, m->next) : m->call;
        if (!same_call(&m->call, &other)) {
            step->rank = m->rank_of[m->next];
            step->call = other;
            return LOCAL_MISMATCH;
        }
    }
    m->next = 0;
    return LOCAL_DONE;
}

static void add_small(struct local_member *m)
{
    struct xfer_pieces rest = pieces(m, m->index, true);
    size_t at = 0;

    if (!m->takes || rest.bytes == 0)
        return;
    for (; !xfer_pieces_whole(&rest); at += xfer_pieces_pass(&rest))
        add(m, xfer_pieces_out(&rest), m->block, at, xfer_pieces_first(&rest), NULL);
    add(m, xfer_pieces_out(&rest), m->block, at, rest.bytes, NULL);
}

/* Who adds nothing for the others keeps its counter in step, for numbers wrap. */
static enum local_next end(struct local_member *m)
{
    m->block += (uint32_t)m->blocks;
    if (m->small || !is_adder(m))
        atomic_store_explicit(&m->board->seats[m->me].summed.value, m->block, memory_order_relaxed);
    return LOCAL_DONE;
}

/* Where the sums of its share of a block are. */
static uint8_t *my_sums(const struct local_member *m, uint64_t index)
{
    return sums_of(m, number(m, index)) + my_share(m, index).first;
}

/* Whether the rail has the share of a block; that of an empty call has it, too, so that hosts wait for one
 * another. */
static bool goes_by_rail(const struct local_member *m, uint64_t index)
{
    return m->plan->hosts > 1 && (my_share(m, index).count > 0 || m->bytes == 0);
}

static enum local_next add_share(struct local_member *m)
{
    const struct local_share share = my_share(m, m->added);
    struct xfer_pieces rest = part(m, m->added, share.first, share.count, false);
    uint8_t *const sums = my_sums(m, m->added);

    for (size_t at = 0, n; at < share.count; at += n) {
        n = xfer_pieces_first(&rest);
        add(m, sums + at, number(m, m->added), share.first + at, n,
            keeps_share(m) ? xfer_pieces_at(&rest) : NULL);
        if (!xfer_pieces_whole(&rest))
            xfer_pieces_pass(&rest);
    }
    m->phase = RAIL;
    return LOCAL_ON;
}

/* Of the whole call, and of which part of it this is. */
static uint16_t label_of(const struct local_member *m)
{
    uint64_t hash = splitmix_hash(m->call.count);

    hash = splitmix_hash(hash ^ ((uint64_t)m->call.root << 32 | m->call.seq));
    return (uint16_t)splitmix_hash(hash ^ ((uint64_t)m->me << 48 | m->added));
}

static enum local_next ask_rail(struct local_member *m, struct local_step *step)
{
    const uint64_t index = m->added;
    const bool goes = goes_by_rail(m, index);

    if (goes) {
        step->elements = my_sums(m, index);
        step->call =
            (struct xfer_call){.collective = m->call.collective,
                               .type = m->call.type,
                               .op = m->divides ? AGG_SUM : m->call.op,
                               .root = m->call.collective == XFER_REDUCE ? m->plan->host[m->call.root] : 0,
                               .count = my_share(m, index).count / m->element,
                               .label = label_of(m)};
    }
    m->added++;
    m->phase = RAILING;
    return goes ? LOCAL_RAIL : LOCAL_ON;
}

/* While the rail sums the block at hand, the next one is added up and follows it, as soon as all ranks have
 * copied it in. */
static enum local_next go_ahead(struct local_member *m, struct local_step *step)
{
    enum local_next next;

    step->word = NULL;
    if (!goes_by_rail(m, m->index)) {
        m->next = 0;
        m->phase = TELL;
        return LOCAL_ON;
    }
    if (m->added > m->index + 1 || m->added == m->blocks)
        return LOCAL_RAILING;
    next = gather(m, step);
    if (next == LOCAL_DONE)
        m->phase = ADD;
    return next == LOCAL_DONE ? LOCAL_ON : next == LOCAL_WAIT ? LOCAL_RAILING : next;
}

void local_railed(struct local_member *m)
{
    const size_t bytes = my_share(m, m->index).count;

    if (m->divides && bytes > 0)
        divide(m, my_sums(m, m->index), bytes);
    m->next = 0;
    m->phase = TELL;
}

static enum local_next collect(struct local_member *m, struct local_step *step)
{
    for (; m->next < m->adders; m->next++)
        if (!has_come(m, m->next, m->index, true))
            return await(m, m->index, true, step);
    const struct xfer_pieces block = pieces(m, m->index, true);
    if (m->takes && block.bytes > 0)
        xfer_pieces_scatter(&block, sums_of(m, number(m, m->index)), agg_convert_same);
    m->next = 0;
    m->index++;
    m->phase = COPY_AHEAD;
    return m->index < m->blocks ? LOCAL_ON : end(m);
}

enum local_next local_go(struct local_member *m, struct local_step *step)
{
    enum local_next next;

    step->wake = NULL;
    if (atomic_load_explicit(&m->board->fault.value, memory_order_acquire) != 0)
        return LOCAL_FAULT;
    switch ((enum phase)m->phase) {
    case COPY_FIRST:
        copy_in(m, 0, step);
        m->phase = m->blocks == 1 && !is_adder(m) ? COLLECT : GATHER;
        return LOCAL_ON;
    case GATHER:
        if ((next = gather(m, step)) != LOCAL_DONE)
            return next;
        if (m->small) {
            add_small(m);
            return end(m);
        }
        m->phase = m->added == 0 ? COPY_AHEAD : ADD;
        return LOCAL_ON;
    case COPY_AHEAD:
        if (m->index + 1 < m->blocks)
            copy_in(m, m->index + 1, step);
        if (!is_adder(m))
            m->phase = COLLECT;
        else if (m->added > m->index)
            m->phase = RAILING;
        else
            m->phase = m->index == 0 ? ADD : GATHER;
        return LOCAL_ON;
    case ADD:
        return add_share(m);
    case RAIL:
        return ask_rail(m, step);
    case RAILING:
        return go_ahead(m, step);
    case TELL:
        store(&m->board->seats[m->me].summed, number(m, m->index) + 1, step);
        m->phase = COLLECT;
        return LOCAL_ON;
    case COLLECT:
        return collect(m, step);
    }
    return LOCAL_FAULT;
}

uint64_t local_reads(const struct local_member *m)
{
    const uint64_t index = m->phase == COPY_FIRST ? 0 : m->index + 1;
    const bool copies = m->phase == COPY_FIRST || (m->phase == COPY_AHEAD && index < m->blocks);

    return copies ? index * m->block_bytes + bytes_of(m, index) : 0;
}

uint64_t local_given(const struct local_member *m)
{
    return m->index * m->block_bytes;
}

struct ctl_ranks local_awaited(const struct local_member *m)
{
    const bool sums = m->phase == COLLECT;
    struct ctl_ranks set = {0};

    for (unsigned local = 0; local < (sums ? m->adders : m->locals); local++)
        if (!has_come(m, local, sums ? m->index : m->added, sums))
            ctl_ranks_add(&set, m->rank_of[local]);
    return set;
}

/* --- seats and faults --- */

struct local_word *local_sit(struct local_member *m, enum local_state state)
{
    struct local_word *word = &m->board->seats[m->me].state;

    atomic_store(&word->value, (uint32_t)state);
    return word;
}

void local_raise(struct local_member *m, const struct local_fault *fault)
{
    uint32_t none = 0;

    if (atomic_load_explicit(&m->board->fault.value, memory_order_acquire) != 0)
        return; /* what is written may be read */
    m->board->seats[m->me].fault = *fault;
    atomic_compare_exchange_strong(&m->board->fault.value, &none, m->me + 1u);
}

bool local_faulted(const struct local_member *m, struct local_fault *fault)
{
    const uint32_t who = atomic_load_explicit(&m->board->fault.value, memory_order_acquire);

    if (who == 0)
        return false;
    *fault = m->board->seats[who <= m->locals ? who - 1 : m->me].fault;
    fault->text[CTL_TEXT_MAX - 1] = '\0';
    for (char *c = fault->text; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return true;
}

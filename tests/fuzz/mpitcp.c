/* Sums in the path of MPI over TCP, with any bytes from anybody. An input is the configuration, then for each
 * step a byte (whose, what) and its arguments: bytes of a rank's, which go where they should, or of nobody's.
 * What a connection passes that was never in a sum is what came. */
#include "fuzz.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "mpi_ranks.h"
#include "mpitcp/flow.h"

enum { SENDERS = 2, STEPS_MAX = 400, LENGTH = 64, CALLS = 4 };

struct world {
    struct input *in;
    uint64_t now;
    struct mtp_group *group;
    struct mtp_flow *flow[SENDERS];
    struct mpi_sender sender[SENDERS];
    struct mpi_root root;
    struct mpi_bytes came[SENDERS][2]; /* not taken yet */
    struct mpi_bytes in_full[SENDERS][2], out_full[SENDERS][2];
    bool was_attached[SENDERS], is_strange;
};

static void open_world(struct world *w, uint8_t how)
{
    const struct mtp_config cfg = {.senders = SENDERS,
                                   .tag = OB1_TAG_REDUCE,
                                   .type = AGG_U32,
                                   .op = AGG_SUM,
                                   .others = how & 1 ? MTP_KEPT : MTP_NEUTRAL,
                                   .wait_ns = 100,
                                   .kernels = kernels_or_exit()};

    w->group = memory_of(sizeof(*w->group));
    REQUIRE(mtp_group_init(w->group, &cfg));
    w->root = (struct mpi_root){.senders = SENDERS,
                                .calls = CALLS,
                                .length = LENGTH,
                                .own = memory_of(LENGTH),
                                .sum = memory_of(LENGTH),
                                .buffer = memory_of(LENGTH),
                                .acknowledges = (how & 2) != 0,
                                .fold = cfg.kernels->operations[agg_code(AGG_U32, AGG_SUM)].fold};
    for (unsigned s = 0; s < SENDERS; s++) {
        uint8_t *tensor = memory_of(LENGTH);

        memset(tensor, 3 + (int)s, LENGTH);
        w->sender[s] = (struct mpi_sender){.rank = (int32_t)s + 1,
                                           .tensor = tensor,
                                           .length = how & 4 && s == 0 ? LENGTH / 2 : LENGTH,
                                           .calls = CALLS,
                                           .chatters = (how & 8) != 0};
        w->flow[s] = memory_of(sizeof(*w->flow[s]));
        mtp_flow_init(w->flow[s], w->group, s);
    }
}

static void close_world(struct world *w)
{
    for (unsigned s = 0; s < SENDERS; s++) {
        free((void *)w->sender[s].tensor);
        free(w->sender[s].in.at);
        free(w->sender[s].out.at);
        free(w->root.of[s].in.at);
        free(w->root.of[s].out.at);
        for (unsigned side = 0; side < 2; side++) {
            free(w->came[s][side].at);
            free(w->in_full[s][side].at);
            free(w->out_full[s][side].at);
        }
        free(w->flow[s]);
    }
    free((void *)w->root.own);
    free(w->root.sum);
    free(w->root.buffer);
    free(w->group);
}

/* Of a sum between ranks whose bytes nobody has changed. */
static void check_sum(const struct world *w)
{
    for (unsigned i = 0; i < LENGTH && !w->is_strange; i++)
        REQUIRE(w->root.sum[i] == 3 + 4);
}

static void pass(struct world *w, unsigned s, enum mtp_side side)
{
    struct mpi_bytes *came = &w->came[s][side];
    uint8_t *exact = malloc(came->n + 1); /* so that reads beyond are noticed */
    size_t n;

    memcpy(exact, came->at == NULL ? exact : came->at, came->n);
    n = mtp_take(w->flow[s], side, exact, came->n, w->now);
    REQUIRE(n <= came->n);
    mpi_append(&w->in_full[s][side], exact, n);
    mpi_drop(came, n);
    free(exact);
    mtp_give(w->flow[s]);
    w->was_attached[s] |= w->flow[s]->attached;

    const uint8_t *bytes = mtp_pending(w->flow[s], side, &n);

    mpi_append(&w->out_full[s][side], bytes, n);
    mpi_append(side == MTP_UP ? &w->root.of[s].in : &w->sender[s].in, bytes, n);
    mtp_sent(w->flow[s], side, n);
    for (unsigned i = 0; i < 2 && !w->was_attached[s]; i++) {
        const struct mpi_bytes *in = &w->in_full[s][i], *out = &w->out_full[s][i];

        REQUIRE(out->n <= in->n && (out->n == 0 || memcmp(out->at, in->at, out->n) == 0));
    }
}

static void rank_s_turn(struct world *w, unsigned s, enum mtp_side side)
{
    struct mpi_bytes *out = side == MTP_UP ? &w->sender[s].out : &w->root.of[s].out;
    const unsigned done = w->root.done;
    const bool good = side == MTP_UP ? mpi_sender_turn(&w->sender[s]) : mpi_root_turn(&w->root);
    size_t n = take8(w->in);

    REQUIRE(good || w->is_strange);
    if (w->root.done > done)
        check_sum(w);
    n = n < out->n ? n : out->n;
    mpi_append(&w->came[s][side], out->at, n);
    mpi_drop(out, n);
    pass(w, s, side);
}

static void step(struct world *w, uint8_t what)
{
    const unsigned s = what & 1;
    const enum mtp_side side = what & 2 ? MTP_DOWN : MTP_UP;
    uint8_t *bytes;
    size_t n;

    switch (what >> 2 & 7) {
    case 7:
        bytes = take_bytes(w->in, take8(w->in) & 127, &n);
        mpi_append(&w->came[s][side], bytes, n);
        free(bytes);
        w->is_strange |= n > 0;
        pass(w, s, side);
        break;
    case 6:
        w->now += take8(w->in);
        mtp_tick(w->group, w->now);
        pass(w, s, side);
        break;
    case 5:
        if (take8(w->in) == 77) {
            mtp_end(w->flow[s]);
            w->is_strange = true;
        }
        break;
    default:
        rank_s_turn(w, s, side);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = {.in = &in};
    const uint8_t how = take8(&in);

    open_world(&w, how);
    w.is_strange = (how & 6) != 0;
    for (unsigned i = 0; i < STEPS_MAX && in.left > 0; i++)
        step(&w, take8(&in));
    close_world(&w);
    return 0;
}

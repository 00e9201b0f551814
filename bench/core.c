/* What the switch's core costs a packet: sml_pool_locate and sml_pool_apply, beside two bounds
 * measured in the same run: memcpy of the packet's elements, and the barest loop that loads, adds and stores
 * them.
 *
 *     bench-core [--json FILE | --instructions | --checksum-instructions | --operations]
 *
 * Warm: two slots and a buffer a worker, all in the L1 cache, so that instructions are what is looked at.
 * Large: 512 slots and 4096 packet buffers, as a switch has them, so that memory is. Packets go through in
 * bursts, as in the daemon: locate and prefetch all, then apply all. If the pool keeps the buffer that starts
 * a sum, the buffer that it gives back takes its place, or a spare one. Each figure is the median of REPEATS
 * measurements; the three of a row take turns. Kernels without a packet around them: bound.h.
 *
 * With --instructions, under valgrind's callgrind: does each row's work once, warm, and has callgrind dump
 * what it has counted under the row's name; core.sh says in which function it counts. The same of the tables
 * of checksums (checksums.h) with --checksum-instructions.
 *
 * With --operations: the arithmetic alone (operations.h), as JSON. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/callgrind.h>

#include "bound.h"
#include "checksums.h"
#include "kernels_chosen.h"
#include "operations.h"
#include "switchml/pool.h"
#include "timing.h"

enum {
    WORKERS = 8,
    BURST = 32,
    PACKETS = 16384,        /* a measurement */
    PACKETS_COUNTED = 1024, /* of instructions */
    MOST_SLOTS = 512,
    MOST_BUFFERS = 4096,
    BUFFER_BYTES = 9216,
    BODY_AT = 64, /* in a buffer; the header is before it */
};

static const char *const type_names[AGG_TYPES] = {
    [AGG_I32] = "i32", [AGG_I64] = "i64", [AGG_F32] = "f32", [AGG_F64] = "f64"};
/* A pool's mode, and in which order the workers' packets come. */
static const struct arrangement {
    const char *name;
    enum xfer_mode mode;
    bool reversed;
    bool keeps;  /* the pool is offered every buffer */
    bool summed; /* packets and results have the job's own checksum */
    bool brief;  /* measured with elements of 4 bytes only: their type does not matter */
} arrangements[] = {
    {.name = "on arrival", .mode = XFER_ON_ARRIVAL},
    {.name = "ordered", .mode = XFER_ORDERED},
    /* the worst for an ordered pool: it holds all */
    {.name = "reversed", .mode = XFER_ORDERED, .reversed = true},
    {.name = "kept", .mode = XFER_ON_ARRIVAL, .keeps = true, .brief = true},
    {.name = "kept + ordered", .mode = XFER_ORDERED, .keeps = true, .brief = true},
    {.name = "CRC32C", .mode = XFER_ON_ARRIVAL, .summed = true, .brief = true},
    {.name = "kept + CRC32C", .mode = XFER_ON_ARRIVAL, .keeps = true, .summed = true, .brief = true},
};

enum { ARRANGEMENTS = sizeof arrangements / sizeof *arrangements };

/* What is measured, and the result. */
struct cell {
    unsigned k; /* elements of 4 bytes */
    enum agg_type type;
    const struct arrangement *how;
    const struct agg_kernels *kernels;
    bool large;
    unsigned packets;                    /* a measurement */
    double apply_ns, memcpy_ns, loop_ns; /* a packet */
};

struct stage {
    struct sml_pool *pool;
    unsigned slots, buffers; /* powers of two */
    uint32_t next_tag;
    uint8_t *packets; /* buffers of BUFFER_BYTES, the elements received; behind them those to spare */
    uint8_t *sums;    /* slots of BUFFER_BYTES, for the peers */
    /* For the pool, which exchanges buffers by keeping them and giving them back. */
    uint8_t *frame[MOST_BUFFERS], *spare[2 * MOST_SLOTS];
    unsigned spares;
    uint8_t head[WORKERS][SML_HEADER_BYTES], trailer[WORKERS][XFER_TRAILER_BYTES]; /* of a rank's packets */
    size_t body_bytes;
};

static enum xfer_checksum checksum_of(const struct cell *c)
{
    return c->how->summed ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE;
}

static uint8_t *buffer(const struct stage *s, unsigned i)
{
    return s->packets + (size_t)(i & (s->buffers - 1)) * BUFFER_BYTES;
}

static uint8_t **frame_at(struct stage *s, unsigned i)
{
    return &s->frame[i & (s->buffers - 1)];
}

/* Who sends packet i; WORKERS is a power of two. */
static uint16_t rank_of(const struct arrangement *how, unsigned i)
{
    return (uint16_t)(i % WORKERS ^ (how->reversed ? WORKERS - 1 : 0));
}

static uint8_t *peer_sum(const struct stage *s, unsigned i)
{
    return s->sums + (size_t)(i & (s->slots - 1)) * BUFFER_BYTES;
}

/* Makes this buffer a packet of this rank. Its elements are zeros, whose values do not matter. */
static void receive(const struct stage *s, uint8_t *buffer, uint16_t rank)
{
    uint8_t *body = buffer + BODY_AT;

    memcpy(body - SML_HEADER_BYTES, s->head[rank], SML_HEADER_BYTES);
    memcpy(body + s->body_bytes, s->trailer[rank], XFER_TRAILER_BYTES);
}

/* The pool has kept the buffer of this rank's frame: puts another in its place. Its header and trailer are
 * written only if they are needed for a checksum; otherwise its memory is not touched. */
static void replace(struct stage *s, const struct arrangement *how, uint8_t **frame, uint8_t *released,
                    uint16_t rank)
{
    *frame = released != NULL ? released : s->spare[--s->spares];
    if (how->summed)
        receive(s, *frame, rank);
}

/* Packets that follow each other: each chunk comes from all workers before the next does. */
static void apply_burst(struct stage *s, struct sml_packet p[BURST], unsigned first,
                        const struct arrangement *how)
{
    struct sml_slot *slot[BURST];
    struct agg_verdict v = {0};

    for (unsigned i = 0; i < BURST; i++) {
        p[i].tag = s->next_tag + i / WORKERS;
        p[i].slot = sml_tag_slot(p[i].tag, s->slots);
        p[i].ver = sml_tag_ver(p[i].tag, s->slots);
        slot[i] = sml_pool_locate(s->pool, &p[i], 0);
    }
    for (unsigned i = 0; i < BURST; i++) {
        uint8_t **frame = frame_at(s, first + i);
        uint16_t rank = rank_of(how, first + i);
        p[i].body = *frame + BODY_AT; /* set only now, since the same burst may have exchanged the buffer */
        sml_pool_apply(s->pool, slot[i], rank, &p[i], how->keeps ? *frame : NULL, 0, &v);
        if (v.kept)
            replace(s, how, frame, v.released, rank);
    }
    if (v.reason != SML_SEND_ALL || (v.buffer != NULL) != how->keeps) {
        fprintf(stderr, "bench-core: tag %u, %s, ended as %s, its sum in %s\n", s->next_tag, how->name,
                sml_reasons[v.reason].name, v.buffer != NULL ? "a kept buffer" : "the pool's memory");
        exit(1);
    }
    s->next_tag += BURST / WORKERS;
}

static struct sml_packet packet_of(const struct cell *c)
{
    return (struct sml_packet){
        .kind = SML_DATA,
        .size_code = SML_SIZE_AGREED,
        .checksum = checksum_of(c),
        .e0 = agg_code(c->type, AGG_SUM),
        .e1 = SML_FLAG_WANT,
        .body_bytes = 4 * c->k,
    };
}

NOT_INLINED static double time_apply(struct stage *s, const struct cell *c)
{
    struct sml_packet p[BURST];

    for (unsigned i = 0; i < BURST; i++)
        p[i] = packet_of(c);
    double start = now_ns();
    for (unsigned i = 0; i < c->packets; i += BURST)
        apply_burst(s, p, i, c->how);
    return (now_ns() - start) / c->packets;
}

NOT_INLINED static double time_memcpy(struct stage *s, const struct cell *c)
{
    double start = now_ns();

    for (unsigned i = 0; i < c->packets; i++) {
        uint8_t *to = peer_sum(s, i / WORKERS);
        touch(to);
        memcpy(to, buffer(s, i), 4 * c->k);
    }
    return (now_ns() - start) / c->packets;
}

NOT_INLINED static double time_loop(struct stage *s, const struct cell *c)
{
    double start = now_ns();

    for (unsigned i = 0; i < c->packets; i++) {
        uint8_t *to = peer_sum(s, i / WORKERS);
        touch(to);
        bare_loop(c->type, to, buffer(s, i), 4 * c->k);
    }
    return (now_ns() - start) / c->packets;
}

static void *take(size_t bytes)
{
    void *mem = aligned_alloc(64, bytes);

    if (mem == NULL) {
        fprintf(stderr, "bench-core: out of memory\n");
        exit(1);
    }
    memset(mem, 0, bytes); /* maps its pages; sums of zeros stay zero, never infinite or denormal */
    return mem;
}

/* Writes a packet into each buffer. Its header need not name the chunk, since the pool gets parsed packets.
 */
static void write_packets(struct stage *s, const struct cell *c)
{
    const struct sml_packet p = packet_of(c);

    s->body_bytes = p.body_bytes;
    for (uint16_t rank = 0; rank < WORKERS; rank++) {
        sml_build_header(s->head[rank], &p);
        sml_build_trailer(s->trailer[rank], rank, s->head[rank], SML_HEADER_BYTES, s->packets, p.body_bytes);
    }
    for (unsigned i = 0; i < s->buffers; i++) {
        s->frame[i] = buffer(s, i);
        receive(s, s->frame[i], rank_of(c->how, i));
    }
    for (s->spares = 0; s->spares < 2 * s->slots; s->spares++)
        s->spare[s->spares] = s->packets + (size_t)(s->buffers + s->spares) * BUFFER_BYTES;
}

static void open_stage(struct stage *s, const struct cell *c)
{
    const struct sml_pool_config cfg = {
        .workers = WORKERS,
        .slots = c->large ? MOST_SLOTS : 2,
        .chunk_bytes = (uint16_t)(4 * c->k),
        .format = XFER_FORMAT_TYPED,
        .mode = c->how->mode,
        .checksum = checksum_of(c),
        .kernels = c->kernels,
    };

    *s = (struct stage){.slots = cfg.slots, .buffers = c->large ? MOST_BUFFERS : WORKERS};
    s->packets = take((size_t)(s->buffers + 2 * s->slots) * BUFFER_BYTES);
    s->sums = take((size_t)s->slots * BUFFER_BYTES);
    s->pool = sml_pool_init(take(sml_pool_footprint(&cfg)), &cfg);
    write_packets(s, c);
}

static void close_stage(struct stage *s)
{
    free(s->pool);
    free(s->sums);
    free(s->packets);
}

static void measure(struct cell *c)
{
    double apply[REPEATS], copy[REPEATS], loop[REPEATS];
    struct stage s;

    open_stage(&s, c);
    for (unsigned i = 0; i < REPEATS; i++) {
        apply[i] = time_apply(&s, c);
        copy[i] = time_memcpy(&s, c);
        loop[i] = time_loop(&s, c);
    }
    close_stage(&s);
    c->apply_ns = median(apply, REPEATS);
    c->memcpy_ns = median(copy, REPEATS);
    c->loop_ns = median(loop, REPEATS);
}

static void print_head(const char *title)
{
    printf("\n%s\n%-4s %-14s %-8s %6s %6s | %9s %9s %9s | %8s %8s\n", title, "type", "mode", "kernels", "k",
           "bytes", "apply ns", "memcpy ns", "loop ns", "/ memcpy", "/ loop");
}

static void measure_and_print(struct cell *c)
{
    c->packets = PACKETS;
    measure(c);
    printf("%-4s %-14s %-8s %6u %6u | %9.1f %9.1f %9.1f | %8.2f %8.2f\n", type_names[c->type], c->how->name,
           c->kernels->name, c->k, 4 * c->k, c->apply_ns, c->memcpy_ns, c->loop_ns,
           c->apply_ns / c->memcpy_ns, c->apply_ns / c->loop_ns);
}

static void count_and_dump(struct cell *c)
{
    struct stage s;
    char row[128];

    c->packets = PACKETS_COUNTED;
    snprintf(row, sizeof row, "%s,%s,%s,%u,%u", type_names[c->type], c->how->name, c->kernels->name, c->k,
             c->packets);
    open_stage(&s, c);
    time_apply(&s, c);
    time_memcpy(&s, c);
    time_loop(&s, c);
    close_stage(&s);
    CALLGRIND_DUMP_STATS_AT(row);
}

/* Each type and arrangement with each number of elements. Returns the row of 256 of int32, on arrival. */
static struct cell each_row(bool large, void (*do_row)(struct cell *))
{
    static const unsigned ks[] = {32, 64, 256, 365, 2240};
    struct cell kib = {0};

    for (unsigned how = 0; how < ARRANGEMENTS; how++) {
        for (enum agg_type type = AGG_I32; type <= AGG_F64; type++) {
            if (arrangements[how].brief && agg_element_size(type, AGG_SUM) != 4)
                continue;
            for (unsigned i = 0; i < sizeof ks / sizeof *ks; i++) {
                struct cell c = {
                    .type = type, .how = &arrangements[how], .kernels = kernels_or_exit(), .large = large};
                c.k = ks[i] & ~(unsigned)(agg_element_size(type, AGG_SUM) / 4 - 1); /* whole elements */
                do_row(&c);
                if (type == AGG_I32 && how == 0 && c.k == 256)
                    kib = c;
            }
        }
    }
    return kib;
}

static struct cell table(const char *title, bool large)
{
    print_head(title);
    return each_row(large, measure_and_print);
}

static void table_of_kernels(void)
{
    static const char *const names[] = {"scalar", "avx2", "avx512"};
    static const enum agg_type types[] = {AGG_I32, AGG_F32};

    print_head("Kernels, warm");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        for (unsigned j = 0; j < sizeof types / sizeof *types; j++) {
            struct cell c = {
                .k = 256, .type = types[j], .how = &arrangements[0], .kernels = agg_kernels_get(names[i])};
            if (c.kernels != NULL)
                measure_and_print(&c);
        }
    }
}

int main(int argc, char **argv)
{
    FILE *json = NULL;

    if (argc == 2 && strcmp(argv[1], "--instructions") == 0) {
        each_row(false, count_and_dump);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--checksum-instructions") == 0) {
        checksums_count();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--operations") == 0) {
        operations_write();
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--json") == 0) {
        json = fopen(argv[2], "w");
        if (json == NULL) {
            perror(argv[2]);
            return 1;
        }
    } else if (argc != 1) {
        fprintf(
            stderr,
            "usage: bench-core [--json FILE | --instructions | --checksum-instructions | --operations]\n");
        return 2;
    }

    printf(
        "Nanoseconds a packet; %d workers; every chunk is completed. Mode reversed: the pool adds in rank "
        "order, "
        "and the\nlast rank's packets come first. Kept: sums are made in the buffers that start them, not in "
        "the pool's\nmemory. CRC32C: the job's own checksum, of every packet and of the result.\n",
        WORKERS);
    struct cell warm = table("Warm", false), large = table("Large: 512 slots, 4096 packet buffers", true);
    table_of_kernels();
    struct bound_shares alone = bound_print(kernels_or_exit());
    checksums_print();
    if (json == NULL)
        return 0;
    fprintf(json,
            "{\"apply_vs_loop_1024\": %.3f, \"apply_vs_loop_1024_large\": %.3f, "
            "\"apply_vs_memcpy_1024\": %.3f, \"apply_vs_memcpy_1024_large\": %.3f, "
            "\"kernel_f32_vs_bound\": %.3f, \"kernel_f32_vs_bound_cold\": %.3f, "
            "\"kernel_i32_vs_bound\": %.3f, \"kernel_i32_vs_bound_cold\": %.3f, "
            "\"kernel_i32_vs_plain\": %.3f, \"kernel_i32_vs_plain_cold\": %.3f, "
            "\"packet_beside_kernel_ns\": %.1f}\n",
            warm.apply_ns / warm.loop_ns, large.apply_ns / large.loop_ns, warm.apply_ns / warm.memcpy_ns,
            large.apply_ns / large.memcpy_ns, alone.f32.warm, alone.f32.cold, alone.i32_swapped.warm,
            alone.i32_swapped.cold, alone.i32.warm, alone.i32.cold, warm.apply_ns - alone.i32_ns);
    bool failed = ferror(json);
    if (fclose(json) != 0 || failed) {
        perror(argv[2]);
        return 1;
    }
    return 0;
}

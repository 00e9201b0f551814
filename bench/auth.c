/* What keyed data packets cost: one process is the ranks of a job and their switch, without a network between
 * them, so that nothing but the CPU bounds it. The same tensor is summed in turn by packets without a
 * checksum, with a CRC32C, and keyed, each as long as MTU 1500 allows.
 *
 *     bench-auth
 *
 * Prints JSON: CPU time of a sum, in ms, in the order of the turns; and what a packet's trailer takes, in ns.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels_chosen.h"
#include "sodium_keys.h"
#include "switchml/pool.h"
#include "switchml/stream.h"
#include "timing.h"

enum { RANKS = 4, SLOTS = 256, COUNT = 1 << 20, ROOM = 1500 - 20 - 8, WAYS = 3, TRAILERS = 20000 };

static const struct way {
    const char *name;
    enum xfer_checksum checksum;
} ways[WAYS] = {
    {"none", XFER_CHECKSUM_NONE}, {"crc32c", XFER_CHECKSUM_CRC32C}, {"keyed", XFER_CHECKSUM_KEYED}};

struct job {
    struct sml_pool *pool;
    struct sml_stream *stream[RANKS];
};

static struct keys_secret shared;
static float *in[RANKS], *out[RANKS];

/* Of this thread: what other programs take does not count. */
static double cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *take(size_t bytes)
{
    void *mem = aligned_alloc(64, (bytes + 63) / 64 * 64);

    if (mem == NULL) {
        fprintf(stderr, "bench-auth: out of memory\n");
        exit(1);
    }
    return memset(mem, 0, bytes);
}

static uint16_t chunk_bytes_of(const struct way *w)
{
    return (uint16_t)((ROOM - SML_HEADER_BYTES - xfer_trailer_bytes(w->checksum)) / 4 * 4);
}

static void open_job(struct job *job, const struct way *w)
{
    const struct sml_pool_config pool = {.workers = RANKS,
                                         .slots = SLOTS,
                                         .chunk_bytes = chunk_bytes_of(w),
                                         .mode = XFER_ORDERED,
                                         .checksum = w->checksum,
                                         .shared = &shared,
                                         .kernels = kernels_or_exit()};

    job->pool = sml_pool_init(take(sml_pool_footprint(&pool)), &pool);
    for (uint16_t rank = 0; rank < RANKS; rank++) {
        const struct sml_stream_config cfg = {.rank = rank,
                                              .workers = RANKS,
                                              .slots = SLOTS,
                                              .chunk_bytes = pool.chunk_bytes,
                                              .checksum = w->checksum,
                                              .shared = &shared,
                                              .kernels = pool.kernels};
        job->stream[rank] = sml_stream_init(take(sml_stream_footprint(&cfg)), &cfg);
    }
}

static void at_switch(struct job *job, uint16_t rank, uint8_t *payload, size_t bytes, uint64_t now)
{
    struct agg_verdict v;
    struct sml_packet p;

    sml_parse(&p, payload, bytes);
    sml_pool_apply(job->pool, sml_pool_locate(job->pool, &p, 0), rank, &p, NULL, now, &v);
    for (unsigned r = 0; v.reason == SML_SEND_ALL && r < RANKS; r++)
        if (sml_stream_receive(job->stream[r], v.payload, v.bytes, now) != XFER_RX_RESULT) {
            fprintf(stderr, "bench-auth: rank %u does not take a result\n", r);
            exit(1);
        }
}

/* One allreduce, from begin to the last result; ns of CPU. */
static double sum(struct job *job)
{
    static uint8_t payload[ROOM];
    struct xfer_call call = {.collective = XFER_ALLREDUCE, .type = AGG_F32, .op = AGG_SUM, .count = COUNT};
    const double start = cpu_ns();
    struct xfer_send send;
    uint64_t now = 1;

    for (unsigned r = 0; r < RANKS; r++)
        sml_stream_begin(job->stream[r], &call, in[r], out[r], now);
    while (sml_stream_status(job->stream[0]) == XFER_RUNNING)
        for (uint16_t r = 0; r < RANKS; r++, now++)
            while (sml_stream_poll(job->stream[r], now, &send))
                at_switch(job, r, payload, xfer_send_copy(&send, payload), now);
    return cpu_ns() - start;
}

/* What the trailer of a packet of full length takes, made or compared. */
static double trailer_ns(const struct way *w)
{
    static uint8_t body[ROOM], head[SML_HEADER_BYTES], trailer[XFER_TRAILER_MAX];
    const struct xfer_auth *auth =
        xfer_auth_init(take(xfer_auth_footprint(chunk_bytes_of(w))), &shared, chunk_bytes_of(w));
    const struct xfer_route route = {.sender = 1, .receiver = XFER_SWITCH};
    const double start = cpu_ns();

    for (unsigned i = 0; i < TRAILERS; i++) {
        touch(body);
        if (w->checksum == XFER_CHECKSUM_KEYED)
            xfer_auth_build(trailer, auth, &route, head, sizeof head, body, chunk_bytes_of(w));
        else if (w->checksum == XFER_CHECKSUM_CRC32C)
            sml_build_trailer(trailer, 1, head, sizeof head, body, chunk_bytes_of(w));
        touch(trailer);
    }
    free((void *)auth);
    return (cpu_ns() - start) / TRAILERS;
}

static void print(const char *name, double values[WAYS][REPEATS], double unit, const char *end)
{
    printf("\"%s\": {", name);
    for (unsigned w = 0; w < WAYS; w++) {
        printf("%s\"%s\": [", w ? ", " : "", ways[w].name);
        for (unsigned i = 0; i < REPEATS; i++)
            printf("%s%.4f", i ? ", " : "", values[w][i] / unit);
        printf("]");
    }
    printf("}%s", end);
}

int main(void)
{
    static double sums[WAYS][REPEATS], trailers[WAYS][REPEATS];
    struct job job[WAYS];

    shared.library = keys_sodium();
    if (shared.library == NULL)
        return 1;
    for (unsigned r = 0; r < RANKS; r++) {
        in[r] = take(COUNT * sizeof(float));
        out[r] = take(COUNT * sizeof(float));
    }
    for (unsigned w = 0; w < WAYS; w++) {
        open_job(&job[w], &ways[w]);
        sum(&job[w]); /* memory is mapped, caches are warm */
    }
    for (unsigned i = 0; i < REPEATS; i++)
        for (unsigned w = 0; w < WAYS; w++) {
            sums[w][i] = sum(&job[w]);
            trailers[w][i] = trailer_ns(&ways[w]);
        }
    printf("{");
    print("sum_ms", sums, 1e6, ", ");
    print("trailer_ns", trailers, 1, "}\n");
    return 0;
}

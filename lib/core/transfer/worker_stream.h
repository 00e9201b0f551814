/* The functions of struct agg_worker that only hand on: a protocol's stream has them under the same names,
 * with its own type where the table has void *. The file that includes this defines STREAM(name) first, the
 * protocol's function of that name, and puts WORKER_STREAM into its table. */
#pragma once

#include "transfer/worker.h"

static int begin(void *stream, const struct xfer_call *call, struct xfer_segment segments[], size_t n,
                 uint64_t now)
{
    return STREAM(begin_segments)(stream, call, segments, n, now);
}

static bool poll(void *stream, uint64_t now, struct xfer_send *send)
{
    return STREAM(poll)(stream, now, send);
}

static enum xfer_receive receive(void *stream, const uint8_t *payload, size_t bytes, uint64_t now)
{
    return STREAM(receive)(stream, payload, bytes, now);
}

static enum xfer_status status(const void *stream)
{
    return STREAM(status)(stream);
}

static const struct xfer_mismatch *mismatch(const void *stream)
{
    return STREAM(mismatch)(stream);
}

static uint64_t timer(const void *stream)
{
    return STREAM(timer)(stream);
}

static uint64_t left(const void *stream)
{
    return STREAM(left)(stream);
}

static uint32_t ended(const void *stream)
{
    return STREAM(ended)(stream);
}

static uint32_t completed(const void *stream)
{
    return STREAM(completed)(stream);
}

static uint32_t oldest(const void *stream)
{
    return STREAM(oldest)(stream);
}

static uint64_t progress(const void *stream)
{
    return STREAM(progress)(stream);
}

static const struct xfer_call *oldest_call(const void *stream)
{
    return STREAM(oldest_call)(stream);
}

static uint64_t packets(const void *stream, const struct xfer_call *call)
{
    return STREAM(packets)(stream, call);
}

static unsigned missing(const void *stream, uint16_t ranks[], unsigned max)
{
    return STREAM(missing)(stream, ranks, max);
}

static void stats(const void *stream, struct xfer_stats *out)
{
    STREAM(stats)(stream, out);
}

/* clang-format off */
#define WORKER_STREAM                                                                                          \
    .begin = begin, .poll = poll, .receive = receive, .status = status, .mismatch = mismatch,                \
    .timer = timer, .left = left, .ended = ended, .completed = completed, .oldest = oldest, .progress = progress,            \
    .oldest_call = oldest_call, .packets = packets, .missing = missing, .stats = stats
/* clang-format on */

/* How much of a call each of several switches sums: as much as its link carries. Every rank measures how fast
 * sums of long calls come by each link. Behind some of these, the same on all ranks, they agree on the least
 * that any rank has measured, by a call of their own; what follows waits for that, and is divided by it.
 * Without measures, or while they hardly differ from what was agreed last, nothing changes.
 *
 * Where numbers are scaled, so that no least of words can be had, nothing is measured.
 *
 * By the same call they agree on which of the switches that they do without is there again (links.h). Each
 * place carries all of it, so a rank needs the result from one of them alone, and none waits at a place that
 * another has moved because of it.
 *
 * Pure; now in ns, monotonic. */
#pragma once

#include "links/links.h"
#include "transfer/stream.h"

/* Of a link: the stretch of calls that its stream is at, and all stretches since ranks agreed last. */
struct shares_rate {
    uint64_t began, first; /* ns; its first result, 0: there is none yet */
    uint64_t packets;      /* 0: it is at nothing */
    uint64_t all_packets, all_ns;
};

/* KiB/s; and which standby this rank has there, twice, since only one that all have counts. */
enum { SHARES_SPEED, SHARES_STANDBY, SHARES_STANDBY_TURNED, SHARES_WORDS };

/* Where a job's numbers are scaled there is no least of words: the standby's bits are summed. */
enum { SHARES_BITS = 32 };

/* Private but for reading. Does not move while ranks agree: their call has its tensor here. */
struct shares {
    bool on;
    unsigned n, ranks;
    enum xfer_format format;
    uint64_t calls, next; /* begun, by their weight; behind that many ranks agree */
    bool agreeing;        /* ... by a call in progress, */
    bool known;           /* whose result has come from some place */
    /* What ranks say of each place: this one, and the least of all. */
    uint32_t mine[LINKS_MAX][SHARES_WORDS], least[LINKS_MAX][SHARES_WORDS];
    float bits[LINKS_MAX][SHARES_BITS], sums[LINKS_MAX][SHARES_BITS];
    uint32_t share[LINKS_MAX];  /* of SML_SHARE_WHOLE, by place, as agreed */
    uint32_t at[LINKS_MAX + 1]; /* place i sums from at[i] to at[i + 1]; all 0: nobody has said */
    struct shares_rate rate[LINKS_MAX];
};

/* on: all ranks know how. */
void shares_init(struct shares *s, unsigned n, unsigned ranks, enum xfer_format format, bool on);

/* Where that is on. A call of so many packets begins at a place: before it does. idle: nothing was in
 * progress there. And results may have come, the newest then; done: all that were to. */
void shares_note_begin(struct shares *s, unsigned place, uint64_t packets, bool idle, uint64_t now);
void shares_note_results(struct shares *s, unsigned place, uint64_t newest, bool done);

/* A call has begun. Whether ranks agree behind it. */
bool shares_due(struct shares *s, const struct xfer_call *call);
/* Then: by this call, which begins now; until it is over nothing else may. Each place carries all of it. By
 * place: the length of its chunks. */
void shares_ask(struct shares *s, const struct links_seen seen[], const uint16_t chunk_bytes[],
                struct xfer_call *call, struct xfer_segment *tensor);

/* The result has come from some place. Which standbys all ranks have, by node; 0: none in common. */
void shares_hear(struct shares *s, uint32_t standby[LINKS_MAX]);
/* The call is over at all places. Whether calls are divided anew. */
bool shares_end(struct shares *s);

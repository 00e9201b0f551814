/* A pool: any sequence of packets from any ranks, in a job with a quorum with time between them, against an
 * oracle. An input is the configuration, then for each packet a byte and its arguments. */

#include "given.h"
#include "kernels_chosen.h"
#include "pool_oracle.h"

enum { STEPS_MAX = 400, SENDERS = 16 };

static struct agg_sender sender_of(unsigned rank)
{
    static const uint8_t mac[AGG_MAC_BYTES] = {2};
    return carry_sender(mac, 1, (uint16_t)(1000 + rank));
}

/* What does not get to a slot: p, if it is a packet at all, is of another job or names a slot that there is
 * not. */
static void check_refused(const struct world *w, const struct agg_packet *packet, const struct sml_packet *p)
{
    uint8_t answer[AGG_ANSWER_BYTES];
    REQUIRE(packet->reason < sml_protocol.reasons);
    bool other = p != NULL && p->job != JOB && !w->terms.labelled;
    REQUIRE(p == NULL || other || p->slot >= w->terms.slots);
    REQUIRE((packet->reason == SML_REFUSED_UNKNOWN_JOB) == other);
    size_t bytes = sml_protocol.refuse(packet, 1, answer);
    REQUIRE(bytes <= sizeof answer);
    REQUIRE(bytes == 0 || packet->reason == SML_REFUSED_UNKNOWN_JOB); /* no answer to what switches send */
}

static void deliver(struct world *w, uint16_t rank, const uint8_t *payload, size_t bytes)
{
    const struct given g = give(&sml_protocol, &w->jobs, sender_of(rank), w->keeps, w->now, payload, bytes);
    if (g.packet.slot == NULL) {
        check_refused(w, &g.packet, g.parses ? &g.p : NULL);
    } else {
        REQUIRE(g.parses && g.packet.rank == rank && g.packet.job == w->job);
        judge(w, &w->slots[g.p.slot], rank, &g.p, &g.v);
        check_view(w, g.p.slot);
    }
    given_end(&g);
}

/* Mostly what a rank may send now; any field may be off. */
static void take_packet(struct world *w, struct input *in)
{
    static const uint8_t kinds[] = {SML_DATA, SML_DATA, SML_OPEN, SML_PROBE, SML_RESTORE};
    uint8_t body[BODY_MAX], payload[SML_HEADER_BYTES + BODY_MAX + XFER_TRAILER_BYTES], odd = take8(in),
                                                                                       fill = take8(in);
    uint16_t rank = take8(in) % w->workers;
    struct sml_packet p = {.size_code = SML_SIZE_AGREED, .job = JOB, .e0 = AGG_SUM << 4 | AGG_F32};
    p.checksum = w->terms.checksum;
    p.slot = take8(in) % w->terms.slots;
    p.tag = w->slots[p.slot].expected + (uint32_t)(take8(in) % 5 - 2) * w->terms.slots;
    p.ver = sml_tag_ver(p.tag, w->terms.slots);
    p.kind = kinds[take8(in) % sizeof kinds];
    if (w->terms.labelled) { /* tensors that are near, sometimes across 255 */
        uint8_t label = take8(in);
        p.job = (uint8_t)(label % 8 - 4);
        p.tag = label >> 3 & 3;
        p.ver = label >> 5 & 1;
        p.kind = label >> 6 == 3 ? p.kind : SML_DATA;
    }
    p.e1 = odd >> 6;
    p.body_bytes = p.kind == SML_PROBE ? 0 : w->terms.chunk_bytes;
    if (w->terms.table.code != 0 && fill & 1 && p.kind != SML_PROBE) {
        const struct sml_element e = sml_element_of(w->terms.table.code);
        const size_t call = p.kind == SML_OPEN ? XFER_CALL_BYTES : 0;
        p.e0 = w->terms.table.code;
        p.body_bytes = call + (w->terms.chunk_bytes - call) / e.out * (p.kind == SML_RESTORE ? e.out : e.in);
    }
    if (w->terms.quorum != 0 && p.kind == SML_RESTORE)
        p.body_bytes++; /* the names; most of what is there are */
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (uint8_t)(p.kind == SML_OPEN && i < XFER_CALL_BYTES ? i : fill * (i + 1) + rank);
    if (w->terms.empties && fill & 4 && p.kind != SML_RESTORE)
        p.body_bytes = p.kind == SML_OPEN ? XFER_CALL_BYTES : 0;
    if (odd & 1)
        p.body_bytes = take8(in) % BODY_MAX;
    take_faults(in, odd, &p);
    if (odd & 16)
        p.ver ^= 1;
    if (odd & 32)
        body[take8(in) % BODY_MAX] ^= take8(in);
    sml_build_header(payload, &p);
    memcpy(payload + SML_HEADER_BYTES, body, p.body_bytes);
    size_t bytes = SML_HEADER_BYTES + p.body_bytes;
    if (p.checksum != XFER_CHECKSUM_NONE) {
        sml_build_trailer(payload + bytes, rank, payload, bytes, NULL, 0);
        bytes += XFER_TRAILER_BYTES;
        if (odd & 32)
            payload[take8(in) % bytes] ^= take8(in);
    }
    deliver(w, rank, payload, bytes);
}

static void take_raw(struct world *w, struct input *in)
{
    size_t bytes;
    uint16_t rank = take8(in) % w->workers;
    uint8_t *raw = take_bytes(in, take8(in), &bytes);
    deliver(w, rank, raw, bytes);
    free(raw);
}

/* Nothing that time closes is left open. */
static void pass_time(struct world *w, struct input *in)
{
    struct agg_verdict v;
    w->now += take8(in) * UINT64_C(20000);
    while (sml_protocol.tick(w->job, 0, 1, w->now, &v))
        judge_tick(w, &v);
    for (uint16_t i = 0; i < w->terms.slots; i++) {
        REQUIRE(w->slots[i].contributed == 0 || !is_due(w, &w->slots[i], true));
        check_view(w, i);
    }
}

static void open_job(struct world *w)
{
    struct agg_pool_config cfg = {.job = JOB, .workers = w->workers, .kernels = kernels_or_exit()};
    struct agg_sender members[WORKERS_MAX];
    sml_terms_build(&cfg.terms, &w->terms);
    for (unsigned rank = 0; rank < w->workers; rank++)
        members[rank] = sender_of(rank);
    w->job = carry_open(&w->jobs, &sml_protocol, &cfg, members, NULL);
    REQUIRE(w->job != NULL);
    if (!w->terms.labelled)
        return;
    w->jobs.senders = calloc(1, sizeof *w->jobs.senders + SENDERS * sizeof w->jobs.senders->entry[0]);
    w->jobs.senders->entries = SENDERS;
    for (unsigned rank = 0; rank < w->workers; rank++)
        agg_senders_add(w->jobs.senders, agg_sender_key(&members[rank]), JOB);
}

static void step(struct world *w, struct input *in)
{
    const unsigned what = take8(in) % 8;
    if (what == 7)
        take_raw(w, in);
    else if (what == 6 && w->terms.quorum != 0)
        pass_time(w, in);
    else
        take_packet(w, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct world w = {0};
    uint8_t shape = take8(&in), kind = take8(&in);
    w.workers = 1 + shape % WORKERS_MAX;
    w.terms = (struct sml_terms){
        .slots = (uint16_t)(1 << (shape / WORKERS_MAX) % 3),
        .chunk_bytes = (uint16_t)(64 + 4 * (take8(&in) % 17)),
        .format = kind & 1 ? XFER_FORMAT_INT32 : XFER_FORMAT_TYPED,
        .mode = kind & 2 ? XFER_ON_ARRIVAL : XFER_ORDERED,
        .checksum = kind & 16 ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE,
        .first_tag = take32(&in),
        .resumed = kind & 4,
    };
    if (kind & 32) { /* a static job's */
        w.terms.labelled = true;
        w.terms.format = kind & 1 ? XFER_FORMAT_INT32 : XFER_FORMAT_FP16;
        w.terms.resumed = false;
        w.terms.checksum = XFER_CHECKSUM_NONE;
    }
    if (kind & 64 && w.terms.format == XFER_FORMAT_TYPED) { /* some calls are compressed */
        uint64_t table = shape;
        w.terms.table = look_up_table(
            &table, (uint8_t)(1 + w.terms.chunk_bytes / 4 % 4 + (kind & 128 ? SML_WIDE_SUMS : 0)),
            WORKERS_MAX);
        w.terms.chunk_bytes = (uint16_t)(SML_LOOK_UP_CHUNK_MIN + w.terms.chunk_bytes % 32);
    }
    if (shape >= 3 * WORKERS_MAX && is_typed(&w)) {
        w.terms.quorum = (uint16_t)(1 + shape / (3 * WORKERS_MAX) % w.workers);
        w.terms.wait_ms = shape / (3 * WORKERS_MAX) % 3;
    }
    w.terms.empties = kind & 128 && is_typed(&w) && w.terms.quorum == 0;
    w.keeps = kind & 8;
    open_job(&w);
    for (uint32_t i = 0; i < w.terms.slots; i++)
        w.slots[sml_tag_slot(w.terms.first_tag + i, w.terms.slots)].expected = w.terms.first_tag + i;
    for (unsigned n = 0; in.left > 0 && n < STEPS_MAX; n++)
        step(&w, &in);
    sml_protocol.drain(w.job->pool, free);
    carry_close(&w.jobs, w.job);
    free(w.jobs.senders);
    return 0;
}

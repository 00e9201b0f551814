/* A plan, and captures of it and of a real pool's answers, for tests of swagg-pcap. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "capture/store.h"
#include "capture/verify.h"
#include "placed.h"
#include "plan.h"
#include "udp.h"
#include "unit.h"

static const struct plan usual = {
    .workers = 3,
    .slots = 4,
    .phases = 4,
    .elements = 16,
    .format = XFER_FORMAT_TYPED,
    .type = AGG_F32,
    .op = AGG_SUM,
    .job = 7,
    .seed = 1,
    .sw = {.mac = {2, 0, 0, 0, 1, 0xFE}, .ip = 0x0A4D00FE, .port = SML_PORT_FIRST},
    .worker = {.mac = {2, 0, 0, 0, 1, 1}, .ip = 0x0A4D0001, .port = 30000},
};

struct recording {
    char file[64];
    pcap_t *pcap;
    pcap_dumper_t *dumper;
    struct sml_pool *pool;
    unsigned results;
};

static inline void record(struct recording *r, const uint8_t *frame, size_t bytes)
{
    const struct pcap_pkthdr header = {.caplen = (bpf_u_int32)bytes, .len = (bpf_u_int32)bytes};

    pcap_dump((u_char *)r->dumper, &header, frame);
}

static inline void record_result(struct recording *r, const struct plan *p, unsigned worker,
                                 const uint8_t *payload, size_t bytes)
{
    const struct udp_end to = plan_worker(p, worker);
    static uint8_t frame[UDP_FRAME_MAX];

    record(r, frame, udp_build(frame, &p->sw, &to, payload, bytes));
    r->results++;
}

static inline void switch_frame(struct recording *r, const struct plan *p, unsigned worker,
                                const uint8_t *frame, size_t bytes)
{
    struct agg_verdict v;
    struct udp_datagram d;
    struct sml_packet s;

    CU_ASSERT_FATAL(udp_parse(&d, frame, bytes));
    CU_ASSERT_EQUAL_FATAL(sml_parse(&s, d.payload, d.bytes), SML_OK);
    sml_pool_apply(r->pool, sml_pool_locate(r->pool, &s, 0), (uint16_t)worker, &s, NULL, 0, &v);
    if (v.reason == SML_SEND_ALL) {
        for (unsigned w = 0; w < p->workers; w++)
            record_result(r, p, w, v.payload, v.bytes);
    } else {
        CU_ASSERT_EQUAL(v.reason, SML_HELD);
    }
}

static inline struct sml_pool_config pool_config(const struct plan *p)
{
    return (struct sml_pool_config){
        .workers = (uint16_t)p->workers,
        .slots = (uint16_t)p->slots,
        .chunk_bytes = (uint16_t)((p->elements * agg_code_bytes(plan_code(p)) + 63) / 64 * 64),
        .job = p->job,
        .format = p->format,
        .mode = XFER_ON_ARRIVAL,
        .first_tag = p->first_tag,
        .kernels = agg_kernels_get("scalar"),
    };
}

static inline struct sml_pool *make_pool(const struct plan *p)
{
    const struct sml_pool_config cfg = pool_config(p);

    return pool_of(&cfg);
}

static inline struct recording begin_recording(const struct plan *p)
{
    struct recording r = {.file = "/tmp/test_pcap_XXXXXX", .pcap = pcap_open_dead(DLT_EN10MB, UDP_FRAME_MAX)};

    CU_ASSERT_PTR_NULL_FATAL(plan_fault(p));
    close(mkstemp(r.file));
    r.dumper = pcap_dump_open(r.pcap, r.file);
    return r;
}

/* The plan's frames, and the answers of the switch that has this pool. */
static inline struct recording record_chunks(struct recording r, const struct plan *p, struct sml_pool *pool)
{
    static uint8_t frame[UDP_FRAME_MAX];

    r.pool = pool;
    for (uint32_t chunk = 0; chunk < plan_chunks(p); chunk++) {
        for (unsigned w = 0; w < p->workers; w++) {
            const size_t bytes = plan_frame(p, w, chunk, frame);

            record(&r, frame, bytes);
            switch_frame(&r, p, w, frame, bytes);
        }
    }
    free(pool);
    r.pool = NULL;
    pcap_dump_close(r.dumper);
    pcap_close(r.pcap);
    return r;
}

/* A capture of the plan and of a switch's answers. */
static inline struct recording record_run(const struct plan *p)
{
    return record_chunks(begin_recording(p), p, make_pool(p));
}

static inline void count_wrong(void *context, const struct stored_packet *result, const char *why)
{
    (void)result;
    snprintf(context, 128, "%s", why);
}

/* What was found of the plan's job at the plan's switch. */
static inline struct verify_job job_of_plan(const struct verify *v, const struct store *s,
                                            const struct plan *p)
{
    for (unsigned i = 0; i < s->jobs; i++)
        if (s->job[i].sw == p->sw.ip && s->job[i].number == p->job)
            return v->job[i];
    CU_FAIL("there are no packets of the plan's job");
    return (struct verify_job){0};
}

static inline struct verify_job check_run(struct recording *r, const struct plan *p, char why[128],
                                          void (*tamper)(struct store *))
{
    struct verify v = {.format = p->format, .report = count_wrong, .context = why};
    struct store s = {0};
    struct verify_job job;

    why[0] = '\0';
    CU_ASSERT_EQUAL_FATAL(store_read(&s, r->file), 0);
    store_sort(&s);
    if (tamper != NULL)
        tamper(&s);
    verify(&v, &s);
    job = job_of_plan(&v, &s, p);
    store_free(&s);
    unlink(r->file);
    return job;
}

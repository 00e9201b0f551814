/* swagg-pcap: what gen writes goes through a real pool, and check agrees with it, or says where it does not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "by_the_book.h"
#include "capture/capture.h"
#include "capture/commands.h"
#include "capture/describe.h"
#include "capture/store.h"
#include "capture/verify.h"
#include "elements.h"
#include "numbers/numbers.h"
#include "plan_options.h"
#include "plan_tensor.h"
#include "relay/slots.h"
#include "stderr_capture.h"
#include "switchml/blocks.h"
#include "switchml/pool.h"
#include "terms_of.h"
#include "unit.h"
#include "wire/atp.h"
#include "wire/control.h"
#include "wire/hostagg.h"
#include "wire/path.h"

static const struct plan usual = {
    .workers = 3,
    .slots = 4,
    .phases = 4,
    .elements = 16,
    .format = SML_FORMAT_TYPED,
    .type = AGG_F32,
    .op = AGG_SUM,
    .job = 7,
    .seed = 1,
    .sw = {.mac = {2, 0, 0, 0, 1, 0xFE}, .ip = 0x0A4D00FE, .port = SML_PORT_FIRST},
    .worker = {.mac = {2, 0, 0, 0, 1, 1}, .ip = 0x0A4D0001, .port = 30000},
};

/* --- files --- */

static bool ignore_frame(void *context, const struct capture_frame *frame)
{
    (void)context;
    (void)frame;
    return true;
}

static void expect_no_capture(const char *file, const char *words)
{
    char expected[256];

    CU_ASSERT_FATAL(capture_begin());
    CU_ASSERT_EQUAL(capture_read(file, ignore_frame, NULL), -1);
    capture_take();
    capture_end();
    snprintf(expected, sizeof(expected), ": %s: %s\n", file, words);
    CU_ASSERT_PTR_NOT_NULL(strstr(captured_text, expected));
    CU_ASSERT_PTR_NULL(strstr(strstr(captured_text, file) + 1, file)); /* once */
}

static void test_a_file_that_is_no_capture_is_named(void)
{
    char file[] = "/tmp/no-capture-XXXXXX";
    const int fd = mkstemp(file);

    CU_ASSERT_FATAL(fd >= 0 && write(fd, "swagg: a switch that adds\n", 26) == 26);
    close(fd);
    expect_no_capture(file, "unknown file format");
    unlink(file);
    expect_no_capture(file, "No such file or directory");
}

/* --- frames --------------------------------------------------------------------------------------------- */

/* Field by field: between fields there are bytes that nobody sets. */
static void expect_end(const struct udp_end *got, const struct udp_end *want)
{
    CU_ASSERT_EQUAL(memcmp(got->mac, want->mac, sizeof(got->mac)), 0);
    CU_ASSERT_EQUAL(got->ip, want->ip);
    CU_ASSERT_EQUAL(got->port, want->port);
}

static void test_a_datagram_survives_its_frame(void)
{
    uint8_t frame[UDP_HEADERS_BYTES + 64];
    struct udp_datagram d;

    memset(&d, 0xA5, sizeof(d)); /* what udp_parse does not set shows */
    for (size_t bytes = 0; bytes <= 64; bytes++) {
        uint8_t payload[64];
        size_t length;

        memset(payload, (int)bytes, sizeof(payload));
        length = udp_build(frame, &usual.worker, &usual.sw, payload, bytes);
        CU_ASSERT_EQUAL(length, bytes < 18 ? UDP_FRAME_MIN : UDP_HEADERS_BYTES + bytes);
        CU_ASSERT_TRUE_FATAL(udp_parse(&d, frame, length));
        CU_ASSERT_EQUAL(d.bytes, bytes);
        CU_ASSERT_EQUAL(memcmp(d.payload, payload, bytes), 0);
        expect_end(&d.from, &usual.worker);
        expect_end(&d.to, &usual.sw);
        CU_ASSERT_FALSE(d.bad_checksum);
    }
}

/* Its checksums were computed by other means. */
static void test_a_known_frame(void)
{
    static const uint8_t known[UDP_FRAME_MIN] = {
        0x02, 0x00, 0x00, 0x00, 0x01, 0xfe, 0x02, 0x00, 0x00, 0x00, 0x01, 0x01, 0x08, 0x00, 0x45, 0x00,
        0x00, 0x21, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x25, 0x34, 0x0a, 0x4d, 0x00, 0x01, 0x0a, 0x4d,
        0x00, 0xfe, 0x75, 0x30, 0xbe, 0xe0, 0x00, 0x0d, 0x8c, 0x63, 0x61, 0x62, 0x63, 0x64, 0x65,
    };
    uint8_t frame[UDP_FRAME_MIN];

    CU_ASSERT_EQUAL(udp_build(frame, &usual.worker, &usual.sw, "abcde", 5), sizeof(known));
    CU_ASSERT_EQUAL(memcmp(frame, known, sizeof(known)), 0);
}

static void test_any_flipped_bit_breaks_a_checksum_or_the_frame(void)
{
    uint8_t frame[UDP_HEADERS_BYTES + 20], payload[20] = {1, 2, 3};
    const size_t length = udp_build(frame, &usual.worker, &usual.sw, payload, sizeof(payload));
    struct udp_datagram d;

    for (size_t bit = 14 * 8; bit < length * 8; bit++) {
        frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CU_ASSERT(!udp_parse(&d, frame, length) || d.bad_checksum);
        frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void test_frames_that_are_cut_off_are_none(void)
{
    uint8_t frame[UDP_HEADERS_BYTES + 40], payload[40] = {0};
    const size_t length = udp_build(frame, &usual.worker, &usual.sw, payload, sizeof(payload));
    struct udp_datagram d;

    for (size_t bytes = 0; bytes < length; bytes++) {
        uint8_t *cut = malloc(bytes + 1); /* its end is guarded when a sanitizer looks */

        memcpy(cut, frame, bytes);
        CU_ASSERT_FALSE(udp_parse(&d, cut, bytes));
        free(cut);
    }
}

/* --- elements ------------------------------------------------------------------------------------------- */

static void test_elements_on_the_wire(void)
{
    static const struct {
        uint8_t type, op, wire[16];
        const char *text;
    } known[] = {
        {AGG_I32, AGG_SUM, {0, 0, 0, 1}, "1"},
        {AGG_I32, AGG_SUM, {0xFF, 0xFF, 0xFF, 0xFE}, "-2"},
        {AGG_U32, AGG_SUM, {0xFE, 0xFF, 0xFF, 0xFF}, "4294967294"},
        {AGG_I64, AGG_SUM, {2, 1}, "258"},
        {AGG_F16, AGG_SUM, {0, 0x3E}, "1.5"},
        {AGG_BF16, AGG_SUM, {0xC0, 0x3F}, "1.5"},
        {AGG_F32, AGG_SUM, {0, 0, 0x80, 0x3F}, "1"},
        {AGG_F64, AGG_SUM, {0, 0, 0, 0, 0, 0, 0, 0xC0}, "-2"},
        {AGG_C64, AGG_PROD, {0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0}, "(1,-2)"},
        {AGG_I32, AGG_MINLOC, {0, 0, 0, 1, 0, 0, 0, 7}, "1@7"},
        {AGG_F32, AGG_MAXLOC, {0, 0, 0x80, 0x3F, 7, 0, 0, 0}, "1@7"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        char text[80];

        element_print(text, sizeof(text), agg_code(known[i].type, known[i].op), known[i].wire);
        CU_ASSERT_STRING_EQUAL(text, known[i].text);
    }
}

/* Of as many workers as there may be; the order of additions cannot matter. */
static void test_invented_elements_have_exact_results(void)
{
    enum { COUNT = 8 };
    static uint8_t element[SML_MAX_WORKERS][COUNT * 16];
    const uint8_t *in[SML_MAX_WORKERS], *back[SML_MAX_WORKERS];
    uint8_t one[COUNT * 16], other[COUNT * 16];

    for (unsigned type = 1; type < AGG_TYPES; type++)
        for (unsigned op = 1; op < AGG_OPS; op++) {
            const uint8_t code = agg_code(type, op);
            const unsigned n = op == AGG_PROD ? PRODUCT_WORKERS_MAX : SML_MAX_WORKERS;
            const size_t bytes = agg_code_bytes(code);

            for (unsigned w = 0; w < n && bytes > 0; w++) {
                elements_invent(code, 5, w, 9, element[w], COUNT);
                in[w] = back[n - 1 - w] = element[w];
            }
            if (bytes == 0)
                continue;
            elements_reduce(code, one, in, n, COUNT);
            elements_reduce(code, other, back, n, COUNT);
            for (size_t at = 0; at < COUNT * bytes; at += bytes)
                CU_ASSERT(element_is_result(code, one + at, &(const uint8_t *){other + at}, 1));
        }
}

/* --- plans ---------------------------------------------------------------------------------------------- */

static void test_frame_sizes_on_the_wire(void)
{
    static const unsigned sizes[][2] = {{64, 2},    {128, 18},   {192, 34},   {256, 50},
                                        {512, 114}, {1024, 242}, {1518, 365}, {9018, 2240}};
    static uint8_t frame[UDP_FRAME_MAX];
    struct plan halves = usual;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct plan p = usual;

        p.elements = plan_elements_for_frame(&p, sizes[i][0]);
        CU_ASSERT_EQUAL(p.elements, sizes[i][1]);
        CU_ASSERT_PTR_NULL(plan_fault(&p));
        CU_ASSERT(plan_frame(&p, 0, 0, frame) + 4 <= sizes[i][0]);
        CU_ASSERT(plan_frame(&p, 0, 0, frame) + 4 + 4 > sizes[i][0]);
    }
    CU_ASSERT_EQUAL(plan_elements_for_frame(&usual, 40), 0);
    halves.type = AGG_BF16;
    CU_ASSERT_EQUAL(plan_elements_for_frame(&halves, 1518), 730); /* a job's chunks have 1460 bytes */
}

static void expect_fault(struct plan p, const char *word)
{
    const char *fault = plan_fault(&p);

    CU_ASSERT_PTR_NOT_NULL_FATAL(fault);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, word));
}

static void test_plans_that_cannot_be(void)
{
    struct plan p = usual;

    CU_ASSERT_PTR_NULL(plan_fault(&p));
    p.workers = SML_MAX_WORKERS + 1;
    expect_fault(p, "workers");
    p = usual;
    p.slots = 12;
    expect_fault(p, "power of two");
    p = usual;
    p.phases = 3;
    expect_fault(p, "even");
    p = usual;
    p.first_tag = 4;
    expect_fault(p, "multiple");
    p = usual;
    p.type = AGG_TYPES;
    expect_fault(p, "type");
    p = usual;
    p.op = AGG_BAND;
    expect_fault(p, "no such operation");
    p = usual;
    p.tensor = true;
    expect_fault(p, "tensor");
    p = usual;
    p.op = AGG_PROD;
    p.workers = PRODUCT_WORKERS_MAX + 1;
    expect_fault(p, "12 workers");
    p = usual;
    p.elements = 2241;
    expect_fault(p, "8960");
    p = usual;
    p.format = SML_FORMAT_INT32;
    expect_fault(p, "int32");
    p.format = SML_FORMAT_FP16;
    expect_fault(p, "float16");
}

static void test_workers_are_told_apart(void)
{
    struct plan p = usual;

    CU_ASSERT_EQUAL(plan_worker(&p, 255).ip, usual.worker.ip + 255);
    CU_ASSERT_EQUAL(plan_worker(&p, 255).mac[4], 2); /* carried over from the last byte */
    CU_ASSERT_EQUAL(plan_worker(&p, 255).port, usual.worker.port);
    p.one_host = true;
    CU_ASSERT_EQUAL(plan_worker(&p, 255).ip, usual.worker.ip);
    CU_ASSERT_EQUAL(plan_worker(&p, 255).port, usual.worker.port + 255);
}

/* --- the whole way: a plan through a pool, and back to check -------------------------------------------- */

struct recording {
    char file[64];
    pcap_t *pcap;
    pcap_dumper_t *dumper;
    struct sml_pool *pool;
    unsigned results;
};

static void record(struct recording *r, const uint8_t *frame, size_t bytes)
{
    const struct pcap_pkthdr header = {.caplen = (bpf_u_int32)bytes, .len = (bpf_u_int32)bytes};

    pcap_dump((u_char *)r->dumper, &header, frame);
}

static void record_result(struct recording *r, const struct plan *p, unsigned worker, const uint8_t *payload,
                          size_t bytes)
{
    const struct udp_end to = plan_worker(p, worker);
    static uint8_t frame[UDP_FRAME_MAX];

    record(r, frame, udp_build(frame, &p->sw, &to, payload, bytes));
    r->results++;
}

static void switch_frame(struct recording *r, const struct plan *p, unsigned worker, const uint8_t *frame,
                         size_t bytes)
{
    struct agg_verdict v;
    struct udp_datagram d;
    struct sml_packet s;

    CU_ASSERT_TRUE_FATAL(udp_parse(&d, frame, bytes));
    CU_ASSERT_EQUAL_FATAL(sml_parse(&s, d.payload, d.bytes), SML_OK);
    sml_pool_apply(r->pool, sml_pool_locate(r->pool, &s, 0), (uint16_t)worker, &s, NULL, 0, &v);
    if (v.reason == SML_SEND_ALL) {
        for (unsigned w = 0; w < p->workers; w++)
            record_result(r, p, w, v.payload, v.bytes);
    } else {
        CU_ASSERT_EQUAL(v.reason, SML_HELD);
    }
}

static struct sml_pool_config pool_config(const struct plan *p)
{
    return (struct sml_pool_config){
        .workers = (uint16_t)p->workers,
        .slots = (uint16_t)p->slots,
        .chunk_bytes = (uint16_t)((p->elements * agg_code_bytes(plan_code(p)) + 63) / 64 * 64),
        .job = p->job,
        .format = p->format,
        .mode = SML_ON_ARRIVAL,
        .first_tag = p->first_tag,
        .kernels = agg_kernels_get("scalar"),
    };
}

static struct sml_pool *make_pool(const struct plan *p)
{
    const struct sml_pool_config cfg = pool_config(p);

    return sml_pool_init(aligned_alloc(64, (sml_pool_footprint(&cfg) + 63) / 64 * 64), &cfg);
}

static struct recording begin_recording(const struct plan *p)
{
    struct recording r = {.file = "/tmp/test_pcap_XXXXXX", .pcap = pcap_open_dead(DLT_EN10MB, UDP_FRAME_MAX)};

    CU_ASSERT_PTR_NULL_FATAL(plan_fault(p));
    close(mkstemp(r.file));
    r.dumper = pcap_dump_open(r.pcap, r.file);
    return r;
}

/* The plan's frames, and the answers of the switch that has this pool. */
static struct recording record_chunks(struct recording r, const struct plan *p, struct sml_pool *pool)
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
static struct recording record_run(const struct plan *p)
{
    return record_chunks(begin_recording(p), p, make_pool(p));
}

static void count_wrong(void *context, const struct stored_packet *result, const char *why)
{
    (void)result;
    snprintf(context, 128, "%s", why);
}

static struct verify_job check_run(struct recording *r, const struct plan *p, char why[128],
                                   void (*tamper)(struct store *))
{
    struct verify v = {.format = p->format, .report = count_wrong, .context = why};
    struct store s = {0};

    why[0] = '\0';
    CU_ASSERT_EQUAL_FATAL(store_read(&s, r->file), 0);
    store_sort(&s);
    if (tamper != NULL)
        tamper(&s);
    verify(&v, &s);
    store_free(&s);
    unlink(r->file);
    return v.job[p->job];
}

static void expect_right(const struct plan *p)
{
    struct recording r = record_run(p);
    char why[128];
    const struct verify_job j = check_run(&r, p, why, NULL);

    CU_ASSERT_EQUAL(r.results, p->workers * plan_chunks(p));
    CU_ASSERT_EQUAL(j.workers, p->workers);
    CU_ASSERT_EQUAL(j.chunks, plan_chunks(p));
    CU_ASSERT_EQUAL(j.contributions, p->workers * plan_chunks(p));
    CU_ASSERT_EQUAL(j.right, r.results);
    CU_ASSERT_EQUAL(j.wrong + j.missing + j.unknown + j.empty + j.repeated + j.conflicts, 0);
    CU_ASSERT_STRING_EQUAL(why, "");
}

static void test_a_switch_agrees_on_every_type_and_operation(void)
{
    for (unsigned type = 1; type < AGG_TYPES; type++)
        for (unsigned op = 1; op < AGG_OPS; op++) {
            struct plan p = usual;

            p.type = type;
            p.op = op;
            if (agg_code_bytes(plan_code(&p)) > 0)
                expect_right(&p);
        }
}

/* Numbers that are made up, and those of a tensor. */
static void test_a_switch_agrees_on_formats_with_exponents(void)
{
    for (enum sml_format format = SML_FORMAT_INT32; format < SML_FORMATS; format++)
        for (unsigned elements = 24; elements <= 256; elements *= 2) {
            struct plan p = usual;

            p.format = format;
            p.type = sml_elements_code(format, 0) & 15;
            p.elements = elements == 24 ? elements : elements / 3 * 4;
            expect_right(&p);
            p.tensor = true;
            expect_right(&p);
        }
}

/* Packet by packet what the paper says (section 4.6): the first ones carry exponents only, packet i those of
 * block i and the numbers of the block one phase before, scaled by the largest exponent of all workers. */
static void expect_scaled(const struct plan *p, uint32_t chunk)
{
    const bool int32 = p->format == SML_FORMAT_INT32, exponent = chunk < plan_chunks(p) - p->slots;
    const uint32_t block = chunk - p->slots;
    double sum[64] = {0}, worst = 0;
    float tensor[64];
    uint8_t frame[UDP_FRAME_MAX];
    struct udp_datagram d;
    struct sml_packet s;

    for (unsigned w = 0; w < p->workers; w++) {
        CU_ASSERT_FATAL(udp_parse(&d, frame, plan_frame(p, w, chunk, frame)) &&
                        sml_parse(&s, d.payload, d.bytes) == SML_OK);
        CU_ASSERT_EQUAL((int8_t)s.e0, exponent ? plan_tensor_exponent(p, w, chunk) : NUM_NO_BLOCK);
        CU_ASSERT_EQUAL(s.body_bytes > 0, chunk >= p->slots || s.size_code != SML_SIZE_AGREED);
        if (chunk < p->slots)
            continue;
        plan_tensor_block(p, w, block, tensor);
        CU_ASSERT_EQUAL(num_loops_for(&agg_kernels_scalar)->exponent[NUM_F32](tensor, p->elements),
                        plan_tensor_exponent(p, w, block));
        CU_ASSERT(plan_tensor_exponent(p, w, block) <= plan_tensor_agreed(p, block));
        for (unsigned i = 0; i < p->elements; i++) {
            float number;

            num_loops_for(&agg_kernels_scalar)
                ->back[int32 ? NUM_INT32 : NUM_FP16][NUM_F32](
                    &number, s.body + i * agg_code_bytes(plan_code(p)), 1,
                    num_scale(int32 ? NUM_INT32 : NUM_FP16, p->workers, plan_tensor_agreed(p, block)).back);
            sum[i] += (double)number - (double)tensor[i];
            worst = fmax(worst, fabs(sum[i]));
        }
    }
    if (chunk >= p->slots)
        CU_ASSERT(worst <= ldexp(p->workers, plan_tensor_agreed(p, block) - (int32 ? 23 : 12)));
}

static void test_a_tensor_travels_as_published(void)
{
    for (enum sml_format format = SML_FORMAT_INT32; format < SML_FORMATS; format++)
        for (unsigned elements = 32; elements <= 33; elements++) {
            struct plan p = usual;

            p.format = format;
            p.type = sml_elements_code(format, 0) & 15;
            p.elements = elements;
            p.tensor = true;
            for (uint32_t chunk = 0; chunk < plan_chunks(&p); chunk++)
                expect_scaled(&p, chunk);
        }
}

static void test_published_packets_have_size_codes(void)
{
    static const struct {
        unsigned elements;
        uint8_t code;
    } known[] = {{32, SML_SIZE_32},
                 {64, SML_SIZE_64},
                 {128, SML_SIZE_128},
                 {256, SML_SIZE_256},
                 {365, SML_SIZE_AGREED}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct plan p = usual;
        uint8_t frame[UDP_FRAME_MAX];

        p.format = SML_FORMAT_INT32;
        p.elements = known[i].elements;
        plan_frame(&p, 0, 0, frame);
        CU_ASSERT_EQUAL(frame[UDP_HEADERS_BYTES] & 7, known[i].code);
    }
}

static void test_a_switch_agrees_with_one_worker_or_many(void)
{
    struct plan p = usual;

    p.workers = 1;
    expect_right(&p);
    p.workers = SML_MAX_WORKERS;
    p.slots = 1;
    expect_right(&p);
    p.one_host = true;
    p.first_tag = UINT32_MAX - 1; /* over the end of the tags */
    expect_right(&p);
}

/* Packets with a checksum of their own have none of UDP's here, so that only theirs can tell of the damage.
 */
static void test_damaged_packets_are_left_out(void)
{
    const struct sml_packet p = {
        .kind = SML_DATA, .size_code = SML_SIZE_AGREED, .checksum = SML_CHECKSUM_CRC32C};
    struct recording r = {.file = "/tmp/test_pcap_XXXXXX", .pcap = pcap_open_dead(DLT_EN10MB, UDP_FRAME_MAX)};
    const struct udp_end worker = plan_worker(&usual, 3);
    uint8_t frame[UDP_FRAME_MAX], payload[SML_HEADER_BYTES + 64 + SML_TRAILER_BYTES] = {0};
    const size_t bytes = sizeof(payload) - SML_TRAILER_BYTES;
    struct store s = {0};

    close(mkstemp(r.file));
    r.dumper = pcap_dump_open(r.pcap, r.file);
    for (unsigned i = 0; i < 4; i++) {
        const bool result = i / 2, damaged = i % 2;
        size_t n;

        sml_build_header(payload, &p);
        sml_build_trailer(payload + bytes, result ? SML_SWITCH : 3, payload, bytes, NULL, 0);
        payload[SML_HEADER_BYTES + 5] = damaged;
        n = udp_build(frame, result ? &usual.sw : &worker, result ? &worker : &usual.sw, payload,
                      sizeof(payload));
        frame[40] = frame[41] = 0;
        record(&r, frame, n);
        payload[SML_HEADER_BYTES + 5] = 0;
    }
    pcap_dump_close(r.dumper);
    pcap_close(r.pcap);
    CU_ASSERT_EQUAL_FATAL(store_read(&s, r.file), 0);
    CU_ASSERT_EQUAL(s.count, 2);
    CU_ASSERT_EQUAL(s.damaged, 2);
    CU_ASSERT_TRUE(!s.packets[0].result && s.packets[1].result);
    store_free(&s);
    unlink(r.file);
}

/* Nothing tells here whether they are forged. */
static void test_keyed_packets_are_taken_and_counted(void)
{
    const struct sml_packet p = {
        .kind = SML_DATA, .size_code = SML_SIZE_AGREED, .checksum = SML_CHECKSUM_KEYED, .job = 3};
    struct recording r = {.file = "/tmp/test_pcap_XXXXXX", .pcap = pcap_open_dead(DLT_EN10MB, UDP_FRAME_MAX)};
    const struct udp_end worker = plan_worker(&usual, 3);
    uint8_t frame[UDP_FRAME_MAX], payload[SML_HEADER_BYTES + 64 + SML_AUTH_BYTES] = {0};
    struct store s = {0};

    close(mkstemp(r.file));
    r.dumper = pcap_dump_open(r.pcap, r.file);
    sml_build_header(payload, &p);
    record(&r, frame, udp_build(frame, &worker, &usual.sw, payload, sizeof(payload)));
    pcap_dump_close(r.dumper);
    pcap_close(r.pcap);
    CU_ASSERT_EQUAL_FATAL(store_read(&s, r.file), 0);
    CU_ASSERT(s.count == 1 && s.keyed == 1 && s.damaged + s.malformed == 0);
    CU_ASSERT(s.packets[0].bytes == 64 && s.packets[0].job == 3);
    store_free(&s);
    unlink(r.file);
}

/* Puts a worker's packets of one pass over the slots into one frame, as a kernel does that leaves cutting,
 * and the checksum, to a device. Returns its length. */
static size_t merge_run(const struct plan *p, unsigned worker, uint32_t first, uint8_t *merged)
{
    const struct udp_end from = plan_worker(p, worker);
    static uint8_t frame[UDP_FRAME_MAX];
    size_t bytes = 0, length;
    struct udp_datagram d;

    for (uint32_t chunk = first; chunk < first + p->slots; chunk++) {
        CU_ASSERT_TRUE_FATAL(udp_parse(&d, frame, plan_frame(p, worker, chunk, frame)));
        memcpy(merged + UDP_HEADERS_BYTES + bytes, d.payload, d.bytes);
        bytes += d.bytes;
    }
    length = udp_build(merged, &from, &p->sw, merged + UDP_HEADERS_BYTES, bytes);
    /* The pseudo-header's sum, not complemented: addresses, protocol and length. */
    put16(merged + 40, (uint16_t)~checksum(sum_of(merged + 26, 8) + 17 + (uint32_t)(8 + bytes)));
    return length;
}

static void expect_runs_taken_apart(const struct plan *p)
{
    struct recording r = {.file = "/tmp/test_pcap_XXXXXX", .pcap = pcap_open_dead(DLT_EN10MB, UDP_FRAME_MAX)};
    static uint8_t frame[UDP_FRAME_MAX];
    struct store s = {0};

    close(mkstemp(r.file));
    r.dumper = pcap_dump_open(r.pcap, r.file);
    for (unsigned w = 0; w < p->workers; w++)
        record(&r, frame, merge_run(p, w, 0, frame));
    pcap_dump_close(r.dumper);
    pcap_close(r.pcap);
    CU_ASSERT_EQUAL_FATAL(store_read(&s, r.file), 0);
    CU_ASSERT_EQUAL(s.count, p->workers * p->slots);
    CU_ASSERT_EQUAL(s.merged, p->workers * p->slots);
    CU_ASSERT_EQUAL(s.unchecked, p->workers);
    CU_ASSERT_EQUAL(s.damaged + s.malformed + s.others, 0);
    for (size_t i = 0; i < s.count; i++)
        CU_ASSERT_EQUAL(s.packets[i].tag, p->first_tag + i % p->slots);
    store_free(&s);
    unlink(r.file);
}

static void test_merged_packets_are_taken_apart(void)
{
    struct plan p = usual;

    expect_runs_taken_apart(&p);
    p.elements = 365;
    p.slots = 16;
    expect_runs_taken_apart(&p);
    p.elements = 64;
    p.type = AGG_I32;
    p.format = SML_FORMAT_INT32;
    expect_runs_taken_apart(&p);
    p.elements = 65;
    expect_runs_taken_apart(&p);
    p.type = AGG_F16;
    p.format = SML_FORMAT_FP16;
    expect_runs_taken_apart(&p);
}

/* --- trees of switches ---------------------------------------------------------------------------------- */

/* Five ranks: one sends for itself, the others come by two switches. */
static const uint16_t five_by_three[5] = {0, 1, 1, 2, 2};

static struct sml_pool *make_root(const struct plan *p)
{
    const struct agg_tree tree = {.ranks = 5, .contributor = five_by_three};
    const struct sml_pool_config cfg = pool_config(p);

    return relay_slots_init(aligned_alloc(64, (relay_slots_footprint(&cfg, &tree) + 63) / 64 * 64), &cfg,
                            &tree);
}

/* The root tells a switch below that it is to send one sum for these two ranks. */
static void record_ready(struct recording *r, const struct plan *p, uint16_t rank)
{
    struct ctl_message m = {
        .head =
            {.type = CTL_READY, .version = CTL_VERSION, .boot_id = 1, .rank = rank, .size = 5, .serial = 1},
        .ready = {.job = p->job, .data_port = SML_PORT_FIRST, .data_ports = 1, .lost_after_ms = 5000}};
    const struct udp_end to = {.ip = p->worker.ip + rank, .port = 48862};
    struct udp_end from = p->sw;
    uint8_t message[CTL_MESSAGE_MAX];
    static uint8_t frame[UDP_FRAME_MAX];

    from.port = CTL_PORT;
    m.ready.terms = terms_of((struct sml_terms){
        .format = p->format, .slots = (uint16_t)p->slots, .chunk_bytes = 64, .mode = SML_ON_ARRIVAL});
    ctl_ranks_add(&m.ready.bundle, (unsigned)(rank - 1) | 1);
    ctl_ranks_add(&m.ready.bundle, ((unsigned)(rank - 1) | 1) + 1);
    record(r, frame, udp_build(frame, &from, &to, message, ctl_build(message, &m)));
}

static void expect_right_in_a_tree(const struct plan *p)
{
    struct recording r = begin_recording(p);
    struct verify_job j;
    char why[128];

    for (uint16_t rank = 1; rank < 5; rank++)
        record_ready(&r, p, rank);
    r = record_chunks(r, p, make_root(p));
    j = check_run(&r, p, why, NULL);
    CU_ASSERT_EQUAL(j.workers, 3);
    CU_ASSERT_EQUAL(j.right, r.results);
    CU_ASSERT_EQUAL(j.wrong + j.missing + j.unknown + j.empty, 0);
    CU_ASSERT_STRING_EQUAL(why, "");
}

/* The sum of a switch is one contribution, and averages are those of all ranks. */
static void test_a_root_of_a_tree_is_checked(void)
{
    struct plan p = usual;

    expect_right_in_a_tree(&p);
    p.op = AGG_AVG;
    expect_right_in_a_tree(&p);
    p.type = AGG_I32;
    expect_right_in_a_tree(&p);
}

/* Probes are no gradient packets, and not malformed. */
static void test_path_probes_are_other_packets(void)
{
    struct recording r = begin_recording(&usual);
    uint8_t payload[100];
    static uint8_t frame[UDP_FRAME_MAX];
    struct store s = {0};

    path_build_question(payload, sizeof(payload), 7, 0);
    record(&r, frame, udp_build(frame, &usual.worker, &usual.sw, payload, sizeof(payload)));
    path_answer(payload, 2);
    record(&r, frame, udp_build(frame, &usual.sw, &usual.worker, payload, sizeof(payload)));
    pcap_dump_close(r.dumper);
    pcap_close(r.pcap);
    CU_ASSERT_EQUAL_FATAL(store_read(&s, r.file), 0);
    CU_ASSERT(s.count == 0 && s.others == 2 && s.malformed == 0);
    store_free(&s);
    unlink(r.file);
}

/* --- what check finds ----------------------------------------------------------------------------------- */

static struct stored_packet *first_result(struct store *s)
{
    struct stored_packet *p = s->packets;

    while (!p->result)
        p++;
    return p;
}

static void spoil_element(struct store *s)
{
    s->bodies[first_result(s)->at + 4 * 5 + 2] ^= 0x10;
}

static void spoil_length(struct store *s)
{
    first_result(s)->bytes -= 4;
}

static void spoil_code(struct store *s)
{
    first_result(s)->e0 = AGG_SUM << 4 | AGG_I32;
}

static void spoil_exponent(struct store *s)
{
    first_result(s)->e0--;
}

static void test_a_wrong_exponent_is_found(void)
{
    struct plan p = usual;
    struct recording r;
    char why[128];

    p.format = SML_FORMAT_INT32;
    p.type = AGG_I32;
    r = record_run(&p);
    CU_ASSERT_EQUAL(check_run(&r, &p, why, spoil_exponent).wrong, 1);
    CU_ASSERT_STRING_EQUAL(why, "its exponents are not the largest of the workers'");
}

static void test_a_wrong_result_is_found(void)
{
    static const struct {
        void (*tamper)(struct store *);
        const char *why;
    } faults[] = {
        {spoil_element, "element 5, "},
        {spoil_length, "its kind or length is not that of the contributions"},
        {spoil_code, "its element code differs from the contributions'"},
    };

    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        struct recording r = record_run(&usual);
        char why[128];
        const struct verify_job j = check_run(&r, &usual, why, faults[i].tamper);

        CU_ASSERT_EQUAL(j.wrong, 1);
        CU_ASSERT_EQUAL(j.right, r.results - 1);
        CU_ASSERT_EQUAL(strncmp(why, faults[i].why, strlen(faults[i].why)), 0);
    }
}

/* As if the job had asked for maxima, of the same elements: sums are wrong there. */
static void ask_for_maxima(struct store *s)
{
    for (size_t i = 0; i < s->count; i++)
        s->packets[i].e0 = agg_code(agg_code_type(s->packets[i].e0), AGG_MAX);
}

static void test_every_operation_is_checked_as_itself(void)
{
    struct recording r = record_run(&usual);
    char why[128];
    const struct verify_job j = check_run(&r, &usual, why, ask_for_maxima);

    CU_ASSERT(j.wrong > 0);
    CU_ASSERT_EQUAL(j.right + j.wrong, r.results);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "is not the max of the workers'"));
}

static void lose_result(struct store *s)
{
    struct stored_packet *lost = first_result(s);

    memmove(lost, lost + 1, (size_t)(s->packets + --s->count - lost) * sizeof(*lost));
}

static void lose_contribution(struct store *s)
{
    s->count--;
    memmove(s->packets, s->packets + 1, s->count * sizeof(*s->packets));
}

/* The last packet becomes worker 0's first once more, with a body of its own, after all others in time. */
static void repeat_contribution(struct store *s)
{
    struct stored_packet *last = &s->packets[s->count - 1];
    const size_t at = last->at;

    memcpy(s->bodies + at, s->bodies + s->packets[0].at, s->packets[0].bytes);
    *last = s->packets[0];
    last->at = at;
    store_sort(s);
}

static void contradict_contribution(struct store *s)
{
    repeat_contribution(s);
    s->bodies[s->packets[1].at] ^= 1;
}

static void test_what_is_missing_is_counted(void)
{
    struct recording r = record_run(&usual);
    char why[128];
    struct verify_job j = check_run(&r, &usual, why, lose_result);

    CU_ASSERT_EQUAL(j.missing, 1);
    CU_ASSERT_EQUAL(j.right, r.results - 1);

    r = record_run(&usual);
    j = check_run(&r, &usual, why, lose_contribution);
    CU_ASSERT_EQUAL(j.unknown, usual.workers);
    CU_ASSERT_EQUAL(j.right, r.results - usual.workers);
    CU_ASSERT_EQUAL(j.wrong, 0);
}

static void test_retransmissions_are_no_contributions(void)
{
    struct recording r = record_run(&usual);
    char why[128];
    struct verify_job j = check_run(&r, &usual, why, repeat_contribution);

    CU_ASSERT_EQUAL(j.repeated, 1);
    CU_ASSERT_EQUAL(j.conflicts, 0);

    r = record_run(&usual);
    j = check_run(&r, &usual, why, contradict_contribution);
    CU_ASSERT_EQUAL(j.conflicts, 1);
    CU_ASSERT_EQUAL(j.wrong, 0);
}

/* --- the commands --------------------------------------------------------------------------------------- */

static int gen(const char *file, const char *option, const char *value)
{
    char *argv[] = {"gen", "-o", (char *)file, (char *)option, (char *)value, NULL};

    return command_gen(option == NULL ? 3 : value == NULL ? 4 : 5, argv);
}

static int plan_told(struct told_plan *t, const char *option, const char *value)
{
    const struct option_group group = plan_options(t);
    const struct command_line line = {.intro = "", .groups = &group, .count = 1};
    char *argv[] = {"plan", (char *)option, (char *)value, NULL};

    *t = told_plan_default;
    return options_read(&line, value == NULL ? 2 : 3, argv);
}

static void test_a_plan_as_it_is_told(void)
{
    struct told_plan t;

    CU_ASSERT_EQUAL(plan_told(&t, "-j", "255"), OPTIONS_READ);
    CU_ASSERT_EQUAL(t.plan.job, 255);
    CU_ASSERT_EQUAL(plan_told(&t, "--job=256", NULL), EXIT_USAGE);
    CU_ASSERT_EQUAL(plan_told(&t, "--format", "int32"), OPTIONS_READ);
    CU_ASSERT_PTR_NULL(told_plan_fault(&t));
    CU_ASSERT(t.plan.format == SML_FORMAT_INT32 && t.plan.type == AGG_I32);
    CU_ASSERT_EQUAL(plan_told(&t, "--format", "fp16"), OPTIONS_READ);
    CU_ASSERT_PTR_NULL(told_plan_fault(&t));
    CU_ASSERT(t.plan.format == SML_FORMAT_FP16 && t.plan.type == AGG_F16);
    CU_ASSERT_EQUAL(plan_told(&t, "--format", "published"), EXIT_USAGE);
    CU_ASSERT_EQUAL(plan_told(&t, "--one-host", "more"), EXIT_USAGE);
    CU_ASSERT_EQUAL(plan_told(&t, "--type", "int31"), EXIT_USAGE);
    CU_ASSERT_EQUAL(plan_told(&t, "--type", "bfloat16"), OPTIONS_READ);
    CU_ASSERT_EQUAL(t.plan.type, AGG_BF16);
    CU_ASSERT_EQUAL(plan_told(&t, "--op", "maxloc"), OPTIONS_READ);
    CU_ASSERT_EQUAL(t.plan.op, AGG_MAXLOC);
    CU_ASSERT_EQUAL(plan_told(&t, "--op", "add"), EXIT_USAGE);
    CU_ASSERT_EQUAL(plan_told(&t, "--frame", "1518"), OPTIONS_READ);
    CU_ASSERT_PTR_NULL(told_plan_fault(&t));
    CU_ASSERT_EQUAL(t.plan.elements, 365);
    CU_ASSERT_EQUAL(plan_told(&t, "--help", NULL), EXIT_GOOD);
}

static void test_ends_as_they_are_told(void)
{
    static const char *const wrong[] = {"02:00:00:00:00:01/10.0.0.1:", "02:00:00:00:00:01/10.0.0.1:65536",
                                        "02:00:00:00:00:01/10.0.0:1", "02:00:00:00:00:01/10.0.0.1x",
                                        "02:00:00:00:00/10.0.0.1"};
    struct told_plan t;

    CU_ASSERT_EQUAL(plan_told(&t, "--worker", "02:03:04:05:06:07/10.1.2.3"), OPTIONS_READ);
    CU_ASSERT_EQUAL(t.plan.worker.mac[5], 7);
    CU_ASSERT_EQUAL(t.plan.worker.ip, 0x0A010203);
    CU_ASSERT_EQUAL(t.plan.worker.port, told_plan_default.plan.worker.port);
    CU_ASSERT_EQUAL(plan_told(&t, "--worker", "02:03:04:05:06:07/10.1.2.3:65535"), OPTIONS_READ);
    CU_ASSERT_EQUAL(t.plan.worker.port, 65535);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CU_ASSERT_EQUAL(plan_told(&t, "--worker", wrong[i]), EXIT_USAGE);
}

static void test_gen_and_check_by_command(void)
{
    struct recording r = record_run(&usual);
    char generated[] = "/tmp/test_pcap_XXXXXX";
    char *check_answers[] = {"check", "--complete", r.file, NULL};
    char *check_requests[] = {"check", generated, NULL};

    close(mkstemp(generated));
    CU_ASSERT_EQUAL(gen(generated, "--workers", "4"), EXIT_GOOD);
    CU_ASSERT_EQUAL(gen(generated, "--workers", "many"), EXIT_USAGE);
    CU_ASSERT_EQUAL(gen(generated, "--phases", "5"), EXIT_USAGE);
    CU_ASSERT_EQUAL(gen(generated, "--switch", "10.0.0.1"), EXIT_USAGE);
    CU_ASSERT_EQUAL(gen("/nowhere/x.pcap", NULL, NULL), EXIT_BAD);
    CU_ASSERT_EQUAL(command_check(3, check_answers), EXIT_GOOD);
    CU_ASSERT_EQUAL(command_check(2, check_requests), EXIT_BAD);
    unlink(generated);
    unlink(r.file);
}

static void test_packets_in_words(void)
{
    static struct describe how = {.elements = 2};
    struct ctl_message m = {
        .head = {.type = CTL_JOIN, .version = CTL_VERSION, .rank = 1, .size = 4, .serial = 9},
        .join = {.name = "x",
                 .terms = terms_of((struct sml_terms){.slots = 64, .chunk_bytes = 1460}),
                 .data_port = 30001}};
    uint8_t frame[UDP_FRAME_MAX], message[CTL_MESSAGE_MAX];
    struct line data = {0}, keyed = {0}, control = {0}, bad = {0};
    struct udp_datagram d;

    CU_ASSERT_TRUE_FATAL(udp_parse(&d, frame, plan_frame(&usual, 1, 5, frame)));
    describe_switchml(&data, &how, d.payload, d.bytes);
    CU_ASSERT_STRING_EQUAL(data.text, "DATA job 7 tag 5 slot 1.1 16 float32: -0.484375 0.53125 ...");
    frame[UDP_HEADERS_BYTES]++; /* the size code: 5 says that it is keyed, and its last eight bytes are no
                                   elements */
    describe_switchml(&keyed, &how, d.payload, d.bytes);
    CU_ASSERT_STRING_EQUAL(keyed.text, "DATA job 7 tag 5 slot 1.1 keyed 14 float32: -0.484375 0.53125 ...");
    describe_control(&control, &how, message, ctl_build(message, &m));
    CU_ASSERT_STRING_EQUAL(
        control.text, "JOIN rank 1 of 4 epoch 0 serial 9 \"x\", data from port 30001, protocol 1 switchml, "
                      "format typed, mode on_arrival, checksum none, slots 64, chunk_bytes 1460, resumed 0");
    describe_switchml(&bad, &how, d.payload, 9);
    CU_ASSERT_STRING_EQUAL(bad.text, "malformed gradient packet of 9 bytes");
}

/* A packet of a compressed call, in words. */
static void expect_words(const struct sml_packet *p, const uint8_t *body, const char *words)
{
    static const struct describe how = {.elements = 3};
    uint8_t packet[SML_HEADER_BYTES + 256];
    struct line line = {0};

    sml_build_header(packet, p);
    memcpy(packet + SML_HEADER_BYTES, body, p->body_bytes);
    describe_switchml(&line, &how, packet, SML_HEADER_BYTES + p->body_bytes);
    CU_ASSERT_STRING_EQUAL(line.text, words);
}

static void expect_atp(const struct atp_packet *p, const uint8_t *body, size_t bytes, const char *words)
{
    static const struct describe how = {.elements = 2};
    uint8_t packet[ATP_HEADER_BYTES + 64];
    struct line line = {0};

    atp_build_header(packet, p);
    memcpy(packet + ATP_HEADER_BYTES, body, bytes);
    describe_atp(&line, &how, packet, ATP_HEADER_BYTES + bytes);
    CU_ASSERT_STRING_EQUAL(line.text, words);
}

static void test_packets_of_atp_in_words(void)
{
    static const struct describe how = {.elements = 2};
    const uint8_t elements[12] = {0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff}, there[] = {5};
    struct atp_packet p = {.kind = ATP_GRADIENT,
                           .flags = ATP_RESEND | ATP_ECN,
                           .bitmap0 = 6,
                           .life = 0x1234,
                           .sequence = 9,
                           .job = 3,
                           .index = 17,
                           .root = ATP_ALL,
                           .code = agg_code(AGG_I32, AGG_SUM),
                           .fan_in0 = 3,
                           .fan_in1 = 1};
    uint8_t probe[PATH_BYTES_MIN];
    struct line line = {0};

    expect_atp(&p, elements, sizeof(elements),
               "GRADIENT job 3 life 00001234 chunk 9 aggregator 17 resend congested has 1 2 of 3 in rack 0 3 "
               "int32: 7 -1 ...");
    p.kind = ATP_PARAMETER;
    p.flags = 0;
    expect_atp(&p, elements, 4, "PARAMETER job 3 life 00001234 chunk 9 aggregator 17 1 int32: 7");
    p.seal = SML_CHECKSUM_CRC32C; /* the last four bytes */
    expect_atp(&p, elements, 8, "PARAMETER job 3 life 00001234 chunk 9 aggregator 17 CRC32C 1 int32: 7");
    p.seal = SML_CHECKSUM_NONE;
    p.kind = ATP_ASK;
    expect_atp(&p, elements, 0, "ASK job 3 life 00001234 chunk 9 aggregator 17 has 1 2 of 3 in rack 0");
    p.kind = ATP_WAITING;
    expect_atp(&p, there, sizeof(there),
               "WAITING job 3 life 00001234 chunk 9 aggregator 17 contributed: 0 2");
    path_build_question(probe, sizeof(probe), 1, 0);
    describe_atp(&line, &how, probe, sizeof(probe));
    CU_ASSERT_STRING_EQUAL(line.text, "path probe of 14 bytes");
    line = (struct line){0};
    describe_atp(&line, &how, elements, sizeof(elements));
    CU_ASSERT_STRING_EQUAL(line.text, "12 bytes that are no packet of ATP");
}

static void test_compressed_packets_in_words(void)
{
    const struct sml_call call = {.seq = 6, .collective = SML_ALLREDUCE, .type = 4, .root = 28, .count = 2},
                          norms = {
                              .seq = 5, .collective = SML_NORMS, .type = AGG_F32, .op = AGG_MAX, .count = 1};
    struct sml_packet p = {.kind = SML_DATA,
                           .size_code = SML_SIZE_AGREED,
                           .tag = 9,
                           .slot = 1,
                           .e0 = 3,
                           .e1 = SML_FLAG_WANT,
                           .body_bytes = 24};
    uint8_t body[256] = {0};

    body[0] = 0x07; /* the low two bits of 0, 16, 32, 48 */
    body[2] = 0x01;
    body[16] = 0x05; /* the third of 0, 8, 16, ... */
    body[18] = 0x01;
    expect_words(&p, body, "DATA job 0 tag 9 slot 1.0 64 indices of 3 bits: 7 0 5 ...");
    p.e0 = 12;
    p.e1 = 0;
    p.body_bytes = 128;
    memcpy(body, (const uint8_t[]){0x01, 0x02, 0xff, 0xff, 0, 0}, 6);
    expect_words(&p, body, "DATA job 0 tag 9 slot 1.0 64 sums of 16 bits: 513 65535 0 ...");
    p.kind = SML_OPEN;
    p.e0 = 4;
    p.e1 = SML_FLAG_WANT;
    p.body_bytes = SML_CALL_BYTES;
    sml_build_call(body, &call);
    expect_words(
        &p, body,
        "OPEN job 0 tag 9 slot 1.0 (allreduce 6: 100 numbers, compressed to 4 bits) 0 indices of 4 bits");
    p.e0 = agg_code(AGG_F32, AGG_MAX);
    p.body_bytes = SML_CALL_BYTES + 4;
    sml_build_call(body, &norms);
    memset(body + SML_CALL_BYTES, 0, 4);
    expect_words(&p, body,
                 "OPEN job 0 tag 9 slot 1.0 (norms 5: of 1 blocks to be compressed) 1 float32 (max): 0");
}

/* Two contributions of one element of 2 bits, and their sums, which are 8 bits each. */
static void test_sums_of_table_values_are_checked(void)
{
    enum { IN = 16, OUT = SML_GROUP };
    struct stored_packet packets[] = {
        {.kind = SML_DATA, .e0 = 2, .worker = 1, .bytes = IN},
        {.kind = SML_DATA, .e0 = 2, .worker = 2, .at = IN, .bytes = IN},
        {.kind = SML_DATA, .e0 = 2, .result = true, .worker = 1, .at = 2 * IN, .bytes = OUT}};
    uint8_t bodies[2 * IN + OUT];
    struct store s = {.packets = packets, .count = 3, .bodies = bodies, .size = {2}};
    char why[128] = "";
    struct verify v = {.report = count_wrong, .context = why};

    s.format[0] = SML_FORMAT_TYPED;
    s.table[0] = (struct sml_table){2, {0, 10, 20, 50}};
    memset(bodies, 0xe4, IN);      /* of a byte 0, 1, 2, 3: of each 16 numbers all the same */
    memset(bodies + IN, 0x55, IN); /* all 1 */
    for (unsigned i = 0; i < OUT; i++)
        bodies[2 * IN + i] = (uint8_t)(s.table[0].values[i / 16] + 10);
    verify(&v, &s);
    CU_ASSERT(v.job[0].right == 1 && v.job[0].wrong == 0);
    bodies[2 * IN + 17]++;
    v = (struct verify){.report = count_wrong, .context = why};
    verify(&v, &s);
    CU_ASSERT(v.job[0].right == 0 && v.job[0].wrong == 1);
    CU_ASSERT_STRING_EQUAL(why, "sum 17, 21, is not the 20 of the workers' table values");
}

static void expect_bytes_in_words(const uint8_t *payload, size_t bytes, const char *words)
{
    static const struct describe how = {.elements = 2};
    struct line line = {0};

    describe_switchml(&line, &how, payload, bytes);
    CU_ASSERT_STRING_EQUAL(line.text, words);
}

/* What only switches say, to those above and below them. */
static void test_switches_of_a_tree_in_words(void)
{
    const struct sml_packet ask = {
        .kind = SML_ASK, .size_code = SML_SIZE_AGREED, .job = 7, .tag = 5, .slot = 1};
    struct ctl_message join = {
        .head = {.type = CTL_JOIN, .version = CTL_VERSION, .rank = 1, .size = 4, .serial = 9},
        .join = {.name = "x", .terms = terms_of((struct sml_terms){0}), .data_port = 48880, .hops = 2}};
    struct ctl_message ready = {
        .head = {.type = CTL_READY, .version = CTL_VERSION, .boot_id = 1, .size = 4, .serial = 9},
        .ready = {.terms = join.join.terms, .data_port = SML_PORT_FIRST, .data_ports = 1}};
    static struct describe how;
    uint8_t packet[100] = {0}, message[CTL_MESSAGE_MAX];
    struct line joins = {0}, is_ready = {0};

    sml_build_header(packet, &ask);
    packet[SML_HEADER_BYTES] = 0x6;
    expect_bytes_in_words(packet, SML_HEADER_BYTES + 1, "ASK job 7 tag 5 slot 1.0 contributed: 1 2");
    packet[0] = SML_LATE << 4 | SML_SIZE_AGREED;
    memcpy(packet + SML_HEADER_BYTES, (const uint8_t[]){0, 0, 0, 13}, SML_LATE_BYTES);
    expect_bytes_in_words(packet, SML_HEADER_BYTES + SML_LATE_BYTES,
                          "LATE job 7 tag 5 slot 1.0 slot collects tag 13");
    path_build_question(packet, sizeof(packet), 7, 0);
    expect_bytes_in_words(packet, sizeof(packet), "path probe of 100 bytes");
    path_answer(packet, 2);
    expect_bytes_in_words(packet, sizeof(packet), "answer to a path probe of 100 bytes, data ports 2");
    memcpy(&join.join.host, (const uint8_t[]){10, 77, 0, 3}, 4);
    memcpy(&join.join.via, (const uint8_t[]){10, 77, 0, 251}, 4);
    describe_control(&joins, &how, message, ctl_build(message, &join));
    CU_ASSERT_PTR_NOT_NULL(strstr(joins.text, ", of 10.77.0.3 at switch 10.77.0.251, passed up 2 times"));
    ready.ready.above = (struct ctl_above){.levels = 2, .number = {9, 4}};
    ctl_ranks_add(&ready.ready.bundle, 2);
    ctl_ranks_add(&ready.ready.bundle, 3);
    describe_control(&is_ready, &how, message, ctl_build(message, &ready));
    CU_ASSERT_PTR_NOT_NULL(strstr(is_ready.text, ", at the switches above 9 4, one sum for ranks 2 and 3"));
}

static void test_host_addressed_packets_in_words(void)
{
    static const struct describe how = {.elements = 2, .hostagg_code = AGG_SUM << 4 | AGG_F32};
    static const float floats[3] = {1.5F, -2, 9};
    const struct hag_packet sum = {
        .kind = HAG_SUM, .job = 3, .worker = HAG_EVERYBODY, .sequence = 70000, .run = 2};
    const struct hag_packet waiting = {.kind = HAG_WAITING, .job = 3, .worker = 1, .sequence = 5, .run = 2};
    uint8_t packet[HAG_HEADER_BYTES + sizeof(floats)];
    struct line line = {0};

    hag_build_header(packet, &sum);
    memcpy(packet + HAG_HEADER_BYTES, floats, sizeof(floats));
    describe_hostagg(&line, &how, packet, sizeof(packet));
    CU_ASSERT_STRING_EQUAL(line.text, "SUM job 3 run 2 chunk 70000 3 float32: 1.5 -2 ...");
    line = (struct line){0};
    hag_build_header(packet, &waiting);
    packet[HAG_HEADER_BYTES] = 0x5;
    describe_hostagg(&line, &how, packet, HAG_HEADER_BYTES + 1);
    CU_ASSERT_STRING_EQUAL(line.text, "WAITING job 3 worker 1 run 2 chunk 5 contributed: 0 2");
    line = (struct line){0};
    describe_hostagg(&line, &how, packet, 3);
    CU_ASSERT_STRING_EQUAL(line.text, "3 bytes that are no packet of host-addressed aggregation");
}

/* Once the switch was heard to grant a format, it needs not be told. */
static void test_the_format_is_learnt_from_ready(void)
{
    const struct ctl_message m = {
        .head = {.type = CTL_READY, .version = CTL_VERSION, .boot_id = 1, .size = 4, .serial = 9},
        .ready = {.job = 7,
                  .terms =
                      terms_of((struct sml_terms){.format = SML_FORMAT_INT32, .slots = 4, .chunk_bytes = 64}),
                  .data_port = SML_PORT_FIRST,
                  .data_ports = 1,
                  .lost_after_ms = 5000}};
    struct describe how = {.elements = 1};
    struct plan p = usual;
    uint8_t frame[UDP_FRAME_MAX], message[CTL_MESSAGE_MAX];
    struct line before = {0}, control = {0}, after = {0};
    struct udp_datagram d;

    p.format = SML_FORMAT_INT32;
    p.type = AGG_I32;
    CU_ASSERT_TRUE_FATAL(udp_parse(&d, frame, plan_frame(&p, 1, 5, frame)));
    describe_switchml(&before, &how, d.payload, d.bytes);
    CU_ASSERT_PTR_NULL(strstr(before.text, "exponents"));
    describe_control(&control, &how, message, ctl_build(message, &m));
    describe_switchml(&after, &how, d.payload, d.bytes);
    CU_ASSERT_PTR_NOT_NULL(strstr(after.text, "slot 1.1 exponents 3 0 16 int32: "));
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_host_addressed_packets_in_words),
        UNIT_TEST(test_packets_of_atp_in_words),
        UNIT_TEST(test_compressed_packets_in_words),
        UNIT_TEST(test_sums_of_table_values_are_checked),
        UNIT_TEST(test_switches_of_a_tree_in_words),
        UNIT_TEST(test_a_root_of_a_tree_is_checked),
        UNIT_TEST(test_path_probes_are_other_packets),
        UNIT_TEST(test_a_file_that_is_no_capture_is_named),
        UNIT_TEST(test_a_datagram_survives_its_frame),
        UNIT_TEST(test_a_known_frame),
        UNIT_TEST(test_any_flipped_bit_breaks_a_checksum_or_the_frame),
        UNIT_TEST(test_frames_that_are_cut_off_are_none),
        UNIT_TEST(test_elements_on_the_wire),
        UNIT_TEST(test_invented_elements_have_exact_results),
        UNIT_TEST(test_frame_sizes_on_the_wire),
        UNIT_TEST(test_plans_that_cannot_be),
        UNIT_TEST(test_workers_are_told_apart),
        UNIT_TEST(test_a_switch_agrees_on_every_type_and_operation),
        UNIT_TEST(test_a_switch_agrees_on_formats_with_exponents),
        UNIT_TEST(test_a_tensor_travels_as_published),
        UNIT_TEST(test_published_packets_have_size_codes),
        UNIT_TEST(test_a_switch_agrees_with_one_worker_or_many),
        UNIT_TEST(test_damaged_packets_are_left_out),
        UNIT_TEST(test_keyed_packets_are_taken_and_counted),
        UNIT_TEST(test_merged_packets_are_taken_apart),
        UNIT_TEST(test_a_wrong_exponent_is_found),
        UNIT_TEST(test_a_wrong_result_is_found),
        UNIT_TEST(test_every_operation_is_checked_as_itself),
        UNIT_TEST(test_what_is_missing_is_counted),
        UNIT_TEST(test_retransmissions_are_no_contributions),
        UNIT_TEST(test_a_plan_as_it_is_told),
        UNIT_TEST(test_ends_as_they_are_told),
        UNIT_TEST(test_gen_and_check_by_command),
        UNIT_TEST(test_packets_in_words),
        UNIT_TEST(test_the_format_is_learnt_from_ready),
        CU_TEST_INFO_NULL,
    };

    return unit_main("pcap", tests);
}

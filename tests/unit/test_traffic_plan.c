/* Plans of traffic: their frames, elements and workers, and how they are told. */
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "pcap_rig.h"
#include "plan_options.h"
#include "unit.h"

/* --- frames --------------------------------------------------------------------------------------------- */

/* Field by field: between fields there are bytes that nobody sets. */
static void expect_end(const struct udp_end *got, const struct udp_end *want)
{
    CU_ASSERT_EQUAL(memcmp(got->mac, want->mac, sizeof(got->mac)), 0);
    CU_ASSERT_EQUAL(got->ip, want->ip);
    CU_ASSERT_EQUAL(got->port, want->port);
}

TEST(a_datagram_survives_its_frame)
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
        CU_ASSERT_FATAL(udp_parse(&d, frame, length));
        CU_ASSERT_EQUAL(d.bytes, bytes);
        CU_ASSERT_EQUAL(memcmp(d.payload, payload, bytes), 0);
        expect_end(&d.from, &usual.worker);
        expect_end(&d.to, &usual.sw);
        CU_ASSERT(!d.bad_checksum);
    }
}

/* Its checksums were computed by other means. */
TEST(a_known_frame)
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

TEST(any_flipped_bit_breaks_a_checksum_or_the_frame)
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

TEST(frames_that_are_cut_off_are_none)
{
    uint8_t frame[UDP_HEADERS_BYTES + 40], payload[40] = {0};
    const size_t length = udp_build(frame, &usual.worker, &usual.sw, payload, sizeof(payload));
    struct udp_datagram d;

    for (size_t bytes = 0; bytes < length; bytes++) {
        uint8_t *cut = malloc(bytes + 1); /* its end is guarded when a sanitizer looks */

        memcpy(cut, frame, bytes);
        CU_ASSERT(!udp_parse(&d, cut, bytes));
        free(cut);
    }
}

/* --- elements ------------------------------------------------------------------------------------------- */

TEST(elements_on_the_wire)
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
TEST(invented_elements_have_exact_results)
{
    enum { COUNT = 8 };
    static uint8_t element[AGG_MAX_WORKERS][COUNT * 16];
    const uint8_t *in[AGG_MAX_WORKERS], *back[AGG_MAX_WORKERS];
    uint8_t one[COUNT * 16], other[COUNT * 16];

    for (unsigned type = 1; type < AGG_TYPES; type++)
        for (unsigned op = 1; op < AGG_OPS; op++) {
            const uint8_t code = agg_code(type, op);
            const unsigned n = op == AGG_PROD ? PRODUCT_WORKERS_MAX : AGG_MAX_WORKERS;
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

TEST(frame_sizes_on_the_wire)
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

/* What is wrong with the usual plan after a change. */
#define EXPECT_FAULT(words, ...)                                                                             \
    do {                                                                                                     \
        struct plan p = usual;                                                                               \
        __VA_ARGS__;                                                                                         \
        expect_fault(&p, words);                                                                             \
    } while (0)

static void expect_fault(const struct plan *p, const char *words)
{
    const char *fault = plan_fault(p);

    CU_ASSERT_PTR_NOT_NULL_FATAL(fault);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, words));
}

TEST(plans_that_cannot_be)
{
    CU_ASSERT_PTR_NULL(plan_fault(&usual));
    EXPECT_FAULT("workers", p.workers = AGG_MAX_WORKERS + 1);
    EXPECT_FAULT("power of two", p.slots = 12);
    EXPECT_FAULT("even", p.phases = 3);
    EXPECT_FAULT("multiple", p.first_tag = 4);
    EXPECT_FAULT("type", p.type = AGG_TYPES);
    EXPECT_FAULT("no such operation", p.op = AGG_BAND);
    EXPECT_FAULT("tensor", p.tensor = true);
    EXPECT_FAULT("12 workers", p.op = AGG_PROD, p.workers = PRODUCT_WORKERS_MAX + 1);
    EXPECT_FAULT("8960", p.elements = 2241);
    EXPECT_FAULT("int32", p.format = XFER_FORMAT_INT32);
    EXPECT_FAULT("float16", p.format = XFER_FORMAT_FP16);
}

TEST(workers_are_told_apart)
{
    struct plan p = usual;

    CU_ASSERT_EQUAL(plan_worker(&p, 255).ip, usual.worker.ip + 255);
    CU_ASSERT_EQUAL(plan_worker(&p, 255).mac[4], 2); /* carried over from the last byte */
    CU_ASSERT_EQUAL(plan_worker(&p, 255).port, usual.worker.port);
    p.one_host = true;
    CU_ASSERT_EQUAL(plan_worker(&p, 255).ip, usual.worker.ip);
    CU_ASSERT_EQUAL(plan_worker(&p, 255).port, usual.worker.port + 255);
}

static int plan_told(struct told_plan *t, const char *option, const char *value)
{
    const struct option_group group = plan_options(t);
    const struct command_line line = {.intro = "", .groups = &group, .count = 1};
    char *argv[] = {"plan", (char *)option, (char *)value, NULL};

    *t = told_plan_default;
    return options_read(&line, value == NULL ? 2 : 3, argv);
}

TEST(a_plan_as_it_is_told)
{
    struct told_plan t;

    CU_ASSERT_EQUAL(plan_told(&t, "-j", "255"), OPTIONS_READ);
    CU_ASSERT_EQUAL(t.plan.job, 255);
    CU_ASSERT_EQUAL(plan_told(&t, "--job=256", NULL), EXIT_USAGE);
    CU_ASSERT_EQUAL(plan_told(&t, "--format", "int32"), OPTIONS_READ);
    CU_ASSERT_PTR_NULL(told_plan_fault(&t));
    CU_ASSERT(t.plan.format == XFER_FORMAT_INT32 && t.plan.type == AGG_I32);
    CU_ASSERT_EQUAL(plan_told(&t, "--format", "fp16"), OPTIONS_READ);
    CU_ASSERT_PTR_NULL(told_plan_fault(&t));
    CU_ASSERT(t.plan.format == XFER_FORMAT_FP16 && t.plan.type == AGG_F16);
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

TEST(ends_as_they_are_told)
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

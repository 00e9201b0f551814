/* swagg-pcap: what gen writes goes through a real pool, and check agrees with it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "by_the_book.h"
#include "capture/commands.h"
#include "capture/packets.h"
#include "capture/store.h"
#include "capture/verify.h"
#include "numbers/numbers.h"
#include "pcap_rig.h"
#include "plan.h"
#include "relay/slots.h"
#include "stderr_capture.h"
#include "switchml/pool.h"
#include "terms_of.h"
#include "transfer/blocks.h"
#include "unit.h"
#include "wire/control.h"
#include "wire/path.h"

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

TEST(a_file_that_is_no_capture_is_named)
{
    char file[] = "/tmp/no-capture-XXXXXX";
    const int fd = mkstemp(file);

    CU_ASSERT_FATAL(fd >= 0 && write(fd, "swagg: a switch that adds\n", 26) == 26);
    close(fd);
    expect_no_capture(file, "unknown file format");
    unlink(file);
    expect_no_capture(file, "No such file or directory");
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

TEST(a_switch_agrees_on_every_type_and_operation)
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
TEST(a_switch_agrees_on_formats_with_exponents)
{
    for (enum xfer_format format = XFER_FORMAT_INT32; format < XFER_FORMATS; format++)
        for (unsigned elements = 24; elements <= 256; elements *= 2) {
            struct plan p = usual;

            p.format = format;
            p.type = xfer_elements_code(format, 0) & 15;
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
    const bool int32 = p->format == XFER_FORMAT_INT32, exponent = chunk < plan_chunks(p) - p->slots;
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

TEST(a_tensor_travels_as_published)
{
    for (enum xfer_format format = XFER_FORMAT_INT32; format < XFER_FORMATS; format++)
        for (unsigned elements = 32; elements <= 33; elements++) {
            struct plan p = usual;

            p.format = format;
            p.type = xfer_elements_code(format, 0) & 15;
            p.elements = elements;
            p.tensor = true;
            for (uint32_t chunk = 0; chunk < plan_chunks(&p); chunk++)
                expect_scaled(&p, chunk);
        }
}

TEST(published_packets_have_size_codes)
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

        p.format = XFER_FORMAT_INT32;
        p.elements = known[i].elements;
        plan_frame(&p, 0, 0, frame);
        CU_ASSERT_EQUAL(frame[UDP_HEADERS_BYTES] & 7, known[i].code);
    }
}

TEST(a_switch_agrees_with_one_worker_or_many)
{
    struct plan p = usual;

    p.workers = 1;
    expect_right(&p);
    p.workers = AGG_MAX_WORKERS;
    p.slots = 1;
    expect_right(&p);
    p.one_host = true;
    p.first_tag = UINT32_MAX - 1; /* over the end of the tags */
    expect_right(&p);
}

/* Packets with a checksum of their own have none of UDP's here, so that only theirs can tell of the damage.
 */
TEST(damaged_packets_are_left_out)
{
    const struct sml_packet p = {
        .kind = SML_DATA, .size_code = SML_SIZE_AGREED, .checksum = XFER_CHECKSUM_CRC32C};
    struct recording r = {.file = "/tmp/test_pcap_XXXXXX", .pcap = pcap_open_dead(DLT_EN10MB, UDP_FRAME_MAX)};
    const struct udp_end worker = plan_worker(&usual, 3);
    uint8_t frame[UDP_FRAME_MAX], payload[SML_HEADER_BYTES + 64 + XFER_TRAILER_BYTES] = {0};
    const size_t bytes = sizeof(payload) - XFER_TRAILER_BYTES;
    struct store s = {0};

    close(mkstemp(r.file));
    r.dumper = pcap_dump_open(r.pcap, r.file);
    for (unsigned i = 0; i < 4; i++) {
        const bool result = i / 2, damaged = i % 2;
        size_t n;

        sml_build_header(payload, &p);
        sml_build_trailer(payload + bytes, result ? XFER_SWITCH : 3, payload, bytes, NULL, 0);
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
    CU_ASSERT(!s.packets[0].result && s.packets[1].result);
    store_free(&s);
    unlink(r.file);
}

/* Nothing tells here whether they are forged. */
TEST(keyed_packets_are_taken_and_counted)
{
    const struct sml_packet p = {
        .kind = SML_DATA, .size_code = SML_SIZE_AGREED, .checksum = XFER_CHECKSUM_KEYED, .job = 3};
    struct recording r = {.file = "/tmp/test_pcap_XXXXXX", .pcap = pcap_open_dead(DLT_EN10MB, UDP_FRAME_MAX)};
    const struct udp_end worker = plan_worker(&usual, 3);
    uint8_t frame[UDP_FRAME_MAX], payload[SML_HEADER_BYTES + 64 + XFER_AUTH_BYTES] = {0};
    struct store s = {0};

    close(mkstemp(r.file));
    r.dumper = pcap_dump_open(r.pcap, r.file);
    sml_build_header(payload, &p);
    record(&r, frame, udp_build(frame, &worker, &usual.sw, payload, sizeof(payload)));
    pcap_dump_close(r.dumper);
    pcap_close(r.pcap);
    CU_ASSERT_EQUAL_FATAL(store_read(&s, r.file), 0);
    CU_ASSERT(s.count == 1 && s.keyed == 1 && s.damaged + s.malformed == 0);
    CU_ASSERT(s.packets[0].bytes == 64 && s.job[s.packets[0].job].number == 3);
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
        CU_ASSERT_FATAL(udp_parse(&d, frame, plan_frame(p, worker, chunk, frame)));
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

TEST(merged_packets_are_taken_apart)
{
    struct plan p = usual;

    expect_runs_taken_apart(&p);
    p.elements = 365;
    p.slots = 16;
    expect_runs_taken_apart(&p);
    p.elements = 64;
    p.type = AGG_I32;
    p.format = XFER_FORMAT_INT32;
    expect_runs_taken_apart(&p);
    p.elements = 65;
    expect_runs_taken_apart(&p);
    p.type = AGG_F16;
    p.format = XFER_FORMAT_FP16;
    expect_runs_taken_apart(&p);
}

/* --- trees of switches ---------------------------------------------------------------------------------- */

/* Five ranks: one sends for itself, the others come by two switches. */
static const uint16_t five_by_three[5] = {0, 1, 1, 2, 2};

static struct sml_pool *make_root(const struct plan *p)
{
    const struct agg_node tree = {.ranks = 5, .contributor = five_by_three};
    const struct sml_pool_config cfg = pool_config(p);

    return relay_slots_of(&cfg, &tree);
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
        .format = p->format, .slots = (uint16_t)p->slots, .chunk_bytes = 64, .mode = XFER_ON_ARRIVAL});
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
TEST(a_root_of_a_tree_is_checked)
{
    struct plan p = usual;

    expect_right_in_a_tree(&p);
    p.op = AGG_AVG;
    expect_right_in_a_tree(&p);
    p.type = AGG_I32;
    expect_right_in_a_tree(&p);
}

/* Probes are no gradient packets, and not malformed. */
TEST(path_probes_are_other_packets)
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

/* --- the commands --------------------------------------------------------------------------------------- */

static int gen(const char *file, const char *option, const char *value)
{
    char *argv[] = {"gen", "-o", (char *)file, (char *)option, (char *)value, NULL};

    return command_gen(option == NULL ? 3 : value == NULL ? 4 : 5, argv);
}

TEST(gen_and_check_by_command)
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

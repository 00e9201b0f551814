/* swagg-pcap check: it finds what is wrong with a capture, and says where. */
#include <string.h>

#include "capture/store.h"
#include "capture/verify.h"
#include "pcap_rig.h"
#include "terms_of.h"
#include "unit.h"
#include "wire/control.h"

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

static void spoil_slot(struct store *s)
{
    first_result(s)->slot ^= 1;
}

static void spoil_version(struct store *s)
{
    first_result(s)->ver ^= 1;
}

static void spoil_exponent(struct store *s)
{
    first_result(s)->e0--;
}

TEST(a_wrong_exponent_is_found)
{
    struct plan p = usual;
    struct recording r;
    char why[128];

    p.format = XFER_FORMAT_INT32;
    p.type = AGG_I32;
    r = record_run(&p);
    CU_ASSERT_EQUAL(check_run(&r, &p, why, spoil_exponent).wrong, 1);
    CU_ASSERT_STRING_EQUAL(why, "its exponents are not the largest of the workers'");
}

TEST(a_wrong_result_is_found)
{
    static const struct {
        void (*tamper)(struct store *);
        const char *why;
    } faults[] = {
        {spoil_element, "element 5, "},
        {spoil_length, "its kind or length is not that of the contributions"},
        {spoil_slot, "its slot or version is not that of the contributions"},
        {spoil_version, "its slot or version is not that of the contributions"},
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

TEST(every_operation_is_checked_as_itself)
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

/* As where only what comes to a host was captured. */
static void lose_contributions(struct store *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++)
        if (s->packets[i].result)
            s->packets[kept++] = s->packets[i];
    s->count = kept;
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

TEST(what_is_missing_is_counted)
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

TEST(results_without_any_contribution_are_unknown)
{
    struct recording r = record_run(&usual);
    char why[128];
    const struct verify_job j = check_run(&r, &usual, why, lose_contributions);

    CU_ASSERT_EQUAL(j.unknown, r.results);
    CU_ASSERT_EQUAL(j.right + j.wrong, 0);
}

TEST(retransmissions_are_no_contributions)
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

/* Two contributions of one element of 2 bits, and their sums, which are 8 bits each. */
TEST(sums_of_table_values_are_checked)
{
    enum { IN = 16, OUT = SML_GROUP };
    struct stored_packet packets[] = {
        {.kind = SML_DATA, .e0 = 2, .worker = 1, .bytes = IN},
        {.kind = SML_DATA, .e0 = 2, .worker = 2, .at = IN, .bytes = IN},
        {.kind = SML_DATA, .e0 = 2, .result = true, .worker = 1, .at = 2 * IN, .bytes = OUT}};
    uint8_t bodies[2 * IN + OUT];
    struct store s = {.packets = packets, .count = 3, .bodies = bodies, .job = {{.size = 2}}, .jobs = 1};
    char why[128] = "";
    struct verify v = {.report = count_wrong, .context = why};

    s.job[0].format = XFER_FORMAT_TYPED;
    s.job[0].table = (struct sml_table){2, {0, 10, 20, 50}};
    memset(bodies, 0xe4, IN);      /* of a byte 0, 1, 2, 3: of each 16 numbers all the same */
    memset(bodies + IN, 0x55, IN); /* all 1 */
    for (unsigned i = 0; i < OUT; i++)
        bodies[2 * IN + i] = (uint8_t)(s.job[0].table.values[i / 16] + 10);
    verify(&v, &s);
    CU_ASSERT(v.job[0].right == 1 && v.job[0].wrong == 0);
    bodies[2 * IN + 17]++;
    v = (struct verify){.report = count_wrong, .context = why};
    verify(&v, &s);
    CU_ASSERT(v.job[0].right == 0 && v.job[0].wrong == 1);
    CU_ASSERT_STRING_EQUAL(why, "sum 17, 21, is not the 20 of the workers' table values");
}

/* --- jobs with a quorum --------------------------------------------------------------------------------- */

static void record_control(struct recording *r, struct udp_end from, struct udp_end to, struct ctl_message *m)
{
    uint8_t message[CTL_MESSAGE_MAX];
    static uint8_t frame[UDP_FRAME_MAX];

    m->head.version = CTL_VERSION;
    m->head.serial = 1;
    record(r, frame, udp_build(frame, &from, &to, message, ctl_build(message, m)));
}

/* How a rank joins a job that waits for no more than two. */
static void record_joining(struct recording *r, const struct plan *p, unsigned rank)
{
    const struct udp_end data = plan_worker(p, rank);
    struct udp_end worker = data, sw = p->sw;
    struct ctl_message join = {.head = {.type = CTL_JOIN,
                                        .incarnation = 100 + rank,
                                        .rank = (uint16_t)rank,
                                        .size = (uint16_t)p->workers},
                               .join = {.name = "quorum", .data_port = data.port}};
    struct ctl_message ready = {
        .head = join.head,
        .ready = {.job = p->job, .data_port = SML_PORT_FIRST, .data_ports = 1, .lost_after_ms = 5000}};

    worker.port = 40000;
    sw.port = CTL_PORT;
    join.join.terms = ready.ready.terms = terms_of((struct sml_terms){.format = p->format,
                                                                      .slots = (uint16_t)p->slots,
                                                                      .chunk_bytes = 64,
                                                                      .mode = XFER_ON_ARRIVAL,
                                                                      .quorum = 2});
    ready.head.type = CTL_READY;
    record_control(r, worker, sw, &join);
    record_control(r, sw, worker, &ready);
}

static void take_contribution(struct recording *r, const struct plan *p, unsigned worker, uint32_t chunk)
{
    static uint8_t frame[UDP_FRAME_MAX];
    const size_t bytes = plan_frame(p, worker, chunk, frame);
    struct agg_verdict v;
    struct udp_datagram d;
    struct sml_packet s;

    record(r, frame, bytes);
    CU_ASSERT_FATAL(udp_parse(&d, frame, bytes) && sml_parse(&s, d.payload, d.bytes) == SML_OK);
    sml_pool_apply(r->pool, sml_pool_locate(r->pool, &s, 0), (uint16_t)worker, &s, NULL, 0, &v);
    for (unsigned w = 0; w < p->workers; w++)
        if (v.reason == SML_SEND_ALL || v.reason == SML_SEND_QUORUM ||
            (v.reason == SML_SEND_LATE && w == worker))
            record_result(r, p, w, v.payload, v.bytes);
}

/* A run in which each chunk is closed with the first two of three ranks, in turn; the third gets the same
 * result. `first` ranks and those after them are captured as they join. */
static struct recording record_quorum(const struct plan *p, unsigned first)
{
    struct recording r = begin_recording(p);
    struct sml_pool_config cfg = pool_config(p);

    cfg.quorum = 2;
    for (unsigned rank = first; rank < p->workers; rank++)
        record_joining(&r, p, rank);
    r.pool = pool_of(&cfg);
    for (uint32_t chunk = 0; chunk < plan_chunks(p); chunk++)
        for (unsigned i = 0; i < p->workers; i++)
            take_contribution(&r, p, (chunk + i) % p->workers, chunk);
    free(r.pool);
    pcap_dump_close(r.dumper);
    pcap_close(r.pcap);
    return r;
}

TEST(sums_of_a_quorum_are_those_of_the_ranks_in_them)
{
    static const enum agg_op ops[] = {AGG_SUM, AGG_AVG, AGG_MAX};

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        struct plan p = usual;
        struct recording r;
        struct verify_job j;
        char why[128];

        p.op = ops[i];
        r = record_quorum(&p, 0);
        j = check_run(&r, &p, why, NULL);
        CU_ASSERT(r.results >= p.workers * plan_chunks(&p));
        CU_ASSERT_EQUAL(j.right, r.results);
        CU_ASSERT_EQUAL(j.wrong + j.missing + j.unknown + j.empty, 0);
        CU_ASSERT_STRING_EQUAL(why, "");
        r = record_quorum(&p, 0);
        j = check_run(&r, &p, why, spoil_element);
        CU_ASSERT(j.wrong == 1 && j.right == r.results - 1);
    }
}

/* As if it were the sum of all. */
static void name_all_ranks(struct store *s)
{
    const struct stored_packet *r = first_result(s);

    s->bodies[r->at + r->bytes - 1] = 7;
}

static void name_no_rank(struct store *s)
{
    const struct stored_packet *r = first_result(s);

    s->bodies[r->at + r->bytes - 1] = 0;
}

TEST(which_ranks_are_in_a_sum_is_checked)
{
    struct recording r = record_quorum(&usual, 0);
    char why[128];
    struct verify_job j = check_run(&r, &usual, why, name_all_ranks);

    CU_ASSERT(j.wrong == 1 && j.right == r.results - 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "is not the sum of the workers'"));
    r = record_quorum(&usual, 0);
    j = check_run(&r, &usual, why, name_no_rank);
    CU_ASSERT(j.wrong == 1 && j.right == r.results - 1);
    CU_ASSERT_STRING_EQUAL(why, "it names no ranks");
}

/* Whose contributions are which rank's is not known of those. */
TEST(ranks_whose_joining_was_not_captured_are_unknown)
{
    struct recording r = record_quorum(&usual, 1);
    char why[128];
    const struct verify_job j = check_run(&r, &usual, why, NULL);

    CU_ASSERT_EQUAL(j.wrong, 0);
    CU_ASSERT(j.right > 0 && j.unknown > 0);
    CU_ASSERT_EQUAL(j.right + j.unknown, r.results);
}

/* --- several switches ------------------------------------------------------------------------------------
 */

/* Two switches of a tree, which number their jobs alike: of other workers, with other elements. */
TEST(jobs_of_several_switches_are_told_apart)
{
    struct plan above = usual;
    struct verify v = {.format = usual.format, .report = count_wrong};
    struct recording below = record_run(&usual), r;
    struct store s = {0};
    char why[128] = "";
    struct verify_job j;

    above.sw.ip++;
    above.seed++;
    above.workers = 2;
    r = record_run(&above);
    v.context = why;
    CU_ASSERT_FATAL(store_read(&s, below.file) == 0 && store_read(&s, r.file) == 0);
    store_sort(&s);
    verify(&v, &s);
    j = job_of_plan(&v, &s, &usual);
    CU_ASSERT(j.workers == usual.workers && j.right == below.results);
    CU_ASSERT_EQUAL(j.wrong + j.missing + j.unknown + j.conflicts, 0);
    j = job_of_plan(&v, &s, &above);
    CU_ASSERT(j.workers == above.workers && j.right == r.results);
    CU_ASSERT_EQUAL(j.wrong + j.missing + j.unknown + j.conflicts, 0);
    store_free(&s);
    unlink(below.file);
    unlink(r.file);
}

TEST(two_jobs_of_one_number_are_refused)
{
    struct plan other = usual;
    struct recording first = record_quorum(&usual, 0), second;
    struct store s = {0};

    other.workers++;
    second = record_quorum(&other, 0);
    CU_ASSERT_EQUAL(store_read(&s, first.file), 0);
    CU_ASSERT_EQUAL(store_read(&s, second.file), -1);
    store_free(&s);
    unlink(first.file);
    unlink(second.file);
}

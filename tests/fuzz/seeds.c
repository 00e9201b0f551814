/* Writes the seed corpora, in the form that each target reads: messages from the real builders, and sequences
 * of steps without faults. seeds DIRECTORY writes them; seeds --check DIRECTORY checks that they are there.
 */
#include <errno.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "port/frame.h"
#include "switchml/pool.h"
#include "terms_of.h"
#include "transfer/messages.h"
#include "wire/atp.h"
#include "wire/control.h"
#include "wire/roce.h"

static const char *directory;
static bool check;

struct seed {
    uint8_t bytes[4096];
    size_t n;
};

static void put_bytes(struct seed *s, const void *bytes, size_t n)
{
    REQUIRE(s->n + n <= sizeof s->bytes);
    if (n > 0)
        memcpy(s->bytes + s->n, bytes, n);
    s->n += n;
}

#define PUT(seed, ...) put_bytes(seed, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void fail(const char *path, const char *why)
{
    fprintf(stderr, "seeds: %s: %s\n", path, why);
    exit(EXIT_FAILURE);
}

static void write_file(const char *path, const struct seed *s)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(s->bytes, 1, s->n, f) != s->n || fclose(f) != 0)
        fail(path, strerror(errno));
}

static void compare_file(const char *path, const struct seed *s)
{
    uint8_t bytes[sizeof s->bytes + 1];
    FILE *f = fopen(path, "rb");
    if (!f)
        fail(path, strerror(errno));
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    if (n != s->n || memcmp(bytes, s->bytes, n) != 0)
        fail(path, "is not what this program writes: run it again and see what has changed");
}

static void save(const struct seed *s, const char *target, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, target);
    if (!check && mkdir(path, 0777) < 0 && errno != EEXIST)
        fail(path, strerror(errno));
    snprintf(path, sizeof path, "%s/%s/seed-%s", directory, target, name);
    if (check)
        compare_file(path, s);
    else
        write_file(path, s);
}

/* Packets and messages as they are */

static void save_in_frame(const struct seed *payload, uint16_t port, const char *name)
{
    struct frame_end host = {.mac = {{2, 0, 0, 0, 0, 1}}, .port = net16(40000), .ip = net32(0x0a000001)};
    struct frame_end us = {.mac = {{2, 0, 0, 0, 0, 254}}, .port = net16(port), .ip = net32(0x0a0000fe)};
    struct frame_header h;
    struct frame_payload p = frame_payload(payload->bytes, payload->n, agg_kernels_scalar.ones_sum);
    uint8_t frame[sizeof payload->bytes];
    struct seed s = {0};
    frame_header_init(&h, &host, &us);
    frame_write(frame, &h, host.port, &p);
    PUT(&s, 0); /* nothing to mend */
    put_bytes(&s, frame, FRAME_HEADER_BYTES + payload->n);
    save(&s, "frame", name);
}

static void control_seed(uint8_t type)
{
    uint8_t bytes[CTL_MESSAGE_MAX];
    struct seed s = {0};
    struct ctl_message m;
    memset(&m, 0, sizeof m);
    m.head = (struct ctl_head){.type = type,
                               .version = CTL_VERSION,
                               .boot_id = 0xb007,
                               .incarnation = 77,
                               .epoch = 5,
                               .rank = 1,
                               .size = 4,
                               .serial = 3};
    switch (type) {
    case CTL_JOIN:
        strcpy(m.join.name, "train-1");
        m.join.data_port = 40001;
        m.join.queue_pair = 0x123456;
        m.join.ticket = 0x71c4e7;
        m.join.terms = terms_of((struct sml_terms){
            .format = XFER_FORMAT_TYPED, .mode = XFER_ORDERED, .slots = 512, .chunk_bytes = 1460});
        break;
    case CTL_READY:
        m.ready = (struct ctl_ready){.job = 7,
                                     .data_port = SML_PORT_FIRST,
                                     .data_ports = 1,
                                     .nic = CTL_NIC_MESSAGES,
                                     .lost_after_ms = 5000,
                                     .roster = 0x1234,
                                     .ticket = 0x71c4e7};
        m.ready.terms = terms_of((struct sml_terms){.format = XFER_FORMAT_TYPED,
                                                    .mode = XFER_ORDERED,
                                                    .slots = 512,
                                                    .chunk_bytes = 1460,
                                                    .first_tag = 12345});
        break;
    case CTL_PENDING:
        m.pending.waited_ms = 2100;
        ctl_ranks_add(&m.pending.missing, 2);
        ctl_ranks_add(&m.pending.missing, 3);
        break;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        m.heartbeat = (struct ctl_heartbeat){7, true, 2100, 12400, 64, 1, 33, true, 6};
        break;
    case CTL_ALIVE:
        m.alive.behind = 2;
        break;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        m.failure = (struct ctl_failure){CTL_RANK_LOST, 2, "rank 2 lost: no sign of life for 5.0 s"};
        break;
    }
    put_bytes(&s, bytes, ctl_build(bytes, &m));
    save(&s, "wire_control", ctl_type_name(type));
    if (type == CTL_JOIN)
        save_in_frame(&s, CTL_PORT, "JOIN");
}

static void save_packet(const char *name, struct sml_packet p, const void *body, size_t bytes)
{
    uint8_t head[SML_HEADER_BYTES];
    struct seed s = {0};
    p.job = 7;
    p.slot = 5;
    p.ver = 1;
    p.tag = 0x1205;
    sml_build_header(head, &p);
    put_bytes(&s, head, sizeof head);
    put_bytes(&s, body, bytes);
    if (p.checksum != XFER_CHECKSUM_NONE) {
        uint8_t trailer[XFER_TRAILER_BYTES];
        sml_build_trailer(trailer, 1, head, sizeof head, body, bytes);
        put_bytes(&s, trailer, sizeof trailer);
    }
    save(&s, "wire_switchml", name);
    if (p.kind == SML_DATA || p.kind == SML_OPEN)
        save_in_frame(&s, SML_PORT_FIRST, name);
}

static void packet_seeds(void)
{
    static const uint8_t zeros[1024], elements[64] = {1, 2, 3, 4}, boot_id[8] = {0xb0, 7}, ranks[1] = {5};
    static const struct xfer_call call = {
        .seq = 3, .collective = XFER_ALLREDUCE, .type = AGG_F32, .op = AGG_SUM, .count = 26};
    const struct xfer_mismatch mismatch = {
        .your_rank = 1, .your_tag = 0x1205, .peer_tag = 0x1205, .opening = true, .yours = call};
    uint8_t opening[XFER_CALL_BYTES + sizeof elements], mismatch_body[XFER_MISMATCH_BYTES];
    const uint8_t f32 = AGG_SUM << 4 | AGG_F32, agreed = SML_SIZE_AGREED;
    xfer_build_call(opening, &call);
    memcpy(opening + XFER_CALL_BYTES, elements, sizeof elements);
    xfer_build_mismatch(mismatch_body, &mismatch);
    for (uint8_t code = SML_SIZE_32; code <= SML_SIZE_256; code++) {
        char name[] = "DATA0";
        name[4] = (char)('0' + code);
        save_packet(name, (struct sml_packet){.kind = SML_DATA, .size_code = code, .e0 = 200}, zeros,
                    sml_size_bytes(code));
    }
    save_packet("DATA",
                (struct sml_packet){.kind = SML_DATA, .size_code = agreed, .e0 = f32, .e1 = SML_FLAG_WANT},
                elements, sizeof elements);
    save_packet("OPEN",
                (struct sml_packet){.kind = SML_OPEN, .size_code = agreed, .e0 = f32, .e1 = SML_FLAG_WANT},
                opening, sizeof opening);
    save_packet("PROBE", (struct sml_packet){.kind = SML_PROBE, .size_code = agreed, .e0 = f32}, NULL, 0);
    save_packet("checked-DATA",
                (struct sml_packet){.kind = SML_DATA,
                                    .size_code = agreed,
                                    .checksum = XFER_CHECKSUM_CRC32C,
                                    .e0 = f32,
                                    .e1 = SML_FLAG_WANT},
                elements, sizeof elements);
    save_packet("checked-PROBE",
                (struct sml_packet){
                    .kind = SML_PROBE, .size_code = agreed, .checksum = XFER_CHECKSUM_CRC32C, .e0 = f32},
                NULL, 0);
    save_packet("NACK", (struct sml_packet){.kind = SML_NACK, .size_code = agreed, .e0 = f32}, NULL, 0);
    save_packet("WAIT", (struct sml_packet){.kind = SML_WAIT, .size_code = agreed, .e0 = f32}, ranks,
                sizeof ranks);
    save_packet("MISMATCH", (struct sml_packet){.kind = SML_MISMATCH, .size_code = agreed, .e0 = f32},
                mismatch_body, sizeof mismatch_body);
    save_packet("REJECT", (struct sml_packet){.kind = SML_REJECT, .size_code = agreed}, boot_id,
                sizeof boot_id);
    save_packet("RESTORE",
                (struct sml_packet){.kind = SML_RESTORE, .size_code = agreed, .e0 = f32, .e1 = SML_FLAG_WANT},
                elements, sizeof elements);
}

/* Runs, as the targets read them */

enum { POOL_DATA = 0, POOL_OPEN = 2, POOL_PROBE = 3, POOL_RESTORE = 4, NOW = 2, SHADOW = 1, STALE = 0 };

static void pool_packet(struct seed *s, uint8_t rank, uint8_t slot, uint8_t when, uint8_t kind)
{
    PUT(s, 0, kind == POOL_PROBE ? 0 : 64 /* WANT */, 9 /* fill */, rank, slot, when, kind);
}

/* A quorum of two of three ranks, which are enough after a millisecond; the third is late, or far behind. */
static void pool_quorum_seed(const char *name, uint8_t kind)
{
    struct seed s = {0};
    PUT(&s, 2 + 8 * 2 + 24, kind, 5, 0xff, 0xff, 0xff, 0xfe);
    for (uint8_t turn = 0; turn < 4; turn++)
        for (uint8_t slot = 0; slot < 4; slot++) {
            pool_packet(&s, 0, slot, NOW, POOL_DATA);
            pool_packet(&s, 1, slot, NOW, kind & 4 && turn == 0 ? POOL_RESTORE : POOL_DATA);
            if (slot % 2 == 0)
                PUT(&s, 6, 60); /* 1.2 ms */
            if (slot == 3)
                pool_packet(&s, 2, slot, turn == 2 ? STALE : SHADOW, POOL_DATA);
            pool_packet(&s, 2, slot, turn == 1 ? NOW : SHADOW, POOL_PROBE);
        }
    save(&s, "pool", name);
}

/* Three ranks, four slots, three turns; a probe, a duplicate and a late copy each time. */
static void pool_seed(const char *name, uint8_t kind)
{
    struct seed s = {0};
    PUT(&s, 2 + 8 * 2, kind, 5, 0xff, 0xff, 0xff, 0xfe);
    for (uint8_t turn = 0; turn < 3; turn++)
        for (uint8_t slot = 0; slot < 4; slot++) {
            uint8_t what = slot == 0 && turn == 0 && !(kind & 1) ? POOL_OPEN : POOL_DATA;
            pool_packet(&s, 0, slot, NOW, what);
            pool_packet(&s, 1, slot, NOW, POOL_PROBE);
            pool_packet(&s, 1, slot, NOW, what);
            pool_packet(&s, 1, slot, NOW, what);
            pool_packet(&s, 0, slot, NOW, POOL_PROBE);
            if (kind & 4 && turn == 0)
                pool_packet(&s, 2, slot, NOW, POOL_RESTORE);
            pool_packet(&s, 2, slot, NOW, what);
            pool_packet(&s, 0, slot, SHADOW, what);
        }
    save(&s, "pool", name);
}

static void stream_step(struct seed *s, uint8_t kind)
{
    PUT(s, 2); /* poll */
    PUT(s, 5, 0, 17, 0,
        kind); /* an answer about the oldest chunk: 0 result, 3 NACK, 4 WAIT, 6 REJECT, 7 MISMATCH */
}

static void stream_seeds(void)
{
    struct seed s = {0};
    PUT(&s, 2, 0xff, 0xff, 0xff, 0xfd); /* four slots; the tags wrap */
    PUT(&s, 0, 0x20, 1, 150);           /* allreduce of floats */
    for (unsigned i = 0; i < 12; i++)
        stream_step(&s, i == 2 ? 4 : i == 4 ? 3 : 0);
    PUT(&s, 4, 2, 9); /* a restart */
    for (unsigned i = 0; i < 3; i++)
        stream_step(&s, 0);
    PUT(&s, 1, 0xff, 0xff, 1, 0xff, 0xff); /* time-outs */
    PUT(&s, 0, 0x13, 1, 40);               /* reduce of int64 to this rank, then to another */
    for (unsigned i = 0; i < 8; i++)
        stream_step(&s, 0);
    PUT(&s, 0, 0x01, 1, 40);
    for (unsigned i = 0; i < 8; i++)
        stream_step(&s, 0);
    save(&s, "stream", "calls");

    s.n = 0;
    PUT(&s, 2 + 128, 0, 0, 0, 9, 0, 0x20, 1, 150); /* with checksums; a bit of one is wrong */
    for (unsigned i = 0; i < 6; i++)
        stream_step(&s, i == 1 ? 4 : 0);
    PUT(&s, 5, 32, 17, 0, 0, 40, 1);
    stream_step(&s, 0);
    save(&s, "stream", "checked");

    s.n = 0;
    PUT(&s, 1, 0, 0, 0, 0, 0, 0x08, 1, 30); /* in place */
    stream_step(&s, 6);
    stream_step(&s, 7);
    save(&s, "stream", "failures");

    s.n = 0;
    PUT(&s, 2, 0, 0, 5, 0, 0, 0x20, 1, 150); /* a quorum; results of others, and what is gone */
    for (unsigned i = 0; i < 12; i++)
        stream_step(&s, i == 2 ? 4 : i % 5 == 4 ? 5 : 0);
    PUT(&s, 4, 2, 8); /* a restart; and one after which all is lost that this rank lacks */
    for (unsigned i = 0; i < 6; i++)
        stream_step(&s, 0);
    PUT(&s, 4, 3, 9);
    for (unsigned i = 0; i < 12; i++)
        stream_step(&s, 0);
    save(&s, "stream", "quorum");

    s.n = 0;
    PUT(&s, 64 + 2, 0, 0, 0, 3, 0, 0xf5, 1, 9); /* indices of 4 bits */
    for (unsigned i = 0; i < 6; i++)
        stream_step(&s, i == 1 ? 4 : i == 3 ? 3 : 0);
    PUT(&s, 4, 2, 9); /* a restart */
    for (unsigned i = 0; i < 9; i++)
        stream_step(&s, 0);
    save(&s, "stream", "compressed");
}

enum { F16 = 0, F32 = 1, I32 = 2, AVG = 16 };

/* Every packet's result, in order, with this exponent. */
static void numbers_call(struct seed *s, uint8_t what, uint8_t count, unsigned packets, uint8_t exponent)
{
    PUT(s, 0, what, 77, 3, count);
    for (unsigned i = 0; i < packets; i++) {
        PUT(s, 2); /* poll */
        PUT(s, 5, 0, 17, exponent, 0, i == 3 ? 3 : 0);
        if (i == 3) /* that was a NACK */
            PUT(s, 1, 0, 50, 5, 0, 17, exponent, 0, 0);
    }
}

static void numbers_seed(const char *name, uint8_t shape)
{
    struct seed s = {0};
    PUT(&s, shape, 0xff, 0xff, 0xff, 0xfd); /* four slots; the tags wrap */
    numbers_call(&s, F32, 100, 12, 3);
    PUT(&s, 4, 2, 9); /* a restart */
    PUT(&s, 1, 0, 50);
    numbers_call(&s, F16 | AVG, 60, 8, (uint8_t)-5);
    numbers_call(&s, I32, 40, 4, 0);
    numbers_call(&s, F32, 30, 4, 127); /* not finite */
    save(&s, "numbers", name);
}

enum { REGISTRY_JOIN = 0, REGISTRY_HEARTBEAT = 2, REGISTRY_LEAVE = 3, REGISTRY_ABORT = 4 };

static void registry_message(struct seed *s, uint8_t process, uint8_t type, uint8_t odd)
{
    PUT(s, (uint8_t)(process * 8 + 3), odd, type);
    if (type == REGISTRY_JOIN && odd & 8)
        PUT(s, 0, 5); /* number before, oldest tag */
    else if (type == REGISTRY_ABORT)
        PUT(s, CTL_APPLICATION, 0, 9);
    else if (type != REGISTRY_JOIN)
        PUT(s, 1, 0, 0, 5);
}

static void registry_wait(struct seed *s, uint16_t ms)
{
    PUT(s, 1, (uint8_t)(ms >> 8), (uint8_t)ms);
}

/* world: 1: pools take a while; 2: ranks 1 and 2 of each job come by a switch. */
static void registry_seed(const char *name, uint8_t world, uint8_t odd, uint8_t last)
{
    struct seed s = {0};
    PUT(&s, world);
    for (uint8_t p = 0; p < 3; p++)
        registry_message(&s, p, REGISTRY_JOIN, odd);
    for (uint8_t p = 0; p < 3; p++)
        registry_message(&s, p, REGISTRY_HEARTBEAT, 0);
    registry_wait(&s, 200);
    PUT(&s, 0, 0, 0, 2, 0, 0, 1); /* process 0 is started again, elsewhere */
    registry_message(&s, 0, REGISTRY_JOIN, 0);
    registry_wait(&s, 300);
    registry_message(&s, 1, REGISTRY_HEARTBEAT, 8);
    registry_message(&s, 1, last, 64);
    registry_wait(&s, 900);
    registry_message(&s, 0, REGISTRY_JOIN, 0);
    registry_message(&s, 2, REGISTRY_LEAVE, 0);
    save(&s, "registry", name);
}

/* The switch below has restarted, by which ranks 1 and 2 come: all join again, and are the job once more. */
static void registry_recall_seed(void)
{
    struct seed s = {0};
    PUT(&s, 2);
    for (uint8_t p = 0; p < 3; p++)
        registry_message(&s, p, REGISTRY_JOIN, 0);
    registry_message(&s, 1, REGISTRY_JOIN, 8);
    for (uint8_t p = 0; p < 3; p++)
        registry_message(&s, p, REGISTRY_HEARTBEAT, 0);
    registry_wait(&s, 100);
    for (uint8_t p = 0; p < 3; p++)
        registry_message(&s, p, REGISTRY_JOIN, 8);
    registry_message(&s, 2, REGISTRY_LEAVE, 0);
    save(&s, "registry", "recalled");
}

static void session_seeds(void)
{
    struct seed s = {0};
    PUT(&s, 20);
    PUT(&s, 5, 0, 0, 0, 12, 0, 5);                /* JOIN; PENDING; JOIN */
    PUT(&s, 0, 0, CTL_READY - 16, 5, 4, 3, 0xe8); /* READY; heartbeat after a second */
    PUT(&s, 0, 0, CTL_ALIVE - 16, 6, 5);
    PUT(&s, 0, 2, CTL_UNKNOWN - 16, 9, 5); /* UNKNOWN from another boot id; JOIN */
    PUT(&s, 0, 2, CTL_READY - 16, 9, 5);
    PUT(&s, 0, 0, CTL_ABORTED - 16, 7, 20);
    PUT(&s, 7, 1, 5, 0, 0, CTL_LEFT - 16);
    save(&s, "session", "life");

    s.n = 0;
    PUT(&s, 20, 5, 0, 0, CTL_READY - 16, 5, 7, 0, 5, 4, 0xff, 0xff);
    save(&s, "session", "abort");
}

/* Chunks of an allreduce of four ranks: all by the switch; then one rank past it, another one twice; then one
 * whose last rank is missed, by a question that takes out what there is. */
static void atp_seeds(void)
{
    struct seed s = {.n = 0};

    PUT(&s, 7, 0, 1, 1, 3, 3, 0, 1, 1); /* 8 aggregators, 4 ranks in one rack, with a CRC32C */
    for (uint8_t rank = 0; rank < 4; rank++)
        PUT(&s, 2, rank, 0, 5);
    PUT(&s, 10, 0, 0, 5); /* the result, on its way back */
    for (uint8_t rank = 0; rank < 4; rank++)
        PUT(&s, rank == 2 ? 0 : 2, rank, 0, 6);
    PUT(&s, 2, 1, 1, 6, 0xe0, 200);
    for (uint8_t rank = 0; rank < 3; rank++)
        PUT(&s, 2, rank, 0, 7);
    PUT(&s, 64 + 2, 1, 0, 7);
    PUT(&s, 64 + 2, 3, 0, 7);
    PUT(&s, 0, 3, 1, 7);
    PUT(&s, 64 + 2, 2, 0, 7);
    save(&s, "atp", "rounds");

    s = (struct seed){.n = 0};
    PUT(&s, 7, 0, 1, 1, 3, 3, 0, 1, 3); /* the same, of a job that resumes */
    PUT(&s, 2, 0, 0, 5, 0x82, 1, 0, 5); /* one contributes again to what another has the sum of */
    for (uint8_t rank = 0; rank < 4; rank++)
        PUT(&s, 2, rank, 0, 5);
    PUT(&s, 0x80, 2, 0, 6, 0x80, 3, 1, 6); /* two have the sum of the next chunk */
    save(&s, "atp", "restored");

    s = (struct seed){.n = 0};
    PUT(&s, 7, 0, 1, 1, 3, 3, 0, 1, 3);
    PUT(&s, 0xd0, 1, ATP_GRADIENT - 1, 0, 5, 5, 0xff, 0xff, agg_code(AGG_I32, AGG_SUM), 0, 4, 1, 0, 0, 0, 15,
        0, 0, 4, 1, 2, 3, 4); /* all that there is, says rank 1 of job 0 */
    PUT(&s, 0xd2, 2, ATP_GRADIENT - 1, 0, 6, 6, 0, 9, agg_code(AGG_F16, AGG_SUM), 0, 4, 1, 0, 63, 0, 15, 0, 0,
        4, 1, 2, 3, 4); /* all for the ninth, by the switch */
    PUT(&s, 0xd0, 3, ATP_RESTORE - 1, ATP_OPENING, 7, 7, 0xff, 0xff, agg_code(AGG_I32, AGG_SUM), 0, 0, 0, 0,
        0, 0, 0, 0, 0, 20); /* a call of nothing, says rank 3 */
    for (uint8_t i = 0; i < 20; i++)
        PUT(&s, 0);
    for (uint8_t rank = 0; rank < 4; rank++)
        PUT(&s, 3, rank, 0, 5); /* the other job */
    save(&s, "atp", "liars");
}

/* Three workers and the host: a chunk, a question about it, the next run, a stranger. */
static void hostagg_seeds(void)
{
    struct seed s = {0};

    PUT(&s, 1, 1, 2);
    for (uint8_t worker = 0; worker < 3; worker++)
        PUT(&s, 0, worker, 5, 1);
    PUT(&s, 1, 3, 5, 1);
    for (uint8_t worker = 0; worker < 3; worker++)
        PUT(&s, 0, worker, 0, 2);
    PUT(&s, 0, 0, 5, 1, 0xf0, 4, 1, 2, 3, 4, 0);
    save(&s, "hostagg", "runs");
}

/* As mpitcp.c reads it: ranks speak in turn, in pieces of up to 80 bytes. */
static void mpitcp_seed(const char *name, uint8_t how)
{
    struct seed s = {0};

    PUT(&s, how);
    for (unsigned round = 0; round < 90; round++)
        for (uint8_t who = 0; who < 4; who++)
            PUT(&s, who, (uint8_t)(11 + 23 * round % 70));
    save(&s, "mpitcp", name);
}

static void mpitcp_seeds(void)
{
    mpitcp_seed("neutral", 0);
    mpitcp_seed("kept", 9);
    mpitcp_seed("fragments", 2);
    mpitcp_seed("different", 4);
}

/* Workers by messages of so many packets, a power of two, until their sums are there; then some that are
 * lost, copied, damaged and sent again. */
static void roce_seed(const char *name, uint8_t workers, uint8_t power)
{
    const unsigned rounds = 60u << power / 2;
    struct seed s = {0};

    PUT(&s, (uint8_t)(workers - 1), power);
    for (unsigned round = 0; round < rounds; round++) {
        for (uint8_t rank = 0; rank < workers; rank++)
            PUT(&s, rank);
        for (uint8_t rank = 0; rank < workers; rank++)
            PUT(&s, 0); /* the sum arrives */
        if (round % 8 == 3 && round > rounds / 2)
            PUT(&s, 0x45, 1, 0x46, 1, 0x55, 0, 0, 0x55, 0x70,
                200); /* 0x46 is lost, 0x45 copied; time goes by */
    }
    PUT(&s, 0xe5, 40, 1, 4, 1, 2, 3, 4);
    save(&s, "roce", name);
}

/* What a NIC would carry, as it is: each packet's datagram is "carry!", with bytes behind that fill it up. */
static void roce_carried(struct seed *s, unsigned i, unsigned n, uint8_t fill)
{
    static const uint8_t none[ROCE_IP_UDP_BYTES];
    uint8_t payload[ROCE_BTH_BYTES + 6 + ROCE_FILL_MAX + ROCE_TAIL_MAX], *body = payload + ROCE_BTH_BYTES;
    const size_t bytes = 6u + fill;

    memcpy(body, "carry!", 6);
    if (fill > 0)
        roce_fill(body + 6, fill);
    roce_cover(none, payload, bytes, roce_send_opcode(i, n), ROCE_CARRIES | 0xc001, 9 + i);
    PUT(s, 0x60, (uint8_t)(ROCE_BTH_BYTES + bytes + roce_tail_bytes(bytes)));
    put_bytes(s, payload, ROCE_BTH_BYTES + bytes + roce_tail_bytes(bytes));
}

static void roce_seeds(void)
{
    struct seed s = {0};

    roce_seed("only", 3, 0);
    roce_seed("first-and-last", 2, 1);
    roce_seed("workers", 3, 2);
    roce_seed("longest", 2, 4);

    PUT(&s, 0, 0);
    roce_carried(&s, 0, 1, 0);
    roce_carried(&s, 0, 3, 2);
    roce_carried(&s, 1, 3, ROCE_FILL_MAX - 2);
    roce_carried(&s, 2, 3, 0);
    for (uint8_t packets = 1; packets <= XFER_MESSAGE_MAX; packets++) {
        PUT(&s, 0x30, (uint8_t)(packets - 1), 0, 0xff, 0xff, 0xfd); /* the numbers wrap */
        for (uint8_t i = 0; i < packets; i++)
            PUT(&s, (uint8_t)(i * 4 + 3), (uint8_t)(packets + i));
    }
    save(&s, "roce", "sends");
}

/* Two workers' frames: a sum, one that is late, one that makes room for a later one. */
static void clone_seeds(void)
{
    struct seed s = {0};

    PUT(&s, 1, 1, 0, 0);
    for (uint8_t worker = 0; worker < 2; worker++)
        PUT(&s, 0, worker, 5);
    PUT(&s, 0xf0, 0, 6, 0xf1, 0, 6, 0xf1, 1, 8, 0, 0, 8, 4, 0, 9, 12, 8, 0, 9, 3);
    save(&s, "clone", "late");
}

/* As tree.c reads them. */
enum {
    TREE_ABOVE = 64,
    TREE_DATA = 0,
    TREE_PROBE = 3,
    TREE_RESTORE = 4,
    TREE_ASK = 5,
    TREE_NACK = 3,
    TREE_WAIT = 4
};

static void tree_packet(struct seed *s, uint8_t who, uint8_t slot, uint8_t when, uint8_t kind)
{
    PUT(s, 0, 64 /* WANT */, who, slot, when, kind, 9 /* fill */);
}

/* Three contributors for five ranks, one of them elsewhere; four slots. In each turn: a contribution that is
 * late, a question, the sum that goes up twice, and the result. */
static void tree_seed(const char *name, uint8_t kind)
{
    struct seed s = {0};

    PUT(&s, kind, 8 * 2 + 5, 5, 0xff, 0xff, 0xff, 0xfe, 4, 0, 1, 4, 1, 2);
    for (uint8_t turn = 0; turn < 3; turn++)
        for (uint8_t slot = 0; slot < 4; slot++) {
            if (kind & 4 && turn == 0)
                tree_packet(&s, 2, slot, NOW, TREE_RESTORE);
            tree_packet(&s, 0, slot, NOW, TREE_DATA);
            tree_packet(&s, 1, slot, NOW, TREE_PROBE);
            tree_packet(&s, 1, slot, NOW, TREE_DATA);
            tree_packet(&s, 2, slot, NOW, TREE_ASK);
            tree_packet(&s, 2, slot, NOW, TREE_DATA);
            tree_packet(&s, 0, slot, NOW, TREE_PROBE);
            tree_packet(&s, TREE_ABOVE, slot, NOW, TREE_WAIT);
            tree_packet(&s, TREE_ABOVE, slot, NOW, TREE_NACK);
            tree_packet(&s, TREE_ABOVE, slot, NOW, TREE_DATA);
            tree_packet(&s, 0, slot, SHADOW, TREE_DATA);
        }
    save(&s, "tree", name);
}

/* As relay.c reads them: processes 0 to 2 are the ranks of one job. */
enum {
    RELAY_JOIN = 0,
    RELAY_HEARTBEAT = 2,
    RELAY_LEAVE = 3,
    RELAY_READY = 0,
    RELAY_ALIVE = 3,
    RELAY_LEFT = 6,
    RELAY_UNKNOWN = 7
};

static void relay_message(struct seed *s, uint8_t process, uint8_t type, uint8_t odd)
{
    PUT(s, (uint8_t)(process * 8 + 3), odd, type);
    if (type == RELAY_JOIN && odd & 8)
        PUT(s, 5, 1, 1, 2); /* oldest tag; numbers here and above */
    else if (type != RELAY_JOIN)
        PUT(s, 1);
}

static void relay_answer(struct seed *s, uint8_t process, uint8_t type, uint8_t odd)
{
    PUT(s, (uint8_t)(process * 8 + 6), odd, type);
    if (type == RELAY_READY)
        PUT(s, 7 /* ranks */, 2);
}

static void relay_seed(const char *name, uint8_t odd)
{
    struct seed s = {0};

    for (uint8_t life = 0; life < 2; life++) {
        for (uint8_t p = 0; p < 3; p++)
            relay_message(&s, p, RELAY_JOIN, odd);
        for (uint8_t p = 0; p < 3; p++)
            relay_answer(&s, p, RELAY_READY, odd);
        PUT(&s, 1, 0, 100); /* 100 ms */
        for (uint8_t p = 0; p < 3; p++) {
            relay_message(&s, p, RELAY_HEARTBEAT, 0);
            relay_answer(&s, p, life == 0 && p == 1 ? RELAY_UNKNOWN : RELAY_ALIVE, 0);
        }
        odd = 8;
    }
    relay_message(&s, 0, RELAY_LEAVE, 0);
    relay_answer(&s, 0, RELAY_LEFT, 0);
    PUT(&s, 128 + 8 + 2); /* the operator ends it */
    save(&s, "relay", name);
}

int main(int argc, char **argv)
{
    check = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (argc != (check ? 3 : 2)) {
        fprintf(stderr, "usage: seeds [--check] DIRECTORY\n");
        return EXIT_FAILURE;
    }
    directory = argv[argc - 1];
    for (uint8_t type = CTL_JOIN; type <= CTL_UNKNOWN; type++)
        if (type <= CTL_ABORT || type >= CTL_PENDING)
            control_seed(type);
    packet_seeds();
    pool_seed("ordered", 0);
    pool_seed("published", 1);
    pool_seed("checked", 16);
    pool_seed("checked-resumed-kept", 4 + 8 + 16);
    pool_seed("on-arrival", 2);
    pool_seed("resumed", 4);
    pool_seed("ordered-kept", 8);
    pool_seed("on-arrival-kept", 8 | 2);
    pool_seed("resumed-kept", 8 | 4);
    pool_seed("compressed", 64);
    pool_seed("compressed-wide-on-arrival", 64 | 128 | 2);
    pool_seed("compressed-resumed-kept", 64 | 8 | 4);
    pool_quorum_seed("quorum", 0);
    pool_quorum_seed("quorum-checked-resumed", 4 | 16);
    pool_quorum_seed("quorum-compressed-on-arrival", 2 | 64);
    stream_seeds();
    numbers_seed("int32", 2);
    numbers_seed("published", 2 + 128);
    numbers_seed("fp16", 2 + 64);
    registry_seed("fresh", 1, 0, REGISTRY_LEAVE);
    registry_seed("resumed", 1, 8, REGISTRY_ABORT);
    registry_seed("by-switches", 2, 0, REGISTRY_LEAVE);
    registry_seed("by-switches-resumed", 3, 8, REGISTRY_ABORT);
    registry_recall_seed();
    session_seeds();
    atp_seeds();
    hostagg_seeds();
    mpitcp_seeds();
    roce_seeds();
    clone_seeds();
    tree_seed("leaf", 0);
    tree_seed("leaf-resumed-kept", 4 + 8);
    tree_seed("leaf-published", 32 + 2);
    tree_seed("root-checked", 1 + 16);
    tree_seed("root-resumed", 1 + 4);
    relay_seed("fresh", 0);
    relay_seed("resumed", 8);
    return EXIT_SUCCESS;
}

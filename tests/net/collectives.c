/* One rank, or several in threads, that make collectives over libswagg and compare every sum, bit for bit,
 * with one that they compute themselves.
 *
 *     collectives --switch 10.77.0.254 --job J --rank R --size N [--seed S]
 *                 [--sizes 1,365,4M] [--calls C | --until-told] [--mode arrival] [--quorum Q]
 *
 * With --sizes: allreduce and reduce, of each type and number of elements. With --calls: C collectives of
 * random kind, type, size (up to --largest) and root, the same on every rank by the seed. What a rank
 * contributes follows from the seed, the call, the rank and the place, so each rank knows what all the others
 * contribute.
 *
 * With --until-told the random calls go on until one of the ranks gets SIGTERM. After each of them all ranks
 * sum up who was told, so they leave after the same one.
 *
 * With a quorum a sum is compared with that of the ranks which are in it; where it could not be had any more
 * it must be 0. Only calls of a packet are, for then all elements have the same ranks.
 *
 * Exit status: 0 all sums right; 1 a wrong sum; 2 usage; 3 a call failed (its status and text are on stderr).
 */
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "command_line.h"
#include "random/splitmix.h"
#include "swagg.h"

enum { EXIT_WRONG = 1, EXIT_FAILED = 3, SIZES_MAX = 64 };

struct sizes {
    size_t at[SIZES_MAX];
    unsigned n;
};

struct plan {
    struct swagg_options options;
    uint64_t seed;
    struct sizes sizes;
    unsigned calls;
    bool until_told; /* in place of calls */
    size_t largest;
    unsigned pause_ms;    /* between calls */
    unsigned stop_before; /* the number of a call */
    unsigned ranks;       /* in this process, from options.rank on */
    bool registers;
    char *registered;  /* with it: room for what a call sends, the same for all */
    const char *order; /* of additions: "((0,1),(2,3))"; NULL: by rank */
};

/* With a quorum: calls that lacked ranks, or this one, and those whose sum it could not have. */
struct shortfall {
    unsigned partial, left_out, missed;
};

struct call {
    uint64_t seed;
    bool reduce, in_place;
    enum swagg_type type;
    size_t count;
    int root;
};

static const enum swagg_type types[] = {SWAGG_F32, SWAGG_F64, SWAGG_I32, SWAGG_I64};
static const char *const type_names[] = {
    [SWAGG_I32] = "int32", [SWAGG_I64] = "int64", [SWAGG_F32] = "float", [SWAGG_F64] = "double"};

static const char intro[] = "usage: collectives --switch IP --job NAME --rank R --size N [OPTION...]\n"
                            "Sizes are in elements, with K or M.\n";

/* Floats of many magnitudes, so that another order of additions gives other bits; small whole numbers where
 * the order is not promised. */
static double random_number(const struct plan *p, uint64_t bits)
{
    double whole = (double)(int64_t)(bits % 2048) - 1024;

    return p->options.mode == SWAGG_ON_ARRIVAL ? whole : whole * (double)(1 + (bits >> 32) % 100003) / 4096;
}

static void contribution(const struct plan *p, const struct call *c, int rank, void *out)
{
    uint64_t of_rank = splitmix_hash(c->seed ^ splitmix_hash((uint64_t)rank));

    for (size_t i = 0; i < c->count; i++) {
        uint64_t bits = splitmix_hash(of_rank + i);

        switch (c->type) {
        case SWAGG_I32:
            ((uint32_t *)out)[i] = (uint32_t)bits;
            break;
        case SWAGG_I64:
            ((uint64_t *)out)[i] = bits;
            break;
        case SWAGG_F32:
            ((float *)out)[i] = (float)random_number(p, bits);
            break;
        default: /* SWAGG_F64 */
            ((double *)out)[i] = random_number(p, bits);
            break;
        }
    }
}

static void add(const struct call *c, void *sum, const void *x)
{
    for (size_t i = 0; i < c->count; i++) {
        switch (c->type) {
        case SWAGG_I32:
            ((uint32_t *)sum)[i] += ((const uint32_t *)x)[i];
            break;
        case SWAGG_I64:
            ((uint64_t *)sum)[i] += ((const uint64_t *)x)[i];
            break;
        case SWAGG_F32:
            ((float *)sum)[i] += ((const float *)x)[i];
            break;
        default: /* SWAGG_F64 */
            ((double *)sum)[i] += ((const double *)x)[i];
            break;
        }
    }
}

static void *allocate(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);

    if (p == NULL)
        abort();
    return p;
}

static int make_call(struct swagg_job *job, const struct call *c, void *send, void *recv)
{
    return c->reduce ? swagg_reduce(job, send, recv, c->count, c->type, SWAGG_SUM, c->root)
                     : swagg_allreduce(job, send, recv, c->count, c->type, SWAGG_SUM);
}

/* What a switch sends up: the sum, in their order, of those in the parentheses that *order begins with, which
 * are ranks and switches. Moves *order behind it. */
static void compute_at(const struct plan *p, const struct call *c, const char **order, void *sum,
                       size_t bytes)
{
    if (**order != '(') {
        contribution(p, c, (int)strtol(*order, (char **)order, 10), sum);
        return;
    }
    ++*order;
    compute_at(p, c, order, sum, bytes);
    while (*(*order)++ == ',') {
        void *other = allocate(bytes);

        compute_at(p, c, order, other, bytes);
        add(c, sum, other);
        free(other);
    }
}

/* The sums of the ranks in it, in the order of the tree, else in rank order. scratch holds one contribution.
 */
static void compute(const struct plan *p, const struct call *c, const struct swagg_turnout *in, void *sum,
                    void *scratch)
{
    const size_t bytes = c->count * swagg_element_size(c->type, SWAGG_SUM);
    const char *order = p->order;
    bool first = true;

    if (order != NULL) {
        compute_at(p, c, &order, sum, bytes);
        return;
    }
    memset(sum, 0, bytes);
    for (int rank = 0; rank < p->options.size; rank++) {
        if ((in->in_all[rank / 64] >> rank % 64 & 1) == 0)
            continue;
        contribution(p, c, rank, first ? sum : scratch);
        if (!first)
            add(c, sum, scratch);
        first = false;
    }
}

/* Who is in the sums. False: not the same ranks everywhere. */
static bool look(struct swagg_job *job, struct swagg_turnout *in, struct shortfall *s)
{
    *in = SWAGG_TURNOUT_INIT;
    swagg_get_turnout(job, in);
    s->partial += in->partial > 0;
    s->left_out += in->left_out > 0;
    s->missed += in->missed > 0;
    return memcmp(in->in_all, in->in_some, sizeof in->in_all) == 0 && (in->missed == 0 || in->elements == 0);
}

static int report_wrong(const struct plan *p, const struct call *c, const char *got, const char *expected)
{
    size_t element = swagg_element_size(c->type, SWAGG_SUM), first = 0, wrong = 0;

    for (size_t i = c->count; i-- > 0;)
        if (memcmp(got + i * element, expected + i * element, element) != 0) {
            first = i;
            wrong++;
        }
    fprintf(stderr,
            "collectives: rank %d: wrong sums in %s of %zu %s: %zu elements, the first is element %zu (seed "
            "%" PRIu64 ")\n",
            p->options.rank, c->reduce ? "reduce" : "allreduce", c->count, type_names[c->type], wrong, first,
            p->seed);
    return EXIT_WRONG;
}

static int run_call(const struct plan *p, struct swagg_job *job, const struct call *c, struct shortfall *s)
{
    struct swagg_turnout in;
    size_t bytes = c->count * swagg_element_size(c->type, SWAGG_SUM);
    bool receives = !c->reduce || c->root == p->options.rank;
    char *send = p->registered != NULL ? p->registered : allocate(bytes);
    char *sum = allocate(bytes), *recv = c->in_place ? send : allocate(bytes);
    int status = 0, rc;

    contribution(p, c, p->options.rank, send);
    rc = make_call(job, c, send, recv);
    if (p->registered != NULL && !(c->in_place && receives))
        memset(send, 0xff, bytes); /* the program's again, whatever a NIC is still about */
    if (rc < 0) {
        fprintf(stderr, "collectives: rank %d: %s of %zu %s: %s: %s\n", p->options.rank,
                c->reduce ? "reduce" : "allreduce", c->count, type_names[c->type], swagg_strerror(rc),
                swagg_last_error());
        status = EXIT_FAILED;
    } else if (look(job, &in, s) && receives) {
        /* Only now: peers need not wait for this rank's arithmetic. recv is taken, send is free unless in
         * place. */
        char *scratch = c->in_place ? allocate(bytes) : send;

        compute(p, c, &in, sum, scratch);
        if (bytes > 0 && memcmp(recv, sum, bytes) != 0)
            status = report_wrong(p, c, recv, sum);
        if (scratch != send)
            free(scratch);
    }
    if (recv != send)
        free(recv);
    if (send != p->registered)
        free(send);
    free(sum);
    return status;
}

static void pause_between(const struct plan *p)
{
    struct timespec t = {p->pause_ms / 1000, p->pause_ms % 1000 * 1000000};

    if (p->pause_ms > 0)
        nanosleep(&t, NULL);
}

static int run_sizes(const struct plan *p, struct swagg_job *job, unsigned *made, struct shortfall *s)
{
    int status = 0;

    for (unsigned n = 0; n < p->sizes.n && status == 0; n++)
        for (unsigned k = 0; k < 8 && status == 0; k++) {
            struct call c = {.seed = splitmix_hash(p->seed + n * 8 + k),
                             .reduce = k % 2,
                             .in_place = n % 2,
                             .type = types[k / 2],
                             .count = p->sizes.at[n],
                             .root = (int)(n % (unsigned)p->options.size)};

            status = run_call(p, job, &c, s);
            *made += status == 0;
            pause_between(p);
        }
    return status;
}

static volatile sig_atomic_t told;

static void hear(int signal)
{
    (void)signal;
    told = 1;
}

/* Whether a rank was told to end; the same on all of them. */
static int ask_all(const struct plan *p, struct swagg_job *job, bool *ends)
{
    int32_t mine = told, all = 0;
    int rc = swagg_allreduce(job, &mine, &all, 1, SWAGG_I32, SWAGG_SUM);

    *ends = all > 0;
    if (rc == 0)
        return 0;
    fprintf(stderr, "collectives: rank %d: who was told: %s: %s\n", p->options.rank, swagg_strerror(rc),
            swagg_last_error());
    return EXIT_FAILED;
}

static int run_random(const struct plan *p, struct swagg_job *job, unsigned *made, struct shortfall *s)
{
    int status = 0;
    bool ends = false;

    for (unsigned i = 0; (p->until_told ? !ends : i < p->calls) && status == 0; i++) {
        uint64_t r = splitmix_hash(p->seed ^ (uint64_t)i << 32);
        /* As many small ones as large ones: the size's logarithm is what is uniform. */
        size_t limit = p->largest >> r % 20;
        struct call c = {.seed = splitmix_hash(r),
                         .reduce = r >> 20 & 1,
                         .in_place = r >> 21 & 1,
                         .type = types[r >> 22 & 3],
                         .count = limit ? (r >> 24) % (limit + 1) : 1,
                         .root = (int)(r >> 60) % p->options.size};

        if (i == p->stop_before)
            raise(SIGSTOP);
        status = run_call(p, job, &c, s);
        *made += status == 0;
        if (status == 0 && p->until_told)
            status = ask_all(p, job, &ends);
        pause_between(p);
    }
    return status;
}

/* Reads a number of elements; *end: what follows it. */
static size_t read_size(const char *text, char **end)
{
    size_t n = strtoull(text, end, 10);

    if (*end != text && (**end == 'K' || **end == 'M'))
        n <<= *(*end)++ == 'K' ? 10 : 20;
    return n;
}

static bool option_size(const struct option_row *row, const char *text, void *field)
{
    char *end;

    *(size_t *)field = read_size(text, &end);
    if (end != text && *end == '\0')
        return true;
    complain("--%s: \"%s\" is not a number of elements", row->name, text);
    return false;
}

static bool option_sizes(const struct option_row *row, const char *text, void *field)
{
    struct sizes *sizes = field;
    char *end;

    for (const char *at = text; sizes->n < SIZES_MAX; at = end + 1) {
        sizes->at[sizes->n++] = read_size(at, &end);
        if (end == at || (*end != '\0' && *end != ','))
            break;
        if (*end == '\0')
            return true;
    }
    complain("--%s: \"%s\" is not a list of 1 to %d numbers of elements", row->name, text, SIZES_MAX);
    return false;
}

/* One of two words: 0 or 1. The field is an enum, which is as long as an int. */
static bool read_word(const struct option_row *row, const char *text, const char *const words[2], void *field)
{
    *(int *)field = strcmp(text, words[1]) == 0;
    if (*(int *)field == 1 || strcmp(text, words[0]) == 0)
        return true;
    complain("--%s: \"%s\" is neither %s nor %s", row->name, text, words[0], words[1]);
    return false;
}

static bool option_mode(const struct option_row *row, const char *text, void *field)
{
    static const char *const words[] = {[SWAGG_ORDERED] = "ordered", [SWAGG_ON_ARRIVAL] = "arrival"};

    return read_word(row, text, words, field);
}

static bool option_protocol(const struct option_row *row, const char *text, void *field)
{
    static const char *const words[] = {[SWAGG_PROTOCOL_SWITCHML] = "switchml", [SWAGG_PROTOCOL_ATP] = "atp"};

    return read_word(row, text, words, field);
}

static bool option_checksum(const struct option_row *row, const char *text, void *field)
{
    static const char *const words[] = {[SWAGG_CHECKSUM_NONE] = "none", [SWAGG_CHECKSUM_CRC32C] = "crc32c"};

    return read_word(row, text, words, field);
}

static bool option_uplink(const struct option_row *row, const char *text, void *field)
{
    static const char *const words[] = {
        [SWAGG_UPLINK_CONFIGURED] = "configured", [SWAGG_UPLINK_NONE] = "none"};

    return read_word(row, text, words, field);
}

static bool option_reduce(const struct option_row *row, const char *text, void *field)
{
    static const char *const words[] = {
        [SWAGG_REDUCE_COMPLETE] = "complete", [SWAGG_REDUCE_BUFFERED] = "buffered"};

    return read_word(row, text, words, field);
}

#define AT(field) offsetof(struct plan, field)

static const struct option_row rows[] = {
    {"switch", 0, "IP", option_text, AT(options.switch_ip), 0, 0, "of the switch"},
    {"job", 0, "NAME", option_text, AT(options.job), 0, 0, ""},
    {"rank", 0, "R", option_int, AT(options.rank), 0, INT_MAX, ""},
    {"size", 0, "N", option_int, AT(options.size), 0, INT_MAX, "ranks in all"},
    {"ranks", 0, "N", option_unsigned, AT(ranks), 0, INT_MAX,
     "is this rank and those that follow, N in all, a thread each"},
    {"seed", 0, "S", option_number, AT(seed), 0, UINT64_MAX, "of contributions and of random calls"},
    {"sizes", 0, "N,N,...", option_sizes, AT(sizes), 0, 0, "allreduce and reduce of each, of each type"},
    {"calls", 0, "N", option_unsigned, AT(calls), 0, UINT_MAX, "then so many random calls"},
    {"until-told", 0, NULL, option_flag, AT(until_told), 0, 0, "random calls until a rank gets SIGTERM"},
    {"largest", 0, "N", option_size, AT(largest), 0, 0, "size of a random call"},
    {"pause", 0, "MS", option_unsigned, AT(pause_ms), 0, UINT_MAX, "between random calls"},
    {"stop-before", 0, "CALL", option_unsigned, AT(stop_before), 0, UINT_MAX,
     "stops itself (SIGSTOP) before that random call"},
    {"mode", 0, "HOW", option_mode, AT(options.mode), 0, 0, "ordered or arrival"},
    {"order", 0, "TREE", option_text, AT(order), 0, 0,
     "how a tree of switches adds; ((0,1),(2,3)): ranks 0 and 1 at one switch, 2 and 3 at another"},
    {"protocol", 0, "NAME", option_protocol, AT(options.protocol), 0, 0,
     "switchml; or atp, and the switch is a server"},
    {"ranks-per-rack", 0, "N", option_int, AT(options.ranks_per_rack), 0, INT_MAX, "by ATP"},
    {"server-rack", 0, "N", option_int, AT(options.server_rack), 0, INT_MAX, "by ATP"},
    {"checksum", 0, "KIND", option_checksum, AT(options.checksum), 0, 0, "none or crc32c"},
    {"reduce", 0, "HOW", option_reduce, AT(options.reduce), 0, 0, "complete or buffered"},
    {"uplink", 0, "HOW", option_uplink, AT(options.uplink), 0, 0, "configured or none"},
    {"key-file", 0, "FILE", option_text, AT(options.key_file), 0, 0, ""},
    {"threads", 0, "N", option_int, AT(options.threads), 0, INT_MAX, "of the rank, which share a call"},
    {"window", 0, "N", option_int, AT(options.window), 0, INT_MAX, ""},
    {"slots", 0, "N", option_int, AT(options.slots), 0, INT_MAX, ""},
    {"mtu", 0, "BYTES", option_int, AT(options.mtu), 0, INT_MAX, ""},
    {"transport", 0, "WHAT", option_text, AT(options.transport), 0, 0, "kernel, or dpdk:DEVICE"},
    {"register", 0, NULL, option_flag, AT(registers), 0, 0, "what calls send is in registered memory"},
    {"message-packets", 0, "N", option_int, AT(options.message_packets), 0, INT_MAX, "by RoCE"},
    {"address", 0, "IP/N", option_text, AT(options.address), 0, 0, "the device's own"},
    {"gateway", 0, "IP", option_text, AT(options.gateway), 0, 0, ""},
    {"eal", 0, "WORDS", option_text, AT(options.eal), 0, 0, "further arguments of DPDK's"},
    {"call-timeout", 0, "MS", option_int, AT(options.call_timeout_ms), 0, INT_MAX, ""},
    {"join-timeout", 0, "MS", option_int, AT(options.join_timeout_ms), 0, INT_MAX, ""},
    {"answer-timeout", 0, "MS", option_int, AT(options.answer_timeout_ms), 0, INT_MAX, ""},
    {"link-timeout", 0, "MS", option_int, AT(options.link_timeout_ms), 0, INT_MAX, ""},
    {"quorum", 0, "N", option_int, AT(options.quorum), 0, INT_MAX, "ranks"},
    {"quorum-wait", 0, "MS", option_int, AT(options.quorum_wait_ms), 0, INT_MAX, ""},
};

/* Returns OPTIONS_READ, or the exit status. */
static int parse(struct plan *p, int argc, char *argv[])
{
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), p};
    const int status =
        options_read(&(struct command_line){.intro = intro, .groups = &group, .count = 1}, argc, argv);

    if (status != OPTIONS_READ ||
        (p->options.switch_ip != NULL && p->options.job != NULL && p->options.size > 0))
        return status;
    complain("--switch, --job, --rank and --size are needed; see --help");
    return EXIT_USAGE;
}

static void log_line(void *context, enum swagg_log_level level, const char *line)
{
    const struct plan *p = context;

    if (level <= SWAGG_LOG_INFO)
        fprintf(stderr, "collectives: rank %d: %s\n", p->options.rank, line);
}

/* False: it was not, or what says so does not. */
static bool make_registered(struct plan *p, struct swagg_job *job)
{
    size_t bytes = p->largest * sizeof(double);

    for (unsigned n = 0; n < p->sizes.n; n++)
        bytes = p->sizes.at[n] * sizeof(double) > bytes ? p->sizes.at[n] * sizeof(double) : bytes;
    p->registered = allocate(bytes);
    return swagg_register(job, p->registered, bytes) == SWAGG_OK &&
           (p->options.transport == NULL ||
            (swagg_register(job, p->registered, bytes) == SWAGG_ERR_ARGUMENT &&
             swagg_unregister(job, p->registered) == SWAGG_OK &&
             swagg_unregister(job, p->registered) == SWAGG_ERR_ARGUMENT &&
             swagg_register(job, p->registered, bytes) == SWAGG_OK));
}

/* One rank, from its opening of the job to its end. Returns the exit status. */
static int run_rank(struct plan *p)
{
    struct swagg_stats stats = SWAGG_STATS_INIT;
    struct shortfall shortfall = {0};
    struct swagg_job *job;
    unsigned made = 0;
    int rc, status;

    p->options.log = log_line;
    p->options.log_ctx = p;
    rc = swagg_open(&job, &p->options);
    if (rc < 0) {
        fprintf(stderr, "collectives: rank %d: open: %s: %s\n", p->options.rank, swagg_strerror(rc),
                swagg_last_error());
        return EXIT_FAILED;
    }
    printf("rank %d: open\n", p->options.rank);
    fflush(stdout);
    if (p->registers && !make_registered(p, job)) {
        fprintf(stderr, "collectives: rank %d: registering: %s\n", p->options.rank, swagg_last_error());
        swagg_close(job);
        return EXIT_FAILED;
    }
    status = run_sizes(p, job, &made, &shortfall);
    if (status == 0)
        status = run_random(p, job, &made, &shortfall);
    swagg_get_stats(job, &stats);
    swagg_close(job);
    free(p->registered);
    printf("rank %d: %u collectives right, %" PRIu64 " packets, %" PRIu64 " retransmitted, %" PRIu64
           " probes, %" PRIu64 " damaged, %" PRIu32 " resumed, seed %" PRIu64 "\n",
           p->options.rank, made, stats.packets_sent, stats.retransmitted, stats.probes,
           stats.damaged_packets, stats.resumed, p->seed);
    if (stats.message_packets > 0)
        printf("rank %d: the NIC's messages have up to %u packets\n", p->options.rank, stats.message_packets);
    if (p->options.quorum > 0)
        printf("rank %d: %u calls lack ranks, %u this one, %u are missed\n", p->options.rank,
               shortfall.partial, shortfall.left_out, shortfall.missed);
    return status;
}

struct thread {
    pthread_t id;
    struct plan plan;
    int status;
};

static void *run_thread(void *argument)
{
    struct thread *t = argument;

    t->status = run_rank(&t->plan);
    return NULL;
}

/* A rank has a few descriptors. */
static void raise_limit_of_files(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Returns the first exit status of a rank that is not 0. */
static int run_ranks(const struct plan *p)
{
    struct thread *thread = allocate(p->ranks * sizeof(*thread));
    int status = 0;

    raise_limit_of_files();
    for (unsigned i = 0; i < p->ranks; i++) {
        thread[i].plan = *p;
        thread[i].plan.options.rank += (int)i;
        if (pthread_create(&thread[i].id, NULL, run_thread, &thread[i]) != 0)
            abort();
    }
    for (unsigned i = 0; i < p->ranks; i++) {
        pthread_join(thread[i].id, NULL);
        status = status == 0 ? thread[i].status : status;
    }
    free(thread);
    return status;
}

int main(int argc, char *argv[])
{
    struct plan p = {
        .options = SWAGG_OPTIONS_DEFAULT, .seed = 1, .largest = 1 << 18, .stop_before = UINT_MAX, .ranks = 1};
    int status;

    p.options.link_timeout_ms = 300 * 1000; /* a busy machine is no failed link */
    status = parse(&p, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    if (p.until_told)
        signal(SIGTERM, hear);
    return p.ranks == 1 ? run_rank(&p) : run_ranks(&p);
}

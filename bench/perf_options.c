#include "perf_options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options_page.h"

static const char intro[] =
    "usage: swagg-perf --switch IP --job NAME --rank R --size N [OPTION...]\n"
    "Times collectives of growing sizes, in the form of nccl-tests, and verifies the sums.\n";

static bool read_type(const struct option_row *row, const char *text, void *field)
{
    const struct perf_type **type = field;

    *type = perf_type_named(text);
    if (*type == NULL)
        complain("--%s: \"%s\" is none of %s", row->name, text, PERF_TYPE_NAMES);
    return *type != NULL;
}

/* One of the words that the library's option of this name has. */
static bool read_word(const struct option_row *row, const char *text, void *field)
{
    return option_one_of(row, text, option_field_named(row->name)->words, field);
}

static bool print_options(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    (void)text;
    (void)field;
    puts("| option | values | 0 stands for | meaning |\n|---|---|---|---|");
    for (const struct option_field *f = option_fields; f->name != NULL; f++)
        option_print_row(f->name, f, NULL);
    exit(EXIT_GOOD);
}

/* The place in words of what a bool says. */
static bool read_choice(const struct option_row *row, const char *text, const char *no, const char *yes,
                        bool *is_yes)
{
    const char *const words[] = {no, yes, NULL};
    unsigned which;

    if (!option_one_of(row, text, words, &which))
        return false;
    *is_yes = which == 1;
    return true;
}

static bool read_check(const struct option_row *row, const char *text, void *field)
{
    return read_choice(row, text, "0", "1", field);
}

static bool read_operation(const struct option_row *row, const char *text, void *field)
{
    return read_choice(row, text, "allreduce", "reduce", field);
}

static bool read_timeout(const struct option_row *row, const char *text, void *field)
{
    struct perf *p = field;
    const bool good = option_int(row, text, &p->options.call_timeout_ms);

    p->options.join_timeout_ms = p->options.call_timeout_ms;
    return good;
}

static void log_line(void *ctx, enum swagg_log_level level, const char *line)
{
    static const char *const names[] = {"error", "warning", "info", "debug"};

    (void)ctx;
    fprintf(stderr, "libswagg: %s: %s\n", names[level], line);
}

static bool read_verbose(const struct option_row *row, const char *text, void *field)
{
    struct perf *p = field;

    (void)row;
    (void)text;
    p->options.log = log_line;
    return true;
}

#define FIELD(member) offsetof(struct perf, member)

static const struct option_row rows[] = {
    {"switch", 0, "IP", option_text, FIELD(options.switch_ip), 0, 0, "the switch's address"},
    {"job", 0, "NAME", option_text, FIELD(options.job), 0, 0, "the same for all ranks"},
    {"rank", 0, "R", option_int, FIELD(options.rank), 0, INT32_MAX, "0..N-1"},
    {"size", 0, "N", option_int, FIELD(options.size), 1, INT32_MAX, "number of ranks"},
    {"minbytes", 'b', "BYTES", option_bytes, FIELD(begin), 0, 0,
     "smallest tensor, with K, M or G; default 8"},
    {"maxbytes", 'e', "BYTES", option_bytes, FIELD(end), 0, 0, "largest tensor; default 16M"},
    {"stepfactor", 'f', "F", option_bytes, FIELD(factor), 0, 0, "from one size to the next; default 2"},
    {"iters", 'n', "N", option_int, FIELD(iterations), 0, INT32_MAX, "timed calls a size; default 20"},
    {"warmup_iters", 'w', "N", option_int, FIELD(warmups), 0, INT32_MAX, "calls before them; default 5"},
    {"pause", 'p', "MS", option_int, FIELD(pause_ms), 0, INT32_MAX,
     "before each timed call; ranks on one machine begin it together"},
    {"offset", 0, "MS", option_int, FIELD(offset_ms), 0, INT32_MAX, "so much later; default 0"},
    {"check", 'c', "0|1", read_check, FIELD(check), 0, 0, "verify the sums; default 1"},
    {"type", 'd', "TYPE", read_type, FIELD(type), 0, 0, PERF_TYPE_NAMES "; default float"},
    {"op", 'o', "OP", read_operation, FIELD(reduce), 0, 0, "allreduce, reduce; default allreduce"},
    {"root", 'r', "R", option_int, FIELD(root), 0, INT32_MAX, "of reduce; default 0"},
    {"json", 0, "FILE", option_text, FIELD(json), 0, 0, "rank 0 writes the table there, too"},
    {"numbers", 0, "N", read_word, FIELD(options.numbers), 0, 0, "how floats travel: native, int32, fp16"},
    {"compression", 0, "KIND", read_word, FIELD(options.compression), 0, 0,
     "of float's allreduce: none, thc"},
    {"compress-least", 0, "N", option_int, FIELD(options.compress_least), 0, INT32_MAX,
     "elements of a call that is compressed; default 16384"},
    {"bits", 0, "N", option_int, FIELD(options.thc_bits), 0, INT32_MAX, "of a compressed number; default 4"},
    {"mode", 0, "MODE", read_word, FIELD(options.mode), 0, 0,
     "ordered, arrival; as all that follow, as in swagg.h"},
    {"protocol", 0, "NAME", read_word, FIELD(options.protocol), 0, 0, "switchml, atp, auto"},
    {"server", 0, "IP[,IP...]", option_text, FIELD(options.server_ip), 0, 0,
     "ATP's parameter servers; default: the switch"},
    {"checksum", 0, "KIND", read_word, FIELD(options.checksum), 0, 0, "none, crc32c"},
    {"local", 0, "WHAT", read_word, FIELD(options.local), 0, 0,
     "auto, off: whether ranks of one host sum in its memory first"},
    {"key-file", 0, "FILE", option_text, FIELD(options.key_file), 0, 0, "with the key of the job's tenant"},
    {"slots", 0, "N", option_int, FIELD(options.slots), 0, INT32_MAX, "of the job"},
    {"threads", 0, "N", option_int, FIELD(options.threads), 0, INT32_MAX,
     "of this rank, that share its long calls; default: as many as its link is worth"},
    {"window", 0, "N", option_int, FIELD(options.window), 0, INT32_MAX, "chunks on their way"},
    {"mtu", 0, "BYTES", option_int, FIELD(options.mtu), 0, INT32_MAX, "of the path to the switch"},
    {"transport", 0, "WHAT", option_text, FIELD(options.transport), 0, 0,
     "kernel; roce, or roce: and a device; dpdk: and a device; default kernel"},
    {"register", 0, NULL, option_flag, FIELD(registers), 0, 0,
     "tensors are read by the NIC that carries packets (roce)"},
    {"message-packets", 0, "N", option_int, FIELD(options.message_packets), 0, INT32_MAX,
     "that are one message of the NIC's (roce); default: as measured"},
    {"address", 0, "IP/N", option_text, FIELD(options.address), 0, 0, "with a device: this rank's own"},
    {"gateway", 0, "IP", option_text, FIELD(options.gateway), 0, 0, "with a device: the way to the switch"},
    {"eal", 0, "WORDS", option_text, FIELD(options.eal), 0, 0, "with a device: further arguments of DPDK's"},
    {"answer-timeout", 0, "MS", option_int, FIELD(options.answer_timeout_ms), 0, INT32_MAX,
     "of the switch's first answer; default 3000"},
    {"link-timeout", 0, "MS", option_int, FIELD(options.link_timeout_ms), 0, INT32_MAX,
     "of one of several switches, which is then done without; default 10000"},
    {"timeout", 0, "MS", read_timeout, 0, 0, INT32_MAX, "of joining and of each call"},
    {"options", 0, NULL, print_options, 0, 0, 0,
     "prints the library's options, as docs/libswagg.md has them, and ends"},
    {"verbose", 'v', NULL, read_verbose, 0, 0, 0, "the library's log to stderr, statistics at the end"},
};

/* What every run needs. */
static const char *missing(const struct perf *p)
{
    const bool server_alone = p->options.protocol == SWAGG_PROTOCOL_ATP && p->options.server_ip != NULL;

    if (p->options.switch_ip == NULL && !server_alone)
        return "--switch is missing: the switch's IPv4 address";
    if (p->options.job == NULL)
        return "--job is missing: a name, the same for all ranks";
    if (p->options.size == 0)
        return "--size is missing: the number of ranks";
    if (p->options.rank >= p->options.size)
        return "--rank must be less than --size";
    return NULL;
}

static const char *fault(const struct perf *p)
{
    if (p->options.server_ip != NULL && p->options.protocol == SWAGG_PROTOCOL_SWITCHML)
        return "--server: only with --protocol atp or auto";
    if (p->begin > p->end)
        return "--minbytes is more than --maxbytes: no size is left";
    if (p->factor < 2)
        return "--stepfactor must be 2 or more";
    if (p->options.compression != SWAGG_COMPRESSION_NONE &&
        (p->reduce || p->type != perf_type_named("float")))
        return "--compression: only for the allreduce of --type float";
    if (p->offset_ms > 0 && p->offset_ms >= p->pause_ms)
        return "--offset must be less than --pause";
    if (p->iterations < 1)
        return "--iters must be 1 or more";
    return swagg_numbers_carry(p->options.numbers, p->type->type, SWAGG_SUM)
               ? NULL
               : "--numbers: not for this --type; int32 and fp16 carry float, and int32 integers";
}

int perf_parse(struct perf *p, int argc, char *argv[])
{
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), p};
    const struct command_line line = {
        .version = swagg_version(), .intro = intro, .groups = &group, .count = 1};
    const char *why;
    int ret;

    *p = (struct perf){.options = {.struct_size = sizeof p->options, .compress_least = 16384},
                       .begin = 8,
                       .end = 16 << 20,
                       .factor = 2,
                       .iterations = 20,
                       .warmups = 5,
                       .check = true,
                       .type = perf_type_named("float")};
    ret = options_read(&line, argc, argv);
    if (ret != OPTIONS_READ)
        return ret;
    why = missing(p);
    if (why == NULL)
        why = fault(p);
    if (why != NULL)
        complain("%s", why);
    return why == NULL ? OPTIONS_READ : EXIT_USAGE;
}

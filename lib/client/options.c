#include "options.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "atp/topology.h"
#include "describe.h"
#include "gpu_driver.h"
#include "local/plan.h"
#include "monotonic.h"
#include "options_table.h"
#include "protocols.h"
#include "random/splitmix.h"
#include "thc/codec.h"

static int check_range(const char *what, int value, int least, int most)
{
    if (value >= least && value <= most)
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT, "options.%s is %d: it must be %d to %d", what, value, least, most);
}

/* Like check_range, for options where 0 stands for the default. */
static int check_optional(const char *what, int value, int least, int most)
{
    if (value == 0 || (value >= least && value <= most))
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT, "options.%s is %d: it must be %d to %d, or 0 for the default",
                       what, value, least, most);
}

static int value_of(const struct swagg_options *in, const struct option_field *f)
{
    return *(const int *)((const char *)in + f->offset);
}

/* Words, and numbers whose bounds are in the table. */
static int check_field(const struct swagg_options *in, const struct option_field *f)
{
    int words = 0;
    if (f->form == OPTION_NUMBER && f->most > 0)
        return check_optional(f->name, value_of(in, f), (int)f->least, (int)f->most);
    if (f->form != OPTION_WORD)
        return SWAGG_OK;
    while (f->words[words])
        words++;
    return check_range(f->name, value_of(in, f), 0, words - 1);
}

/* Those of compression count with it only. */
static int check_fields(const struct swagg_options *in)
{
    int rc = SWAGG_OK;
    for (const struct option_field *f = option_fields; f->name && rc == SWAGG_OK; f++)
        if (in->compression || (strncmp(f->name, "thc_", 4) != 0 && strcmp(f->name, "compress_least") != 0 &&
                                strcmp(f->name, "best_effort_ms") != 0))
            rc = check_field(in, f);
    return rc;
}

/* What a number is, or what 0 stands for. */
static int number_of(const struct swagg_options *in, const char *name)
{
    const struct option_field *f = option_field_named(name);
    return value_of(in, f) ? value_of(in, f) : (int)f->usual;
}

static int read_node(struct client_nodes *out, const char *what, const char *option, const char *text,
                     size_t length)
{
    struct client_node *node = &out->at[out->n];
    *node = (struct client_node){.what = what};
    if (length < sizeof node->text)
        memcpy(node->text, text, length);
    if (length >= sizeof node->text || inet_pton(AF_INET, node->text, &node->ip) != 1)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.%s has '%.*s': it must be an IPv4 address like 10.0.0.254", option,
                           (int)(length < 64 ? length : 64), text);
    inet_ntop(AF_INET, &node->ip, node->text, sizeof node->text);
    for (unsigned i = 0; i < out->n; i++)
        if (out->at[i].ip.s_addr == node->ip.s_addr)
            return client_fail(SWAGG_ERR_ARGUMENT, "options.%s names %s twice: a %s takes part once", option,
                               node->text, what);
    out->n++;
    return SWAGG_OK;
}

static int read_places(struct client_nodes *out, const char *what, const char *option, unsigned most,
                       const char *list)
{
    *out = (struct client_nodes){0};
    for (const char *text = list;;) {
        const size_t length = strcspn(text, ",");
        if (out->n == most)
            return client_fail(SWAGG_ERR_ARGUMENT, "options.%s is '%.64s': it can have %u address%s at most",
                               option, list, most, most == 1 ? "" : "es");
        int rc = read_node(out, what, option, text, length);
        if (rc < 0 || text[length] == '\0')
            return rc;
        text += length + 1;
    }
}

/* A hash of the addresses in their order, by which ranks find out that they have other lists; 0: there is
 * only one. */
static uint32_t places_hash(const struct client_nodes *nodes)
{
    uint64_t hash = 0;
    if (nodes->n < 2)
        return 0;
    for (unsigned i = 0; i < nodes->n; i++)
        hash = splitmix_hash(hash ^ nodes->at[i].ip.s_addr);
    return (uint32_t)hash | 1;
}

static int check_block(int block)
{
    if (block == 0 || (block >= THC_LEAST_BLOCK && block <= THC_MOST_BLOCK && (block & (block - 1)) == 0))
        return SWAGG_OK;
    return client_fail(SWAGG_ERR_ARGUMENT,
                       "options.thc_block is %d: it must be a power of two, %d to %d, or 0 for the default",
                       block, THC_LEAST_BLOCK, THC_MOST_BLOCK);
}

/* The width of sums, and the granularity, from what was said of them: sums of 8 bits where they have room for
 * a table, and as fine a one as is usual. */
static int choose_sums(struct client_compression *out, const struct swagg_options *in)
{
    const unsigned ranks = (unsigned)in->size, least = (1u << out->table.bits) - 1;
    const unsigned fine = (unsigned)number_of(in, "thc_granularity");
    const unsigned needed = in->thc_granularity ? fine : least;
    unsigned bits = (unsigned)in->thc_sum_bits;

    if (bits == 0)
        bits = thc_granularity_for(ranks, 8) >= needed ? 8 : 16;
    const unsigned fits = thc_granularity_for(ranks, bits);
    if (fits < needed)
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options: %u bits with a granularity of %u take more than sums of %u bits for %u ranks, which "
            "fit a granularity of %u at most: lower thc_granularity or thc_bits%s",
            out->table.bits, needed, bits, ranks, fits, bits == 8 ? ", or set thc_sum_bits to 16" : "");
    out->sum_bits = (uint8_t)bits;
    out->table.granularity = (uint8_t)(fine < fits ? fine : fits);
    return SWAGG_OK;
}

/* Numbers with a scale have packets of their own, and calls that are looked up are typed ones. */
static int check_native(const struct swagg_options *in)
{
    if (in->numbers == SWAGG_NUMBERS_NATIVE)
        return SWAGG_OK;
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "options.compression and options.numbers exclude each other: leave one of them at its default");
}

static int check_exact(const struct swagg_options *in)
{
    if (in->best_effort_ms == 0)
        return SWAGG_OK;
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "options.best_effort_ms is for compressed calls: set options.compression, or leave it 0");
}

int client_compression_resolve(struct client_compression *out, const struct swagg_options *in)
{
    int rc;

    *out = (struct client_compression){.on = in->compression != SWAGG_COMPRESSION_NONE};
    if (!out->on)
        return check_exact(in);
    if ((rc = check_native(in)) || (rc = check_block(in->thc_block)))
        return rc;
    if (in->thc_sum_bits != 0 && in->thc_sum_bits != 8 && in->thc_sum_bits != 16)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.thc_sum_bits is %d: it must be 8, 16, or 0 for what fits",
                           in->thc_sum_bits);
    out->table.bits = (uint8_t)number_of(in, "thc_bits");
    rc = check_optional("thc_granularity", in->thc_granularity, (1 << out->table.bits) - 1,
                        THC_MOST_GRANULARITY);
    if (rc < 0 || (rc = choose_sums(out, in)) < 0)
        return rc;
    out->one_in = (uint32_t)number_of(in, "thc_clamped_one_in");
    out->table.fraction = 1.0 / out->one_in;
    out->block = (uint32_t)number_of(in, "thc_block");
    out->least = (uint32_t)number_of(in, "compress_least");
    out->feedback = in->feedback == SWAGG_FEEDBACK_BY_TENSOR;
    out->feedback_bytes =
        in->feedback_bytes ? in->feedback_bytes : (size_t)option_field_named("feedback_bytes")->usual;
    out->patience_ns = (uint64_t)in->best_effort_ms * NS_PER_MS;
    thc_table_solve(&out->table);
    return SWAGG_OK;
}

/* What is decided chunk by chunk, or takes a table of all of the call. */
static int check_switches(const struct client_options *o, const struct swagg_options *in)
{
    const char *what = in->compression != SWAGG_COMPRESSION_NONE ? "compression"
                       : o->quorum                               ? "quorum"
                                                                 : NULL;
    if (o->in_switch.n < 2 || !what)
        return SWAGG_OK;
    return client_fail(
        SWAGG_ERR_ARGUMENT,
        "options.%s and several switches in options.switch_ip exclude each other: leave it at its "
        "default, or name one switch",
        what);
}

static int check_name(const char *name)
{
    if (!name || !*name)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.job is missing: give the job a name, the same on every rank");
    if (strlen(name) >= CTL_NAME_MAX)
        return client_fail(SWAGG_ERR_ARGUMENT, "options.job has %zu characters: at most %d fit", strlen(name),
                           CTL_NAME_MAX - 1);
    for (const char *c = name; *c; c++)
        if (!isprint((unsigned char)*c) || (unsigned char)*c > 126)
            return client_fail(SWAGG_ERR_ARGUMENT,
                               "options.job has a character of code %u at position %td: use printable ASCII",
                               (unsigned char)*c, c - name);
    return SWAGG_OK;
}

static int check_key_file(const char *path)
{
    if (path && strlen(path) >= PATH_MAX)
        return client_fail(SWAGG_ERR_ARGUMENT, "options.key_file has %zu characters: at most %d fit",
                           strlen(path), PATH_MAX - 1);
    return SWAGG_OK;
}

enum xfer_format client_format(enum swagg_numbers numbers)
{
    switch (numbers) {
    case SWAGG_NUMBERS_INT32:
        return XFER_FORMAT_INT32;
    case SWAGG_NUMBERS_FP16:
        return XFER_FORMAT_FP16;
    default:
        return XFER_FORMAT_TYPED;
    }
}

bool client_format_carries(enum xfer_format format, enum swagg_type type, enum swagg_op op)
{
    if (agg_element_size((unsigned)type, (unsigned)op) == 0)
        return false;
    return !xfer_has_exponents(format) || xfer_blocks_carry(format, (unsigned)type, (unsigned)op);
}

/* SwitchML's packets have no room for a checksum, and every rank of theirs waits for the sum. */
static int check_together(const struct swagg_options *in)
{
    if (in->numbers != SWAGG_NUMBERS_NATIVE && in->checksum != SWAGG_CHECKSUM_NONE)
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options.checksum and options.numbers exclude each other: SwitchML's packets have no "
            "room for a checksum; leave one of them at its default");
    if (in->numbers != SWAGG_NUMBERS_NATIVE && in->reduce == SWAGG_REDUCE_BUFFERED)
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options.reduce = SWAGG_REDUCE_BUFFERED and options.numbers exclude each other: with "
            "SwitchML's numbers every rank needs the result; leave one of them at its default");
    return SWAGG_OK;
}

/* The protocol that ranks join under an option's word; NULL: there is none. */
static const struct agg_protocol *protocol_of(enum swagg_protocol option)
{
    const char *word = option_field_named("protocol")->words[option];
    unsigned n;
    const struct agg_protocol *const *protocols = agg_protocols(&n);
    for (unsigned i = 0; i < n; i++)
        if (protocols[i]->worker && strcmp(protocols[i]->name, word) == 0)
            return protocols[i];
    return NULL;
}

static void resolve_protocol(struct client_options *out, const struct swagg_options *in)
{
    const bool either = in->protocol == SWAGG_PROTOCOL_AUTO;
    out->protocol = protocol_of(either ? SWAGG_PROTOCOL_SWITCHML : in->protocol);
    out->instead = either ? protocol_of(SWAGG_PROTOCOL_ATP) : NULL;
}

/* All ranks are said to be on this host: by their number, or since there is no word of a switch. Sums of
 * fewer than all are a switch's. */
static bool is_of_one_host(const struct swagg_options *in)
{
    const bool said = in->local_ranks ? in->local_ranks == in->size : !in->switch_ip && !in->server_ip;
    return said && in->local == SWAGG_LOCAL_AUTO && !in->quorum && !in->quorum_percent;
}

/* Ranks that go on without some sums, each on its own, have no level within the host; nor have those at
 * several switches with ATP, which are told apart by their numbers. */
static int resolve_local(struct client_options *out, const struct swagg_options *in)
{
    const char *directory = in->local_directory ? in->local_directory : "";
    const bool has_racks = in->protocol != SWAGG_PROTOCOL_SWITCHML && in->size > out->per_rack;
    const bool flat =
        in->local == SWAGG_LOCAL_OFF || in->size == 1 || out->quorum || in->best_effort_ms || has_racks;
    if (strlen(directory) >= PATH_MAX)
        return client_fail(SWAGG_ERR_ARGUMENT, "options.local_directory has %zu characters: at most %d fit",
                           strlen(directory), PATH_MAX - 1);
    memcpy(out->local.directory, directory, strlen(directory) + 1);
    out->local.wish = flat ? 0 : 2 * LOCAL_VERSION;
    return SWAGG_OK;
}

/* A switch may be a parameter server, too. */
static int resolve_addresses(struct client_options *out, const struct swagg_options *in)
{
    int rc = SWAGG_OK;
    out->local.only = is_of_one_host(in);
    if (out->local.only && !in->switch_ip)
        return SWAGG_OK;
    if (!in->switch_ip && !(out->protocol->worker->at_servers && in->server_ip))
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.switch_ip is missing: set it to the switch's IPv4 address");
    if (in->switch_ip)
        rc = read_places(&out->in_switch, "switch", "switch_ip", SWAGG_SERVERS_MAX, in->switch_ip);
    if (rc < 0)
        return rc;
    return read_places(&out->in_servers, "parameter server", in->server_ip ? "server_ip" : "switch_ip",
                       SWAGG_SERVERS_MAX, in->server_ip ? in->server_ip : in->switch_ip);
}

/* What ATP does not have. */
static int check_protocol(const struct swagg_options *in)
{
    if (in->protocol == SWAGG_PROTOCOL_SWITCHML)
        return SWAGG_OK;
    if (in->compression != SWAGG_COMPRESSION_NONE)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.compression and options.protocol exclude each other: ATP sums what comes "
                           "as it is; leave one of them at its default");
    if (in->reduce == SWAGG_REDUCE_BUFFERED)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.reduce = SWAGG_REDUCE_BUFFERED and options.protocol exclude each other: "
                           "ATP buffers no reduces; leave one of them at its default");
    return SWAGG_OK;
}

/* How many ranks are enough for a sum, and for how long more are waited for. */
static int resolve_quorum(struct client_options *out, const struct swagg_options *in)
{
    const int share = (int)(((int64_t)in->size * in->quorum_percent + 99) / 100);
    int rc;
    if ((rc = check_optional("quorum", in->quorum, 1, in->size)) ||
        (rc = check_range("quorum_wait_ms", in->quorum_wait_ms, 0, UINT16_MAX)))
        return rc;
    if (in->quorum && in->quorum_percent)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.quorum and options.quorum_percent are both set: leave one of them at 0");
    if (!in->quorum && !in->quorum_percent) {
        if (in->quorum_wait_ms)
            return client_fail(SWAGG_ERR_ARGUMENT,
                               "options.quorum_wait_ms is %d, but there is no quorum: set options.quorum or "
                               "options.quorum_percent, too",
                               in->quorum_wait_ms);
        return SWAGG_OK;
    }
    if (in->protocol != SWAGG_PROTOCOL_SWITCHML || in->numbers != SWAGG_NUMBERS_NATIVE)
        return client_fail(
            SWAGG_ERR_ARGUMENT,
            "options.quorum and options.%s exclude each other: only native numbers by SwitchML "
            "are summed without some ranks; leave one of them at its default",
            in->numbers != SWAGG_NUMBERS_NATIVE ? "numbers" : "protocol");
    out->quorum = (uint16_t)(in->quorum ? in->quorum : share);
    out->quorum_wait_ms = (uint16_t)in->quorum_wait_ms;
    return SWAGG_OK;
}

/* The library's name, or path, as the program has loaded it. */
static int resolve_gpu_driver(struct client_options *out, const struct swagg_options *in)
{
    const char *name = in->gpu_driver && in->gpu_driver[0] ? in->gpu_driver : GPU_DRIVER;
    if (strlen(name) >= sizeof out->gpu_driver)
        return client_fail(SWAGG_ERR_ARGUMENT, "options.gpu_driver has %zu characters: at most %zu do",
                           strlen(name), sizeof out->gpu_driver - 1);
    if (strcmp(name, "off") != 0)
        memcpy(out->gpu_driver, name, strlen(name) + 1);
    return SWAGG_OK;
}

/* Who is at which switch. */
static void resolve_racks(struct client_options *out, const struct swagg_options *in)
{
    const int per_rack = number_of(in, "ranks_per_rack");
    const bool is_near = in->server_rack > 0 && (in->server_rack - 1) * per_rack < in->size;
    out->per_rack = (uint8_t)per_rack;
    out->near = (uint8_t)(is_near ? in->server_rack - 1 : ATP_NOT_NEAR);
}

static uint64_t timeout_ns(const struct swagg_options *in, const char *name)
{
    return (uint64_t)number_of(in, name) * NS_PER_MS;
}

/* The protocol needs a power of two. */
static uint16_t power_of_two_below(unsigned x)
{
    return (uint16_t)(1u << (31 - __builtin_clz(x)));
}

static_assert(
    offsetof(struct swagg_options, unused_five) + sizeof(int) == sizeof(struct swagg_options),
    "no padding behind the last option: a program with a newer swagg.h may have an option there, which "
    "would go unnoticed, or bytes that nobody wrote");

/* The caller may have been built with another version of swagg.h. Options that it does not know are 0, the
 * default; options that this library does not know must be 0. */
static int copy_options(struct swagg_options *to, const struct swagg_options *from)
{
    const size_t size = from->struct_size;
    if (size < sizeof size)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.struct_size is %zu: begin with SWAGG_OPTIONS_DEFAULT, which sets it",
                           size);
    for (size_t i = sizeof *to; i < size; i++)
        if (((const char *)from)[i] != 0)
            return client_fail(
                SWAGG_ERR_ARGUMENT,
                "byte %zu of the options is set, which this library (%s) does not know: the program was "
                "built with a newer swagg.h",
                i, swagg_version());
    memset(to, 0, sizeof *to);
    memcpy(to, from, size < sizeof *to ? size : sizeof *to);
    return SWAGG_OK;
}

int client_options_resolve(struct client_options *out, const struct swagg_options *given)
{
    struct swagg_options options;
    const struct swagg_options *in = &options;
    memset(out, 0, sizeof *out);
    if (!given)
        return client_fail(SWAGG_ERR_ARGUMENT, "options is NULL");
    int rc = copy_options(&options, given);
    if (rc < 0)
        return rc;
    if ((rc = check_fields(in)))
        return rc;
    resolve_protocol(out, in);
    if ((rc = resolve_addresses(out, in)) || (rc = client_port_resolve(out, in)) ||
        (rc = check_name(in->job)) || (rc = check_key_file(in->key_file)) ||
        (rc = check_range("size", in->size, 1, AGG_MAX_WORKERS)) ||
        (rc = check_range("rank", in->rank, 0, in->size - 1)) || (rc = check_together(in)) ||
        (rc = check_protocol(in)) || (rc = resolve_quorum(out, in)) || (rc = check_switches(out, in)) ||
        (rc = client_compression_resolve(&out->compression, in)) || (rc = resolve_gpu_driver(out, in)))
        return rc;

    memcpy(out->job, in->job, strlen(in->job) + 1);
    out->rank = (uint16_t)in->rank;
    out->size = (uint16_t)in->size;
    out->mode = in->mode == SWAGG_ORDERED ? XFER_ORDERED : XFER_ON_ARRIVAL;
    out->checksum = in->checksum == SWAGG_CHECKSUM_CRC32C ? XFER_CHECKSUM_CRC32C : XFER_CHECKSUM_NONE;
    out->format = client_format(in->numbers);
    out->one_switch = in->uplink == SWAGG_UPLINK_NONE;
    out->buffer_reduces = in->reduce == SWAGG_REDUCE_BUFFERED;
    out->progress_thread = in->progress_thread == SWAGG_PROGRESS_THREAD_ON;
    out->slots = power_of_two_below((unsigned)number_of(in, "slots"));
    out->window = (uint16_t)in->window;
    resolve_racks(out, in);
    if ((rc = resolve_local(out, in)))
        return rc;
    out->threads = (unsigned)in->threads;
    out->mtu = (unsigned)in->mtu;
    out->join_timeout_ns = timeout_ns(in, "join_timeout_ms");
    out->call_timeout_ns = timeout_ns(in, "call_timeout_ms");
    out->warn_after_ns = timeout_ns(in, "warn_after_ms");
    out->answer_timeout_ns = timeout_ns(in, "answer_timeout_ms");
    out->link_timeout_ns = timeout_ns(in, "link_timeout_ms");
    out->progress = in->progress;
    out->progress_ctx = in->progress_ctx;
    if (in->type_name && in->op_name)
        out->names = (struct describe_names){.type = in->type_name, .op = in->op_name};
    else
        out->names = (struct describe_names){.type = describe_type, .op = describe_op};
    memcpy(out->key_file, in->key_file ? in->key_file : "", in->key_file ? strlen(in->key_file) + 1 : 1);
    out->log = (struct logger){.log = in->log, .ctx = in->log_ctx};
    return SWAGG_OK;
}

struct agg_wishes client_wishes(const struct client_options *o)
{
    const struct client_compression *c = &o->compression;
    return (struct agg_wishes){.rank = o->rank,
                               .size = o->size,
                               .mode = o->mode,
                               .checksum = o->checksum,
                               .format = o->format,
                               .slots = o->slots,
                               .window = o->window,
                               .calls = SWAGG_REQUESTS_MAX,
                               .buffer_reduces = o->buffer_reduces,
                               .may_leave = c->patience_ns > 0,
                               .table = c->on ? &c->table : NULL,
                               .sum_bits = c->sum_bits,
                               .compression = c->on ? c->one_in << 8 | (uint32_t)__builtin_ctz(c->block) : 0,
                               .quorum = o->quorum,
                               .wait_ms = o->quorum_wait_ms,
                               .local = o->local.wish,
                               .per_rack = o->per_rack,
                               .near = o->near,
                               .servers = (uint8_t)o->in_servers.n,
                               .list = places_hash(&o->in_servers),
                               .switches = (uint8_t)o->in_switch.n};
}

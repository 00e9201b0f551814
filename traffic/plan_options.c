#include "plan_options.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "switchml/terms.h"
#include "transfer/blocks.h"

enum { FRAME_MOST = 9018 };

const struct told_plan told_plan_default = {
    .plan = {.workers = 2,
             .slots = 64,
             .phases = 4,
             .elements = 256,
             .op = AGG_SUM,
             .seed = 1,
             .sw = {.mac = {2, 0, 0, 0, 1, 0xFE}, .ip = 0x0A4D00FE, .port = SML_PORT_FIRST},
             .worker = {.mac = {2, 0, 0, 0, 1, 1}, .ip = 0x0A4D0001, .port = 30000}},
};

/* MAC/IP[:PORT]; the port stays what it is if it is not given. */
static bool read_end(const struct option_row *row, const char *text, void *field)
{
    struct udp_end *e = field;
    unsigned b[6], port = e->port;
    struct in_addr ip;
    char address[16], excess;
    int fields = sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x/%15[0-9.]:%5u%c", &b[0], &b[1], &b[2], &b[3], &b[4],
                        &b[5], address, &port, &excess);
    const bool whole = fields == 8 || (fields == 7 && strchr(text, '/')[1 + strlen(address)] == '\0');

    if (!whole || inet_pton(AF_INET, address, &ip) != 1 || port > UINT16_MAX)
        return complain("--%s: \"%s\" is not of the form 02:00:00:00:00:01/10.0.0.1:30000", row->name, text);
    for (unsigned i = 0; i < 6; i++)
        e->mac[i] = (uint8_t)b[i];
    e->ip = ntohl(ip.s_addr);
    e->port = (uint16_t)port;
    return true;
}

#define TYPES "int8..int64, uint8..uint64, bool, float16, bfloat16, float32, float64, complex64, complex128"
#define OPS   "sum, prod, min, max, land, lor, lxor, band, bor, bxor, avg, minloc, maxloc, minpair, maxpair"

static bool take_number(const struct option_row *row, const char *text, void *field, unsigned number,
                        const char *names)
{
    *(unsigned *)field = number;
    if (number == 0)
        complain("--%s: \"%s\" is none of %s", row->name, text, names);
    return number != 0;
}

static bool read_type(const struct option_row *row, const char *text, void *field)
{
    return take_number(row, text, field, agg_type_named(text), TYPES);
}

static bool read_op(const struct option_row *row, const char *text, void *field)
{
    return take_number(row, text, field, agg_op_named(text), OPS);
}

bool option_format(const struct option_row *row, const char *text, void *field)
{
    const enum xfer_format format = xfer_format_named(text);

    if (format == XFER_FORMATS)
        complain("--%s: \"%s\" is none of typed, int32, fp16", row->name, text);
    else
        *(enum xfer_format *)field = format;
    return format != XFER_FORMATS;
}

#define FIELD(member) offsetof(struct told_plan, member)

static const struct option_row rows[] = {
    {"workers", 'n', "N", option_unsigned, FIELD(plan.workers), 0, AGG_MAX_WORKERS, "1..1024; default 2"},
    {"slots", 's', "S", option_unsigned, FIELD(plan.slots), 0, SML_MAX_SLOTS,
     "chunks of each worker that can be on their way, a power of two; default 64"},
    {"elements", 'k', "K", option_unsigned, FIELD(plan.elements), 0, SML_MAX_CHUNK_BYTES,
     "in each packet; default 256"},
    {"frame", 'f', "BYTES", option_unsigned, FIELD(frame_bytes), 0, FRAME_MOST,
     "instead of -k: as many elements as a frame of this length holds (64..9018, with the 4 bytes of its "
     "check sequence)"},
    {"format", 0, "FORMAT", option_format, FIELD(plan.format), 0, 0,
     "typed (the default); int32: the published SwitchML format, int32 with exponents; fp16: the same with "
     "float16"},
    {"type", 't', "TYPE", read_type, FIELD(plan.type), 0, 0,
     "of elements: " TYPES "; default float32, or as the format has it"},
    {"op", 0, "OP", read_op, FIELD(plan.op), 0, 0,
     "operation: " OPS "; the last four on pairs of a number and an index. Default sum"},
    {"job", 'j', "NUMBER", option_byte, FIELD(plan.job), 0, UINT8_MAX, "on the wire, 0..255; default 0"},
    {"switch", 0, "END", read_end, FIELD(plan.sw), 0, 0,
     "MAC/IP[:PORT]; default 02:00:00:00:01:fe/10.77.0.254:48864"},
    {"worker", 0, "END", read_end, FIELD(plan.worker), 0, 0,
     "of worker 0; default 02:00:00:00:01:01/10.77.0.1:30000. The next worker has the next MAC and IP"},
    {"one-host", 0, NULL, option_flag, FIELD(plan.one_host), 0, 0,
     "the next worker has the next UDP port instead"},
};

struct option_group plan_options(struct told_plan *t)
{
    return (struct option_group){rows, sizeof(rows) / sizeof(rows[0]), t};
}

const char *told_plan_fault(struct told_plan *t)
{
    struct plan *p = &t->plan;

    if (p->type == 0)
        p->type = xfer_elements_code(p->format, AGG_F32) & 15;
    if (agg_code_bytes(plan_code(p)) > 0 && t->frame_bytes > 0)
        p->elements = plan_elements_for_frame(p, t->frame_bytes);
    return plan_fault(p);
}

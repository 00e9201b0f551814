/* swagg-pcap show */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/commands.h"
#include "capture/describe.h"
#include "capture/merged.h"
#include "capture/store.h"
#include "udp.h"
#include "wire/control.h"
#include "wire/switchml.h"

struct show {
    struct describe how;
    uint64_t first_ns; /* time of the first frame of the file */
};

static void append_end(struct line *l, const struct udp_end *e)
{
    append(l, "%u.%u.%u.%u:%u", e->ip >> 24, e->ip >> 16 & 255, e->ip >> 8 & 255, e->ip & 255, e->port);
}

/* A line for each gradient packet of the datagram; before: what all begin with. */
static bool show_packets(const struct show *s, const struct udp_datagram *d, const struct line *before)
{
    const size_t each = d->left_to_device ? merged_first_bytes(d->payload, d->bytes) : d->bytes;
    size_t at = 0;

    do {
        const size_t left = d->bytes - at;
        struct line l = *before;

        describe_switchml(&l, &s->how, d->payload + at, left < each ? left : each);
        if (puts(l.text) < 0)
            return false;
        at += each;
    } while (at < d->bytes);
    return true;
}

static bool show_frame(void *context, const struct capture_frame *frame)
{
    struct show *s = context;
    struct udp_datagram d;
    struct line l = {0};
    bool switchml;

    if (frame->number == 1)
        s->first_ns = frame->ns;
    if (!udp_parse(&d, frame->bytes, frame->length))
        return true;
    switchml = is_data_port(d.from.port) || is_data_port(d.to.port);
    if (!switchml && d.from.port != CTL_PORT && d.to.port != CTL_PORT)
        return true;

    append(&l, "%" PRIu64 " %.6f ", frame->number, (double)(int64_t)(frame->ns - s->first_ns) / 1e9);
    append_end(&l, &d.from);
    append(&l, " > ");
    append_end(&l, &d.to);
    append(&l, "%s ", d.bad_checksum ? " (bad checksum)" : "");
    if (switchml)
        return show_packets(s, &d, &l);
    describe_control(&l, d.payload, d.bytes);
    return puts(l.text) >= 0;
}

static const struct option_row rows[] = {
    {"elements", 'e', "N", option_unsigned, offsetof(struct show, how.elements), UINT16_MAX,
     "of each packet, at most; default 4"},
    {"published", 0, NULL, option_flag, offsetof(struct show, how.published), 0,
     "jobs use the published SwitchML format: int32 with exponents"},
};

int command_show(int argc, char *argv[])
{
    struct show s = {.how = {.elements = 4}};
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), &s};
    const struct command_line line = {
        .intro = "usage: swagg-pcap show [OPTION...] FILE...\n"
                 "Prints gradient packets and control messages, a line each; other frames are left out.\n",
        .operands = "captures",
        .groups = &group,
        .count = 1,
    };
    int ret = options_read(&line, argc, argv);

    if (ret != OPTIONS_READ)
        return ret;
    ret = EXIT_GOOD;
    for (; optind < argc; optind++) {
        if (capture_read(argv[optind], show_frame, &s) < 0)
            ret = EXIT_BAD;
    }
    return ret;
}

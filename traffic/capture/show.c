/* swagg-pcap show */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/commands.h"
#include "capture/describe.h"
#include "capture/packets.h"
#include "elements.h"
#include "plan_options.h"

struct show {
    struct agg_words how;
    enum xfer_format format;
    unsigned hostagg_port;
    uint64_t first_ns; /* time of the first frame of the file */
};

static void append_end(struct agg_line *l, const struct udp_end *e)
{
    agg_append(l, "%u.%u.%u.%u:%u", e->ip >> 24, e->ip >> 16 & 255, e->ip >> 8 & 255, e->ip & 255, e->port);
}

static bool show_packet(void *context, const struct captured_packet *c)
{
    struct show *s = context;
    const struct udp_datagram *d = &c->datagram;
    struct agg_line l = {0};

    if (c->frame->number == 1)
        s->first_ns = c->frame->ns;
    if (c->kind == PACKET_NONE || c->kind == PACKET_OTHER)
        return true;
    agg_append(&l, "%" PRIu64 " %.6f ", c->frame->number,
               (double)(int64_t)(c->frame->ns - s->first_ns) / 1e9);
    append_end(&l, &d->from);
    agg_append(&l, " > ");
    append_end(&l, &d->to);
    agg_append(&l, "%s ", d->bad_checksum ? " (bad checksum)" : "");
    if (c->kind == PACKET_DATA)
        describe_packet(&l, &s->how, c->protocol, d->payload, d->bytes);
    else
        describe_control(&l, &s->how, d->payload, d->bytes);
    return puts(l.text) >= 0;
}

static const struct option_row rows[] = {
    {"elements", 'e', "N", option_unsigned, offsetof(struct show, how.elements), 0, UINT16_MAX,
     "of each packet, at most; default 4"},
    {"format", 0, "FORMAT", option_format, offsetof(struct show, format), 0, 0,
     "of jobs whose forming was not captured: typed (the default), int32 (the published SwitchML format), "
     "fp16"},
    {"hostagg", 0, "PORT", option_unsigned, offsetof(struct show, hostagg_port), 0, UINT16_MAX,
     "the UDP port of a host whose packets of host-addressed aggregation (float32) are shown, too"},
};

int command_show(int argc, char *argv[])
{
    struct show s = {.how = {.elements = 4, .element = element_print}};
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
    s.how.format = (uint8_t)s.format;
    ret = EXIT_GOOD;
    for (; optind < argc; optind++) {
        if (packets_read(argv[optind], (uint16_t)s.hostagg_port, show_packet, &s) < 0)
            ret = EXIT_BAD;
    }
    return ret;
}

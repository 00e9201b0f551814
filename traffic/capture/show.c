/* swagg-pcap show */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "capture/capture.h"
#include "capture/commands.h"
#include "capture/describe.h"
#include "capture/merged.h"
#include "capture/store.h"
#include "udp.h"
#include "wire/control.h"
#include "wire/switchml.h"

static const char usage[] =
    "usage: swagg-pcap show [OPTION...] FILE...\n"
    "Prints gradient packets and control messages, a line each; other frames are left out.\n"
    "\n"
    "  -e, --elements=N  of each packet, at most; default 4\n"
    "      --published   jobs use the published SwitchML format: int32 with exponents\n"
    "  -h, --help\n";

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

int command_show(int argc, char *argv[])
{
    static const struct option options[] = {
        {"elements", required_argument, NULL, 'e'},
        {"published", no_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct show s = {.how = {.elements = 4}};
    int option, ret = EXIT_GOOD;

    while ((option = getopt_long(argc, argv, "e:h", options, NULL)) != -1) {
        switch (option) {
        case 'e':
            if (!parse_unsigned("--elements", optarg, UINT16_MAX, &s.how.elements))
                return EXIT_USAGE;
            break;
        case 'p':
            s.how.published = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_GOOD;
        default:
            return EXIT_USAGE;
        }
    }
    if (optind == argc) {
        complain("show: which captures?");
        return EXIT_USAGE;
    }
    for (; optind < argc; optind++) {
        if (capture_read(argv[optind], show_frame, &s) < 0)
            ret = EXIT_BAD;
    }
    return ret;
}

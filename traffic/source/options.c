#include "source/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "cli.h"
#include "elements.h"

const char source_usage[] =
    "usage: swagg-source EAL-OPTION... -- [OPTION...]\n"
    "Plays the workers of a job against a switch, or sends the same frames through a forwarder, on one lcore "
    "over\n"
    "the ports that the EAL has (--vdev, --allow). A frame is sent when the answer to the one before it has "
    "come,\n"
    "or, in an open loop (--rate), whatever comes.\n"
    "\n"
    "      --mode=MODE        workers (the default): sums come back. forward: the frames themselves do, "
    "with\n"
    "                         swapped MAC addresses. bridge: they come out of the other of two ports\n"
    "  -n, --workers=N        1..256; default 2; worker i is on port i modulo the number of ports\n"
    "  -s, --slots=S          chunks in flight of each worker, a power of two; default 64\n"
    "  -k, --elements=K       in each packet; default 256\n"
    "  -f, --frame=BYTES      instead of -k: as many elements as a frame of this length holds (64..9018, "
    "with the\n"
    "                         4 bytes of its check sequence)\n"
    "  -t, --type=TYPE        int32, int64, float32 (the default), float64\n"
    "      --published        the published SwitchML format: int32 with exponents\n"
    "  -j, --job=NUMBER       on the wire, 0..255; default 0\n"
    "      --switch=END       MAC/IP[:PORT]; default 02:00:00:00:01:fe/10.77.0.254:48864\n"
    "      --worker=END       of worker 0; default 02:00:00:00:01:01/10.77.0.1:30000. The next worker has "
    "the next\n"
    "                         MAC and IP\n"
    "      --one-host         the next worker has the next UDP port instead\n"
    "      --rate=PPS         open loop: frames a second, of all workers; 0: as many as the ports take. "
    "When\n"
    "                         a port is full they wait for it\n"
    "  -p, --phases=P         open loop: how many times every slot is used, a power of two, before the "
    "chunks'\n"
    "                         numbers start over, as in a looped capture; default 4\n"
    "      --patience=S       open loop: what has not come when nothing came for so long is lost; default 1\n"
    "      --no-udp-checksum  send without one\n"
    "      --seconds=S        how long to measure; default 1\n"
    "      --warmup=S         before that; default 0.2\n"
    "      --packets=N        end after so many answers; default 0: when the time is up\n"
    "      --check=N          compare every N-th answer, bit by bit; default 61, 0: none. A number that "
    "shares no\n"
    "                         factor with that of the workers sees all of them\n"
    "      --resend-ms=MS     send again what is unanswered for so long; default 20; not in an open loop\n"
    "      --burst=N          frames received or sent at once, 1..256; default 32\n"
    "      --json=FILE        the report as one flat object\n"
    "      --stay             after the report, wait until the other ends have gone, 10 seconds at most: a "
    "memif's\n"
    "                         other end may crash if this one leaves first\n"
    "\n"
    "Exit code 0: all went well; 1: a wrong sum, a rejected packet, no answers, no link; 2: bad arguments.\n";

enum {
    OPT_MODE = 256,
    OPT_PUBLISHED,
    OPT_SWITCH,
    OPT_WORKER,
    OPT_ONE_HOST,
    OPT_RATE,
    OPT_NO_UDP_CHECKSUM,
    OPT_PATIENCE,
    OPT_SECONDS,
    OPT_WARMUP,
    OPT_PACKETS,
    OPT_CHECK,
    OPT_RESEND,
    OPT_BURST,
    OPT_JSON,
    OPT_STAY,
};

static const struct option options[] = {
    {"mode", required_argument, NULL, OPT_MODE},
    {"workers", required_argument, NULL, 'n'},
    {"slots", required_argument, NULL, 's'},
    {"elements", required_argument, NULL, 'k'},
    {"frame", required_argument, NULL, 'f'},
    {"type", required_argument, NULL, 't'},
    {"published", no_argument, NULL, OPT_PUBLISHED},
    {"job", required_argument, NULL, 'j'},
    {"switch", required_argument, NULL, OPT_SWITCH},
    {"worker", required_argument, NULL, OPT_WORKER},
    {"one-host", no_argument, NULL, OPT_ONE_HOST},
    {"rate", required_argument, NULL, OPT_RATE},
    {"phases", required_argument, NULL, 'p'},
    {"no-udp-checksum", no_argument, NULL, OPT_NO_UDP_CHECKSUM},
    {"patience", required_argument, NULL, OPT_PATIENCE},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"warmup", required_argument, NULL, OPT_WARMUP},
    {"packets", required_argument, NULL, OPT_PACKETS},
    {"check", required_argument, NULL, OPT_CHECK},
    {"resend-ms", required_argument, NULL, OPT_RESEND},
    {"burst", required_argument, NULL, OPT_BURST},
    {"json", required_argument, NULL, OPT_JSON},
    {"stay", no_argument, NULL, OPT_STAY},
    {NULL, 0, NULL, 0},
};

static const char *const mode_names[] = {
    [SOURCE_WORKERS] = "workers", [SOURCE_FORWARD] = "forward", [SOURCE_BRIDGE] = "bridge"};
enum { MODES = sizeof(mode_names) / sizeof(mode_names[0]) };

const char *source_mode_name(enum source_mode mode)
{
    return mode_names[mode];
}

static bool parse_mode(const char *text, enum source_mode *mode)
{
    for (unsigned i = 0; i < MODES; i++) {
        if (strcmp(text, mode_names[i]) == 0) {
            *mode = (enum source_mode)i;
            return true;
        }
    }
    complain("--mode: \"%s\" is none of workers, forward, bridge", text);
    return false;
}

static bool parse_real(const char *option, const char *text, const char *what, unsigned most, double *number)
{
    char *end;

    *number = strtod(text, &end);
    if (end != text && *end == '\0' && *number >= 0 && *number <= most)
        return true;
    complain("%s: \"%s\" is not a number of %s, 0 to %u", option, text, what, most);
    return false;
}

static bool parse_seconds(const char *option, const char *text, double *seconds)
{
    return parse_real(option, text, "seconds", 86400, seconds);
}

static bool take_option(struct source_options *o, unsigned *frame_bytes, int option, const char *name)
{
    struct plan *p = &o->plan;
    uint64_t number;

    switch (option) {
    case OPT_MODE:
        return parse_mode(optarg, &o->mode);
    case 'n':
        return parse_unsigned(name, optarg, SML_MAX_WORKERS, &p->workers);
    case 's':
        return parse_unsigned(name, optarg, SML_MAX_SLOTS, &p->slots);
    case 'k':
        return parse_unsigned(name, optarg, SML_MAX_CHUNK_BYTES, &p->elements);
    case 'f':
        return parse_unsigned(name, optarg, 9018, frame_bytes);
    case 't':
        p->type = element_type_named(optarg);
        return true;
    case OPT_PUBLISHED:
        p->format = SML_FORMAT_INT32;
        p->type = AGG_I32;
        return true;
    case 'j':
        if (!parse_number(name, optarg, UINT8_MAX, &number))
            return false;
        p->job = (uint8_t)number;
        return true;
    case OPT_SWITCH:
        return parse_end(name, optarg, &p->sw);
    case OPT_WORKER:
        return parse_end(name, optarg, &p->worker);
    case OPT_ONE_HOST:
        p->one_host = true;
        return true;
    case OPT_RATE:
        o->open_loop = true;
        return parse_real(name, optarg, "frames a second", 1000000000, &o->rate);
    case 'p':
        return parse_unsigned(name, optarg, INT_MAX, &p->phases);
    case OPT_NO_UDP_CHECKSUM:
        o->no_udp_checksum = true;
        return true;
    case OPT_SECONDS:
        return parse_seconds(name, optarg, &o->seconds);
    case OPT_PATIENCE:
        return parse_seconds(name, optarg, &o->patience);
    case OPT_WARMUP:
        return parse_seconds(name, optarg, &o->warmup);
    case OPT_PACKETS:
        if (!parse_number(name, optarg, UINT64_MAX, &number))
            return false;
        o->packets = number;
        return true;
    case OPT_CHECK:
        return parse_unsigned(name, optarg, INT_MAX, &o->check_every);
    case OPT_RESEND:
        return parse_unsigned(name, optarg, INT_MAX, &o->resend_ms);
    case OPT_BURST:
        return parse_unsigned(name, optarg, SOURCE_BURST_MAX, &o->burst);
    case OPT_JSON:
        o->json = optarg;
        return true;
    case OPT_STAY:
        o->stay = true;
        return true;
    default:
        return false; /* getopt has said what is wrong */
    }
}

static const char *option_name(int option)
{
    for (const struct option *o = options; o->name != NULL; o++) {
        if (o->val == option)
            return o->name;
    }
    return "";
}

static const char *fault(const struct source_options *o)
{
    const char *why = plan_fault(&o->plan);

    if (why != NULL)
        return why;
    if (o->burst == 0 || o->resend_ms == 0)
        return "--burst and --resend-ms must not be 0";
    if (o->open_loop && !rte_is_power_of_2(o->plan.phases))
        return "--phases must be a power of two, as in the switch's replay";
    if (o->mode == SOURCE_BRIDGE && o->plan.workers % 2 != 0)
        return "--mode bridge takes an even number of workers: they send to one another";
    return NULL;
}

int source_parse(struct source_options *o, int argc, char *argv[])
{
    unsigned frame_bytes = 0;
    const char *why;
    int option;

    *o = (struct source_options){
        .plan = {.workers = 2,
                 .slots = 64,
                 .phases = 4,
                 .elements = 256,
                 .type = AGG_F32,
                 .format = SML_FORMAT_TYPED,
                 .seed = 1,
                 .sw = {.mac = {2, 0, 0, 0, 1, 0xFE}, .ip = 0x0A4D00FE, .port = SML_PORT_FIRST},
                 .worker = {.mac = {2, 0, 0, 0, 1, 1}, .ip = 0x0A4D0001, .port = 30000}},
        .check_every = 61,
        .burst = 32,
        .resend_ms = 20,
        .warmup = 0.2,
        .patience = 1,
        .seconds = 1,
    };
    optind = 1;
    while ((option = getopt_long(argc, argv, "n:s:k:f:t:j:p:", options, NULL)) != -1) {
        if (!take_option(o, &frame_bytes, option, option_name(option)))
            return EXIT_USAGE;
    }
    if (optind < argc) {
        complain("\"%s\" is no option", argv[optind]);
        return EXIT_USAGE;
    }
    if (frame_bytes > 0 && element_type(o->plan.type) != NULL)
        o->plan.elements = plan_elements_for_frame(&o->plan, frame_bytes);
    why = fault(o);
    if (why != NULL)
        complain("%s", why);
    return why == NULL ? SOURCE_PARSED : EXIT_USAGE;
}

/* swagg-pcap gen: its command line. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>

#include "capture/commands.h"
#include "capture/gen.h"
#include "elements.h"

static const char usage[] =
    "usage: swagg-pcap gen -o FILE [OPTION...]\n"
    "Writes a capture of what the workers of a job send to the switch, chunk by chunk.\n"
    "\n"
    "  -o, --out=FILE\n"
    "      --split            a file for each worker: FILE with -0, -1, ... before its suffix\n"
    "  -n, --workers=N        1..256; default 2\n"
    "  -s, --slots=S          a power of two; default 64\n"
    "  -p, --phases=P         an even number of times that every slot is used; default 4\n"
    "  -k, --elements=K       in each packet; default 256\n"
    "  -f, --frame=BYTES      instead of -k: as many elements as a frame of this length holds (64..9018, "
    "with\n"
    "                         the 4 bytes of its check sequence)\n"
    "  -t, --type=TYPE        int32, int64, float32 (the default), float64\n"
    "      --published        the published SwitchML format: int32 with exponents\n"
    "  -j, --job=NUMBER       on the wire, 0..255; default 0\n"
    "      --first-tag=TAG    number of the first chunk, a multiple of 2 S; default 0\n"
    "      --seed=SEED        of the elements; default 1\n"
    "      --switch=END       MAC/IP[:PORT]; default 02:00:00:00:01:fe/10.77.0.254:48864\n"
    "      --worker=END       of worker 0; default 02:00:00:00:01:01/10.77.0.1:30000. The next worker has "
    "the next\n"
    "                         MAC and IP\n"
    "      --one-host         the next worker has the next UDP port instead\n"
    "  -h, --help\n";

enum { OPT_SPLIT = 256, OPT_PUBLISHED, OPT_FIRST_TAG, OPT_SEED, OPT_SWITCH, OPT_WORKER, OPT_ONE_HOST };

static const struct option options[] = {
    {"out", required_argument, NULL, 'o'},
    {"split", no_argument, NULL, OPT_SPLIT},
    {"workers", required_argument, NULL, 'n'},
    {"slots", required_argument, NULL, 's'},
    {"phases", required_argument, NULL, 'p'},
    {"elements", required_argument, NULL, 'k'},
    {"frame", required_argument, NULL, 'f'},
    {"type", required_argument, NULL, 't'},
    {"published", no_argument, NULL, OPT_PUBLISHED},
    {"job", required_argument, NULL, 'j'},
    {"first-tag", required_argument, NULL, OPT_FIRST_TAG},
    {"seed", required_argument, NULL, OPT_SEED},
    {"switch", required_argument, NULL, OPT_SWITCH},
    {"worker", required_argument, NULL, OPT_WORKER},
    {"one-host", no_argument, NULL, OPT_ONE_HOST},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool take_option(struct gen *g, int option, const char *name)
{
    struct plan *p = &g->plan;
    uint64_t number;

    switch (option) {
    case 'o':
        g->out = optarg;
        return true;
    case OPT_SPLIT:
        g->split = true;
        return true;
    case 'n':
        return parse_unsigned(name, optarg, SML_MAX_WORKERS, &p->workers);
    case 's':
        return parse_unsigned(name, optarg, SML_MAX_SLOTS, &p->slots);
    case 'p':
        return parse_unsigned(name, optarg, INT_MAX, &p->phases);
    case 'k':
        return parse_unsigned(name, optarg, SML_MAX_CHUNK_BYTES, &p->elements);
    case 'f':
        return parse_unsigned(name, optarg, 9018, &g->frame_bytes);
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
    case OPT_FIRST_TAG:
        return parse_unsigned(name, optarg, UINT32_MAX, &p->first_tag);
    case OPT_SEED:
        return parse_number(name, optarg, UINT64_MAX, &p->seed);
    case OPT_SWITCH:
        return parse_end(name, optarg, &p->sw);
    case OPT_WORKER:
        return parse_end(name, optarg, &p->worker);
    case OPT_ONE_HOST:
        p->one_host = true;
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

static bool finish(struct gen *g)
{
    const char *fault;

    if (g->out == NULL) {
        complain("gen: where to? Say -o FILE");
        return false;
    }
    if (g->frame_bytes > 0 && element_type(g->plan.type) != NULL)
        g->plan.elements = plan_elements_for_frame(&g->plan, g->frame_bytes);
    fault = plan_fault(&g->plan);
    if (fault != NULL)
        complain("gen: %s", fault);
    return fault == NULL;
}

int gen_parse(struct gen *g, int argc, char *argv[])
{
    int option;

    *g = (struct gen){
        .plan = {.workers = 2,
                 .slots = 64,
                 .phases = 4,
                 .elements = 256,
                 .type = AGG_F32,
                 .format = SML_FORMAT_TYPED,
                 .seed = 1,
                 .sw = {.mac = {2, 0, 0, 0, 1, 0xFE}, .ip = 0x0A4D00FE, .port = SML_PORT_FIRST},
                 .worker = {.mac = {2, 0, 0, 0, 1, 1}, .ip = 0x0A4D0001, .port = 30000}},
    };
    while ((option = getopt_long(argc, argv, "o:n:s:p:k:f:t:j:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        if (!take_option(g, option, option_name(option)))
            return EXIT_USAGE;
    }
    if (optind < argc) {
        complain("gen: \"%s\" is no option", argv[optind]);
        return EXIT_USAGE;
    }
    return finish(g) ? GEN_PARSED : EXIT_USAGE;
}

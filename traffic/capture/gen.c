/* swagg-pcap gen: its command line, and writing the files. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "capture/commands.h"
#include "plan_options.h"

struct gen {
    struct plan plan;
    const char *out;
    bool split;
};

static const char intro[] =
    "usage: swagg-pcap gen -o FILE [OPTION...]\n"
    "Writes a capture of what the workers of a job send to the switch, chunk by chunk.\n";

static const struct option_row out_rows[] = {
    {"out", 'o', "FILE", option_text, offsetof(struct gen, out), 0, 0, "what to write; -: standard output"},
    {"split", 0, NULL, option_flag, offsetof(struct gen, split), 0, 0,
     "a file for each worker: FILE with -0, -1, ... before its suffix"},
};

#define FIELD(member) offsetof(struct told_plan, plan.member)

static const struct option_row chunk_rows[] = {
    {"phases", 'p', "P", option_unsigned, FIELD(phases), 0, INT_MAX,
     "an even number of times that every slot is used; default 4"},
    {"first-tag", 0, "TAG", option_unsigned, FIELD(first_tag), 0, UINT32_MAX,
     "number of the first chunk, a multiple of 2 S; default 0"},
    {"tensor", 0, NULL, option_flag, FIELD(tensor), 0, 0,
     "in the formats int32 and fp16: a tensor of floats, scaled, with the exponents one phase ahead; "
     "without, "
     "numbers and exponents are made up"},
    {"seed", 0, "SEED", option_number, FIELD(seed), 0, UINT64_MAX, "of the elements; default 1"},
};

static bool is_standard_output(const struct gen *g)
{
    return strcmp(g->out, "-") == 0;
}

/* OPTIONS_READ; or the exit code: help was printed, or a mistake reported. */
static int parse(struct gen *g, int argc, char *argv[])
{
    struct told_plan told = told_plan_default;
    const struct option_group groups[] = {
        {out_rows, sizeof(out_rows) / sizeof(out_rows[0]), g},
        plan_options(&told),
        {chunk_rows, sizeof(chunk_rows) / sizeof(chunk_rows[0]), &told},
    };
    const struct command_line line = {
        .intro = intro, .groups = groups, .count = sizeof(groups) / sizeof(groups[0])};
    const char *fault;
    int ret;

    *g = (struct gen){0};
    ret = options_read(&line, argc, argv);
    if (ret != OPTIONS_READ)
        return ret;
    if (g->out == NULL || g->out[0] == '\0') {
        complain("gen: the output file is missing: add -o FILE");
        return EXIT_USAGE;
    }
    if (g->split && is_standard_output(g)) {
        complain("gen: --split writes a file for each worker: -o FILE, not -");
        return EXIT_USAGE;
    }
    fault = told_plan_fault(&told);
    if (fault != NULL) {
        complain("gen: %s", fault);
        return EXIT_USAGE;
    }
    g->plan = told.plan;
    return OPTIONS_READ;
}

enum { MICROSECONDS = 1000000 };

/* One file, or one a worker. */
struct outputs {
    pcap_t *pcap;
    pcap_dumper_t *file[AGG_MAX_WORKERS];
    unsigned files;
};

/* "x.pcap", 3: "x-3.pcap" */
static void split_name(char *name, size_t bytes, const char *out, unsigned worker)
{
    const char *base = strrchr(out, '/'), *dot = strrchr(base != NULL ? base : out, '.');
    const int stem = dot != NULL ? (int)(dot - out) : (int)strlen(out);

    snprintf(name, bytes, "%.*s-%u%s", stem, out, worker, out + stem);
}

/* libpcap closes what it writes to, so of standard output it gets a copy. NULL: there is none, which was
 * reported. */
static pcap_dumper_t *open_output(pcap_t *pcap, const struct gen *g, const char *name)
{
    pcap_dumper_t *output;
    FILE *copy;

    if (is_standard_output(g)) {
        copy = fdopen(dup(STDOUT_FILENO), "w");
        output = copy != NULL ? pcap_dump_fopen(pcap, copy) : NULL;
        if (output == NULL)
            complain("gen: cannot write standard output: %m");
    } else {
        output = pcap_dump_open(pcap, name);
        if (output == NULL)
            complain("%s", pcap_geterr(pcap));
    }
    return output;
}

static int open_outputs(struct outputs *o, const struct gen *g)
{
    const unsigned files = g->split ? g->plan.workers : 1;
    char name[4096];

    o->pcap = pcap_open_dead(DLT_EN10MB, UDP_FRAME_MAX);
    for (o->files = 0; o->files < files; o->files++) {
        if (g->split)
            split_name(name, sizeof(name), g->out, o->files);
        else
            snprintf(name, sizeof(name), "%s", g->out);
        o->file[o->files] = open_output(o->pcap, g, name);
        if (o->file[o->files] == NULL)
            return -1;
    }
    return 0;
}

static int close_outputs(struct outputs *o, const char *name)
{
    int ret = 0;

    for (unsigned i = 0; i < o->files; i++) {
        if (pcap_dump_flush(o->file[i]) != 0 || ferror(pcap_dump_file(o->file[i])))
            ret = -1;
        pcap_dump_close(o->file[i]);
    }
    pcap_close(o->pcap);
    if (ret < 0)
        complain("gen: cannot write %s: %m", name);
    return ret;
}

/* One frame a microsecond: the times only serve to tell frames apart. */
static void write_plan(const struct outputs *o, const struct plan *p)
{
    static uint8_t frame[UDP_FRAME_MAX];
    uint64_t us = 0;

    for (uint32_t chunk = 0; chunk < plan_chunks(p); chunk++) {
        for (unsigned worker = 0; worker < p->workers; worker++, us++) {
            const bpf_u_int32 bytes = (bpf_u_int32)plan_frame(p, worker, chunk, frame);
            const struct pcap_pkthdr header = {
                .ts = {.tv_sec = (time_t)(us / MICROSECONDS), .tv_usec = (suseconds_t)(us % MICROSECONDS)},
                .caplen = bytes,
                .len = bytes,
            };

            pcap_dump((u_char *)o->file[worker % o->files], &header, frame);
        }
    }
}

int command_gen(int argc, char *argv[])
{
    struct outputs outputs = {0};
    struct gen g;
    int ret = parse(&g, argc, argv);

    if (ret != OPTIONS_READ)
        return ret;
    ret = open_outputs(&outputs, &g);
    if (ret == 0)
        write_plan(&outputs, &g.plan);
    if (close_outputs(&outputs, g.out) < 0)
        ret = -1;
    if (ret < 0)
        return EXIT_BAD;
    fprintf(is_standard_output(&g) ? stderr : stdout,
            "%s: %u chunks of %u elements from each of %u workers, %u frames\n", g.out, plan_chunks(&g.plan),
            g.plan.elements, g.plan.workers, plan_chunks(&g.plan) * g.plan.workers);
    return EXIT_GOOD;
}

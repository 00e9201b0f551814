/* swagg-pcap gen: its command line. */
#include <limits.h>

#include "capture/gen.h"
#include "plan_options.h"

static const char intro[] =
    "usage: swagg-pcap gen -o FILE [OPTION...]\n"
    "Writes a capture of what the workers of a job send to the switch, chunk by chunk.\n";

static const struct option_row out_rows[] = {
    {"out", 'o', "FILE", option_text, offsetof(struct gen, out), 0, 0, "what to write"},
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

int gen_parse(struct gen *g, int argc, char *argv[])
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
    if (g->out == NULL) {
        complain("gen: the output file is missing: add -o FILE");
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

#include "source/options.h"

#include <limits.h>

#include <rte_common.h>

#include "plan_options.h"
#include "version.h"

static const char intro[] =
    "usage: swagg-source EAL-OPTION... -- [OPTION...]\n"
    "Plays the workers of a job against a switch, or sends the same frames through a forwarder, on one lcore "
    "over\n"
    "the ports that the EAL has (--vdev, --allow). Worker i is on port i modulo the number of ports. A frame "
    "is sent\n"
    "when the answer to the one before it has come, or, in an open loop (--rate), whatever comes.\n"
    "Exit code 0: all went well; 1: a wrong sum, a rejected packet, no answers, no link; 2: bad arguments.\n";

static const char *const mode_names[] = {
    [SOURCE_WORKERS] = "workers", [SOURCE_FORWARD] = "forward", [SOURCE_BRIDGE] = "bridge", NULL};
enum { DAY = 86400 };

const char *source_mode_name(enum source_mode mode)
{
    return mode_names[mode];
}

static bool read_mode(const struct option_row *row, const char *text, void *field)
{
    return option_one_of(row, text, mode_names, field);
}

static bool read_rate(const struct option_row *row, const char *text, void *field)
{
    struct source_options *o = field;

    o->open_loop = true;
    return option_real(row, text, &o->rate);
}

#define FIELD(member) offsetof(struct source_options, member)

static const struct option_row mode_rows[] = {
    {"mode", 0, "MODE", read_mode, FIELD(mode), 0, 0,
     "workers (the default): sums come back. forward: the frames themselves do, with swapped MAC addresses. "
     "bridge: they come out of the other of two ports"},
};

static const struct option_row rows[] = {
    {"rate", 0, "PPS", read_rate, 0, 0, 1000000000,
     "open loop: frames a second, of all workers; 0: as many as the ports take. When a port is full they "
     "wait for it"},
    {"patience", 0, "S", option_real, FIELD(patience), 0, DAY,
     "open loop: what has not come when nothing came for so long is lost; default 1"},
    {"no-udp-checksum", 0, NULL, option_flag, FIELD(no_udp_checksum), 0, 0, "send without one"},
    {"seconds", 0, "S", option_real, FIELD(seconds), 0, DAY, "how long to measure; default 1"},
    {"warmup", 0, "S", option_real, FIELD(warmup), 0, DAY, "before that; default 0.2"},
    {"packets", 0, "N", option_number, FIELD(packets), 0, UINT64_MAX,
     "end after so many answers; default 0: when the time is up"},
    {"check", 0, "N", option_unsigned, FIELD(check_every), 0, INT_MAX,
     "compare every N-th answer, bit by bit; default 61, 0: none. A number that shares no factor with that "
     "of the workers sees all of them"},
    {"resend-ms", 0, "MS", option_unsigned, FIELD(resend_ms), 0, INT_MAX,
     "send again what is unanswered for so long; default 20; not in an open loop"},
    {"burst", 0, "N", option_unsigned, FIELD(burst), 0, SOURCE_BURST_MAX,
     "frames received or sent at once, 1..256; default 32"},
    {"json", 0, "FILE", option_text, FIELD(json), 0, 0, "the report as one flat object"},
    {"jobs", 0, "J", option_unsigned, FIELD(jobs), 0, SOURCE_JOBS_MAX,
     "1..4: as many jobs side by side, alike, on an equal part of the ports each; the next one has the next "
     "number, and workers whose MAC and IP follow; default 1"},
    {"stay", 0, NULL, option_flag, FIELD(stay), 0, 0,
     "after the report, wait until the other ends have gone, for each 30 seconds at most: a memif's other "
     "end may crash if this one leaves first"},
};

static const struct option_row plan_rows[] = {
    {"phases", 'p', "P", option_unsigned, offsetof(struct told_plan, plan.phases), 0, INT_MAX,
     "open loop: how many times every slot is used, a power of two, before the chunks' numbers start over, "
     "as in a looped capture; default 4"},
};

static const char *fault(const struct source_options *o)
{
    if (o->jobs == 0)
        return "--jobs must not be 0";
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
    struct told_plan told = told_plan_default;
    const struct option_group groups[] = {
        {mode_rows, sizeof(mode_rows) / sizeof(mode_rows[0]), o},
        plan_options(&told),
        {plan_rows, sizeof(plan_rows) / sizeof(plan_rows[0]), &told},
        {rows, sizeof(rows) / sizeof(rows[0]), o},
    };
    const struct command_line line = {.version = build_version,
                                      .intro = intro,
                                      .groups = groups,
                                      .count = sizeof(groups) / sizeof(groups[0])};
    const char *why;
    int ret;

    *o = (struct source_options){
        .check_every = 61,
        .jobs = 1,
        .burst = 32,
        .resend_ms = 20,
        .warmup = 0.2,
        .patience = 1,
        .seconds = 1,
    };
    ret = options_read(&line, argc, argv);
    if (ret != OPTIONS_READ)
        return ret;
    why = told_plan_fault(&told);
    o->plan = told.plan;
    if (why == NULL)
        why = fault(o);
    if (why != NULL)
        complain("%s", why);
    return why == NULL ? OPTIONS_READ : EXIT_USAGE;
}

/* swagg-source: the options of its command line. */
#pragma once

#include "command_line.h"
#include "plan.h"

enum source_mode {
    SOURCE_WORKERS, /* the workers of a job: frames to the switch, sums come back */
    SOURCE_FORWARD, /* the same frames to a forwarder, which sends them back with swapped MAC addresses */
    SOURCE_BRIDGE,  /* frames between stations on two ports, through a bridge, which must not change them */
};

struct source_options {
    enum source_mode mode;
    struct plan plan; /* of the first job */
    unsigned jobs;    /* that are played side by side */
    bool no_udp_checksum;
    bool open_loop;
    double rate;          /* frames a second in an open loop; 0: as many as the ports take */
    unsigned check_every; /* results; 0: none is checked */
    unsigned burst;
    unsigned resend_ms;
    uint64_t packets; /* results to wait for; 0: until the time is up */
    double warmup, seconds;
    double patience; /* in an open loop: seconds without answers, after which missing ones count as lost */
    bool stay;
    const char *json; /* NULL: none */
};

enum { SOURCE_BURST_MAX = 256, SOURCE_JOBS_MAX = 4 };

/* OPTIONS_READ; or the exit code: help was printed, or a mistake reported. argv[0] is not an option. */
int source_parse(struct source_options *o, int argc, char *argv[]);

const char *source_mode_name(enum source_mode mode);

/* The scenario that follows from a seed: jobs, network, switch, and what goes wrong when. */
#pragma once

#include "link.h"
#include "program.h"
#include "switch_node.h"

enum { SCENARIO_PROGRAMS_MAX = 3, SCENARIO_FAULTS_MAX = 12 };

enum fault_kind {
    FAULT_KILL_SWITCH,  /* and start it again after `lasts` */
    FAULT_KILL_PROCESS, /* and start it again after `lasts`; never if that is 0 */
    FAULT_STOP_PROCESS, /* and let it continue after `lasts` */
    FAULT_CUT,          /* a host's cable, both directions or one */
    FAULT_BAD_LINK,     /* a host's links become as bad as `quality` says */
    FAULTS
};
extern const char *const fault_names[FAULTS];

struct fault {
    enum fault_kind kind;
    uint64_t at_event; /* happens with this event of the simulation ... */
    uint64_t at;       /* ... or, if that is 0, at this time */
    uint64_t lasts;
    unsigned host;
    bool up, down; /* FAULT_CUT, FAULT_BAD_LINK: which directions */
    struct link_quality quality;
};

/* What some scenarios have besides, by the seed; they leave all others as they are. */
struct scenario_parts {
    bool many;       /* a job of 65 or 200 ranks */
    bool tenants;    /* with quotas and weights; some with keys */
    bool forger;     /* and somebody who lacks these */
    bool fixed;      /* a static job */
    bool operated;   /* by somebody who ends and drains jobs */
    bool tree;       /* several switches */
    bool keyed_tree; /* of jobs with keys, and somebody who lacks these */
    bool compressed; /* calls of typed jobs, some of them */
    bool quorum;     /* of typed jobs: sums may lack ranks */
    bool nics;       /* carry the packets of some ranks */
    bool flood;      /* of control messages, where all hosts share a port */
    bool mortal;     /* in a benign one: ranks of such jobs die, as many as a quorum can do without */
};

enum { SCENARIO_LEAVES_MAX = 15 };

/* Who floods the switch with control messages (flooder.h). */
enum flood { FLOOD_NONE, FLOOD_MEMBER, FLOOD_STRANGER, FLOOD_FORGED };

struct scenario {
    uint64_t seed;
    /* Switches below the usual one, which is the root then; 0: it is the only one. */
    unsigned leaves;
    unsigned leaf_base;             /* the star's host that the first of them is */
    int above[SCENARIO_LEAVES_MAX]; /* by switch: the one above it; -1: the root */
    int *at;                        /* [leaf_base + leaves]: by host: its switch; -1: the root */
    struct scenario_parts parts;
    unsigned programs, hosts;
    struct program program[SCENARIO_PROGRAMS_MAX];
    struct switch_config switch_config;
    struct link_quality quality; /* of every link, until calm_at */
    unsigned faults;
    struct fault fault[SCENARIO_FAULTS_MAX];
    enum flood flood;        /* until calm_at */
    uint64_t forger_every;   /* on average, until calm_at; 0: there is none */
    uint64_t operator_every; /* the same */
    unsigned all_hosts;      /* those of the static job, too, which come after the programs' */
    uint8_t *host_tenant;    /* [all_hosts] */
    uint8_t *host_keyed;     /* [all_hosts]: whether its data packets are keyed; NULL: none are */
    uint64_t stranger_every; /* on average, until calm_at; 0: there is none */
    unsigned stranger_host;
    uint64_t calm_at; /* from here on every link is sound and nothing new goes wrong */
    uint64_t over_by; /* every process has exited by then */
    bool benign;      /* nothing happens that may keep a job from its end, so all must succeed */
};

/* chip: the switch is the program for chips, in a benign scenario of jobs that are small, on links that lose
 * a frame in a hundred. */
void scenario_make(struct scenario *s, uint64_t seed, bool chip);

/* A fault that kills this switch (0: the root, else the one below of this number less one) and starts it
 * again after so long, or a few ns more. */
struct fault scenario_kill_switch(const struct scenario *s, unsigned which, uint64_t at, uint64_t lasts);
/* The switch that it kills. */
unsigned scenario_killed(const struct scenario *s, const struct fault *f);

void scenario_fini(struct scenario *s);
void scenario_print(const struct scenario *s, FILE *out);

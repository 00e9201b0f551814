/* Measures ATP in virtual time: how competing jobs share a link, and which way to choose aggregators has more
 * sums made in the switch. */
#pragma once

#include "atp/terms.h"

struct atp_fairness {
    double jain;     /* Jain's index of what the jobs get: 1 if all get the same */
    double of_link;  /* what all get together, as a share of what the link to the workers can bring */
    double switched; /* of all chunks, those whose whole sum was made in the switch */
    double marked;   /* of all chunks, those that were marked */
};

struct atp_fairness_config {
    unsigned jobs, workers; /* of each job; the jobs begin one after the other, and are measured after that */
    uint32_t aggregators;   /* 0: the switch adds nothing */
    uint16_t window;
    enum atp_mapping mapping;
    uint16_t fixed_window; /* 0: congestion control */
    uint64_t seed;
};

struct atp_fairness atp_measure(const struct atp_fairness_config *cfg);

/* Whether the windows of jobs that compete for a link and for few aggregators, or for none, have come to such
 * sizes that all jobs get about the same. */
bool atp_is_fair(void);

/* Prints tables of shares, and of choices of aggregators. */
bool atp_measure_table(void);

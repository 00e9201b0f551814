/* The parts of a scenario that only some have (struct scenario_parts). */
#pragma once

#include "scenario.h"

/* paper: the switch is the paper's, which has none of this. */
struct scenario_parts scenario_parts_of(uint64_t seed, bool paper);

/* Makes the program one of many ranks, and small in all else. */
void scenario_make_many(struct program *p, uint64_t seed);

/* Adds the rest, once programs, links and faults are known. */
void scenario_add_parts(struct scenario *s);

/* Has the typed jobs summed by quorums (scenario_quorum.c). */
void scenario_use_quorums(struct scenario *s);
void scenario_print_quorum(const struct program *p, FILE *out);

/* How long the static job may take, beside all that goes wrong. */
uint64_t scenario_fixed_takes(const struct scenario *s);

void scenario_print_parts(const struct scenario *s, FILE *out);

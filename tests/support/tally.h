/* A protocol that is very different from SwitchML, for tests of the code that carries packets and makes jobs.
 *
 * Packets of three bytes (job, slot, what to do) pass through on their way to somewhere else and get the
 * count of those before them written into them. A slot that hears nothing for a while tells the parent. Its
 * jobs need no members; its terms are the number of slots. */
#pragma once

#include "protocol/protocol.h"

enum { TALLY = 3 /* its number */, TALLY_UDP_PORT = 7000, TALLY_BYTES = 3, TALLY_QUIET_NS = 1000 };
enum tally_command { TALLY_COUNT, TALLY_WATCH, TALLY_FORGET };
enum tally_reason {
    TALLY_COUNTED,
    TALLY_WATCHED,
    TALLY_FORGOTTEN,
    TALLY_QUIET,
    TALLY_SHORT,
    TALLY_NO_JOB,
    TALLY_REASONS
};

extern const struct agg_protocol tally;

struct agg_terms tally_terms(uint8_t slots);
uint8_t tally_slots(const struct agg_terms *terms);

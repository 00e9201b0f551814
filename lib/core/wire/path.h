/* Path probes: does a packet of this length get to the switch and back? Anybody may ask, at any of the
 * switch's data ports, without a job (docs/protocol.md, "Path probes"). A question is as long as the data
 * packets that are to follow; the answer is as long as the question.
 *
 * They share the first ten bytes and the ports of SwitchML packets (switchml.h), whose parser does not know
 * their kinds. Answers are never answered. Pure and reentrant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PATH_QUESTION = 9, /* where SwitchML packets have enum sml_kind */
    PATH_ANSWER = 10,
    PATH_BYTES_MIN = 14, /* of a UDP payload */
};

struct path_answer {
    uint32_t tag; /* the question's */
    /* how many UDP ports the switch has for data packets, counted from its first: 1..16 */
    uint8_t data_ports;
};

/* Writes a question of so many bytes, at least PATH_BYTES_MIN. tag: comes back in the answer. slot: one whose
 * packets go to that port, so that the question takes the same way through the switch. */
void path_build_question(uint8_t *payload, size_t bytes, uint32_t tag, uint16_t slot);

bool path_is_question(const uint8_t *payload, size_t bytes);

/* Turns a question into its answer, in place. */
void path_answer(uint8_t *payload, uint8_t data_ports);

/* False: it is no answer. */
bool path_parse_answer(struct path_answer *a, const uint8_t *payload, size_t bytes);

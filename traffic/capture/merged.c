#include "capture/merged.h"

#include <stdbool.h>
#include <stdlib.h>

#include "wire/switchml.h"

enum { JOB = 1 }; /* where a header has the number of the job */

/* The numbers of slots (powers of two, as a set of bits) with which a chunk of this tag has this slot and
 * version. */
static unsigned slots_of(const struct sml_packet *p)
{
    unsigned set = 0;

    for (unsigned slots = 2; slots <= SML_MAX_SLOTS; slots *= 2)
        if (p->tag % slots == p->slot && (p->tag / slots & 1) == p->ver)
            set |= slots;
    return set;
}

/* Whether a and b may be of the same run. They may be of different kinds, since a result without elements is
 * as long as a probe, of different types, and copies of each other. */
static bool go_together(const struct sml_packet *a, const struct sml_packet *b)
{
    return a->job == b->job && a->size_code == b->size_code && a->checksum == b->checksum &&
           abs((int32_t)(b->tag - a->tag)) <= SML_MAX_SLOTS;
}

static bool is_run(const uint8_t *payload, size_t bytes, size_t each)
{
    struct sml_packet first, next;
    unsigned slots;

    if (payload[each + JOB] != payload[JOB] || sml_parse(&first, payload, each) != SML_OK)
        return false;
    slots = slots_of(&first);
    for (size_t at = each; at < bytes; at += each) {
        const size_t left = bytes - at;

        if (sml_parse(&next, payload + at, left < each ? left : each) != SML_OK ||
            !go_together(&first, &next))
            return false;
        slots &= slots_of(&next);
    }
    return slots != 0;
}

size_t merged_first_bytes(const uint8_t *payload, size_t bytes)
{
    for (size_t each = SML_HEADER_BYTES; each + SML_HEADER_BYTES <= bytes; each++) {
        if (is_run(payload, bytes, each))
            return each;
    }
    return bytes;
}

/* A stream's records of chunks in flight: one for each slot, and lists of slots linked through the records,
 * so that every step is O(1). Private to the stream. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SML_NO_SLOT = 0xffff };

struct sml_list {
    uint16_t first, last;
};
#define SML_LIST_EMPTY ((struct sml_list){SML_NO_SLOT, SML_NO_SLOT})

/* The packet that is to be sent next for a chunk. */
enum sml_due {
    SML_DUE_NOTHING = 0,
    SML_DUE_PROBE,
    SML_DUE_FULL, /* the contribution or, after a restart of the switch, the result */
};

enum { SML_ASKS_MAX = 7 };

struct sml_flight {
    uint64_t sent_at;  /* when the last packet for this chunk was sent, of any kind, or the switch answered
                          that it has our contribution */
    uint64_t first_at; /* when the first was; 0: its contribution was sent more than once */
    uint64_t took;     /* from then to the result, of the chunk that was settled here last, if it had been
                          asked for; else 0 */
    struct sml_list *list; /* where the slot is linked in; NULL: no chunk of it is in flight */
    uint16_t next, prev;
    uint8_t due;   /* enum sml_due */
    uint8_t sends; /* packets of any kind for this chunk, saturating */
    uint8_t asks;  /* 0: its packet was sent once; 1: sent again; n + 1: it was asked for n times since; at
                      most SML_ASKS_MAX */
    bool probed;   /* the last one was a probe */
    bool heard;    /* the switch has our contribution */
    bool settled;  /* the switch is done with the chunk; of the chunk in [head, head + slots) */
    /* the chunk that was settled here last had been probed once, and its result came soon after */
    bool asked;
    bool have; /* this rank is done with the chunk; of the chunk in [oldest, oldest + slots) */
};

void sml_flight_link(struct sml_flight flights[], struct sml_list *list, uint16_t slot); /* at the end */
void sml_flight_unlink(struct sml_flight flights[], uint16_t slot); /* no-op if not linked */

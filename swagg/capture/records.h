/* Records of any length, from many threads to one, in room that is bounded: each takes as much of it as it is
 * long.
 *
 * Nobody waits: a writer that finds no room is told so, and the reader takes records in the order in which
 * they were begun, up to the first one that is still being written. Room that nobody has is all zero, by
 * which the reader knows where no record is yet.
 *
 * No DPDK. Threads: any number writes; one makes, reads and frees.
 */
#pragma once

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORDS_LINE = 64 /* of the CPU's cache */ };

struct records {
    uint8_t *room;
    uint64_t bytes;                        /* of the room */
    alignas(RECORDS_LINE) uint64_t begun;  /* atomic; bytes since the start: of records begun ... */
    alignas(RECORDS_LINE) uint64_t passed; /* atomic; ... and of those given back */
};

/* All room is touched now, so that no writer has to wait for the kernel's pages. 0, or -ENOMEM. */
int records_init(struct records *r, size_t bytes);
void records_free(struct records *r);

/* How much room a record of so many bytes takes. */
size_t records_room_of(size_t bytes);

/* A place for so many bytes, aligned to 8, to be filled in and ended; NULL: there is no room. */
void *records_begin(struct records *r, size_t bytes);
void records_end(void *record);

/* The next record, to be given back before the one behind it; NULL: there is none. */
void *records_next(struct records *r);
void records_give_back(struct records *r, void *record);

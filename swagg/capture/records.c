#include "capture/records.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum state { NONE, WRITTEN, GAP /* the next record begins with the room */ };

struct head {
    uint32_t room;  /* that it takes, with this */
    uint32_t state; /* atomic */
};

static_assert(sizeof(struct head) == 8, "records are aligned to 8, and a gap has room for a head");

int records_init(struct records *r, size_t bytes)
{
    const size_t room = (bytes + RECORDS_LINE - 1) / RECORDS_LINE * RECORDS_LINE;

    *r = (struct records){.room = aligned_alloc(RECORDS_LINE, room), .bytes = room};
    if (r->room == NULL)
        return -ENOMEM;
    memset(r->room, 0, room);
    return 0;
}

void records_free(struct records *r)
{
    free(r->room);
}

size_t records_room_of(size_t bytes)
{
    return (sizeof(struct head) + bytes + 7) / 8 * 8;
}

static struct head *at(const struct records *r, uint64_t position)
{
    return (struct head *)(r->room + position % r->bytes);
}

static void set(struct head *head, size_t room, enum state state)
{
    head->room = (uint32_t)room;
    __atomic_store_n(&head->state, state, __ATOMIC_RELEASE);
}

void *records_begin(struct records *r, size_t bytes)
{
    const size_t room = records_room_of(bytes);
    uint64_t from = __atomic_load_n(&r->begun, __ATOMIC_ACQUIRE), gap;
    struct head *head;

    do {
        const uint64_t left = r->bytes - from % r->bytes;

        gap = left < room ? left : 0;
        /* Less than none is used where others have been here since: then the exchange fails. */
        if ((int64_t)(from + gap + room - __atomic_load_n(&r->passed, __ATOMIC_ACQUIRE)) > (int64_t)r->bytes)
            return NULL;
    } while (!__atomic_compare_exchange_n(&r->begun, &from, from + gap + room, true, __ATOMIC_ACQUIRE,
                                          __ATOMIC_ACQUIRE));
    if (gap > 0)
        set(at(r, from), gap, GAP);
    head = at(r, from + gap);
    head->room = (uint32_t)room;
    return head + 1;
}

void records_end(void *record)
{
    struct head *head = (struct head *)record - 1;

    set(head, head->room, WRITTEN);
}

void *records_next(struct records *r)
{
    for (;;) {
        struct head *head = at(r, r->passed);

        switch (__atomic_load_n(&head->state, __ATOMIC_ACQUIRE)) {
        case WRITTEN:
            return head + 1;
        case GAP:
            records_give_back(r, head + 1);
            break;
        default:
            return NULL;
        }
    }
}

void records_give_back(struct records *r, void *record)
{
    struct head *head = (struct head *)record - 1;
    const uint32_t room = head->room;

    memset(head, 0, room);
    __atomic_store_n(&r->passed, r->passed + room, __ATOMIC_RELEASE);
}

/* Several threads write records, another one reads them meanwhile, in little room; built with the thread
 * sanitizer, which notices races. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "capture/records.h"
#include "unit.h"

enum { WRITERS = 3, RECORDS = 20000, LONGEST = 200, ROOM = 1000 };

struct record {
    unsigned writer, number, bytes;
    uint8_t content[];
};

static struct records records;
static atomic_uint writing;

static void write_record(unsigned writer, unsigned number)
{
    const unsigned bytes = (writer * 31 + number * 17) % LONGEST;
    struct record *r;

    while ((r = records_begin(&records, sizeof(*r) + bytes)) == NULL)
        sched_yield();
    *r = (struct record){.writer = writer, .number = number, .bytes = bytes};
    memset(r->content, (uint8_t)number, bytes);
    records_end(r);
}

static void *write_all(void *writer)
{
    for (unsigned i = 0; i < RECORDS; i++)
        write_record((unsigned)(uintptr_t)writer, i);
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static bool is_whole(const struct record *r)
{
    for (unsigned i = 0; i < r->bytes; i++)
        if (r->content[i] != (uint8_t)r->number)
            return false;
    return r->bytes == (r->writer * 31 + r->number * 17) % LONGEST;
}

/* All records come once, whole, in the order of their writer. */
static void read_all(void)
{
    unsigned next[WRITERS] = {0}, wrong = 0;

    for (;;) {
        const bool last = atomic_load(&writing) == 0;
        struct record *r = records_next(&records);

        if (r == NULL && last)
            break;
        if (r == NULL) {
            sched_yield();
            continue;
        }
        wrong += r->number != next[r->writer]++ || !is_whole(r);
        records_give_back(&records, r);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    for (unsigned i = 0; i < WRITERS; i++)
        CU_ASSERT_EQUAL(next[i], RECORDS);
}

TEST(records_are_read_meanwhile)
{
    pthread_t writer[WRITERS];

    CU_ASSERT_EQUAL_FATAL(records_init(&records, ROOM), 0);
    atomic_store(&writing, WRITERS);
    for (uintptr_t i = 0; i < WRITERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&writer[i], NULL, write_all, (void *)i), 0);
    read_all();
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(writer[i], NULL);
    records_free(&records);
}

TEST(room_that_is_taken_is_refused_until_it_is_given_back)
{
    void *first, *r;

    CU_ASSERT_EQUAL_FATAL(records_init(&records, RECORDS_LINE), 0);
    first = records_begin(&records, RECORDS_LINE / 2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_PTR_NULL(records_begin(&records, RECORDS_LINE / 2));
    CU_ASSERT_PTR_NULL(records_next(&records)); /* it is still being written */
    records_end(first);
    CU_ASSERT_PTR_EQUAL(records_next(&records), first);
    records_give_back(&records, first);
    CU_ASSERT_PTR_NULL(records_next(&records));
    r = records_begin(&records, 1);
    CU_ASSERT_PTR_NOT_NULL(r);
    records_free(&records);
}

#include "ledger.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/splitmix.h"
#include "types.h"

enum { ENTRIES = 1024, ENTRIES_USED_MAX = ENTRIES * 3 / 4 };

/* An entry is for calls with its key; 0: it is free. The key is written last. */
static struct entry {
    _Atomic uint64_t key;
    _Atomic uint64_t calls;
    struct ledger_kind kind;
    const void *site;
    char type[MPI_MAX_OBJECT_NAME];
} entries[ENTRIES];
static _Atomic unsigned used;                /* grows under the mutex */
static _Atomic uint64_t homeless[WHY_COUNT]; /* calls of kinds for which there was no entry left */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* --- sizes --- */

static const struct {
    size_t up_to;
    const char *name;
} sizes[] = {
    {0, "no data"},       {64, "up to 64 bytes"}, {1024, "up to 1K"},         {8192, "up to 8K"},
    {65536, "up to 64K"}, {1 << 20, "up to 1M"},  {SIZE_MAX, "more than 1M"},
};

static unsigned size_class(size_t bytes)
{
    unsigned class = 0;
    while (bytes > sizes[class].up_to)
        class ++;
    return class;
}

/* --- counting --- */

/* Different kinds have the same key once in 2^64 pairs. */
static uint64_t key_of(const struct call *c, unsigned class)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)c->function, (uint64_t)(uintptr_t)c->op,
                              (uint64_t)(uintptr_t)c->type, (uint64_t)(uintptr_t)c->site,
                              (uint64_t)c->why << 8 | class};
    uint64_t key = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        key = splitmix_hash(key ^ words[i]);
    return key ? key : 1;
}

/* The entry with the key, or else a free one for it. There always is a free one. */
static struct entry *find(uint64_t key)
{
    size_t i = key % ENTRIES;
    uint64_t there;
    while ((there = atomic_load_explicit(&entries[i].key, memory_order_acquire)) != 0 && there != key)
        i = (i + 1) % ENTRIES;
    return &entries[i];
}

static void describe(struct entry *e, const struct call *c, unsigned class)
{
    int length, integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    e->site = c->site;
    if (c->type && c->type != MPI_DATATYPE_NULL) {
        PMPI_Type_get_envelope(c->type, &integers, &addresses, &types, &combiner);
        PMPI_Type_get_name(c->type, e->type, &length);
    }
    if (combiner != MPI_COMBINER_NAMED) /* its handle may become another's */
        snprintf(e->type, sizeof e->type, "a derived type");
    e->kind = (struct ledger_kind){.function = c->function,
                                   .why = c->why,
                                   .op = c->op == MPI_OP_NULL ? "" : op_name(c->op),
                                   .type = e->type,
                                   .size = sizes[class].name};
}

static struct entry *add(uint64_t key, const struct call *c, unsigned class)
{
    pthread_mutex_lock(&mutex);
    struct entry *e = find(key);
    if (e->key == 0 && used < ENTRIES_USED_MAX) {
        used++;
        describe(e, c, class);
        atomic_store_explicit(&e->key, key, memory_order_release);
    }
    if (e->key == 0)
        e = NULL;
    pthread_mutex_unlock(&mutex);
    return e;
}

void ledger_count(const struct call *c)
{
    const unsigned class = size_class(c->bytes);
    const uint64_t key = key_of(c, class);
    struct entry *e = find(key);
    if (atomic_load_explicit(&e->key, memory_order_acquire) == 0)
        e = used < ENTRIES_USED_MAX ? add(key, c, class) : NULL;
    atomic_fetch_add_explicit(e ? &e->calls : &homeless[c->why], 1, memory_order_relaxed);
}

/* --- telling --- */

uint64_t ledger_calls(enum why why)
{
    uint64_t calls = homeless[why];
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].key && entries[i].kind.why == why)
            calls += entries[i].calls;
    return calls;
}

/* Fewest calls last; of as many, by name. */
static int compare(const void *a, const void *b)
{
    const struct ledger_group *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return strcmp(x->label, y->label);
}

static unsigned group_of(const char *label, struct ledger_group *groups, unsigned *n)
{
    unsigned g = 0;
    while (g < *n && strcmp(groups[g].label, label) != 0)
        g++;
    if (g == *n && *n < LEDGER_GROUPS_MAX) {
        groups[g] = (struct ledger_group){0};
        snprintf(groups[g].label, sizeof groups[g].label, "%s", label);
        ++*n;
    }
    return g;
}

unsigned ledger_groups(ledger_label *label, struct ledger_group groups[LEDGER_GROUPS_MAX])
{
    unsigned n = 0, member[ENTRIES];
    char text[LEDGER_LABEL_MAX];
    for (size_t i = 0; i < ENTRIES; i++) {
        member[i] = LEDGER_GROUPS_MAX;
        *text = '\0';
        if (entries[i].key)
            label(&entries[i].kind, text);
        if (!*text)
            continue;
        const unsigned g = member[i] = group_of(text, groups, &n);
        if (g == LEDGER_GROUPS_MAX)
            continue;
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = member[j] == g && entries[j].site == entries[i].site;
        groups[g].calls += entries[i].calls;
        groups[g].sites += !seen;
    }
    qsort(groups, n, sizeof groups[0], compare);
    return n;
}

#include "ledger.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monotonic.h"
#include "random/splitmix.h"
#include "types.h"

enum { ENTRIES = 1024, ENTRIES_USED_MAX = ENTRIES * 3 / 4 };

/* An entry is for calls with its key; 0: it is free. The key is written last. */
static struct entry {
    _Atomic uint64_t key;
    _Atomic uint64_t calls, ended, bytes, ns, waited_ns;
    _Atomic uint64_t since; /* when the newest call began */
    struct ledger_kind kind;
    const void *site;
    char type[MPI_MAX_OBJECT_NAME];
    char label[COMM_LABEL_MAX];
} entries[ENTRIES];
static _Atomic unsigned used;                /* grows under the mutex */
static _Atomic uint64_t homeless[WHY_COUNT]; /* calls of kinds for which there was no entry left */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void (*tell_new)(const struct ledger_kind *kind);

void ledger_init(void (*on_new)(const struct ledger_kind *kind))
{
    tell_new = on_new;
}

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
                              (uint64_t)(uintptr_t)c->type,     (uint64_t)(uintptr_t)c->site,
                              (uint64_t)c->why << 8 | class,    c->label ? c->label->hash : 0};
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
    if (c->label)
        memcpy(e->label, c->label->text, sizeof e->label);
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
                                   .size = sizes[class].name,
                                   .label = e->label};
}

static struct entry *add(uint64_t key, const struct call *c, unsigned class)
{
    pthread_mutex_lock(&mutex);
    struct entry *e = find(key);
    const bool is_new = e->key == 0 && used < ENTRIES_USED_MAX;
    if (is_new) {
        used++;
        describe(e, c, class);
        atomic_store_explicit(&e->key, key, memory_order_release);
    }
    if (e->key == 0)
        e = NULL;
    pthread_mutex_unlock(&mutex);
    if (is_new && tell_new)
        tell_new(&e->kind);
    return e;
}

/* These take some ns each, and MPI_Barrier may take less: nothing is added that is nothing. */
static void add_to(_Atomic uint64_t *counter, uint64_t n)
{
    if (n)
        atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

struct ledger_visit ledger_enter(const struct call *c)
{
    const unsigned class = size_class(c->bytes);
    const uint64_t key = key_of(c, class);
    struct ledger_visit visit = {.entry = find(key), .began = monotonic_ns()};
    if (atomic_load_explicit(&visit.entry->key, memory_order_acquire) == 0)
        visit.entry = used < ENTRIES_USED_MAX ? add(key, c, class) : NULL;
    struct entry *e = visit.entry;
    add_to(e ? &e->calls : &homeless[c->why], 1);
    if (e) {
        add_to(&e->bytes, c->bytes);
        atomic_store_explicit(&e->since, visit.began, memory_order_relaxed);
    }
    return visit;
}

void ledger_leave(struct ledger_visit visit, uint64_t waited_ns)
{
    struct entry *e = visit.entry;
    if (!e)
        return;
    add_to(&e->ns, monotonic_ns() - visit.began);
    add_to(&e->waited_ns, waited_ns);
    add_to(&e->ended, 1);
}

/* --- telling --- */

static bool is_used(const struct entry *e)
{
    return atomic_load_explicit(&e->key, memory_order_acquire) != 0;
}

uint64_t ledger_calls(enum why why)
{
    uint64_t calls = homeless[why];
    for (size_t i = 0; i < ENTRIES; i++)
        if (is_used(&entries[i]) && entries[i].kind.why == why)
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

/* The group with the label, of n, or else a new one behind them. */
static struct ledger_group *group_of(const char *label, struct ledger_group *groups, unsigned *n)
{
    unsigned g = 0;
    while (g < *n && strcmp(groups[g].label, label) != 0)
        g++;
    if (g == *n) {
        snprintf(groups[g].label, sizeof groups[g].label, "%s", label);
        ++*n;
    }
    return &groups[g];
}

static void add_to_group(struct ledger_group *g, const struct entry *e)
{
    const uint64_t ended = e->ended, calls = e->calls; /* in this order: no more have ended than begun */
    g->kind = &e->kind;
    g->calls += calls;
    g->bytes += e->bytes;
    g->ns += e->ns;
    g->waited_ns += e->waited_ns;
    g->in_progress += (unsigned)(calls - ended);
    if (calls > ended && e->since > g->since)
        g->since = e->since;
}

struct ledger_group *ledger_groups(ledger_label *label, unsigned *n)
{
    const struct ledger_group *member[ENTRIES] = {0};
    char text[LEDGER_LABEL_MAX];
    struct ledger_group *groups = calloc(ENTRIES_USED_MAX, sizeof *groups);
    *n = 0;
    for (size_t i = 0; groups && i < ENTRIES; i++) {
        *text = '\0';
        if (is_used(&entries[i]))
            label(&entries[i].kind, text);
        if (!*text)
            continue;
        struct ledger_group *g = group_of(text, groups, n);
        bool seen = !entries[i].site;
        for (size_t j = 0; j < i && !seen; j++)
            seen = member[j] == g && entries[j].site == entries[i].site;
        member[i] = g;
        add_to_group(g, &entries[i]);
        g->sites += !seen;
    }
    if (groups)
        qsort(groups, *n, sizeof groups[0], compare);
    return groups;
}

/* What a view is written through, once for all its readers: DPDK's telemetry (writer_telemetry.h) and
 * swaggctl (writer_json.h).
 *
 * A view is a dictionary. Its values are texts, numbers and flags, lists of those, and tables. A table is a
 * list of rows, which are dictionaries of the same keys in the same order; their values may be lists, too.
 * Keys are made of letters, digits and underscores, and outlive the writer.
 *
 * Threads: a writer is one thread's.
 */
#ifndef SWAGG_SHOW_WRITER_H
#define SWAGG_SHOW_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "net/mac.h"

struct writer;

enum writer_number {
    WRITER_STATE,  /* a number that goes up and down */
    WRITER_COUNTS, /* one that only grows, so that its growth in a second means something */
};

struct writer_ops {
    /* key: NULL in a list */
    void (*text)(struct writer *w, const char *key, const char *value);
    void (*number)(struct writer *w, const char *key, uint64_t value, enum writer_number kind);
    void (*flag)(struct writer *w, const char *key, bool value);
    void (*list)(struct writer *w, const char *key, bool numbers); /* else texts */
    void (*table)(struct writer *w, const char *key);
    void (*row)(struct writer *w);
    void (*end)(struct writer *w); /* of the innermost list, row or table */
};

/* The first member of each back end's own struct. */
struct writer {
    const struct writer_ops *ops;
};

static inline void writer_text(struct writer *w, const char *key, const char *value)
{
    w->ops->text(w, key, value);
}

static inline void writer_number(struct writer *w, const char *key, uint64_t value)
{
    w->ops->number(w, key, value, WRITER_STATE);
}

static inline void writer_counter(struct writer *w, const char *key, uint64_t value)
{
    w->ops->number(w, key, value, WRITER_COUNTS);
}

static inline void writer_flag(struct writer *w, const char *key, bool value)
{
    w->ops->flag(w, key, value);
}

static inline void writer_texts(struct writer *w, const char *key)
{
    w->ops->list(w, key, false);
}

static inline void writer_numbers(struct writer *w, const char *key)
{
    w->ops->list(w, key, true);
}

static inline void writer_table(struct writer *w, const char *key)
{
    w->ops->table(w, key);
}

static inline void writer_row(struct writer *w)
{
    w->ops->row(w);
}

static inline void writer_end(struct writer *w)
{
    w->ops->end(w);
}

__attribute__((format(printf, 3, 4))) void writer_format(struct writer *w, const char *key,
                                                         const char *format, ...);
void writer_mac(struct writer *w, const char *key, const struct net_mac *mac);
void writer_ip(struct writer *w, const char *key, uint32_t ip); /* network order */

#endif

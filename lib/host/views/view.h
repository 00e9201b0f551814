/* What an operator can look at, declared once (declared.h): a view has fields of its own, and perhaps one
 * table, whose rows have fields, too. A program fills a plain struct for the fields, and one for each row;
 * what it answers, what telemetry tells and the page of the docs come from the declaration.
 *
 * Threads: declarations are constant; a view that is being written is one thread's.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "protocol/protocol.h"

/* What a field is, and what lies at its place. */
enum view_type {
    VIEW_TEXT,    /* const char *; NULL: the row does not have it */
    VIEW_CHARS,   /* the text itself */
    VIEW_GAUGE,   /* uint64_t that goes up and down */
    VIEW_ID,      /* uint64_t that says which, and not how much */
    VIEW_COUNTER, /* uint64_t that only grows, so that its growth in a second means something */
    VIEW_FLAG,    /* bool */
    VIEW_DELAYS,  /* struct view_delays, a list: how often something took how long (protocol/delays.h) */
    VIEW_TEXTS,   /* struct view_texts, a list */
    VIEW_RANKS,   /* struct view_ranks, a list of their numbers */
    VIEW_TERMS,   /* struct view_terms: the job's protocol, and what that lists of them */
    VIEW_COUNTS,  /* struct view_counts: counters that have names of their own */
    VIEW_TABLE,   /* nothing: the view's rows */
};

struct view_delays {
    unsigned n;
    const uint64_t *of; /* by agg_delay_bucket */
    uint64_t sum_ns;
};

struct view_texts {
    unsigned n;
    const char *of; /* the first */
    size_t each;    /* from one to the next */
};

struct view_ranks {
    uint64_t set[AGG_MAX_RANKS / 64]; /* protocol/ranks.h */
};

struct view_terms {
    const struct agg_protocol *protocol;
    const struct agg_terms *terms;
};

struct view_counts {
    unsigned n;
    const struct view_count {
        const char *name;
        uint64_t n;
    } * of;
};

struct view_field {
    const char *name; /* of letters, digits and underscores; NULL: the list of fields ends here */
    enum view_type type;
    size_t at;        /* in the struct */
    size_t when;      /* where in the struct a bool says whether it has this; 0: it always has */
    const char *unit; /* NULL: none */
    const char *meaning;
};

enum { VIEW_LABELS_MAX = 3 };

/* What the parameter of a view names. */
enum view_subject { VIEW_OF_ALL /* no parameter */, VIEW_OF_PORT, VIEW_OF_LCORE, VIEW_OF_JOB, VIEW_SUBJECTS };

struct view {
    const char *name; /* of the command; telemetry: /swagg/NAME */
    enum view_subject of;
    bool optional; /* the parameter may be left out */
    const char *help;
    const struct view_field *fields; /* its own */
    const struct view_field *row;    /* of its table; NULL: it has none */
    /* Of /metrics (metrics/families.h): what its names begin with; NULL: it is not told there. */
    const char *metric;
    /* What the first fields, of the row if it has any, are called that say which it is; and what the names of
     * its VIEW_COUNTS are. */
    const char *label[VIEW_LABELS_MAX], *counted;
};

/* Fields of a view, or of a row of its table, and the struct that they are in. */
typedef void view_visitor(void *context, const struct view_field *fields, const void *from);

/* Whether the struct says that it has the field. */
bool view_has(const struct view_field *field, const void *from);

/* A view that is being written. Rows come first, then the fields; a view without other fields than its table
 * needs none. */
struct view_out {
    const struct view *view;
    json_t *object, *rows;
    json_t *counters;    /* an object whose keys are the paths, KEY or TABLE/KEY, of numbers that only grow */
    bool failed;         /* for want of memory */
    view_visitor *visit; /* not NULL: it is not written, but visited */
    void *context;
};

void view_begin(struct view_out *out, const struct view *view);
/* In its place: what fills the view is handed to visit, and nothing needs to be ended. */
void view_visit(struct view_out *out, const struct view *view, view_visitor *visit, void *context);
void view_row(struct view_out *out, const void *row);
void view_fields(struct view_out *out, const void *fields);

/* Ends it. *view, and *counters, an array of the paths of numbers that only grow, are the caller's to
 * release. -ENOMEM: there are none. */
int view_end(struct view_out *out, json_t **view, json_t **counters);

/* Who fills views. */
struct view_source {
    /* Of the port or job of this name, if it has one. 0; -ENOENT: it is not there; -EINVAL: there is no such
     * view here. */
    int (*fill)(void *context, const struct view *view, const char *name, struct view_out *out);
    void *context;
};

/* The field that a key of the view, or with row of its table's rows, belongs to; NULL: terms and counters
 * with names of their own. */
const struct view_field *view_field(const struct view_field *fields, const char *key);

/* A text that may have been cut within a character, or come from elsewhere: where it is no UTF-8, question
 * marks stand for all of it that is not ASCII. NULL: no memory. */
json_t *view_json_text(const char *text);

/* Addresses as texts. ip: network order; threads: at UDP ports from port on. */
enum { VIEW_IP_MAX = 16, VIEW_ADDRESS_MAX = 32, VIEW_TIME_MAX = 24, VIEW_NUMBER_MAX = 24 };
const char *view_ip(char text[VIEW_IP_MAX], uint32_t ip);
const char *view_address(char text[VIEW_ADDRESS_MAX], uint32_t ip, unsigned port, unsigned threads);

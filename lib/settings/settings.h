/* What a setting is, and what is derived from it. A program declares its settings as constant tables of
 * struct setting; from these come the reading of a file, defaults and bounds (settings_read), what is
 * different in another configuration (changes.h) and the page of documentation (page.h). A configuration is a
 * plain struct of the caller's; what no table can say, such as bounds of one value by another, he checks
 * himself behind settings_read. Paths name values, as in messages: "ports[1].impair.rx.drop".
 *
 * One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yaml.h>

enum { SETTINGS_PATH_MAX = 160, SETTINGS_PATHS = 8, SETTINGS_FAULTS_MAX = 100 /* more are not listed */ };
enum { SETTING_SHOWN_MAX = 128 };

/* Is called with each message, without a newline: "conf/x.yaml:12: ports[1].impair.rx.drop: 1.5 is not a
 * probability (0..1)". */
typedef void (*settings_report)(void *context, const char *message);

/* A file, its YAML tree with line numbers, and what is wrong with it. */
struct settings {
    const char *file, *least; /* the caller's strings */
    char *bytes;              /* the whole file */
    size_t length;
    yaml_document_t document; /* has a root node */
    settings_report report;
    void *context;
    unsigned faults;                                     /* reported so far */
    char faulty[SETTINGS_FAULTS_MAX][SETTINGS_PATH_MAX]; /* their paths */
    char path[SETTINGS_PATHS][SETTINGS_PATH_MAX];        /* of settings_path */
    unsigned paths;
};

enum setting_type {
    SETTING_NUMBER, /* unsigned, of 1, 2, 4 or 8 bytes */
    SETTING_SHARE,  /* a double within 0..1 */
    SETTING_BOOL,
    SETTING_WORD,   /* one of words; its value, of 1 or 4 bytes */
    SETTING_TEXT,   /* an array of characters */
    SETTING_NAME,   /* the same without spaces */
    SETTING_PARSED, /* what parse makes of a text */
    SETTING_LATER,  /* a text that the caller looks up (settings_text), for what he puts here once all is read
                     */
    SETTING_GROUP,  /* fields, of the struct here */
    SETTING_LIST,   /* of groups (fields), or of single values (item) */
    SETTING_MORE, /* no key of the file: more that follows from the key before, and is different if this is */
};

/* What a change of it takes while the program runs; the later one takes more. */
enum setting_when {
    SETTING_AT_ONCE,
    SETTING_NEW_JOBS,   /* at once, for jobs that begin from then on */
    SETTING_WHEN_QUIET, /* of a job that is quiet; else it is refused */
    SETTING_RESTART,    /* it is refused */
    SETTING_WHENS
};

struct setting_word {
    const char *word; /* NULL: the list ends */
    uint32_t value;
};

struct setting {
    const char *key; /* NULL: the table ends */
    enum setting_type type;
    enum setting_when when; /* of a group or list: for all in it, if it is later than their own */
    bool required;

    size_t offset, bytes; /* in the struct of its group */
    /* Of a number: its bounds; of a text: characters, most 0: any number; of a list: items. */
    uint64_t least, most;
    uint64_t fallback; /* what a number, bool or word is if nothing is said */
    bool power_of_two;
    const char *refusal; /* of a number out of its bounds; NULL: "is out of range" */
    const struct setting_word *words;
    const char *initial; /* what is parsed if nothing is said */
    /* Turns text into the value, or reports what is wrong with it. */
    void (*parse)(struct settings *s, const char *path, const char *text, void *value);
    /* Writes a value of this configuration; two that look the same are the same. NULL: by its type; of
     * SETTING_LATER and lists it is not shown. */
    void (*show)(char text[SETTING_SHOWN_MAX], const void *configuration, const void *value);
    /* Of a list whose items lie nowhere as they were read: writes the i-th. False: there is none. */
    bool (*show_item)(char text[SETTING_SHOWN_MAX], const void *configuration, const void *list, unsigned i);

    const struct setting *fields, *item;
    size_t stride;       /* from one item to the next */
    size_t count_at;     /* where its items are counted, an unsigned; only if counted */
    bool counted, named; /* named: items are known by their first field, a name; else by their place */
    enum setting_when arrives,
        leaves; /* what it takes that an item is new in a named list, or in it no more */

    /* For the page. */
    const char *kind;  /* what it is, in words; NULL: by its type */
    const char *unit;  /* of a number */
    const char *usual; /* the default in words; NULL: by its type */
    const char *meaning;
    const char *title; /* its fields have a table of their own, with this above; NULL: they are in its list's
                          or group's */
};

/* Where a setting is: a field of a struct. */
#define SETTING_AT(whole, field) .offset = offsetof(whole, field), .bytes = sizeof(((whole *)NULL)->field)
/* A number: where it is, its bounds and its default. */
#define SETTING_NUMBER_AT(whole, field, from, to, otherwise)                                                 \
    .type = SETTING_NUMBER, SETTING_AT(whole, field), .least = (from), .most = (to), .fallback = (otherwise)
/* A list: where its first item is, where the items are counted, and how many there may be. */
#define SETTING_LIST_AT(whole, field, count, from, to)                                                       \
    .type = SETTING_LIST, SETTING_AT(whole, field), .stride = sizeof(((whole *)NULL)->field[0]),             \
    .counted = true, .count_at = offsetof(whole, count), .least = (from), .most = (to)

/* Reads and parses a file (least: what would do, in the place of an empty one); the caller closes it, unless
 * there was an error, which has been reported: -errno (cannot be read), -EFBIG, -ENOMEM, -EINVAL (no YAML
 * document in it, or more than one). */
int settings_open(struct settings *s, const char *file, const char *least, settings_report report,
                  void *context);
/* The same of a text that is there; name stands for the file in messages. */
int settings_take(struct settings *s, const char *name, const char *text, settings_report report,
                  void *context);
void settings_close(struct settings *s);

/* Fills in what settings are if nothing is said; what has no default is left as it is. */
void settings_default(struct settings *s, const struct setting *table, void *configuration);

/* Fills in the configuration, which is all zero or has other defaults: those of this table, and what the file
 * says. Reports everything that does not fit the table, in the order of the file: keys that are unknown (with
 * the nearest known one), missing or given twice, values of the wrong kind or out of bounds. What is of the
 * wrong kind is removed from the tree, and so counts as absent. */
void settings_read(struct settings *s, const struct setting *table, void *configuration);

/* The pair of a mapping with this key, of so many characters; NULL: there is none. */
yaml_node_pair_t *settings_pair(struct settings *s, const yaml_node_t *map, const char *key, size_t length);

/* For checks behind that. */
bool settings_has(struct settings *s, const char *path);
/* The text of a single value; NULL: it is not there. */
const char *settings_text(struct settings *s, const char *path);

/* Whether a mistake was reported in the value at path, in a part of it, or in what it is a part of. Then
 * mistakes that follow from it need not be reported. */
bool settings_are_faulty(const struct settings *s, const char *path);

/* Whether so many mistakes were reported that no more will be. */
bool settings_are_full(const struct settings *s);

/* Reports a mistake in the value at path, with its line; if there is no such value, with the line of what
 * should contain it. */
__attribute__((format(printf, 3, 4))) void settings_fault(struct settings *s, const char *path,
                                                          const char *format, ...);
/* The same with the line known; 0: it is about the file as a whole. Returns false. */
__attribute__((format(printf, 4, 5))) bool settings_fault_at(struct settings *s, size_t line,
                                                             const char *path, const char *format, ...);

/* Puts a path together. It stays until SETTINGS_PATHS more were. */
__attribute__((format(printf, 2, 3))) const char *settings_path(struct settings *s, const char *format, ...);

/* libyaml counts from 0, editors from 1. */
static inline size_t settings_line(yaml_mark_t mark)
{
    return mark.line + 1;
}

/* The text of a configuration file, its YAML tree with line numbers, and the list of what is wrong. The tree
 * (libyaml's document, with marks) is kept as long as mistakes may have to be reported. Values are named by
 * paths, as in messages: "ports[1].impair.rx.drop".
 */
#ifndef SWAGG_CONFIG_CONFIG_TEXT_H
#define SWAGG_CONFIG_CONFIG_TEXT_H

#include <yaml.h>

#include "config/config.h"

enum { CONFIG_PATH_MAX = 160, CONFIG_FAULTS_MAX = 100 /* more are not listed */ };

struct config_text {
    const char *file; /* the caller's string */
    char *bytes;      /* the whole file */
    size_t length;
    yaml_document_t document; /* has a root node */
    config_report report;
    void *context;
    unsigned faults;                                 /* reported so far */
    char faulty[CONFIG_FAULTS_MAX][CONFIG_PATH_MAX]; /* their paths */
};

/* Reads and parses a file; the caller frees t with config_text_free, unless there was an error, which has
 * been reported: -errno (cannot be read), -EFBIG, -ENOMEM, -EINVAL (no YAML document in it, or more than
 * one). */
int config_text_read(struct config_text *t, const char *file, config_report report, void *context);
/* The same of a text that is there; name stands for the file in messages. */
int config_text_take(struct config_text *t, const char *name, const char *text, config_report report,
                     void *context);
void config_text_free(struct config_text *t);

bool config_text_has(struct config_text *t, const char *path);

/* Whether a mistake was reported in the value at path, in a part of it, or in what it is a part of. Then
 * mistakes that follow from it need not be reported. */
bool config_text_is_faulty(const struct config_text *t, const char *path);

/* Whether so many mistakes were reported that no more will be. */
bool config_text_is_full(const struct config_text *t);

/* Reports a mistake in the value at path, with its line; if there is no such value, with the line of what
 * should contain it. */
__attribute__((format(printf, 3, 4))) void config_fault(struct config_text *t, const char *path,
                                                        const char *format, ...);
/* The same with the line known. */
__attribute__((format(printf, 4, 5))) void config_fault_at(struct config_text *t, size_t line,
                                                           const char *path, const char *format, ...);

/* libyaml counts from 0, editors from 1. */
static inline size_t config_line(yaml_mark_t mark)
{
    return mark.line + 1;
}

#endif

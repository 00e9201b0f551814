/* What the doctor has found: a list of findings, each with what was seen and what to type, printed for people
 * or as JSON. One thread. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum finding_level {
    FINDING_OK,
    FINDING_SKIPPED, /* not looked at; saw says why */
    FINDING_WARNING, /* it works, and costs time or is about to break */
    FINDING_FAULT,   /* it does not work */
    FINDING_LEVELS
};

enum { FINDING_TEXT = 400, FINDING_ABOUT = 64 };

struct finding {
    enum finding_level level;
    const char *topic;         /* one of findings.c's topics */
    char about[FINDING_ABOUT]; /* an interface, an address, ...; "": the machine */
    char saw[FINDING_TEXT], type[FINDING_TEXT];
};

struct findings {
    struct finding *all;
    unsigned n, room;
    const char *only; /* topics that are wanted, separated by commas; NULL: all */
    unsigned count[FINDING_LEVELS];
};

/* Whether anything of this topic is wanted: what is not need not be looked at. */
bool findings_want(const struct findings *f, const char *topic);

/* Adds one. about may be NULL. The result is never NULL, and good until the next call. */
__attribute__((format(printf, 5, 6))) struct finding *found(struct findings *f, enum finding_level level,
                                                            const char *topic, const char *about,
                                                            const char *saw, ...);

/* What to type, or to do, about it. */
__attribute__((format(printf, 2, 3))) void finding_type(struct finding *finding, const char *type, ...);

/* Whether these are names of topics, separated by commas. */
bool topics_are_known(const char *names);
void topics_print(FILE *to);

/* all: also what is well, or was not looked at. */
void findings_print(const struct findings *f, bool all, FILE *to);
void findings_print_json(const struct findings *f, FILE *to);
void findings_free(struct findings *f);

/* Another configuration while a host runs (docs/configuration.md, "Changing it while it runs"): its file is
 * read anew and checked as at the start, all that it takes is made, and only then is anything changed. If
 * anything is wrong, or a key is different that cannot be changed, nothing is, and the log says why.
 *
 * Threads: the one that changes the registry.
 */
#pragma once

#include "config/reload.h"
#include "registry/registry_host.h"

/* A change on its way. */
struct registry_change {
    struct registry_host *host;
    struct config *next;
    int tenant[CONFIG_TENANTS_MAX]; /* by the number until now: that in next; -1: it is gone */
    struct settings_changes *list;
    struct keyring keyring; /* of next, beside those before */
    void *memory;           /* for the registry */
};

/* What else changes with a program's file. A function that is NULL has nothing to do. */
struct registry_reload {
    const char *file;
    struct config *running; /* as it is now; at one place, since others have pointers to it */
    void *context;
    /* Reads the file, as at the start. */
    int (*load)(struct config *next, const char *file, settings_report report, void *context);
    /* Has next follow the running configuration. 0, or -errno after logging. */
    int (*align)(void *context, struct config *next);
    /* Says which of the changes that the list has need a restart here, though they do not elsewhere. */
    void (*judge)(struct settings_changes *list);
    /* Makes all that may fail. 0, or -errno after logging; else forget, or commit follows. */
    int (*prepare)(void *context, const struct registry_change *c);
    void (*forget)(void *context, const struct registry_change *c);
    /* Takes over what was made. In its midst it calls registry_change_take: from there on next is what runs.
     */
    void (*commit)(void *context, struct registry_change *c);
};

/* Makes the host what its file says now, and logs what has changed, or what is wrong. 0, or -errno: nothing
 * has changed. */
int registry_reload(struct registry_host *h, const struct registry_reload *how,
                    struct settings_changes *changes);

/* What a reload would change, also what needs a restart, for which it would be refused. Nothing is changed,
 * and what has to be made for it (devices, pools) is not tried. 0, or -errno after logging: the file is not
 * good for what runs. */
int registry_reload_would(struct registry_host *h, const struct registry_reload *how,
                          struct settings_changes *changes);

/* The same as registry_reload, where nobody looks at the changes. */
void registry_reload_on_signal(struct registry_host *h, const struct registry_reload *how);

/* The registry's part: checks that next has room for what is in use, reads its keys, and takes the memory; 0,
 * or -errno after logging. Then lists the keys that are new or gone. */
int registry_change_prepare(struct registry_change *c);
/* It takes over, cfg being next by then; under the lock. */
void registry_change_take(struct registry_change *c);
/* Or does not. In any case, at the end: erases the keys, frees memory that was not taken. */
void registry_change_forget(struct registry_change *c);

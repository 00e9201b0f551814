/* Jobs that an operator adds while a switch runs, which are in no file: of lists to which jobs can be added.
 */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "config/config_parts.h"
#include "config/reload.h"

/* The first list from the i-th on that is open; NULL: there is none. */
static const struct config_jobs_list *open_list(unsigned *i)
{
    while (config_jobs_lists[*i] != NULL && config_jobs_lists[*i]->open == NULL)
        ++*i;
    return config_jobs_lists[*i];
}

const char *config_open_list(unsigned n)
{
    const struct config_jobs_list *list;
    unsigned i = 0;

    while ((list = open_list(&i)) != NULL && n-- > 0)
        i++;
    return list == NULL ? NULL : list->key;
}

/* Whether there is room for another of this name. Who adds or deletes has one name for all lists. */
static int check_room(const struct config *c, const struct config_jobs_list *list, const char *name)
{
    const unsigned most = (unsigned)settings_list(config_settings(c), list->key)->most;
    const char *other;

    if (*config_count(c, list) == most)
        return log_fail(-ENOSPC, "%s[%s]: there are %u such jobs, and no more are possible", list->key, name,
                        most);
    for (unsigned l = 0; (other = config_open_list(l)) != NULL; l++)
        if (config_find(c, other, name) >= 0)
            return log_fail(-EEXIST, "%s[%s]: there is a job of this name", list->key, name);
    return 0;
}

/* Its tenant goes by its name. */
static int follow_tenant(const struct config *next, const struct config *from, const char *job, int *tenant)
{
    const char *name;

    if (*tenant < 0)
        return 0;
    name = from->tenant[*tenant].name;
    *tenant = config_find(next, "tenants", name);
    if (*tenant < 0)
        return log_fail(
            -EBUSY,
            "tenants: %s has the job %s, which an operator added: let that end first (swaggctl job del)",
            name, job);
    return 0;
}

/* Whether the job may be in the list beside the other. */
static int check_beside(const struct config_jobs_list *list, const struct config_fixed *job,
                        const struct config_fixed *other)
{
    char words[CONFIG_WORDS_MAX];

    for (unsigned worker = 0; worker < job->workers; worker++)
        if (config_find_same(list->open, job, worker, other, other->workers) >= 0) {
            list->open->words(words, job, worker);
            return log_fail(-EADDRINUSE, "%s[%s].workers[%u]: %s job %s's", list->key, job->name, worker,
                            words, other->name);
        }
    return 0;
}

static int take(struct config *next, const struct config *from, const struct config_jobs_list *list,
                unsigned place)
{
    const struct config_fixed *job = config_fixed(from, list, place);
    unsigned *n = config_count(next, list);
    int rc = check_room(next, list, job->name);

    for (unsigned i = 0; i < *n && rc == 0; i++)
        rc = check_beside(list, job, config_fixed(next, list, i));
    if (rc < 0)
        return rc;
    struct config_fixed *taken = memcpy(config_fixed(next, list, (*n)++), job, list->stride);
    return follow_tenant(next, from, job->name, &taken->tenant);
}

int config_take_added(struct config *next, const struct config *from)
{
    const struct config_jobs_list *list;
    int rc = 0;

    for (unsigned l = 0; (list = open_list(&l)) != NULL; l++)
        for (unsigned i = 0; i < *config_count(from, list) && rc == 0; i++)
            if (config_fixed(from, list, i)->added)
                rc = take(next, from, list, i);
    return rc;
}

void config_mark_added(struct config *alone, const struct config *running)
{
    const struct config_jobs_list *list;

    for (unsigned l = 0; (list = open_list(&l)) != NULL; l++)
        for (unsigned i = 0; i < *config_count(alone, list); i++) {
            struct config_fixed *job = config_fixed(alone, list, i);
            const int network = config_find_vlan(running, alone->vlan[job->network].id);

            job->network = network < 0 ? 0 : (uint8_t)network;
            job->added = true;
        }
}

static void take_out(const struct config *c, const struct config_jobs_list *list, unsigned place)
{
    const unsigned after = --*config_count(c, list) - place;

    memmove(config_fixed(c, list, place), config_fixed(c, list, place + 1), after * list->stride);
    memset(config_fixed(c, list, place + after), 0, list->stride);
}

/* The list that has an added job of this name, and where; NULL: none has. */
static const struct config_jobs_list *find_added(const struct config *c, const char *name, unsigned *place)
{
    const struct config_jobs_list *list;

    for (unsigned l = 0; (list = open_list(&l)) != NULL; l++) {
        const int found = config_find(c, list->key, name);

        if (found >= 0 && config_fixed(c, list, (unsigned)found)->added) {
            *place = (unsigned)found;
            return list;
        }
    }
    return NULL;
}

int config_check_added(const struct config *c, const char *name)
{
    unsigned place;

    return find_added(c, name, &place) != NULL
               ? 0
               : log_fail(-EPERM, "job %s was not added by an operator: only such jobs are deleted", name);
}

int config_delete_added(struct config *c, const char *name)
{
    unsigned place;
    const struct config_jobs_list *list = find_added(c, name, &place);

    if (list == NULL)
        return config_check_added(c, name);
    take_out(c, list, place);
    return 0;
}

#include "port/linux/record.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <net/if.h>

#include "base/log.h"
#include "base/run_directory.h"
#include "port/linux/lock.h"
#include "port/linux/namespace.h"

#define NAMESPACE "namespace" /* a record's line with the inode number of its network namespace */

const char *const linux_feature_names[KERNEL_FEATURES_MAX] = {
    "rx-gro", "rx-udp-gro-forwarding", /* Linux 5.12; without it, only datagrams to this machine */
};

static const char *path_of(char path[PATH_MAX], unsigned if_index)
{
    snprintf(path, PATH_MAX, RUN_DIRECTORY "/merging-%llu-%u", (unsigned long long)linux_namespace_cookie(),
             if_index);
    return path;
}

int linux_record_write(unsigned if_index, const struct linux_features *on)
{
    char path[PATH_MAX];
    FILE *file;
    int rc = 0;

    if (mkdir(RUN_DIRECTORY, 0755) < 0 && errno != EEXIST)
        return -errno;
    file = fopen(path_of(path, if_index), "we");
    if (file == NULL)
        return -errno;
    fprintf(file, NAMESPACE " %llu\n", (unsigned long long)linux_namespace_inode());
    for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++)
        if (on->on[f])
            fprintf(file, "%s\n", linux_feature_names[f]);
    if (fclose(file) != 0) { /* all that little is written here */
        rc = -errno;
        unlink(path); /* the next swagg would take it for a whole one */
    }
    return rc;
}

void linux_record_remove(unsigned if_index)
{
    char path[PATH_MAX];

    unlink(path_of(path, if_index));
    rmdir(RUN_DIRECTORY); /* where it is empty */
}

static void read_features(FILE *file, struct linux_features *on)
{
    char line[64];

    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++)
            on->on[f] |= strcmp(line, linux_feature_names[f]) == 0;
    }
}

/* Switches off what is recorded, unless a running process has the interface, and so uses its features. */
static void settle(unsigned if_index, linux_record_undo *switch_off)
{
    struct linux_features on = {0};
    char path[PATH_MAX], name[IF_NAMESIZE];
    FILE *file;

    if (linux_lock(if_index) < 0)
        return;
    file = fopen(path_of(path, if_index), "re");
    if (file != NULL) {
        read_features(file, &on);
        fclose(file);
        if (if_indextoname(if_index, name) != NULL)
            log_notice("interface %s was left merging frames by a swagg that was killed: switched off", name);
        switch_off(if_index, &on);
    }
    linux_unlock(if_index);
}

/* Removes a record of another namespace if that is gone, and its interfaces with it. */
static void forget(const char *record)
{
    char path[PATH_MAX];
    unsigned long long inode = 0;
    FILE *file;

    snprintf(path, sizeof(path), RUN_DIRECTORY "/%s", record);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fscanf(file, NAMESPACE " %llu", &inode) == 1 && linux_namespace_is_gone(inode))
        unlink(path);
    fclose(file);
}

void linux_record_settle(linux_record_undo *switch_off)
{
    const uint64_t here = linux_namespace_cookie();
    DIR *records = opendir(RUN_DIRECTORY);
    struct dirent *record;

    if (records != NULL && !linux_lock_can()) { /* nobody knows which of them run */
        closedir(records);
        return;
    }
    while (records != NULL && (record = readdir(records)) != NULL) {
        unsigned long long where;
        unsigned if_index;

        if (sscanf(record->d_name, "merging-%llu-%u", &where, &if_index) != 2)
            continue;
        if (where == here)
            settle(if_index, switch_off);
        else
            forget(record->d_name);
    }
    if (records != NULL)
        closedir(records);
}

#include "port/linux/features.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/run_directory.h"
#include "port/linux/lock.h"

/* --- the record of what has been switched on: a file in /run/swagg for each interface, which is written and
 * removed by the process that has the interface (lock.h). If swagg is killed, the next swagg that starts in
 * that network namespace switches it off --- */

#define NAMESPACE "namespace" /* a record's line with the inode number of its network namespace */

static const char *const feature_names[KERNEL_FEATURES_MAX] = {
    "rx-gro", "rx-udp-gro-forwarding", /* Linux 5.12; without it, only datagrams to this machine */
};

static const char *path_of(char path[PATH_MAX], unsigned if_index)
{
    snprintf(path, PATH_MAX, RUN_DIRECTORY "/merging-%llu-%u", (unsigned long long)linux_namespace_cookie(),
             if_index);
    return path;
}

/* Records what is about to be switched on. 0, or -errno. */
static int write_record(unsigned if_index, const struct linux_features *on)
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
            fprintf(file, "%s\n", feature_names[f]);
    if (fclose(file) != 0) { /* all that little is written here */
        rc = -errno;
        unlink(path); /* the next swagg would take it for a whole one */
    }
    return rc;
}

/* Nothing is on any more. */
static void remove_record(unsigned if_index)
{
    char path[PATH_MAX];

    unlink(path_of(path, if_index));
    rmdir(RUN_DIRECTORY); /* where it is empty */
}

/* --- features by ethtool --- */

enum { BLOCKS_MAX = 8, FEATURES_OF_A_BLOCK = 32 };

struct interface {
    int fd;
    struct ifreq request;
    struct ethtool_gstrings *names;
};

/* Their flexible arrays with room for so many blocks of 32 features. */
union states {
    struct ethtool_gfeatures get;
    uint8_t room[sizeof(struct ethtool_gfeatures) + BLOCKS_MAX * sizeof(struct ethtool_get_features_block)];
};

union changes {
    struct ethtool_sfeatures set;
    uint8_t room[sizeof(struct ethtool_sfeatures) + BLOCKS_MAX * sizeof(struct ethtool_set_features_block)];
};

static bool ask(struct interface *i, void *what)
{
    i->request.ifr_data = what;
    return ioctl(i->fd, SIOCETHTOOL, &i->request) == 0;
}

static uint32_t count_features(struct interface *i)
{
    union {
        struct ethtool_sset_info ask;
        uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
    } set = {.ask = {.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1U << ETH_SS_FEATURES}};
    uint32_t count = 0;

    if (ask(i, &set) && set.ask.sset_mask != 0)
        memcpy(&count, set.room + offsetof(struct ethtool_sset_info, data), sizeof(count));
    return count <= BLOCKS_MAX * FEATURES_OF_A_BLOCK ? count : 0;
}

static bool open_interface(struct interface *i, unsigned if_index)
{
    uint32_t count;

    *i = (struct interface){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (if_indextoname(if_index, i->request.ifr_name) == NULL)
        return false;
    count = i->fd < 0 ? 0 : count_features(i);
    i->names = count == 0 ? NULL : calloc(1, sizeof(*i->names) + (size_t)count * ETH_GSTRING_LEN);
    if (i->names == NULL)
        return false;
    *i->names =
        (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = count};
    return ask(i, i->names);
}

static void close_interface(struct interface *i)
{
    free(i->names);
    if (i->fd >= 0)
        close(i->fd);
}

/* Its number; that of no feature if there is none. */
static uint32_t find(const struct interface *i, const char *feature)
{
    uint32_t n = 0;

    while (n < i->names->len &&
           strncmp((const char *)i->names->data + (size_t)n * ETH_GSTRING_LEN, feature, ETH_GSTRING_LEN) != 0)
        n++;
    return n;
}

static bool is_on(struct interface *i, uint32_t feature)
{
    union states states = {.get = {.cmd = ETHTOOL_GFEATURES, .size = BLOCKS_MAX}};

    return ask(i, &states) && states.get.size > feature / FEATURES_OF_A_BLOCK &&
           states.get.features[feature / FEATURES_OF_A_BLOCK].active >> feature % FEATURES_OF_A_BLOCK & 1;
}

static void set(struct interface *i, uint32_t feature, bool on)
{
    const uint32_t bit = 1U << feature % FEATURES_OF_A_BLOCK;
    union changes changes = {
        .set = {.cmd = ETHTOOL_SFEATURES,
                .size = (i->names->len + FEATURES_OF_A_BLOCK - 1) / FEATURES_OF_A_BLOCK}};

    changes.set.features[feature / FEATURES_OF_A_BLOCK].valid = bit;
    changes.set.features[feature / FEATURES_OF_A_BLOCK].requested = on ? bit : 0;
    ask(i, &changes);
}

static bool has(const struct interface *i, unsigned f, uint32_t *feature)
{
    *feature = find(i, feature_names[f]);
    return *feature < i->names->len;
}

/* Finds out what is off, before anything is changed. */
static bool find_off(struct interface *i, struct linux_features *off)
{
    bool any = false;
    uint32_t feature;

    for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++) {
        off->on[f] = has(i, f, &feature) && !is_on(i, feature);
        any |= off->on[f];
    }
    return any;
}

/* What of the features is on at last; true if any is. */
static bool switch_on(struct interface *i, struct linux_features *switched)
{
    bool merges = false;
    uint32_t feature;

    for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++) {
        if (!has(i, f, &feature))
            continue;
        if (switched->on[f]) {
            set(i, feature, true);
            switched->on[f] = is_on(i, feature);
        }
        merges |= is_on(i, feature);
    }
    return merges;
}

bool linux_merge(unsigned if_index, struct linux_features *changed)
{
    struct interface i;
    bool merges = false;
    int rc;

    *changed = (struct linux_features){0};
    if (open_interface(&i, if_index)) {
        if (find_off(&i, changed)) {
            rc = write_record(if_index, changed);
            if (rc < 0)
                log_warning("cannot write to %s: %s; if swagg is killed, interface %s goes on merging frames",
                            RUN_DIRECTORY, strerror(-rc), i.request.ifr_name);
        }
        merges = switch_on(&i, changed);
    }
    close_interface(&i);
    return merges;
}

void linux_merge_no_more(unsigned if_index, struct linux_features *changed)
{
    struct interface i;
    uint32_t feature;

    if (open_interface(&i, if_index))
        for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++)
            if (changed->on[f] && has(&i, f, &feature))
                set(&i, feature, false);
    close_interface(&i);
    remove_record(if_index);
    *changed = (struct linux_features){0};
}

/* --- what a killed swagg has left --- */

static void read_features(FILE *file, struct linux_features *on)
{
    char line[64];

    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++)
            on->on[f] |= strcmp(line, feature_names[f]) == 0;
    }
}

/* Switches off what is recorded, unless a running process has the interface, and so uses its features. */
static void settle(unsigned if_index)
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
        linux_merge_no_more(if_index, &on);
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

void linux_merge_settle(void)
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
            settle(if_index);
        else
            forget(record->d_name);
    }
    if (records != NULL)
        closedir(records);
}

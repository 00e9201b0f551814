#include "port/linux/record.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <net/if.h>

#include "base/exclusive.h"
#include "base/log.h"

#define DIRECTORY "/run/swagg"

const char *const linux_feature_names[KERNEL_FEATURES_MAX] = {
    "rx-gro", "rx-udp-gro-forwarding", /* Linux 5.12; without it, only datagrams to this machine */
};

/* The network namespace's cookie, which is never used again; before Linux 5.14, which has none, its inode
 * number. */
static uint64_t network_namespace(void)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    uint64_t cookie = 0;
    socklen_t bytes = sizeof(cookie);
    struct stat inode;

    if (fd >= 0) {
        getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &bytes);
        close(fd);
    }
    if (cookie == 0 && stat("/proc/self/ns/net", &inode) == 0)
        cookie = inode.st_ino;
    return cookie;
}

static const char *path_of(char path[PATH_MAX], unsigned if_index)
{
    snprintf(path, PATH_MAX, DIRECTORY "/merging-%llu-%u", (unsigned long long)network_namespace(), if_index);
    return path;
}

int linux_record_write(unsigned if_index, const struct linux_features *on)
{
    char path[PATH_MAX];
    FILE *file;
    int rc = 0;

    if (mkdir(DIRECTORY, 0755) < 0 && errno != EEXIST)
        return -errno;
    file = fopen(path_of(path, if_index), "we");
    if (file == NULL)
        return -errno;
    for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++)
        if (on->on[f] && fprintf(file, "%s\n", linux_feature_names[f]) < 0)
            rc = -EIO;
    return fclose(file) == 0 ? rc : -EIO;
}

void linux_record_remove(unsigned if_index)
{
    char path[PATH_MAX];

    unlink(path_of(path, if_index));
    rmdir(DIRECTORY); /* where it is empty */
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
    const int lock = exclusive_interface(if_index);
    FILE *file;

    if (lock < 0)
        return;
    file = fopen(path_of(path, if_index), "re");
    if (file != NULL) {
        read_features(file, &on);
        fclose(file);
        if (if_indextoname(if_index, name) != NULL)
            log_notice("interface %s was left merging frames by a swagg that was killed: switched off", name);
        switch_off(if_index, &on);
    }
    close(lock);
}

void linux_record_settle(linux_record_undo *switch_off)
{
    const uint64_t here = network_namespace();
    DIR *records = opendir(DIRECTORY);
    struct dirent *record;

    while (records != NULL && (record = readdir(records)) != NULL) {
        unsigned long long where;
        unsigned if_index;

        if (sscanf(record->d_name, "merging-%llu-%u", &where, &if_index) == 2 && where == here)
            settle(if_index, switch_off);
    }
    if (records != NULL)
        closedir(records);
}

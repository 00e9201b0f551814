#include "port/linux/features.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "base/log.h"
#include "base/run_directory.h"

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
    *feature = find(i, linux_feature_names[f]);
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
            rc = linux_record_write(if_index, changed);
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
    linux_record_remove(if_index);
    *changed = (struct linux_features){0};
}

void linux_merge_settle(void)
{
    linux_record_settle(linux_merge_no_more);
}

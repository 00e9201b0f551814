#include "kernel_features.h"

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

enum { BLOCKS_MAX = 8, FEATURES_OF_A_BLOCK = 32 };

static const char *const merging[KERNEL_FEATURES_MAX] = {
    "rx-gro", "rx-udp-gro-forwarding", /* Linux 5.12; without it, only datagrams to this machine */
};

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

static bool open_interface(struct interface *i, const char *name)
{
    uint32_t count;

    *i = (struct interface){.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    strncpy(i->request.ifr_name, name, sizeof(i->request.ifr_name) - 1);
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

/* What is off; true if the feature is on at last. */
static bool switch_on(struct interface *i, const char *name, bool *switched)
{
    const uint32_t feature = find(i, name);

    if (feature == i->names->len)
        return false;
    if (is_on(i, feature))
        return true;
    set(i, feature, true);
    *switched = is_on(i, feature);
    return *switched;
}

bool kernel_merge(const char *interface, struct kernel_features *changed)
{
    struct interface i;
    bool merges = false;

    *changed = (struct kernel_features){0};
    if (open_interface(&i, interface))
        for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++)
            merges |= switch_on(&i, merging[f], &changed->on[f]);
    close_interface(&i);
    return merges;
}

void kernel_merge_no_more(const char *interface, struct kernel_features *changed)
{
    struct interface i;

    if (open_interface(&i, interface))
        for (unsigned f = 0; f < KERNEL_FEATURES_MAX; f++)
            if (changed->on[f])
                set(&i, find(&i, merging[f]), false);
    close_interface(&i);
    *changed = (struct kernel_features){0};
}

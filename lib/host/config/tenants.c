/* The list of tenants: who may join which jobs. */
#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "config/config_parts.h"
#include "settings/values.h"

/* clang-format off */
static const struct setting quota_fields[] = {
    {.key = "jobs", SETTING_NUMBER_AT(struct config_quota, jobs, 0, 256, 0), .unit = "jobs",
     .meaning = "what all its jobs together may hold: so many at once, also those that are forming, and those of this file; 0: no quota"},
    {.key = "slots", SETTING_NUMBER_AT(struct config_quota, slots, 0, 1 << 22, 0), .when = SETTING_NEW_JOBS,
     .unit = "slots", .meaning = "... slots; 0: no quota"},
    {.key = "megabytes", SETTING_NUMBER_AT(struct config_quota, megabytes, 0, 1 << 20, 0), .when = SETTING_NEW_JOBS,
     .unit = "MB", .meaning = "... of `pool.megabytes`; 0: no quota"},
    {.key = "kept_frames", SETTING_NUMBER_AT(struct config_quota, kept_frames, 0, 1 << 23, 0), .unit = "frames",
     .meaning = "... of `pool.kept_frames`; 0: no quota"},
    {.key = NULL},
};
/* clang-format on */

static void parse_network(struct settings *s, const char *path, const char *text, void *network);

static void show_network(char text[SETTING_SHOWN_MAX], const void *configuration, const void *network);

static const struct setting network = {.type = SETTING_PARSED,
                                       .parse = parse_network,
                                       .show = show_network,
                                       .kind = "IPv4 addresses and networks"};

const struct setting config_pattern = {.type = SETTING_TEXT, .most = CONFIG_JOB_MAX - 1, .kind = "texts"};

/* clang-format off */
const struct setting config_tenant_fields[] = {
    {.key = "name", .type = SETTING_NAME, .required = true, SETTING_AT(struct config_tenant, name),
     .most = CONFIG_NAME_MAX - 1, .meaning = "what the tenant is called in messages and telemetry; without a `/`"},
    {.key = "addresses", SETTING_LIST_AT(struct config_tenant, address, addresses, 1, CONFIG_TENANT_ADDRESSES_MAX),
     .item = &network, .usual = "required without `key_file`; with it any address",
     .meaning = "of its hosts: `10.0.1.7` or `10.0.1.0/24`; `0.0.0.0/0` is everybody"},
    {.key = "jobs", SETTING_LIST_AT(struct config_tenant, jobs.text, jobs.n, 1, CONFIG_PATTERNS_MAX),
     .item = &config_pattern, .usual = "`[\"*\"]`",
     .meaning = "what its jobs are called: `*` is any text, `?` any character, `[ab]` one of those; a `\\` takes the next as it is"},
    {.key = "key_file", .type = SETTING_TEXT, SETTING_AT(struct config_tenant, key_file), .most = CONFIG_FILE_MAX - 1,
     .meaning = "the file with the tenant's [shared key](#key-files); a path, as the switch's working directory has it"},
    {.key = "data_keys", .type = SETTING_BOOL, .when = SETTING_NEW_JOBS, SETTING_AT(struct config_tenant, data_keys),
     .usual = "`true` with a `key_file`",
     .meaning = "whether the data packets of its jobs are [keyed](protocol.md#keyed-packets), too, or only control messages sealed"},
    {.key = "quota", .type = SETTING_GROUP, SETTING_AT(struct config_tenant, quota), .fields = quota_fields},
    {.key = "weight", SETTING_NUMBER_AT(struct config_tenant, weight, 1, CONFIG_WEIGHT_MAX, 1),
     .meaning = "its share of what the switch can do, beside the weights of others that want something at the same time: see [Sharing](#sharing)"},
    {.key = NULL},
};
/* clang-format on */

/* A network, "10.0.0.0/24", or a single address, "10.0.0.1". */
static void parse_network(struct settings *s, const char *path, const char *text, void *value)
{
    struct config_network *to = value;
    struct setting_address address = {0};
    char alone[64];
    const int rc = setting_split_address(text, 0, alone, &address);

    to->network = address.ip;
    if (rc == -ERANGE) {
        settings_fault(s, path, "\"%.63s\": the prefix after the / must be 0..32", text);
        return;
    }
    if (rc < 0) {
        settings_fault(s, path, "\"%s\" is neither an IPv4 address (10.0.0.1) nor a network (10.0.0.0/24)",
                       alone);
        return;
    }
    to->mask = address.prefix == 0 ? 0 : htonl(UINT32_MAX << (32 - address.prefix));
    if ((to->network & ~to->mask) != 0) {
        const uint32_t first = to->network & to->mask;
        char meant[INET_ADDRSTRLEN];

        inet_ntop(AF_INET, &first, meant, sizeof(meant));
        settings_fault(s, path, "%s/%u is a host in a network; write %s/%u for all of it, %s for the host",
                       alone, address.prefix, meant, address.prefix, alone);
    }
}

static void show_network(char text[SETTING_SHOWN_MAX], const void *configuration, const void *value)
{
    const struct config_network *n = value;
    const uint8_t *b = (const uint8_t *)&n->network;

    (void)configuration;
    snprintf(text, SETTING_SHOWN_MAX, "%u.%u.%u.%u/%d", b[0], b[1], b[2], b[3], __builtin_popcount(n->mask));
}

void config_complete_patterns(struct config_patterns *patterns)
{
    if (patterns->n == 0)
        *patterns = (struct config_patterns){.n = 1, .text = {"*"}};
}

bool config_fits(const struct config_patterns *patterns, const char *name)
{
    for (unsigned i = 0; i < patterns->n; i++)
        if (fnmatch(patterns->text[i], name, 0) == 0)
            return true;
    return false;
}

/* Of a pattern: how long the part is that takes one character, and which; '\0': any. */
static size_t part_of(const char *pattern, char *takes)
{
    const bool is_escaped = pattern[0] == '\\' && pattern[1] != '\0';

    *takes = is_escaped ? pattern[1] : pattern[0] == '?' ? '\0' : pattern[0];
    return is_escaped ? 2 : 1;
}

/* Both patterns take a name from its beginning on, character by character; can[i][j]: some text is taken by
 * what is before a[i], and by what is before b[j]. */
static bool could_fit_both(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    bool can[CONFIG_JOB_MAX + 1][CONFIG_JOB_MAX + 1] = {{true}};

    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            char from_a, from_b;
            const size_t of_a = part_of(a + i, &from_a), of_b = part_of(b + j, &from_b);

            if (!can[i][j])
                continue;
            if (a[i] == '[' || b[j] == '[')
                return true;
            if (a[i] == '*') {
                can[i + 1][j] = true;
                can[i][j + of_b] |= j < m;
            }
            if (b[j] == '*') {
                can[i][j + 1] = true;
                can[i + of_a][j] |= i < n;
            }
            if (i < n && j < m && (from_a == from_b || from_a == '\0' || from_b == '\0'))
                can[i + of_a][j + of_b] = true;
        }
    return can[n][m];
}

bool config_could_fit(const struct config_patterns *patterns, const char *pattern)
{
    for (unsigned i = 0; i < patterns->n; i++)
        if (could_fit_both(patterns->text[i], pattern))
            return true;
    return false;
}

static void check_name(struct settings *s, const struct config *c, unsigned tenant)
{
    const char *name = c->tenant[tenant].name, *path = settings_path(s, "tenants[%u].name", tenant);

    if (strchr(name, '/') != NULL) /* "lab/train" is train of lab */
        settings_fault(s, path, "\"%s\" has a / in it, which separates tenants from their jobs", name);
    for (unsigned other = 0; settings_has(s, path) && other < tenant; other++)
        if (strcmp(c->tenant[other].name, name) == 0)
            settings_fault(s, path, "\"%s\" is the name of tenants[%u] already", name, other);
}

static void check_addresses(struct settings *s, unsigned i, struct config_tenant *to)
{
    const char *path = settings_path(s, "tenants[%u].addresses", i);

    if (to->addresses > 0)
        return;
    to->addresses = 1;
    to->address[0] = (struct config_network){0}; /* all of them */
    if (to->key_file[0] == '\0' && !settings_are_faulty(s, path))
        settings_fault(s, path,
                       "is missing: without key_file, addresses alone say who this is; "
                       "[0.0.0.0/0] is everybody");
}

static void check_data_keys(struct settings *s, unsigned i, struct config_tenant *to)
{
    const char *path = settings_path(s, "tenants[%u].data_keys", i);

    if (!settings_has(s, path))
        to->data_keys = to->key_file[0] != '\0';
    else if (to->data_keys && to->key_file[0] == '\0')
        settings_fault(s, path, "there is no key to key data packets with: add key_file");
}

/* Without a list, everybody is one tenant. */
static void set_everybody(struct config *c)
{
    c->tenants = 1;
    c->tenant[0] = (struct config_tenant){
        .name = "everybody", .addresses = 1, .jobs = {.n = 1, .text = {"*"}}, .weight = 1};
}

void config_check_tenants(struct settings *s, struct config *c)
{
    if (!settings_has(s, "tenants")) {
        set_everybody(c);
        return;
    }
    for (unsigned i = 0; i < c->tenants; i++) {
        check_name(s, c, i);
        check_addresses(s, i, &c->tenant[i]);
        config_complete_patterns(&c->tenant[i].jobs);
        check_data_keys(s, i, &c->tenant[i]);
    }
    if (c->ports > 0 && !c->has_ip && !settings_are_faulty(s, "switch.ip"))
        settings_fault(s, "tenants", "without switch.ip there is nothing to join");
}

int config_find_tenant(struct settings *s, const struct config *c, const char *path)
{
    const char *name = settings_text(s, path);

    if (name == NULL)
        return -1;
    for (unsigned i = 0; i < c->tenants; i++)
        if (strcmp(c->tenant[i].name, name) == 0)
            return (int)i;
    settings_fault(s, path, "no tenant is called \"%s\"", name);
    return -1;
}

void config_show_tenant(char text[SETTING_SHOWN_MAX], const void *configuration, const void *tenant)
{
    const int number = *(const int *)tenant;

    snprintf(text, SETTING_SHOWN_MAX, "%s",
             number < 0 ? "-" : ((const struct config *)configuration)->tenant[number].name);
}

static bool has_address(const struct config_tenant *t, uint32_t ip)
{
    for (unsigned a = 0; a < t->addresses; a++)
        if ((ip & t->address[a].mask) == t->address[a].network)
            return true;
    return false;
}

int config_key_owner(const struct config *c, const char *job)
{
    for (unsigned i = 0; i < c->tenants; i++)
        if (c->tenant[i].key_file[0] != '\0' && config_fits(&c->tenant[i].jobs, job))
            return (int)i;
    return -1;
}

int config_tenant_of(const struct config *c, uint32_t ip, int key, const char *job)
{
    if (key < 0 && config_key_owner(c, job) >= 0)
        return -1;
    for (unsigned i = 0; i < c->tenants; i++)
        if ((key < 0 || key == (int)i) && has_address(&c->tenant[i], ip) &&
            config_fits(&c->tenant[i].jobs, job))
            return (int)i;
    return -1;
}

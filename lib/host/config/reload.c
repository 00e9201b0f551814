#include "config/reload.h"

#include <assert.h>
#include <string.h>

#include "config/config_parts.h"

static_assert(CONFIG_TENANTS_MAX <= 64 && SWAGG_MAX_PORTS <= 64, "a bit of a word each");

int config_find(const struct config *c, const char *list, const char *name)
{
    return settings_find(config_settings(c), list, c, name);
}

static uint64_t bit(unsigned n)
{
    return UINT64_C(1) << n;
}

uint64_t config_ports_there(const struct config *c)
{
    uint64_t used = 0;

    for (unsigned p = 0; p < c->ports; p++)
        if (c->port[p].name[0] != '\0')
            used |= bit(p);
    return used;
}

/* Of each port of next the number that it gets. False: there is none for some. */
static bool choose_numbers(const struct config *next, const struct config *running,
                           unsigned number[SWAGG_MAX_PORTS])
{
    uint64_t used = config_ports_there(running);

    for (unsigned p = 0; p < next->ports; p++) {
        const int known = config_find(running, "ports", next->port[p].name);

        if (known < 0 && used == UINT64_MAX)
            return false;
        number[p] = known >= 0 ? (unsigned)known : (unsigned)__builtin_ctzll(~used);
        used |= bit(number[p]);
    }
    return true;
}

static uint64_t renumber(uint64_t ports, const unsigned number[])
{
    uint64_t to = 0;

    for (; ports != 0; ports &= ports - 1)
        to |= bit(number[__builtin_ctzll(ports)]);
    return to;
}

static void renumber_placement(struct placement *p, const unsigned number[])
{
    for (unsigned l = 0; l < p->lcores; l++)
        for (unsigned q = 0; q < SWAGG_MAX_QUEUES; q++) {
            p->lcore[l].rx[q] = renumber(p->lcore[l].rx[q], number);
            p->lcore[l].tx[q] = renumber(p->lcore[l].tx[q], number);
        }
}

bool config_align_ports(struct config *next, const struct config *running)
{
    struct config_port listed[SWAGG_MAX_PORTS];
    unsigned number[SWAGG_MAX_PORTS], ports = next->ports;

    if (!choose_numbers(next, running, number))
        return false;
    memcpy(listed, next->port, sizeof(listed));
    memset(next->port, 0, sizeof(next->port));
    next->ports = 0;
    for (unsigned p = 0; p < ports; p++) {
        next->port[number[p]] = listed[p];
        if (number[p] >= next->ports)
            next->ports = number[p] + 1;
    }
    renumber_placement(&next->placement, number);
    return true;
}

static bool same_addresses(const struct config *a, const struct config *b)
{
    for (unsigned i = 0; i < CONFIG_VLANS_MAX; i++) {
        const struct config_vlan *x = &a->vlan[i], *y = &b->vlan[i];

        if ((x->ip != 0 || y->ip != 0) && (x->id != y->id || x->ip != y->ip || x->prefix != y->prefix))
            return false;
    }
    return true;
}

/* Of each VLAN of next the number that it has in running. False: some have none. */
static bool find_numbers(const struct config *next, const struct config *running,
                         uint8_t number[CONFIG_VLANS_MAX])
{
    for (unsigned i = 0; i < next->vlans; i++) {
        const int n = config_find_vlan(running, next->vlan[i].id);

        if (n < 0)
            return false;
        number[i] = (uint8_t)n;
    }
    return next->vlans > 0;
}

/* Jobs for which the switch needs an address lie in VLANs whose numbers are the same. */
void config_align_vlans(struct config *next, const struct config *running)
{
    uint8_t number[CONFIG_VLANS_MAX];

    if (!same_addresses(next, running) || !find_numbers(next, running, number))
        return;
    for (const struct config_jobs_list *const *list = config_jobs_lists; *list != NULL; list++)
        for (unsigned i = 0; (*list)->stride > 0 && i < *config_count(next, *list); i++) {
            struct config_fixed *job = config_fixed(next, *list, i);

            job->network = number[job->network];
        }
    memcpy(next->vlan, running->vlan, sizeof(next->vlan));
    next->vlans = running->vlans;
}

/* Nobody joins its jobs any more, and what those have counts against no quota of its own. */
static struct config_tenant leaving(const struct config_tenant *t)
{
    struct config_tenant stays = {.weight = t->weight};

    memcpy(stays.name, t->name, sizeof(stays.name));
    return stays;
}

bool config_keep_tenants(struct config *next, const struct config *running, uint64_t with_jobs,
                         int number[CONFIG_TENANTS_MAX])
{
    next->leaving = 0;
    for (unsigned t = 0; t < running->tenants + running->leaving; t++) {
        number[t] = config_find(next, "tenants", running->tenant[t].name);
        if (number[t] >= 0 || (with_jobs & bit(t)) == 0)
            continue;
        if (next->tenants + next->leaving == CONFIG_TENANTS_MAX)
            return false;
        number[t] = (int)(next->tenants + next->leaving++);
        next->tenant[number[t]] = leaving(&running->tenant[t]);
    }
    return true;
}

/* Who belongs to several tenants belongs to the first of them. */
static void compare_order_of_tenants(struct settings_changes *changes, const struct config *a,
                                     const struct config *b)
{
    static const struct settings_change change = {.key = "tenants", .from = "-", .to = "in another order"};
    int before = -1;

    for (unsigned i = 0; i < a->tenants; i++) {
        const int j = config_find(b, "tenants", a->tenant[i].name);

        if (j >= 0 && j < before) {
            settings_changes_add(changes, &change);
            return;
        }
        before = j < 0 ? before : j;
    }
}

void config_compare(struct settings_changes *changes, const struct config *running, const struct config *next)
{
    settings_compare(changes, config_settings(running), running, next);
    compare_order_of_tenants(changes, running, next);
}

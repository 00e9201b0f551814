/* Quotas: how much of what a switch has to share one job, one tenant or all together may hold.
 *
 * Pure: no state of its own. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What is shared out when a job opens. */
enum share_kind { SHARE_SLOTS, SHARE_BYTES /* of slots' memory */, SHARE_KINDS };

enum { SHARE_WORDS_MAX = 64 };

struct share_quota {
    enum share_kind kind;
    uint64_t max, held;          /* by all that it counts; 0 as max: no quota */
    char key[SHARE_WORDS_MAX];   /* of the configuration, by which it is raised: "pool.megabytes" */
    char whose[SHARE_WORDS_MAX]; /* that it counts: "the switch", "tenant lab" */
};

/* Who holds how much of a quota, for a refusal. */
struct share_holder {
    const char *name;
    uint64_t held;
};

/* Which of n quotas has no room for what is asked, by enum share_kind; NULL: all have. Of several of a kind
 * it is the one that must be raised by most, since raising another would not help yet. */
const struct share_quota *share_exceeded(const struct share_quota quota[], unsigned n,
                                         const uint64_t asked[SHARE_KINDS]);

/* Writes what was asked, what is free, which key lifts the quota, and who holds the rest, those with most
 * first, as many as there is room for: "1024 slots were asked for, 0 of the 2048 of tenant lab are free
 * (tenants[0].quota.slots): train-a holds 1024, train-b 1024". Sorts the holders. */
void share_refusal(char *text, size_t room, const struct share_quota *quota, uint64_t asked,
                   struct share_holder holder[], unsigned holders);

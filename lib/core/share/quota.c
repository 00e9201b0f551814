#include "share/quota.h"

#include <stdio.h>
#include <string.h>

enum { AMOUNT_MAX = 32 };

static uint64_t free_of(const struct share_quota *q)
{
    return q->held < q->max ? q->max - q->held : 0;
}

/* Below 0 where a quota was lowered, or where it bounds new holders only. */
static int64_t left_of(const struct share_quota *q)
{
    return (int64_t)(q->max - q->held);
}

const struct share_quota *share_exceeded(const struct share_quota quota[], unsigned n,
                                         const uint64_t asked[SHARE_KINDS])
{
    const struct share_quota *tightest = NULL;

    for (unsigned i = 0; i < n; i++) {
        const struct share_quota *q = &quota[i];

        if (q->max == 0 || asked[q->kind] <= free_of(q))
            continue;
        if (tightest == NULL || (q->kind == tightest->kind && left_of(q) < left_of(tightest)))
            tightest = q;
    }
    return tightest;
}

/* "1024", or of memory "512 KB", "6.2 MB". */
static const char *amount(char text[AMOUNT_MAX], enum share_kind kind, uint64_t n)
{
    if (kind != SHARE_BYTES)
        snprintf(text, AMOUNT_MAX, "%llu", (unsigned long long)n);
    else if (n < 1 << 20)
        snprintf(text, AMOUNT_MAX, "%llu KB", (unsigned long long)(n + 1023) >> 10);
    else
        snprintf(text, AMOUNT_MAX, "%.1f MB", (double)n / (1 << 20));
    return text;
}

static void most_first(struct share_holder holder[], unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j > 0 && holder[j].held > holder[j - 1].held; j--) {
            const struct share_holder less = holder[j - 1];

            holder[j - 1] = holder[j];
            holder[j] = less;
        }
}

/* Appends whole entries only, and room for ", ..." is kept. */
static void list_holders(char *text, size_t room, enum share_kind kind, const struct share_holder holder[],
                         unsigned n)
{
    size_t used = strlen(text);

    for (unsigned i = 0; i < n; i++) {
        char entry[160], held[AMOUNT_MAX];
        const size_t length =
            (size_t)snprintf(entry, sizeof(entry), "%s%s %s%s", i == 0 ? ": " : ", ", holder[i].name,
                             i == 0 ? "holds " : "", amount(held, kind, holder[i].held));

        if (used + length + sizeof(", ...") > room) {
            if (used + sizeof(", ...") <= room)
                snprintf(text + used, room - used, "%s", i == 0 ? "" : ", ...");
            return;
        }
        memcpy(text + used, entry, length + 1);
        used += length;
    }
}

void share_refusal(char *text, size_t room, const struct share_quota *quota, uint64_t asked,
                   struct share_holder holder[], unsigned holders)
{
    const char *things = quota->kind == SHARE_SLOTS ? " slots" : "";
    char a[AMOUNT_MAX], f[AMOUNT_MAX], m[AMOUNT_MAX];

    snprintf(text, room, "%s%s were asked for, %s of the %s of %s are free (%s)",
             amount(a, quota->kind, asked), things, amount(f, quota->kind, free_of(quota)),
             amount(m, quota->kind, quota->max), quota->whose, quota->key);
    most_first(holder, holders);
    list_holders(text, room, quota->kind, holder, holders);
}

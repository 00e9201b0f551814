#include "local/plan.h"

#include <stdio.h>
#include <string.h>

#include "random/splitmix.h"

static void seat(struct local_plan *plan, unsigned rank, unsigned host)
{
    plan->host[rank] = (uint16_t)host;
    plan->number[rank] = plan->locals[host]++;
}

/* The host of the first rank that has mapped the same; hosts: it is a new one. */
static unsigned host_of(const struct local_plan *plan, const uint64_t ids[], unsigned rank)
{
    for (unsigned other = 0; ids[rank] != 0 && other < rank; other++)
        if (ids[other] == ids[rank])
            return plan->host[other];
    return plan->hosts;
}

void local_plan_make(struct local_plan *plan, const uint64_t ids[], unsigned ranks)
{
    unsigned least = LOCAL_RAILS_MAX, most = 0;

    *plan = (struct local_plan){.ranks = (uint16_t)ranks};
    for (unsigned rank = 0; rank < ranks; rank++) {
        const unsigned host = host_of(plan, ids, rank);
        plan->hosts += host == plan->hosts;
        seat(plan, rank, host);
    }
    plan->even = true;
    for (unsigned host = 0; host < plan->hosts; host++) {
        least = plan->locals[host] < least ? plan->locals[host] : least;
        most = plan->locals[host] > most ? plan->locals[host] : most;
        plan->even = plan->even && plan->locals[host] == plan->locals[0];
    }
    plan->rails = (uint16_t)(plan->hosts > 1 ? least : 0);
}

struct ctl_ranks local_plan_ranks(const struct local_plan *plan, unsigned host)
{
    struct ctl_ranks set = {0};

    for (unsigned rank = 0; rank < plan->ranks; rank++)
        if (plan->host[rank] == host)
            ctl_ranks_add(&set, rank);
    return set;
}

unsigned local_plan_rank(const struct local_plan *plan, unsigned host, unsigned number)
{
    unsigned rank = 0;

    while (plan->host[rank] != host || plan->number[rank] != number)
        rank++;
    return rank;
}

struct local_share local_share_of(uint64_t elements, unsigned n, unsigned i, uint64_t grain)
{
    const uint64_t grains = (elements + grain - 1) / grain, each = grains / n, more = grains % n;
    uint64_t first = (each * i + (i < more ? i : more)) * grain;
    uint64_t end = (each * (i + 1) + (i + 1 < more ? i + 1 : more)) * grain;

    first = first < elements ? first : elements;
    end = end < elements ? end : elements;
    return (struct local_share){first, end - first};
}

/* Where text is written to, as far as there is room. */
struct writer {
    char *at, *end;
};

static void put(struct writer *w, const char *text, size_t length)
{
    const size_t room = (size_t)(w->end - w->at);

    length = length < room ? length : room;
    memcpy(w->at, text, length);
    w->at += length;
    *w->at = '\0';
}

static void put_host(struct writer *w, const struct local_plan *plan, unsigned host)
{
    char ranks[CTL_RANKS_TEXT_MAX], text[CTL_RANKS_TEXT_MAX + 24];
    const struct ctl_ranks set = local_plan_ranks(plan, host);
    const int n = snprintf(text, sizeof text, "host %u (%s)", host, ctl_ranks_text(&set, ranks));

    put(w, text, (size_t)n);
}

/* The number that text begins with, which *end is behind; ranks or more: there is none. */
static unsigned number_at(const char *text, const char **end)
{
    unsigned n = 0;

    *end = text;
    for (; **end >= '0' && **end <= '9' && n <= CTL_RANKS_MAX; ++*end)
        n = 10 * n + (unsigned)(**end - '0');
    return *end == text ? CTL_RANKS_MAX : n;
}

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* What joins a list's next number to those before it; empty: there is none, "12 more" only counts. */
static const char *join_at(const char *text)
{
    static const char *const between[] = {", ", " and "};
    const char *end;

    for (unsigned i = 0; i < 2; i++) {
        const char *const number = text + strlen(between[i]);
        if (!begins_with(text, between[i]))
            continue;
        number_at(number, &end);
        if (end > number && !begins_with(end, " more"))
            return between[i];
    }
    return "";
}

/* "0, 2 and 5-7" (ctl_ranks_text) as hosts; returns where it ends. */
static const char *put_hosts(struct writer *w, const struct local_plan *plan, const char *list)
{
    for (const char *at = list;;) {
        const char *end;
        const unsigned first = number_at(at, &end);
        unsigned last = first;
        if (*end == '-')
            last = number_at(end + 1, &end);
        if (first >= plan->hosts || last >= plan->hosts)
            return at;
        for (unsigned host = first; host <= last; host++) {
            put(w, ", ", host > first ? 2 : 0);
            put_host(w, plan, host);
        }
        const char *const join = join_at(end);
        if (*join == '\0')
            return end;
        put(w, join, strlen(join));
        at = end + strlen(join);
    }
}

/* How long the word is by which text calls ranks; 0: it does not. */
static size_t ranks_word(const char *text)
{
    static const char *const words[] = {"ranks ", "rank "};

    for (unsigned i = 0; i < 2; i++)
        if (begins_with(text, words[i]))
            return strlen(words[i]);
    return 0;
}

void local_name_hosts(const struct local_plan *plan, const char *text, char *out, size_t bytes)
{
    struct writer w = {out, out + bytes - 1};
    unsigned depth = 0;

    *out = '\0';
    while (*text != '\0') {
        const char *end;
        const size_t word = depth == 0 ? ranks_word(text) : 0;
        if (word > 0 && number_at(text + word, &end) < plan->hosts) {
            text = put_hosts(&w, plan, text + word);
            continue;
        }
        depth += *text == '(';
        depth -= *text == ')' && depth > 0;
        put(&w, text++, 1);
    }
}

const char *local_job_name(const char *job, const char *kind, unsigned number, char name[CTL_NAME_MAX])
{
    enum { DIGITS = 3, HASH = 9 }; /* "123", "~" and eight digits */
    const size_t behind = 1 + strlen(kind) + DIGITS;
    const size_t length = strlen(job);

    if (length + behind < CTL_NAME_MAX) {
        memcpy(name, job, length);
        snprintf(name + length, CTL_NAME_MAX - length, "~%s%u", kind, number);
        return name;
    }
    snprintf(name, CTL_NAME_MAX, "%.*s~%08x~%s%u", (int)(CTL_NAME_MAX - 1 - behind - HASH), job,
             (unsigned)(uint32_t)splitmix_bytes(length, job, length), kind, number);
    return name;
}

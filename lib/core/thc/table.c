/* The mean squared error is a sum over neighbouring values: between a and b it is the integral of (x - a) (b
 * - x) over the density. So the best table is the shortest path from value 0 to the last one in exactly
 * 2^bits - 1 steps, where a step costs that integral. */
#include "thc/table.h"

#include <string.h>

#include "thc/normal.h"

enum { GRID = THC_MOST_GRANULARITY + 1 };

/* The numbers that values stand for, with the integrals of the density times 1, x and x^2 from 0 to each. */
struct grid {
    unsigned last; /* the granularity */
    double x[GRID], moment[3][GRID];
};

static void make_grid(struct grid *g, const struct thc_table *t)
{
    const double bound = thc_table_bound(t);

    g->last = t->granularity;
    for (unsigned i = 0; i <= g->last; i++) {
        const double x = bound * ((double)(2 * i) - g->last) / g->last, density = thc_normal_density(x);

        g->x[i] = x;
        g->moment[0][i] = thc_normal_from_0(x);
        g->moment[1][i] = -density;
        g->moment[2][i] = g->moment[0][i] - x * density;
    }
}

static double cost(const struct grid *g, unsigned from, unsigned to)
{
    const double a = g->x[from], b = g->x[to];
    double part[3];

    for (unsigned i = 0; i < 3; i++)
        part[i] = g->moment[i][to] - g->moment[i][from];
    return -a * b * part[0] + (a + b) * part[1] - part[2];
}

/* In units of 2^-57: sums of integers do not depend on their order, so a table and its mirror image cost
 * exactly the same, and the choice between them is not left to rounding. No way costs more than the bound's
 * square, which is less than the 64 that an int64_t has room for. */
static int64_t exact_cost(const struct grid *g, unsigned from, unsigned to)
{
    if (from + to > g->last)
        return exact_cost(g, g->last - to, g->last - from);
    return (int64_t)(cost(g, from, to) * 0x1p57);
}

bool thc_table_can(const struct thc_table *t)
{
    return t->bits >= 1 && t->bits <= THC_MOST_BITS && t->granularity >= (1 << t->bits) - 1 &&
           t->fraction >= THC_LEAST_FRACTION && t->fraction < 1;
}

/* The cheapest way from each value to the last one in so many steps. */
struct ways {
    int64_t cost[THC_MOST_VALUES][GRID];
    uint8_t next[THC_MOST_VALUES][GRID];
};

static void find_way(struct ways *w, const struct grid *g, unsigned steps, unsigned from)
{
    int64_t *least = &w->cost[steps][from];

    *least = INT64_MAX;
    for (unsigned to = from + 1; to + steps - 1 <= g->last; to++) {
        const int64_t sum = exact_cost(g, from, to) + w->cost[steps - 1][to];

        if (sum < *least) {
            *least = sum;
            w->next[steps][from] = (uint8_t)to;
        }
    }
}

void thc_table_solve(struct thc_table *t)
{
    const unsigned steps = (1u << t->bits) - 1;
    struct grid g;
    struct ways w;

    make_grid(&g, t);
    for (unsigned from = 0; from < g.last; from++)
        w.cost[1][from] = exact_cost(&g, from, g.last);
    for (unsigned n = 2; n <= steps; n++)
        for (unsigned from = 0; from + n <= g.last; from++)
            find_way(&w, &g, n, from);

    memset(t->value, 0, sizeof(t->value));
    for (unsigned i = 1; i < steps; i++)
        t->value[i] = w.next[steps - i + 1][t->value[i - 1]];
    t->value[steps] = t->granularity;
}

void thc_table_space_evenly(struct thc_table *t)
{
    const unsigned last = (1u << t->bits) - 1;

    memset(t->value, 0, sizeof(t->value));
    for (unsigned i = 0; i <= last; i++)
        t->value[i] = (uint8_t)((i * t->granularity + last / 2) / last);
}

double thc_table_bound(const struct thc_table *t)
{
    return thc_normal_bound(t->fraction);
}

double thc_table_error(const struct thc_table *t)
{
    struct grid g;
    double sum = 0;

    make_grid(&g, t);
    for (unsigned i = 1; i < 1u << t->bits; i++)
        sum += cost(&g, t->value[i - 1], t->value[i]);
    return sum;
}

unsigned thc_granularity_for(unsigned workers, unsigned sum_bits)
{
    const unsigned most = ((1u << sum_bits) - 1) / workers;

    return most < THC_MOST_GRANULARITY ? most : THC_MOST_GRANULARITY;
}

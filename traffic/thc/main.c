/* swagg-thc-table: the tables of THC, their errors, and what sums of so many workers leave room for. */
#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "standard_streams.h"
#include "thc/table.h"
#include "version.h"

struct wish {
    uint8_t bits;
    unsigned granularity, workers; /* 0: not given */
    uint8_t sum_bits;
    double fraction;
    bool evenly;
};

static const char intro[] =
    "usage: swagg-thc-table [OPTION...]\n"
    "Prints the table of values that THC's indices stand for, with the least error or evenly spaced, and "
    "the\n"
    "error: the mean square for a standard normal number, without what clamping adds.\n";

#define FIELD(member) offsetof(struct wish, member)

static const struct option_row rows[] = {
    {"bits", 'b', "B", option_byte, FIELD(bits), 0, THC_MOST_BITS, "of an index, 1..4; default 4"},
    {"granularity", 'g', "G", option_unsigned, FIELD(granularity), 0, THC_MOST_GRANULARITY,
     "the last value; default 30, with --workers the largest that fits"},
    {"fraction", 'p', "P", option_real, FIELD(fraction), 0, 1,
     "of the numbers that is clamped; default 0.03125"},
    {"workers", 'n', "N", option_unsigned, FIELD(workers), 0, 65535, "whose values are summed"},
    {"sum-bits", 's', "B", option_byte, FIELD(sum_bits), 0, 16, "of a sum, 8 or 16; default 8"},
    {"evenly", 'e', NULL, option_flag, FIELD(evenly), 0, 0,
     "evenly spaced values, not those with the least error"},
};

/* The granularity that is wished for, or the largest that the sums leave room for; 0: none, which was
 * reported. */
static unsigned granularity_of(const struct wish *w)
{
    const unsigned most =
        w->workers != 0 ? thc_granularity_for(w->workers, w->sum_bits) : THC_MOST_GRANULARITY;
    const unsigned least = (1u << w->bits) - 1;

    if (w->granularity > most) {
        complain("--granularity %u: sums of %u workers fit %u bits up to %u", w->granularity, w->workers,
                 w->sum_bits, most);
        return 0;
    }
    if (most < least) {
        complain(
            "--workers %u: sums of %u bits leave room for a granularity of %u, and %u bits an index need "
            "%u; --sum-bits 16, or fewer --bits",
            w->workers, w->sum_bits, most, w->bits, least);
        return 0;
    }
    if (w->granularity != 0)
        return w->granularity;
    return w->workers != 0 ? most : 30;
}

static bool is_in_range(const struct wish *w)
{
    if (w->sum_bits != 8 && w->sum_bits != 16)
        complain("--sum-bits %u: neither 8 nor 16", w->sum_bits);
    else if (w->bits == 0)
        complain("--bits 0: 1 to %u", THC_MOST_BITS);
    else if (!(w->fraction >= THC_LEAST_FRACTION && w->fraction < 1))
        complain("--fraction %g: %g to less than 1", w->fraction, THC_LEAST_FRACTION);
    else
        return true;
    return false;
}

static void print_table(const struct thc_table *t)
{
    const double bound = thc_table_bound(t);

    printf("bits %u, granularity %u, fraction %g: numbers are clamped at %.6f\n", t->bits, t->granularity,
           t->fraction, bound);
    printf("error %.8f\n", thc_table_error(t));
    printf("sums of 8 bits for up to %u workers, of 16 bits for up to %u\n", 0xffu / t->granularity,
           0xffffu / t->granularity);
    printf("\nindex  value     number\n");
    for (unsigned i = 0; i < 1u << t->bits; i++)
        printf("%5u  %5u  %9.6f\n", i, t->value[i], bound * (2. * t->value[i] / t->granularity - 1));
}

static int make_table(const struct wish *w)
{
    struct thc_table t = {.bits = w->bits, .fraction = w->fraction};

    if (!is_in_range(w))
        return EXIT_USAGE;
    t.granularity = (uint8_t)granularity_of(w);
    if (t.granularity == 0)
        return EXIT_USAGE;
    if (!thc_table_can(&t)) {
        complain("--granularity %u: %u to %u with %u bits an index", t.granularity, (1u << t.bits) - 1,
                 THC_MOST_GRANULARITY, t.bits);
        return EXIT_USAGE;
    }
    if (w->evenly)
        thc_table_space_evenly(&t);
    else
        thc_table_solve(&t);
    print_table(&t);
    return EXIT_GOOD;
}

int main(int argc, char *argv[])
{
    struct wish w = {.bits = 4, .sum_bits = 8, .fraction = 1. / 32};
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), &w};
    const struct command_line line = {.version = build_version, .intro = intro, .groups = &group, .count = 1};
    int ret;

    standard_streams_begin();
    ret = options_read(&line, argc, argv);
    return ret == OPTIONS_READ ? make_table(&w) : ret;
}

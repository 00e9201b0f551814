#include "thc/normal.h"

/* e^x for x <= 0: by its series below ln 2, and a power of two. */
static double exponential(double x)
{
    const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
    const unsigned halvings = (unsigned)(-x / ln2_high);
    const double r = x + halvings * ln2_high + halvings * ln2_low;
    double sum = 1, term = 1;

    for (unsigned i = 1; i < 25; i++) {
        term *= r / i;
        sum += term;
    }
    for (unsigned i = 0; i < halvings; i++)
        sum /= 2;
    return sum;
}

double thc_normal_density(double x)
{
    const double by_root_of_2_pi = 0x1.9884533d43651p-2;

    return by_root_of_2_pi * exponential(-x * x / 2);
}

/* The density times x + x^3 / 3 + x^5 / (3 * 5) + ...: no term has the other sign, so nothing cancels out. */
double thc_normal_from_0(double x)
{
    double sum = 0, term = x;

    for (unsigned i = 3; sum + term != sum; i += 2) {
        sum += term;
        term *= x * x / i;
    }
    return thc_normal_density(x) * sum;
}

double thc_normal_bound(double probability)
{
    double low = 0, high = THC_NORMAL_MOST;

    for (unsigned i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;

        if (thc_normal_from_0(middle) < (1 - probability) / 2)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

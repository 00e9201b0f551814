/* The standard normal distribution, by sums and products alone: all machines get the same bits, so workers
 * that each make a table from the same numbers have the same table. Pure. */
#pragma once

enum { THC_NORMAL_MOST = 8 }; /* |x| may be so large; beyond it there is less than 2^-49 */

/* Its density at x. */
double thc_normal_density(double x);

/* The probability of 0..x; negative if x is. */
double thc_normal_from_0(double x);

/* The x for which a value is beyond -x..x with this probability, 2^-40 to 1 (0 for 1). */
double thc_normal_bound(double probability);

/* How fast the counters of a view grow, from two answers. */
#ifndef SWAGGCTL_RATES_H
#define SWAGGCTL_RATES_H

#include <jansson.h>
#include <stdbool.h>

/* A copy of the answer's view in which each counter KEY is KEY/s, its growth in a second since the answer
 * before; beside: KEY stays, too. Rows of tables are found again by the value that they begin with; what was
 * not there before, or has begun to count anew, has grown by nothing. before: NULL, there is none. To be
 * released. */
json_t *rates_view(const json_t *answer, const json_t *before, double seconds, bool beside);

#endif

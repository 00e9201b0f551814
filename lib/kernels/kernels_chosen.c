#include "kernels_chosen.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels/kernels_tables.h"

static void explain(char why[KERNELS_WHY], const char *name)
{
    const struct agg_kernels *k;
    size_t n = (size_t)snprintf(
        why, KERNELS_WHY,
        "SWAGG_KERNELS: this CPU runs no kernels called '%.32s'; unset it for the fastest here, %s", name,
        agg_kernels_best()->name);

    for (unsigned i = 1; (k = agg_kernels_here(i)) != NULL; i++)
        n += (size_t)snprintf(why + n, KERNELS_WHY - n, "%s%s", i == 1 ? ", or name a lesser one: " : ", ",
                              k->name);
}

const struct agg_kernels *kernels_chosen(char why[KERNELS_WHY])
{
    const char *name = getenv("SWAGG_KERNELS");
    const struct agg_kernels *chosen = name == NULL ? agg_kernels_best() : agg_kernels_get(name);

    if (chosen == NULL)
        explain(why, name);
    return chosen;
}

const struct agg_kernels *kernels_or_exit(void)
{
    char why[KERNELS_WHY];
    const struct agg_kernels *chosen = kernels_chosen(why);

    if (chosen == NULL) {
        fprintf(stderr, "%s\n", why);
        exit(2);
    }
    return chosen;
}

#include "switchml/elements.h"

bool sml_table_valid(const struct sml_table *t)
{
    const unsigned used = 1u << sml_index_bits(t->code);

    if (!sml_looks_up(t->code) || sml_element_of(t->code).in == 0 || t->values[0] != 0)
        return false;
    for (unsigned i = 1; i < SML_INDICES_MAX; i++)
        if (i < used ? t->values[i] <= t->values[i - 1] : t->values[i] != 0)
            return false;
    return true;
}

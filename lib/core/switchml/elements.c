#include "switchml/elements.h"

#include "thc/table.h"

size_t sml_length_of_sums(uint8_t code, size_t call_bytes, size_t length)
{
    const struct sml_element e = sml_element_of(code);

    return call_bytes + (length - call_bytes) / e.in * e.out;
}

size_t sml_length_of_indices(uint8_t code, size_t call_bytes, size_t length)
{
    const struct sml_element e = sml_element_of(code);

    return call_bytes + (length - call_bytes) / e.out * e.in;
}

bool sml_whole_elements(uint8_t code, bool sums, size_t bytes, size_t chunk_bytes)
{
    const struct sml_element e = sml_element_of(code);
    const size_t element = sums ? e.out : e.in;

    return bytes % element == 0 && bytes / element * e.out <= chunk_bytes;
}

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

struct sml_table sml_table_of(const struct thc_table *t, unsigned sum_bits)
{
    struct sml_table out = {.code = (uint8_t)(t->bits | (sum_bits == 16 ? SML_WIDE_SUMS : 0))};

    for (unsigned i = 0; i < 1u << t->bits; i++)
        out.values[i] = t->value[i];
    return out;
}

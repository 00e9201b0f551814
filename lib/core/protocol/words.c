#include "protocol/words.h"

#include <stdarg.h>
#include <stdio.h>

#include "kernels/kernels.h"
#include "protocol/ranks.h"

void agg_append(struct agg_line *l, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(l->text + l->length, sizeof(l->text) - l->length, format, args);
    va_end(args);
    l->length += (size_t)n;
    if (l->length >= sizeof(l->text))
        l->length = sizeof(l->text) - 1;
}

void agg_append_contributed(struct agg_line *l, const uint8_t *map, size_t bytes)
{
    agg_append(l, " contributed:");
    for (unsigned rank = 0; rank < bytes * 8; rank++)
        if (ranks_map_has(map, rank))
            agg_append(l, " %u", rank);
}

void agg_append_elements(struct agg_line *l, const struct agg_words *how, uint8_t code, const uint8_t *p,
                         size_t bytes)
{
    const size_t element = agg_code_bytes(code), count = element > 0 ? bytes / element : 0;

    if (element == 0) {
        agg_append(l, " %zu bytes of an unknown type", bytes);
        return;
    }
    agg_append(l, " %zu %s", count, agg_type_name(agg_code_type(code)));
    if (agg_code_op(code) != AGG_SUM)
        agg_append(l, " (%s)", agg_op_name(agg_code_op(code)));
    for (size_t i = 0; i < count && i < how->elements; i++) {
        char text[80];

        how->element(text, sizeof(text), code, p + i * element);
        agg_append(l, "%s%s", i == 0 ? ": " : " ", text);
    }
    if (count > how->elements && how->elements > 0)
        agg_append(l, " ...");
}

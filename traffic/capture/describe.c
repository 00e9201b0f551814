#include "capture/describe.h"

#include <stdarg.h>
#include <stdio.h>

#include "elements.h"
#include "protocol/ranks.h"

void append(struct line *l, const char *format, ...)
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

void describe_contributed(struct line *l, const uint8_t *map, size_t bytes)
{
    append(l, " contributed:");
    for (unsigned rank = 0; rank < bytes * 8; rank++)
        if (ranks_map_has(map, rank))
            append(l, " %u", rank);
}

void describe_elements(struct line *l, const struct describe *how, uint8_t code, const uint8_t *p,
                       size_t bytes)
{
    const size_t element = agg_code_bytes(code), count = element > 0 ? bytes / element : 0;

    if (element == 0) {
        append(l, " %zu bytes of an unknown type", bytes);
        return;
    }
    append(l, " %zu %s", count, agg_type_name(agg_code_type(code)));
    if (agg_code_op(code) != AGG_SUM)
        append(l, " (%s)", agg_op_name(agg_code_op(code)));
    for (size_t i = 0; i < count && i < how->elements; i++) {
        char text[80];

        element_print(text, sizeof(text), code, p + i * element);
        append(l, "%s%s", i == 0 ? ": " : " ", text);
    }
    if (count > how->elements && how->elements > 0)
        append(l, " ...");
}

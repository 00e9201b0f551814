#include "capture/describe.h"

#include <stdarg.h>
#include <stdio.h>

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

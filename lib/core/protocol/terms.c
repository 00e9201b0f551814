#include "protocol/terms.h"

#include <stdarg.h>
#include <stdio.h>

bool agg_refuse(char why[AGG_TEXT_MAX], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, AGG_TEXT_MAX, format, args);
    va_end(args);
    return false;
}

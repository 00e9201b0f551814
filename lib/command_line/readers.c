#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command_line.h"

/* The field has so many bytes, the least significant first. */
static bool read_number(const struct option_row *row, const char *text, void *field, size_t bytes)
{
    char *end;
    const int base = strncasecmp(text, "0x", 2) == 0 ? 16 : 10;

    errno = 0;
    const uint64_t number = strtoull(text, &end, base);
    if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && number >= row->least &&
        number <= row->most) {
        memcpy(field, &number, bytes);
        return true;
    }
    return complain("%s: \"%s\" is not a number from %" PRIu64 " to %" PRIu64, option_name(row), text,
                    row->least, row->most);
}

bool option_flag(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    (void)text;
    *(bool *)field = true;
    return true;
}

bool option_text(const struct option_row *row, const char *text, void *field)
{
    (void)row;
    *(const char **)field = text;
    return true;
}

bool option_byte(const struct option_row *row, const char *text, void *field)
{
    return read_number(row, text, field, sizeof(uint8_t));
}

bool option_unsigned(const struct option_row *row, const char *text, void *field)
{
    return read_number(row, text, field, sizeof(unsigned));
}

bool option_int(const struct option_row *row, const char *text, void *field)
{
    return option_unsigned(row, text, field); /* of the same size, and most fits both */
}

bool option_number(const struct option_row *row, const char *text, void *field)
{
    return read_number(row, text, field, sizeof(uint64_t));
}

bool option_real(const struct option_row *row, const char *text, void *field)
{
    double *number = field;
    char *end;

    *number = strtod(text, &end);
    if (end != text && *end == '\0' && *number >= (double)row->least && *number <= (double)row->most)
        return true;
    return complain("%s: \"%s\" is not a number from %" PRIu64 " to %" PRIu64, option_name(row), text,
                    row->least, row->most);
}

bool option_bytes(const struct option_row *row, const char *text, void *field)
{
    static const char units[] = "KMG";
    char *end;

    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    const unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (errno != 0 || !isdigit((unsigned char)text[0]) || end[unit != NULL] != '\0' || n > SIZE_MAX >> shift)
        return complain("%s: \"%s\" is not a number of bytes", option_name(row), text);
    *(size_t *)field = (size_t)n << shift;
    if (*(size_t *)field >= row->least)
        return true;
    return complain("%s must be %" PRIu64 " or more", option_name(row), row->least);
}

bool option_one_of(const struct option_row *row, const char *text, const char *const words[], unsigned *which)
{
    char known[256] = "";

    for (unsigned i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            *which = i;
            return true;
        }
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i > 0 ? ", " : "", words[i]);
    }
    return complain("%s: \"%s\" is none of %s", option_name(row), text, known);
}

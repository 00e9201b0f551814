#include "schedule_options.h"

#include <stdlib.h>

bool option_factor(const struct option_row *row, const char *text, void *field)
{
    double *factor = field;
    char *end;

    *factor = strtod(text, &end);
    if (end != text && *end == '\0' && *factor >= 1e-6 && *factor <= 1e6)
        return true;
    return complain("%s: \"%s\" is not a number from 0.000001 to 1000000", option_name(row), text);
}

#define FIELD(member) offsetof(struct schedule_how, member)

const struct option_row schedule_rows[SCHEDULE_OPTIONS] = {
    {"bucket", 0, "BYTES", option_bytes, FIELD(bucket_bytes), 0, 0,
     "gradients are summed together up to about so many, with K, M or G; default: what the profile says, or "
     "25M"},
    {"scale", 0, "F", option_factor, FIELD(scale), 0, 0,
     "so many times fewer bytes: for links that are so many times slower; default 1"},
    {"speed", 0, "F", option_factor, FIELD(speed), 0, 0, "so many times as fast computing; default 1"},
};

#include "choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int choose(const json_t *choices, const char *question)
{
    const json_t *choice;
    unsigned long n;
    char line[32];
    size_t i;

    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return -1;
    json_array_foreach(choices, i, choice) fprintf(stderr, "%3zu  %s\n", i + 1, json_string_value(choice));
    fprintf(stderr, "%s [1-%zu] ", question, json_array_size(choices));
    if (fgets(line, sizeof(line), stdin) == NULL)
        return -1;
    n = strtoul(line, NULL, 10);
    return n < 1 || n > json_array_size(choices) ? -1 : (int)n - 1;
}

#include "options_page.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* As it can be given: 1024G. */
static void print_count(int64_t n)
{
    static const char units[] = "KMG";
    int unit = -1;

    for (const bool is_large = n > UINT16_MAX; is_large && n % 1024 == 0 && unit < 2; unit++)
        n /= 1024;
    printf("%" PRId64 "%.*s", n, unit < 0 ? 0 : 1, unit < 0 ? "" : units + unit);
}

static void print_values(const struct option_field *f)
{
    if (f->values != NULL)
        fputs(f->values, stdout);
    else if (f->words != NULL)
        for (int i = 0; f->words[i] != NULL; i++)
            printf("%s`%s`", i > 0 ? ", " : "", f->words[i]);
    else if (f->most == INT32_MAX)
        printf("%" PRId64 " and more", f->least);
    else {
        print_count(f->least);
        fputs(" to ", stdout);
        print_count(f->most);
    }
}

void option_print_row(const char *name, const struct option_field *f, const char *otherwise)
{
    printf("| `%s` | ", name);
    print_values(f);
    fputs(" | ", stdout);
    if (otherwise != NULL || f->otherwise != NULL)
        fputs(otherwise != NULL ? otherwise : f->otherwise, stdout);
    else if (f->words != NULL)
        printf("`%s`", f->words[0]);
    else if (f->usual > 0)
        printf("%" PRId64, f->usual);
    printf(" | %s |\n", f->meaning);
}

#include "parameters.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env.h"

static const char prefix[] = "SWAGG_";
enum { PREFIX = sizeof prefix - 1, VARIABLES_MAX = 64 };

static int priority = 95;           /* more than any of Open MPI's own */
static char *values[VARIABLES_MAX]; /* of the variables' parameters; Open MPI's memory */

/* "SWAGG_MIN_BYTES" is "min_bytes". */
static void write_name(const char *variable, char name[64])
{
    snprintf(name, 64, "%s", variable + PREFIX);
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

/* What a page says, without its marks: "[see above](#size)" is "see above". */
static void write_plain(const char *text, FILE *out)
{
    for (; *text; text++)
        if (text[0] == ']' && text[1] == '(')
            text += strcspn(text, ")");
        else if (!strchr("[`", *text))
            putc(*text, out);
}

static void write_words(const struct option_field *field, FILE *out)
{
    for (int i = 0; field->words && field->words[i]; i++)
        fprintf(out, "%s%s", i ? ", " : " (", field->words[i]);
    if (field->words)
        fputc(')', out);
}

static int register_variable(const mca_base_component_t *component, size_t i, const char *variable,
                             const struct option_field *field)
{
    char name[64], text[512] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    if (!out)
        return OMPI_ERR_OUT_OF_RESOURCE;
    write_name(variable, name);
    fprintf(out, "%s: ", variable);
    write_plain(field->meaning, out);
    write_words(field, out);
    fclose(out);
    values[i] = NULL;
    int rc = mca_base_component_var_register(component, name, text, MCA_BASE_VAR_TYPE_STRING, NULL, 0, 0,
                                             OPAL_INFO_LVL_4, MCA_BASE_VAR_SCOPE_READONLY, &values[i]);
    return rc < 0 ? rc : OMPI_SUCCESS;
}

int parameters_register(const mca_base_component_t *component)
{
    const char *variable, *otherwise;
    const struct option_field *field;
    int rc = mca_base_component_var_register(
        component, "priority", "Of swagg among the components of coll; less than 0: it is not used",
        MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_1, MCA_BASE_VAR_SCOPE_READONLY, &priority);
    for (size_t i = 0; rc >= 0 && i < VARIABLES_MAX && settings_row(i, &variable, &field, &otherwise); i++)
        rc = register_variable(component, i, variable, field);
    return rc < 0 ? rc : OMPI_SUCCESS;
}

int parameters_priority(void)
{
    return priority;
}

static bool is_of_swagg(const char *entry)
{
    return strncmp(entry, prefix, PREFIX) == 0;
}

/* Whether an entry of the environment has a parameter with a value. */
static bool is_overridden(const char *entry)
{
    const char *variable, *otherwise;
    const struct option_field *field;
    for (size_t i = 0; settings_row(i, &variable, &field, &otherwise); i++) {
        const size_t length = strlen(variable);
        if (values[i] && *values[i] && strncmp(entry, variable, length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

/* "NAME=VALUE", never freed; NULL: no memory. */
static char *entry_of(const char *variable, const char *value)
{
    char *entry;
    return asprintf(&entry, "%s=%s", variable, value) < 0 ? NULL : entry;
}

char *const *parameters_environment(void)
{
    static char **made;
    const char *variable, *otherwise;
    const struct option_field *field;
    size_t n = 0, used = 0;
    if (made)
        return made;
    while (environ[n])
        n++;
    char **all = calloc(n + VARIABLES_MAX + 1, sizeof *all);
    if (!all)
        return environ;
    for (size_t i = 0; i < n; i++)
        if (is_of_swagg(environ[i]) && !is_overridden(environ[i]))
            all[used++] = environ[i];
    for (size_t i = 0; settings_row(i, &variable, &field, &otherwise); i++)
        if (values[i] && *values[i] && (all[used] = entry_of(variable, values[i])))
            used++;
    return made = all;
}

bool parameters_are_given(void)
{
    return *parameters_environment() != NULL;
}

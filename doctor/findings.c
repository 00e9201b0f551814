#include "findings.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "version.h"

static const struct {
    const char *name, *help;
} topics[] = {
    {"cpus", "how many, which are busy, their governor"},
    {"numa", "whether a NIC is at another node than the CPUs"},
    {"memory", "hugepages, the limit of locked memory, sockets' buffers"},
    {"clock", "whether it is synchronised: logs of several hosts are compared"},
    {"interface", "link, MTU, rings, offloads, errors"},
    {"devices", "a switch's NICs: drivers, IOMMU"},
    {"permissions", "what a switch's process may do"},
    {"configuration", "a switch's file"},
    {"firewall", "rules that drop swagg's packets"},
    {"arp", "whether somebody has the switch's address"},
    {"versions", "of what is installed, of what runs, of the two ends"},
    {"switch", "whether it answers, by its control port and its data ports"},
    {"mtu", "the longest packets that get to the switch and back"},
    {"losses", "packets to the switch and back that are lost, and how long they take"},
    {"rate", "what a job of one rank sums in a second"},
};
enum { TOPICS = sizeof(topics) / sizeof(topics[0]) };

static const char *const levels[FINDING_LEVELS] = {
    [FINDING_OK] = "ok",
    [FINDING_SKIPPED] = "skipped",
    [FINDING_WARNING] = "warning",
    [FINDING_FAULT] = "fault",
};

/* Whether one of the names, separated by commas, is this one. */
static bool names(const char *list, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = list; at != NULL; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

bool findings_want(const struct findings *f, const char *topic)
{
    return f->only == NULL || names(f->only, topic);
}

bool topics_are_known(const char *list)
{
    const char *at = list;

    while (at != NULL) {
        const size_t length = strcspn(at, ",");
        unsigned t = 0;

        while (t < TOPICS && (strlen(topics[t].name) != length || strncmp(at, topics[t].name, length) != 0))
            t++;
        if (t == TOPICS)
            return false;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return true;
}

void topics_print(FILE *to)
{
    for (unsigned t = 0; t < TOPICS; t++)
        fprintf(to, "  %-14s %s\n", topics[t].name, topics[t].help);
}

/* Where one goes that nobody wants, or that there is no memory for. */
static struct finding *place(struct findings *f, const char *topic)
{
    static struct finding nowhere;
    struct finding *more;

    if (!findings_want(f, topic))
        return &nowhere;
    if (f->n == f->room) {
        more = realloc(f->all, (f->room * 2 + 16) * sizeof(*more));
        if (more == NULL)
            return &nowhere;
        f->all = more;
        f->room = f->room * 2 + 16;
    }
    return &f->all[f->n++];
}

struct finding *found(struct findings *f, enum finding_level level, const char *topic, const char *about,
                      const char *saw, ...)
{
    const unsigned before = f->n;
    struct finding *finding = place(f, topic);
    va_list arguments;

    *finding = (struct finding){.level = level, .topic = topic};
    snprintf(finding->about, sizeof(finding->about), "%s", about != NULL ? about : "");
    va_start(arguments, saw);
    vsnprintf(finding->saw, sizeof(finding->saw), saw, arguments);
    va_end(arguments);
    f->count[level] += f->n - before;
    return finding;
}

void finding_type(struct finding *finding, const char *type, ...)
{
    va_list arguments;

    va_start(arguments, type);
    vsnprintf(finding->type, sizeof(finding->type), type, arguments);
    va_end(arguments);
}

void findings_print(const struct findings *f, bool all, FILE *to)
{
    for (unsigned i = 0; i < f->n; i++) {
        const struct finding *x = &f->all[i];

        if (!all && x->level < FINDING_WARNING)
            continue;
        fprintf(to, "%-8s %-13s %s%s%s\n", levels[x->level], x->topic, x->about,
                x->about[0] != '\0' ? ": " : "", x->saw);
        if (x->type[0] != '\0')
            fprintf(to, "%-8s %-13s -> %s\n", "", "", x->type);
    }
    fprintf(to, "well: %u, not looked at: %u, warnings: %u, faults: %u\n", f->count[FINDING_OK],
            f->count[FINDING_SKIPPED], f->count[FINDING_WARNING], f->count[FINDING_FAULT]);
}

/* JSON has UTF-8 only. Names of files may be other bytes, and what was cut off may end in the midst of a
 * character: then all that is not ASCII becomes '?'. */
static json_t *words(const char *text)
{
    char ascii[FINDING_TEXT];
    json_t *string = json_string(text);

    if (string != NULL)
        return string;
    snprintf(ascii, sizeof(ascii), "%s", text);
    for (char *c = ascii; *c != '\0'; c++)
        *c = *c & 0x80 ? '?' : *c;
    return json_string(ascii);
}

void findings_print_json(const struct findings *f, FILE *to)
{
    json_t *list = json_array();
    json_t *whole =
        json_pack("{s:s, s:i, s:i, s:o}", "version", build_version, "faults", (int)f->count[FINDING_FAULT],
                  "warnings", (int)f->count[FINDING_WARNING], "findings", list);

    for (unsigned i = 0; i < f->n; i++) {
        const struct finding *x = &f->all[i];

        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "level", levels[x->level], "topic",
                                              x->topic, "about", words(x->about), "saw", words(x->saw),
                                              "type", words(x->type)));
    }
    json_dumpf(whole, to, JSON_INDENT(2));
    fputc('\n', to);
    json_decref(whole);
}

void findings_free(struct findings *f)
{
    free(f->all);
    *f = (struct findings){0};
}

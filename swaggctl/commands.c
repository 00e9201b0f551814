#include "commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "nearest.h"
#include "views/declared.h"

enum { NAME_MAX = 128 };

/* clang-format off */
static const struct command written[] = {
    {"job drain", {ARGUMENT_JOB}, .help = "let a job come to its end: nobody else may join it"},
    {"job kill", {ARGUMENT_JOB}, .help = "end a job now; its workers are told"},
    {"job add", {ARGUMENT_NEW_JOB, ARGUMENT_SETTINGS},
     .help = "one more static job, of settings as in the configuration; workers='[{\"ip\": ..., \"mac\": ...}, ...]'"},
    {"job del", {ARGUMENT_JOB}, .help = "delete a job that was added"},
    {"job reserve", {ARGUMENT_NEW_JOB, ARGUMENT_SETTINGS},
     .help = "keep room for a job that is not there yet: ranks=N slots=N tenant=NAME job=PATTERN for=SECONDS"},
    {"job release", {ARGUMENT_NEW_JOB}, .help = "end a reservation; jobs that use it go on"},
    {"job reset", {ARGUMENT_JOB}, .help = "a job of the configuration forgets all that its workers have sent"},
    {"port add", {ARGUMENT_NEW_PORT, ARGUMENT_DEVICE, ARGUMENT_SETTINGS}, .optional = true,
     .help = "one more port, on a device as in the configuration: kernel:eth2, for instance"},
    {"port del", {ARGUMENT_PORT}, .help = "remove a port; jobs with members there end"},
    {"port up", {ARGUMENT_PORT}, .help = "bring a port up that was taken down"},
    {"port down", {ARGUMENT_PORT}, .help = "take a port down: it neither receives nor sends"},
    {"impair set", {ARGUMENT_PORT, ARGUMENT_DIRECTION, ARGUMENT_SETTINGS},
     .help = "lose, double, delay or damage frames of a port, drop=0.01 for instance"},
    {"impair clear", {ARGUMENT_PORT, ARGUMENT_DIRECTION}, .optional = true, .help = "impair them no more"},
    {"fdb flush", {ARGUMENT_PORT}, .optional = true, .help = "forget all stations, or those on a port"},
    {"fdb add", {ARGUMENT_MAC, ARGUMENT_PORT}, .help = "a station is on this port, whatever comes"},
    {"fdb del", {ARGUMENT_MAC}, .help = "a station that was added is learned again"},
    {"config", .help = "what is in force, as a configuration file; what was not set is a comment with its default"},
    {"reload", .help = "have the switch read its configuration anew, and print what has changed"},
    {"log level", {ARGUMENT_LEVEL}, .help = "error, warning, notice, info or debug"},
    {"capture", .own = true, .help = "frames that pass the switch, into a file (pcapng), until it is interrupted"},
    {"watch", {ARGUMENT_COMMAND}, .own = true, .help = "a view again and again, with rates a second in place of counters"},
    {"why", {ARGUMENT_JOB}, .own = true, .help = "what slows a job now: a rank, a link, the switch, slots, packets, or nothing"},
    {"top", .own = true, .help = "the whole switch on a full screen, every second: jobs by what they sum, who is late, losses, ports"},
    {"tree", .own = true, .help = "all switches of this one's tree: links, jobs, who is late, losses on the way up"},
    {"switches", .own = true, .help = "names of the switches that run here"},
};
/* clang-format on */

enum { WRITTEN = sizeof(written) / sizeof(written[0]), COMMANDS = VIEWS + WRITTEN };

const struct command *commands_all(unsigned *count)
{
    static const enum command_argument argument[VIEW_SUBJECTS] = {ARGUMENT_NONE, ARGUMENT_PORT,
                                                                  ARGUMENT_LCORE, ARGUMENT_JOB};
    static struct command all[COMMANDS];

    for (unsigned i = 0; i < VIEWS; i++)
        all[i] = (struct command){.name = views[i].name,
                                  .takes = {argument[views[i].of]},
                                  .optional = views[i].of != VIEW_OF_ALL && views[i].optional,
                                  .help = views[i].help};
    memcpy(all + VIEWS, written, sizeof(written));
    *count = COMMANDS;
    return all;
}

static const struct {
    const char *key, *word; /* in requests; in messages */
} arguments[ARGUMENTS] = {
    [ARGUMENT_NONE] = {"", ""},
    [ARGUMENT_JOB] = {"name", "JOB"},
    [ARGUMENT_PORT] = {"name", "PORT"},
    [ARGUMENT_LCORE] = {"name", "LCORE"},
    [ARGUMENT_LEVEL] = {"level", "LEVEL"},
    [ARGUMENT_MAC] = {"mac", "MAC"},
    [ARGUMENT_DIRECTION] = {"direction", "rx|tx"},
    [ARGUMENT_NEW_PORT] = {"port", "NAME"},
    [ARGUMENT_NEW_JOB] = {"job", "NAME"},
    [ARGUMENT_DEVICE] = {"device", "DEVICE"},
    [ARGUMENT_COMMAND] = {"", "COMMAND"},
    [ARGUMENT_SETTINGS] = {"settings", "KEY=VALUE..."},
};

/* As many as the command's name has, one or two. */
static unsigned words_of(const struct command *c)
{
    return strchr(c->name, ' ') != NULL ? 2 : 1;
}

static unsigned arguments_of(const struct command *c)
{
    unsigned n = 0;

    while (n < COMMAND_ARGUMENTS_MAX && c->takes[n] != ARGUMENT_NONE)
        n++;
    return n;
}

static bool takes_settings(const struct command *c)
{
    const unsigned takes = arguments_of(c);

    return takes > 0 && c->takes[takes - 1] == ARGUMENT_SETTINGS;
}

/* The first one or two words, with a blank between. */
static void join(char text[NAME_MAX], char *const words[], unsigned n)
{
    snprintf(text, NAME_MAX, "%s%s%s", words[0], n > 1 ? " " : "", n > 1 ? words[1] : "");
}

static bool begins_with(char *const words[], unsigned n, const struct command *c)
{
    char typed[NAME_MAX];

    if (n < words_of(c))
        return false;
    join(typed, words, words_of(c));
    return strcmp(typed, c->name) == 0;
}

void command_usage(char *text, size_t room, const struct command *c)
{
    size_t used = (size_t)snprintf(text, room, "%s", c->name);

    for (unsigned i = 0; i < arguments_of(c) && used < room; i++) {
        const bool optional = c->optional && i + 1 == arguments_of(c);

        used += (size_t)snprintf(text + used, room - used, optional ? " [%s]" : " %s",
                                 arguments[c->takes[i]].word);
    }
}

static bool fits(const struct command *c, unsigned given)
{
    const unsigned takes = arguments_of(c);

    return given >= takes - (c->optional ? 1 : 0) && (takes_settings(c) || given <= takes);
}

/* The command that the words begin with: the first whose arguments the rest can be ("job kill" is the view of
 * a job of that name), else the last, which has two words if any has. NULL: there is none. */
static const struct command *command_meant(char *const words[], unsigned n)
{
    const struct command *meant = NULL, *commands;
    unsigned count;

    commands = commands_all(&count);
    for (const struct command *c = commands; c < &commands[count]; c++) {
        if (c->own || !begins_with(words, n, c))
            continue;
        meant = c;
        if (fits(c, n - words_of(c)))
            break;
    }
    return meant;
}

/* Those of so many words. */
static void offer_commands(struct nearest *meant, unsigned words)
{
    unsigned count;
    const struct command *commands = commands_all(&count);

    for (const struct command *c = commands; c < &commands[count]; c++)
        if (words_of(c) == words)
            nearest_offer(meant, c->name);
}

const struct command *command_other(const char *word)
{
    unsigned count;
    const struct command *commands = commands_all(&count);

    for (const struct command *c = commands; c < &commands[count]; c++)
        if (c->own && strcmp(c->name, word) == 0)
            return c;
    return NULL;
}

/* Whether the first one or two words, as many as these, are nearly those of a command: then why says which.
 */
static bool is_typo(char *const words[], unsigned n, char why[COMMAND_WHY_MAX])
{
    char typed[NAME_MAX];

    join(typed, words, n);
    struct nearest meant = nearest_to(typed);
    offer_commands(&meant, n);
    if (meant.best != NULL)
        snprintf(why, COMMAND_WHY_MAX, "there is no command %s; did you mean %s?", typed, meant.best);
    return meant.best != NULL;
}

const struct command *command_find(char *const words[], unsigned n, unsigned *used, char why[COMMAND_WHY_MAX])
{
    const struct command *meant = command_meant(words, n);
    char usage[128];

    *used = meant == NULL ? 0 : words_of(meant);
    if (meant != NULL && fits(meant, n - *used))
        return meant;
    if (meant == NULL && command_other(words[0]) != NULL) { /* which are done before, but behind watch */
        snprintf(why, COMMAND_WHY_MAX, "watch shows views, and %s is none: swaggctl %s", words[0], words[0]);
        return NULL;
    }
    if ((n > 1 && *used < 2 && is_typo(words, 2, why)) || (*used == 0 && is_typo(words, 1, why)))
        return NULL;
    if (meant == NULL) {
        snprintf(why, COMMAND_WHY_MAX, "there is no command %s; --help lists them", words[0]);
        return NULL;
    }
    command_usage(usage, sizeof(usage), meant);
    snprintf(why, COMMAND_WHY_MAX, "usage: swaggctl %s", usage);
    return NULL;
}

bool command_begun(char *const words[], unsigned n, char *usage, size_t room)
{
    unsigned count;
    const struct command *commands = commands_all(&count);

    for (const struct command *c = commands; n == 2 && c < &commands[count]; c++)
        if (words_of(c) == 2 && begins_with(words, n, c)) {
            command_usage(usage, room, c);
            return true;
        }
    return false;
}

/* Those of two words do. */
bool command_acts(const struct command *c)
{
    return words_of(c) == 2 || strcmp(c->name, "reload") == 0;
}

/* A number, or a list in JSON. What is neither, or a number that JSON does not have (nan, inf), stays text;
 * the switch says what is wrong with it. */
static json_t *value_of(const char *text)
{
    json_t *list = text[0] == '[' ? json_loads(text, 0, NULL) : NULL;
    char *end;
    const double number = strtod(text, &end);

    if (list != NULL)
        return list;
    return *text != '\0' && *end == '\0' && isfinite(number) ? json_real(number) : json_string(text);
}

static json_t *settings(char *const given[], unsigned n)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < n; i++) {
        const size_t length = strcspn(given[i], "=");
        const char *value = given[i] + length + (given[i][length] == '=');
        char key[64];

        snprintf(key, sizeof(key), "%.*s", (int)length, given[i]);
        json_object_set_new(object, key, value_of(value));
    }
    return object;
}

json_t *command_request(const struct command *c, char *const given[], unsigned n)
{
    json_t *request = ask_request(c->name);
    const unsigned texts = takes_settings(c) ? arguments_of(c) - 1 : n;

    for (unsigned i = 0; i < texts; i++)
        json_object_set_new(request, arguments[c->takes[i]].key, json_string(given[i]));
    if (takes_settings(c))
        json_object_set_new(request, arguments[ARGUMENT_SETTINGS].key, settings(given + texts, n - texts));
    return request;
}

const struct view *command_view(const json_t *request)
{
    return views_find(json_string_value(json_object_get(request, "command")));
}

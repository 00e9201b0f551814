#include "env.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "swagg.h"

static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const fallbacks[] = {"error", "native", NULL};
static const char *const switches[] = {"0", "1", NULL};

enum form { WORD, NUMBER, ADDRESSES, KEY_FILE, FILE_NAME };

/* What else must be set for a variable to count. */
enum partner { NO_PARTNER, ATP, THC };
static const char *const partners[] = {[ATP] = "SWAGG_PROTOCOL=atp or auto", [THC] = "SWAGG_COMPRESSION=thc"};

struct variable {
    const char *option; /* of the library, whose table has it; NULL: the shim's own */
    enum form form;
    enum partner partner;
    size_t offset;           /* of the shim's own, and of texts, in struct settings; a number is an int64_t */
    struct option_field own; /* of a library's option only `otherwise`, where the shim's default is another */
};

#define OWN(field) offsetof(struct settings, field)

/* clang-format off */
static const struct variable variables[] = {
    {"switch_ip", ADDRESSES, NO_PARTNER, OWN(switch_ip), {.otherwise = "nothing is offloaded"}},
    {"protocol", WORD, NO_PARTNER, 0, {0}},
    {"server_ip", ADDRESSES, ATP, OWN(server_ip), {0}},
    {"key_file", KEY_FILE, NO_PARTNER, OWN(key_file), {0}},
    {NULL, NUMBER, NO_PARTNER, OWN(min_bytes),
     {.variable = "SWAGG_MIN_BYTES", .most = INT64_C(1) << 40, .otherwise = "measured",
      .meaning = "smaller tensors stay with the MPI library, [see above](#which-size-goes-where)"}},
    {"mode", WORD, NO_PARTNER, 0, {0}},
    {"checksum", WORD, NO_PARTNER, 0, {0}},
    {"numbers", WORD, NO_PARTNER, 0, {0}},
    {"compression", WORD, NO_PARTNER, 0, {0}},
    {NULL, NUMBER, THC, OWN(compression_min_bytes),
     {.variable = "SWAGG_COMPRESSION_MIN_BYTES", .least = 4, .most = INT64_C(1) << 32, .otherwise = "64K",
      .meaning = "smaller sums stay exact"}},
    {"thc_bits", NUMBER, THC, 0, {0}},
    {"feedback", WORD, THC, 0, {0}},
    {"uplink", WORD, NO_PARTNER, 0, {0}},
    {"local", WORD, NO_PARTNER, 0, {0}},
    {"threads", NUMBER, NO_PARTNER, 0, {0}},
    {NULL, WORD, NO_PARTNER, OWN(log),
     {.variable = "SWAGG_LOG", .words = levels, .otherwise = "`warn`",
      .meaning = "what is told on stderr; from `info` on, every rank has a summary, and rank 0 the "
                 "[table](#why-it-is-fast-or-not)"}},
    {"join_timeout_ms", NUMBER, NO_PARTNER, 0, {0}},
    {"call_timeout_ms", NUMBER, NO_PARTNER, 0, {0}},
    {"answer_timeout_ms", NUMBER, NO_PARTNER, 0, {0}},
    {"link_timeout_ms", NUMBER, NO_PARTNER, 0, {0}},
    {"window", NUMBER, NO_PARTNER, 0, {0}},
    {"ranks_per_rack", NUMBER, ATP, 0, {0}},
    {"server_rack", NUMBER, ATP, 0, {0}},
    {"mtu", NUMBER, NO_PARTNER, 0, {0}},
    {"slots", NUMBER, NO_PARTNER, 0, {.otherwise = "64, 256 or 1024, by the tensors' size"}},
    {"reduce", WORD, NO_PARTNER, 0, {0}},
    {NULL, WORD, NO_PARTNER, OWN(fallback),
     {.variable = "SWAGG_FALLBACK", .words = fallbacks,
      .meaning = "what an error of the switch in mid-run leads to, see below"}},
    {NULL, WORD, NO_PARTNER, OWN(disable),
     {.variable = "SWAGG_DISABLE", .words = switches,
      .meaning = "1: this rank's shim only passes calls on, and says nothing; to the others it is a rank without the shim"}},
    {NULL, FILE_NAME, NO_PARTNER, OWN(summary_json),
     {.variable = "SWAGG_SUMMARY_JSON", .form = OPTION_TEXT, .values = "file name", .otherwise = "none",
      .meaning = "the table as JSON; `%r` in the name is the rank, without it rank 0 alone writes"}},
    {NULL, FILE_NAME, NO_PARTNER, OWN(choices),
     {.variable = "SWAGG_CHOICES", .form = OPTION_TEXT, .values = "file name", .otherwise = "none",
      .meaning = "where rank 0 keeps what was [measured](#choices-kept-between-runs), for later runs"}},
};
/* clang-format on */
enum { VARIABLES = sizeof variables / sizeof variables[0], PREFIX = sizeof "SWAGG_" - 1 };

static const struct option_field *field_of(const struct variable *v)
{
    return v->option ? option_field_named(v->option) : &v->own;
}

static const char *name_of(const struct variable *v)
{
    return field_of(v)->variable;
}

static void put_number(struct settings *s, const struct variable *v, int64_t number)
{
    if (v->option)
        *(int *)((char *)&s->options + field_of(v)->offset) = (int)number;
    else
        *(int64_t *)((char *)s + v->offset) = number;
}

static int64_t number_of(const struct settings *s, const struct variable *v)
{
    if (v->option)
        return *(const int *)((const char *)&s->options + field_of(v)->offset);
    return *(const int64_t *)((const char *)s + v->offset);
}

static const struct variable *find(const char *name, size_t length)
{
    for (const struct variable *v = variables; v < variables + VARIABLES; v++)
        if (strlen(name_of(v)) == length && memcmp(name_of(v), name, length) == 0)
            return v;
    return NULL;
}

static int read_word(struct settings *s, const struct variable *v, const char *value)
{
    const char *const *words = field_of(v)->words;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0) {
            put_number(s, v, i);
            return 0;
        }
    return -EINVAL;
}

/* Digits, then perhaps K, M or G (powers of 1024). */
static int read_number(struct settings *s, const struct variable *v, const char *value)
{
    static const char units[] = "KMG";
    char *end;
    if (*value < '0' || *value > '9')
        return -EINVAL;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || end[unit ? 1 : 0] || n > field_of(v)->most >> shift || n << shift < field_of(v)->least)
        return -EINVAL;
    put_number(s, v, n << shift);
    return 0;
}

static bool is_address(const char *value)
{
    struct in_addr address;
    return inet_pton(AF_INET, value, &address) == 1;
}

/* With commas between them. libswagg says what else is wrong with a list. */
static int read_addresses(char list[ADDRESSES_MAX], const char *value)
{
    char ip[ADDRESS_MAX];
    if (strlen(value) >= ADDRESSES_MAX)
        return -EINVAL;
    for (const char *text = value;;) {
        const size_t length = strcspn(text, ",");
        if (length >= sizeof ip)
            return -EINVAL;
        memcpy(ip, text, length);
        ip[length] = '\0';
        if (!is_address(ip))
            return -EINVAL;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    strcpy(list, value);
    return 0;
}

/* Settings go from rank to rank with spaces between them. */
static int read_key_file(struct settings *s, const char *value)
{
    if (strlen(value) >= sizeof s->key_file || strpbrk(value, " \t\n"))
        return -EINVAL;
    snprintf(s->key_file, sizeof s->key_file, "%s", value);
    return 0;
}

static int read_variable(struct settings *s, const struct variable *v, const char *value)
{
    switch (v->form) {
    case WORD:
        return read_word(s, v, value);
    case NUMBER:
        return read_number(s, v, value);
    case ADDRESSES:
        return read_addresses((char *)s + v->offset, value);
    case KEY_FILE:
        return read_key_file(s, value);
    case FILE_NAME:
        *(const char **)((char *)s + v->offset) = value;
    }
    return 0;
}

static void say_accepted(const struct variable *v, const char *value, FILE *out)
{
    fprintf(out, "%s=%s: use ", name_of(v), value);
    if (v->form == KEY_FILE)
        fprintf(out, "a path of at most %zu characters, without spaces",
                sizeof((struct settings *)0)->key_file - 1);
    else if (v->form == ADDRESSES)
        fprintf(out, "IPv4 addresses with commas between them, like 10.0.0.8,10.0.0.9, at most %d",
                SWAGG_SERVERS_MAX);
    else if (v->form == NUMBER)
        fprintf(out, "a number from %" PRId64 " to %" PRId64 "; K, M or G may follow", field_of(v)->least,
                field_of(v)->most);
    else {
        const char *const *words = field_of(v)->words;
        for (int i = 0; words[i]; i++)
            fprintf(out, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    }
}

static void say_unknown(const char *name, FILE *out)
{
    char rest[64];
    snprintf(rest, sizeof rest, "%.*s", (int)strcspn(name + PREFIX, "="), name + PREFIX);
    struct nearest meant = nearest_to(rest);
    for (size_t i = 0; i < VARIABLES; i++)
        nearest_offer(&meant, name_of(&variables[i]) + PREFIX);
    fprintf(out, "SWAGG_%s is not a setting and was ignored; ", rest);
    if (meant.best) {
        fprintf(out, "did you mean SWAGG_%s?", meant.best);
        return;
    }
    fprintf(out, "there are");
    for (size_t i = 0; i < VARIABLES; i++)
        fprintf(out, " %s", name_of(&variables[i]));
}

static bool counts(const struct settings *s, const struct variable *v)
{
    switch (v->partner) {
    case ATP:
        return s->options.protocol != SWAGG_PROTOCOL_SWITCHML;
    case THC:
        return s->options.compression != SWAGG_COMPRESSION_NONE;
    default:
        return true;
    }
}

/* The name and word of two settings that exclude each other; NULL: there are none. Doing a call again takes
 * every rank in it, and so do SwitchML's numbers; who has returned early is not. Nor have its packets a
 * checksum. */
static const char *contradiction(const struct settings *s)
{
    const bool atp = s->options.protocol != SWAGG_PROTOCOL_SWITCHML;
    const bool early = s->options.reduce == SWAGG_REDUCE_BUFFERED,
               native = s->options.numbers == SWAGG_NUMBERS_NATIVE;

    if (early && s->fallback == FALLBACK_NATIVE)
        return "SWAGG_REDUCE=buffered and SWAGG_FALLBACK=native";
    if (early && !native)
        return "SWAGG_REDUCE=buffered and SWAGG_NUMBERS";
    if (s->options.compression != SWAGG_COMPRESSION_NONE && !native)
        return "SWAGG_COMPRESSION=thc and SWAGG_NUMBERS";
    if (s->options.compression != SWAGG_COMPRESSION_NONE && atp)
        return "SWAGG_COMPRESSION=thc and SWAGG_PROTOCOL";
    if (s->options.checksum != SWAGG_CHECKSUM_NONE && !native)
        return "SWAGG_CHECKSUM=crc32c and SWAGG_NUMBERS";
    if (early && atp)
        return "SWAGG_REDUCE=buffered and SWAGG_PROTOCOL";
    return NULL;
}

/* What an environment says, and what is to be said of it. */
struct reading {
    struct settings settings;
    const struct variable *wrong; /* the first whose value is not accepted; NULL: none */
    const char *wrong_value;
    const char *unknown; /* a name that is no setting's, with what follows it; NULL: there is none */
    bool given[VARIABLES];
};

static void read_entry(struct reading *r, const char *name)
{
    const char *equals = strchr(name, '=');
    if (!equals || strncmp(name, "SWAGG_", PREFIX) != 0)
        return;
    const struct variable *v = find(name, (size_t)(equals - name));
    if (!v) {
        r->unknown = name;
        return;
    }
    if (!equals[1]) /* empty: not set */
        return;
    r->given[v - variables] = true;
    if (read_variable(&r->settings, v, equals + 1) < 0 && !r->wrong) {
        r->wrong = v;
        r->wrong_value = equals + 1;
    }
}

/* A variable that was given and does not count; NULL: there is none. */
static const struct variable *idle(const struct reading *r)
{
    for (size_t i = 0; i < VARIABLES; i++)
        if (r->given[i] && !counts(&r->settings, &variables[i]))
            return &variables[i];
    return NULL;
}

/* both: two settings that exclude each other; NULL: there are none. */
static void say(const struct reading *r, const char *both, FILE *out)
{
    const struct variable *without = idle(r);
    if (r->wrong)
        say_accepted(r->wrong, r->wrong_value, out);
    else if (both)
        fprintf(out, "%s exclude each other: unset one of them", both);
    else if (r->unknown)
        say_unknown(r->unknown, out);
    else if (without)
        fprintf(out, "%s counts with %s only, and was ignored", name_of(without), partners[without->partner]);
}

int settings_read(struct settings *s, char *const environment[], char *text, size_t size)
{
    struct reading r = {.settings = {.options = SWAGG_OPTIONS_DEFAULT,
                                     .min_bytes = MIN_BYTES_MEASURED,
                                     .log = SWAGG_LOG_WARN}};

    memset(text, 0, size);
    for (; *environment; environment++)
        read_entry(&r, *environment);
    const char *both = contradiction(&r.settings);
    const bool refused = r.wrong || both;
    *s = refused ? (struct settings){.options = SWAGG_OPTIONS_DEFAULT,
                                     .log = SWAGG_LOG_WARN,
                                     .disable = r.settings.disable,
                                     .summary_json = r.settings.summary_json}
                 : r.settings;
    if (s->options.protocol == SWAGG_PROTOCOL_ATP && *s->server_ip && !*s->switch_ip)
        memcpy(s->switch_ip, s->server_ip, strcspn(s->server_ip, ",")); /* the rest is 0 */

    FILE *out = fmemopen(text, size, "w");
    if (!out)
        return refused ? -EINVAL : 0;
    say(&r, both, out);
    fclose(out);
    text[size - 1] = '\0';
    return refused ? -EINVAL : 0;
}

static void write_variable(const struct settings *s, const struct variable *v, FILE *out)
{
    if (v->form == WORD)
        fprintf(out, " %s=%s", name_of(v), field_of(v)->words[number_of(s, v)]);
    else if (v->form == NUMBER && number_of(s, v) >= field_of(v)->least) /* less: not set */
        fprintf(out, " %s=%" PRId64, name_of(v), number_of(s, v));
    else if (v->form == ADDRESSES && *((const char *)s + v->offset))
        fprintf(out, " %s=%s", name_of(v), (const char *)s + v->offset);
    else if (v->form == KEY_FILE && *s->key_file)
        fprintf(out, " %s=%s", name_of(v), s->key_file);
}

int settings_write(const struct settings *s, char *text, size_t size)
{
    memset(text, 0, size);
    FILE *out = fmemopen(text, size, "w");
    if (!out)
        return -ENOMEM;
    for (size_t i = 0; i < VARIABLES; i++)
        write_variable(s, &variables[i], out);
    long length = ftell(out);
    return fclose(out) == 0 && length >= 0 && (size_t)length < size ? 0 : -ENOSPC;
}

bool settings_row(size_t i, const char **name, const struct option_field **field, const char **otherwise)
{
    if (i >= VARIABLES)
        return false;
    *name = name_of(&variables[i]);
    *field = field_of(&variables[i]);
    *otherwise = variables[i].own.otherwise;
    return true;
}

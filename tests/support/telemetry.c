/* Asks a running swagg by DPDK's telemetry socket:
 *
 *     telemetry [--until N] FILE_PREFIX COMMAND [KEY...]
 *
 * Prints the answer as JSON, or what lies under the keys; a text as it is. With --until, asks 50 times a
 * second until that is a number of at least N, for two minutes at most.
 *
 * Scripts ask hundreds of times. An interpreter would take longer to start than a switch takes to answer. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "command_line.h"
#include "monotonic.h"

enum {
    PAUSE_MS = 20,
    PATIENCE_S = 120,
    SILENCE_S = 300, /* of a switch that stands still */
    GREETING = 1024, /* bytes, at most */
};

static const char intro[] = "usage: telemetry [OPTION...] FILE_PREFIX COMMAND [KEY...]\n";

struct swagg {
    int socket;
    size_t longest; /* answer */
};

/* Returns a new object; NULL: what came is none. */
static json_t *receive(const struct swagg *swagg)
{
    char *text = malloc(swagg->longest);
    const ssize_t bytes = text == NULL ? -1 : recv(swagg->socket, text, swagg->longest, 0);
    json_t *answer = bytes <= 0 ? NULL : json_loadb(text, (size_t)bytes, 0, NULL);

    free(text);
    return answer;
}

static bool reach(struct swagg *swagg, const char *prefix)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const struct timeval silence = {.tv_sec = SILENCE_S};
    json_t *greeting;

    *swagg = (struct swagg){.socket = socket(AF_UNIX, SOCK_SEQPACKET, 0), .longest = GREETING};
    snprintf(at.sun_path, sizeof(at.sun_path), "/var/run/dpdk/%s/dpdk_telemetry.v2", prefix);
    setsockopt(swagg->socket, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
    if (connect(swagg->socket, (const struct sockaddr *)&at, sizeof(at)) < 0)
        return complain("%s: %s", at.sun_path, strerror(errno));
    greeting = receive(swagg);
    swagg->longest = (size_t)json_integer_value(json_object_get(greeting, "max_output_len"));
    json_decref(greeting);
    return swagg->longest > 0 || complain("%s says nothing that telemetry would", at.sun_path);
}

/* The whole answer, a new object, has the command's name as its only key. */
static json_t *ask(const struct swagg *swagg, const char *command)
{
    return send(swagg->socket, command, strlen(command), MSG_NOSIGNAL) < 0 ? NULL : receive(swagg);
}

/* What lies under the command's name, up to its comma, and then under the keys; NULL: nothing. */
static const json_t *find(const json_t *answer, const char *command, char *const keys[])
{
    char name[256];

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(command, ","), command);
    answer = json_object_get(answer, name);
    for (; *keys != NULL && answer != NULL; keys++)
        answer = json_is_array(answer) ? json_array_get(answer, strtoul(*keys, NULL, 10))
                                       : json_object_get(answer, *keys);
    return answer;
}

static void print(const json_t *found)
{
    if (json_is_string(found))
        fputs(json_string_value(found), stdout);
    else
        json_dumpf(found, stdout, JSON_ENCODE_ANY | JSON_INDENT(1));
    putchar('\n');
}

static bool waits_for(const json_t *found, uint64_t least)
{
    return json_is_integer(found) && json_integer_value(found) < (json_int_t)least;
}

/* Prints what was asked for. least: 0 if it is what it is. */
static bool tell(const struct swagg *swagg, const char *command, char *const keys[], uint64_t least)
{
    const uint64_t end = monotonic_ns() + PATIENCE_S * NS_PER_SECOND;
    json_t *answer = ask(swagg, command);
    const json_t *found = find(answer, command, keys);
    bool enough;

    while (waits_for(found, least) && monotonic_ns() < end) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
        json_decref(answer);
        answer = ask(swagg, command);
        found = find(answer, command, keys);
    }
    enough = found != NULL && !waits_for(found, least);
    if (found == NULL)
        complain("%s: no answer, or nothing under these keys", command);
    else if (enough)
        print(found);
    else
        complain("%s: is %" JSON_INTEGER_FORMAT " after %d s", command, json_integer_value(found),
                 PATIENCE_S);
    json_decref(answer);
    return enough;
}

int main(int argc, char *argv[])
{
    static const struct option_row rows[] = {
        {"until", 0, "N", option_number, 0, 1, INT64_MAX, "waits for a number of at least this"}};
    uint64_t least = 0;
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), &least};
    const int status = options_read(&(struct command_line){.intro = intro,
                                                           .operands = "whom is it to ask, and what?",
                                                           .groups = &group,
                                                           .count = 1,
                                                           .ends_at_operand = true},
                                    argc, argv);
    struct swagg swagg;

    if (status != OPTIONS_READ)
        return status;
    if (argc - optind < 2)
        return refuse_usage("what is %s to be asked?", argv[optind]);
    if (!reach(&swagg, argv[optind]))
        return EXIT_BAD;
    return tell(&swagg, argv[optind + 1], argv + optind + 2, least) ? EXIT_GOOD : EXIT_BAD;
}

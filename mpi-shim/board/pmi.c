/* The board by PMI-1, the lines that an MPI program and its launcher exchange over a socket, as MPICH's
 * mpiexec (hydra) and its descendants have it. The launcher keeps pairs of a key and a value; a pair that one
 * rank has put is there for all others once all ranks have come to a barrier, as they do in MPI_Init. The
 * socket is MPICH's. Before MPI_Init MPICH has not begun with it, and afterwards it rests: each request here
 * has its answer before the next line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board.h"

/* A value has 1024 bytes at most, and neither blanks nor '='. */
enum { LINE_MAX_BYTES = 2048, PART = 300, PARTS = BOARD_TEXT_MAX / PART + 1, NAME_MAX_BYTES = 256 };

static char space[NAME_MAX_BYTES]; /* the name that the program's pairs are under; empty: no board */

static int number_in_environment(const char *name)
{
    const char *value = getenv(name);
    return value ? atoi(value) : -1;
}

/* One request and its answer. False: there is nobody, or he speaks another protocol. */
static bool ask(const char *request, char answer[LINE_MAX_BYTES])
{
    const int fd = number_in_environment("PMI_FD");
    const size_t length = strlen(request);
    size_t used = 0;
    if (fd < 0 || write(fd, request, length) != (ssize_t)length)
        return false;
    while (used < LINE_MAX_BYTES - 1) {
        const ssize_t n = read(fd, answer + used, 1); /* what follows the line is MPICH's */
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        if (answer[used] == '\n') {
            answer[used] = '\0';
            return true;
        }
        used++;
    }
    return false;
}

/* What "NAME=" is followed by in an answer, up to the next blank; NULL: it is not there. */
static char *value_of(char *answer, const char *name)
{
    const size_t length = strlen(name);
    for (char *rest = answer, *word; (word = strtok_r(rest, " ", &rest));)
        if (strncmp(word, name, length) == 0 && word[length] == '=')
            return word + length + 1;
    return NULL;
}

/* Greets the launcher and asks where this program's pairs are. */
static bool open_board(void)
{
    char answer[LINE_MAX_BYTES];
    const char *name;
    if (*space)
        return true;
    if (number_in_environment("PMI_RANK") < 0 || !ask("cmd=init pmi_version=1 pmi_subversion=1\n", answer) ||
        strncmp(answer, "cmd=response_to_init", 20) != 0 || !strstr(answer, "rc=0"))
        return false;
    if (ask("cmd=get_my_kvsname\n", answer) && (name = value_of(answer, "kvsname")))
        snprintf(space, sizeof space, "%s", name);
    return *space;
}

/* Letters and digits as they are, all else as %XX. */
static void encode(const char *text, size_t bytes, char *out)
{
    for (; bytes && *text; text++, bytes--)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/", *text))
            *out++ = *text;
        else
            out += sprintf(out, "%%%02X", (unsigned char)*text);
    *out = '\0';
}

static void decode(const char *text, FILE *out)
{
    unsigned code;
    for (; *text; text++)
        if (*text == '%' && sscanf(text + 1, "%2x", &code) == 1) {
            putc((int)code, out);
            text += 2;
        } else {
            putc(*text, out);
        }
}

/* A text is in several pairs; the part behind its last is empty: "-". */
bool board_put_up(const char *text)
{
    char request[LINE_MAX_BYTES], answer[LINE_MAX_BYTES], value[3 * PART + 1];
    const size_t length = strlen(text);
    bool done = open_board();
    for (size_t part = 0; done && part <= length / PART + 1; part++) {
        const size_t at = part * PART;
        encode(at < length ? text + at : "", PART, value);
        snprintf(request, sizeof request, "cmd=put kvsname=%s key=swagg-%d-%zu value=%s\n", space,
                 number_in_environment("PMI_RANK"), part, *value ? value : "-");
        done = ask(request, answer) && strstr(answer, "rc=0");
    }
    return done;
}

bool board_read(int rank, char text[BOARD_TEXT_MAX])
{
    char request[LINE_MAX_BYTES], answer[LINE_MAX_BYTES];
    bool complete = false;
    memset(text, 0, BOARD_TEXT_MAX);
    FILE *out = fmemopen(text, BOARD_TEXT_MAX - 1, "w");
    for (int part = 0; out && part <= PARTS; part++) {
        snprintf(request, sizeof request, "cmd=get kvsname=%s key=swagg-%d-%d\n", space, rank, part);
        const bool found = ask(request, answer) && strstr(answer, "rc=0");
        const char *value = found ? value_of(answer, "value") : NULL;
        complete = value && strcmp(value, "-") == 0;
        if (!value || complete)
            break;
        decode(value, out);
    }
    if (out)
        fclose(out);
    return complete;
}

const char *board_is_unreliable(void)
{
    return NULL;
}

const char *board_is_missing(void)
{
    return "its launcher does not speak PMI-1: start it with MPICH's mpiexec (hydra)";
}

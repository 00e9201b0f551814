#include "capture.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/time.h>

#include "exit_status.h"

/* Of pcapng: types of blocks, and the option that tells how many frames were lost. */
enum {
    STATISTICS = 5,
    FRAME = 6,
    ISB_IFDROP = 5,
    HEAD_BYTES = 8,
    STATISTICS_HEAD = 20,
    BLOCK_BYTES_MAX = 1 << 20,
    IN_BYTES = 2 * BLOCK_BYTES_MAX, /* what has come */
    OUT_BYTES = 1 << 18             /* what is written at once */
};

static volatile sig_atomic_t interrupted;

struct run {
    const struct capture *c;
    int fd;
    FILE *to;
    uint8_t *in;
    size_t at, end; /* of `in`: what has come and was not looked at yet */
    uint64_t frames, lost;
    bool stopping;
};

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* A signal ends the wait for more, which Linux does not restart where it has a timeout (signal(7)); it must
 * not end a write, of which some would be lost. A second one ends the program. */
static void catch_signals(int fd)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_RESTART};
    const struct timeval look = {.tv_sec = 1}; /* for a signal that came just before a wait */

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof(look));
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

/* The switch sends what is left, and hangs up. */
static void ask_to_stop(struct run *r)
{
    if (!r->stopping)
        shutdown(r->fd, SHUT_WR);
    r->stopping = true;
}

/* Before it waits for more, what has come is written: somebody may read along. 0 or less: there is no more,
 * or the file takes no more. */
static ssize_t receive(struct run *r, uint8_t *to, size_t room)
{
    const ssize_t n = recv(r->fd, to, room, MSG_DONTWAIT);

    if (n >= 0 || errno != EAGAIN)
        return n;
    return fflush(r->to) == 0 ? recv(r->fd, to, room, 0) : 0;
}

/* What comes next, so many bytes of it at least; NULL: the switch has hung up, or the file takes no more. */
static uint8_t *peek(struct run *r, size_t bytes)
{
    if (r->at + bytes > IN_BYTES) {
        memmove(r->in, r->in + r->at, r->end - r->at);
        r->end -= r->at;
        r->at = 0;
    }
    while (r->end - r->at < bytes) {
        const ssize_t n = receive(r, r->in + r->end, IN_BYTES - r->end);

        if (interrupted) /* whether it had to wait for more or not */
            ask_to_stop(r);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return NULL;
        r->end += (size_t)n;
    }
    return r->in + r->at;
}

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Adds the frames that an interface has lost; its options follow one another, padded to four bytes. */
static void count_lost(struct run *r, const uint8_t *block, uint32_t bytes)
{
    for (uint32_t at = STATISTICS_HEAD; at + 12 <= bytes; at += 4 + ((word(block + at) >> 16) + 3) / 4 * 4)
        if ((word(block + at) & 0xffff) == ISB_IFDROP)
            r->lost += word(block + at + 4);
}

/* Returns false when there is nothing more to come, or the file takes no more. */
static bool take_block(struct run *r)
{
    const uint8_t *block = peek(r, HEAD_BYTES);
    uint32_t type, bytes;

    if (block == NULL)
        return false;
    type = word(block);
    bytes = word(block + 4);
    if (bytes < HEAD_BYTES + 4 || bytes > BLOCK_BYTES_MAX || (block = peek(r, bytes)) == NULL)
        return false;
    r->at += bytes;
    if (type == STATISTICS)
        count_lost(r, block, bytes);
    if (type == FRAME && r->c->frames > 0 && r->frames == r->c->frames)
        return true; /* more than was asked for */
    r->frames += type == FRAME;
    if (r->c->frames > 0 && r->frames == r->c->frames)
        ask_to_stop(r);
    return fwrite(block, 1, bytes, r->to) == bytes;
}

static int copy(struct run *r, char why[INSTANCE_WHY_MAX])
{
    bool failed;

    catch_signals(r->fd);
    r->in = malloc(IN_BYTES);
    setvbuf(r->to, NULL, _IOFBF, OUT_BYTES);
    while (r->in != NULL && take_block(r))
        ;
    free(r->in);
    failed = ferror(r->to);
    if (fclose(r->to) != 0 || failed) {
        snprintf(why, INSTANCE_WHY_MAX, "cannot write %s: %s; the last of %llu frames are not there",
                 r->c->file, strerror(errno), (unsigned long long)r->frames);
        return EXIT_BAD;
    }
    fprintf(stderr, "%llu frames captured, %llu lost for want of room\n", (unsigned long long)r->frames,
            (unsigned long long)r->lost);
    if (r->stopping)
        return EXIT_GOOD;
    snprintf(why, INSTANCE_WHY_MAX,
             "the switch has ended the capture; it is stopping, or this was too slow for it");
    return EXIT_NO_SWITCH;
}

static int run_on(struct run *r, char why[INSTANCE_WHY_MAX])
{
    json_t *answer = ask_on(r->fd, &r->c->instance, r->c->request, why);
    const bool ok = json_is_true(json_object_get(answer, "ok"));
    int status = answer == NULL ? EXIT_NO_SWITCH : EXIT_BAD;

    if (answer != NULL && !ok)
        snprintf(why, INSTANCE_WHY_MAX, "%s", json_string_value(json_object_get(answer, "error")));
    json_decref(answer);
    if (!ok)
        return status;
    r->to = strcmp(r->c->file, "-") == 0 ? fdopen(STDOUT_FILENO, "w") : fopen(r->c->file, "we");
    if (r->to == NULL) {
        snprintf(why, INSTANCE_WHY_MAX, "cannot write %s: %s", r->c->file, strerror(errno));
        return EXIT_BAD;
    }
    return copy(r, why);
}

int capture_run(const struct capture *c, char why[INSTANCE_WHY_MAX])
{
    struct run r = {.c = c, .fd = instance_connect(&c->instance, why)};
    int status;

    if (r.fd < 0)
        return EXIT_NO_SWITCH;
    status = run_on(&r, why);
    close(r.fd);
    return status;
}

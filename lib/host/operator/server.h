/* Operators' tools that are connected to the daemon: takes their lines, and sends the answers. A connection
 * may make any number of requests, one after another; the next one is read when the answer to the last has
 * been taken.
 *
 * Nobody can hold the server up: nothing waits for a client, a line is at most REQUEST_BYTES_MAX, and who
 * does not take an answer, or asks for nothing for long, is cut off. If all places are taken, a newcomer gets
 * one of the user who has most, of his process that has most: that which has been silent for longest.
 *
 * No DPDK, no clock: now is in ns, monotonic. Threads: a server is one thread's, but for server_wake.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SERVER_CLIENTS_MAX = 16, SERVER_FEED_BYTES = 1 << 17 };

#define SERVER_SILENT_NS UINT64_C(60000000000) /* without a request, or without taking of an answer */

/* What follows an answer: bytes, until the client has shut down its side and all is read, or is gone. */
struct server_feed {
    /* Writes what there is now, at most room (SERVER_FEED_BYTES) bytes; returns how many. 0 after stop:
     * that was all. */
    size_t (*read)(void *context, uint8_t *to, size_t room);
    void (*stop)(void *context);  /* the client wants no more than there is */
    void (*close)(void *context); /* with or without stop before it */
    void *context;
};

/* Answers a line (without its end; may contain any bytes) of a process of this user. The answer is freed by
 * the server; NULL: none can be made, and the client is cut off. *feed is all zero; if it is filled in, it
 * follows the answer, and the client can ask nothing more. */
typedef char *server_answer(void *context, uid_t user, const char *line, size_t bytes,
                            struct server_feed *feed);

struct server;

/* listener: a listening stream socket that does not block; the server's from here on, also if this fails.
 * 0, or -errno. */
int server_open(struct server **s, int listener, server_answer *answer, void *context);
void server_close(struct server *s);

/* Waits until a client wants something, somebody calls server_wake, or so many milliseconds have passed (-1:
 * as long as it takes); then serves all that can be served without waiting. now_of: the clock. */
void server_round(struct server *s, int wait_ms, uint64_t (*now_of)(void));

/* Ends the wait. Any thread. */
void server_wake(const struct server *s);

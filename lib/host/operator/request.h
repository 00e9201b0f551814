/* What an operator's tool asks the daemon: one JSON object a line, {"version": 1, "command": "job", "name":
 * "train"}. A line is untrusted: it may be anything.
 *
 * No DPDK. Threads: a request is one thread's.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    REQUEST_VERSION = 1,       /* of requests and answers */
    REQUEST_BYTES_MAX = 32768, /* of a line, without its end: a job of 256 workers is one */
    REQUEST_TEXT_MAX = 1024,   /* of a message about what is wrong */
};

struct request {
    json_t *body;        /* an object */
    const char *command; /* lies in body */
};

/* 0; then request_free follows. -EINVAL: the line is no request; why says what is wrong. */
int request_parse(struct request *r, const char *line, size_t bytes, char why[REQUEST_TEXT_MAX]);
void request_free(struct request *r);

/* The text of a key, or NULL if the request has none of this name. */
const char *request_text(const struct request *r, const char *key);

/* Whether a number that came in a request is whole and from least to most, which is 2^53 at most: then it is
 * what it was when it is made an integer. */
bool request_is_whole(double number, double least, double most);

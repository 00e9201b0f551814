/* A stranger: messages without end to swagg-ps about a job that he is not in, from an address of his own. He
 * shares its name, and retries as any program would; or he makes things up, as a forger. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "protocol/terms.h"

struct stranger {
    const char *job;        /* its name */
    struct agg_terms terms; /* what he wishes for */
    unsigned size;          /* of the job */
    atomic_uint answers;    /* that he has had */
    atomic_bool over;
    int fd;
    uint64_t random, boot_id; /* boot_id: as the server said last */
    pthread_t thread;
};

/* Sends to this server from now on; `terms` and `size` are those of the job's own ranks. */
void stranger_start(struct stranger *s, const char *ip, const char *job, unsigned size,
                    const struct agg_terms *terms, uint64_t random);

/* Returns how many answers he has had. */
unsigned stranger_end(struct stranger *s);

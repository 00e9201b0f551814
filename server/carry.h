/* Carries out what a protocol asks for, on a UDP socket. */
#pragma once

#include "jobs.h"

/* What is carried out for whom, and from where. */
struct carry_out {
    int fd;                            /* bound to the port that members expect it from */
    const struct agg_job *job;         /* of jobs.h */
    const struct agg_packet *answered; /* NULL: what time has brought about */
};

/* Packets. */
struct carried {
    unsigned sent, lost; /* lost: the kernel did not take them */
};

struct carried carry(const struct carry_out *out, const struct agg_verdict *v);

/* What the NICs of members carry in the place of UDP (wire/roce.h): the way in is made a datagram before
 * anybody looks at it, and the way out is made last, so that nothing in between knows of NICs. */
#pragma once

#include <rte_mbuf.h>

#include "aggregate/jobs.h"

/* A checked frame with what a NIC carries becomes the datagram that it stands for, from the UDP port that its
 * queue pair names, without a UDP checksum; the port that it is to is the caller's to say. False: it carries
 * nothing, or is damaged, or others refer to it, too; it is as it was. */
bool carried_uncover(struct rte_mbuf *m);

/* Makes a frame to the member's NIC of an empty buffer, with a copy of the payload. */
void carried_fill(struct rte_mbuf *m, const struct job_member *member, const void *payload, size_t bytes);

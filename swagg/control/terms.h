/* What the configuration allows a job: limits.workers, mtu, pool.slots_per_job.
 *
 * Pure, any thread.
 */
#ifndef SWAGG_CONTROL_TERMS_H
#define SWAGG_CONTROL_TERMS_H

#include "config/config.h"
#include "control/registry.h"

/* Bytes of the IP packets that the job's full chunks make. */
unsigned terms_packet_bytes(const struct ctl_job *job);

/* Bytes of UDP payload in the longest packet that the ports carry. */
uint16_t terms_payload_bytes(const struct config *cfg);

/* Checks a job whose ranks are all there, and lowers *slots, a power of two, to what a job may have. 0, or
 * -EINVAL: the job is not within the limits; text says why and names the key. A resumed job has all its slots
 * or none, for its ranks go on with the number that they had. */
int terms_check(const struct config *cfg, const struct ctl_job *job, uint16_t *slots,
                char text[CTL_TEXT_MAX]);

#endif

/* What the configuration allows a job: limits.workers, mtu, pool.slots_per_job.
 *
 * Pure, any thread.
 */
#ifndef SWAGG_CONTROL_TERMS_H
#define SWAGG_CONTROL_TERMS_H

#include "config/config.h"
#include "switchml/terms.h"

/* Bytes of the IP packets that the job's full chunks make. */
unsigned terms_packet_bytes(const struct sml_terms *t);

/* Bytes of UDP payload in the longest packet that the ports carry. */
uint16_t terms_payload_bytes(const struct config *cfg);

/* Checks a job whose ranks are all there, and lowers its slots, a power of two, to what a job may have. 0, or
 * -EINVAL: the job is not within the limits; text says why and names the key. A resumed job has all its slots
 * or none, for its ranks go on with the number that they had. */
int terms_check(const struct config *cfg, uint16_t ranks, struct sml_terms *t, char text[AGG_TEXT_MAX]);

#endif

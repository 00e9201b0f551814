/* A station's MAC address in an operator's request. No DPDK. */
#ifndef SWAGG_OPERATOR_MAC_H
#define SWAGG_OPERATOR_MAC_H

#include <stdbool.h>
#include <stdint.h>

#include "operator/reply.h"

enum { OPERATOR_MAC_BYTES = 6 };

/* Reads the request's "mac". False: there is none that can be read, and the reply says so. */
bool operator_mac_read(const struct request *request, uint8_t mac[OPERATOR_MAC_BYTES], struct reply *reply);

#endif

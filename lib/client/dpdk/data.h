/* A job's data packets over a port: the transport that libswagg-dpdk.so has. */
#pragma once

#include "dpdk/port.h"
#include "transport.h"

/* *out is the caller's, to be closed by its ops->close before the port is let go. Returns 0 or -errno. */
int data_open(struct transport **out, struct port *port, const struct transport_config *config);

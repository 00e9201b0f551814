/* SwitchML's worker's half (transfer/worker.h). */
#pragma once

#include "transfer/worker.h"

extern const struct agg_worker sml_worker;

/* Bytes of elements that fit into an IP packet of this many bytes. */
uint16_t sml_worker_chunk_bytes(unsigned mtu, enum xfer_checksum checksum);

/* Jobs that go on to a switch above: the relay's proxy (lib/core/relay/proxy.h) beside the registry, which
 * tells messages apart. Part of registry_host.h: all is under its lock, and its thread's.
 */
#pragma once

#include "registry/registry_host.h"

/* Makes the proxy of a host whose configuration has at least one uplink. 0, or -ENOMEM after logging. */
int relays_open(struct registry_host *h);

/* Handles a message of a worker's, or of a switch below, that is about a job which goes on to a switch above.
 * False: it is not, or there is something wrong with it. */
bool relays_receive(struct registry_host *h, const struct ctl_endpoint *from, const uint8_t *payload,
                    size_t bytes);

/* The configuration and the keyring are others now. */
void relays_follow(struct registry_host *h, const int tenant[]);

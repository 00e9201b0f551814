/* What a server's registry of jobs is made of, and what it does for it. */
#ifndef SWAGG_SERVER_PS_REGISTRY_H
#define SWAGG_SERVER_PS_REGISTRY_H

#include "ps.h"

/* What cfg says, with these keys. The tenants are those of ps. */
struct ctl_registry_config ps_registry_config(struct ps *ps, const struct config *cfg,
                                              const struct keyring *keys);

#endif

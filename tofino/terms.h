/* What a Tofino can be asked for: SwitchML's int32 with exponents, in published packets. */
#pragma once

#include "protocol/protocol.h"

enum { TOFINO_MAX_WORKERS = 32 };

/* As SwitchML, with terms that a Tofino refuses, and others that it grants. It makes no pools. */
extern const struct agg_protocol tofino_protocol;

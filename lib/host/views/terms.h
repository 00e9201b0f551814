/* A job's terms in a view: its protocol, and what that lists of them. */
#ifndef SWAGG_SHOW_TERMS_H
#define SWAGG_SHOW_TERMS_H

#include "protocol/protocol.h"
#include "views/writer.h"

void write_terms(struct writer *w, const struct agg_protocol *protocol, const struct agg_terms *terms);

#endif

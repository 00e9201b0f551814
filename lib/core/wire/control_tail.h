/* What JOIN and READY have behind their usual bodies, in trees of switches only (docs/protocol.md, "Trees of
 * switches"). For control.c, which alone includes it. */
#ifndef SWAGG_CORE_WIRE_CONTROL_TAIL_H
#define SWAGG_CORE_WIRE_CONTROL_TAIL_H

#include "wire/control.h"

/* How long the message's tail is; 0: it has none. */
size_t ctl_tail_bytes(const struct ctl_message *m);
/* out: so many bytes, zero. */
void ctl_tail_build(uint8_t *out, const struct ctl_message *m);
/* Of a JOIN or READY that has so many bytes behind its usual body. Too few for a tail are none. */
void ctl_tail_parse(struct ctl_message *m, const uint8_t *tail, size_t bytes);

#endif

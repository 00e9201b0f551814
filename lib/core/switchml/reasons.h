/* All that can become of a SwitchML packet: what its slot makes of it (enum sml_verdict_kind), and why it
 * does not get that far. Names and meanings are in sml_protocol.reason. */
#ifndef SWAGG_CORE_SWITCHML_REASONS_H
#define SWAGG_CORE_SWITCHML_REASONS_H

#include "protocol/protocol.h"
#include "switchml/pool.h"

enum sml_refusal {
    SML_REFUSED_TOO_SHORT = SML_VERDICTS, /* malformed: enum sml_parse_error */
    SML_REFUSED_BAD_KIND,
    SML_REFUSED_BAD_SIZE_CODE,
    SML_REFUSED_BAD_SLOT,
    SML_REFUSED_BAD_LENGTH,
    SML_REFUSED_UNKNOWN_JOB,
    SML_REFUSED_FOREIGN_SENDER,
    SML_REFUSED_FOREIGN_MAC,
    SML_REASONS
};

extern const struct agg_reason sml_reasons[SML_REASONS];

#endif

#include "protocols.h"

#include "switchml/protocol.h"

const struct agg_protocol *agg_protocol_find(unsigned id)
{
    static const struct agg_protocol *const protocols[] = {[AGG_PROTOCOL_SWITCHML] = &sml_protocol};

    return id < sizeof protocols / sizeof *protocols ? protocols[id] : NULL;
}

#include "protocols.h"

#include "atp/protocol.h"
#include "clone/protocol.h"
#include "hostagg/protocol.h"
#include "roce/protocol.h"
#include "switchml/protocol.h"

const struct agg_protocol *const *agg_protocols(unsigned *n)
{
    static const struct agg_protocol *const protocols[] = {
        &sml_protocol, &hag_protocol, &cln_protocol, &atp_protocol, &atp_switch_protocol, &rce_protocol};

    *n = sizeof protocols / sizeof *protocols;
    return protocols;
}

const struct agg_protocol *agg_protocol_find(unsigned id)
{
    unsigned n;
    const struct agg_protocol *const *protocols = agg_protocols(&n);

    for (unsigned i = 0; i < n; i++)
        if (protocols[i]->id == id)
            return protocols[i];
    return NULL;
}

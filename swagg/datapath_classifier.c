/* What the switch takes for its own: its address, and who speaks at which of its UDP ports. */
#include "datapath_make.h"

#include <assert.h>

#include "base/log.h"
#include "protocols.h"
#include "wire/control.h"

static_assert((int)COUNTED_PROTOCOLS < (int)CLASSIFIER_RULES_MAX, "there is room for all, and for control");

/* Path probes come to the ports of the protocol whose packets they go ahead of, by the same queues, and are
 * told from these by the engine (aggregate/strangers.h). */
static void add_protocols(struct classifier_table *t)
{
    unsigned protocols;
    const struct agg_protocol *const *protocol = agg_protocols(&protocols);

    for (unsigned i = 0; i < protocols; i++) {
        if (protocol[i]->udp_ports.first == 0)
            continue;
        classifier_add(t, &(struct classifier_rule){.ip = t->ip,
                                                    .first = protocol[i]->udp_ports.first,
                                                    .last = protocol[i]->udp_ports.last,
                                                    .taker = CLASSIFIER_PROTOCOL,
                                                    .protocol = protocol[i]->id});
    }
}

int datapath_make_classifier(struct datapath *dp)
{
    struct classifier_table t = {.mac = dp->mac, .ip = dp->ip};
    int rc;

    add_protocols(&t); /* first: most packets are theirs */
    classifier_add(&t, &(struct classifier_rule){
                           .ip = t.ip, .first = CTL_PORT, .last = CTL_PORT, .taker = CLASSIFIER_CONTROL});
    dp->classifier.rcu = dp->rcu;
    rc = classifier_publish(&dp->classifier, &t);
    if (rc < 0)
        log_error("no memory for the classifier's rules");
    return rc;
}

/* What libswagg-verbs.so offers: the kernel's sockets for control, and a NIC's queue pairs for data. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/data.h"
#include "version.h"

struct verbs_network {
    struct network base;
    struct network_ops ops; /* the kernel's, but for transport and close */
    const struct network_ops *kernel;
    struct client_port wish;
};

static int verbs_transport(struct network *n, struct transport **out, const struct transport_config *config,
                           char why[NETWORK_WORDS])
{
    const struct verbs_network *v = (struct verbs_network *)n;
    struct transport *udp;
    const int rc = v->kernel->transport(n, &udp, config, why);
    return rc < 0 ? rc : data_open(out, udp, config, &v->wish, why);
}

static void verbs_close(struct network *n)
{
    free(n);
}

static int driver_open(struct network **out, const struct client_port *wish, const struct network_ops *kernel,
                       char words[NETWORK_WORDS])
{
    struct verbs_network *v = calloc(1, sizeof *v);
    if (!v) {
        snprintf(words, NETWORK_WORDS, "no memory");
        return -ENOMEM;
    }
    v->kernel = kernel;
    v->ops = *kernel;
    v->ops.transport = verbs_transport;
    v->ops.close = verbs_close;
    v->base.ops = &v->ops;
    v->wish = *wish;
    snprintf(words, NETWORK_WORDS, "data packets go by RoCE%s%s", wish->device[0] ? ", device " : "",
             wish->device);
    *out = &v->base;
    return 0;
}

/* Found by NETWORK_DRIVER. */
extern const struct network_driver swagg_network_driver;
const struct network_driver swagg_network_driver = {.version = build_version, .open = driver_open};

#include "config/config.h"

#include <errno.h>
#include <stdlib.h>

#include "config/config_check.h"
#include "config/config_read.h"
#include "config/config_schema.h"
#include "config/config_text.h"

static int load(struct config *c, struct config_text *t)
{
    struct config_raw *raw = calloc(1, sizeof(*raw));

    if (raw == NULL)
        return -ENOMEM;
    config_read(t, &config_schema, raw);
    config_check(t, raw);
    *c = raw->config;
    free(raw);
    return t->faults > 0 ? -EINVAL : 0;
}

int config_load(struct config *c, const char *path, config_report report, void *context)
{
    struct config_text text;
    int ret = config_text_read(&text, path, report, context);

    if (ret < 0)
        return ret;
    ret = load(c, &text);
    config_text_free(&text);
    return ret;
}

void config_queues(const struct config *c, struct placement_ports *ports)
{
    *ports = (struct placement_ports){.ports = c->ports};
    for (unsigned p = 0; p < c->ports; p++) {
        ports->rx_queues[p] = c->port[p].rx_queues;
        ports->tx_queues[p] = c->port[p].tx_queues;
    }
}

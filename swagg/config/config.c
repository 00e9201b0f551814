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

static int load_and_free(struct config *c, struct config_text *t)
{
    const int ret = load(c, t);

    config_text_free(t);
    return ret;
}

int config_load(struct config *c, const char *path, config_report report, void *context)
{
    struct config_text text;
    const int ret = config_text_read(&text, path, report, context);

    return ret < 0 ? ret : load_and_free(c, &text);
}

int config_load_text(struct config *c, const char *name, const char *text, config_report report,
                     void *context)
{
    struct config_text taken;
    const int ret = config_text_take(&taken, name, text, report, context);

    return ret < 0 ? ret : load_and_free(c, &taken);
}

void config_queues(const struct config *c, struct placement_ports *ports)
{
    *ports = (struct placement_ports){.ports = c->ports};
    for (unsigned p = 0; p < c->ports; p++) {
        ports->rx_queues[p] = c->port[p].rx_queues;
        ports->tx_queues[p] = c->port[p].tx_queues;
    }
}

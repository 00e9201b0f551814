#include "config/config.h"

#include <errno.h>
#include <stdlib.h>

#include "config/config_check.h"
#include "config/config_read.h"
#include "config/config_schema.h"
#include "config/config_text.h"

/* What a file is about: its keys, and what they must keep to. */
struct config_kind {
    const cyaml_schema_value_t *schema;
    void (*check)(struct config_text *t, struct config_raw *raw);
    const char *own, *others; /* a key that every such file has, and one of the other kind's */
    const char *instead;      /* what that other file is for */
};

static const struct config_kind of_switch = {
    .schema = &config_schema,
    .check = config_check,
    .own = "ports",
    .others = "server",
    .instead = "this is the file of a server: swagg-ps takes it. A switch has `ports`",
};
static const struct config_kind of_server = {
    .schema = &config_server_schema,
    .check = config_check_server,
    .own = "server",
    .others = "ports",
    .instead = "this is the file of a switch: swagg takes it, or swagg-tofino. A server has `server`",
};

static int load(struct config *c, struct config_text *t, const struct config_kind *kind)
{
    if (config_text_has(t, kind->others) && !config_text_has(t, kind->own)) {
        config_fault(t, kind->others, "%s", kind->instead);
        return -EINVAL;
    }
    struct config_raw *raw = calloc(1, sizeof(*raw));
    if (raw == NULL)
        return -ENOMEM;
    config_read(t, kind->schema, raw);
    kind->check(t, raw);
    *c = raw->config;
    free(raw);
    return t->faults > 0 ? -EINVAL : 0;
}

static int load_and_free(struct config *c, struct config_text *t, const struct config_kind *kind)
{
    const int ret = load(c, t, kind);

    config_text_free(t);
    return ret;
}

static int load_file(struct config *c, const char *path, const struct config_kind *kind, config_report report,
                     void *context)
{
    struct config_text text;
    const int ret = config_text_read(&text, path, report, context);

    return ret < 0 ? ret : load_and_free(c, &text, kind);
}

int config_load(struct config *c, const char *path, config_report report, void *context)
{
    return load_file(c, path, &of_switch, report, context);
}

int config_load_server(struct config *c, const char *path, config_report report, void *context)
{
    return load_file(c, path, &of_server, report, context);
}

int config_load_text(struct config *c, const char *name, const char *text, config_report report,
                     void *context)
{
    struct config_text taken;
    const int ret = config_text_take(&taken, name, text, report, context);

    return ret < 0 ? ret : load_and_free(c, &taken, &of_switch);
}

void config_queues(const struct config *c, struct placement_ports *ports)
{
    *ports = (struct placement_ports){.ports = c->ports};
    for (unsigned p = 0; p < c->ports; p++) {
        ports->rx_queues[p] = c->port[p].rx_queues;
        ports->tx_queues[p] = c->port[p].tx_queues;
    }
}

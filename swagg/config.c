#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "config_check.h"
#include "config_lint.h"
#include "config_schema.h"
#include "config_text.h"

/* libcyaml's own complaints: the text was linted, so there are none but for want of memory. */
static void report_cyaml(cyaml_log_t level, void *context, const char *format, va_list args)
{
    struct config_text *t = context;
    char message[256];

    (void)level;
    vsnprintf(message, sizeof(message), format, args);
    config_fault_at(t, 0, "", "libcyaml: %s", message);
}

static int load(struct config *c, struct config_text *t)
{
    const cyaml_config_t cyaml = {
        .log_fn = report_cyaml, .log_ctx = t, .log_level = CYAML_LOG_ERROR, .mem_fn = cyaml_mem};
    struct config_raw *raw = NULL;
    cyaml_err_t err;

    config_lint(t, &config_schema);
    if (t->faults > 0)
        return -EINVAL;
    err = cyaml_load_data((const uint8_t *)t->bytes, t->length, &cyaml, &config_schema, (cyaml_data_t **)&raw,
                          NULL);
    if (err != CYAML_OK)
        return err == CYAML_ERR_OOM ? -ENOMEM : -EINVAL;
    config_check(t, raw);
    *c = raw->config;
    cyaml_free(&cyaml, &config_schema, raw, 0);
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

#include "config/config_peer.h"

#include <stdio.h>
#include <string.h>

#include "config/config_value.h"
#include "kernels/kernels.h"

static const char *key_path(char path[CONFIG_PATH_MAX], const char *of, const char *key)
{
    snprintf(path, CONFIG_PATH_MAX, "%s.%s", of, key);
    return path;
}

void config_check_peer(struct config_text *t, const struct config *c, const char *path, unsigned ports,
                       struct config_raw_peer *raw, struct config_peer *peer)
{
    char key[CONFIG_PATH_MAX];
    uint8_t prefix;

    *peer = raw->peer;
    if (!config_text_has(t, key_path(key, path, "port")))
        peer->port = CONFIG_FIRST_PORT;
    if (peer->port < 1 || peer->port > UINT16_MAX + 1 - ports)
        config_fault(t, key, "%u is out of range (1..%u)", peer->port, UINT16_MAX + 1 - ports);
    if (config_text_has(t, key_path(key, path, "mac")))
        config_parse_mac(t, key, raw->mac, peer->mac);
    if (c->has_mac && memcmp(peer->mac, c->mac, sizeof(peer->mac)) == 0)
        config_fault(t, key, "is switch.mac, the switch's own");
    if (config_text_has(t, key_path(key, path, "ip")))
        config_parse_ip(t, key, raw->ip, &peer->ip, &prefix);
    if (c->has_ip && peer->ip == c->ip && !config_text_is_faulty(t, key))
        config_fault(t, key, "is switch.ip, the switch's own address");
}

static char *name_of(const struct config_names *names, unsigned i)
{
    return names->first + i * names->stride;
}

void config_check_name(struct config_text *t, const struct config_names *names, unsigned i)
{
    char path[CONFIG_PATH_MAX], *name = name_of(names, i);

    snprintf(path, sizeof(path), "%s[%u].name", names->list, i);
    if (!config_text_has(t, path))
        snprintf(name, CONFIG_JOB_MAX, "%s[%u]", names->list, i);
    config_check_word(t, path, name);
    for (unsigned other = 0; other < i; other++)
        if (strcmp(name_of(names, other), name) == 0)
            config_fault(t, path, "\"%s\" is the name of %s[%u] already", name, names->list, other);
}

uint8_t config_check_code(struct config_text *t, const char *prefix, const char *type_word,
                          const char *op_word)
{
    char path[CONFIG_PATH_MAX];
    unsigned type = AGG_F32, op = AGG_SUM;

    snprintf(path, sizeof(path), "%stype", prefix);
    if (config_text_has(t, path))
        type = agg_type_named(type_word);
    if (type == 0)
        config_fault(t, path, "\"%s\" is no type of elements, as float32, bfloat16 and int64 are", type_word);
    snprintf(path, sizeof(path), "%soperation", prefix);
    if (config_text_has(t, path))
        op = agg_op_named(op_word);
    if (op == 0)
        config_fault(t, path, "\"%s\" is no operation, as sum, max and avg are", op_word);
    else if (type != 0 && agg_element_size(type, op) == 0)
        config_fault(t, path, "there is no %s of %s", agg_op_name(op), agg_type_name(type));
    return type == 0 || op == 0 || agg_element_size(type, op) == 0 ? 0 : agg_code(type, op);
}

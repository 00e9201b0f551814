/* Values of a configuration that occur in several places: checked, completed, read from text. */
#ifndef SWAGG_CONFIG_CONFIG_VALUE_H
#define SWAGG_CONFIG_CONFIG_VALUE_H

#include "config/config_text.h"

/* A setting that is a plain number, a uint32_t at offset: the least, the greatest, and the default. */
struct config_number {
    const char *key;
    size_t offset;
    uint32_t min, max, fallback;
};

/* For all numbers of the struct at base, whose keys are prefix (as "replay[0].") and key: sets those that are
 * absent in t; reports those that are out of range. */
void config_default_numbers(struct config_text *t, const char *prefix, void *base,
                            const struct config_number numbers[], size_t count);
void config_check_numbers(struct config_text *t, const char *prefix, const void *base,
                          const struct config_number numbers[], size_t count);

void config_check_power_of_two(struct config_text *t, const char *path, uint32_t value);

/* A station's MAC address; reports if it is none. */
void config_parse_mac(struct config_text *t, const char *path, const char *text, uint8_t mac[6]);

/* A host's IPv4 address (network order), and prefix, 32 where none is given; reports if it is none. text is
 * cut at the slash. */
void config_parse_ip(struct config_text *t, const char *path, char *text, uint32_t *ip, uint8_t *prefix);

/* A network (both in network order), "10.0.0.0/24", or the single address "10.0.0.1"; reports if it is none.
 * text is cut at the slash. */
void config_parse_network(struct config_text *t, const char *path, char *text, uint32_t *network,
                          uint32_t *mask);

#endif

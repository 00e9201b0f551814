/* Kinds of values that occur in several places of a configuration: reads them from text, checks them, fills
 * in defaults. */
#ifndef SWAGG_CONFIG_CONFIG_VALUE_H
#define SWAGG_CONFIG_CONFIG_VALUE_H

#include "config/config_text.h"

/* A setting that is a plain number, a uint32_t at offset: its least, greatest and default value. */
struct config_number {
    const char *key;
    size_t offset;
    uint32_t min, max, fallback;
};

/* Both work on all these numbers of the struct at base: the first sets those that are absent in t to their
 * defaults, the second reports those that are out of range. A number's path is prefix (such as "replay[0].")
 * and its key. */
void config_default_numbers(struct config_text *t, const char *prefix, void *base,
                            const struct config_number numbers[], size_t count);
void config_check_numbers(struct config_text *t, const char *prefix, const void *base,
                          const struct config_number numbers[], size_t count);

void config_check_power_of_two(struct config_text *t, const char *path, uint32_t value);

/* Reports a name with spaces or unprintable characters in it. */
void config_check_word(struct config_text *t, const char *path, const char *word);

/* Reads a station's MAC address; reports text that is none. */
void config_parse_mac(struct config_text *t, const char *path, const char *text, uint8_t mac[6]);

/* Reads a host's IPv4 address (network order) and its prefix, 32 by default; reports text that is none. text
 * is cut at the slash. */
void config_parse_ip(struct config_text *t, const char *path, char *text, uint32_t *ip, uint8_t *prefix);

/* Reads a network, "10.0.0.0/24", or a single address, "10.0.0.1" (both in network order); reports text that
 * is neither. text is cut at the slash. */
void config_parse_network(struct config_text *t, const char *path, char *text, uint32_t *network,
                          uint32_t *mask);

/* Reads n patterns for names of jobs; reports those that are too long. None, where the list is absent in t:
 * every name. */
void config_parse_patterns(struct config_text *t, const char *path, char *const text[], unsigned n,
                           struct config_patterns *patterns);

/* Whether a name is one of those. */
bool config_fits(const struct config_patterns *patterns, const char *name);

#endif

/* Addresses as settings: for parse and show of struct setting. */
#pragma once

#include "settings/settings.h"

/* A host's IPv4 address (network order) and the prefix of its network, 32 by default; as two fields of a
 * struct they stand one behind the other. */
struct setting_address {
    uint32_t ip;
    uint8_t prefix;
};

/* A station's MAC address, of six bytes. */
void setting_parse_mac(struct settings *s, const char *path, const char *text, void *mac);
void setting_show_mac(char text[SETTING_SHOWN_MAX], const void *configuration, const void *mac);

void setting_parse_address(struct settings *s, const char *path, const char *text, void *address);
void setting_show_address(char text[SETTING_SHOWN_MAX], const void *configuration, const void *address);

/* Why a host cannot have this address (network order) in a network with this prefix; NULL: it can. */
const char *setting_unusable_ip(uint32_t address, uint8_t prefix);

/* Its address alone, a uint32_t in network order; a prefix says nothing. */
void setting_parse_ip(struct settings *s, const char *path, const char *text, void *ip);
void setting_show_ip(char text[SETTING_SHOWN_MAX], const void *configuration, const void *ip);

/* Settings of these types, but for their places. */
#define SETTING_MAC                                                                                          \
    .type = SETTING_PARSED, .most = 63, .parse = setting_parse_mac, .show = setting_show_mac,                \
    .kind = "MAC address"
#define SETTING_ADDRESS                                                                                      \
    .type = SETTING_PARSED, .most = 63, .parse = setting_parse_address, .show = setting_show_address,        \
    .kind = "IPv4 address, optionally /prefix"
#define SETTING_IP                                                                                           \
    .type = SETTING_PARSED, .most = 63, .parse = setting_parse_ip, .show = setting_show_ip,                  \
    .kind = "IPv4 address"

/* Cuts ADDRESS/PREFIX at the slash: the address (network order), and its prefix, 32 if there is none. Returns
 * 0; -ERANGE: the prefix is none of least..32; -EINVAL: the rest is no IPv4 address. alone: the address as
 * text, of at most 63 characters. */
int setting_split_address(const char *text, unsigned least, char alone[64], struct setting_address *address);

#include "net/mac.h"

#include <stdio.h>

const char *net_mac_text(char text[NET_MAC_TEXT_MAX], const struct net_mac *a)
{
    const uint8_t *b = a->addr_bytes;

    snprintf(text, NET_MAC_TEXT_MAX, "%02X:%02X:%02X:%02X:%02X:%02X", b[0], b[1], b[2], b[3], b[4], b[5]);
    return text;
}

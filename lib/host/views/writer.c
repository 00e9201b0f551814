#include "views/writer.h"

#include <stdarg.h>
#include <stdio.h>

void writer_format(struct writer *w, const char *key, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    writer_text(w, key, text);
}

void writer_mac(struct writer *w, const char *key, const struct net_mac *mac)
{
    char text[NET_MAC_TEXT_MAX];

    net_mac_text(text, mac);
    writer_text(w, key, text);
}

void writer_ip(struct writer *w, const char *key, uint32_t ip)
{
    const uint8_t *b = (const uint8_t *)&ip;

    writer_format(w, key, "%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
}

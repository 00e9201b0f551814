#include "operator/mac.h"

#include <stdio.h>

bool operator_mac_read(const struct request *request, uint8_t mac[OPERATOR_MAC_BYTES], struct reply *reply)
{
    const char *text = request_text(request, "mac");
    int end = 0;

    if (text != NULL &&
        sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
               &mac[5], &end) == OPERATOR_MAC_BYTES &&
        text[end] == '\0')
        return true;
    reply_fail(reply, REPLY_BAD_REQUEST, "%s is no MAC address, such as 02:00:00:00:00:01",
               text == NULL ? "nothing" : text);
    return false;
}

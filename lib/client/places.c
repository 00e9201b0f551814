#include "places.h"

#include <arpa/inet.h>
#include <string.h>

#include "errors.h"
#include "random/splitmix.h"

static int read_place(struct client_places *out, const char *what, const char *option, const char *text,
                      size_t length)
{
    struct client_place *place = &out->at[out->n];
    *place = (struct client_place){.what = what};
    if (length < sizeof place->text)
        memcpy(place->text, text, length);
    if (length >= sizeof place->text || inet_pton(AF_INET, place->text, &place->ip) != 1)
        return client_fail(SWAGG_ERR_ARGUMENT,
                           "options.%s has '%.*s': it must be an IPv4 address like 10.0.0.254", option,
                           (int)(length < 64 ? length : 64), text);
    inet_ntop(AF_INET, &place->ip, place->text, sizeof place->text);
    for (unsigned i = 0; i < out->n; i++)
        if (out->at[i].ip.s_addr == place->ip.s_addr)
            return client_fail(SWAGG_ERR_ARGUMENT, "options.%s names %s twice: a %s takes part once", option,
                               place->text, what);
    out->n++;
    return SWAGG_OK;
}

int client_places_read(struct client_places *out, const char *what, const char *option, unsigned most,
                       const char *list)
{
    *out = (struct client_places){0};
    for (const char *text = list;;) {
        const size_t length = strcspn(text, ",");
        if (out->n == most)
            return client_fail(SWAGG_ERR_ARGUMENT, "options.%s is '%.64s': it can have %u address%s at most",
                               option, list, most, most == 1 ? "" : "es");
        int rc = read_place(out, what, option, text, length);
        if (rc < 0 || text[length] == '\0')
            return rc;
        text += length + 1;
    }
}

uint32_t client_places_hash(const struct client_places *places)
{
    uint64_t hash = 0;
    if (places->n < 2)
        return 0;
    for (unsigned i = 0; i < places->n; i++)
        hash = splitmix_hash(hash ^ places->at[i].ip.s_addr);
    return (uint32_t)hash | 1;
}

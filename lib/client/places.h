/* Who sums a job's tensors: a switch, or the parameter servers that share an ATP job. */
#ifndef SWAGG_CLIENT_PLACES_H
#define SWAGG_CLIENT_PLACES_H

#include <netinet/in.h>
#include <stdint.h>

#include "swagg.h"

struct client_place {
    const char *what; /* "switch", "parameter server": for messages */
    struct in_addr ip;
    char text[INET_ADDRSTRLEN]; /* the same */
};

struct client_places {
    unsigned n; /* 0: not given, and not needed */
    struct client_place at[SWAGG_SERVERS_MAX];
};

/* Reads a list of at most `most` addresses, with commas between them; option: its name in struct
 * swagg_options. 0, or SWAGG_ERR_ARGUMENT with the text set. */
int client_places_read(struct client_places *out, const char *what, const char *option, unsigned most,
                       const char *list);

/* A hash of the addresses in their order, by which ranks find out that they have other lists; 0: there is
 * only one. */
uint32_t client_places_hash(const struct client_places *places);

#endif

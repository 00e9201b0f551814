/* Members of jobs of the configuration, which do not join: their addresses and UDP ports; and the names
 * and kinds of elements of such jobs. */
#ifndef SWAGG_CONFIG_CONFIG_PEER_H
#define SWAGG_CONFIG_CONFIG_PEER_H

#include "config/config_schema.h"
#include "config/config_text.h"

enum { CONFIG_FIRST_PORT = 4000 }; /* of a worker that says nothing else, as published clients have it */

/* Reads the station at path, which has so many UDP ports from its first on, and reports what is wrong with
 * it. c: its switch.mac and switch.ip are set. */
void config_check_peer(struct config_text *t, const struct config *c, const char *path, unsigned ports,
                       struct config_raw_peer *raw, struct config_peer *peer);

/* Completes the name of item i of a list ("static[1]" unless given), and reports one that is no word or that
 * an earlier item has. names: of this list's items, stride bytes apart. */
struct config_names {
    const char *list;
    char *first; /* the name of item 0, CONFIG_JOB_MAX characters */
    size_t stride;
};
void config_check_name(struct config_text *t, const struct config_names *names, unsigned i);

/* Type and operation of a job's elements in one byte (kernels.h), from the words at type and operation, keys
 * of what is at prefix ("hostagg[0]."); float32 and sum where they are absent. 0: they do not go together,
 * which was reported. */
uint8_t config_check_code(struct config_text *t, const char *prefix, const char *type, const char *operation);

#endif

/* Asks the user which of several he means. */
#ifndef SWAGGCTL_CHOOSE_H
#define SWAGGCTL_CHOOSE_H

#include <jansson.h>

/* choices: an array of texts. The index of the one that was chosen; -1: none, or there is no terminal. */
int choose(const json_t *choices, const char *question);

#endif

/* libswagg's types in MPI's words, for its messages: names that C programs use, but for pairs of Fortran's.
 */
#ifndef SHIM_WORDS_H
#define SHIM_WORDS_H

#include "swagg.h"

const char *words_type(enum swagg_type type, enum swagg_op op);

#endif

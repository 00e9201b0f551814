/* Words for terms; for terms*.c. Constant strings. */
#ifndef SWAGG_CORE_SWITCHML_TERMS_WORDS_H
#define SWAGG_CORE_SWITCHML_TERMS_WORDS_H

#include "switchml/terms.h"

const char *xfer_format_words(enum xfer_format format); /* "typed elements" */
const char *sml_keyed_words(bool keyed);

#endif

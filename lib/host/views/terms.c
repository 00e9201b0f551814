#include "views/terms.h"

void write_terms(struct writer *w, const struct agg_protocol *protocol, const struct agg_terms *terms)
{
    struct agg_term list[AGG_LISTED_TERMS];
    const unsigned n = protocol->list(terms, list);

    writer_text(w, "protocol", protocol->name);
    for (unsigned i = 0; i < n; i++)
        if (list[i].word != NULL)
            writer_text(w, list[i].name, list[i].word);
        else
            writer_number(w, list[i].name, list[i].number);
}

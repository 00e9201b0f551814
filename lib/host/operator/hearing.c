#include "operator/hearing.h"

#include <stdio.h>
#include <string.h>

enum { END_MAX = 64 /* "and 7 lines more, ..." */ };

static void hear(void *context, const char *text)
{
    struct hearing *h = context;
    const size_t room = REQUEST_TEXT_MAX - END_MAX, length = strlen(text);

    if (h->left_out > 0 || h->used + length + 1 >= room) {
        h->left_out++;
        return;
    }
    h->used += (size_t)snprintf(h->text + h->used, room - h->used, "%s%s", h->used == 0 ? "" : "\n", text);
}

void hearing_begin(struct hearing *h, char why[REQUEST_TEXT_MAX])
{
    why[0] = '\0';
    *h = (struct hearing){.listener = {hear, h}, .text = why};
    log_listen(&h->listener);
}

void hearing_end(const struct hearing *h)
{
    log_listen(NULL);
    if (h->left_out > 0)
        snprintf(h->text + h->used, REQUEST_TEXT_MAX - h->used, "\nand %u lines more, which are in the log",
                 h->left_out);
}

#include "switchml/flight.h"

#include <stddef.h>

void sml_flight_link(struct sml_flight flights[], struct sml_list *list, uint16_t slot)
{
    struct sml_flight *f = &flights[slot];

    f->list = list;
    f->prev = list->last;
    f->next = SML_NO_SLOT;
    if (list->last == SML_NO_SLOT)
        list->first = slot;
    else
        flights[list->last].next = slot;
    list->last = slot;
}

void sml_flight_unlink(struct sml_flight flights[], uint16_t slot)
{
    struct sml_flight *f = &flights[slot];

    if (f->list == NULL)
        return;
    if (f->prev == SML_NO_SLOT)
        f->list->first = f->next;
    else
        flights[f->prev].next = f->next;
    if (f->next == SML_NO_SLOT)
        f->list->last = f->prev;
    else
        flights[f->next].prev = f->prev;
    f->list = NULL;
}

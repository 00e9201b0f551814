#include "place.h"

#include <stdio.h>

#include "random/splitmix.h"
#include "report.h"

void place_of(MPI_Comm comm, struct place *place)
{
    char name[MPI_MAX_OBJECT_NAME];
    int size;
    PMPI_Comm_size(comm, &size);
    snprintf(place->text, sizeof place->text, "%s of %d rank%s", comm_name(comm, name), size,
             size == 1 ? "" : "s");
    place->hash = 0;
    for (const char *c = place->text; *c; c++)
        place->hash = splitmix_hash(place->hash ^ (unsigned char)*c);
    place->hash |= 1;
}

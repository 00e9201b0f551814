#include "label.h"

#include <stdio.h>

#include "random/splitmix.h"
#include "report.h"

void comm_label_of(MPI_Comm comm, struct comm_label *label)
{
    char name[MPI_MAX_OBJECT_NAME];
    int size;
    PMPI_Comm_size(comm, &size);
    snprintf(label->text, sizeof label->text, "%s of %d rank%s", comm_name(comm, name), size,
             size == 1 ? "" : "s");
    label->hash = 0;
    for (const char *c = label->text; *c; c++)
        label->hash = splitmix_hash(label->hash ^ (unsigned char)*c);
    label->hash |= 1;
}

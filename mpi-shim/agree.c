#include "agree.h"

#include "front.h"
#include "swagg.h"

/* The error that explains most comes first. A mismatch must not be hidden by any other, so it is the very
 * first. */
static const int order[] = {
    SWAGG_ERR_MISMATCH,  SWAGG_ERR_ARGUMENT, SWAGG_ERR_REFUSED, SWAGG_ERR_SYSTEM,
    SWAGG_ERR_NO_SWITCH, SWAGG_ERR_LOST,     SWAGG_ERR_ABORTED, SWAGG_ERR_DEADLINE,
};
enum { ERRORS = sizeof order / sizeof order[0] };

static int place_of(int status)
{
    int place = 0;
    while (place < ERRORS && order[place] != status)
        place++;
    return place; /* ERRORS: none */
}

void agree(MPI_Comm comm, struct outcome *o)
{
    struct {
        int place, rank;
    } mine = {.place = place_of(o->status)}, worst;
    PMPI_Comm_rank(comm, &mine.rank);
    front.native->Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MINLOC, comm);
    o->rank = worst.rank;
    o->status = SWAGG_OK;
    if (worst.place < ERRORS) {
        o->status = order[worst.place];
        front.native->Bcast(o->text, sizeof o->text, MPI_CHAR, worst.rank, comm);
    }
}

#include "report.h"

#include <stdarg.h>
#include <stdio.h>

static int own_rank;
static enum swagg_log_level highest = SWAGG_LOG_WARN;

void report_init(int rank, enum swagg_log_level level)
{
    own_rank = rank;
    highest = level;
}

void report(enum swagg_log_level level, const char *format, ...)
{
    char line[1024];
    if (level > highest)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* One call, one write: lines of several ranks and threads do not mix. */
    fprintf(stderr, "swagg[%d]: %s\n", own_rank, line);
}

const char *comm_name(MPI_Comm comm, char name[MPI_MAX_OBJECT_NAME])
{
    int length;
    PMPI_Comm_get_name(comm, name, &length);
    return length ? name : "a communicator without a name";
}

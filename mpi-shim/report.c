#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/splitmix.h"

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

void comm_label_of(MPI_Comm comm, struct comm_label *label)
{
    char name[MPI_MAX_OBJECT_NAME];
    int size;
    PMPI_Comm_size(comm, &size);
    snprintf(label->text, sizeof label->text, "%s of %d rank%s", comm_name(comm, name), size,
             size == 1 ? "" : "s");
    label->hash = splitmix_bytes(0, label->text, strlen(label->text)) | 1;
}

void *allocate_or_abort(MPI_Comm comm, size_t bytes, const char *what)
{
    void *memory = calloc(1, bytes);
    if (memory)
        return memory;
    report(SWAGG_LOG_ERROR, "no memory for %s (%zu bytes): the program cannot go on", what, bytes);
    PMPI_Abort(comm, EXIT_FAILURE);
    exit(EXIT_FAILURE);
}

#include "choices.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "random/splitmix.h"
#include "report.h"

static char network[KEPT_NETWORK_MAX];
static int rows; /* in the file, that count here; or -errno */

/* All settings may make another way the faster one, but for what is told. */
static uint64_t hash_of(const struct settings *s)
{
    struct settings told = *s;
    char text[1024];
    told.log = SWAGG_LOG_WARN;
    settings_write(&told, text, sizeof text);
    return splitmix_bytes(0, text, strlen(text));
}

/* The switch's address, both versions, and the settings. */
static void name_network(const struct settings *s)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    PMPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0'; /* "Open MPI v4.1.4", "MPICH Version: 4.0.2" */
    snprintf(network, sizeof network, "%s/%s/%.64s/%016" PRIx64, s->switch_ip, swagg_version(), library,
             hash_of(s));
    for (char *c = network; *c; c++)
        if (!isgraph((unsigned char)*c))
            *c = '_';
}

void choices_read(const struct settings *s, char packed[KEPT_PACKED_MAX])
{
    static struct choices c;
    *packed = '\0';
    if (!s->choices || !*s->switch_ip)
        return;
    name_network(s);
    rows = kept_read(s->choices, network, time(NULL), &c);
    kept_pack(&c, packed);
}

void choices_tell(const char *file)
{
    if (rows < 0)
        report(SWAGG_LOG_WARN, "SWAGG_CHOICES: %s is ignored, and replaced by what this run measures: %s",
               file, rows == -EBADMSG ? "it is damaged" : strerror(-rows));
    else
        report(SWAGG_LOG_INFO, "SWAGG_CHOICES: %d lines of %s count here, of those with %s", rows, file,
               network);
}

void choices_write(const char *file, const struct choices *c)
{
    const int rc = kept_write(file, network, time(NULL), c);
    if (rc < 0)
        report(
            SWAGG_LOG_WARN,
            "SWAGG_CHOICES: cannot write %s: %s: name a file in a directory that is there where rank 0 runs, "
            "and has room",
            file, strerror(-rc));
}

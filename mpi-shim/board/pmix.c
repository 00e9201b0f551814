#include "board/pmix.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>

#include "board.h"

#define KEY "swagg.mpi"

/* Open MPI's PMIx plugin loads the library into a scope of its own. */
void *board_pmix_function(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_NOLOAD);
    return dlsym(library ? library : RTLD_NEXT, name);
}

bool board_put_up(const char *text)
{
    pmix_status_t (*put)(pmix_scope_t, const char *, pmix_value_t *) = board_pmix_function("PMIx_Put");
    pmix_value_t value = {.type = PMIX_STRING, .data.string = (char *)text};
    return put && put(PMIX_GLOBAL, KEY, &value) == PMIX_SUCCESS;
}

bool board_read(int rank, char text[BOARD_TEXT_MAX])
{
    static pmix_status_t (*get)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t,
                                pmix_value_t **);
    pmix_info_t at_once = {.key = PMIX_IMMEDIATE, .value = {.type = PMIX_BOOL, .data.flag = true}};
    pmix_proc_t proc = {.rank = (pmix_rank_t)rank};
    pmix_value_t *value = NULL;
    if (!get)
        get = board_pmix_function("PMIx_Get");
    snprintf(proc.nspace, sizeof proc.nspace, "%s", getenv("PMIX_NAMESPACE"));
    if (!get || get(&proc, KEY, &at_once, 1, &value) != PMIX_SUCCESS)
        return false;
    bool found = value->type == PMIX_STRING;
    if (found) {
        snprintf(text, BOARD_TEXT_MAX, "%s", value->data.string);
        free(value->data.string);
    }
    free(value);
    return found;
}

/* With settings by which Open MPI does not wait for all ranks, or does not collect what they publish, ranks
 * may see different texts. */
const char *board_is_unreliable(void)
{
    const char *async = getenv("OMPI_MCA_pmix_base_async_modex");
    const char *collect = getenv("OMPI_MCA_pmix_base_collect_data");
    return getenv("PMIX_NAMESPACE") && (!async || atoi(async) == 0) && (!collect || atoi(collect) != 0)
               ? NULL
               : "run without OMPI_MCA_pmix_base_async_modex and OMPI_MCA_pmix_base_collect_data";
}

const char *board_is_missing(void)
{
    return "this program's Open MPI does not use Debian's PMIx (libpmix.so.2): start it with mpirun, or with "
           "srun --mpi=pmix";
}

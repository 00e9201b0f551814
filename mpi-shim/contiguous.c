#include "contiguous.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The attribute's value is the named type, whose handle is never freed. */
static int keyval = MPI_KEYVAL_INVALID;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_keyval(void)
{
    PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
}

void contiguous_exit(void)
{
    if (keyval != MPI_KEYVAL_INVALID)
        PMPI_Type_free_keyval(&keyval);
}

/* How a type was made: MPI_Type_get_contents. */
struct recipe {
    int combiner;
    int integers[3];
    MPI_Aint addresses[2];
    MPI_Datatype inner;
};

static bool is_derived(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return types > 0;
}

/* False: it is made of more than one type, or of none. */
static bool read_recipe(MPI_Datatype type, struct recipe *r)
{
    int integers, addresses, types;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &r->combiner);
    if (types != 1 || integers > 3 || addresses > 2)
        return false;
    PMPI_Type_get_contents(type, integers, addresses, types, r->integers, r->addresses, &r->inner);
    return true;
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    return extent;
}

/* Whether its inner type's items follow each other. */
static bool has_no_gaps(const struct recipe *r)
{
    const int *n = r->integers;
    switch (r->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_CONTIGUOUS:
        return true;
    case MPI_COMBINER_VECTOR: /* blocks, items in a block, items from block to block */
        return n[0] == 1 || n[1] == n[2];
    case MPI_COMBINER_HVECTOR: /* the last is in bytes */
        return n[0] == 1 || n[1] * extent_of(r->inner) == r->addresses[0];
    case MPI_COMBINER_RESIZED: /* lower bound, extent */
        return r->addresses[0] == 0 && r->addresses[1] == extent_of(r->inner);
    default:
        return false;
    }
}

/* MPI_DATATYPE_NULL: none. */
static MPI_Datatype by_precision(MPI_Datatype type, int combiner)
{
    int size, class = combiner == MPI_COMBINER_F90_REAL      ? MPI_TYPECLASS_REAL
                      : combiner == MPI_COMBINER_F90_INTEGER ? MPI_TYPECLASS_INTEGER
                      : combiner == MPI_COMBINER_F90_COMPLEX ? MPI_TYPECLASS_COMPLEX
                                                             : 0;
    MPI_Datatype named = MPI_DATATYPE_NULL;
    PMPI_Type_size(type, &size);
    if (class)
        PMPI_Type_match_size(class, size, &named);
    return named;
}

/* The recursion ends, since a type is made of types that were made before it. */
static MPI_Datatype resolve(MPI_Datatype type)
{
    struct recipe r;
    MPI_Datatype named = MPI_DATATYPE_NULL;
    if (!is_derived(type)) {
        read_recipe(type, &r);
        return r.combiner == MPI_COMBINER_NAMED ? type : by_precision(type, r.combiner);
    }
    if (!read_recipe(type, &r))
        return MPI_DATATYPE_NULL;
    if (has_no_gaps(&r))
        named = resolve(r.inner);
    if (is_derived(r.inner)) /* MPI_Type_get_contents made a handle for it */
        PMPI_Type_free(&r.inner);
    return named;
}

MPI_Datatype contiguous_of(MPI_Datatype type, size_t *count)
{
    int found;
    void *value;
    MPI_Count whole, element;
    if (type == MPI_DATATYPE_NULL || !type)
        return MPI_DATATYPE_NULL;
    pthread_once(&once, make_keyval);
    PMPI_Type_get_attr(type, keyval, &value, &found);
    MPI_Datatype named = found ? (MPI_Datatype)(intptr_t)value : resolve(type);
    if (!found)
        PMPI_Type_set_attr(type, keyval, (void *)(intptr_t)named);
    if (named == MPI_DATATYPE_NULL)
        return named;
    PMPI_Type_size_x(type, &whole);
    PMPI_Type_size_x(named, &element);
    *count = element ? (size_t)(whole / element) : 0;
    return named;
}

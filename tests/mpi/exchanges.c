/* Broadcasts, all-gathers, reduce-scatters and barriers: of types with and without gaps, different ones on
 * different ranks, in place, with blocks of all lengths, in several communicators. Prints a digest of all
 * that was received, and of what lies between: natively and through the switch it must be the same. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "digest.h"

enum { ITEMS_MAX = 6000, INTS = 4 * 4 * ITEMS_MAX, ROOM = INTS * (int)sizeof(int) };
static int32_t in[INTS], out[INTS];
static int rank, size; /* in the communicator */
static int errors;

static void fill_anew(void)
{
    static int round;
    fill(in, out, INTS, rank, ++round);
}

static void done(int rc)
{
    errors += rc != MPI_SUCCESS;
    note(in, sizeof in);
    note(out, sizeof out);
}

/* --- forms of the same 2 n ints: which a rank has depends on its number --- */

struct form {
    MPI_Datatype type;
    int count;
};

static MPI_Datatype committed(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

static MPI_Datatype swapped_pair(void)
{
    MPI_Datatype type;
    MPI_Type_indexed(2, (int[]){1, 1}, (int[]){1, 0}, MPI_INT, &type);
    return committed(type);
}

static MPI_Datatype with_gaps(void)
{
    MPI_Datatype type, wide;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_create_resized(type, 0, 4 * sizeof(int), &wide);
    MPI_Type_free(&type);
    return committed(wide);
}

static MPI_Datatype pair(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    return committed(type);
}

enum { FORMS = 4 };
static MPI_Datatype types[FORMS];

/* mixed: every rank another one; else all have the plain one. */
static struct form form_of(int who, int n, int mixed)
{
    const int form = mixed ? who % FORMS : 0;
    return (struct form){types[form], form == 0 ? 2 * n : n};
}

/* --- the calls --- */

static void broadcast(MPI_Comm comm, int n, int mixed)
{
    for (int root = 0; root < size; root++) {
        const struct form f = form_of(rank + root, n, mixed);
        fill_anew();
        done(MPI_Bcast(in, f.count, f.type, root, comm));
        fill_anew();
        done(MPI_Bcast(in, n, MPI_DOUBLE_INT, root, comm));
    }
}

static void gather(MPI_Comm comm, int n, int mixed)
{
    const struct form f = form_of(rank, n, mixed), g = form_of(rank + 1, n, mixed);
    int counts[4], places[4], at = 0;
    fill_anew();
    done(MPI_Allgather(in, f.count, f.type, out, g.count, g.type, comm));
    fill_anew();
    done(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, g.count, g.type, comm));
    /* Blocks of n, 0, n / 2 and 1 items, the last one first, with a hole between them. */
    for (int r = size - 1; r >= 0; r--) {
        counts[r] = r == 0 ? n : r == 1 ? 0 : r == 2 ? n / 2 : 1;
        places[r] = at;
        at += counts[r] + 1;
    }
    fill_anew();
    done(MPI_Allgatherv(in, counts[rank], MPI_DOUBLE, out, counts, places, MPI_DOUBLE, comm));
    fill_anew();
    done(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, types[2], comm));
    for (int r = 0; r < size; r++)
        places[r] -= at;
    fill_anew();
    done(MPI_Allgatherv(in, 2 * counts[rank], MPI_INT, (double *)out + at, counts, places, types[3], comm));
}

static void scatter_sums(MPI_Comm comm, int n)
{
    int counts[4];
    for (int r = 0; r < size; r++)
        counts[r] = r == 1 ? 0 : n / (r + 1);
    fill_anew();
    done(MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, comm));
    fill_anew();
    done(MPI_Reduce_scatter_block(MPI_IN_PLACE, in, n, MPI_INT, MPI_BXOR, comm));
    fill_anew();
    done(MPI_Reduce_scatter(in, counts[rank] > 0 ? out : NULL, counts, MPI_INT, MPI_MAX, comm));
    fill_anew();
    done(MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_INT16_T, MPI_SUM, comm));
    fill_anew();
    for (int i = 0; i < size * n; i++)
        ((float *)in)[i] = (float)(i % 100 + rank);
    done(MPI_Reduce_scatter_block(in, out, n, MPI_FLOAT, MPI_SUM, comm));
}

/* Elsewhere than in one buffer. */
static void broadcast_from_anywhere(MPI_Comm comm)
{
    MPI_Aint at[2];
    MPI_Datatype type;
    MPI_Get_address(in, &at[0]);
    MPI_Get_address(out, &at[1]);
    MPI_Type_create_hindexed(2, (int[]){3000, 2000}, at, MPI_INT, &type);
    MPI_Type_commit(&type);
    fill_anew();
    done(MPI_Bcast(MPI_BOTTOM, 1, type, size - 1, comm));
    MPI_Type_free(&type);
}

/* What is packed already, and elements that no sum has. */
static void broadcast_packed(MPI_Comm comm)
{
    static char packed[ROOM];
    int at = 0, n = ITEMS_MAX;
    fill_anew();
    MPI_Pack(in, n, MPI_INT, packed, sizeof packed, &at, comm);
    done(MPI_Bcast(packed, at, MPI_PACKED, 0, comm));
    note(packed, (size_t)at);
    fill_anew();
    done(MPI_Bcast(in, 3000, MPI_WCHAR, size - 1, comm));
}

/* All blocks at MPI_BOTTOM: each rank's lie elsewhere in its memory. */
static void gather_from_anywhere(MPI_Comm comm)
{
    int counts[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
    MPI_Aint at;
    MPI_Datatype type, wide;
    MPI_Get_address(in, &at);
    MPI_Type_create_hindexed(1, (int[]){3000}, &at, MPI_INT, &type);
    MPI_Type_create_resized(type, 0, 4000 * sizeof(int), &wide);
    MPI_Type_commit(&wide);
    fill_anew();
    done(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, MPI_BOTTOM, counts, places, wide, comm));
    MPI_Type_free(&wide);
    MPI_Type_free(&type);
}

static void all(MPI_Comm comm)
{
    static const int sizes[] = {0, 1, 7, 1500, ITEMS_MAX};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int mixed = 0; mixed < 2; mixed++) {
            broadcast(comm, sizes[i], mixed);
            gather(comm, sizes[i], mixed);
        }
        scatter_sums(comm, sizes[i]);
        done(MPI_Barrier(comm));
    }
    broadcast_from_anywhere(comm);
    broadcast_packed(comm);
    gather_from_anywhere(comm);
}

int main(int argc, char **argv)
{
    MPI_Comm backwards, even;
    int world_rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    types[0] = MPI_INT;
    types[1] = with_gaps();
    types[2] = swapped_pair();
    types[3] = pair();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &even);
    all(MPI_COMM_WORLD);
    all(backwards);
    all(even);
    printf("exchanges: rank %d: %d errors, digest %016llx\n", world_rank, errors, (unsigned long long)digest);
    MPI_Comm_free(&backwards);
    MPI_Comm_free(&even);
    for (int t = 1; t < FORMS; t++)
        MPI_Type_free(&types[t]);
    MPI_Finalize();
    return errors > 0;
}

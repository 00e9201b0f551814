/* An MPI library that is not Open MPI: handles are numbers, and its version text is long. It has only what
 * other_program.c and the shim call, under both names. */
#include <stdio.h>
#include <string.h>

#define BOTH(type, name, ...)                                                                                \
    type P##name(__VA_ARGS__);                                                                               \
    __attribute__((alias("P" #name))) type name(__VA_ARGS__);                                                \
    type P##name(__VA_ARGS__)

BOTH(int, MPI_Init, int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

BOTH(int, MPI_Init_thread, int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    *provided = required;
    return 0;
}

BOTH(int, MPI_Finalize, void)
{
    puts("other MPI: finalized");
    return 0;
}

BOTH(int, MPI_Allreduce, const void *send, void *recv, int count, int type, int op, int comm)
{
    printf("other MPI: allreduce of %d, type %x, operation %x, communicator %x\n", count, (unsigned)type,
           (unsigned)op, (unsigned)comm);
    memcpy(recv, send, (size_t)count * sizeof(float));
    return 0;
}

BOTH(int, MPI_Reduce, const void *send, void *recv, int count, int type, int op, int root, int comm)
{
    (void)type, (void)op, (void)root, (void)comm;
    memcpy(recv, send, (size_t)count * sizeof(float));
    return 0;
}

BOTH(int, MPI_Get_library_version, char *version, int *length)
{
    *length = 8000;
    memset(version, 'x', 8000);
    version[8000] = '\0';
    return 0;
}

/* A program made for other_mpi.c. */
int MPI_Init(int *argc, char ***argv);
int MPI_Allreduce(const void *send, void *recv, int count, int type, int op, int comm);
int MPI_Finalize(void);

int main(int argc, char **argv)
{
    static float send[100000] = {3}, recv[100000];
    MPI_Init(&argc, &argv);
    MPI_Allreduce(send, recv, 100000, 0x4c00040a, 0x58000003, 0x44000000);
    MPI_Finalize();
    return recv[0] != 3;
}

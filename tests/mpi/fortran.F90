! Reductions from Fortran, through each of its three bindings (-DBINDING_MPIF, _MPI, _F08): real, double precision and
! integer, in place and not, blocking and not. See reductions.c for what is checked.
program fortran
#if defined(BINDING_MPI)
    use mpi
#elif defined(BINDING_F08)
    use mpi_f08
#endif
    implicit none
#if defined(BINDING_MPIF)
    include 'mpif.h'
#endif
    integer, parameter :: n = 50000
    real :: a(n)
    double precision :: b(n), c(n)
    integer :: k(n), m(n), rank, ranks, wrong, total, i, ierr, turn, told
#if defined(BINDING_F08)
    type(MPI_Request) :: requests(4)
#else
    integer :: requests(4)
#endif

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    a = [(real(rank + mod(i, 7)), i = 1, n)]
    b = [(dble(rank - mod(i, 5)), i = 1, n)]
    c = -1
    k = [(rank * 3 + i, i = 1, n)]
    call MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Reduce(b, c, n, MPI_DOUBLE_PRECISION, MPI_SUM, ranks - 1, MPI_COMM_WORLD, ierr)
    call MPI_Allreduce(MPI_IN_PLACE, k, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    wrong = count(a /= [(real(ranks * (ranks - 1) / 2 + ranks * mod(i, 7)), i = 1, n)])
    wrong = wrong + count(k /= [(3 * ranks * (ranks - 1) / 2 + ranks * i, i = 1, n)])
    if (rank == ranks - 1) then
        wrong = wrong + count(c /= [(dble(ranks * (ranks - 1) / 2 - ranks * mod(i, 5)), i = 1, n)])
    else
        wrong = wrong + count(c /= -1)
    end if
    do turn = 1, 2 ! the first joins a job
        k = rank
        m = turn * rank
        told = -1
        call MPI_Iallreduce(MPI_IN_PLACE, k, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Irecv(told, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, requests(2), ierr)
        call MPI_Isend(turn, 1, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, requests(3), ierr)
        call MPI_Ibcast(m, n, MPI_INTEGER, 1, MPI_COMM_WORLD, requests(4), ierr)
        call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
        wrong = wrong + count(k /= ranks * (ranks - 1) / 2) + count(m /= turn) + count([told, ierr] /= [turn, MPI_SUCCESS])
        wrong = wrong + count([(requests(i) /= MPI_REQUEST_NULL, i = 1, 4)])
        call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a, i0, a)', 'fortran: ', total, ' wrong'
    call MPI_Finalize(ierr)
    if (total /= 0) stop 1
end program

! Fortran's types with MPI's operations, each element compared with what it must be. Runs the same with the shim and without.
program fortran_types
    use mpi
    implicit none
    integer, parameter :: n = 20000
    integer :: rank, ranks, wrong = 0, total, i, ierr
    integer(1) :: i1(n)
    integer(2) :: i2(n)
    integer(4) :: i4(n), j(n)
    integer(8) :: i8(n)
    real(4) :: r4(n)
    real(8) :: r8(n)
    complex(4) :: c4(n)
    complex(8) :: c8(n)
    logical :: l(n)
    real(4) :: pair4(2, n)
    real(8) :: pair8(2, n)
    integer :: pairi(2, n)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    j = [(mod(i, 7), i = 1, n)]

    ! Each rank's value is what follows the rank in j's cycle of seven; there are four ranks.
#define REDUCE(a, count, mpi_type, op, want) \
    call MPI_Allreduce(MPI_IN_PLACE, a, count, mpi_type, op, MPI_COMM_WORLD, ierr); wrong = wrong + merge(0, 1, all((a) EQUALS (want)))
#define EQUALS ==
    i1 = int(j + rank, 1)
    REDUCE(i1, n, MPI_INTEGER1, MPI_SUM, 4 * j + 6)
    i2 = int(j - rank, 2)
    REDUCE(i2, n, MPI_INTEGER2, MPI_MIN, j - 3)
    i4 = ior(j, 8 * rank)
    REDUCE(i4, n, MPI_INTEGER, MPI_BOR, ior(j, 24))
    i4 = j + rank
    REDUCE(i4, n, MPI_INTEGER4, MPI_MAX, j + 3)
    i8 = (j + 1) * 2_8**10
    REDUCE(i8, n, MPI_INTEGER8, MPI_PROD, (j + 1_8)**4 * 2_8**40)
    r4 = real(j + rank)
    REDUCE(r4, n, MPI_REAL4, MPI_SUM, real(4 * j + 6))
    r4 = real(j - rank)
    REDUCE(r4, n, MPI_REAL, MPI_MAX, real(j))
    r8 = dble(j + rank)
    REDUCE(r8, n, MPI_REAL8, MPI_MIN, dble(j))
    r8 = dble(j + rank)
    REDUCE(r8, n, MPI_DOUBLE_PRECISION, MPI_PROD, dble(j) * (j + 1) * (j + 2) * (j + 3))
    c4 = cmplx(j, rank)
    REDUCE(c4, n, MPI_COMPLEX, MPI_SUM, cmplx(4 * j, 6))
    c8 = cmplx(0, j + 1, 8)
    REDUCE(c8, n, MPI_DOUBLE_COMPLEX, MPI_PROD, cmplx(dble(j + 1)**4, 0, 8))
    c8 = cmplx(rank, j, 8)
    REDUCE(c8, n, MPI_COMPLEX16, MPI_SUM, cmplx(6, 4 * j, 8))
#undef EQUALS
#define EQUALS .eqv.
    l = j == rank
    REDUCE(l, n, MPI_LOGICAL, MPI_LOR, j < 4)
    l = j /= rank
    REDUCE(l, n, MPI_LOGICAL, MPI_LAND, j >= 4)
    l = j >= rank
    REDUCE(l, n, MPI_LOGICAL, MPI_LXOR, j == 0 .or. j == 2)
#undef EQUALS
#define EQUALS ==
    ! Rank 2 has the greatest values, ranks 1 and 3 have the least; the lower index counts.
    pair4(1, :) = real(merge(9, mod(rank + 1, 2), rank == 2))
    pair4(2, :) = real(rank)
    REDUCE(pair4, n, MPI_2REAL, MPI_MAXLOC, spread([9.0, 2.0], 2, n))
    pair8(1, :) = dble(merge(9, mod(rank + 1, 2), rank == 2))
    pair8(2, :) = dble(rank)
    REDUCE(pair8, n, MPI_2DOUBLE_PRECISION, MPI_MINLOC, spread([0d0, 1d0], 2, n))
    pairi(1, :) = merge(9, mod(rank + 1, 2), rank == 2)
    pairi(2, :) = rank
    REDUCE(pairi, n, MPI_2INTEGER, MPI_MINLOC, spread([0, 1], 2, n))

    call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(a, i0, a)', 'fortran: ', total, ' wrong'
    call MPI_Finalize(ierr)
    if (total /= 0) stop 1
end program

/* The board by PMIx, as Debian's Open MPI has it. */
#pragma once

/* A function of the PMIx library that the MPI library has loaded; NULL: there is none. */
void *board_pmix_function(const char *name);

/* What compressed sums (SWAGG_COMPRESSION) have cost in exactness, on all ranks together. */
#ifndef SHIM_COMPRESSED_H
#define SHIM_COMPRESSED_H

#include <stddef.h>
#include <stdint.h>

/* Of one rank's jobs. */
struct compressed {
    uint64_t calls;
    double error2; /* the square of what the rank's contributions left out or added */
    double sum2;   /* the square of the sums, this rank's part: divided by the ranks that have the same */
};

/* For the summary: that sums were approximate, and by how much; an empty text if none was compressed. mine:
 * of this rank. Collective over MPI_COMM_WORLD; rank 0 gets the text, the others an empty one. */
void compressed_text(const struct compressed *mine, char *text, size_t size);

#endif

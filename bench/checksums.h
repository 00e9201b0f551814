/* bench-core's tables of checksums: UDP's of every implementation, and CRC32C, beside memcpy of the same
 * bytes. */
#pragma once

/* Measures them, and how much of the time for a UDP checksum would be saved by adding the elements in the
 * same pass. */
void checksums_print(void);

/* Does each row's work once, under callgrind (core.c). */
void checksums_count(void);

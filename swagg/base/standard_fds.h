/* A program that was started without standard input, output or error would get those numbers for its first
 * sockets and files, and write its log there. */
#ifndef SWAGG_BASE_STANDARD_FDS_H
#define SWAGG_BASE_STANDARD_FDS_H

/* Opens /dev/null in the place of those that are closed. The first thing in a program. */
void standard_fds_fill(void);

#endif

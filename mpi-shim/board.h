/* Where each rank puts up a text of its own, before all ranks meet in MPI_Init, and reads those of all others
 * afterwards. No message is sent: it goes with what the MPI library itself has to exchange there, by what its
 * launcher offers for that (board/). So a text that is not there afterwards never comes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { BOARD_TEXT_MAX = 2048 };

/* False: there is no such thing here. Once. */
bool board_put_up(const char *text);

/* False: that rank of MPI_COMM_WORLD has put up none. One thread. */
bool board_read(int rank, char text[BOARD_TEXT_MAX]);

/* Why nobody can know what the others have put up, and what to do about it; NULL: that can be known. Only
 * where this rank has put up its own; without it: why that was not possible. */
const char *board_is_unreliable(void);
const char *board_is_missing(void);

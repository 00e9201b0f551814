/* Standard input, output and error as a program finds them: some may be closed, and output may lead to a disk
 * that is full. */
#pragma once

/* The first thing in a program. Opens /dev/null in the place of those that are closed: the first sockets and
 * files would get their numbers, and what is printed would go there. From here on, a program whose standard
 * output could not be written, or was closed, says so when it exits, and ends with EXIT_BAD, whatever else
 * its status were. */
void standard_streams_begin(void);

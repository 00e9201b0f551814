/* What a program prints may not get through: standard output may lead to a disk that is full. */
#ifndef SWAGG_OUTPUT_H
#define SWAGG_OUTPUT_H

/* From here on, a program whose standard output could not be written says so when it exits, and ends with
 * EXIT_BAD, whatever else its status were. To be called first of all: it has the last word. */
void output_check_at_exit(void);

#endif

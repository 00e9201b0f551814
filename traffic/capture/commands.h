/* The commands of swagg-pcap. Each gets its own arguments, with its name as argv[0], and returns the exit
 * code: 0; 1: check has found something wrong with the sums, or a file cannot be read or written; 2: bad
 * arguments. */
#pragma once

#include "command_line.h"

int command_gen(int argc, char *argv[]);
int command_check(int argc, char *argv[]);
int command_show(int argc, char *argv[]);

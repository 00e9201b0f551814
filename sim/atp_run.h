/* Plays many scenarios of ATP, and says what happened in them. */
#pragma once

#include "atp_measure.h"

/* Prints each failure as it is found. False: something failed. */
bool atp_run(uint64_t first, uint64_t count);

/* Workers that come late in a step of training. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Where the choices begin; the same for all workers, wherever they are. */
#define LATE_SEED UINT64_C(5)

/* Which of n workers come late in the next step: `late` of them, at random, each as often as the others. */
void late_choose(uint64_t *random, unsigned n, unsigned late, bool is_late[]);

/* Data-parallel training by MPI: every rank has the whole model, takes its share of each batch, and
 * MPI_Allreduce sums the gradients. Plain MPI; nothing here knows of swagg.
 *
 * Everything but the order in which gradients are added is the same in every run: if the sums are
 * reproducible, so is the model, bit for bit. */
#pragma once

#include <stdbool.h>

#include "learner.h"

/* What to do, and what the reports call things. */
struct training {
    struct learner *learner;
    int epochs, steps; /* steps of an epoch at most; 0: all of its samples */
    const char *what;  /* samples are: "images" */
    const char *model; /* file for the model at the end; NULL: none */
};

/* Trains, and rank 0 prints loss, accuracy and time of each epoch. Ends MPI. Returns the exit status: 1 if
 * ranks end with different models. */
int training_run(const struct training *t);

/* Before MPI_Init: ends the program, which was asked for help, or told what it does not understand. */
_Noreturn void training_usage(const char *usage, bool asked);

/* Ends the program on all ranks. */
void training_stop(const char *why);

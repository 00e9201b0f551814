/* What fronts by preload share (front.h has what these are): the state of a communicator is its attribute. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))

struct shim_comm;

char *const *interpose_environment(void);
bool interpose_is_wanted(void);
void interpose_keep(MPI_Comm comm, struct shim_comm *state);
struct shim_comm *interpose_kept(MPI_Comm comm);
void interpose_drop(MPI_Comm comm);

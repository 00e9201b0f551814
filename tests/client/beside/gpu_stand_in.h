/* A stand-in for CUDA's driver: the functions that libswagg asks for, and what a test tells it. "Memory of a
 * GPU" is mapped so that any touch by the CPU is a crash. A copy is done when somebody asks how far its
 * stream is, one a question, or waits for it; so who waits for nothing has wrong bytes, every time. An event
 * of the program's happens when the test says so, or at last when somebody waits for a stream behind it: then
 * he has the bytes that are there before. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct gpu_stand_in {
    /* In one of two devices' contexts, or (-1) in the second's, without saying so, as a pool's is. */
    void *(*alloc)(size_t bytes, int context);
    void (*free)(void *memory);
    void (*put)(void *memory, const void *from, size_t bytes);
    void (*get)(void *to, const void *memory, size_t bytes);
    /* The n-th call from now on of this function fails; 0: none does. */
    void (*fail)(const char *function, int n);
    /* From now on so many copies from GPUs are done, and no more until one to a GPU has begun; -1: all. */
    void (*hold)(int copies);
    /* Whether others were still to be done when that one began. */
    bool (*came_early)(void);
    /* What is there of streams, events and pinned memory; and copies that have not been done. */
    int (*left)(void);
    /* An event of the program's; it happens; how often somebody has asked for a mark that was held up. */
    void *(*event)(void);
    void (*happen)(void *event);
    unsigned long (*in_vain)(void);
};

#define GPU_STAND_IN "gpu_stand_in"

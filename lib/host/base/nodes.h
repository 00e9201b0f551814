/* NUMA nodes, as the kernel's files have them: memory, CPUs and NICs that are near one another. One thread.
 */
#pragma once

#include <stdbool.h>

/* A NIC's node, by its PCI address or the name of its interface; negative: it has none, or there is no such
 * NIC. */
int node_of_pci(const char *address);
int node_of_interface(const char *name);

bool node_has_cpu(int node, int cpu);

/* Puts the node's CPUs before all others; apart from that they stay in order. Returns how many are the
 * node's. */
unsigned node_first(int node, int cpu[], unsigned n);

/* Counts what was offloaded, and tells in one line what was and what was not (ledger.h). Any thread may call.
 */
#ifndef SHIM_SUMMARY_H
#define SHIM_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

void summary_offloaded(bool reduce, size_t bytes);
void summary_failed(void);

/* The summary in one line. */
void summary_text(char *text, size_t size, const char *switch_ip);

#endif

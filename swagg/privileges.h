/* What the daemon may do that other programs may not: it starts as root, and keeps the capabilities that its
 * ports need, now and when others are added later.
 */
#pragma once

/* From here on the calling thread, and those that it starts, has none but these capabilities, as far as it
 * has them; and no program that it may start ever gains one. Before any thread is started: capabilities are
 * a thread's own. 0, or -errno after logging. */
int privileges_drop(void);

/* Has a running server become what its file says now. All is checked and made that the new configuration
 * takes, which may fail and changes nothing; then it is swapped in, which cannot.
 */
#ifndef SWAGG_SERVER_PS_RELOAD_H
#define SWAGG_SERVER_PS_RELOAD_H

#include "config/config_changes.h"
#include "ps.h"

/* What has changed is listed, and logged. 0, or -errno after logging why not. Takes the lock; any thread. */
int ps_reload(struct ps *ps, struct config_changes *changes);

#endif

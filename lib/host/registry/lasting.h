/* The secret that the lives of a registry's host have in common (struct ctl_lasting): a file of its owner's
 * alone in the folder that `state` names. Several hosts may share it: a ticket names one job. */
#pragma once

#include "control/actions.h"

/* Reads it; makes it, on the disk, if it is not there. 0, or -errno after logging what is wrong with it and
 * how to mend it. */
int lasting_open(struct ctl_lasting *lasting, const char *folder);

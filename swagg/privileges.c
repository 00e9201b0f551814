#include "privileges.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cap-ng.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#include "base/log.h"

/* What each is for. */
static const unsigned kept[] = {
    CAP_NET_RAW,   /* packet sockets */
    CAP_NET_ADMIN, /* their buffers, promiscuous mode, ethtool; TAP devices; NICs by their kernel's driver */
    CAP_BPF,       /* AF_XDP: the program that hands frames over */
    CAP_IPC_LOCK,  /* memory that a NIC reads and writes: vfio, AF_XDP */
    CAP_SYS_NICE,  /* polling threads go before other programs */
    CAP_CHOWN,     /* control.group */
};

enum { KEPT = sizeof(kept) / sizeof(kept[0]), NAMES_MAX = 256 };

static void log_kept(const bool has[KEPT])
{
    char names[NAMES_MAX] = "";
    size_t n = 0;

    for (unsigned i = 0; i < KEPT && n < sizeof(names); i++)
        if (has[i])
            n += (size_t)snprintf(names + n, sizeof(names) - n, " %s", capng_capability_to_name(kept[i]));
    log_info("capabilities that are kept:%s", n > 0 ? names : " none");
}

int privileges_drop(void)
{
    bool has[KEPT];
    int rc = capng_get_caps_process();

    for (unsigned i = 0; i < KEPT; i++)
        has[i] = capng_have_capability(CAPNG_PERMITTED, kept[i]);
    /* Without it the bounds cannot be narrowed, and nobody gains by them what is beyond: see below. */
    const bool bounds = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);

    capng_clear(CAPNG_SELECT_BOTH);
    for (unsigned i = 0; i < KEPT; i++)
        if (has[i])
            capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET, kept[i]);
    if (rc == 0)
        rc = capng_apply(bounds ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS);
    if (rc == 0)
        rc = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (rc != 0)
        return log_fail(-EPERM,
                        "cannot give up privileges that are not needed: %s; \"privileges: all\" keeps them",
                        strerror(errno));
    log_kept(has);
    return 0;
}

#include "network.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beside this library, whose build it must be of; or where the system has its libraries. */
static void *load(const char *driver_file, char why[NETWORK_WORDS])
{
    char path[PATH_MAX];
    Dl_info here;
    void *driver = NULL;
    if (dladdr((void *)network_open, &here) && strrchr(here.dli_fname, '/')) {
        const int folder = (int)(strrchr(here.dli_fname, '/') - here.dli_fname);
        snprintf(path, sizeof path, "%.*s/%s", folder, here.dli_fname, driver_file);
        driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!driver)
        driver = dlopen(driver_file, RTLD_NOW | RTLD_LOCAL);
    if (!driver)
        snprintf(why, NETWORK_WORDS, "%s does not load: %s", driver_file, dlerror());
    return driver;
}

/* It stays loaded: what has once begun in it, DPDK's threads among that, does not end before the process
 * does. */
static const struct network_driver *driver_loaded(const char *driver_file, char why[NETWORK_WORDS])
{
    void *object = load(driver_file, why);
    if (!object)
        return NULL;
    const struct network_driver *driver = dlsym(object, NETWORK_DRIVER);
    if (driver && strcmp(driver->version, swagg_version()) == 0)
        return driver;
    snprintf(why, NETWORK_WORDS, "%s is of another build (%s) than this library (%s): install both anew",
             driver_file, driver ? driver->version : "none of swagg's", swagg_version());
    return NULL;
}

int network_open(struct network **out, const struct client_options *options, char why[NETWORK_WORDS])
{
    static struct network kernel = {.ops = &network_kernel_ops};
    if (!options->port.driver) {
        *out = &kernel;
        return 0;
    }
    const struct network_driver *driver = driver_loaded(options->port.driver, why);
    const int rc = driver ? driver->open(out, &options->port, &network_kernel_ops, why) : -ENOENT;
    if (rc == 0)
        logger_write(&options->log, SWAGG_LOG_INFO, "job '%s': %s", options->job, why);
    return rc;
}

/* A configuration file: any bytes. A refusal must have a message; what is accepted must be within its limits.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"
#include "fuzz.h"

static void report(void *context, const char *message)
{
    unsigned *messages = context;
    REQUIRE(message[0] && !strchr(message, '\n'));
    ++*messages;
}

static void check(const struct config *c)
{
    REQUIRE(c->ports >= 1 && c->ports <= SWAGG_MAX_PORTS);
    for (unsigned i = 0; i < c->ports; i++) {
        REQUIRE(c->port[i].name[0] && strnlen(c->port[i].name, CONFIG_NAME_MAX) < CONFIG_NAME_MAX);
        REQUIRE(c->port[i].device[0] && strnlen(c->port[i].device, CONFIG_DEVICE_MAX) < CONFIG_DEVICE_MAX);
    }
    REQUIRE(c->limits.jobs >= 1 && c->limits.jobs <= 256 && c->limits.workers >= 1 &&
            c->limits.workers <= 1024);
    REQUIRE((c->pool.slots_per_job & (c->pool.slots_per_job - 1)) == 0);
    REQUIRE(!c->has_ip || (c->prefix >= 1 && c->prefix <= 32));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config c;
    unsigned messages = 0;
    char path[40];
    int fd = memfd_create("config", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        perror("memfd");
        abort();
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (config_load(&c, path, report, &messages) == 0)
        check(&c);
    else
        REQUIRE(messages > 0);
    close(fd);
    return 0;
}

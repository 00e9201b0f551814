#include "devices.h"

#include <ifaddrs.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16, USUAL_SPEED = 10000, COMMS_MAX = 65536, LINE_MAX_BYTES = 512 };

static struct device devices[DEVICES_MAX];
static char paths[DEVICES_MAX][PATH_MAX];
static int device_count;
static nccl_logger_fn *logger;
static pthread_once_t found_once = PTHREAD_ONCE_INIT;

static void say(enum nccl_log_level level, unsigned long about, const char *format, va_list arguments)
{
    char line[LINE_MAX_BYTES];
    vsnprintf(line, sizeof line, format, arguments);
    if (logger)
        logger(level, about, "swagg", 0, "swagg: %s", line);
}

enum nccl_result nccl_fail(enum nccl_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(NCCL_LOG_WARN, NCCL_LOG_NET, format, arguments);
    va_end(arguments);
    return result;
}

void nccl_tell(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(NCCL_LOG_INFO, NCCL_LOG_INIT | NCCL_LOG_NET, format, arguments);
    va_end(arguments);
}

/* Whether one of the words of a list, separated by commas, is the name, or how it begins. */
static bool is_listed(const char *name, const char *list, bool whole)
{
    while (*list) {
        const size_t length = strcspn(list, ",");
        if (length > 0 && strncmp(name, list, length) == 0 && (!whole || name[length] == '\0'))
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static bool is_meant(const struct ifaddrs *a)
{
    const char *said = getenv("NCCL_SOCKET_IFNAME");
    if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || !(a->ifa_flags & IFF_UP))
        return false;
    if (!said || !*said)
        return !(a->ifa_flags & IFF_LOOPBACK);
    const bool is_not = *said == '^';
    said += is_not;
    const bool whole = *said == '=';
    return is_listed(a->ifa_name, said + whole, whole) != is_not;
}

static bool is_known(const char *name)
{
    for (int i = 0; i < device_count; i++)
        if (strcmp(devices[i].name, name) == 0)
            return true;
    return false;
}

static void find(void)
{
    struct ifaddrs *all;
    if (getifaddrs(&all) < 0)
        return;
    for (const struct ifaddrs *a = all; a && device_count < DEVICES_MAX; a = a->ifa_next) {
        if (!is_meant(a) || is_known(a->ifa_name))
            continue;
        struct device *d = &devices[device_count];
        char link[sizeof "/sys/class/net//device" + IF_NAMESIZE];
        snprintf(d->name, sizeof d->name, "%s", a->ifa_name);
        d->address = ((const struct sockaddr_in *)a->ifa_addr)->sin_addr;
        snprintf(link, sizeof link, "/sys/class/net/%s/device", d->name);
        if (!realpath(link, paths[device_count]))
            paths[device_count][0] = '\0';
        device_count++;
    }
    freeifaddrs(all);
}

enum nccl_result devices_init(nccl_logger_fn *nccl_logger)
{
    logger = nccl_logger;
    pthread_once(&found_once, find);
    for (int i = 0; i < device_count; i++)
        nccl_tell("network device %d is %s", i, devices[i].name);
    if (device_count == 0)
        return nccl_fail(NCCL_SYSTEM_ERROR, "no interface is up with an IPv4 address%s",
                         getenv("NCCL_SOCKET_IFNAME") ? ", of those that NCCL_SOCKET_IFNAME means" : "");
    return NCCL_SUCCESS;
}

enum nccl_result devices_count(int *count)
{
    *count = device_count;
    return NCCL_SUCCESS;
}

const struct device *device_of(int device)
{
    return device >= 0 && device < device_count ? &devices[device] : NULL;
}

/* Mbit/s; a virtual link has none. */
static int speed_of(const char *name)
{
    char path[sizeof "/sys/class/net//speed" + IF_NAMESIZE];
    int speed = 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%d", &speed) != 1)
        speed = 0;
    if (f)
        fclose(f);
    return speed > 0 ? speed : USUAL_SPEED;
}

enum nccl_result devices_properties(int device, struct nccl_properties *properties)
{
    struct device *d = &devices[device];
    if (!device_of(device))
        return nccl_fail(NCCL_INVALID_ARGUMENT, "there is no network device %d", device);
    *properties = (struct nccl_properties){
        .name = d->name,
        .pci_path = paths[device][0] ? paths[device] : NULL,
        .guid = (uint64_t)device,
        .memory = NCCL_MEMORY_HOST,
        .speed = speed_of(d->name),
        .comms_max = COMMS_MAX,
        .receives_max = 1,
    };
    return NCCL_SUCCESS;
}

enum nccl_result memory_register(void *comm, void *data, size_t size, int memory, void **mr)
{
    (void)comm, (void)data, (void)size;
    *mr = NULL;
    return memory == NCCL_MEMORY_HOST ? NCCL_SUCCESS
                                      : nccl_fail(NCCL_INVALID_USAGE, "buffers must be in the host's memory");
}

enum nccl_result memory_register_dmabuf(void *comm, void *data, size_t size, int memory, uint64_t offset,
                                        int fd, void **mr)
{
    (void)comm, (void)data, (void)size, (void)memory, (void)offset, (void)fd;
    *mr = NULL;
    return nccl_fail(NCCL_INVALID_USAGE, "buffers of other devices are not taken");
}

enum nccl_result memory_deregister(void *comm, void *mr)
{
    (void)comm, (void)mr;
    return NCCL_SUCCESS;
}

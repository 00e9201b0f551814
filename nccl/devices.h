/* What both tables share: the host's network devices, as NCCL is to see them, NCCL's log, and memory. */
#pragma once

#include <net/if.h>
#include <netinet/in.h>

#include "nccl_abi.h"

struct device {
    char name[IF_NAMESIZE];
    struct in_addr address;
};

/* Finds them, the first time: interfaces that are up and have an IPv4 address, but for lo; those that
 * NCCL_SOCKET_IFNAME names, if it is set, by NCCL's rules: beginnings of names, "=" before a list of whole
 * names, "^" before those that are not meant. */
enum nccl_result devices_init(nccl_logger_fn *logger);
enum nccl_result devices_count(int *count);
enum nccl_result devices_properties(int device, struct nccl_properties *properties);
/* NULL: there is none of that number. */
const struct device *device_of(int device);

/* A line of NCCL's log, and the result for the caller to return. */
__attribute__((format(printf, 2, 3))) enum nccl_result nccl_fail(enum nccl_result result, const char *format,
                                                                 ...);
__attribute__((format(printf, 1, 2))) void nccl_tell(const char *format, ...);

/* Host memory needs no registration, and no other is taken. */
enum nccl_result memory_register(void *comm, void *data, size_t size, int memory, void **mr);
enum nccl_result memory_register_dmabuf(void *comm, void *data, size_t size, int memory, uint64_t offset,
                                        int fd, void **mr);
enum nccl_result memory_deregister(void *comm, void *mr);

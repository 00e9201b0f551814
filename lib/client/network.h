/* What carries a job's datagrams, of data and of control: the kernel's sockets; or a device that belongs to
 * this process alone, which libswagg-dpdk.so drives; or, for data, a NIC's queue pairs, by libswagg-verbs.so.
 * These are loaded when the first job asks for them, so the library itself needs neither DPDK nor libibverbs.
 *
 * Functions may be called by any thread, but close, which comes last; what they return -errno for is also
 * said of sockets.
 */
#pragma once

#include <sys/types.h>

#include "options.h"
#include "transport.h"

enum { NETWORK_WORDS = 768 };

struct network;

struct network_ops {
    /* A descriptor for datagrams to one UDP port, and from it: for send, recv, poll and close. *local: its
     * own address and UDP port. */
    int (*connect)(struct network *n, const struct sockaddr_in *to, struct sockaddr_in *local);
    /* One for datagrams to several: for the next two functions, poll and close. They are not cut into
     * fragments. */
    int (*open)(struct network *n, bool without_checksum);
    /* 0; -EMSGSIZE: it is longer than the first interface on the way takes. */
    int (*send_to)(struct network *n, int fd, const struct sockaddr_in *to, const void *payload,
                   size_t bytes);
    /* Bytes, at most room, without waiting; -EAGAIN: nothing is there. */
    ssize_t (*receive_from)(struct network *n, int fd, struct sockaddr_in *from, void *payload, size_t room);
    /* Of an IP packet to where this descriptor is connected to, as far as is known here; 0: nothing is. */
    unsigned (*mtu)(struct network *n, int fd);
    /* -errno: why not in words, too, if these say more; they are "" before. */
    int (*transport)(struct network *n, struct transport **out, const struct transport_config *config,
                     char why[NETWORK_WORDS]);
    /* Once all descriptors and transports are closed. In a child that has inherited the job by fork it leaves
     * the parent's device alone. */
    void (*close)(struct network *n);
};

struct network {
    const struct network_ops *ops;
};

/* What a shared object offers, under the name NETWORK_DRIVER. */
struct network_driver {
    const char *version; /* of the build that it is from (swagg_version): another's is refused */
    /* 0, with what was opened in words; or -errno, with why not. kernel: its sockets, for what the driver
     * leaves to them. */
    int (*open)(struct network **out, const struct client_port *port, const struct network_ops *kernel,
                char words[NETWORK_WORDS]);
};

#define NETWORK_DRIVER "swagg_network_driver"

/* The network that the options ask for. 0; or -errno, with why not in words. */
int network_open(struct network **out, const struct client_options *options, char why[NETWORK_WORDS]);

/* The kernel's; there is nothing to close. */
extern const struct network_ops network_kernel_ops;

/* The private state of a UDP transport; included by its own files only. */
#ifndef SWAGG_CLIENT_TRANSPORT_UDP_STATE_H
#define SWAGG_CLIENT_TRANSPORT_UDP_STATE_H

#include <errno.h>
#include <sys/socket.h>

#include "transport_udp.h"
#include "wire/control.h"

/* A send may be one packet or a run of packets. */
struct outgoing {
    const struct sml_send *packet[TRANSPORT_BATCH]; /* in the order in which they leave */
    struct mmsghdr message[TRANSPORT_BATCH];
    unsigned first[TRANSPORT_BATCH]; /* the packet that each message begins with */
    struct iovec iov[3 * TRANSPORT_BATCH];
    _Alignas(struct cmsghdr) char control[TRANSPORT_BATCH][CMSG_SPACE(sizeof(uint16_t))];
    uint8_t *made; /* room for TRANSPORT_BATCH bodies that cannot be sent from where they lie */
    uint8_t trailer[TRANSPORT_BATCH][SML_TRAILER_MAX];
};

/* A message may be one packet or a run of packets that the kernel has merged. */
struct incoming {
    struct mmsghdr message[TRANSPORT_BATCH];
    struct iovec iov[TRANSPORT_BATCH];
    struct sockaddr_in from[TRANSPORT_BATCH];
    _Alignas(struct cmsghdr) char control[TRANSPORT_BATCH][2 * CMSG_SPACE(sizeof(int))];
    unsigned received; /* messages of the last call */
    unsigned next;     /* the first of them that is not handed over yet */
    bool by_group;     /* these messages were */
    size_t taken;      /* bytes of it that are */
    uint8_t *buffer;
};

struct udp {
    struct transport base;
    struct sockaddr_in data_port[CTL_DATA_PORTS_MAX]; /* of the switch */
    unsigned data_ports;
    bool connected;    /* to data_port[0], the only one */
    unsigned segments; /* packets a run may have; 1: the kernel does not segment */
    uint64_t lost;     /* sends that failed */
    size_t packet_max; /* bytes of a UDP payload */
    void (*mark)(uint8_t *payload, size_t bytes), (*note_group)(uint8_t *payload, size_t bytes);
    struct agg_key_place key; /* by which packets are dealt to data ports */
    enum sml_checksum checksum;
    struct outgoing out;
    struct incoming in;
};

/* Errors that no change of the network can mend. Any other only means that a packet is lost: routes and
 * packet filters may change (EINVAL, EACCES, EPERM, ENETUNREACH, ...), and ICMP may come from anybody. */
static inline bool udp_is_hopeless(int error)
{
    return error == EBADF || error == ENOTSOCK || error == EFAULT || error == EOPNOTSUPP;
}

/* transport_ops.send */
int udp_send(struct transport *t, const struct sml_send packets[], unsigned n);

#endif

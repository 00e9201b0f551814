#include "dpdk/port.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "dpdk/eal.h"
#include "dpdk/neighbours.h"
#include "kernels_chosen.h"
#undef NS_PER_SECOND /* DPDK has one of its own */
#include "monotonic.h"
#include "net/arp.h"
#include "net/check.h"
#include "net/icmp.h"
#include "own_fd.h"
#include "own_thread.h"

enum {
    ENDS = 256,
    USUAL_MTU = 1500,
    BUFFER_STEP = 2048,       /* net_af_packet needs buffers as large as its ring's frames */
    BUFFERS_BYTES = 24 << 20, /* for all of them */
    BUFFERS_MOST = 6143,
    RING_MOST = 1024,        /* frames that wait in the device, each way */
    LOOK_MS = 1,             /* while no call polls */
    SEND_PATIENCE_US = 2000, /* then a full device loses frames */
    UDP_PORT_FIRST = 49152,  /* of those for anybody (RFC 6335) */
    UDP_PORTS = 65536 - UDP_PORT_FIRST,
};

struct port {
    struct port *next;
    unsigned users; /* under `ports.lock`, and next */
    char device[CLIENT_ARGUMENTS_MAX];
    pid_t owner;
    uint16_t id; /* as DPDK numbers devices */
    bool opened, started, reads_at_once;
    struct net_mac mac;
    struct in_addr address, gateway;
    uint32_t netmask;
    unsigned mtu;
    const struct agg_kernels *kernels;
    struct rte_mempool *buffers;
    struct rte_mbuf_ext_shared_info elsewhere; /* of all memory that frames refer to and nobody frees */
    pthread_t thread;
    bool has_thread;
    struct waker waker; /* for the thread */
    pthread_mutex_t lock;
    /* under the lock */
    bool stop;
    struct neighbours neighbours;
    struct port_end *end[ENDS]; /* that with UDP port base + i is in i */
    uint16_t base;
    unsigned next_end;
    uint64_t polls;
};

static struct {
    pthread_mutex_t lock;
    struct port *first;
} ports = {.lock = PTHREAD_MUTEX_INITIALIZER};

void port_lock(struct port *port)
{
    pthread_mutex_lock(&port->lock);
}

void port_unlock(struct port *port)
{
    pthread_mutex_unlock(&port->lock);
}

uint32_t port_address(const struct port *port)
{
    return port->address.s_addr;
}

unsigned port_mtu(const struct port *port)
{
    return port->mtu;
}

const struct agg_kernels *port_kernels(const struct port *port)
{
    return port->kernels;
}

bool port_reads_at_once(const struct port *port)
{
    return port->reads_at_once;
}

void port_wake(struct port *port)
{
    waker_wake(&port->waker);
}

/* Ends */

int port_add(struct port *port, struct port_end *end)
{
    for (unsigned i = 0; i < ENDS; i++) {
        const unsigned at = (port->next_end + i) % ENDS;
        if (port->end[at])
            continue;
        port->end[at] = end;
        port->next_end = at + 1; /* a number that was let go is the last to be used again */
        end->udp_port = net16(port->base + at);
        return 0;
    }
    return -EMFILE;
}

static struct port_end **place_of(struct port *port, uint16_t udp_port)
{
    const unsigned at = (unsigned)net16(udp_port) - port->base;
    return at < ENDS ? &port->end[at] : NULL;
}

void port_remove(struct port *port, struct port_end *end)
{
    *place_of(port, end->udp_port) = NULL;
}

/* Sending */

struct rte_mbuf *port_frame(struct port *port, size_t bytes)
{
    struct rte_mbuf *m = rte_pktmbuf_alloc(port->buffers);
    if (m && !rte_pktmbuf_append(m, (uint16_t)bytes)) {
        rte_pktmbuf_free(m);
        return NULL;
    }
    return m;
}

bool port_append(struct port *port, struct rte_mbuf *m, const void *bytes, size_t n)
{
    struct rte_mbuf *tail = rte_pktmbuf_alloc(port->buffers);
    if (!tail)
        return false;
    rte_mbuf_ext_refcnt_update(&port->elsewhere, 1);
    rte_pktmbuf_attach_extbuf(tail, (void *)bytes, 0, (uint16_t)n, &port->elsewhere);
    rte_pktmbuf_append(tail, (uint16_t)n);
    return rte_pktmbuf_chain(m, tail) == 0;
}

void port_send(struct port *port, struct rte_mbuf *frames[], unsigned n)
{
    unsigned sent = rte_eth_tx_burst(port->id, 0, frames, (uint16_t)n);
    if (sent < n) {
        const uint64_t until = monotonic_ns() + SEND_PATIENCE_US * NS_PER_US;
        do {
            sched_yield();
            sent += rte_eth_tx_burst(port->id, 0, frames + sent, (uint16_t)(n - sent));
        } while (sent < n && monotonic_ns() < until);
    }
    rte_pktmbuf_free_bulk(frames + sent, n - sent);
}

static void ask_for(struct port *port, uint32_t ip)
{
    struct rte_mbuf *m = port_frame(port, sizeof(struct frame_arp));
    if (!m)
        return;
    arp_ask(rte_pktmbuf_mtod(m, struct frame_arp *), &port->mac, port->address.s_addr, ip);
    port_send(port, &m, 1);
}

const struct net_mac *port_neighbour(struct port *port, uint32_t ip)
{
    const bool on_link = ((ip ^ port->address.s_addr) & port->netmask) == 0;
    const uint32_t hop = on_link ? ip : port->gateway.s_addr;
    bool ask;
    const struct net_mac *mac = neighbours_find(&port->neighbours, hop, monotonic_ns(), &ask);
    if (ask)
        ask_for(port, hop);
    return mac;
}

void port_header(const struct port *port, struct frame_header *out, const struct net_mac *mac, uint32_t ip,
                 uint16_t udp_port)
{
    const struct frame_end from = {.mac = port->mac, .ip = port->address.s_addr},
                           to = {.mac = *mac, .ip = ip, .port = udp_port};
    frame_header_init(out, &from, &to);
}

/* Receiving. These return whether the frame is somebody else's from now on. */

static bool take_arp(struct port *port, struct rte_mbuf *m)
{
    struct frame_arp *f = rte_pktmbuf_mtod(m, struct frame_arp *);
    if (!arp_check(f, m->data_len))
        return false;
    neighbours_hear(&port->neighbours, f->arp.sender_ip, &f->arp.sender_mac, monotonic_ns());
    if (f->arp.operation != net16(NET_ARP_REQUEST) || f->arp.target_ip != port->address.s_addr)
        return false;
    arp_answer(f, f, &port->mac);
    port_send(port, &m, 1);
    return true;
}

static bool take_icmp(struct port *port, struct rte_mbuf *m)
{
    struct frame_icmp *f = rte_pktmbuf_mtod(m, struct frame_icmp *);
    if (icmp_check(f, port->kernels->ones_sum) != ICMP_ECHO_REQUEST)
        return false;
    icmp_answer(f, &port->mac, port->address.s_addr, port->kernels->ones_sum);
    port_send(port, &m, 1);
    return true;
}

static enum net_found found(uint64_t flags, uint64_t mask, uint64_t good, uint64_t bad)
{
    return (flags & mask) == good ? NET_GOOD : (flags & mask) == bad ? NET_BAD : NET_NOT_COMPARED;
}

static bool take_udp(struct port *port, struct rte_mbuf *m)
{
    struct frame_udp *f = rte_pktmbuf_mtod(m, struct frame_udp *);
    const enum net_found checksum = found(m->ol_flags, RTE_MBUF_F_RX_L4_CKSUM_MASK,
                                          RTE_MBUF_F_RX_L4_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_BAD);
    struct port_end **end = place_of(port, f->udp.dst_port);
    if (!end || !*end || net_check_udp(&f->ip, &f->udp, checksum, port->kernels->ones_sum) != NET_OK)
        return false;
    return (*end)->take(*end, m, f);
}

static bool take_ipv4(struct port *port, struct rte_mbuf *m)
{
    const struct net_ipv4 *ip =
        rte_pktmbuf_mtod_offset(m, const struct net_ipv4 *, sizeof(struct net_ethernet));
    const enum net_found checksum = found(m->ol_flags, RTE_MBUF_F_RX_IP_CKSUM_MASK,
                                          RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_IP_CKSUM_BAD);
    if (net_check_ipv4(ip, m->data_len - sizeof(struct net_ethernet), checksum) != NET_OK ||
        ip->dst_addr != port->address.s_addr)
        return false;
    switch (ip->next_proto_id) {
    case NET_PROTOCOL_UDP:
        return take_udp(port, m);
    case NET_PROTOCOL_ICMP:
        return take_icmp(port, m);
    default:
        return false;
    }
}

static bool take(struct port *port, struct rte_mbuf *m)
{
    const struct net_ethernet *eth = rte_pktmbuf_mtod(m, const struct net_ethernet *);
    if (m->nb_segs != 1 || m->data_len < sizeof *eth ||
        !(net_same_mac(&eth->dst_addr, &port->mac) || net_is_broadcast(&eth->dst_addr)))
        return false;
    if (eth->ether_type == net16(NET_TYPE_IPV4))
        return take_ipv4(port, m);
    return eth->ether_type == net16(NET_TYPE_ARP) && take_arp(port, m);
}

unsigned port_poll(struct port *port)
{
    struct rte_mbuf *frame[PORT_BURST];
    const unsigned n = rte_eth_rx_burst(port->id, 0, frame, PORT_BURST);
    port->polls++;
    for (unsigned i = 0; i < n; i++)
        if (!take(port, frame[i]))
            rte_pktmbuf_free(frame[i]);
    return n;
}

/* The port's thread */

/* What it sleeps on: its waker, and the descriptors of ends. */
static nfds_t descriptors(struct port *port, struct pollfd fds[1 + ENDS])
{
    nfds_t n = 0;
    fds[n++] = (struct pollfd){.fd = port->waker.sleeper.fd, .events = POLLIN};
    for (unsigned i = 0; i < ENDS; i++)
        if (port->end[i] && port->end[i]->fd >= 0)
            fds[n++] = (struct pollfd){.fd = port->end[i]->fd, .events = POLLIN};
    return n;
}

/* Ends may have come and gone since: each is looked up again. */
static void serve_ends(struct port *port, const struct pollfd fds[], nfds_t n)
{
    for (nfds_t f = 1; f < n; f++)
        for (unsigned i = 0; fds[f].revents && i < ENDS; i++)
            if (port->end[i] && port->end[i]->fd == fds[f].fd)
                port->end[i]->serve(port->end[i]);
}

static void *run(void *arg)
{
    struct port *port = arg;
    struct pollfd fds[1 + ENDS];
    port_lock(port);
    while (!port->stop) {
        const uint64_t polls = port->polls;
        const nfds_t n = descriptors(port, fds);
        const struct timespec nap = {.tv_nsec = LOOK_MS * NS_PER_MS};
        port_unlock(port);
        ppoll(fds, n, &nap, NULL);
        if (fds[0].revents)
            waker_drain(&port->waker);
        port_lock(port);
        serve_ends(port, fds, n);
        while (port->polls == polls && port_poll(port) == PORT_BURST)
            port->polls = polls; /* there may be more */
    }
    port_unlock(port);
    return NULL;
}

static int start_thread(struct port *port)
{
    const int rc = own_thread_start(&port->thread, run, port);
    port->has_thread = rc == 0;
    return rc;
}

/* Opening and closing */

/* Drivers that have copied a frame when they have taken it. */
static bool driver_copies(const struct rte_eth_dev_info *info, const char *device)
{
    static const char *const drivers[] = {"net_memif", "net_af_packet"};
    for (unsigned i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (strcmp(info->driver_name, drivers[i]) == 0)
            return (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) &&
                   !strstr(device, "zero-copy=yes");
    return false;
}

static int fail(const struct port *port, int rc, const char *what, char why[NETWORK_WORDS])
{
    const char *said = eal_heard();
    snprintf(why, NETWORK_WORDS, "%s %.128s: %s%s%s%s", what, port->device, rte_strerror(-rc),
             rc == -ENOMEM ? ": give DPDK more, by -m MEGABYTES in options.eal" : "", said[0] ? ": " : "",
             said);
    return rc;
}

static int find_device(struct port *port)
{
    char name[RTE_DEV_NAME_MAX_LEN];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(port->device, ","), port->device);
    int rc = rte_eth_dev_get_port_by_name(name, &port->id);
    if (rc < 0 && (rc = rte_dev_probe(port->device)) == 0)
        rc = rte_eth_dev_get_port_by_name(name, &port->id);
    port->opened = rc == 0;
    return rc;
}

/* A number that no other port of this process has had. */
static void pool_name(char name[RTE_MEMPOOL_NAMESIZE])
{
    static unsigned number;
    snprintf(name, RTE_MEMPOOL_NAMESIZE, "swagg%u", number++);
}

/* Whoever has the port's lock takes buffers and gives them back: no thread needs a cache of its own. The ring
 * of the usual kind: net_af_xdp sends nothing from DPDK 22.11's "stack". */
static int make_buffers(struct port *port)
{
    char name[RTE_MEMPOOL_NAMESIZE];
    const unsigned frame = port->mtu + (unsigned)sizeof(struct net_ethernet) + RTE_ETHER_CRC_LEN;
    const unsigned room = RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(frame, BUFFER_STEP);
    const unsigned fit = BUFFERS_BYTES / (room + (unsigned)sizeof(struct rte_mbuf));
    pool_name(name);
    port->buffers = rte_pktmbuf_pool_create(name, fit < BUFFERS_MOST ? fit : BUFFERS_MOST, 0, 0,
                                            (uint16_t)room, SOCKET_ID_ANY);
    return port->buffers ? 0 : -rte_errno;
}

/* Virtual devices often say less of their greatest MTU than they carry; it is told what it says. */
static uint16_t device_mtu(const struct port *port, const struct rte_eth_dev_info *info)
{
    const unsigned frame = sizeof(struct net_ethernet) + RTE_ETHER_CRC_LEN;
    const unsigned most = info->max_rx_pktlen > frame ? info->max_rx_pktlen - frame : USUAL_MTU;
    const bool understates = strncmp(port->device, "net_", 4) == 0 && most < port->mtu;
    return (uint16_t)(understates ? most : port->mtu);
}

static int set_up(struct port *port)
{
    struct rte_eth_dev_info info;
    struct rte_ether_addr mac;
    uint16_t receive = RING_MOST, send = RING_MOST;
    int rc = rte_eth_dev_info_get(port->id, &info);
    if (rc < 0 || (rc = make_buffers(port)) < 0)
        return rc;
    port->reads_at_once = driver_copies(&info, port->device);
    const struct rte_eth_conf conf = {
        .rxmode = {.mtu = device_mtu(port, &info),
                   .offloads =
                       info.rx_offload_capa & (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM)},
        .txmode = {.offloads = port->reads_at_once ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0},
    };
    if ((rc = rte_eth_dev_configure(port->id, 1, 1, &conf)) < 0 ||
        (rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &receive, &send)) < 0 ||
        (rc = rte_eth_rx_queue_setup(port->id, 0, receive, SOCKET_ID_ANY, NULL, port->buffers)) < 0 ||
        (rc = rte_eth_tx_queue_setup(port->id, 0, send, SOCKET_ID_ANY, NULL)) < 0 ||
        (rc = rte_eth_dev_start(port->id)) < 0)
        return rc;
    port->started = true;
    if ((rc = rte_eth_macaddr_get(port->id, &mac)) == 0)
        memcpy(&port->mac, &mac, sizeof port->mac);
    return rc;
}

static void nobody_frees(void *memory, void *opaque)
{
    (void)memory;
    (void)opaque;
}

static struct port *make_port(const struct client_port *wish)
{
    struct port *port = calloc(1, sizeof *port);
    char why[KERNELS_WHY];
    if (!port)
        return NULL;
    memcpy(port->device, wish->device, sizeof port->device);
    port->owner = getpid();
    port->address = wish->address;
    port->gateway = wish->gateway;
    port->netmask = wish->netmask;
    port->mtu = wish->mtu ? wish->mtu : USUAL_MTU;
    port->kernels = kernels_chosen(why); /* the library has asked before: there are some */
    port->base = (uint16_t)(UDP_PORT_FIRST + monotonic_ns() / NS_PER_US % (UDP_PORTS - ENDS));
    port->elsewhere = (struct rte_mbuf_ext_shared_info){.free_cb = nobody_frees};
    rte_mbuf_ext_refcnt_set(&port->elsewhere, 1);
    port->waker = WAKER_NONE;
    pthread_mutex_init(&port->lock, NULL);
    return port;
}

/* The driver may be removed and found again: there could be no other device of its name. */
static void close_device(struct port *port)
{
    struct rte_eth_dev_info info;
    if (!port->opened)
        return;
    const bool known = rte_eth_dev_info_get(port->id, &info) == 0;
    if (port->started)
        rte_eth_dev_stop(port->id);
    rte_eth_dev_close(port->id);
    if (known)
        rte_dev_remove(info.device);
}

static void close_port(struct port *port)
{
    if (port->has_thread) {
        port_lock(port);
        port->stop = true;
        port_unlock(port);
        port_wake(port);
        pthread_join(port->thread, NULL);
    }
    for (unsigned i = 0; i < ENDS; i++) /* their near ends are closed: they go */
        if (port->end[i])
            port->end[i]->serve(port->end[i]);
    close_device(port);
    rte_mempool_free(port->buffers);
    waker_close(&port->waker);
    pthread_mutex_destroy(&port->lock);
    free(port);
}

static int open_port(struct port *port, char why[NETWORK_WORDS])
{
    int rc;
    eal_listen();
    if ((rc = find_device(port)) < 0)
        return fail(port, rc, "DPDK has no device", why);
    if ((rc = set_up(port)) < 0)
        return fail(port, rc, "DPDK cannot set up the device", why);
    eal_heard();
    if ((rc = waker_open(&port->waker)) < 0 || (rc = start_thread(port)) < 0) {
        snprintf(why, NETWORK_WORDS, "no thread for the device: %s", strerror(-rc));
        return rc;
    }
    return 0;
}

static void tell(const struct port *port, char words[NETWORK_WORDS])
{
    char mac[NET_MAC_TEXT_MAX];
    snprintf(words, NETWORK_WORDS, "%.128s is this process's own, MAC %s, MTU %u", port->device,
             net_mac_text(mac, &port->mac), port->mtu);
}

static int make_and_open(struct port **out, const struct client_port *wish, char why[NETWORK_WORDS])
{
    int rc = eal_start(wish->device, wish->eal, why);
    if (rc < 0)
        return rc;
    struct port *port = make_port(wish);
    if (!port) {
        snprintf(why, NETWORK_WORDS, "no memory for a port");
        return -ENOMEM;
    }
    if ((rc = open_port(port, why)) < 0) {
        close_port(port);
        return rc;
    }
    port->next = ports.first;
    ports.first = port;
    tell(port, why);
    *out = port;
    return 0;
}

/* Of the same name, whatever its arguments. */
static struct port *find_port(const struct client_port *wish)
{
    const size_t name = strcspn(wish->device, ",");
    for (struct port *port = ports.first; port; port = port->next)
        if (strcspn(port->device, ",") == name && memcmp(port->device, wish->device, name) == 0)
            return port;
    return NULL;
}

static bool is_as_wished(const struct port *port, const struct client_port *wish)
{
    return strcmp(port->device, wish->device) == 0 && port->address.s_addr == wish->address.s_addr &&
           port->netmask == wish->netmask && port->gateway.s_addr == wish->gateway.s_addr &&
           (wish->mtu == 0 || wish->mtu <= port->mtu);
}

/* All jobs of a process have the same address there. */
static int share(struct port **out, struct port *port, const struct client_port *wish,
                 char why[NETWORK_WORDS])
{
    if (port->owner != getpid()) {
        snprintf(why, NETWORK_WORDS,
                 "the process that has forked this one has the device %.128s: open jobs in one of the two",
                 port->device);
        return -EBUSY;
    }
    if (!is_as_wished(port, wish)) {
        snprintf(why, NETWORK_WORDS,
                 "another job of this process has the device %.128s, with other arguments, another "
                 "options.address or "
                 "options.gateway, or a lesser options.mtu: make them the same",
                 port->device);
        return -EBUSY;
    }
    tell(port, why);
    *out = port;
    return 0;
}

int port_get(struct port **out, const struct client_port *wish, char why[NETWORK_WORDS])
{
    pthread_mutex_lock(&ports.lock);
    struct port *there = find_port(wish);
    const int rc = there ? share(out, there, wish, why) : make_and_open(out, wish, why);
    if (rc == 0)
        (*out)->users++;
    pthread_mutex_unlock(&ports.lock);
    return rc;
}

void port_let_go(struct port *port)
{
    if (port->owner != getpid())
        return;
    pthread_mutex_lock(&ports.lock);
    if (--port->users == 0) {
        struct port **at = &ports.first;
        while (*at != port)
            at = &(*at)->next;
        *at = port->next;
        close_port(port);
    }
    pthread_mutex_unlock(&ports.lock);
}

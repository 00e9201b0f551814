#include "path.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "monotonic.h"
#include "options.h"
#include "wire/path.h"
#include "wire/path_lengths.h"

enum {
    ROUND_MS = 50,
    CONTROL_ANSWERS_ENOUGH = 20, /* without an answer from a data port: it is closed */
    PAYLOAD_MAX = SML_HEADER_BYTES + SML_MAX_CHUNK_BYTES + XFER_TRAILER_MAX,
};

struct prober {
    const struct path_wish *wish;
    struct path *path;
    int data_fd, control_fd; /* data_fd is not connected, so that ICMP errors do not disturb it; control_fd
                                is, so that they are reported */
    struct path_lengths lengths;
    unsigned ports;    /* of the switch; as answers say */
    uint32_t answered; /* bit p: a packet of size `best` came back from port p */
    uint16_t nonce, round;
    uint64_t rounds; /* that are over; `round` is what of it fits a packet */
    uint64_t incarnation;
    unsigned control_answers;
};

static void add_size(struct prober *p, unsigned mtu)
{
    if (mtu < CLIENT_MTU_MIN || (p->wish->mtu && mtu > p->wish->mtu))
        return;
    path_lengths_add(&p->lengths, mtu, p->wish->packet_bytes(mtu, p->wish->checksum));
}

/* The MTU that is known here is only one of the lengths to try. */
static void choose_sizes(struct prober *p)
{
    struct network *n = p->wish->network;
    const unsigned known = n->ops->mtu(n, p->control_fd);
    for (unsigned i = 0; i < PATH_USUAL_MTUS; i++)
        add_size(p, path_usual_mtus[i]);
    add_size(p, CLIENT_MTU_MIN);
    if (known > 0)
        add_size(p, known);
    if (p->wish->mtu)
        add_size(p, p->wish->mtu);
}

static struct sockaddr_in port_of(const struct prober *p, unsigned port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr = p->wish->switch_ip, .sin_port = htons((uint16_t)port)};
}

static int open_sockets(struct prober *p)
{
    struct network *n = p->wish->network;
    const struct sockaddr_in control = port_of(p, CTL_PORT);
    struct sockaddr_in local;
    p->data_fd = n->ops->open(n, p->wish->checksum != XFER_CHECKSUM_NONE);
    p->control_fd = n->ops->connect(n, &control, &local);
    return p->data_fd < 0 ? p->data_fd : p->control_fd < 0 ? p->control_fd : 0;
}

static void close_sockets(const struct prober *p)
{
    if (p->data_fd >= 0)
        close(p->data_fd);
    if (p->control_fd >= 0)
        close(p->control_fd);
}

static bool all_ports_answer(const struct prober *p)
{
    return p->answered == (1u << p->ports) - 1;
}

static bool is_open(const struct prober *p)
{
    return path_lengths_are_settled(&p->lengths) && all_ports_answer(p);
}

/* Sending */

/* Whether it was sent. */
static bool ask(struct prober *p, unsigned port, unsigned size)
{
    uint8_t payload[PAYLOAD_MAX];
    struct network *n = p->wish->network;
    struct path_lengths *l = &p->lengths;
    const struct sockaddr_in to = port_of(p, p->wish->first_port + port);
    path_build_question(payload, l->size[size].bytes, (uint32_t)p->nonce << 16 | p->round, (uint16_t)port);
    const int rc = n->ops->send_to(n, p->data_fd, &to, payload, l->size[size].bytes);
    if (rc == 0)
        return true;
    if (rc == -EMSGSIZE && size == l->first && size + 1 < l->sizes)
        l->first++; /* too long for the interface */
    else
        p->path->trouble = -rc;
    return false;
}

static void ask_lengths(struct prober *p)
{
    const unsigned last = path_lengths_last(&p->lengths);
    for (unsigned size = p->lengths.first; size <= last; size++)
        if (ask(p, 0, size) && p->round == 0)
            return; /* nearly always enough */
}

static void ask_ports(struct prober *p)
{
    for (unsigned port = 0; port < p->ports; port++)
        if (!(p->answered >> port & 1))
            ask(p, port, p->lengths.best);
}

/* A question that any switch answers and that changes nothing: a heartbeat from nobody's incarnation. */
static void ask_control(struct prober *p)
{
    uint8_t message[CTL_MESSAGE_MAX];
    const struct ctl_message m = {.head = {.type = CTL_HEARTBEAT,
                                           .version = CTL_VERSION,
                                           .incarnation = p->incarnation,
                                           .size = 1,
                                           .serial = p->round}};
    if (send(p->control_fd, message, ctl_build(message, &m), MSG_DONTWAIT) < 0)
        p->path->trouble = errno;
}

/* Receiving */

static void on_answer(struct prober *p, unsigned port, const struct path_answer *a, size_t bytes)
{
    const enum path_news news = path_lengths_answered(&p->lengths, bytes, (uint16_t)a->tag);
    p->ports = a->data_ports;
    if (news == PATH_BETTER)
        p->answered = 0;
    if (news != PATH_OLD_NEWS)
        p->answered |= 1u << port;
}

static void receive_answers(struct prober *p)
{
    uint8_t payload[PAYLOAD_MAX + 1];
    struct sockaddr_in from;
    struct network *n = p->wish->network;
    struct path_answer a;
    ssize_t bytes;
    while ((bytes = n->ops->receive_from(n, p->data_fd, &from, payload, sizeof payload)) >= 0) {
        unsigned port = (unsigned)ntohs(from.sin_port) - p->wish->first_port;
        if (from.sin_addr.s_addr == p->wish->switch_ip.s_addr && port < CTL_DATA_PORTS_MAX &&
            path_parse_answer(&a, payload, (size_t)bytes) && a.tag >> 16 == p->nonce)
            on_answer(p, port, &a, (size_t)bytes);
    }
}

static void receive_control(struct prober *p)
{
    uint8_t payload[CTL_MESSAGE_MAX];
    struct ctl_message m;
    ssize_t bytes = recv(p->control_fd, payload, sizeof payload, MSG_DONTWAIT);
    if (bytes < 0)
        p->path->trouble = errno;
    else if (ctl_parse(&m, payload, (size_t)bytes), m.head.incarnation == p->incarnation)
        p->control_answers++; /* of whatever version */
}

/* There is a swagg. */
static bool is_heard(const struct prober *p)
{
    return p->answered != 0 || p->control_answers > 0;
}

/* Receives until the round is over: every answer has come, a swagg is heard of, or its time is up. */
static void listen_to(struct prober *p, uint64_t until)
{
    const struct path_lengths *l = &p->lengths;
    unsigned rounds_back = l->rounds_back;
    bool settled = path_lengths_are_settled(l), heard = is_heard(p);
    while (!is_open(p) && is_heard(p) == heard && path_lengths_are_settled(l) == settled &&
           l->rounds_back == rounds_back) {
        struct pollfd fds[] = {{.fd = p->data_fd, .events = POLLIN}, {.fd = p->control_fd, .events = POLLIN}};
        struct timespec timeout = timespec_until(until, monotonic_ns());
        if (ppoll(fds, 2, &timeout, NULL) <= 0)
            return;
        if (fds[0].revents)
            receive_answers(p);
        if (fds[1].revents)
            receive_control(p);
    }
}

static uint16_t first_closed_port(const struct prober *p)
{
    unsigned port = 0;
    while (p->answered >> port & 1)
        port++;
    return (uint16_t)(p->wish->first_port + port);
}

/* Enough has been tried to tell what is wrong. */
static bool is_hopeless(struct prober *p, uint64_t now, uint64_t began)
{
    /* Rounds and time: where this process stood still, nobody had the time to answer. */
    bool late = now >= p->wish->deadline;
    bool patient =
        !late && (now - began < p->wish->patience || p->rounds * ROUND_MS * NS_PER_MS < p->wish->patience);
    p->path->state = is_heard(p) ? PATH_BLOCKED : PATH_SILENT;
    if (!is_heard(p)) /* "port unreachable" ends nothing: a switch that restarts is soon back */
        return !patient;
    p->path->blocked_port = first_closed_port(p);
    return late || (!patient && p->control_answers >= CONTROL_ANSWERS_ENOUGH);
}

/* A host without swagg says so by ICMP, of which it sends little: Linux six at once to an address, then one a
 * second. So while nothing is heard of a swagg, the second round is the control port's alone, and so are all
 * that follow a refusal. */
static bool may_ask_lengths(const struct prober *p)
{
    return is_heard(p) || (p->path->trouble != ECONNREFUSED && p->rounds != 1);
}

static void probe(struct prober *p)
{
    uint64_t began = monotonic_ns(), now = began;
    for (; !is_open(p) && !is_hopeless(p, now, began); p->round++, p->rounds++) {
        if (p->rounds > 0)
            ask_control(p);
        if (path_lengths_are_settled(&p->lengths))
            ask_ports(p);
        else if (may_ask_lengths(p))
            ask_lengths(p);
        listen_to(p, now + ROUND_MS * NS_PER_MS);
        now = monotonic_ns();
    }
    if (all_ports_answer(p)) {
        p->path->state = PATH_OPEN;
        p->path->mtu = p->lengths.size[p->lengths.best].mtu;
    }
}

int path_find(struct path *path, const struct path_wish *wish)
{
    struct prober p = {.wish = wish, .path = path, .data_fd = -1, .control_fd = -1, .ports = 1};
    *path = (struct path){.state = PATH_SILENT};
    int rc = open_sockets(&p);
    if (rc == 0 && (getrandom(&p.nonce, sizeof p.nonce, 0) < 0 ||
                    getrandom(&p.incarnation, sizeof p.incarnation, 0) < 0))
        rc = -errno;
    if (rc == 0) {
        choose_sizes(&p);
        probe(&p);
    }
    close_sockets(&p);
    return rc;
}

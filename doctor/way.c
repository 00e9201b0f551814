#include "way.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/random.h>

#include "interface.h"
#include "interface_with.h"
#include "monotonic.h"
#include "wire/control.h"
#include "wire/path.h"
#include "wire/path_lengths.h"
#include "wire/switchml.h"

enum {
    HEADERS = 28, /* IPv4 and UDP */
    ROUND_MS = 50,
    IN_FLIGHT = 8,
    BEHIND = 8,          /* answers to later questions, after which an earlier one is lost */
    CONTROL_ENOUGH = 20, /* answers without one from a data port: it is closed */
    GAP_NS = 500000,     /* between questions: the switch answers an address 2,500 a second */
    FEW_LOST = 5,        /* that say nothing */
    QUESTION_MOST = WAY_MTU_MOST,
};

struct way {
    const struct way_wish *wish;
    struct findings *f;
    int data, control;
    char interface[IF_NAMESIZE]; /* by which packets leave to the switch */
    unsigned interface_mtu;
    uint16_t nonce;
    uint64_t incarnation;
    int trouble;            /* errno of what was sent last in vain; 0: nothing */
    unsigned heard_control; /* answers */
    uint8_t version;        /* of control messages, as an answer has it; 0: none came */
    unsigned ports;         /* for data, as an answer has it; 0: none came */
    struct path_lengths lengths;
};

static struct sockaddr_in port_of(const struct way *w, unsigned port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr = w->wish->ip, .sin_port = htons((uint16_t)port)};
}

/* Packets are not divided on the way, and what ICMP says of the path is not believed. */
static int open_socket(void)
{
    const int whole = IP_PMTUDISC_PROBE;
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof(whole));
    return fd;
}

static bool find_route(struct way *w)
{
    const struct sockaddr_in to = port_of(w, CTL_PORT);
    struct sockaddr_in local;
    socklen_t bytes = sizeof(local);

    w->data = open_socket();
    w->control = open_socket();
    if (w->data < 0 || w->control < 0 || connect(w->control, (const struct sockaddr *)&to, sizeof(to)) < 0 ||
        getsockname(w->control, (struct sockaddr *)&local, &bytes) < 0) {
        finding_type(found(w->f, FINDING_FAULT, "switch", w->wish->name, "no way there: %s", strerror(errno)),
                     "ip route get %s; ip address; ip link", w->wish->name);
        return false;
    }
    if (interface_with(local.sin_addr, w->interface))
        w->interface_mtu = interface_look(w->f, w->interface, INTERFACE_OF_A_HOST, w->wish->mtu);
    return true;
}

/* --- does it answer? --- */

static void ask_control(struct way *w)
{
    uint8_t message[CTL_MESSAGE_MAX];
    const struct ctl_message m = {.head = {.type = CTL_HEARTBEAT,
                                           .version = CTL_VERSION,
                                           .incarnation = w->incarnation,
                                           .size = 1,
                                           .serial = 1}};

    if (send(w->control, message, ctl_build(message, &m), MSG_DONTWAIT) < 0)
        w->trouble = errno;
}

static void hear_control(struct way *w)
{
    uint8_t payload[CTL_MESSAGE_MAX];
    struct ctl_message m;
    const ssize_t bytes = recv(w->control, payload, sizeof(payload), MSG_DONTWAIT);

    if (bytes < 0)
        w->trouble = errno != EAGAIN ? errno : w->trouble;
    else if (ctl_parse(&m, payload, (size_t)bytes), m.head.incarnation == w->incarnation)
        w->heard_control++, w->version = m.head.version;
}

/* tag: a number of the question, which comes back. */
static bool ask_data(struct way *w, unsigned port, size_t bytes, uint16_t tag)
{
    uint8_t payload[QUESTION_MOST];
    const struct sockaddr_in to = port_of(w, SML_PORT_FIRST + port);

    path_build_question(payload, bytes, (uint32_t)w->nonce << 16 | tag, (uint16_t)port);
    if (sendto(w->data, payload, bytes, MSG_DONTWAIT, (const struct sockaddr *)&to, sizeof(to)) >= 0)
        return true;
    w->trouble = errno;
    return false;
}

/* The length of an answer to a question of ours; 0: there is none. */
static size_t hear_data(struct way *w, struct path_answer *a)
{
    uint8_t payload[QUESTION_MOST];
    struct sockaddr_in from;
    socklen_t length = sizeof(from);
    ssize_t bytes;

    while ((bytes = recvfrom(w->data, payload, sizeof(payload), MSG_DONTWAIT, (struct sockaddr *)&from,
                             &length)) >= 0)
        if (from.sin_addr.s_addr == w->wish->ip.s_addr && path_parse_answer(a, payload, (size_t)bytes) &&
            a->tag >> 16 == w->nonce) {
            w->ports = a->data_ports;
            return (size_t)bytes;
        }
    return 0;
}

static void await(const struct way *w, uint64_t until)
{
    struct pollfd fds[] = {{.fd = w->data, .events = POLLIN}, {.fd = w->control, .events = POLLIN}};
    const struct timespec wait = timespec_until(until, monotonic_ns());

    ppoll(fds, 2, &wait, NULL);
}

static void add_length(struct way *w, unsigned mtu)
{
    if (mtu <= w->interface_mtu && mtu >= WAY_MTU_LEAST && mtu - HEADERS <= QUESTION_MOST)
        path_lengths_add(&w->lengths, mtu, mtu - HEADERS);
}

static void choose_lengths(struct way *w)
{
    for (unsigned i = 0; i < PATH_USUAL_MTUS; i++)
        add_length(w, path_usual_mtus[i]);
    add_length(w, w->interface_mtu);
    add_length(w, w->wish->mtu);
    add_length(w, WAY_MTU_LEAST);
}

/* Until each of its questions has an answer, its time is up, or it is known which lengths get through. */
static void ask_until_it_answers(struct way *w)
{
    const uint64_t began = monotonic_ns(), patience = (uint64_t)(w->wish->patience * (double)NS_PER_SECOND);
    struct path_answer a;
    size_t bytes;
    uint64_t rounds = 0;

    while (!path_lengths_are_settled(&w->lengths) || w->version == 0) {
        const uint64_t now = monotonic_ns();

        if ((now - began >= patience && rounds * ROUND_MS * NS_PER_MS >= patience) ||
            (w->ports == 0 && w->heard_control >= CONTROL_ENOUGH))
            return;
        if (w->ports == 0 || w->version == 0)
            ask_control(w);
        for (unsigned size = w->lengths.first; size <= path_lengths_last(&w->lengths); size++)
            if (!ask_data(w, 0, w->lengths.size[size].bytes, (uint16_t)rounds) && w->trouble == EMSGSIZE &&
                size == w->lengths.first && size + 1 < w->lengths.sizes)
                w->lengths.first++;
        await(w, now + ROUND_MS * NS_PER_MS);
        hear_control(w);
        while ((bytes = hear_data(w, &a)) > 0)
            path_lengths_answered(&w->lengths, bytes, (uint16_t)a.tag);
        if (monotonic_ns() < now + ROUND_MS * NS_PER_MS && !(w->version != 0 && w->ports != 0))
            usleep(ROUND_MS * 1000);
        rounds++;
    }
}

/* --- what that says --- */

/* Of the kernel's table of neighbours: what it knows of an address, behind a router of the router. */
static bool is_unknown_neighbour(const struct way *w)
{
    char line[256], ip[64], flags[16];
    FILE *table = fopen("/proc/net/arp", "re");
    bool unknown = false;

    while (table != NULL && fgets(line, sizeof(line), table) != NULL) {
        struct in_addr known;

        if (sscanf(line, "%63s %*s %15s", ip, flags) == 2 && inet_pton(AF_INET, ip, &known) == 1 &&
            known.s_addr == w->wish->ip.s_addr)
            unknown = strtoul(flags, NULL, 16) == 0;
    }
    if (table != NULL)
        fclose(table);
    return unknown;
}

static void nobody_answers(const struct way *w)
{
    const char *name = w->wish->name;

    if (is_unknown_neighbour(w)) {
        finding_type(
            found(w->f, FINDING_FAULT, "arp", name, "nobody in this network says that it has this address"),
            "on the switch: swaggctl status; there, a port that is down, or another switch.ip? "
            "Here: ip address, for the right network; arping %s",
            name);
        found(w->f, FINDING_FAULT, "switch", name, "silent, for it is not there");
    } else if (w->trouble == ECONNREFUSED) {
        finding_type(found(w->f, FINDING_FAULT, "switch", name, "a host is there, but no swagg runs on it"),
                     "there: systemctl start swagg@switch, or is switch.ip this machine's own address?");
    } else if (w->trouble == EPERM) {
        finding_type(
            found(w->f, FINDING_FAULT, "switch", name, "this host's own rules let nothing out to it"),
            "nft -a list ruleset, and delete what drops");
    } else {
        finding_type(
            found(w->f, FINDING_FAULT, "switch", name, "no answer within %g s%s%s", w->wish->patience,
                  w->trouble != 0 ? ": " : "", w->trouble != 0 ? strerror(w->trouble) : ""),
            "is it running, and are UDP ports %d to %d open on the way? swaggctl capture there shows what "
            "comes",
            CTL_PORT, SML_PORT_LAST);
    }
}

static void tell_version(const struct way *w)
{
    if (w->version == CTL_VERSION)
        found(w->f, FINDING_OK, "versions", w->wish->name, "both ends speak version %d", CTL_VERSION);
    else
        finding_type(found(w->f, FINDING_FAULT, "versions", w->wish->name,
                           "it speaks version %u, and this host %d", w->version, CTL_VERSION),
                     "install the same release on both: apt install swagg libswagg0");
}

static void tell_mtu(const struct way *w)
{
    const unsigned mtu = w->lengths.size[w->lengths.best].mtu;
    const unsigned wanted = w->wish->mtu != 0 ? w->wish->mtu : w->interface_mtu;

    if (mtu >= wanted || mtu >= QUESTION_MOST)
        found(w->f, FINDING_OK, "mtu", w->wish->name, "packets of %u bytes get there and back whole", mtu);
    else
        finding_type(
            found(w->f, w->wish->mtu != 0 ? FINDING_FAULT : FINDING_WARNING, "mtu", w->wish->name,
                  "packets of %u bytes get there and back, those of %u do not", mtu, wanted),
            "mtu: in the switch's configuration and ip link set DEV mtu %u on each port, host and switch "
            "on the way; or options.mtu, SWAGG_MTU: %u",
            wanted, mtu);
}

/* --- losses --- */

struct count {
    uint64_t *sent_at; /* of each question; 0: it has its answer */
    uint64_t *took;    /* ns, of each answer */
    unsigned asked, answered;
    unsigned settled; /* before this one, all have their answer or are given up */
    unsigned given_up;
    uint64_t heard; /* when an answer came last */
};

static void settle(struct count *c, unsigned up_to)
{
    while (c->settled < c->asked && (c->sent_at[c->settled] == 0 || c->settled < up_to))
        c->given_up += c->sent_at[c->settled++] != 0;
}

/* What was given up may be answered late: then it is not lost. */
static void take_answers(struct way *w, struct count *c, size_t bytes)
{
    struct path_answer a;
    size_t came;

    while ((came = hear_data(w, &a)) > 0) {
        const uint16_t tag = (uint16_t)a.tag;

        c->heard = monotonic_ns();
        if (came != bytes || tag >= c->asked || c->sent_at[tag] == 0)
            continue;
        c->took[c->answered++] = c->heard - c->sent_at[tag];
        c->sent_at[tag] = 0;
        c->given_up -= tag < c->settled;
        settle(c, tag > BEHIND ? tag - BEHIND : 0);
    }
}

/* No more are under way than the switch answers at once, also if it stood still: so none is lost for want of
 * room. */
static bool may_ask(const struct way *w, const struct count *c)
{
    return c->asked < w->wish->questions && c->asked - c->answered - c->given_up < IN_FLIGHT;
}

static void ask_many(struct way *w, struct count *c, size_t bytes)
{
    const uint64_t patience = (uint64_t)(w->wish->patience * (double)NS_PER_SECOND);
    uint64_t next = monotonic_ns();

    c->heard = next;
    while (c->answered < w->wish->questions) {
        const uint64_t now = monotonic_ns();
        const bool room = may_ask(w, c), all = c->asked == w->wish->questions;

        if (now - c->heard > (all ? patience / 4 : patience))
            return;
        if (!room && !all && now - c->heard > patience / 4)
            settle(c, c->asked);
        if (room && now >= next) {
            c->sent_at[c->asked] = now;
            ask_data(w, c->asked % w->ports, bytes, (uint16_t)c->asked);
            c->asked++;
            next = now + GAP_NS;
        }
        await(w, room ? next : now + ROUND_MS * NS_PER_MS);
        take_answers(w, c, bytes);
    }
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void tell_losses(const struct way *w, struct count *c)
{
    const unsigned lost = c->asked - c->answered;
    const double share = c->asked > 0 ? (double)lost / c->asked : 0;

    qsort(c->took, c->answered, sizeof(c->took[0]), by_size);
    const double median_us = c->answered > 0 ? (double)c->took[c->answered / 2] / 1000 : 0;
    const double tail_us = c->answered > 0 ? (double)c->took[c->answered * 99 / 100] / 1000 : 0;

    if (lost < FEW_LOST || share < 0.001)
        found(w->f, FINDING_OK, "losses", w->wish->name,
              "%u of %u packets were lost; there and back in %.0f us, 99 of 100 within %.0f us", lost,
              c->asked, median_us, tail_us);
    else
        finding_type(found(w->f, share < 0.01 ? FINDING_WARNING : FINDING_FAULT, "losses", w->wish->name,
                           "%u of %u packets were lost (%.1f %%), on the way there or back", lost, c->asked,
                           100 * share),
                     "on the switch: swaggctl ports, swaggctl drops, impair in its configuration; here: "
                     "ethtool -S %s; "
                     "cable, transceiver, flow control",
                     w->interface[0] != '\0' ? w->interface : "DEV");
}

static void count_losses(struct way *w)
{
    struct count c = {.sent_at = calloc(w->wish->questions, sizeof(uint64_t)),
                      .took = calloc(w->wish->questions, sizeof(uint64_t))};

    if (c.sent_at != NULL && c.took != NULL) {
        getrandom(&w->nonce, sizeof(w->nonce), 0); /* answers to earlier questions do not count */
        ask_many(w, &c, w->lengths.size[w->lengths.best].bytes);
        tell_losses(w, &c);
    }
    free(c.sent_at);
    free(c.took);
}

bool way_look(struct findings *f, const struct way_wish *wish)
{
    struct way w = {.wish = wish, .f = f, .data = -1, .control = -1};
    bool open = false;

    getrandom(&w.nonce, sizeof(w.nonce), 0);
    getrandom(&w.incarnation, sizeof(w.incarnation), 0);
    if (find_route(&w)) {
        choose_lengths(&w);
        ask_until_it_answers(&w);
        open = w.ports > 0;
        if (w.version == 0 && !open)
            nobody_answers(&w);
        if (w.version != 0)
            tell_version(&w);
        if (w.version != 0 && !open)
            finding_type(found(f, FINDING_FAULT, "switch", wish->name,
                               "its control port answers, and UDP port %d does not", SML_PORT_FIRST),
                         "UDP ports %d to %d must be open in both directions", SML_PORT_FIRST, SML_PORT_LAST);
    }
    if (open) {
        found(f, FINDING_OK, "switch", wish->name, "answers; %u UDP ports for data", w.ports);
        found(f, FINDING_OK, "arp", wish->name, "somebody has the address, and is the switch");
        tell_mtu(&w);
        if (findings_want(f, "losses"))
            count_losses(&w);
    }
    if (w.data >= 0)
        close(w.data);
    if (w.control >= 0)
        close(w.control);
    return open;
}

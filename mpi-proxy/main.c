/* swagg-mpi-proxy: sums in the path of MPI over TCP (docs/mpi-tcp.md). */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"
#include "kernels_chosen.h"
#include "lines.h"
#include "monotonic.h"
#include "standard_streams.h"
#include "transparent.h"
#include "version.h"

enum { PORTS_MAX = 256, PREFERENCE = 30000, TABLE = 30000 };

struct ports {
    unsigned first, last;
};

struct hosts {
    unsigned n;
    struct in_addr ip[MTP_SENDERS_MAX];
};

struct arguments {
    struct hosts root, senders;
    struct ports ports;
    int tag;
    unsigned type, op, others, wait_ms;
    bool routes;
};

/* --- options --- */

static bool read_hosts(const struct option_row *row, const char *text, void *field)
{
    struct hosts *h = field;
    char one[INET_ADDRSTRLEN];

    for (const char *at = text; *at != '\0'; at += at[0] == ',') {
        const size_t length = strcspn(at, ",");

        if (length >= sizeof(one) || h->n == row->most)
            return complain("%s: %s: not up to %" PRIu64 " IPv4 addresses, with commas between them",
                            option_name(row), text, row->most);
        memcpy(one, at, length);
        one[length] = '\0';
        if (inet_pton(AF_INET, one, &h->ip[h->n++]) != 1)
            return complain("%s: %s is no IPv4 address", option_name(row), one);
        at += length;
    }
    return true;
}

static bool read_ports(const struct option_row *row, const char *text, void *field)
{
    struct ports *p = field;
    int end = 0;

    if (sscanf(text, "%u-%u%n", &p->first, &p->last, &end) != 2 || text[end] != '\0' || p->first < 1 ||
        p->last > UINT16_MAX || p->first > p->last || p->last - p->first >= PORTS_MAX)
        return complain("%s: %s: no range of up to %d ports, like 20000-20015", option_name(row), text,
                        PORTS_MAX);
    return true;
}

static bool read_tag(const struct option_row *row, const char *text, void *field)
{
    if (strcmp(text, "reduce") == 0) {
        *(int *)field = OB1_TAG_REDUCE;
        return true;
    }
    return option_int(row, text, field);
}

static bool read_type(const struct option_row *row, const char *text, void *field)
{
    unsigned *type = field;

    *type = agg_type_named(text);
    return *type != 0 || complain("%s: %s is no type", option_name(row), text);
}

static bool read_op(const struct option_row *row, const char *text, void *field)
{
    unsigned *op = field;

    *op = agg_op_named(text);
    return *op != 0 || complain("%s: %s is no operation", option_name(row), text);
}

static bool read_others(const struct option_row *row, const char *text, void *field)
{
    static const char *const words[] = {[MTP_NEUTRAL] = "neutral", [MTP_KEPT] = "kept", NULL};

    return option_one_of(row, text, words, field);
}

#define FIELD(member) offsetof(struct arguments, member)

static const struct option_row rows[] = {
    {"root", 0, "IP", read_hosts, FIELD(root), 0, 1, "host of the rank that receives"},
    {"senders", 0, "IP,IP,...", read_hosts, FIELD(senders), 0, MTP_SENDERS_MAX,
     "hosts of all ranks that send to it, one on each: 2 to 64"},
    {"ports", 0, "FIRST-LAST", read_ports, FIELD(ports), 0, 0,
     "TCP ports of Open MPI's, as its parameters btl_tcp_port_min_v4 and btl_tcp_port_range_v4 say"},
    {"tag", 0, "NUMBER", read_tag, FIELD(tag), 0, INT32_MAX,
     "of the messages that are summed; default: reduce, those of MPI_Reduce"},
    {"type", 0, "TYPE", read_type, FIELD(type), 0, 0,
     "of their elements, as float32 or uint64; default: float32"},
    {"operation", 0, "NAME", read_op, FIELD(op), 0, 0,
     "sum, prod, min, max, band, bor or bxor; default: sum"},
    {"others", 0, "WHAT", read_others, FIELD(others), 0, 0,
     "the root gets the sum as one message, neutral elements as the second; and as the others those, too "
     "(neutral, the "
     "default), or only their ends (kept), if it receives them where it has received the second"},
    {"wait", 0, "MS", option_unsigned, FIELD(wait_ms), 1, 3600000,
     "how long the root's first answer waits for the last sender; default: 10000"},
    {"routes", 0, NULL, option_flag, FIELD(routes), 0, 0,
     "print the commands that bring these connections to this process, and end"},
};
#undef FIELD

/* --- routes --- */

static void print_rule(const char *from, const char *to, const char *port, const struct ports *p)
{
    printf("ip rule add pref %d from %s to %s ipproto tcp %s %u-%u lookup %d\n", PREFERENCE + 1, from, to,
           port, p->first, p->last, TABLE);
}

/* What this host sends itself keeps its routes, whatever its address is. */
static void print_routes(const struct arguments *a)
{
    char root[INET_ADDRSTRLEN], sender[INET_ADDRSTRLEN];

    inet_ntop(AF_INET, &a->root.ip[0], root, sizeof(root));
    printf("ip route replace local default dev lo table %d\n", TABLE);
    printf("ip rule add pref %d iif lo lookup main\n", PREFERENCE);
    for (unsigned s = 0; s < a->senders.n; s++) {
        inet_ntop(AF_INET, &a->senders.ip[s], sender, sizeof(sender));
        print_rule(sender, root, "dport", &a->ports);
        print_rule(sender, root, "sport", &a->ports);
        print_rule(root, sender, "dport", &a->ports);
        print_rule(root, sender, "sport", &a->ports);
    }
}

/* --- running --- */

struct proxy {
    struct arguments a;
    struct lines lines;
    unsigned listening;
    struct pollfd poll[(MTP_SENDERS_MAX + 1) * PORTS_MAX + 2 * LINES_MAX];
};

static volatile sig_atomic_t told_to_end, asked;

static void on_signal(int number)
{
    if (number == SIGUSR1)
        asked = 1;
    else
        told_to_end = 1;
}

static bool listen_at(struct proxy *p, struct in_addr ip)
{
    for (unsigned port = p->a.ports.first; port <= p->a.ports.last; port++) {
        const struct sockaddr_in at = {
            .sin_family = AF_INET, .sin_addr = ip, .sin_port = htons((uint16_t)port)};
        const int fd = transparent_listen(&at);

        if (fd < 0)
            return complain("cannot listen at %s, TCP port %u: %s", inet_ntoa(ip), port, strerror(-fd));
        p->poll[p->listening++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    return true;
}

/* The sender that has this address; -1: none has. */
static int sender_at(const struct hosts *senders, struct in_addr ip)
{
    for (unsigned s = 0; s < senders->n; s++)
        if (senders->ip[s].s_addr == ip.s_addr)
            return (int)s;
    return -1;
}

static void accept_one(struct proxy *p, int listening)
{
    struct sockaddr_in from, to;
    const int fd = transparent_accept(listening, &from, &to);
    const in_addr_t root = p->a.root.ip[0].s_addr;
    enum mtp_side accepted = MTP_UP;
    int sender = -1, rc;

    if (fd < 0)
        return;
    if (to.sin_addr.s_addr == root) {
        sender = sender_at(&p->a.senders, from.sin_addr);
    } else if (from.sin_addr.s_addr == root) {
        accepted = MTP_DOWN;
        sender = sender_at(&p->a.senders, to.sin_addr);
    }
    if (sender < 0) {
        complain("a connection from %s is between none of the hosts", inet_ntoa(from.sin_addr));
        close(fd);
        return;
    }
    from.sin_port = 0;
    rc = lines_add(&p->lines, (unsigned)sender, accepted, fd, &from, &to);
    if (rc < 0)
        complain("a connection from %s cannot go on: %s", inet_ntoa(from.sin_addr), strerror(-rc));
}

static void print_counts(const struct mtp_counts *c)
{
    printf("sums %" PRIu64 ", bytes %" PRIu64 "\n", c->sums, c->summed_bytes);
    for (unsigned r = MTP_NO_REASON + 1; r < MTP_REASONS; r++)
        if (c->relayed[r] > 0)
            printf("connections %" PRIu64 ": %s\n", c->relayed[r], mtp_reason_text(r));
    fflush(stdout);
}

static void turn(struct proxy *p)
{
    const unsigned lines = p->lines.n;

    lines_expect(&p->lines, p->poll + p->listening);
    if (poll(p->poll, p->listening + 2 * lines, lines > 0 ? 100 : 1000) < 0)
        return; /* a signal */
    lines_move(&p->lines, p->poll + p->listening, lines, monotonic_ns());
    for (unsigned i = 0; i < p->listening; i++)
        if (p->poll[i].revents != 0)
            accept_one(p, p->poll[i].fd);
}

static int run(struct proxy *p)
{
    const struct sigaction act = {.sa_handler = on_signal};

    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGUSR1, &act, NULL);
    if (!listen_at(p, p->a.root.ip[0]))
        return EXIT_BAD;
    for (unsigned s = 0; s < p->a.senders.n; s++)
        if (!listen_at(p, p->a.senders.ip[s]))
            return EXIT_BAD;
    puts("ready");
    fflush(stdout);
    while (!told_to_end) {
        turn(p);
        if (asked) {
            asked = 0;
            print_counts(&p->lines.group.counts);
        }
    }
    lines_close(&p->lines);
    print_counts(&p->lines.group.counts);
    return EXIT_GOOD;
}

static int check(const struct arguments *a, struct mtp_group *g)
{
    const struct mtp_config cfg = {.senders = a->senders.n,
                                   .tag = a->tag,
                                   .type = (uint8_t)a->type,
                                   .op = (uint8_t)a->op,
                                   .others = a->others,
                                   .wait_ns = a->wait_ms * NS_PER_MS,
                                   .kernels = kernels_or_exit()};

    if (a->root.n != 1 || a->senders.n < 2 || a->ports.first == 0)
        return refuse_usage("--root, --senders (2 at least) and --ports are needed");
    if (sender_at(&a->senders, a->root.ip[0]) >= 0)
        return refuse_usage("--senders: the root is none of them");
    if (!mtp_group_init(g, &cfg))
        return refuse_usage("--operation: no %s of %s elements is possible", agg_op_name(a->op),
                            agg_type_name(a->type));
    return OPTIONS_READ;
}

int main(int argc, char **argv)
{
    static struct proxy p = {
        .a = {
            .tag = OB1_TAG_REDUCE, .type = AGG_F32, .op = AGG_SUM, .wait_ms = 10000, .others = MTP_NEUTRAL}};
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), &p.a};
    const struct command_line line = {
        .version = build_version,
        .intro = "usage: swagg-mpi-proxy --root=IP --senders=IP,IP,... --ports=FIRST-LAST "
                 "[OPTION...]\n"
                 "Sums what ranks of unmodified Open MPI send to one of them by TCP, on its way.\n",
        .groups = &group,
        .count = 1};
    int status;

    standard_streams_begin();
    status = options_read(&line, argc, argv);
    if (status == OPTIONS_READ)
        status = check(&p.a, &p.lines.group);
    if (status != OPTIONS_READ)
        return status;
    if (p.a.routes) {
        print_routes(&p.a);
        return EXIT_GOOD;
    }
    return run(&p);
}

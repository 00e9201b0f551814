/* swagg-tofino: the control process of a Tofino that runs p4/swagg.p4 (docs/tofino.md). Runs on the switch's
 * CPU, on the interface that leads to the chip and has the switch's IP address. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include "base/counter.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/strangers.h"
#include "command_line.h"
#include "config/config.h"
#include "membership.h"
#include "monotonic.h"
#include "operating.h"
#include "registry/keyring.h"
#include "registry/signals.h"
#include "setup.h"
#include "standard_streams.h"
#include "version.h"

/* --- the kernel's interface that leads to the chip's CPU port, and has the switch's IP address --- */

/* By which hosts know the switch. */
static bool interface_mac(const char *name, uint8_t mac[6])
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq ask = {0};
    bool found;

    snprintf(ask.ifr_name, sizeof(ask.ifr_name), "%s", name);
    found = fd >= 0 && ioctl(fd, SIOCGIFHWADDR, &ask) == 0;
    if (!found)
        log_error("interface %s: %s", name, strerror(errno));
    if (fd >= 0)
        close(fd);
    memcpy(mac, ask.ifr_hwaddr.sa_data, 6);
    return found;
}

/* A UDP socket at this address (network order) and port; -1: there is none. */
static int interface_socket(uint32_t ip, uint16_t port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = ip, .sin_port = htons(port)};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char text[INET_ADDRSTRLEN];

    if (fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    return log_fail(-1, "no UDP port %u of %s: %s; the interface that leads to the chip must have switch.ip",
                    port, inet_ntop(AF_INET, &at.sin_addr, text, sizeof(text)), strerror(errno));
}

/* The MAC address of a neighbour. fd: any socket. False: the kernel does not know it, which is no error. */
static bool interface_neighbour(int fd, const char *name, const struct sockaddr_in *of, uint8_t mac[6])
{
    struct arpreq ask = {0};

    memcpy(&ask.arp_pa, of, sizeof(*of));
    ((struct sockaddr_in *)&ask.arp_pa)->sin_port = 0;
    snprintf(ask.arp_dev, sizeof(ask.arp_dev), "%s", name);
    if (ioctl(fd, SIOCGARP, &ask) < 0 || !(ask.arp_flags & ATF_COM))
        return false;
    memcpy(mac, ask.arp_ha.sa_data, 6);
    return true;
}

enum {
    DATA_PORTS = SML_PORT_LAST - SML_PORT_FIRST + 1,
    PAYLOAD_MAX = 65536,
    AT_ONCE = 64,
    HELPER_TIMEOUT_S = 60,
    HELPER_TIMEOUT_MAX_S = 3600,
};

/* What is polled; from CONTROL on, the sockets of workers. */
enum { HELPER, SIGNALS, OPERATORS, CONTROL, DATA, SOURCES = DATA + DATA_PORTS };

struct process {
    const char *interface, *state;
    unsigned elements, helper_timeout_s;
    bool check;
    struct config cfg;
    struct registry_reload reload;
    json_t *setup;
    struct helper *helper;
    struct membership membership;
    struct operating *operating;
    struct shown shown;
    struct reception reception;
    struct strangers strangers;
    struct pollfd source[SOURCES];
};

#define DEFAULT_STATE "/run/swagg-tofino.jobs"

static bool read_elements(const struct option_row *row, const char *text, void *field)
{
    unsigned elements;

    if (!option_unsigned(row, text, &elements))
        return false;
    *(unsigned *)field = elements;
    if (sml_size_code(4 * elements) != SML_SIZE_AGREED)
        return true;
    complain("--elements: \"%s\" is none of 32, 64, 128, 256", text);
    return false;
}

static const char intro[] =
    "usage: swagg-tofino [OPTION...] FILE -- HELPER...\n"
    "The control process of a Tofino that runs p4/swagg.p4: who is in which job, on the switch's CPU.\n";

static const struct option_row rows[] = {
    {NULL, 0, "FILE", NULL, 0, 0, 0, "the configuration, as the daemon's (docs/tofino.md)"},
    {"elements", 0, "N", read_elements, offsetof(struct process, elements), 0, UINT16_MAX,
     "of a packet, at most: 32, 64, 128 or 256 (default 64)"},
    {"state", 0, "FILE", option_text, offsetof(struct process, state), 0, 0,
     "keeps the jobs that run, for its next life (default " DEFAULT_STATE ")"},
    {"helper-timeout", 0, "S", option_unsigned, offsetof(struct process, helper_timeout_s), 1,
     HELPER_TIMEOUT_MAX_S, "ends if the helper answers nothing for so many seconds (1 to 3600, default 60)"},
    {"check", 0, NULL, option_flag, offsetof(struct process, check), 0, 0,
     "only say whether the configuration is good"},
    {NULL, 0, "-- HELPER...", NULL, 0, 0, 0,
     "the command that speaks to the chip (p4/helper.py, docs/tofino.md)"},
};

/* --- messages ---------------------------------------------------------------------------------------- */

static void send_control(void *context, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct process *p = context;
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = to->ip, .sin_port = htons(to->udp_port)};

    counter_add(&p->reception.counts.event[EVENT_CONTROL_SENT], 1);
    /* What is lost here is as if it had been lost on the way. */
    (void)sendto(p->source[CONTROL].fd, payload, bytes, MSG_DONTWAIT, (const struct sockaddr *)&at,
                 sizeof(at));
}

static bool find_neighbour(void *context, struct ctl_endpoint *of)
{
    struct process *p = context;
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = of->ip, .sin_port = htons(of->udp_port)};

    if (interface_neighbour(p->source[CONTROL].fd, p->interface, &at, of->mac))
        return true;
    /* The kernel asks for it before it sends this. */
    (void)sendto(p->source[CONTROL].fd, NULL, 0, MSG_DONTWAIT, (const struct sockaddr *)&at, sizeof(at));
    return false;
}

/* At a data port: the chip has what is of jobs; path probes come here. */
static void answer(struct process *p, unsigned source, const struct sockaddr_in *from, uint8_t *payload,
                   size_t bytes)
{
    const struct agg_packet packet = {.payload = payload, .bytes = bytes, .from.ip = from->sin_addr.s_addr};
    struct reception_counts *counts = &p->reception.counts;
    uint8_t reject[AGG_ANSWER_BYTES];

    switch (strangers_answer(&p->strangers, NULL, &packet, monotonic_ns(), reject, &bytes)) {
    case STRANGERS_PATH:
        (void)sendto(p->source[source].fd, payload, bytes, MSG_DONTWAIT, (const struct sockaddr *)from,
                     sizeof(*from));
        counter_add(&counts->event[EVENT_PATH_ANSWERS], 1);
        break;
    case STRANGERS_PATH_RATE:
        counter_add(&counts->drop[DROP_PATH_RATE], 1);
        break;
    default:
        break;
    }
}

static void receive(struct process *p, unsigned source)
{
    static uint8_t payload[PAYLOAD_MAX];

    for (unsigned i = 0; i < AT_ONCE; i++) {
        struct sockaddr_in from;
        socklen_t length = sizeof(from);
        const ssize_t n = recvfrom(p->source[source].fd, payload, sizeof(payload), MSG_DONTWAIT,
                                   (struct sockaddr *)&from, &length);

        if (n < 0)
            return;
        answer(p, source, &from, payload, (size_t)n);
    }
}

static void answered(void *context, uint64_t id, const json_t *answer)
{
    struct process *p = context;

    if (!operating_answered(p->operating, id, answer))
        membership_answered(&p->membership, id, answer, monotonic_ns());
}

/* --- life -------------------------------------------------------------------------------------------- */

/* False: it is to end. */
static bool heed_signal(struct process *p)
{
    const int signal = signals_take(p->source[SIGNALS].fd);

    if (signal > 0)
        log_notice("stopping: %s", strsignal(signal));
    else if (signal == SIGNALS_RELOAD && membership_has_begun(&p->membership))
        registry_reload_on_signal(&p->membership.common, &p->reload);
    else if (signal == SIGNALS_RELOAD)
        log_warning("reload: the chip is being set up: ask again in a moment");
    return signal <= 0;
}

static bool open_sources(struct process *p)
{
    for (unsigned i = 0; i < SOURCES; i++)
        p->source[i].events = POLLIN;
    p->source[CONTROL].fd = interface_socket(p->cfg.ip, CTL_PORT);
    for (unsigned i = 0; i < DATA_PORTS && p->source[CONTROL].fd >= 0; i++) {
        p->source[DATA + i].fd = interface_socket(p->cfg.ip, (uint16_t)(SML_PORT_FIRST + i));
        if (p->source[DATA + i].fd < 0)
            return false;
    }
    p->source[HELPER].fd = helper_fd(p->helper);
    p->source[OPERATORS].fd = operating_fd(p->operating);
    return p->source[CONTROL].fd >= 0;
}

/* Whether the helper does what it should. */
static bool helper_is_well(const struct process *p)
{
    if (!helper_hangs(p->helper, monotonic_ns()))
        return !p->membership.failed;
    log_error("the helper has answered nothing for %u s: does the switch's software hang? Start "
              "swagg-tofino again once it does not, running jobs go on; --helper-timeout waits longer",
              p->helper_timeout_s);
    return false;
}

static int run(struct process *p)
{
    const int tick_ms = (int)listening_ask_every_ms(p->cfg.timers.lost_after_ms);
    uint64_t tick_at = 0;
    bool strangers_wait = false;

    for (;;) {
        p->source[HELPER].events = helper_events(p->helper);
        poll(p->source, membership_has_begun(&p->membership) ? SOURCES : CONTROL,
             strangers_wait ? 0 : tick_ms);
        if (p->source[SIGNALS].revents && !heed_signal(p))
            return EXIT_GOOD;
        if (p->source[HELPER].revents && !helper_receive(p->helper, answered, p))
            return log_fail(EXIT_BAD, "the helper has ended, or said what is no answer (above: why)");
        if (!helper_is_well(p))
            return EXIT_BAD;
        if (p->source[OPERATORS].revents)
            operating_serve(p->operating);
        if (!membership_has_begun(&p->membership))
            continue;
        reception_take(&p->reception, p->source[CONTROL].fd, monotonic_ns());
        for (unsigned i = DATA; i < SOURCES; i++)
            if (p->source[i].revents)
                receive(p, i);
        strangers_wait = reception_serve(&p->reception, monotonic_ns());
        if (monotonic_ns() >= tick_at) {
            tick_at = monotonic_ns() + (uint64_t)tick_ms * 1000000;
            membership_tick(&p->membership);
            reception_tick(&p->reception, monotonic_ns());
        }
    }
}

/* --- another configuration --------------------------------------------------------------------------- */

static int load(struct config *next, const char *file, settings_report report, void *context)
{
    const int rc = config_load(next, file, report, context);

    return rc == 0 && !machine_suits(next) ? -ENOMEM : rc;
}

static int align(void *context, struct config *next)
{
    const struct process *p = context;

    return config_take_added(next, &p->cfg);
}

static void commit(void *context, struct registry_change *c)
{
    struct process *p = context;

    p->cfg = *c->next;
    registry_change_take(c);
    reception_follow(&p->reception, &p->cfg);
}

/* --- start ------------------------------------------------------------------------------------------- */

static bool start_operating(struct process *p)
{
    const struct common_host host = {&p->membership.common, &p->reload};
    struct shown *shown = &p->shown;

    shown->cfg = &p->cfg;
    shown->membership = &p->membership;
    shown->counts = &p->reception.counts;
    shown->started = monotonic_ns();
    inet_ntop(AF_INET, &p->cfg.ip, shown->name, sizeof(shown->name));
    p->operating = operating_start(shown, &host, p->helper);
    return p->operating != NULL;
}

static void open_reception(struct process *p)
{
    p->reception.host = &p->membership.common;
    p->reception.neighbour = find_neighbour;
    p->reception.context = p;
    reception_init(&p->reception, &p->cfg);
    p->strangers.data_ports = 1;
    strangers_init(&p->strangers, secret64());
}

static int start(struct process *p, char *const helper[])
{
    struct membership_parts parts = {.cfg = &p->cfg,
                                     .elements = p->elements,
                                     .send = send_control,
                                     .state = p->state,
                                     .setup = p->setup,
                                     .context = p};
    int status = EXIT_BAD;

    signals_block(); /* before there is another thread, so that only the descriptor gets them */
    p->source[SIGNALS].fd = signals_open();
    if (p->source[SIGNALS].fd < 0 || !interface_mac(p->interface, p->shown.mac.addr_bytes) ||
        !setup_has_mac(&p->cfg, p->interface, &p->shown.mac))
        return EXIT_BAD;
    json_object_set_new(p->setup, "mac", json_integer(helper_mac(p->shown.mac.addr_bytes)));
    p->helper = helper_start(helper, p->helper_timeout_s);
    if (p->helper == NULL)
        return log_fail(EXIT_BAD, "the helper cannot be started");
    parts.helper = p->helper;
    if (membership_open(&p->membership, &parts, monotonic_ns()) == 0 && start_operating(p) &&
        open_sources(p)) {
        open_reception(p);
        status = run(p);
        reception_free(&p->reception);
    }
    operating_stop(p->operating);
    helper_stop(p->helper);
    membership_close(&p->membership);
    return status;
}

static bool read_config(struct process *p, const char *file)
{
    p->reload = (struct registry_reload){.file = file,
                                         .running = &p->cfg,
                                         .context = p,
                                         .load = load,
                                         .align = align,
                                         .judge = place_keep,
                                         .commit = commit};
    if (load(&p->cfg, file, log_report, NULL) < 0 || !keyring_is_good(&p->cfg))
        return false;
    if (!p->cfg.has_ip)
        log_error("switch.ip is missing: workers send to it");
    if (!p->check)
        saved_take_added(p->state, &p->cfg);
    p->interface = setup_interface(&p->cfg);
    p->setup = setup_describe(&p->cfg);
    return p->cfg.has_ip && p->interface != NULL && p->setup != NULL;
}

int main(int argc, char *argv[])
{
    static struct process p = {.state = DEFAULT_STATE, .elements = 64, .helper_timeout_s = HELPER_TIMEOUT_S};
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), &p};
    const struct command_line line = {.version = build_version,
                                      .intro = intro,
                                      .operands = "configuration",
                                      .ends_at_operand = true,
                                      .groups = &group,
                                      .count = 1};

    standard_streams_begin();
    log_program("swagg-tofino");
    const int status = options_read(&line, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    const char *file = argv[optind], *dashes = argv[optind + 1];
    if (!p.check && (dashes == NULL || strcmp(dashes, "--") != 0 || argv[optind + 2] == NULL))
        return refuse_usage("which helper? swagg-tofino FILE -- HELPER...");
    if (!read_config(&p, file))
        return EXIT_USAGE;
    if (p.check)
        return printf("%s: good; whether %s is there was not checked\n", file, p.interface) < 0;
    log_with_time();
    log_set_level(p.cfg.log_level);
    return start(&p, &argv[optind + 2]);
}

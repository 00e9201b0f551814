#include "capture/packets.h"

#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

#include "command_line.h"
#include "hostagg/protocol.h"
#include "protocols.h"
#include "switchml/protocol.h"
#include "wire/control.h"

/* --- frames --- */

static int read_frames(const char *file, pcap_t *pcap, capture_visitor *visit, void *context)
{
    struct pcap_pkthdr *header;
    const u_char *bytes;
    uint64_t number = 0;
    int ret;

    while ((ret = pcap_next_ex(pcap, &header, &bytes)) == 1) {
        const struct capture_frame frame = {
            .number = ++number,
            .ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec,
            .bytes = bytes,
            .length = header->caplen,
            .cut = header->caplen < header->len,
        };

        if (!visit(context, &frame))
            return 0;
    }
    if (ret == PCAP_ERROR_BREAK)
        return 0;
    complain("%s: %s", file, pcap_geterr(pcap));
    return -1;
}

int capture_read(const char *file, capture_visitor *visit, void *context)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error);
    int ret = -1;

    if (pcap == NULL) {
        const bool names_it = strncmp(error, file, strlen(file)) == 0; /* as where there is no such file */

        complain("%s%s%s", names_it ? "" : file, names_it ? "" : ": ", error);
        return -1;
    }
    if (pcap_datalink(pcap) != DLT_EN10MB)
        complain("%s: not a capture of Ethernet frames", file);
    else
        ret = read_frames(file, pcap, visit, context);
    pcap_close(pcap);
    return ret;
}

/* --- gradient packets in one piece --- */

/* Kernels pass on a run of datagrams as one, and cut it
 * only before a hardware device (GSO), or merge what they receive (GRO). All packets of a run are as long as
 * the first; the last may be shorter. No field tells that length. Pure. */

enum { JOB = 1 }; /* where a header has the number of the job */

/* The numbers of slots (powers of two, as a set of bits) with which a chunk of this tag has this slot and
 * version. */
static unsigned slots_of(const struct sml_packet *p)
{
    unsigned set = 0;

    for (unsigned slots = 2; slots <= SML_MAX_SLOTS; slots *= 2)
        if (p->tag % slots == p->slot && (p->tag / slots & 1) == p->ver)
            set |= slots;
    return set;
}

/* Whether a and b may be of the same run. They may be of different kinds, since a result without elements is
 * as long as a probe, of different types, and copies of each other. */
static bool go_together(const struct sml_packet *a, const struct sml_packet *b)
{
    return a->job == b->job && a->size_code == b->size_code && a->checksum == b->checksum &&
           abs((int32_t)(b->tag - a->tag)) <= SML_MAX_SLOTS;
}

static bool is_run(const uint8_t *payload, size_t bytes, size_t each)
{
    struct sml_packet first, next;
    unsigned slots;

    if (payload[each + JOB] != payload[JOB] || sml_parse(&first, payload, each) != SML_OK)
        return false;
    slots = slots_of(&first);
    for (size_t at = each; at < bytes; at += each) {
        const size_t left = bytes - at;

        if (sml_parse(&next, payload + at, left < each ? left : each) != SML_OK ||
            !go_together(&first, &next))
            return false;
        slots &= slots_of(&next);
    }
    return slots != 0;
}

/* The length of the first packet in this UDP payload. It is the whole payload, unless packets of the same
 * job, with chunks near the first one's, follow at every multiple of a shorter length. Only for frames whose
 * checksum was left to a device, as that of a run always is. */
static size_t merged_first_bytes(const uint8_t *payload, size_t bytes)
{
    for (size_t each = SML_HEADER_BYTES; each + SML_HEADER_BYTES <= bytes; each++) {
        if (is_run(payload, bytes, each))
            return each;
    }
    return bytes;
}

/* --- packets --- */

struct walk {
    uint16_t hostagg_port;
    packet_visitor *visit;
    void *context;
};

static bool is_own_port(const struct agg_protocol *protocol, uint16_t port)
{
    return protocol->udp_ports.first != 0 && port >= protocol->udp_ports.first &&
           port <= protocol->udp_ports.last;
}

static const struct agg_protocol *protocol_of(const struct walk *w, const struct udp_datagram *d)
{
    unsigned n;
    const struct agg_protocol *const *protocols = agg_protocols(&n);

    if (w->hostagg_port != 0 && (d->from.port == w->hostagg_port || d->to.port == w->hostagg_port))
        return &hag_protocol;
    for (unsigned i = 0; i < n; i++)
        if (protocols[i]->describe != NULL &&
            (is_own_port(protocols[i], d->from.port) || is_own_port(protocols[i], d->to.port)))
            return protocols[i];
    return NULL;
}

static void classify(const struct walk *w, struct captured_packet *p)
{
    const struct udp_datagram *d = &p->datagram;

    p->protocol = protocol_of(w, d);
    if (p->protocol != NULL)
        p->kind = PACKET_DATA;
    else
        p->kind = d->from.port == CTL_PORT || d->to.port == CTL_PORT ? PACKET_CONTROL : PACKET_OTHER;
    p->from_switch = p->protocol != NULL && is_own_port(p->protocol, d->from.port);
}

static bool visit_packets(const struct walk *w, struct captured_packet *p)
{
    struct udp_datagram *d = &p->datagram;
    const size_t each = p->protocol == &sml_protocol && d->left_to_device
                            ? merged_first_bytes(d->payload, d->bytes)
                            : d->bytes;
    size_t left = d->bytes;

    p->merged = each < left;
    p->first = true;
    do {
        d->bytes = left < each ? left : each;
        if (!w->visit(w->context, p))
            return false;
        d->payload += d->bytes;
        left -= d->bytes;
        p->first = false;
    } while (left > 0);
    return true;
}

static bool visit_frame(void *context, const struct capture_frame *frame)
{
    const struct walk *w = context;
    struct captured_packet p = {.frame = frame};

    if (!udp_parse(&p.datagram, frame->bytes, frame->length))
        return w->visit(w->context, &p);
    classify(w, &p);
    return visit_packets(w, &p);
}

int packets_read(const char *file, uint16_t hostagg_port, packet_visitor *visit, void *context)
{
    struct walk w = {hostagg_port, visit, context};

    return capture_read(file, visit_frame, &w);
}

#include "capture/packets.h"

#include "capture/merged.h"
#include "wire/atp.h"
#include "wire/control.h"
#include "wire/switchml.h"

struct walk {
    uint16_t hostagg_port;
    packet_visitor *visit;
    void *context;
};

static bool is_data_port(uint16_t port)
{
    return port >= SML_PORT_FIRST && port <= SML_PORT_LAST;
}

static bool is_atp_port(uint16_t port)
{
    return port >= ATP_PORT_FIRST && port <= ATP_PORT_LAST;
}

static enum packet_kind kind_of(const struct walk *w, const struct udp_datagram *d)
{
    if (w->hostagg_port != 0 && (d->from.port == w->hostagg_port || d->to.port == w->hostagg_port))
        return PACKET_HOSTAGG;
    if (is_data_port(d->from.port) || is_data_port(d->to.port))
        return PACKET_GRADIENT;
    if (is_atp_port(d->from.port) || is_atp_port(d->to.port))
        return PACKET_ATP;
    return d->from.port == CTL_PORT || d->to.port == CTL_PORT ? PACKET_CONTROL : PACKET_OTHER;
}

static bool visit_packets(const struct walk *w, struct captured_packet *p)
{
    struct udp_datagram *d = &p->datagram;
    const size_t each =
        p->kind == PACKET_GRADIENT && d->left_to_device ? merged_first_bytes(d->payload, d->bytes) : d->bytes;
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
    p.kind = kind_of(w, &p.datagram);
    p.from_switch = is_data_port(p.datagram.from.port);
    return visit_packets(w, &p);
}

int packets_read(const char *file, uint16_t hostagg_port, packet_visitor *visit, void *context)
{
    struct walk w = {hostagg_port, visit, context};

    return capture_read(file, visit_frame, &w);
}

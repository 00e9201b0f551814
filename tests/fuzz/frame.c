/* A frame to the switch's own MAC, as far as the daemon reads it: IPv4, UDP, then a data packet or a control
 * message. The first byte tells which fields are corrected first, so that not all frames fail by their
 * checksums. The answer to a good frame must be a good frame. */
#include "port/frame.h"
#include "fuzz.h"
#include "net/sum.h"
#include "wire/control.h"
#include "wire/switchml.h"

enum { MEND_IP_HEADER = 1, MEND_LENGTHS = 2, MEND_IP_CHECKSUM = 4, MEND_UDP_CHECKSUM = 8 };

static const uint8_t our_ip_bytes[4] = {10, 0, 0, 254};

static uint32_t our_ip(void)
{
    uint32_t ip;
    memcpy(&ip, our_ip_bytes, sizeof ip);
    return ip;
}

static void mend(struct frame_udp *f, size_t bytes, uint8_t what)
{
    if (bytes < sizeof *f)
        return;
    if (what & MEND_IP_HEADER) {
        f->ip.version_ihl = NET_IPV4_PLAIN;
        f->ip.fragment_offset = 0;
        f->ip.next_proto_id = NET_PROTOCOL_UDP;
        f->ip.dst_addr = our_ip();
    }
    if (what & MEND_LENGTHS) {
        f->ip.total_length = net16(bytes - sizeof(struct net_ethernet));
        f->udp.dgram_len = net16(bytes - sizeof(struct net_ethernet) - sizeof f->ip);
    }
    if (what & MEND_IP_CHECKSUM) {
        f->ip.hdr_checksum = 0;
        f->ip.hdr_checksum = (uint16_t)~net_ipv4_sum(&f->ip);
    }
    if (what & MEND_UDP_CHECKSUM)
        f->udp.dgram_cksum = 0;
}

static enum drop why_dropped(const struct frame_udp *f, size_t bytes, uint32_t ip)
{
    static const struct frame_found nothing = {NET_NOT_COMPARED, NET_NOT_COMPARED};

    return frame_drops_as(f, frame_check(f, bytes, &nothing, agg_kernels_scalar.ones_sum), ip);
}

static void check_answer(const struct frame_udp *f, const uint8_t *payload, size_t bytes)
{
    struct frame_header h;
    struct frame_end from, to;
    const struct frame_payload p = frame_payload(payload, bytes, agg_kernels_scalar.ones_sum);
    size_t length = FRAME_HEADER_BYTES + bytes;
    struct frame_udp *answer = malloc(length);
    frame_answer_ends(f, &from, &to);
    frame_header_init(&h, &from, &to);
    frame_write(answer, &h, from.port, &p);
    REQUIRE(why_dropped(answer, length, f->ip.src_addr) == DROP_REASONS);
    REQUIRE(answer->ip.next_proto_id == NET_PROTOCOL_UDP && answer->udp.dgram_cksum != 0);
    REQUIRE(frame_payload_bytes(answer) == bytes && memcmp(answer->payload, payload, bytes) == 0);
    REQUIRE(answer->udp.dst_port == f->udp.src_port && answer->udp.src_port == f->udp.dst_port);
    free(answer);
}

static void read_frame(const struct frame_udp *f, size_t bytes)
{
    struct sml_packet p;
    struct ctl_message m;
    if (why_dropped(f, bytes, our_ip()) != DROP_REASONS)
        return;
    REQUIRE(net16(f->ip.total_length) <= bytes - sizeof(struct net_ethernet) && f->ip.dst_addr == our_ip());
    if (f->ip.next_proto_id != NET_PROTOCOL_UDP)
        return;
    size_t n = frame_payload_bytes(f);
    REQUIRE(FRAME_HEADER_BYTES + n <= bytes);
    uint8_t *payload = malloc(n ? n : 1); /* so that the sanitizers see its end */
    memcpy(payload, f->payload, n);
    sml_parse(&p, payload, n);
    ctl_parse(&m, payload, n);
    check_answer(f, payload, n);
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    uint8_t what = take8(&in);
    size_t bytes;
    uint8_t *frame = take_bytes(&in, 9216, &bytes);
    mend((struct frame_udp *)frame, bytes, what);
    if (bytes >= sizeof(struct net_ethernet))
        read_frame((const struct frame_udp *)frame, bytes);
    free(frame);
    return 0;
}

#include "kernel_filter.h"

#include <errno.h>
#include <stddef.h>

#include <sys/socket.h>

#include <linux/filter.h>
#include <linux/if_packet.h>
#include <netinet/in.h>

#include "frame.h"
#include "wire/switchml.h"

/* Where things are in a frame. */
enum {
    ETHER_TYPE = offsetof(struct frame_udp, eth.ether_type),
    IP_VERSION_IHL = offsetof(struct frame_udp, ip.version_ihl),
    IP_FRAGMENT = offsetof(struct frame_udp, ip.fragment_offset),
    IP_PROTOCOL = offsetof(struct frame_udp, ip.next_proto_id),
    IP_SOURCE = offsetof(struct frame_udp, ip.src_addr),
    IP_DESTINATION = offsetof(struct frame_udp, ip.dst_addr),
    UDP_DESTINATION = offsetof(struct frame_udp, udp.dst_port),
    UDP_LENGTH = offsetof(struct frame_udp, udp.dgram_len),
    UDP_CHECKSUM = offsetof(struct frame_udp, udp.dgram_cksum),
};

enum {
    TO_OTHERS = UINT8_MAX, /* a jump to where it ends for the other frames; resolved at last */
    STEPS_MAX = 64,
};

/* A classic BPF program (Linux, networking/filter.rst): accumulator A, index X, 16 words of memory. */
struct program {
    struct sock_filter step[STEPS_MAX];
    unsigned short steps;
};

static void add(struct program *p, uint16_t code, uint32_t operand)
{
    p->step[p->steps++] = (struct sock_filter)BPF_STMT(code, operand);
}

static void jump(struct program *p, uint16_t condition, uint32_t operand, uint8_t if_true, uint8_t if_false)
{
    p->step[p->steps++] = (struct sock_filter)BPF_JUMP(BPF_JMP | condition, operand, if_true, if_false);
}

static void must_equal(struct program *p, uint16_t load, uint32_t place, uint32_t value)
{
    add(p, BPF_LD | load, place);
    jump(p, BPF_JEQ | BPF_K, value, 0, TO_OTHERS);
}

static void must_be_between(struct program *p, uint16_t load, uint32_t place, uint32_t least, uint32_t most)
{
    add(p, BPF_LD | load, place);
    jump(p, BPF_JGE | BPF_K, least, 0, TO_OTHERS);
    jump(p, BPF_JGT | BPF_K, most, TO_OTHERS, 0);
}

static void must_be_no_fragment(struct program *p)
{
    add(p, BPF_LD | BPF_H | BPF_ABS, IP_FRAGMENT);
    jump(p, BPF_JSET | BPF_K, RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK, TO_OTHERS, 0);
}

/* The sum is in A and in X, before and after; its carries are added to its lower 16 bits. */
static void fold(struct program *p)
{
    add(p, BPF_ALU | BPF_RSH | BPF_K, 16);
    add(p, BPF_ST, 0);
    add(p, BPF_MISC | BPF_TXA, 0);
    add(p, BPF_ALU | BPF_AND | BPF_K, UINT16_MAX);
    add(p, BPF_LDX | BPF_W | BPF_MEM, 0);
    add(p, BPF_ALU | BPF_ADD | BPF_X, 0);
    add(p, BPF_MISC | BPF_TAX, 0);
}

/* One that is left to a device is begun: the sum of the pseudo header, and not yet complemented. A whole one
 * may look like that by chance; it goes with the others, where that is known. */
static void checksum_must_be_whole(struct program *p)
{
    static const uint8_t pseudo_header[] = {IP_SOURCE, IP_SOURCE + 2, IP_DESTINATION, IP_DESTINATION + 2,
                                            UDP_LENGTH};

    add(p, BPF_LDX | BPF_W | BPF_IMM, IPPROTO_UDP);
    for (size_t i = 0; i < sizeof(pseudo_header); i++) {
        add(p, BPF_LD | BPF_H | BPF_ABS, pseudo_header[i]);
        add(p, BPF_ALU | BPF_ADD | BPF_X, 0);
        add(p, BPF_MISC | BPF_TAX, 0);
    }
    fold(p);
    fold(p);
    add(p, BPF_LD | BPF_H | BPF_ABS, UDP_CHECKSUM);
    jump(p, BPF_JEQ | BPF_X, 0, TO_OTHERS, 0);
}

/* A load from beyond a frame's end would end the program, so its length comes first. */
static void must_be_plain_gradient(struct program *p, uint16_t max_frame)
{
    must_be_between(p, BPF_W | BPF_LEN, 0, FRAME_HEADER_BYTES, max_frame);
    must_equal(p, BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT, 0);
    must_equal(p, BPF_H | BPF_ABS, ETHER_TYPE, RTE_ETHER_TYPE_IPV4);
    must_equal(p, BPF_B | BPF_ABS, IP_VERSION_IHL, RTE_IPV4_VHL_DEF);
    must_be_no_fragment(p);
    must_equal(p, BPF_B | BPF_ABS, IP_PROTOCOL, IPPROTO_UDP);
    must_be_between(p, BPF_H | BPF_ABS, UDP_DESTINATION, SML_PORT_FIRST, SML_PORT_LAST);
    checksum_must_be_whole(p);
}

/* A group of sockets hears what this machine sends, too: PACKET_IGNORE_OUTGOING counts for single ones. */
static void ignore_outgoing(struct program *p)
{
    add(p, BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE);
    jump(p, BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1);
    add(p, BPF_RET | BPF_K, 0);
}

static void end(struct program *p, enum kernel_frames which)
{
    add(p, BPF_RET | BPF_K, which == KERNEL_GRADIENTS ? UINT32_MAX : 0);
    for (unsigned i = 0; i < p->steps; i++) {
        struct sock_filter *s = &p->step[i];
        const uint8_t to_others = (uint8_t)(p->steps - i - 1);

        if (BPF_CLASS(s->code) != BPF_JMP)
            continue;
        s->jt = s->jt == TO_OTHERS ? to_others : s->jt;
        s->jf = s->jf == TO_OTHERS ? to_others : s->jf;
    }
    add(p, BPF_RET | BPF_K, which == KERNEL_OTHERS ? UINT32_MAX : 0);
}

int kernel_filter_attach(int fd, enum kernel_frames which, uint16_t max_frame)
{
    struct program p = {.steps = 0};
    struct sock_fprog attached = {.filter = p.step};

    ignore_outgoing(&p);
    must_be_plain_gradient(&p, max_frame);
    end(&p, which);
    attached.len = p.steps;
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &attached, sizeof(attached)) < 0 ? -errno : 0;
}

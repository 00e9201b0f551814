/* ICMP echo ("ping") in untagged Ethernet frames, IPv4 without options. Pure and reentrant. */
#pragma once

#include "kernels/kernels.h"
#include "net/headers.h"

struct frame_icmp {
    struct net_ethernet eth;
    struct net_ipv4 ip;
    struct net_icmp_echo icmp;
} NET_PACKED;

enum icmp_found {
    ICMP_ECHO_REQUEST,
    ICMP_MALFORMED, /* cut short, or a wrong checksum */
    ICMP_OTHER,
};

/* For a frame that net_check_ipv4 has passed and whose protocol is ICMP. */
enum icmp_found icmp_check(const struct frame_icmp *f, agg_ones_sum_fn *ones_sum);

/* Turns an echo request into its answer from this station, in place. */
void icmp_answer(struct frame_icmp *f, const struct net_mac *mac, uint32_t ip, agg_ones_sum_fn *ones_sum);

/* What an lcore counts: why frames went no further (drops, by port) and what was done with the others.
 *
 * Each lcore has its own set and is its only writer; anybody may read at any time. A reader sees each counter
 * whole, but not all at one moment. The names are what an operator reads in /swagg/drops and /swagg/counters.
 */
#pragma once

#include <stdint.h>

#include "base/counter.h"
#include "base/limits.h"
#include "protocol/protocol.h"

/* X(identifier, name, what it means and what to do about it) */
#define DROP_LIST(X)                                                                                         \
    X(RUNT, "runt", "frame shorter than an Ethernet header")                                                 \
    X(PORT_DISABLED, "port_disabled",                                                                        \
      "the operator has taken the port down: swaggctl port up NAME brings it up")                            \
    X(PORT_BLOCKED, "port_blocked",                                                                          \
      "the port is blocked, since there is a loop behind it: find it, then swaggctl port up NAME")           \
    X(NO_PORT, "no_port", "to a port that the operator has removed meanwhile")                               \
    X(RX_MISSED, "rx_missed",                                                                                \
      "more frames waited than the device holds: a larger ring where it has one, or another lcore")          \
    X(OVERSIZE, "oversize",                                                                                  \
      "frame longer than the MTU allows: raise mtu, or on veths and virtual machines, unless the port is a " \
      "kernel:NAME, turn off segmentation offloads at both ends (ethtool -K DEV tso off gso off gro off "    \
      "tx-udp-segmentation off)")                                                                            \
    X(OWN_SOURCE, "own_source", "source is the switch's own MAC: a loop, or another station uses it")        \
    X(OWN_IP, "own_ip",                                                                                      \
      "IPv4 or ARP whose sender's address is the switch's own: another station uses it, or forges it")       \
    X(BAD_SOURCE, "bad_source", "source is a group address or zero")                                         \
    X(VLAN_ID, "vlan_not_carried", "tag of a VLAN that is not in the port's trunk (ports.trunk)")            \
    X(VLAN_UNTAGGED, "vlan_untagged", "no tag, on a port that carries tagged VLANs only (ports.vlan)")       \
    X(VLAN_TAG, "vlan_tag", "two VLAN tags, or the reserved one: not on a switch whose ports have VLANs")    \
    X(LINK_LOCAL, "link_local",                                                                              \
      "destination 01:80:c2:00:00:0X, which this switch does not pass on (LLDP, LACP, pause): "              \
      "switch.link_local")                                                                                   \
    X(STORM_BROADCAST, "storm_broadcast", "more broadcasts than ports.storm.broadcast allows")               \
    X(STORM_MULTICAST, "storm_multicast", "more multicasts than ports.storm.multicast allows")               \
    X(STORM_UNKNOWN, "storm_unknown",                                                                        \
      "more frames to stations that the switch does not know than ports.storm.unknown allows")               \
    X(SAME_PORT, "same_port", "destination is on the port that the frame came from")                         \
    X(NO_EGRESS, "no_egress", "nowhere to flood to: there is no other port")                                 \
    X(ETHERTYPE, "ethertype", "addressed to the switch, but neither ARP nor untagged IPv4")                  \
    X(ARP_MALFORMED, "arp_malformed", "ARP that is cut short or not about IPv4 on Ethernet")                 \
    X(ARP_IGNORED, "arp_ignored", "ARP to the switch's MAC that is no request for its IP")                   \
    X(IP_SHORT, "ip_short", "frame ends within the IPv4 header or before the IPv4 total length")             \
    X(IP_VERSION, "ip_version", "the IPv4 header's version is not 4")                                        \
    X(IP_HEADER_LENGTH, "ip_header_length", "the IPv4 header claims fewer than 20 bytes")                    \
    X(IP_OPTIONS, "ip_options", "IPv4 options are not supported")                                            \
    X(IP_TOTAL_LENGTH, "ip_total_length", "the IPv4 total length is less than the header")                   \
    X(IP_CHECKSUM, "ip_checksum", "wrong IPv4 header checksum: damaged on the way")                          \
    X(IP_FRAGMENT, "ip_fragment", "fragments are not reassembled: use a smaller chunk, or a larger MTU")     \
    X(IP_SOURCE, "ip_source", "an IPv4 source that no station can have: 0.x, 127.x, 224.x and above")        \
    X(IP_NOT_OURS, "ip_not_ours",                                                                            \
      "the switch's MAC, but not its IP: wrong switch address, or a missing route")                          \
    X(IP_PROTOCOL, "ip_protocol", "neither ICMP nor UDP")                                                    \
    X(ICMP_MALFORMED, "icmp_malformed", "ICMP that is cut short or has a wrong checksum")                    \
    X(ICMP_IGNORED, "icmp_ignored", "ICMP other than an echo request")                                       \
    X(UDP_LENGTH, "udp_length", "the UDP length contradicts the IPv4 length")                                \
    X(UDP_CHECKSUM, "udp_checksum",                                                                          \
      "wrong UDP checksum: damaged on the way, or a sender on a veth with checksum offload (ethtool -K DEV " \
      "tx off)")                                                                                             \
    X(UDP_PORT, "udp_port", "no UDP port of the switch")                                                     \
    X(PATH_RATE, "path_rate", "more path probes than are answered in a second, to one address or to all")    \
    X(CONTROL_TOO_SHORT, "control_too_short", "control message shorter than its type demands")               \
    X(CONTROL_NOT_CONTROL, "control_not_control", "not a control message: wrong magic number")               \
    X(CONTROL_OTHER_VERSION, "control_other_version",                                                        \
      "control message of a version that this switch does not speak")                                        \
    X(CONTROL_BAD_TYPE, "control_bad_type", "control message of an unknown type")                            \
    X(CONTROL_BAD_STRING, "control_bad_string", "control message with an unreadable name or text")           \
    X(CONTROL_UNKNOWN_KEY, "control_unknown_key", "control message sealed with a key that no tenant has")    \
    X(CONTROL_BAD_SEAL, "control_bad_seal", "control message whose seal is wrong: damaged or forged")        \
    X(NOT_PARENT, "not_parent", "to the UDP port for switches above, but not from one of them")              \
    X(CONTROL_FULL, "control_full", "control messages of one port come faster than they are handled")        \
    X(CONTROL_RATE, "control_rate",                                                                          \
      "control messages from one address, of processes that are in no job, more often than 64 times a "      \
      "second")                                                                                              \
    X(CONTROL_MEMBER_RATE, "control_member_rate",                                                            \
      "control messages of one member of a job, more often than 128 times a second: it, or somebody who "    \
      "forges it, floods the switch")                                                                        \
    X(RING_FULL, "ring_full", "another lcore does not keep up with what is handed to it")                    \
    X(OVER_SHARE, "over_share",                                                                              \
      "more frames of one job than its share of those that may wait for a busy lcore: its workers send too " \
      "fast, and send again; more lcores help, or a greater weight of its tenant")                           \
    X(TX_FULL, "tx_full", "the port does not keep up with what is sent to it")                               \
    X(TX_DOWN, "tx_down", "the port's interface is down, or has been deleted: ip link")                      \
    X(NO_MBUF, "no_mbuf", "out of packet buffers: raise memory.megabytes")

enum drop {
#define X(id, name, meaning) DROP_##id,
    DROP_LIST(X)
#undef X
        DROP_REASONS
};

/* Protocols also drop packets that belong to no job, for reasons of their own (protocol/protocol.h, strange).
 * With those, kinds of drops are numbered 0 .. DROP_KINDS - 1; some numbers are not used. */
/* enum agg_protocol_id is less. */
enum {
    COUNTED_PROTOCOLS = AGG_PROTOCOL_IDS,
    DROP_KINDS = DROP_REASONS + COUNTED_PROTOCOLS * AGG_MAX_REASONS
};

/* protocol: enum agg_protocol_id. */
static inline unsigned drop_kind(unsigned protocol, unsigned reason)
{
    return DROP_REASONS + protocol * AGG_MAX_REASONS + reason;
}

#define EVENT_LIST(X)                                                                                        \
    X(RECEIVED, "received", "frames received, impairments aside")                                            \
    X(FORWARDED, "forwarded", "frames switched to one port")                                                 \
    X(FLOODED, "flooded", "frames switched to all other ports")                                              \
    X(LEARNED, "stations_learned", "stations that were new to the bridge")                                   \
    X(MOVED, "stations_moved", "stations that came up on another port")                                      \
    X(MOVERS, "stations_restless",                                                                           \
      "times that a station was found to move between ports all the time: a loop, or one MAC used twice")    \
    X(LOOPS_FOUND, "loops_found", "probes that came back, so that there is a loop behind two ports or one")  \
    X(MARKED, "congestion_marks", "frames marked (ECN) where more waited than ports.ecn_above")              \
    X(ARP_REPLIES, "arp_replies", "ARP requests for the switch's IP answered")                               \
    X(ECHO_REPLIES, "echo_replies", "pings answered")                                                        \
    X(GRADIENTS, "gradients", "gradient packets of members, given to their slots")                           \
    X(TAKEN_OVER, "taken_over",                                                                              \
      "gradient packets that arrived on another lcore than their shard's, and crossed by ring")              \
    X(RESULTS, "results", "results sent, one per receiver")                                                  \
    X(ANSWERS, "answers", "other answers sent to members (nack, wait, mismatch)")                            \
    X(REJECTS, "rejects", "rejects sent to senders that are in no job")                                      \
    X(PATH_ANSWERS, "path_answers",                                                                          \
      "path probes answered: workers that ask what gets through before they join")                           \
    X(CONTROL_RECEIVED, "control_received", "control messages received")                                     \
    X(CONTROL_SENT, "control_sent", "control messages sent")                                                 \
    X(ROUNDS, "rounds", "rounds of the polling loop")                                                        \
    X(BUSY_ROUNDS, "busy_rounds", "rounds that found something to do")                                       \
    X(SLEEPS, "sleeps", "naps taken because there was nothing to do")                                        \
    X(STALLS, "stalls", "times that a polling thread stood still for 100 ms or more")                        \
    X(STALLED_MS, "stalled_ms", "milliseconds that these took")

enum event {
#define X(id, name, meaning) EVENT_##id,
    EVENT_LIST(X)
#undef X
        EVENTS
};

/* Gradient packets of jobs that have a switch above, and the bytes of their payloads. */
enum uplink_count { UPLINK_SENT, UPLINK_SENT_BYTES, UPLINK_RECEIVED, UPLINK_RECEIVED_BYTES, UPLINK_COUNTS };

struct counters {
    uint64_t drop[SWAGG_MAX_PORTS][DROP_KINDS];
    uint64_t event[EVENTS];
    uint64_t uplink[SWAGG_MAX_UPLINKS][UPLINK_COUNTS];
    uint64_t verdict[COUNTED_PROTOCOLS][AGG_MAX_REASONS]; /* by enum agg_protocol_id and its reasons; those
                                                             that are strange count as drops, too */
};

/* For the owner. */
static inline void count_drop(struct counters *c, unsigned port, unsigned kind, unsigned frames)
{
    counter_add(&c->drop[port][kind], frames);
}

static inline void count_event(struct counters *c, enum event event, unsigned n)
{
    counter_add(&c->event[event], n);
}

static inline void count_sent_up(struct counters *c, unsigned uplink, size_t bytes)
{
    counter_add(&c->uplink[uplink][UPLINK_SENT], 1);
    counter_add(&c->uplink[uplink][UPLINK_SENT_BYTES], bytes);
}

static inline void count_from_above(struct counters *c, unsigned uplink, size_t bytes)
{
    counter_add(&c->uplink[uplink][UPLINK_RECEIVED], 1);
    counter_add(&c->uplink[uplink][UPLINK_RECEIVED_BYTES], bytes);
}

/* Of a kind of drop; NULL: there is none of this number. */
const char *drop_name(unsigned kind);
const char *drop_meaning(unsigned kind);
const char *event_name(enum event event);
const char *event_meaning(enum event event);

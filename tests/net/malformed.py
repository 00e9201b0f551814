#!/usr/bin/env python3
"""Run in host 3 beside a rank of a live job: sends frames that are wrong in one way each, and sees that the switch drops each
under its own counter and under no other: malformed.py NET_ID SWITCH_MAC SWITCH_IP OWN_IP

The gradient packets and control messages are copies of the live rank's own, with one thing changed. The job is to stand still,
waiting for another rank, so that the live rank's packets are all about one chunk."""
import json
import socket
import sys
import time

import raw

NET_ID, SWITCH_MAC, SWITCH_IP, OWN_IP = sys.argv[1:]
COPIES = 3  # of each frame
SLOTS = 512  # of the live job
DATA_PORTS = range(0xBEE0, 0xBEF0)
CONTROL_PORT = 0xBEDF
# What the waiting job's own packets may be counted as at any time. A frame is counted once: under these, or as malformed.
WAITING = {"held", "send_all", "send_one", "send_answer", "drop_duplicate"}

wire = raw.Wire("eth0")
# The switch tells a foreign sender that it is none: somebody has to listen, or the kernel would answer with ICMP.
foreign = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
foreign.bind((OWN_IP, 0))
FOREIGN_PORT = foreign.getsockname()[1]
switch = raw.mac(SWITCH_MAC)
everybody = b"\xff" * 6


class Telemetry:
    """The switch's, which is asked more than a hundred times, by one connection."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(300)
        self.socket.connect(f"/var/run/dpdk/{NET_ID}/dpdk_telemetry.v2")
        self.longest = json.loads(self.socket.recv(1024))["max_output_len"]

    def counters(self):
        return self.ask("/swagg/drops") | self.ask("/swagg/verdicts")

    def ask(self, command):
        self.socket.send(command.encode())
        return json.loads(self.socket.recv(self.longest))[command]


class Datagram:
    """A UDP payload of the live rank's, and where it went."""

    def __init__(self, ports):
        def ours(frame):
            return frame[:6] == switch and frame[12:14] == b"\x08\x00" and frame[23] == 17 and \
                int.from_bytes(frame[36:38], "big") in ports

        frame = wire.receive(ours, 300)
        if frame is None:
            sys.exit(f"malformed: the live rank sends nothing to ports {ports}")
        self.source = int.from_bytes(frame[34:36], "big")
        self.destination = int.from_bytes(frame[36:38], "big")
        self.payload = frame[42:14 + int.from_bytes(frame[16:18], "big")]

    def changed(self, **bytes_at):
        """A copy with some bytes set: b2=7 sets byte 2."""
        data = bytearray(self.payload)
        for name, value in bytes_at.items():
            data[int(name[1:])] = value
        return bytes(data)


def ip(payload, protocol=17, source=OWN_IP, destination=SWITCH_IP, vlan=None, mac=wire.mac, **wrong):
    return raw.ethernet(switch, mac, 0x0800, raw.ipv4(source, destination, protocol, payload, **wrong), vlan)


def udp(payload, sport, dport, **wrong):
    return ip(raw.udp(OWN_IP, SWITCH_IP, sport, dport, payload, **wrong))


def echo(kind=8, data=b"", check=None):
    message = bytes([kind, 0, 0, 0, 1, 2, 0, 1]) + data
    check = raw.checksum(message) if check is None else check
    return message[:2] + check.to_bytes(2, "big") + message[4:]


def ethernet_and_ip():
    request = raw.arp(1, wire.mac, OWN_IP, bytes(6), SWITCH_IP)
    good = raw.udp(OWN_IP, SWITCH_IP, 4000, 48864, bytes(32))
    return [
        ("another ethertype", "ethertype", raw.ethernet(switch, wire.mac, 0x88B5, bytes(46))),
        ("IPv6", "ethertype", raw.ethernet(switch, wire.mac, 0x86DD, bytes(46))),
        ("a VLAN tag", "ethertype", ip(good, vlan=7)),
        ("a group as source", "bad_source", raw.ethernet(switch, raw.mac("03:00:00:00:00:01"), 0x0800, bytes(46))),
        ("no source", "bad_source", raw.ethernet(switch, bytes(6), 0x0800, bytes(46))),
        ("the switch's own source", "own_source", raw.ethernet(switch, switch, 0x0800, bytes(46))),
        ("the switch's IP in an ARP request", "own_ip",
         raw.ethernet(everybody, wire.mac, 0x0806, raw.arp(1, wire.mac, SWITCH_IP, bytes(6), SWITCH_IP))),
        ("the switch's IP in an ARP answer to the switch", "own_ip",
         raw.ethernet(switch, wire.mac, 0x0806, raw.arp(2, wire.mac, SWITCH_IP, switch, SWITCH_IP))),
        ("the switch's IP as the source of a packet to it", "own_ip", ip(good, source=SWITCH_IP)),
        ("the switch's IP as the source of a packet to somebody else", "own_ip",
         raw.ethernet(raw.mac("02:00:00:00:01:01"), wire.mac, 0x0800, raw.ipv4(SWITCH_IP, "10.77.0.1", 17, good))),
        ("link local", "link_local", raw.ethernet(raw.mac("01:80:c2:00:00:0e"), wire.mac, 0x88CC, bytes(46))),
        ("ARP cut short", "arp_malformed", raw.ethernet(switch, wire.mac, 0x0806, request[:20])),
        ("ARP about no Ethernet", "arp_malformed", raw.ethernet(switch, wire.mac, 0x0806, b"\0\x07" + request[2:])),
        ("an ARP answer", "arp_ignored",
         raw.ethernet(switch, wire.mac, 0x0806, raw.arp(2, wire.mac, OWN_IP, switch, SWITCH_IP))),
        ("a header cut short", "ip_short", raw.ethernet(switch, wire.mac, 0x0800, raw.ipv4(OWN_IP, SWITCH_IP, 17, b"")[:12])),
        ("more bytes claimed than there are", "ip_short", ip(good, total=20 + len(good) + 100)),
        ("fewer bytes claimed than the header", "ip_total_length", ip(good, total=19)),
        ("version 6", "ip_version", ip(good, version=6)),
        ("a header of 16 bytes", "ip_header_length", ip(good, words=4)),
        ("options", "ip_options", ip(good, options=b"\x01\x01\x01\x01")),
        ("a wrong header checksum", "ip_checksum", ip(good, bad_checksum=True)),
        ("a first fragment", "ip_fragment", ip(good, fragment=0x2000)),
        ("a later fragment", "ip_fragment", ip(good, fragment=100)),
        ("no source", "ip_source", ip(raw.udp("0.0.0.0", SWITCH_IP, 0, 48864, bytes(32)), source="0.0.0.0")),
        ("a group as source", "ip_source", ip(raw.udp("224.0.0.1", SWITCH_IP, 4000, 48864, bytes(32)), source="224.0.0.1")),
        ("another IP", "ip_not_ours", ip(good, destination="10.77.0.253")),
        ("TCP", "ip_protocol", ip(bytes(20), protocol=6)),
        ("ICMP cut short", "icmp_malformed", ip(b"\x08\x00", protocol=1)),
        ("ICMP with a wrong checksum", "icmp_malformed", ip(echo(data=b"x" * 40, check=0x1234), protocol=1)),
        ("ICMP that is no request", "icmp_ignored", ip(echo(kind=13, data=bytes(12)), protocol=1)),
        ("a UDP length below the header", "udp_length", ip(raw.udp(OWN_IP, SWITCH_IP, 4000, 48864, b"", length=7))),
        ("a UDP length beyond the packet", "udp_length",
         ip(raw.udp(OWN_IP, SWITCH_IP, 4000, 48864, bytes(32), length=100))),
        ("UDP cut short", "udp_length", ip(b"\x10\x00\xbe")),
        ("a wrong UDP checksum", "udp_checksum",
         ip(raw.udp(OWN_IP, SWITCH_IP, 4000, 48864, bytes(32), bad_checksum=True))),
        ("no port of the switch", "udp_port", udp(bytes(32), 4000, 9999)),
        ("longer than the MTU allows", "oversize", udp(bytes(1600), 4000, 48864)),
        ("longer than the MTU allows, to another station", "oversize",
         raw.ethernet(raw.mac("02:00:00:00:01:01"), wire.mac, 0x88B5, bytes(1600))),
    ]


def gradients(live):
    """The live rank's job waits for one chunk of another rank's; head is the header of what it asks for it with."""
    head = live.payload[:10]
    tag = int.from_bytes(head[2:6], "little")

    def data(payload, sport=live.source):
        return udp(payload, sport, live.destination)

    def chunk(body, *, ahead=0, wrong_slot=0, code=head[8]):
        """A contribution that is no collective's first, so many chunks after the one that is waited for."""
        at = (tag + ahead) % 2**32
        slot = (at // SLOTS % 2 << 15 | at % SLOTS) ^ wrong_slot
        return data(bytes([0x14, head[1]]) + at.to_bytes(4, "little") + slot.to_bytes(2, "big") +
                    bytes([code, head[9]]) + body)

    # The rank has contributed to the chunk that is waited for already; to this one nobody has.
    untouched = SLOTS // 2
    contribution = chunk(bytes(64), ahead=untouched)[42:]

    return [
        ("nothing", "sml_too_short", data(b"")),
        ("nine bytes", "sml_too_short", data(head[:9])),
        ("kind 0", "sml_bad_kind", data(bytes([head[0] & 0x0F]) + head[1:])),
        ("kind 15", "sml_bad_kind", data(bytes([head[0] | 0xF0]) + head[1:])),
        ("an answer to a path probe", "sml_bad_kind", data(bytes([0xA4]) + head[1:] + bytes(4))),
        ("no room for the trailer that it announces", "sml_too_short", data(bytes([head[0] | 0x08]) + head[1:] + bytes(3))),
        ("a checksum that was not agreed on", "drop_bad_checksum", data(bytes([head[0] | 0x08]) + head[1:] + bytes(4))),
        ("size code 7", "sml_bad_size_code", data(bytes([head[0] | 0x07]) + head[1:])),
        ("the reserved bit of the slot", "sml_bad_slot", data(head[:6] + bytes([head[6] | 0x40]) + head[7:])),
        ("size code 0 with 31 elements", "sml_bad_length", data(bytes([0x10]) + head[1:] + bytes(31 * 4))),
        ("size code 0 with 33 elements", "sml_bad_length", data(bytes([0x10]) + head[1:] + bytes(33 * 4))),
        ("a probe with a body", "sml_bad_length", data(bytes([0x34]) + head[1:] + bytes(4))),
        ("no such job", "sml_unknown_job", data(head[:1] + bytes([head[1] ^ 0x80]) + head[2:])),
        ("another port of the same host", "sml_foreign_sender", data(head, sport=FOREIGN_PORT)),
        ("nobody at all", "ip_source",
         ip(raw.udp("0.0.0.0", SWITCH_IP, 0, live.destination, contribution), source="0.0.0.0")),
        ("the live rank's address from another MAC", "sml_foreign_mac",
         ip(raw.udp(OWN_IP, SWITCH_IP, live.source, live.destination, contribution), mac=raw.mac("02:00:00:00:02:03"))),
        ("a slot out of range", "drop_bad_slot", chunk(bytes(64), wrong_slot=0x2000)),
        ("a slot that is not the tag's", "drop_bad_slot", chunk(bytes(64), wrong_slot=1)),
        ("longer than agreed", "drop_bad_length", chunk(bytes(1004), ahead=untouched)),
        ("half an element", "drop_bad_length", chunk(bytes(63), ahead=untouched)),
        ("no type", "drop_bad_type", chunk(bytes(64), ahead=untouched, code=head[8] & 0xF0)),
        ("an operation that its type does not have", "drop_bad_type", chunk(bytes(64), ahead=untouched, code=0xFB)),
        ("a chunk of long ago", "drop_stale", chunk(bytes(64), ahead=-2**20)),
        ("a chunk far ahead", "drop_ahead", chunk(bytes(64), ahead=2**20)),
        ("what only a switch sends", "drop_bad_kind", data(bytes([0x54]) + head[1:] + bytes(8))),
    ]


def checked(live):
    """The same of a job whose packets have a checksum: the header, then the trailer."""
    def data(payload):
        return udp(payload, live.source, live.destination)

    def flipped(bit):
        return live.changed(**{f"b{bit // 8}": live.payload[bit // 8] ^ 1 << bit % 8})

    head = live.payload[:10]
    tag_bit, last_bit = 8 * 2 + 5, 8 * len(live.payload) - 8
    return [
        ("a wrong tag", "drop_bad_checksum", data(flipped(tag_bit))),
        ("a wrong checksum", "drop_bad_checksum", data(flipped(last_bit))),
        ("no checksum", "drop_bad_checksum", data(bytes([head[0] & ~0x08]) + head[1:])),
        ("half a checksum", "sml_too_short", data(live.payload[:-2])),
        ("a checksum and more", "sml_bad_length", data(live.payload + bytes(4))),
    ]


def control(live):
    def message(payload):
        return udp(payload, live.source, CONTROL_PORT)

    return [
        ("cut short", "control_too_short", message(live.payload[:20])),
        ("a join without its end", "control_too_short", message(live.changed(b5=1)[:40] + bytes(131))),
        ("another magic number", "control_not_control", message(live.changed(b0=0))),
        ("a later version", "control_other_version", message(live.changed(b4=99))),
        ("an unknown type", "control_bad_type", message(live.changed(b5=200))),
        ("a join with an unreadable name", "control_bad_string", message(live.changed(b5=1)[:40] + b"\xff" * 132)),
    ]


def check(swagg, before, title, expected, frame):
    """Returns whether it was counted as expected, and the counters after that."""
    for _ in range(COPIES):
        wire.send(frame)
    for _ in range(6000):  # two minutes: a limit for what never comes
        time.sleep(0.02)
        after = swagg.counters()
        grown = {name: n - before[name] for name, n in after.items() if n != before[name]}
        if grown.get(expected, 0) >= COPIES:
            break
    drops = {name: n for name, n in grown.items() if name not in WAITING}
    if drops != {expected: COPIES}:
        print(f"malformed: {title}: expected {COPIES} under {expected}, counted {drops}")
    return drops == {expected: COPIES}, after


def check_all(cases):
    """How many were counted as expected. What comes late counts against the next one."""
    swagg = Telemetry()
    counts, good = swagg.counters(), 0
    for case in cases:
        right, counts = check(swagg, counts, *case)
        good += right
    return good


def harmless():
    """Trailing bytes behind an IPv4 packet are padding, not a fault: a padded ping is answered."""
    wire.send(ip(echo(data=b"padded"), protocol=1) + b"\xAA" * 40)
    return wire.receive(lambda f: f[6:12] == switch and f[12:14] == b"\x08\x00" and b"padded" in f, 120) is not None


live = Datagram(DATA_PORTS)
if live.payload[0] & 0x08:
    cases = checked(live)
else:
    cases = ethernet_and_ip() + gradients(live) + control(Datagram([CONTROL_PORT]))
good = check_all(cases)
if not harmless():
    sys.exit("malformed: a padded ping was not answered")
print(f"{good} of {len(cases)} malformed frames were dropped under their own counters")
sys.exit(good < len(cases))

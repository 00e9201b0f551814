"""Frames as bytes: a raw socket on an interface, and builders for Ethernet, ARP, IPv4 and UDP, right or wrong."""
import signal
import socket
import struct

SO_RCVBUFFORCE = 33  # unknown to Python 3.11


def mac(text):
    return bytes(int(x, 16) for x in text.split(":"))


def hold_all(listener):
    """By default a socket holds some 100 frames: fewer than come while the machine does something else."""
    listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)


class Wire:
    """A raw socket on an interface of this namespace."""

    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        hold_all(self.socket)
        self.socket.bind((interface, 0))
        self.mac = self.socket.getsockname()[4]

    def send(self, frame):
        self.socket.send(frame)

    def receive(self, wanted, seconds):
        """The first frame that `wanted` says yes to, or None."""
        self.socket.settimeout(seconds)
        try:
            while True:
                frame = self.socket.recv(65536)
                if wanted(frame):
                    return frame
        except TimeoutError:
            return None

    def until_told(self, wanted=lambda _: True):
        """All frames that `wanted` says yes to, until this process gets a SIGTERM. Says that it listens."""
        told, last_round = [], False
        signal.signal(signal.SIGTERM, lambda *_: told.append(True))
        print("listens", flush=True)
        while not last_round:
            last_round = bool(told)  # what came before that is in the socket by now
            while frame := self.receive(wanted, 0.2):
                yield frame


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(destination, source, ethertype, payload, vlan=None):
    tag = b"" if vlan is None else struct.pack("!HH", 0x8100, vlan)
    return destination + source + tag + struct.pack("!H", ethertype) + payload


def ipv4(source, destination, protocol, payload, *, version=4, options=b"", fragment=0, total=None, words=None,
         bad_checksum=False):
    length = 20 + len(options)
    first = version << 4 | (length // 4 if words is None else words)
    total = length + len(payload) if total is None else total
    head = struct.pack("!BBHHHBBH4s4s", first, 0, total, 1, fragment, 64, protocol, 0,
                       socket.inet_aton(source), socket.inet_aton(destination)) + options
    check = checksum(head) ^ (0x5555 if bad_checksum else 0)
    return head[:10] + struct.pack("!H", check) + head[12:] + payload


def udp(source, destination, sport, dport, payload, *, length=None, bad_checksum=False):
    length = 8 + len(payload) if length is None else length
    head = struct.pack("!HHHH", sport, dport, length, 0)
    pseudo = socket.inet_aton(source) + socket.inet_aton(destination) + struct.pack("!BBH", 0, 17, 8 + len(payload))
    check = (checksum(pseudo + head + payload) or 0xFFFF) ^ (0x5555 if bad_checksum else 0)
    return head[:6] + struct.pack("!H", check) + payload


def arp(operation, sender_mac, sender_ip, target_mac, target_ip):
    return struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, operation, sender_mac, socket.inet_aton(sender_ip),
                       target_mac, socket.inet_aton(target_ip))

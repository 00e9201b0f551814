#!/usr/bin/env python3
"""A worker of published SwitchML's RDMA backend with a NIC of its own: roce.py RANK WORKERS SWITCH_IP SWITCH_MAC PAIRS PACKETS ELEMENTS SEED
TENSOR...: sums tensors of so many messages, or for ever, and compares every sum. ELEMENTS: in a packet.

Written from the published client, P4 program and InfiniBand's specification alone; ICRCs are zlib's. As the NIC of an unreliable connection it
takes a message in order, or none of it. Its queue pairs are 0x100 * (RANK + 1) and the following ones, its key is 0x7000 + RANK."""
import random
import socket
import struct
import sys
import time
import zlib

import raw

RANK, WORKERS, PAIRS, PACKETS, ELEMENTS, SEED = (int(sys.argv[i]) for i in (1, 2, 5, 6, 7, 8))
SWITCH_IP, SWITCH_MAC, TENSORS = sys.argv[3], raw.mac(sys.argv[4]), sys.argv[9:]
FIRST, MIDDLE, LAST_IMMEDIATE, ONLY_IMMEDIATE = 0x26, 0x27, 0x29, 0x2B
BEGIN, END, IMMEDIATE = (FIRST, ONLY_IMMEDIATE), (LAST_IMMEDIATE, ONLY_IMMEDIATE), (LAST_IMMEDIATE, ONLY_IMMEDIATE)
PORT, TIMEOUT, MEMORY, NUMBERS = 4791, 0.2, 1 << 44, 1 << 24
BYTES = 4 * ELEMENTS
MESSAGE = PACKETS * BYTES
KEY, FIRST_PAIR = 0x7000 + RANK, 0x100 * (RANK + 1)

wire = raw.Wire("eth0")


def icrc(ip_and_udp, payload):
    """Of a payload without its own, behind these headers."""
    masked = bytearray(b"\xff" * 8 + ip_and_udp + payload)
    for at in (9, 16, 18, 19, 34, 35, 40):
        masked[at] = 0xFF
    return struct.pack("<I", zlib.crc32(masked))


def frame_of(payload, source_port):
    """Type of service and TTL as a NIC may have them; identification and source port, which the ICRC covers, at random."""
    head = bytearray(raw.ipv4(OWN_IP, SWITCH_IP, 17, b"", total=20 + 8 + len(payload) + 4))
    head[1], head[4:6], head[8] = 2, random.randbytes(2), 63
    head[10:12] = b"\0\0"
    head[10:12] = struct.pack("!H", raw.checksum(bytes(head)))
    udp = struct.pack("!HHHH", source_port, PORT, 8 + len(payload) + 4, 0)
    return raw.ethernet(SWITCH_MAC, wire.mac, 0x0800, bytes(head) + udp + payload + icrc(bytes(head) + udp, payload))


class Pair:
    """A queue pair, and the message that is under way by it."""

    def __init__(self, index):
        self.index, self.version, self.number = index, 1, (FIRST_PAIR + index) // 2
        self.address = MEMORY + index * MESSAGE
        self.message, self.content, self.sent_at, self.expected, self.place = None, None, 0, None, None
        self.memory = bytearray(MESSAGE)

    def post(self, message, content, exponents):
        self.message, self.content, self.exponents = message, content, exponents
        self.version ^= 1
        self.write()

    def write(self):
        for place in range(PACKETS):
            opcode = ONLY_IMMEDIATE if PACKETS == 1 else FIRST if place == 0 else LAST_IMMEDIATE if place == PACKETS - 1 else MIDDLE
            pair = 0x800000 | RANK << 16 | self.index
            payload = struct.pack("!BBHII", opcode, 0x40, 0xFFFF, pair, self.number)
            self.number = (self.number + 1) % NUMBERS
            if opcode in BEGIN:
                payload += struct.pack("!QII", self.address, 2 * self.index * PACKETS | self.version, MESSAGE)
            if opcode in IMMEDIATE:
                payload += struct.pack("<Hbb", self.message & 0xFFFF, *self.exponents)
            wire.send(frame_of(payload + self.content[place * BYTES:(place + 1) * BYTES], 49152 + random.randrange(16384)))
        self.sent_at = time.monotonic()

    def receive(self, opcode, number, rest):
        """The immediate of a whole message that has come in order, else None."""
        if opcode in BEGIN:
            address, key, length = struct.unpack_from("!QII", rest)
            assert (address, key, length) == (self.address, KEY, MESSAGE), (address, key, length)
            self.place, rest = 0, rest[16:]
        elif number != self.expected:
            self.place = None
        self.expected = (number + 1) % NUMBERS
        immediate = None
        if opcode in IMMEDIATE:
            immediate, rest = rest[:4], rest[4:]
        if self.place is None:
            return None
        assert (self.place == PACKETS - 1) == (opcode in END), f"packet {self.place} of {PACKETS} has opcode {opcode:#x}"
        assert len(rest) == BYTES, len(rest)
        self.memory[self.place * BYTES:(self.place + 1) * BYTES] = rest
        self.place += 1
        return immediate


def words(rank, tensor, message):
    random_of = random.Random(f"{SEED} {rank} {tensor} {message}")
    return [random_of.randrange(-1 << 20, 1 << 20) for _ in range(PACKETS * ELEMENTS)], random_of.randrange(-100, 100)


def check(tensor, message, memory, immediate):
    all_ranks = [words(rank, tensor, message) for rank in range(WORKERS)]
    want = struct.pack(f"!{PACKETS * ELEMENTS}i", *(sum(column) for column in zip(*(w for w, _ in all_ranks))))
    assert bytes(memory) == want, f"tensor {tensor}, message {message}: a sum is wrong"
    assert struct.unpack_from("b", immediate, 2)[0] == max(e for _, e in all_ranks), "the greatest exponent"


def is_ours(frame):
    return len(frame) > 58 and frame[:6] == wire.mac and frame[12:14] == b"\x08\0" and frame[23] == 17 and frame[36:38] == struct.pack("!H", PORT)


def post(pair, tensor, base, message):
    own, exponent = words(RANK, tensor, message)
    pair.of = message
    pair.post(base + message, struct.pack(f"!{len(own)}i", *own), (exponent, 0))


def sum_tensor(tensor, base, messages):
    waiting = set()
    for pair in pairs[:messages]:
        post(pair, tensor, base, pair.index)
        waiting.add(pair)
    while waiting:
        frame = wire.receive(is_ours, 0.05)
        if frame is not None:
            total = struct.unpack_from("!H", frame, 16)[0]
            payload = frame[42:14 + total]
            assert payload[-4:] == icrc(frame[14:42], payload[:-4]), "a wrong ICRC"
            opcode, _, _, number_of_pair, number = struct.unpack_from("!BBHII", payload)
            pair = pairs[number_of_pair - FIRST_PAIR]
            immediate = pair.receive(opcode, number, payload[12:-4])
            if immediate is not None and pair in waiting and struct.unpack_from("<H", immediate)[0] == pair.message & 0xFFFF:
                check(tensor, pair.of, pair.memory, immediate)
                if pair.of + PAIRS < messages:
                    post(pair, tensor, base, pair.of + PAIRS)
                else:
                    waiting.remove(pair)
        now = time.monotonic()
        for pair in waiting:
            if now - pair.sent_at > TIMEOUT:
                counts["again"] += 1
                pair.write()


def own_address():
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.connect((SWITCH_IP, PORT))
    return probe.getsockname()[0]


OWN_IP = own_address()
pairs, counts, done, first = [Pair(i) for i in range(PAIRS)], {"again": 0}, 0, 0
for count in TENSORS if TENSORS != ["forever"] else iter(lambda: "8", None):
    sum_tensor(done, first, int(count))
    done, first = done + 1, first + int(count)
print(f"worker {RANK}: {done} tensors are right; {counts['again']} messages sent again", flush=True)

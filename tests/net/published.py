#!/usr/bin/env python3
"""Run in a host: a worker of a published SwitchML client, written from the packets' layout and the paper ("Scaling
Distributed Machine Learning with In-Network Aggregation", algorithm 4, section 4.6 and appendix E) alone. Several threads,
each with a UDP port and slots of its own. Sums tensors of floats (f) and of int32 (i), and checks every element:

    published.py RANK WORKERS SWITCH_IP FIRST_PORT THREADS WINDOW ELEMENTS SEED {f|i}NUMBER... [forever]

A thread has WINDOW packets in flight and the slots 2 * WINDOW * thread .. + WINDOW - 1. Each worker can compute everybody's
numbers from SEED. It sums in place, as that client may: a result overwrites the numbers that it is the sum of, and a packet
that is sent again is built from what the tensor holds then. Sums of floats must be within n / f of the exact ones (theorem 1),
f = (2^31 - 1) / (n * 2^e)."""
import itertools
import math
import random
import selectors
import socket
import struct
import sys
import time

IP_RECVTTL = 12  # unknown to Python 3.11
SWITCH_PORT = 48864
MESSAGE_TYPE = 1
SIZE_CODE = {32: 0, 64: 1, 128: 2, 256: 3}
INT32_MAX = 2**31 - 1

rank, workers = int(sys.argv[1]), int(sys.argv[2])
switch_ip, first_port = sys.argv[3], int(sys.argv[4])
threads, window, elements, seed = (int(a) for a in sys.argv[5:9])


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def exponent(block):
    """The biased exponent of the largest magnitude, less 126, so that |x| < 2^e for all."""
    largest = struct.unpack("<I", struct.pack("<f", max(map(abs, block))))[0]
    return (largest >> 23 & 0xFF) - 126


def scale(e):
    return INT32_MAX / (workers * 2.0**e)


def tensor_of(worker, job, kind, numel):
    chance = random.Random(f"{seed} {worker} {job}")
    if kind == "i":
        return [chance.randrange(-(2**31), 2**31) for _ in range(numel)]
    return [float32(chance.uniform(-1, 1) * 2.0 ** chance.randrange(-20, 20)) for _ in range(numel)]


class Thread:
    def __init__(self, number):
        self.number = number
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        self.socket.bind(("", first_port + number))
        self.socket.connect((switch_ip, SWITCH_PORT))
        self.socket.setblocking(False)
        self.shift = 0  # packets of earlier tensors: the slots go on
        self.resent = 0

    def begin(self, job, kind, data):
        self.job, self.kind, self.data = job & 0xFF, kind, data
        self.blocks = [data[i : i + elements] for i in range(0, len(data), elements)]
        self.batch = min(window, len(self.blocks))
        self.total = len(self.blocks) + (self.batch if kind == "f" else 0)
        self.exponents = [None] * len(self.blocks)
        self.received, self.waiting, self.next = set(), {}, 0
        self.send_more()

    def done(self):
        return len(self.received) == self.total

    def pool_index(self, packet):
        i = (packet + self.shift) % (2 * window)
        return 2 * window * self.number + i % window | (0x8000 if i >= window else 0)

    def payload(self, packet):
        numbers, e0 = [0] * elements, -128
        if self.kind == "i":
            block = self.blocks[packet]
            numbers[: len(block)] = block
        else:
            if packet < len(self.blocks):
                e0 = exponent(self.blocks[packet])
            if packet >= self.batch:
                b = packet - self.batch
                f = scale(self.exponents[b])
                numbers[: len(self.blocks[b])] = [round(x * f) for x in self.blocks[b]]
        head = struct.pack(">BB", MESSAGE_TYPE << 4 | SIZE_CODE[elements], self.job) + struct.pack("<I", packet)
        junk = random.randrange(256)  # byte 9 is not initialised
        return head + struct.pack(">HbB", self.pool_index(packet), e0, junk) + struct.pack(f">{elements}i", *numbers)

    def may_send(self, packet):
        """The slot must be free, and the numbers' exponent known."""
        return (packet < window or packet - window in self.received) and (
            packet < self.batch or packet - self.batch in self.received)

    def send_more(self):
        while self.next < self.total and self.may_send(self.next):
            self.waiting[self.next] = [0, 0.02]
            self.send(self.next)
            self.next += 1

    def send(self, packet):
        _, timeout = self.waiting[packet]
        self.waiting[packet] = [time.monotonic() + timeout, min(2 * timeout, 0.3)]
        try:
            self.socket.send(self.payload(packet))
        except OSError:
            pass  # as if it were lost

    def send_again(self):
        now = time.monotonic()
        for packet in [p for p, (due, _) in self.waiting.items() if due <= now]:
            self.resent += 1
            self.send(packet)

    def receive(self):
        while True:
            try:
                got, said, _, _ = self.socket.recvmsg(4096, 64)
            except OSError:
                return
            if [struct.unpack("i", value)[0] for _, kind, value in said if kind == socket.IP_TTL] != [64]:
                sys.exit(f"rank {rank}: a result without TTL 64")
            self.result(got)

    def result(self, got):
        if len(got) != 10 + 4 * elements or got[0] != MESSAGE_TYPE << 4 | SIZE_CODE[elements]:
            sys.exit(f"rank {rank}: {len(got)} bytes are no result: {got[:10].hex()}")
        packet = struct.unpack("<I", got[2:6])[0]
        if got[1] != self.job or packet in self.received or packet not in self.waiting:
            return  # of an earlier tensor, or a second time
        index, e = struct.unpack(">Hb", got[6:9])
        if index != self.pool_index(packet):
            sys.exit(f"rank {rank}: packet {packet} has come back in slot {index:#x}")
        self.received.add(packet)
        del self.waiting[packet]
        numbers = struct.unpack(f">{elements}i", got[10:])
        if self.kind == "i":
            self.blocks[packet] = numbers[: len(self.blocks[packet])]
        else:
            if packet < len(self.blocks):
                self.exponents[packet] = e
            if packet >= self.batch:
                b = packet - self.batch
                self.blocks[b] = [q / scale(self.exponents[b]) for q in numbers[: len(self.blocks[b])]]
        self.send_more()

    def end(self):
        self.shift = (self.shift + self.total) % (2 * window)


def slices(numel):
    """As even as can be, the first threads one more."""
    at = 0
    for t in range(threads):
        n = numel // threads + (t < numel % threads)
        yield at, at + n
        at += n


def check(job, thread, inputs):
    for b in range(len(thread.blocks)):
        part = [x[b * elements : (b + 1) * elements] for x in inputs]
        if thread.kind == "f":
            e = max(exponent(p) for p in part)
            if thread.exponents[b] != e:
                sys.exit(f"rank {rank}, tensor {job}: block {b} has exponent {thread.exponents[b]}, not {e}")
        for i, numbers in enumerate(zip(*part)):
            got = thread.blocks[b][i]
            if thread.kind == "i":
                right = (sum(numbers) + 2**31) % 2**32 - 2**31 == got
            else:
                right = abs(math.fsum(numbers) - got) <= workers / scale(e)
            if not right:
                sys.exit(f"rank {rank}, tensor {job}, thread {thread.number}, block {b}, element {i}: "
                         f"{got} is not the sum of {numbers}")


def run():
    mine = [Thread(t) for t in range(threads)]
    selector = selectors.DefaultSelector()
    for t in mine:
        selector.register(t.socket, selectors.EVENT_READ, t)
    forever = sys.argv[-1] == "forever"
    wanted = [(what[0], int(what[1:])) for what in sys.argv[9 : -1 if forever else None]]
    tensors = [[tensor_of(w, job, kind, numel) for w in range(workers)] for job, (kind, numel) in enumerate(wanted)]
    rounds = zip(wanted, tensors)
    for job, ((kind, numel), inputs) in enumerate(itertools.cycle(rounds) if forever else rounds):
        busy = []
        for t, (first, last) in zip(mine, slices(numel)):
            if last > first:
                t.begin(job, kind, inputs[rank][first:last])
                busy.append((t, [x[first:last] for x in inputs]))
        while not all(t.done() for t, _ in busy):
            for key, _ in selector.select(0.01):
                key.data.receive()
            for t, _ in busy:
                t.send_again()
        for t, parts in busy:
            check(job, t, parts)
            t.end()
        print(f"rank {rank}: tensor {job} is right", flush=True)
    print(f"rank {rank}: all right, {sum(t.resent for t in mine)} packets sent again", flush=True)


run()

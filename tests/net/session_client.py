#!/usr/bin/python3
"""Run in a host: asks for a session as the published SwitchML client does, message by message, written from their fields'
numbers alone; then it is a worker of it (published.py), and hangs up when that ends.

    session_client.py CONTROLLER RANK WORKERS SWITCH_MAC [published.py's arguments from SWITCH_IP on]
    session_client.py CONTROLLER rdma RANK WORKERS SWITCH_MAC [roce.py's arguments from SWITCH_IP on]
    session_client.py CONTROLLER call METHOD HEX...   calls with these bytes, each of which is to fail; prints the errors' words
    session_client.py CONTROLLER stop CALLS RANK WORKERS    so many of the calls, then it waits to be killed

A call that fails ends it with status 1 and the error's words."""
import ipaddress
import os
import runpy
import subprocess
import sys
import time
import uuid

import grpc

PACKET_SIZE = {32: 0, 64: 1, 128: 2, 256: 3}
channel = grpc.insecure_channel(sys.argv[1])


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def message(**fields):
    """Of numbers, and lists of them; field 5 is f5. What is 0 is left out."""
    out = b""
    for name, value in fields.items():
        if isinstance(value, list):
            packed = b"".join(varint(number) for number in value)
            out += varint(int(name[1:]) << 3 | 2) + varint(len(packed)) + packed
        elif value != 0:
            out += varint(int(name[1:]) << 3) + varint(value)
    return out


def fields_of(data):
    out, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 2:
            end = number() + at
            out[key >> 3] = []
            while at < end:
                out[key >> 3].append(number())
        else:
            out[key >> 3] = number()
    return out


def call(method, data=b""):
    print(f"calls {method}", flush=True)
    try:
        answer = channel.unary_unary(f"/switchml_proto.{method}")(data)
    except grpc.RpcError as error:
        sys.exit(f"{method}: {error.code().name}: {error.details()}")
    return answer


def fail(method, data):
    try:
        sys.exit(f"{method}: answered {call(method, data).hex()}")
    except SystemExit as end:
        print(end)


def own_mac():
    with open("/sys/class/net/eth0/address", encoding="ascii") as file:
        return int(file.read().strip().replace(":", ""), 16)


def own_ip():
    words = subprocess.run(["ip", "-4", "-o", "addr", "show", "dev", "eth0"], check=True, capture_output=True, encoding="ascii").stdout.split()
    return int(ipaddress.IPv4Address(words[words.index("inet") + 1].split("/")[0]))


def calls(rank, workers, elements, rdma=None):
    """The client's calls in its order; yields behind each, at the end the switch's answer. rdma: rkey, queue pairs, message's bytes."""
    session = fields_of(call("Sync/Broadcast", message(f1=uuid.uuid4().int >> 65 if rank == 0 else 0, f2=rank, f3=workers)))[1]
    yield None
    meet = "Sync/Barrier", message(f1=workers)
    ask = "Session/UdpSession", message(f1=session, f2=rank, f3=workers, f4=own_mac(), f5=own_ip(), f7=PACKET_SIZE[elements])
    if rdma is not None:
        key, pairs, length = rdma
        ask = "Session/RdmaSession", message(
            f1=session & 0xFFFFFFFF, f2=rank, f3=workers, f4=own_mac(), f5=own_ip(), f6=key, f7=PACKET_SIZE[elements], f8=length,
            f9=pairs, f10=[number // 2 for number in pairs])
        session &= 0xFFFFFFFF
    answer = None
    for method, data in (ask, meet, meet) if rank == 0 else (meet, ask, meet):
        got = fields_of(call(method, data))
        answer = got if data is ask[1] else answer
        yield answer
    if answer[1] != session:
        sys.exit(f"the answer is of session {answer[1]:#x}, not {session:#x}")


def check_switch(answer, switch_mac, switch_ip):
    if answer[2] != int(switch_mac.replace(":", ""), 16) or answer[3] != int(ipaddress.IPv4Address(switch_ip)):
        sys.exit(f"the switch is said to be {answer[2]:012x}, {answer[3]:08x}")


def become(worker, arguments):
    """In this process, which has the connection."""
    worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), worker)
    sys.argv = [worker, *arguments]
    runpy.run_path(worker)


def be_rdma_worker(rank, workers, switch_mac, rest):
    """As roce.py has its key and queue pairs."""
    pairs, packets, elements = (int(argument) for argument in rest[1:4])
    own = [0x100 * (rank + 1) + i for i in range(pairs)]
    *_, answer = calls(rank, workers, elements, (0x7000 + rank, own, packets * elements * 4))
    check_switch(answer, switch_mac, rest[0])
    expected = (0x7000 + rank, [0x800000 | rank << 16 | i for i in range(pairs)], [0] * pairs)
    if (answer[4], answer[5], answer[6]) != expected:
        sys.exit(f"the switch's key, queue pairs and numbers are {answer}, not {expected}")
    become("roce.py", [str(rank), str(workers), rest[0], switch_mac, *rest[1:]])


def main():
    if sys.argv[2] == "call":
        for method, data in zip(sys.argv[3::2], sys.argv[4::2]):
            fail(method, bytes.fromhex(data))
        return
    if sys.argv[2] == "stop":
        asked = calls(int(sys.argv[4]), int(sys.argv[5]), 64)
        for _ in range(int(sys.argv[3])):
            next(asked)
        print("stopped", flush=True)
        time.sleep(3600)
    if sys.argv[2] == "rdma":
        be_rdma_worker(int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], sys.argv[6:])
        return
    rank, workers, switch_mac, rest = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:]
    *_, answer = calls(rank, workers, int(rest[4]))
    check_switch(answer, switch_mac, rest[0])
    become("published.py", [str(rank), str(workers), *rest])


main()

#!/usr/bin/env python3
"""One who scrapes: scraper.py HOST:PORT get PATH | bad | hold"""
import errno
import http.client
import signal
import socket
import sys

HOST, _, PORT = sys.argv[1].partition(":")
ADDRESS = HOST, int(PORT)
PATIENCE_S = 300
PLACES = 8  # of one address


def ask(method, path):
    connection = http.client.HTTPConnection(*ADDRESS, timeout=PATIENCE_S)
    connection.request(method, path, headers={"Connection": "close"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def send(data):
    """What comes back until the other side closes."""
    with socket.create_connection(ADDRESS, timeout=PATIENCE_S) as connection:
        got = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                got += piece
        except ConnectionError:
            pass
        except OSError as error:  # it was reset before the end was told
            if error.errno != errno.ENOTCONN:
                raise
        return got


def expect(what, is_so, said):
    if not is_so:
        sys.exit(f"{what}: {said}")


def bad():
    for method, path, status in (("GET", "/nix", 404), ("GET", "/metrics/../etc/passwd", 404), ("POST", "/metrics", 405), ("GET", "/" + 60000 * "x", 414)):
        got, text = ask(method, path)
        expect(f"{method} {path[:20]}", got in (status, 400, 431) if status == 414 else got == status, (got, text[:100]))
    status, text = ask("HEAD", "/metrics")
    expect("HEAD", status == 200 and text == "", (status, text[:100]))
    for data in (b"\0\xff\n\n", b"GET /metrics\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"\r\n" * 1000, b"GET /metrics HTTP/1.1\r\n" + 40000 * b"a"):
        send(data)  # no answer is as good as one: it goes on
    status, text = ask("GET", "/metrics")
    expect("afterwards", status == 200 and "swagg_status_up_seconds" in text, (status, text[:100]))


def hold():
    """All but one of the places that there are for one address."""
    held = []
    for _ in range(PLACES - 1):
        connection = socket.create_connection(ADDRESS, timeout=PATIENCE_S)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
        held.append(connection)
    print("held", flush=True)
    signal.pause()


if sys.argv[2] == "get":
    status, text = ask("GET", sys.argv[3])
    expect(sys.argv[3], status == 200, (status, text[:200]))
    sys.stdout.write(text)
else:
    {"bad": bad, "hold": hold}[sys.argv[2]]()

"""Lets other processes write to an interpreted program by BF Runtime (bfrt_grpc/client.py), over a socket of the file system."""
import os
import selectors
import socket
from multiprocessing.connection import Connection

import fake_bfrt


class Server:
    """Whatever is to be read, registered at `waiting`, a selector, comes with the function that reads it."""

    def __init__(self, path, chip, waiting):
        self.chip, self.waiting, self.clients = chip, waiting, {}  # client ids, by connection
        fake_bfrt.prepare(chip)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path + ".new")
        self.listener.listen()
        os.rename(path + ".new", path)  # who finds it finds somebody who listens
        waiting.register(self.listener, selectors.EVENT_READ, self.accept)

    def accept(self):
        connection = Connection(self.listener.accept()[0].detach())
        self.clients[connection] = None
        self.waiting.register(connection, selectors.EVENT_READ, lambda: self.serve(connection))

    def serve(self, connection):
        try:
            connection.send(self.answer(connection, *connection.recv()))
        except (EOFError, OSError):
            self.waiting.unregister(connection)
            del self.clients[connection]
            connection.close()

    def answer(self, connection, what, *arguments):
        """(error, answer)"""
        try:
            return None, getattr(self, f"on_{what}")(connection, *arguments)
        except Exception as problem:  # whatever it is, it is the client's to know
            return f"{type(problem).__name__}: {problem}", None

    def on_client(self, connection, client_id):
        assert client_id not in self.clients.values(), f"there is a client {client_id}"
        self.clients[connection] = client_id

    def on_info(self, connection, name):
        return fake_bfrt.BfrtInfo(self.chip).table_get(name).info

    def on_table(self, connection, name, method, arguments):
        found = getattr(fake_bfrt.BfrtInfo(self.chip).table_get(name), method)(*arguments)
        return None if found is None else list(found)

    def on_fields(self, connection, name):
        return fake_bfrt.BfrtInfo(self.chip).learn_get(name).fields

    def on_digests(self, connection):
        found, self.chip.digests = self.chip.digests, []
        return found

"""A module like the switch software's bfrt_grpc.client, for p4/helper.py as a process of its own: the switch is an interpreted program in
another process (wire_switch.py). The address of the switch is the path of that process's socket."""
import time
from multiprocessing.connection import Client

from fake_bfrt import Base, DataTuple, KeyTuple, Learn, Target

__all__ = ["ClientInterface", "DataTuple", "KeyTuple", "Target"]


class Table(Base):
    def __init__(self, ask, name):
        self.ask, self.name, self.info = ask, name, ask("info", name)

    def _do(self, method, *arguments):
        return self.ask("table", self.name, method, arguments)

    def entry_add(self, *arguments):
        return self._do("entry_add", *arguments)

    def entry_mod(self, *arguments):
        return self._do("entry_mod", *arguments)

    def entry_del(self, *arguments):
        return self._do("entry_del", *arguments)

    def entry_get(self, *arguments):
        return self._do("entry_get", *arguments)


class BfrtInfo:
    def __init__(self, ask):
        self.ask = ask

    def table_get(self, name):
        return Table(self.ask, name)

    def learn_get(self, name):
        return Learn(self.ask("fields", name))


class ClientInterface:
    def __init__(self, grpc_addr, client_id, device_id):
        self.connection = Client(grpc_addr, "AF_UNIX")
        self.ask("client", client_id)

    def ask(self, *request):
        self.connection.send(request)
        error, answer = self.connection.recv()
        if error:
            raise RuntimeError(error)
        return answer

    def bind_pipeline_config(self, p4_name):
        assert p4_name == "swagg", p4_name

    def bfrt_info_get(self, p4_name):
        return BfrtInfo(self.ask)

    def digest_get(self, timeout):
        found = self.ask("digests")
        if not found:
            time.sleep(timeout)
            raise RuntimeError("nothing has come")
        return found

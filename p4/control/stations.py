"""Where each MAC address is: what frames to it and from it find in the chip's tables.

The chip tells of a station that is no source of its tables, or is at another port. So whoever is killed in the midst must not leave a source
there that the next life does not know of, or that has no destination: it would never be told of the station again. What is learnt is
written down first, and then its destination, and its source last; what is taken out goes the other way round."""
from control import plan
from control.bfrt import SwitchError
from control.say import say

SOURCES, DESTINATIONS = "Ingress.bridge.sources", "Ingress.bridge.destinations"
ADDRESSES = 4096  # that the tables have room for; one is the switch's own
FIXED = 1024      # of them by operators: the others are for what is heard


def text(mac):
    return ":".join(f"{mac >> at & 255:02x}" for at in range(40, -8, -8))


class Stations:
    """keep: writes down learned and fixed for the next life."""

    def __init__(self, bfrt, keep):
        self.bfrt, self.keep = bfrt, keep
        self.learned = {}  # MAC address -> port, the one heard longest ago first
        self.fixed = {}    # the same, by operators: wherever they are heard
        self.refused = False

    def __len__(self):
        return len(self.learned) + len(self.fixed)

    def port_of(self, mac):
        """None: it has not been heard."""
        return self.fixed.get(mac, self.learned.get(mac))

    def write_fixed(self, mac, port):
        """Of what such a station sends at another port the chip tells nobody."""
        self.bfrt.put(plan.Write(SOURCES, (mac,), "fixed", ()))
        self.bfrt.put(plan.Write(DESTINATIONS, (mac,), "forward", (port,)))

    def _write_learned(self, mac, port):
        self.bfrt.put(plan.Write(DESTINATIONS, (mac,), "forward", (port,)))
        self.bfrt.put(plan.Write(SOURCES, (mac,), "known", (port,)))

    def _take_out(self, mac):
        """A life that was killed may have written it down and no more, or begun to take it out."""
        port = self.learned.pop(mac)
        self.bfrt.discard(plan.Write(SOURCES, (mac,), "known", (port,)))
        self.bfrt.discard(plan.Write(DESTINATIONS, (mac,), "forward", (port,)))

    def _make_room(self):
        if len(self) >= ADDRESSES - 1:
            self._take_out(next(iter(self.learned)))

    def heard(self, ports):
        """By digests: MAC address -> port. Returns those of stations that are there now; a fixed one's was on its way when that was fixed."""
        heard = {mac: port for mac, port in ports.items() if mac not in self.fixed}
        for mac, port in heard.items():
            if self.learned.pop(mac, None) is None:
                self._make_room()
            self.learned[mac] = port
        if heard:
            self.keep()
        for mac, port in list(heard.items()):
            if mac not in self.learned:  # those behind it have taken its room
                continue
            try:
                self._write_learned(mac, port)
            except SwitchError as problem:
                self._take_out(mac)
                del heard[mac]
                self._say_refused(mac, problem)
        return heard

    def _say_refused(self, mac, problem):
        """A table may have no place for a station though others are free: what is sent to it goes to all ports."""
        if not self.refused:
            say(f"station {text(mac)} is not learnt, nor others that the chip refuses: {problem}")
        self.refused = True

    def fix(self, mac, port):
        """It is on this port from now on, wherever it is heard; in the lives to come, too."""
        if mac == 0 or mac >> 40 & 1:
            raise SwitchError(f"{text(mac)} is a group address or zero")
        if mac not in self.fixed and len(self.fixed) >= FIXED:
            raise SwitchError(f"there are {FIXED} static stations, which is the most (swaggctl fdb)")
        if mac not in self.fixed and self.learned.pop(mac, None) is None:
            self._make_room()
        self.fixed[mac] = port
        self.keep()  # first: what is in the chip for good must be known
        self.write_fixed(mac, port)

    def unfix(self, mac):
        """It may be heard elsewhere from now on."""
        if mac not in self.fixed:
            raise SwitchError(f"there is no static station {text(mac)} (swaggctl fdb)")
        self._write_learned(mac, self.fixed[mac])
        self.learned[mac] = self.fixed.pop(mac)
        self.keep()

    def forget(self, port=None):
        """All that were heard, or those at a port, until they are heard again."""
        for mac, at in list(self.learned.items()):
            if port in (None, at):
                self._take_out(mac)
        self.keep()

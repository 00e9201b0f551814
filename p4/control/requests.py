"""What swagg-tofino asks of its helper, in lines of JSON: {"id": 7, "do": "open", ...}."""
import json

from control import plan
from control.bfrt import SwitchError
from control.looks import LOOKS
from control.statics import FIRST, Statics
from control.switch import Place, Port

HEARD_WITHIN_S = 1  # that a station's frames have gone through the chip


def people_of(switch, request):
    found = []
    for rank, w in enumerate(request["workers"]):
        port = switch.port_of(w["mac"])
        if port is None:  # what the chip has told of it may not have been read
            switch.learn(HEARD_WITHIN_S)
            port = switch.port_of(w["mac"])
        if port is None:
            raise plan.DoesNotFit(f"rank {rank}'s MAC address {w['mac']:012x} has not been heard at any port of the switch")
        found.append(plan.Worker(w["ip"], w["port"], w["mac"], port))
    return tuple(found)


def is_asked_for(job, request):
    """Whether the switch's job is the one of a request; wherever its workers are, and by whichever MAC address."""
    workers, wanted = [(w.ip, w.port) for w in job.workers], [(w["ip"], w["port"]) for w in request["workers"]]
    return (job.elements, job.slots, job.first_tag, workers) == (*(request[k] for k in ("elements", "slots", "first_tag")), wanted)


class Requests:
    """A switch, and what it is asked for. statics: None until `begin`."""

    def __init__(self, switch):
        self.switch, self.statics = switch, None

    def do_begin(self, request):
        """A new life of swagg-tofino, which has a place in the network, and jobs from its configuration, and knows these jobs: they go
        on, others of the life before are closed."""
        switch = self.switch
        ports = tuple(Port(p["number"], p["speed"], p["fec"], p["autoneg"]) for p in request["ports"])
        switch.set_up(Place(request["mac"], request["ip"], ports))
        self.statics = Statics(switch, request["static"])
        known = {job["number"]: job for job in request["jobs"]}
        joined = {number: job for number, (job, _) in switch.jobs.items() if number < FIRST}
        kept = [number for number, job in joined.items() if number in known and is_asked_for(job, known[number])]
        for number in set(joined) - set(kept):
            switch.close(number)
        for number in kept:
            for rank, worker in enumerate(known[number]["workers"]):
                self.move(number, rank, worker["mac"])
        return {"kept": kept}

    def do_open(self, request):
        self.switch.open(plan.Job(request["number"], request["elements"], request["slots"], people_of(self.switch, request),
                                  request["first_tag"]))

    def do_close(self, request):
        self.switch.close(request["number"])

    def move(self, number, rank, mac):
        """To another MAC address than before. Where it is may not have been heard yet: it goes there once it has."""
        before = self.switch.jobs[number][0].workers[rank]
        if before.mac == mac:
            return
        if self.switch.port_of(mac) is None:
            self.switch.learn(HEARD_WITHIN_S)
        port = self.switch.port_of(mac)
        self.switch.move(number, rank, mac, before.egress if port is None else port)

    def do_move(self, request):
        self.move(request["number"], request["rank"], request["mac"])

    # --- for operators -------------------------------------------------------------------------------------------

    def do_look(self, request):
        return LOOKS[request["at"]](self.switch, self.statics, request)

    def do_reset(self, request):
        self.statics.start_over(self.statics.named(request["static"]))

    def do_add(self, request):
        self.statics.add(request["static"])

    def do_remove(self, request):
        self.statics.remove(self.statics.named(request["static"]))

    def do_flush(self, request):
        self.switch.stations.forget(None if request["port"] < 0 else request["port"])

    def do_fix(self, request):
        self.switch.fix(request["mac"], request["port"])

    def do_unfix(self, request):
        self.switch.stations.unfix(request["mac"])

    def do_enable(self, request):
        self.switch.bfrt.enable_port(request["port"], request["up"])

    # -------------------------------------------------------------------------------------------------------------

    def answer(self, line):
        """The answer to a line, as a line."""
        request = json.loads(line)
        does = getattr(self, f"do_{request['do']}")
        try:
            done = does(request) or {}
        except (plan.DoesNotFit, SwitchError) as problem:
            return json.dumps({"id": request["id"], "error": str(problem)})
        return json.dumps({"id": request["id"], "ok": True, **done})

    def idle(self, seconds, now):
        """Whatever is to be done without being asked; waits so long for something."""
        if self.statics is not None:
            self.switch.learn(seconds)
            self.statics.tick(now)


def shown(switch):
    """Everything that can be read of a switch."""
    return {"counters": switch.counters(),
            "addresses": {f"{mac:012x}": port for known in (switch.stations.learned, switch.stations.fixed) for mac, port in known.items()},
            "jobs": [{"number": job.number, "elements": job.elements, "slots": switch.slots(job.number),
                      "workers": [{"ip": ".".join(str(w.ip >> at & 255) for at in (24, 16, 8, 0)), "port": w.port, "at": w.egress}
                                  for w in job.workers]} for job, _ in switch.jobs.values()]}

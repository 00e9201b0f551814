"""What swagg-tofino asks of its helper, in lines of JSON: {"id": 7, "do": "open", ...}."""
import json

from control import plan
from control.bfrt import SwitchError


def begin(switch):
    """A new life of swagg-tofino knows no jobs: those of the one before have no members any more."""
    for number in list(switch.jobs):
        switch.close(number)


def open_job(switch, request):
    people = []
    for rank, w in enumerate(request["workers"]):
        port = switch.port_of(w["mac"])
        if port is None:
            raise plan.DoesNotFit(f"rank {rank}'s MAC address {w['mac']:012x} has not been heard at any port of the switch")
        people.append(plan.Worker(w["ip"], w["port"], w["mac"], port))
    switch.open(plan.Job(request["number"], request["elements"], request["slots"], tuple(people), request["first_tag"]))


def answer(switch, line):
    """The answer to a line, as a line."""
    request = json.loads(line)
    try:
        if request["do"] == "open":
            open_job(switch, request)
        elif request["do"] == "close":
            switch.close(request["number"])
        else:
            raise ValueError(f"{request['do']} is no request")
    except (plan.DoesNotFit, SwitchError) as problem:
        return json.dumps({"id": request["id"], "error": str(problem)})
    return json.dumps({"id": request["id"], "ok": True})


def shown(switch):
    """Everything that can be read of a switch."""
    return {"counters": switch.counters(),
            "addresses": {f"{mac:012x}": port for mac, port in switch.addresses.items()},
            "jobs": [{"number": job.number, "elements": job.elements, "slots": switch.slots(job.number),
                      "workers": [{"ip": ".".join(str(w.ip >> at & 255) for at in (24, 16, 8, 0)), "port": w.port, "at": w.egress}
                                  for w in job.workers]} for job, _ in switch.jobs.values()]}

"""What operators are shown of a switch (tofino/views.c): each look is a dictionary. One table of them, by name."""
from control import plan
from control.stations import ADDRESSES

WAITING = 64  # slots of a job that are shown


def status(switch, statics, request):
    ports = [port for port in map(switch.bfrt.port, numbers(switch)) if port]
    return {"chip": switch.chip.name, "ports": len(switch.place.ports), "ports_up": sum(port["up"] for port in ports),
            "stations": len(switch.stations)}


def memory(switch, statics, request):
    return {"rows": switch.chip.rows, "rows_in_use": switch.rows_in_use(), "entries": plan.ENTRIES,
            "entries_in_use": switch.entries_in_use(), "stations": ADDRESSES - 1, "stations_in_use": len(switch.stations)}


def numbers(switch):
    return [port.number for port in switch.place.ports]


def ports(switch, statics, request):
    return {"ports": [{"number": number, **port} for number in numbers(switch) if (port := switch.bfrt.port(number))]}


def stations(switch, statics, request):
    """Each with its port, and whether that is an operator's word."""
    here = switch.stations
    return {"stations": [(*one, False) for one in here.learned.items()] + [(*one, True) for one in here.fixed.items()]}


def counters(switch, statics, request):
    return {"counters": switch.counters()}


def static(switch, statics, request):
    """Which of the configuration's jobs run."""
    return {"static": {s.name: statics.runs(s) for s in statics.all}}


def silence(switch, statics, request):
    """The same of one of them, and for how long nothing was heard of it."""
    here = statics.named(request["static"])
    return {"static": {here.name: statics.runs(here)}, "silent_ms": int(1000 * statics.silent_s(here))}


def slots(switch, statics, request):
    """Of a job, by its number, or by its name in the configuration: those that wait."""
    asked = [request["number"]] if "number" in request else [job.number for job in statics.named(request["static"]).jobs]
    found = [(switch.jobs[number][0], slot) for number in asked if number in switch.jobs for slot in switch.slots(number)]
    waiting = [{"slot": slot["slot"], "tag": slot["tag"], "contributed": len(slot["ranks"]),
                "missing": sorted(set(range(len(job.workers))) - set(slot["ranks"]))}
               for job, slot in found if 0 < len(slot["ranks"]) < len(job.workers)]
    return {"slots": len(found) // 2, "collecting": len(waiting), "waiting": waiting[:WAITING]}


LOOKS = {look.__name__: look for look in (status, memory, ports, stations, counters, static, silence, slots)}

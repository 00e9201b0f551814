"""Whether swaggctl why names causes that were made on purpose: what why.sh measured."""
from figures import Figure, table

FIGURES = (
    Figure("why_faults_named", "Of twenty faults made on purpose `swaggctl why` names {:.0f} before all else.", ">= 20"),
    Figure("why_healthy_named", "Of twenty looks at a healthy job it says {:.0f} times that nothing holds it up.", ">= 20"),
)
KINDS = {"link_rx": ("a link that loses packets on the way to the switch", "1%, 2%, 5%, 10%"), "link_tx": ("a link that loses packets on the way from it", "1%, 2%, 5%, 10%"),
         "late": ("a rank that comes late", "20, 50, 100, 200 ms"), "slots": ("slots that are too few", "32, 16, 8, 4 slots"),
         "mtu": ("packets that are too small", "MTU 520, 440, 360, 280"), "healthy": ("nothing", "20 times")}

READING = """
**Why.** A job of four ranks on four hosts makes random collectives (`tests/net/collectives.c`) of up to 20,000 elements, 100 ms apart, or 1 ms where a rank is to be late; of up to 200,000, 20 ms apart,
where a link is to lose some, and on end where slots are to be few. Losses are the switch's own (`swaggctl impair`). `swaggctl why` looks for 2 s, once a fault; it counts if the first cause that it names is the right one, with the right rank. On a
machine with other work ranks are late for that, and it says so. Measured in the first run only.
"""


def collect(rows):
    answers = rows["all",][0]
    healthy = [answer["named"] == "yes" for answer in answers if answer["kind"] == "healthy"]
    faults = [answer["named"] == "yes" for answer in answers if answer["kind"] != "healthy"]
    return {"why_faults_named": sum(faults), "why_healthy_named": sum(healthy)}, {"answers": answers}


def section(data):
    def row(kind):
        named = [answer["named"] for answer in data["answers"] if answer["kind"] == kind]
        other = sorted({name.replace("_", " ") for name in named if name != "yes"})
        return *KINDS[kind], f"{named.count('yes')} of {len(named)}", ", ".join(other) or "-"

    return "## Causes that were made\n\n" + table(("cause", "strengths", "named first", "named in its place"), [row(kind) for kind in KINDS], "llrl")

"""What the parts of the ATP benchmark read out of the reports that atp.sh leaves."""
import records

LINK = 100        # Mbit/s
CHUNK = 1432      # bytes of a packet at MTU 1500, without IP, UDP and ATP's header
FRAME = 1514      # as tbf counts it
WORKERS = 3


def rows(report):
    """The row of each job."""
    return [job[0] for job in report["jobs"]]


def goodputs(report):
    """Of each job, Mbit/s of its tensor."""
    return [row["bytes"] * 8 / row["mean_us"] for row in rows(report)]


def goodput(report):
    return goodputs(report)[0]


def of_link(mbits):
    """As a share of what the link can carry of elements."""
    return mbits / (LINK * CHUNK / FRAME)


def ratios(over, under):
    """Of goodputs, run by run."""
    return records.ratios(map(goodput, over), map(goodput, under))

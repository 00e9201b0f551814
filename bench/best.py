"""What was tried to find the best that Open MPI has: best.sh's records, and a table of them."""
import re

from figures import table

ALGORITHMS = {
    "allreduce": {"1": "linear", "2": "reduce, then broadcast", "3": "recursive doubling", "4": "ring", "5": "segmented ring",
                  "6": "Rabenseifner's"},
    "reduce": {"1": "linear", "2": "chain", "3": "pipeline", "4": "binary tree", "5": "binomial tree", "6": "in-order binary tree",
               "7": "Rabenseifner's"},
    "bcast": {"1": "linear", "2": "chain", "3": "pipeline", "4": "split binary tree", "5": "binary tree", "6": "binomial tree", "7": "k-nomial tree",
              "8": "scatter, then all-gather", "9": "scatter, then all-gather in a ring"},
    "allgather": {"1": "linear", "2": "Bruck's", "3": "recursive doubling", "4": "ring", "5": "neighbour exchange"},
    "reduce_scatter": {"1": "reduce, then scatter", "2": "recursive halving", "3": "ring", "4": "butterfly"},
    "barrier": {"1": "linear", "2": "double ring", "3": "recursive doubling", "4": "Bruck's", "6": "tree"},
}
HAN = {"han": "`han`", "han_adapt": "`han`, `adapt` between hosts", "han_simple": "`han`, simple"}
WAYS = {"best": ("best", "openmpi")}  # its variants in the records: what was tried may be slower in a run than what Open MPI chooses by itself
CANDIDATE = re.compile(r"(short|full)_(\d+|han[a-z_]*?)(?:_(\d+))?")


def least(variant, taken):
    """What a variant took, run by run. taken(variant): what the records say."""
    return [min(run) for run in zip(*map(taken, WAYS.get(variant, (variant,))))]


def candidates_of(reports):
    """As {setting, op, stage, algorithm, segment, seconds}"""
    found = []
    for setting, variant, op, *_ in (key for key in reports if len(key) >= 3):
        match = CANDIDATE.fullmatch(variant)
        if match:
            stage, algorithm, segment = match.groups()
            found.append({"setting": setting, "op": op, "stage": stage, "algorithm": algorithm, "segment": int(segment or 0),
                          "seconds": reports[setting, variant, op][0][0]["median_us"] / 1e6})
    return sorted(found, key=lambda row: (row["setting"], row["op"], row["stage"], row["seconds"]))


def size_name(size):
    return next(f"{size >> shift} {unit}" for shift, unit in ((20, "MiB"), (10, "KiB"), (0, "bytes")) if size >> shift)


def candidate_name(row):
    segment = f", segments of {size_name(row['segment'])}" if row["segment"] else ""
    name = HAN.get(row["algorithm"]) or f"{ALGORITHMS[row['op']][row['algorithm']]} ({row['algorithm']})"
    return name + segment


def tried_table(tried, settings):
    """settings: {name: what it is}"""
    rows = [(f"{row['op']}, {settings[row['setting']]}, {'4 MiB' if row['stage'] == 'short' else 'in full'}", candidate_name(row),
             f"{row['seconds']:.{3 if row['seconds'] >= 0.01 else 6}f}") for row in tried]
    return table(("what", "algorithm", "seconds"), rows, "llr")

#!/usr/bin/env python3
"""Writes docs/results.md, its pages and plots, and our values in docs/papers.md, from what the benchmarks have measured.

report.py collect NAME RECORDS [--docs DIRECTORY] [--json FILE]   takes a benchmark's records into results/data/NAME.json
                                                                  and renders; --json: the figures as one flat object
report.py look NAME RECORDS [--json FILE]                         prints the figures of those that there are; docs stay
report.py render [--docs DIRECTORY]                               makes pages and plots again, without measuring
report.py check [--docs DIRECTORY]                                fails if that would change anything

A benchmark is a module, bench/NAME.py (NAME_bench.py, where Python has a NAME): MEASURES is what it measures (rooms.py); FIGURES are the
figures, some of them for the first screen; ways(directory) returns functions that give them, by their names, of what records there are;
collect(directory) returns what else its pages need, and "figures", where these are not just what its ways give; pages(data) returns {page: Markdown between
the page's markers}; plots(data) returns {name: SVG}."""
import argparse
import functools
import importlib
import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
import figures
import overview
import papers
import records
import rooms

BENCHES = ("allreduce", "reduce", "loss", "dataplane", "placement", "idle", "core", "numbers", "thc", "tenancy", "switches", "atp", "atp_sim", "pytorch", "hosts", "collectives", "replay", "case3", "operate")  # in the order of the first screen


def module_of(name):
    return importlib.import_module(f"{name}_bench" if name in sys.stdlib_module_names else name)


def dump(value, indent=""):
    """JSON in which what holds no further lists or objects takes one line."""
    def scalar(v):
        return float(f"{v:.6g}") if isinstance(v, float) else v

    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(v, (dict, list)) for v in inner):
        flat = {k: scalar(v) for k, v in value.items()} if isinstance(value, dict) else \
            [scalar(v) for v in value] if isinstance(value, list) else scalar(value)
        return json.dumps(flat, ensure_ascii=False)
    more = indent + "  "
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"{more}{json.dumps(k)}: {dump(v, more)}" for k, v in value.items()) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{more}{dump(v, more)}" for v in value) + f"\n{indent}]"


def between_markers(path, name, text):
    """The file with this text between the markers of that name; nothing else in it changes."""
    begin, end = f"<!-- bench {name} -->", f"<!-- end of bench {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    page = path.read_text()
    if not pattern.search(page):
        sys.exit(f"{path}: there is no section between '{begin}' and '{end}'")
    return pattern.sub(lambda _: f"{begin}\n{text.strip()}\n{end}", page)


def measured_line(name, data):
    said = data["measured"]
    runs = f" in {said['runs']} runs" if said.get("runs") else ""
    return (f"Measured by `script/bench {name}`{runs} on {said['date']}, commit `{said['commit']}`, on {said['machine']}. "
            f"Raw data: [data/{name}.json](data/{name}.json).")


OLDER = "**Older than the code:**"


@functools.cache
def changed_since(commit, paths):
    """What pages are made of stays as it is while they are made; asking takes a dozen processes."""
    return rooms.changed_since(commit, paths)


def is_older(docs, name, module, data):
    """Whether what a page measures has changed since. Where the history does not go back so far, it is what the page says."""
    commit = data["measured"]["commit"]
    changed = changed_since(commit, tuple(module.MEASURES))
    if changed is None:
        changed = OLDER in (docs / f"results/{name}.md").read_text()
        print(f"{name}: this clone's history lacks {commit}, so whether its figures are older than the code is left as the page has it; "
              "git fetch --unshallow brings it", file=sys.stderr)
    return changed


def warning(module, data):
    """What makes a page's figures older than the code; gone with the next run."""
    said = data["measured"]
    if not said["older"]:
        return ""
    commit = said["commit"].rstrip("+")
    why = f"measured with changes that `{commit}` does not have" if said["commit"].endswith("+") else f"what is measured here has changed since `{commit}`"
    return f"{OLDER} {why}: `git log -p {commit}.. -- {' '.join(module.MEASURES)}`.\n\n"


def data_file(docs, name):
    return docs / "results/data" / f"{name}.json"


def load(docs, new):
    """What has been measured, before and now."""
    texts = {name: data_file(docs, name).read_text() for name in BENCHES if data_file(docs, name).exists()} | new
    measured = {name: (module_of(name), json.loads(texts[name])) for name in BENCHES if name in texts}
    for name, (module, data) in measured.items():
        data["measured"]["older"] = is_older(docs, name, module, data)
    return measured


def rendered(docs, new=None):
    """{path: text} of all pages and plots; new: {name: data, as text}, which the files do not have yet"""
    measured = load(docs, new or {})
    files = {docs / "results.md": between_markers(docs / "results.md", "figures", overview.text(docs, measured)),
             docs / "results/speed.svg": overview.speed(measured),
             docs / "papers.md": papers.text(docs, measured)}
    for name, (module, data) in measured.items():
        for page, text in module.pages(data).items():
            path = docs / "results" / f"{page}.md"
            files[path] = between_markers(path, name, f"{warning(module, data)}{text.strip()}\n\n{measured_line(name, data)}")
        for plot, svg in module.plots(data).items():
            files[docs / "results" / f"{plot}.svg"] = svg
    return files


def render(docs):
    for path, text in rendered(docs).items():
        path.write_text(text)


def check(docs):
    stale = [path for path, text in rendered(docs).items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path}: is not what its data, and what has changed since, make of it; run bench/report.py render")
    sys.exit(len(stale) > 0)


def collect(name, directory, docs, json_file):
    module = module_of(name)
    more = module.collect(directory)
    found = more.pop("figures", None) or figures.found(module.ways(directory))
    data = {"measured": records.measured(directory, module.MEASURES), "figures": found, **more}
    text = dump(data) + "\n"
    for path, content in ({data_file(docs, name): text} | rendered(docs, {name: text})).items():  # nothing is written if a page cannot be made
        path.write_text(content)
    write_figures(json_file, data["figures"])
    print(*module.pages(data).values(), sep="\n\n")


def write_figures(json_file, found):
    if json_file:
        with open(json_file, "w") as f:
            json.dump(figures.flat(found), f, indent=2)
            f.write("\n")


def look(name, directory, json_file):
    """What there is of a benchmark that was ended early, or only looks."""
    records.drop_broken(directory)
    module = module_of(name)
    found = figures.found(module.ways(directory), figures.GAPS)
    write_figures(json_file, found)
    print(figures.figure_table(module.FIGURES, {"figures": found}))
    print(f"{name}: {len(figures.present(module.FIGURES, {'figures': found}))} of {len(module.FIGURES)} figures")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    docs = argparse.ArgumentParser(add_help=False)
    docs.add_argument("--docs", type=Path, default=Path(__file__).resolve().parent.parent / "docs")
    commands = parser.add_subparsers(dest="command", required=True)
    taking = argparse.ArgumentParser(add_help=False)
    taking.add_argument("name", choices=BENCHES)
    taking.add_argument("records")
    taking.add_argument("--json")
    commands.add_parser("collect", parents=[docs, taking])
    commands.add_parser("look", parents=[taking])
    commands.add_parser("render", parents=[docs])
    commands.add_parser("check", parents=[docs])
    options = parser.parse_args()
    if options.command == "collect":
        collect(options.name, options.records, options.docs, options.json)
    elif options.command == "look":
        look(options.name, options.records, options.json)
    else:
        {"render": render, "check": check}[options.command](options.docs)


if __name__ == "__main__":
    main()

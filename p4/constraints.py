#!/usr/bin/python3
"""What the chips demand and a compiler may not tell: constraints.py PROGRAM [--chip tofino|tofino2] [--output DIRECTORY].

Of the program's text: registers and their actions are within what an ALU does, every parser skips the port's metadata, and no
register is executed twice on any way through a control, for the compiler makes a second copy of such a register, in silence.
Of the compiler's output in DIRECTORY, if it is named: each register has one place, in one stage; and a table of what the
program takes of the chip. Exits with 1 if something is wrong, and says what."""
import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import compiled  # noqa: E402
from interpreter.program import Program  # noqa: E402
from interpreter.source import CHIPS, Refused  # noqa: E402

# --- text ----------------------------------------------------------------------------------------------------------

class Ways:
    """How often each register is executed at most, on any way through an instance of a control."""

    def __init__(self, declared, name, path):
        self.declared, self.path = declared, path
        self.registers, self.actions, self.tables, self.inner = {}, {}, {}, {}
        *locals_, self.body = declared[name].children[2:]
        for node in locals_:
            getattr(self, "_" + node.data)(node)

    def _instance(self, node):
        kind, _, name = node.children
        if str(kind.children[0]) in self.declared:
            self.inner[str(name)] = str(kind.children[0])

    def _register_action(self, node):
        self.registers[str(node.children[2])] = f"{self.path}.{node.children[1].children[0].children[0]}"

    def _action(self, node):
        self.actions[str(node.children[0])] = node.children[2]

    def _table(self, node):
        found = next(p for p in node.children[1:] if p.data == "actions")
        self.tables[str(node.children[0])] = [str(a) for a in found.children[1::2]]

    def _variable(self, node):
        pass

    def whole(self):
        return self.block(self.body)

    def block(self, node):
        total = Counter()
        for child in node.children:
            total += self.statement(child)
        return total

    def statement(self, node):
        if node is None:
            return Counter()
        if node.data == "block":
            return self.block(node)
        if node.data == "if":
            condition, then, other = node.children
            return self.calls(condition) + (self.block(then) | self.statement(other))
        return self.calls(node)

    def calls(self, node):
        total = Counter()
        for call in node.find_data("call"):
            total += self.call(call.children[0])
        return total

    def call(self, target):
        if target.data == "name":
            body = self.actions.get(str(target.children[0]))
            return self.block(body) if body is not None else Counter()
        owner = str(target.children[0].children[0]) if target.children[0].data == "name" else None
        method = str(target.children[1])
        if owner in self.registers and method == "execute":
            return Counter([self.registers[owner]])
        if owner in self.tables and method == "apply":
            total = Counter()
            for action in self.tables[owner]:
                total |= self.block(self.actions[action]) if action in self.actions else Counter()
            return total
        if owner in self.inner and method == "apply":
            return Ways(self.declared, self.inner[owner], f"{self.path}.{owner}").whole()
        return Counter()


def skips_metadata(node):
    """Whether a parser, if it is for packets that come in, skips the port's metadata as it begins."""
    text = [str(t) for t in node.scan_values(lambda t: True)]
    return "ingress_intrinsic_metadata_t" not in text or ("advance" in text and "PORT_METADATA_SIZE" in text)


def check_text(path, chip):
    try:
        program = Program(path, chip)
    except Refused as problem:
        return [str(problem)]
    wrong = []
    for name, node in program.declared.items():
        if node.data == "parser" and not skips_metadata(node):
            wrong.append(f"{program.source.place(node)}: {name} does not skip the port's metadata: "
                         "pkt.advance(PORT_METADATA_SIZE) is missing")
    used = {str(k.children[0]) for n in program.declared.values() for k in n.find_data("named_type")}
    for name, node in program.declared.items():
        if node.data == "control" and name not in used:
            wrong += [f"{register} is executed {n} times on one way through {name}"
                      for register, n in Ways(program.declared, name, name).whole().items() if n > 1]
    return wrong


# ---------------------------------------------------------------------------------------------------------------------

def print_table(rows):
    print("| | used | of | |\n|---|---:|---:|---:|")
    for name, used, of in rows:
        print(f"| {name} | {used} | {of if of else ''} | {f'{100 * used / of:.0f}%' if of else ''} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--chip", choices=tuple(CHIPS), default="tofino")
    parser.add_argument("--output", help="directory that the compiler wrote")
    options = parser.parse_args()
    wrong = check_text(options.program, options.chip)
    if options.output:
        more, rows = compiled.check(options.output, options.chip)
        wrong += more
        print_table(rows)
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong:
        print(f"{options.program} keeps to what {options.chip} demands")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

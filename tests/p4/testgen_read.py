#!/usr/bin/python3
"""Reads what p4testgen has written for PTF: testgen_read.py FILE... prints a line of JSON for each test, those of testgen.txt: port and
packet, entries of tables, words of registers; which reason is counted (null: the parser drops it) and whether an address is learnt, which
only its trace says; what must leave: [port, frame, [[first bit, bits] that may be anything, ...]] or null."""
import ast
import json
import re
import sys
from pathlib import Path

from testgen_text import FLOOD_PORT


def short(name):
    """A name without the pipeline's."""
    return name.removeprefix("pipe.")


def fields(node):
    """[[name, value, ...], ...] of a list of KeyTuple or DataTuple."""
    assert all(not call.keywords for call in node.elts), "a range or a prefix: this program matches by neither"
    return [[ast.literal_eval(a) for a in call.args] for call in node.elts]


class Test(ast.NodeVisitor):
    """One class of the file."""

    def __init__(self, node):
        self.tables, self.defaults, self.registers, self.free, self.said = [], [], {}, [], {}
        self.visit(node)
        trace = ast.get_docstring(node)
        reasons = ["0", *re.findall(r"Computed: md.reason = (\d+);", trace)]
        self.reason = int(reasons[-1]) if "reasons.count(" in trace else None
        self.learns = re.search(r"If Statement\]: deparser.digest_type == .* Result: true", trace) is not None

    def visit_Assign(self, node):
        if isinstance(node.value, ast.Constant):
            self.said[node.targets[0].id] = node.value.value

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            getattr(self, "on_" + node.value.func.attr, lambda *_: None)(*node.value.args)

    def on_setRegisterValue(self, name, words, index):
        self.registers[short(name.value)] = [index.value, [value for _, value in ast.literal_eval(words)]]

    def on_insertTableEntry(self, table, keys, action, arguments):
        self.tables.append([short(table.value), fields(keys), short(action.value), fields(arguments)])

    def on_overrideDefaultEntry(self, table, action, arguments):
        raise ValueError(f"{table.value}: a default of its own, which this program's tables do not take")

    def on_set_do_not_care(self, first, bits):
        self.free.append([first.value, bits.value])

    def line(self):
        said = self.said
        expect = [said["eg_port"], said["exp_pkt"].hex(), self.free] if "eg_port" in said else None
        return {"port": said["ig_port"], "packet": said["pkt"].hex(), "tables": self.tables, "registers": self.registers,
                "reason": self.reason, "learns": self.learns, "expect": expect}


def main():
    for file in sys.argv[1:]:
        for node in ast.parse(Path(file).read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                test = Test(node).line()
                if test["port"] != FLOOD_PORT:  # the program asks whether a frame goes back to where it is from: copies do not
                    print(json.dumps(test, separators=(",", ":")))


if __name__ == "__main__":
    main()

"""Reads a P4 program: preprocessed, and parsed by the grammar in p4.lark."""
import functools
import re
import subprocess
from pathlib import Path

import lark

HERE = Path(__file__).resolve().parent
CHIPS = {"tofino": 1, "tofino2": 2}


class Refused(Exception):
    """The program does something that this interpreter does not know, or that the chip cannot do."""


@functools.cache
def grammar():
    return lark.Lark((HERE / "p4.lark").read_text(), parser="lalr", propagate_positions=True, maybe_placeholders=True)


@functools.cache
def parsed(text):
    """The syntax tree, which nobody changes: programs that are loaded again and again have one."""
    return grammar().parse(text)


@functools.cache
def preprocessed(path, chip):
    """A program as it was when it was first loaded."""
    said = subprocess.run(["cpp", "-nostdinc", f"-D__TARGET_TOFINO__={CHIPS[chip]}", f"-I{HERE}/include", str(path)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if said.returncode != 0:
        raise Refused(said.stderr.strip())
    return said.stdout


class Source:
    """One program for one chip. tree is its syntax tree; refuse says where in the program something is."""

    def __init__(self, path, chip="tofino"):
        self.chip = chip
        self.path = Path(path)
        self._lines = []  # by line of text: file and line
        self.tree = self._parse(self._take_markers(preprocessed(self.path, chip)))

    def _take_markers(self, text):
        """Text without the preprocessor's notes of which line is whose."""
        kept, file, line = [], str(self.path), 1
        for row in text.splitlines():
            marker = re.match(r'# (\d+) "([^"]*)"', row)
            if marker:
                line, file = int(marker[1]), marker[2]
                continue
            kept.append(row)
            self._lines.append((file, line))
            line += 1
        return "\n".join(kept)

    def _parse(self, text):
        self._text = text
        try:
            return parsed(text)
        except lark.UnexpectedInput as e:
            raise Refused(f"{self._place(e.line)}: syntax error, or not in the subset of P4 that p4.lark has: "
                          f"{e.get_context(text).strip()}") from None

    def _place(self, line):
        if not isinstance(line, int) or not 0 < line <= len(self._lines):
            return str(self.path)
        file, line = self._lines[line - 1]
        return f"{Path(file).name}:{line}"

    def place(self, node):
        """Where a node of the tree, or a token, is in the program."""
        line = getattr(node, "line", None)
        return self._place(line if line is not None else getattr(getattr(node, "meta", None), "line", None))

    def text(self, node):
        """An expression as it is written."""
        return self._text[node.meta.start_pos:node.meta.end_pos]

    def refuse(self, node, what):
        raise Refused(f"{self.place(node)}: {what}")

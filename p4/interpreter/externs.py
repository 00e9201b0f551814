"""Externs of TNA but for registers: each knows how a call of it reads in Python, and holds its state."""
from interpreter.types import BOOL, Bits


class Hash:
    """IDENTITY: the listed bits as they are. XOR16: 16 of them at a time, one against the other."""

    def __init__(self, program, node, path, types, arguments):
        self.kind, self.algorithm = types[0], arguments[0]
        if self.algorithm not in ("IDENTITY", "XOR16") or (self.algorithm == "XOR16" and self.kind.width != 16):
            program.source.refuse(node, f"Hash {self.algorithm} of {self.kind}: not known to this interpreter")

    def call(self, e, node, method, arguments):
        if method != "get" or len(arguments) != 1:
            e.refuse(node, f"Hash has no {method} of {len(arguments)} arguments")
        code, bits = e.joined(arguments[0])
        if self.algorithm == "IDENTITY":
            if bits != self.kind.width:
                e.refuse(node, f"{bits} bits for an identity of {self.kind}")
            return code, self.kind
        if bits % 16:
            e.refuse(node, f"{bits} bits are no whole words of 16")
        words = [f"{code} >> {at} & 0xffff" if at else f"{code} & 0xffff" for at in range(0, bits, 16)]
        return "(" + " ^ ".join(f"({w})" for w in words) + ")", self.kind


class Checksum:
    """The internet's: 2^16 is 1 modulo 65535, so a sum of words is a remainder. verify() is true if it is wrong (docs/tofino.md)."""

    def __init__(self, program, node, path, types, arguments):
        self.sum = program.variable(path, Bits(16))

    def call(self, e, node, method, arguments):
        if method == "add" and len(arguments) == 1:
            code, bits = e.joined(arguments[0])
            self.must_be_words(e, node, bits)
            e.before.append(f"{self.sum.code} = ({self.sum.code} + {code}) % 0xffff")
            return "None", None
        if method == "verify" and not arguments:
            return f"({self.sum.code} != 0)", BOOL
        if method == "update" and len(arguments) == 1:
            code, bits = e.joined(arguments[0])
            self.must_be_words(e, node, bits)
            return f"(0xffff - {code} % 0xffff & 0xffff)", Bits(16)
        return e.refuse(node, f"Checksum.{method}: not known to this interpreter")

    @staticmethod
    def must_be_words(e, node, bits):
        if bits % 16:
            e.refuse(node, f"a checksum over {bits} bits")


class Counter:
    def __init__(self, program, node, path, types, arguments):
        self.counts = [0] * arguments[0]
        self.index = types[1]
        self.name = program.keep(self.counts)

    def call(self, e, node, method, arguments):
        if method != "count" or len(arguments) != 1:
            e.refuse(node, f"Counter.{method}: not known to this interpreter")
        e.before.append(f"{self.name}[{e.value(arguments[0], self.index)[0]}] += 1")
        return "None", None


class Digest:
    def __init__(self, program, node, path, types, arguments):
        self.record, self.path = types[0], path

    def call(self, e, node, method, arguments):
        if method != "pack" or len(arguments) != 1:
            e.refuse(node, f"Digest.{method}: not known to this interpreter")
        widths = [k.width for k in self.record.fields.values()]
        fields = e.fields(arguments[0])
        if [w for _, w in fields] != widths:
            e.refuse(node, f"not the fields of {self.record}")
        e.before.append(f"s.digests.append(({', '.join(code for code, _ in fields)}))")
        return "None", None


class ValueSet:
    """Values that the control plane gives to a parser."""

    def __init__(self, kind, size):
        self.kind, self.size, self.values = kind, size, set()

    def add(self, value):
        if len(self.values | {value}) > self.size:
            raise ValueError(f"a value set of {self.size} is full")
        self.values.add(value)


EXTERNS = {"Hash": Hash, "Checksum": Checksum, "Counter": Counter, "Digest": Digest}

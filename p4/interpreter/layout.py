"""Headers as bytes: a struct format and what to do with its numbers, so that a header is read at one stroke."""
import struct


class Layout:
    """Fields of a header in groups that begin and end at bytes. groups: [(bytes, [(name, width), ...])]."""

    CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}

    def __init__(self, record):
        self.groups, group, bits = [], [], 0
        for name, kind in record.fields.items():
            group.append((name, kind.width))
            bits += kind.width
            if bits % 8 == 0:
                self.groups.append((bits // 8, group))
                group, bits = [], 0
        if bits:
            raise ValueError(f"{record.name} does not end at a byte")
        self.bytes = sum(n for n, _ in self.groups)
        self.format = ">" + "".join(self.CODES.get(n, f"{n}s") for n, _ in self.groups)
        self.struct = struct.Struct(self.format)

    def reader(self, name, prefix, out):
        """Lines of a function that sets the fields of state s from data at a byte offset."""
        raws = [f"r{i}" for i in range(len(self.groups))]
        lines = [f"    {', '.join(raws)}, = {name}_struct.unpack_from(data, at)"]
        for raw, (n, group) in zip(raws, self.groups):
            value = raw if n in self.CODES else f"int.from_bytes({raw}, 'big')"
            if len(group) == 1:
                lines.append(f"    s.{prefix}__{group[0][0]} = {value}")
                continue
            lines.append(f"    w = {value}")
            below = 8 * n
            for field, width in group:
                below -= width
                lines.append(f"    s.{prefix}__{field} = w >> {below} & {(1 << width) - 1}")
        out.extend(lines)

    def writer(self, name, prefix):
        """An expression for the bytes of the header in state s."""
        parts = []
        for n, group in self.groups:
            below, terms = 8 * n, []
            for field, width in group:
                below -= width
                terms.append(f"s.{prefix}__{field}" + (f" << {below}" if below else ""))
            value = " | ".join(terms)
            parts.append(value if n in self.CODES else f"({value}).to_bytes({n}, 'big')")
        return f"{name}_struct.pack({', '.join(parts)})"

"""Statements of P4 as lines of Python."""
from interpreter.expressions import Place
from interpreter.types import BOOL


class Statements:
    def __init__(self, program, scope):
        self.program, self.scope = program, scope

    def refuse(self, node, what):
        self.program.source.refuse(node, what)

    def expressions(self, before):
        return self.program.expressions(self.scope, before)

    def block(self, node):
        scope, self.scope = self.scope, dict(self.scope)
        lines = [line for s in node.children for line in self.statement(s)]
        self.scope = scope
        return lines or ["pass"]

    def statement(self, node):
        return getattr(self, "_" + node.data)(node)

    _block = block

    def _assignment(self, node):
        before = []
        target, value = node.children
        if target.data == "slice":
            self.refuse(node, "writing to a slice")
        place = self.expressions(before).place(target)
        if place.code is None or place.constant:
            self.refuse(target, "this cannot be written")
        code, _ = self.expressions(before).value(value, place.kind)
        return [*before, f"{place.code} = {code}"]

    def _call_statement(self, node):
        before = []
        code, _ = getattr(self.expressions(before), "_" + node.children[0].data)(node.children[0])
        return before + ([code] if code != "None" else [])

    def _variable(self, node):
        kind, name, value = node.children
        kind = self.program.type(kind)
        before = []
        code = "0" if value is None else self.expressions(before).value(value, kind)[0]
        local = self.program.temporary()
        self.scope[str(name)] = Place(kind=kind, code=local)
        return [*before, f"{local} = {code}"]

    def _if(self, node):
        condition, then, other = node.children
        before = []
        code, _ = self.expressions(before).value(condition, BOOL)
        lines = [*before, f"if {code}:", *indented(self.block(then))]
        if other is not None:
            lines += ["else:", *indented(self.block(other) if other.data == "block" else self._if(other))]
        return lines


def indented(lines):
    return ["    " + line for line in lines]

"""Expressions of P4 as Python text, with their types."""
import functools

from interpreter.types import BOOL, LITERAL, Bits, Record

ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "bitand": "&", "bitor": "|", "bitxor": "^", "shl": "<<", "shr": ">>"}
RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@functools.cache
def value_of(code):
    """Of constant text that this module has made: programs that are loaded again and again have the same."""
    return int(eval(code, {}))


def parse_number(text):
    """(value, type) of a literal such as 7, 0x10, 8w255."""
    kind = LITERAL
    for mark in "ws":
        if mark in text and not text.lower().startswith("0x"):
            width, text = text.split(mark, 1)
            kind = Bits(int(width), mark == "s")
            break
    return int(text.replace("_", ""), 0), kind


class Place:
    """Something that has a name: a field, variable, parameter or constant (code), a record (path), or a thing of
    the program (instance, action, table)."""

    def __init__(self, kind=None, code=None, path=None, thing=None, constant=False):
        self.kind, self.code, self.path, self.thing, self.constant = kind, code, path, thing, constant


class Expressions:
    """Compiles expressions in a scope: a dict from names to places. `self.before` takes lines that must run
    before the expression: calls that give more than one value."""

    def __init__(self, program, scope, before):
        self.program, self.scope, self.before = program, scope, before

    def refuse(self, node, what):
        self.program.source.refuse(node, what)

    # --- names ---------------------------------------------------------------------------------------------------

    def place(self, node):
        """What a name or a chain of members denotes."""
        if node.data == "name":
            found = self.scope.get(str(node.children[0]))
            if found is None:
                self.refuse(node, f"{node.children[0]} is not declared, or not known here")
            return found
        if node.data == "this":
            return Place(thing="this")
        owner, member = node.children
        if owner.data == "call":
            return Place(thing=("result", owner, str(member)))
        base = self.place(owner)
        if base.path is None:
            return Place(thing=("method", base, str(member)))
        kind = base.kind.fields.get(str(member))
        if kind is None:
            return Place(thing=("method", base, str(member)))
        return self.program.field(base.path, str(member), kind)

    def value(self, node, wanted=None):
        """(code, type); a literal takes the type that is wanted."""
        code, kind = getattr(self, "_" + node.data, self._unknown)(node)
        if kind == LITERAL and isinstance(wanted, Bits):
            if not 0 <= self.constant(node) <= wanted.mask:
                self.refuse(node, f"{code} does not fit {wanted}")
            return code, wanted
        if wanted is not None and kind != wanted:
            self.refuse(node, f"is {kind}, where {wanted} is wanted")
        return code, kind

    def constant(self, node):
        code, _ = getattr(self, "_" + node.data, self._unknown)(node)
        try:
            return value_of(code)
        except NameError:
            self.refuse(node, "a constant is wanted here")

    def _unknown(self, node):
        self.refuse(node, f"{node.data}: not known to this interpreter")

    def _name(self, node):
        place = self.place(node)
        if place.code is None:
            self.refuse(node, "this is no value")
        return place.code, place.kind

    def _member(self, node):
        place = self.place(node)
        if place.code is None:
            self.refuse(node, "this is no value")
        return place.code, place.kind

    # --- literals, operators -------------------------------------------------------------------------------------

    def _number(self, node):
        value, kind = parse_number(str(node.children[0]))
        return str(value), kind

    def _true(self, node):
        return "True", BOOL

    def _false(self, node):
        return "False", BOOL

    def _operands(self, node):
        (a, left), (b, right) = (self.value(c) for c in node.children)
        if left == LITERAL and isinstance(right, Bits):
            a, left = self.value(node.children[0], right if right != LITERAL else None)
        elif right == LITERAL and isinstance(left, Bits):
            b, right = self.value(node.children[1], left)
        if left != right:
            self.refuse(node, f"{left} and {right} do not go together")
        return a, b, left

    def _wrap(self, code, kind):
        if kind.width is None or kind.signed:
            return code
        return f"({code} & {kind.mask})"

    def _arithmetic(self, node):
        if node.data in ("shl", "shr"):
            a, kind = self.value(node.children[0])
            return self._wrap(f"({a} {ARITHMETIC[node.data]} {self.constant(node.children[1])})", kind), kind
        a, b, kind = self._operands(node)
        if not isinstance(kind, Bits) or kind.signed:
            self.refuse(node, f"no arithmetic with {kind}")
        code = f"({a} {ARITHMETIC[node.data]} {b})"
        return (self._wrap(code, kind) if node.data in ("add", "sub", "mul") else code), kind

    _add = _sub = _mul = _bitand = _bitor = _bitxor = _shl = _shr = _arithmetic

    def _saturating(self, node):
        a, b, kind = self._operands(node)
        if kind == LITERAL:
            self.refuse(node, "saturating arithmetic needs a width")
        low, high = (-(1 << kind.width - 1), (1 << kind.width - 1) - 1) if kind.signed else (0, kind.mask)
        return f"min(max({a} {'+' if node.data == 'add_sat' else '-'} {b}, {low}), {high})", kind

    _add_sat = _sub_sat = _saturating

    def _relation(self, node):
        a, b, _ = self._operands(node)
        return f"({a} {RELATIONS[node.data]} {b})", BOOL

    _eq = _ne = _lt = _le = _gt = _ge = _relation

    def _logical(self, node):
        a, b = (self.value(c, BOOL)[0] for c in node.children)
        return f"({a} {node.data} {b})", BOOL

    _and = _or = _logical

    def _not(self, node):
        return f"(not {self.value(node.children[0], BOOL)[0]})", BOOL

    def _invert(self, node):
        code, kind = self.value(node.children[0])
        if kind == LITERAL:
            self.refuse(node, "~ of a number without a width")
        return f"({code} ^ {kind.mask})", kind

    def _negate(self, node):
        code, kind = self.value(node.children[0])
        return self._wrap(f"(-{code})", kind), kind

    def _concat(self, node):
        (a, left), (b, right) = (self.value(c) for c in node.children)
        if left == LITERAL or right == LITERAL:
            self.refuse(node, "++ of a number without a width")
        return f"({a} << {right.width} | {b})", Bits(left.width + right.width)

    def _slice(self, node):
        code, kind = self.value(node.children[0])
        high, low = (self.constant(c) for c in node.children[1:])
        if not 0 <= low <= high < kind.width:
            self.refuse(node, f"bits {high} to {low} of {kind}")
        return f"({code} >> {low} & {(1 << high - low + 1) - 1})", Bits(high - low + 1)

    def _cast(self, node):
        kind = self.program.type(node.children[0])
        code, old = self.value(node.children[1])
        if kind == BOOL:
            return f"({code} != 0)", kind
        if old == BOOL:
            return f"int({code})", kind
        if kind.signed:
            if old.width != kind.width or old.signed:
                self.refuse(node, f"{old} as {kind}")
            return f"(({code} ^ {1 << kind.width - 1}) - {1 << kind.width - 1})", kind
        return f"({code} & {kind.mask})", kind

    # --- lists ---------------------------------------------------------------------------------------------------

    def fields(self, node):
        """[(code, width)] of a list in braces, of a header or of one value."""
        if node.data == "tuple":
            return [f for c in node.children[0].children if c is not None for f in self.fields(c)]
        if node.data in ("name", "member"):
            place = self.place(node)
            if isinstance(place.kind, Record) and place.path is not None:
                return [(self.program.field(place.path, n, k).code, k.width) for n, k in place.kind.fields.items()]
        code, kind = self.value(node)
        if not isinstance(kind, Bits) or kind == LITERAL:
            self.refuse(node, "every part of a list needs a width")
        return [(code, kind.width)]

    def joined(self, node):
        """(code, bits) of a list as one number."""
        code, bits = "0", 0
        for part, width in self.fields(node):
            code, bits = (f"({code} << {width} | {part})" if bits else part), bits + width
        return code, bits

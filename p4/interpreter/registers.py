"""Registers and what is done to them, within the limits of a stateful ALU: those that the chip's compiler tells,
and those that it does not (a register is executed at most once on the way of a packet)."""
from interpreter.expressions import Expressions, Place
from interpreter.types import Record

STAGE_BITS = 143360 * 32  # of a register that fits a stage
ACTIONS = 4               # of one register
FIELDS = 2                # of the packet that its ALU is fed with
COMPARISONS = {"tofino": 2, "tofino2": 4}
RESULTS = {"tofino": 1, "tofino2": 4}
OPERATIONS = ("add", "sub", "add_sat", "sub_sat", "bitand", "bitor", "bitxor")


class ExecutedTwice(Exception):
    """A packet has reached a register for the second time in one pass."""


class Register:
    def __init__(self, program, node, path, types, arguments):
        self.path, self.kind, self.index, self.size = path, types[0], types[1], arguments[0]
        self.words = self.kind.fields if isinstance(self.kind, Record) else {"": self.kind}
        widths = [k.width for k in self.words.values()]
        if len(widths) > 2 or len(set(widths)) > 1 or widths[0] > 32:
            program.source.refuse(node, f"a register of {self.kind}: one word or two, of up to 32 bits each")
        if self.size * sum(widths) > STAGE_BITS:
            program.source.refuse(node, f"{self.size} of {self.kind} do not fit a stage")
        self.data = {w: [0] * self.size for w in self.words}
        self.names = {w: program.keep(d) for w, d in self.data.items()}
        self.last = program.keep([None])  # the pass that has executed it last
        self.actions, self.fields = 0, set()

    def read(self, index):
        return tuple(d[index] for d in self.data.values())

    def write(self, index, *values):
        for d, v in zip(self.data.values(), values, strict=True):
            d[index] = v

    def call(self, e, node, method, arguments):
        return e.refuse(node, f"Register.{method}: only by a RegisterAction")


class RegisterAction:
    """One of the up to four things that can be done to a register."""

    def __init__(self, program, scope, node, path):
        kind, arguments, name, parameters, body = node.children
        self.program, self.path = program, path
        self.register = scope[str(arguments.children[0].children[0])].thing
        self.index, self.result = (program.type(t) for t in kind.children[2:4])
        self.register.actions += 1
        if self.register.actions > ACTIONS:
            program.source.refuse(node, f"more than {ACTIONS} actions for one register")
        self.results = 0
        self.function = program.name_of(path)
        self._check_types(node, program.type(kind.children[1]))
        self._compile(node, scope, parameters, body)

    def _check_types(self, node, word):
        if word != self.register.kind or self.index != self.register.index:
            self.program.source.refuse(node, "not the types of its register")

    def _compile(self, node, scope, parameters, body):
        word, *results = [c for c in parameters.children if c is not None]
        self.results = len(results)
        if self.results > RESULTS[self.program.source.chip]:
            self.program.source.refuse(node, f"more than {RESULTS[self.program.source.chip]} results")
        inner = dict(scope)
        inner[str(word.children[2])] = self._word_place()
        for i, r in enumerate(results):
            if self.program.type(r.children[1]) != self.result:
                self.program.source.refuse(r, f"a result that is not {self.result}")
            inner[str(r.children[2])] = Place(kind=self.result, code=f"rv{i}")
        inner["this"] = Place(thing=self)
        alu = Alu(self, inner)
        lines = alu.block(body, "    ")
        self.register.fields |= alu.fields_used
        if len(self.register.fields) > FIELDS:
            self.program.source.refuse(node, f"{self.register.path} needs {len(self.register.fields)} fields of the packet "
                                             f"({', '.join(sorted(self.register.fields))}); it is fed with {FIELDS}")
        self.program.add_function(self._function(lines))

    def _word_place(self):
        return Place(kind=self.register.kind, code=None if "" not in self.register.words else "v_", path="\0v")

    def _function(self, lines):
        r = self.register
        out = [f"def {self.function}(s, i):",
               f"    if {r.last}[0] is s:",
               f"        raise ExecutedTwice({r.path!r})",
               f"    {r.last}[0] = s"]
        out += [f"    v_{w} = {n}[i]" for w, n in r.names.items()]
        out += [f"    rv{i} = 0" for i in range(self.results)]
        out += lines
        out += [f"    {n}[i] = v_{w}" for w, n in r.names.items()]
        if self.results:
            out.append("    return " + ", ".join(f"rv{i}" for i in range(self.results)))
        return out

    def call(self, e, node, method, arguments):
        if method != "execute" or not arguments:
            return e.refuse(node, f"RegisterAction.{method}: not known to this interpreter")
        index, *more = arguments
        if len(more) != max(self.results - 1, 0):
            e.refuse(node, f"{self.results} results, and places for {len(more) + 1}")
        call = f"{self.function}(s, {e.value(index, self.index)[0]})"
        if not self.results:
            e.before.append(call)
            return "None", None
        if not more:
            return call, self.result
        places = [e.place(m) for m in more]
        first = e.program.temporary()
        e.before.append(f"{', '.join([first, *(p.code for p in places)])} = {call}")
        return first, self.result


class Alu:
    """The body of a register action, as far as an ALU can do it."""

    def __init__(self, action, scope):
        self.action, self.scope, self.program = action, scope, action.program
        self.chip = self.program.source.chip
        self.comparisons, self.fields_used, self.sources = [], set(), {}

    def refuse(self, node, what):
        self.program.source.refuse(node, f"in a register action: {what}")

    def expressions(self):
        return Expressions(self.program, self.scope, [])

    def block(self, node, indent):
        lines = []
        for statement in node.children:
            if statement.data == "assignment":
                lines.append(indent + self._assignment(statement))
            elif statement.data == "if":
                lines += self._if(statement, indent)
            else:
                self.refuse(statement, f"{statement.data}: not known")
        return lines or [indent + "pass"]

    def _if(self, node, indent):
        condition, then, other = node.children
        lines = [f"{indent}if {self.condition(condition)}:", *self.block(then, indent + "    ")]
        if other is not None:
            lines.append(f"{indent}else:")
            lines += self.block(other, indent + "    ") if other.data == "block" else self._if(other, indent + "    ")
        return lines

    def condition(self, node):
        if node.data in ("and", "or"):
            return f"({self.condition(node.children[0])} {node.data} {self.condition(node.children[1])})"
        if node.data not in ("eq", "ne", "lt", "le", "gt", "ge"):
            self.refuse(node, "a condition that is no comparison")
        code, _ = self.expressions().value(node)
        operands = [self._operand(leaf) for leaf in self._leaves(node)]
        for kind in ("word", "field", "constant"):
            if operands.count(kind) > 1:
                self.refuse(node, f"a comparison of more than one {kind}")
        if code not in self.comparisons:
            self.comparisons.append(code)
        if len(self.comparisons) > COMPARISONS[self.chip]:
            self.refuse(node, f"more than {COMPARISONS[self.chip]} comparisons")
        return code

    def _leaves(self, node):
        if node.data == "call":
            return [leaf for a in node.children[1].children for leaf in self._leaves(a)]
        if node.data in ("name", "member", "number", "slice"):
            return [node]
        if node.data == "cast":
            return self._leaves(node.children[1])
        return [leaf for c in node.children for leaf in self._leaves(c)]

    def _operand(self, leaf):
        """What a leaf is: a word of the register, a field of the packet, or a constant."""
        if leaf.data == "number":
            return "constant"
        code, _ = self.expressions().value(leaf)
        if code.startswith("v_"):
            return "word"
        place = self.expressions().place(leaf) if leaf.data != "slice" else None
        if place is not None and place.constant:
            return "constant"
        self.fields_used.add(code)
        return "field"

    def _assignment(self, node):
        target, value = node.children
        place = self.expressions().place(target)
        if place.code is None or not place.code.startswith(("v_", "rv")):
            self.refuse(node, "only the register's words and the results can be written")
        if place.code.startswith("rv"):
            return self._result(node, place, value)
        self._check_operation(value)
        return f"{place.code} = {self._compute(value, place.kind)}"

    def _compute(self, node, kind):
        if node.data == "call":
            function = node.children[0]
            if function.data != "name" or str(function.children[0]) not in ("min", "max"):
                self.refuse(node, "a call of anything but min and max")
            codes = [self.expressions().value(a, kind)[0] for a in node.children[1].children]
            return f"{function.children[0]}({', '.join(codes)})"
        return self.expressions().value(node, kind)[0]

    def _check_operation(self, node):
        """One operation, of a word and a field or a constant."""
        leaves = [self._operand(leaf) for leaf in self._leaves(node)]
        if len(leaves) > 2 or leaves.count("field") > 1:
            self.refuse(node, "more than one operation")
        if len(leaves) == 2 and node.data not in (*OPERATIONS, "call"):
            self.refuse(node, f"{node.data}: its ALU cannot do that")

    def _result(self, node, place, value):
        """What is returned leaves by a multiplexer: the same source in all branches."""
        if value.data == "call":
            code, source = self._predicate(value), "predicate"
        else:
            if value.data not in ("name", "member"):
                self.refuse(node, "a result is a word, a field or the predicate, as it is")
            code, _ = self.expressions().value(value, place.kind)
            source = (code, self._operand(value))
            if source[1] == "constant":
                self.refuse(node, "a constant as a result")
        if self.sources.setdefault(place.code, source) != source:
            self.refuse(node, "a result that comes from two sources")
        return f"{place.code} = {code}"

    def _predicate(self, node):
        """One hot: bit 1 * first comparison + 2 * second."""
        function, arguments = node.children
        if function.data != "member" or function.children[0].data != "this" or str(function.children[1]) != "predicate":
            self.refuse(node, "a call of anything but this.predicate")
        terms = [f"({self.condition(a)}) << {i}" for i, a in enumerate(arguments.children)]
        return f"1 << ({' | '.join(terms)})"

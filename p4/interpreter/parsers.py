"""Parsers: a function for each state, which returns the next state and how far it has come."""
from interpreter.expressions import Place
from interpreter.externs import ValueSet
from interpreter.types import Bits


class ParserError(Exception):
    """The packet ends before a header does, or no branch fits: the chip drops it."""


class Parser:
    def __init__(self, program, node, path):
        self.program, self.node, self.path = program, node, path
        self.scope = dict(program.constants)
        self.packet = None

    def compile_whole(self):
        """Compiles; returns the name of the function (s, data), which returns the rest of the packet."""
        _, parameters, *rest = self.node.children
        for parameter in parameters.children:
            _, kind, name = parameter.children
            if str(kind.children[0]) == "packet_in":
                self.packet = str(name)
            else:
                self.scope[str(name)] = self.program.root(self.program.type(kind))
        for local in (r for r in rest if r.data != "state"):
            self._local(local)
        for state in (r for r in rest if r.data == "state"):
            self.program.add_function(self._state(state))
        return self._loop()

    def _local(self, node):
        if node.data == "value_set":
            kind, size, name = node.children
            made = ValueSet(self.program.type(kind), self._expressions([]).constant(size))
            self.program.value_sets[f"{self.path}.{name}"] = made
            self.scope[str(name)] = Place(thing=made)
        else:
            self.scope[str(node.children[2])] = self.program.instance(node, self.scope, self.path)

    def _expressions(self, before):
        return self.program.expressions(self.scope, before)

    def _function(self, state):
        return f"{self.program.name_of(self.path)}__state_{state}"

    def _loop(self):
        name = self.program.name_of(self.path)
        self.program.add_function([
            f"def {name}(s, data):",
            f"    state, at = {self._function('start')}, 0",
            "    while state is not None:",
            "        state, at = state(s, data, at)",
            "    return data[at:]"])
        return name

    def _state(self, node):
        name, *statements, transition = node.children
        lines = [f"def {self._function(name)}(s, data, at):"]
        for statement in statements:
            lines += self._statement(statement)
        return lines + self._transition(transition)

    def _statement(self, node):
        if node.data == "call_statement":
            call = node.children[0]
            if call.data == "call" and call.children[0].data == "member":
                owner, method = call.children[0].children
                if owner.data == "name" and str(owner.children[0]) == self.packet:
                    return self._move(call, str(method))
        return ["    " + line for line in self.program.statements(self.scope).statement(node)]

    def _move(self, node, method):
        arguments = node.children[1].children
        if method == "advance":
            bits = self._expressions([]).constant(arguments[0])
            return [f"    at += {bits // 8}", "    if at > len(data):", "        raise ParserError"]
        if method != "extract" or len(arguments) != 1:
            self.program.source.refuse(node, f"packet_in.{method}: not known to this interpreter")
        place = self._expressions([]).place(arguments[0])
        name, layout = self.program.layout(place.kind)
        lines = [f"    if at + {layout.bytes} > len(data):", "        raise ParserError"]
        layout.reader(name, place.path, lines)
        return [*lines, f"    s.{place.path}__valid = True", f"    at += {layout.bytes}"]

    def _transition(self, node):
        if node.data == "go_to":
            return ["    return " + self._target(node, node.children[0]) + ", at"]
        arguments, *branches = node.children[0].children
        before = []
        values = [self._expressions(before).value(a) for a in arguments.children]
        lines = ["    " + b for b in before]
        lines += [f"    q{i} = {code}" for i, (code, _) in enumerate(values)]
        for branch in branches:
            keyset, target = branch.children
            condition = self._condition(keyset, [kind for _, kind in values])
            lines += [f"    if {condition}:", f"        return {self._target(branch, target)}, at"]
        return [*lines, "    raise ParserError"]

    def _condition(self, keyset, kinds):
        elements = keyset.children
        if len(elements) != len(kinds):
            if len(elements) == 1 and elements[0].data == "any":
                return "True"
            self.program.source.refuse(keyset, f"{len(elements)} values for {len(kinds)} fields")
        return " and ".join(self._element(e, f"q{i}", k) for i, (e, k) in enumerate(zip(elements, kinds)))

    def _element(self, element, name, kind):
        if element.data == "any":
            return "True"
        if element.data == "value" and element.children[0].data == "name":
            thing = self.scope.get(str(element.children[0].children[0]))
            if thing is not None and isinstance(thing.thing, ValueSet):
                return f"{name} in {self.program.keep(thing.thing.values)}"
        value, mask = self._expressions([]).key(element, kind)
        return f"{name} == {value}" if mask == kind.mask else f"{name} & {mask} == {value}"

    def _target(self, node, name):
        if name == "accept":
            return "None"
        known = [str(c.children[0]) for c in self.node.children if getattr(c, "data", "") == "state"]
        if str(name) not in known:
            self.program.source.refuse(node, f"there is no state {name}")
        return self._function(name)


def lookahead(expressions, node):
    """A few bits of what comes next, from the beginning of a byte."""
    kind = expressions.program.type(node.children[2] if len(node.children) > 2 else node.children[1])
    if not isinstance(kind, Bits) or kind.width % 8:
        expressions.refuse(node, "lookahead of anything but whole bytes")
    n = kind.width // 8
    expressions.before += [f"if at + {n} > len(data):", "    raise ParserError"]
    return f"int.from_bytes(data[at:at + {n}], 'big')", kind

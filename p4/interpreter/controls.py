"""Controls: their actions and tables, and what can be called in them."""
from interpreter import parsers
from interpreter.expressions import Expressions, Place
from interpreter.statements import indented
from interpreter.tables import Table, TableError
from interpreter.types import BOOL, LITERAL, Bits, Record

MATCHES = ("exact", "ternary")


class Action:
    def __init__(self, function, parameters):
        self.function, self.parameters = function, parameters


class Calls(Expressions):
    """Expressions, with calls of what a control knows."""

    def key(self, element, kind):
        """(value, mask) of an element of a key set."""
        width = 1 if kind == BOOL else kind.width
        everything = (1 << width) - 1
        if element.data == "any":
            return 0, 0
        value, mask = self.constant(element.children[0]), everything
        if element.data == "masked":
            mask = self.constant(element.children[1])
        if not 0 <= value <= everything or not 0 <= mask <= everything:
            self.refuse(element, f"does not fit {kind}")
        return value & mask, mask

    def _lookahead(self, node):
        return parsers.lookahead(self, node)

    def _call(self, node):
        target, arguments = node.children
        arguments = [a for a in arguments.children if a is not None]
        if target.data == "name":
            place = self.scope.get(str(target.children[0]))
            if place is None or not isinstance(place.thing, Action):
                self.refuse(node, f"{target.children[0]}: no action of this name")
            return self._call_action(node, place.thing, arguments)
        place = self.place(target)
        if not isinstance(place.thing, tuple) or place.thing[0] != "method":
            self.refuse(node, "this cannot be called")
        _, owner, method = place.thing
        if isinstance(owner.kind, Record):
            return self._header_method(node, owner, method)
        if not hasattr(owner.thing, "call"):
            self.refuse(node, f"{method}: not known to this interpreter")
        return owner.thing.call(self, node, method, arguments)

    def _call_action(self, node, action, arguments):
        if len(arguments) != len(action.parameters):
            self.refuse(node, f"{len(action.parameters)} arguments wanted")
        codes = [self.value(a, kind)[0] for a, (_, kind) in zip(arguments, action.parameters)]
        return f"{action.function}({', '.join(['s', *codes])})", None

    def _header_method(self, node, owner, method):
        valid = f"s.{owner.path}__valid"
        if method == "isValid":
            return valid, BOOL
        if method not in ("setValid", "setInvalid"):
            self.refuse(node, f"{owner.kind} has no field or method {method}")
        self.before.append(f"{valid} = {method == 'setValid'}")
        return "None", None

    def result(self, node, call, member):
        """table.apply().hit"""
        target = self.place(call.children[0])
        _, owner, method = target.thing
        if member != "hit" or method != "apply" or not isinstance(owner.thing, AppliedTable):
            self.refuse(node, f".{member} of a call: not known to this interpreter")
        return owner.thing.apply(self), BOOL

    def _member(self, node):
        place = self.place(node)
        if isinstance(place.thing, tuple) and place.thing[0] == "result":
            return self.result(node, place.thing[1], place.thing[2])
        return super()._member(node)


class AppliedTable:
    """A table as its control applies it."""

    def __init__(self, program, name, keys):
        self.program, self.name, self.keys = program, name, keys

    def call(self, e, node, method, arguments):
        if method != "apply" or arguments:
            e.refuse(node, f"a table has no {method} of {len(arguments)} arguments")
        self.apply(e)
        return "None", None

    def apply(self, e):
        function, data, hit = (self.program.temporary() for _ in range(3))
        e.before += [f"{function}, {data}, {hit} = {self.name}.find(({', '.join(self.keys)},))",
                     f"{function}(s, *{data})"]
        return hit


class Control:
    """One instance of a control. The places of its parameters are those of the arguments of its apply."""

    def __init__(self, program, node, path):
        self.program, self.node, self.path = program, node, path
        self.applied = False
        self.function = program.name_of(path)

    def compile_whole(self):
        """As a block of a pipeline: its parameters are the shared records."""
        places, packet = {}, None
        for parameter in self._parameters():
            _, kind, name = parameter.children
            if str(kind.children[0]) == "packet_out":
                packet = str(name)
                places[packet] = Place(thing=PacketOut(self.program))
            else:
                places[str(name)] = self.program.root(self.program.type(kind))
        self._compile(places, deparser=packet is not None)
        return self.function

    def _parameters(self):
        return [p for p in self.node.children[1].children if p is not None]

    def call(self, e, node, method, arguments):
        if method != "apply":
            e.refuse(node, f"a control has no {method}")
        if self.applied:
            e.refuse(node, f"{self.path} is applied in two places")
        self.applied = True
        parameters = self._parameters()
        if len(parameters) != len(arguments):
            e.refuse(node, f"{len(parameters)} arguments wanted")
        places = {}
        for parameter, argument in zip(parameters, arguments):
            place, kind = e.place(argument), self.program.type(parameter.children[1])
            if place.kind != kind:
                e.refuse(argument, f"is {place.kind}, where {kind} is wanted")
            places[str(parameter.children[2])] = place
        self._compile(places)
        e.before.append(f"{self.function}(s)")
        return "None", None

    def _compile(self, places, deparser=False):
        *locals_, body = self.node.children[2:]
        scope = {**self.program.constants, **places}
        scope["NoAction"] = Place(thing=self._no_action())
        self.scope = scope
        lines = [f"def {self.function}(s):"]
        if deparser:
            lines.append("    out = []")
        for node in locals_:
            lines += indented(getattr(self, "_local_" + node.data)(node))
        lines += indented(self.program.statements(scope).block(body))
        if deparser:
            lines.append("    return b''.join(out)")
        self.program.add_function(lines)

    def _no_action(self):
        self.program.namespace.setdefault("no_action", lambda s: None)
        return Action("no_action", [])

    def _local_variable(self, node):
        kind, name, value = node.children
        place = self.program.variable(f"{self.path}.{name}", self.program.type(kind))
        self.scope[str(name)] = place
        if value is None:
            return []
        before = []
        code, _ = self.program.expressions(self.scope, before).value(value, place.kind)
        return [*before, f"{place.code} = {code}"]

    def _local_instance(self, node):
        self.scope[str(node.children[2])] = self.program.instance(node, self.scope, self.path)
        return []

    def _local_register_action(self, node):
        self.scope[str(node.children[2])] = self.program.register_action(node, self.scope, self.path)
        return []

    def _local_action(self, node):
        name, parameters, body = node.children
        found = [(str(p.children[2]), self.program.type(p.children[1])) for p in parameters.children if p is not None]
        scope = {**self.scope, **{n: Place(kind=k, code=f"a_{n}") for n, k in found}}
        function = self.program.name_of(f"{self.path}.action.{name}")
        arguments = ", ".join(["s", *(f"a_{n}" for n, _ in found)])
        self.program.add_function([f"def {function}({arguments}):",
                                   *indented(self.program.statements(scope).block(body))])
        self.scope[str(name)] = Place(thing=Action(function, found))
        return []

    def _local_table(self, node):
        name, *properties = node.children
        have = {p.data: p for p in properties if p.data != "attribute"}
        attributes = {str(p.children[0]): p.children[1] for p in properties if p.data == "attribute"}
        for a in attributes:
            if a != "size":  # others give entries more data, which control would have to write
                self.program.source.refuse(node, f"a table's {a}: not known to this interpreter")
        codes, keys = self._keys(have["keys"])
        listed = have["actions"].children  # an annotation or None, and a name
        actions = {str(a): self._action(node, str(a)) for a in listed[1::2]}
        default_only = {str(a) for annotation, a in zip(listed[::2], listed[1::2]) if annotation}
        default = self._default(node, have.get("default_action"), actions)
        size = self.program.expressions(self.scope, []).constant(attributes["size"]) if "size" in attributes else 1024
        fixed = "entries" in have
        table = Table(f"{self.path}.{name}", keys,
                      {a: (x.function, [(n, k.width) for n, k in x.parameters]) for a, x in actions.items()},
                      default, default_only, size, fixed)
        if fixed:
            self._insert(table, have["entries"], [k for _, k in codes])
        self.program.tables[table.path] = table
        self.scope[str(name)] = Place(thing=AppliedTable(self.program, self.program.keep(table), [c for c, _ in codes]))
        return []

    def _keys(self, node):
        codes, keys = [], []
        for key in node.children:
            expression, match = key.children
            if str(match) not in MATCHES:
                self.program.source.refuse(key, f"match {match}: not known to this interpreter")
            before = []
            code, kind = self.program.expressions(self.scope, before).value(expression)
            if before or kind == LITERAL or (isinstance(kind, Bits) and kind.signed):
                self.program.source.refuse(key, "this cannot be matched")
            codes.append((code, kind))
            keys.append((self.program.source.text(expression), str(match), 1 if kind == BOOL else kind.width))
        return codes, keys

    def _action(self, node, name):
        place = self.scope.get(name)
        if place is None or not isinstance(place.thing, Action):
            self.program.source.refuse(node, f"no action {name}")
        return place.thing

    def _arguments(self, node, action, arguments):
        e = self.program.expressions(self.scope, [])
        values = tuple(e.constant(a) for a in arguments.children if a is not None)
        if len(values) != len(action.parameters):
            self.program.source.refuse(node, f"{len(action.parameters)} arguments wanted")
        return values

    def _default(self, node, found, actions):
        if found is None:
            if "NoAction" not in actions:
                self.program.source.refuse(node, "a table without a default action")
            return "NoAction", ()
        name, arguments = [c for c in found.children if str(c) != "const"]
        if str(name) not in actions:
            self.program.source.refuse(found, f"{name} is none of the table's actions")
        return str(name), self._arguments(found, actions[str(name)], arguments)

    def _insert(self, table, node, kinds):
        e = self.program.expressions(self.scope, [])
        for priority, entry in enumerate(node.children):
            keyset, name, arguments = entry.children
            if len(keyset.children) != len(kinds):
                self.program.source.refuse(entry, f"{len(kinds)} keys wanted")
            keys = [e.key(element, kind) for element, kind in zip(keyset.children, kinds)]
            values = self._arguments(entry, self._action(entry, str(name)), arguments)
            try:
                table.insert(keys, str(name), values, priority)
            except (ValueError, TableError) as problem:
                self.program.source.refuse(entry, str(problem))


class PacketOut:
    """Of a deparser: headers that are valid, in the order in which they are emitted."""

    def __init__(self, program):
        self.program = program

    def call(self, e, node, method, arguments):
        if method != "emit" or len(arguments) != 1:
            e.refuse(node, f"packet_out.{method}: not known to this interpreter")
        place = e.place(arguments[0])
        for path, record in self._headers(place.path, place.kind):
            name, layout = self.program.layout(record)
            e.before += [f"if s.{path}__valid:", f"    out.append({layout.writer(name, path)})"]
        return "None", None

    def _headers(self, path, kind):
        if kind.is_header:
            return [(path, kind)]
        return [h for n, k in kind.fields.items() for h in self._headers(f"{path}__{n}", k)]

"""A P4 program, compiled to Python: one function for each parser state, action and control, on a state object
that has an attribute for every field."""
import functools

from interpreter import controls, parsers
from interpreter.expressions import Place
from interpreter.externs import EXTERNS
from interpreter.layout import Layout
from interpreter.registers import ExecutedTwice, Register, RegisterAction
from interpreter.source import Source
from interpreter.statements import Statements
from interpreter.types import BOOL, NO_PORT, PORT_METADATA_BITS, Bits, Record, intrinsic_types

POISON = 0xA5A5A5A5A5A5A5A5  # what fields of headers hold before they are read or written: nothing may depend on it
CONSTRUCTORS = {**EXTERNS, "Register": Register}


@functools.cache
def compiled(text, path):
    """Python's code, without what it works on: programs that are loaded again and again have one."""
    return compile(text, path, "exec")


class Program:
    """tables, registers, counters and value sets are found by their names: Control.instance.name."""

    def __init__(self, path, chip="tofino"):
        self.source = Source(path, chip)
        self.types = intrinsic_types(chip)
        self.constants = {"PORT_METADATA_SIZE": Place(kind=Bits(32), code=str(PORT_METADATA_BITS[chip]), constant=True)}
        self.declared, self.layouts = {}, {}
        self.tables, self.registers, self.counters, self.value_sets, self.digests = {}, {}, {}, {}, {}
        self.template = {}  # of the state object
        self.lines, self.namespace = [], {"ExecutedTwice": ExecutedTwice, "ParserError": parsers.ParserError}
        self.temporaries = 0
        self._declare()
        self._compile_pipeline()

    # --- declarations --------------------------------------------------------------------------------------------

    def _declare(self):
        for node in self.source.tree.children:
            getattr(self, "_declare_" + node.data)(node)

    def _declare_typedef(self, node):
        self.types[str(node.children[1])] = self.type(node.children[0])

    def _declare_constant(self, node):
        kind, name, value = node.children
        value = self.expressions(self.constants, []).constant(value)
        self.constants[str(name)] = Place(kind=self.type(kind), code=str(value), constant=True)

    def _record(self, node, is_header):
        name, *fields = node.children
        found = {str(f.children[1]): self.type(f.children[0]) for f in fields}
        self.types[str(name)] = Record(str(name), found, is_header)

    def _declare_header(self, node):
        self._record(node, True)

    def _declare_struct(self, node):
        self._record(node, False)

    def _declare_parser(self, node):
        self.declared[str(node.children[0])] = node

    _declare_control = _declare_parser

    def _declare_instance(self, node):
        self.declared[str(node.children[2])] = node

    # --- types, names --------------------------------------------------------------------------------------------

    def type(self, node):
        if node.data in ("bit", "int"):
            return Bits(self.expressions(self.constants, []).constant(node.children[0]), node.data == "int")
        if node.data == "bool":
            return BOOL
        kind = self.types.get(str(node.children[0]))
        if kind is None:
            self.source.refuse(node, f"type {node.children[0]} is not declared, or not known here")
        return kind

    def expressions(self, scope, before):
        return controls.Calls(self, scope, before)

    def statements(self, scope):
        return Statements(self, scope)

    def field(self, path, name, kind):
        inner = f"{path}__{name}"
        if path.startswith("\0"):  # a word of a register, in its action
            return Place(kind=kind, code=f"v_{name}")
        return Place(kind=kind, code=None if isinstance(kind, Record) else f"s.{inner}", path=inner if isinstance(kind, Record) else None)

    def root(self, kind):
        """The place of a record that the blocks of a pipeline share: its type's name."""
        self._add_fields(kind.name, kind)
        return Place(kind=kind, path=kind.name)

    def _add_fields(self, path, kind):
        if kind.is_header:
            self.template.setdefault(f"{path}__valid", False)
        for name, inner in kind.fields.items():
            if isinstance(inner, Record):
                self._add_fields(f"{path}__{name}", inner)
            else:
                self.template.setdefault(f"{path}__{name}", POISON & inner.mask if kind.is_header else 0)
        if path == "ingress_intrinsic_metadata_for_tm_t":
            self.template[f"{path}__ucast_egress_port"] = NO_PORT

    def variable(self, path, kind):
        self.template[self.name_of(path)] = 0
        return Place(kind=kind, code=f"s.{self.name_of(path)}")

    @staticmethod
    def name_of(path):
        return "_" + path.replace(".", "__")

    def keep(self, thing):
        """A name under which generated text finds a thing."""
        name = f"k{len(self.namespace)}"
        self.namespace[name] = thing
        return name

    def temporary(self):
        self.temporaries += 1
        return f"t{self.temporaries}"

    def add_function(self, lines):
        self.lines += [*lines, ""]

    def layout(self, record):
        """(name in generated text, layout)"""
        if record.name not in self.layouts:
            layout = Layout(record)
            self.layouts[record.name] = (f"layout_{record.name}", layout)
            self.namespace[f"layout_{record.name}_struct"] = layout.struct
        return self.layouts[record.name]

    # --- instances -----------------------------------------------------------------------------------------------

    def instance(self, node, scope, path):
        """An extern, or a control with its own state."""
        kind, arguments, name = node.children
        what = str(kind.children[0])
        path = f"{path}.{name}"
        if what in CONSTRUCTORS:
            types = [self.type(t) for t in kind.children[1:] if t is not None]
            made = CONSTRUCTORS[what](self, node, path, types, [self._constructor_argument(a, scope) for a in arguments.children if a])
            for group, cls in ((self.registers, "Register"), (self.counters, "Counter"), (self.digests, "Digest")):
                if what == cls:
                    group[path] = made
            return Place(thing=made)
        if what not in self.declared:
            self.source.refuse(node, f"{what}: not known to this interpreter")
        return Place(thing=controls.Control(self, self.declared[what], path))

    def _constructor_argument(self, node, scope):
        if node.data == "member" and str(node.children[0].children[0]) in ("HashAlgorithm_t", "CounterType_t"):
            return str(node.children[1])
        return self.expressions(scope, []).constant(node)

    def register_action(self, node, scope, path):
        if str(node.children[0].children[0]) != "RegisterAction":
            self.source.refuse(node, "only a RegisterAction has a body")
        return Place(thing=RegisterAction(self, scope, node, f"{path}.{node.children[2]}"))

    # --- pipeline ------------------------------------------------------------------------------------------------

    def _compile_pipeline(self):
        main = self.declared.get("main")
        if main is None or str(main.children[0].children[0]) != "Switch":
            self.source.refuse(self.source.tree, "there is no Switch(...) main")
        pipe = self.declared[str(main.children[1].children[0].children[0])]
        blocks = [str(a.children[0].children[0]) for a in pipe.children[1].children]
        if len(blocks) != 6:
            self.source.refuse(pipe, "a Pipeline has six blocks")
        entries = {}
        for role, name in zip(("parse", "process", "deparse", "egress_parse", "egress_process", "egress_deparse"), blocks):
            node = self.declared[name]
            compiler = parsers.Parser if node.data == "parser" else controls.Control
            entries[role] = compiler(self, node, name).compile_whole()
        exec(compiled("\n".join(self.lines), str(self.source.path)), self.namespace)
        for role, function in entries.items():
            setattr(self, role, self.namespace[function])
        for table in self.tables.values():
            table.actions = {a: (self.namespace[f], p) for a, (f, p) in table.actions.items()}

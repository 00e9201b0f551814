"""Match tables: what the control plane, or the program itself, writes into them, and lookups."""
from dataclasses import dataclass


class TableError(Exception):
    """An entry that the table does not take."""


@dataclass(frozen=True)
class Entry:
    keys: tuple  # of (value, mask)
    action: str
    arguments: tuple
    priority: int  # lower ones match first


class Table:
    """keys: [(name in the program, kind of match, width)]; actions: name -> (function, [(parameter, width)]); default_only: names of
    those that no entry may have."""

    def __init__(self, path, keys, actions, default, default_only, size, fixed):
        self.path, self.keys, self.actions, self.size = path, keys, actions, size
        self.default, self.default_only, self.fixed = default, default_only, fixed
        self.entries = {}  # by keys
        self.exact = all(kind == "exact" for _, kind, _ in keys)
        self._found = {}  # what lookups have given, until the next change
        self.sorted = []

    # --- control plane -------------------------------------------------------------------------------------------

    def add(self, keys, action, arguments=(), priority=0):
        """keys: for each key a value, (value, mask), or None for any. Replaces an entry of the same keys."""
        if self.fixed:
            raise TableError(f"{self.path} has only the program's entries")
        self.insert(keys, action, arguments, priority)

    def insert(self, keys, action, arguments=(), priority=0):
        keys = tuple(self._key(k, *spec) for k, spec in zip(keys, self.keys, strict=True))
        self._check_action(action, arguments)
        if keys not in self.entries and len(self.entries) >= self.size:
            raise TableError(f"{self.path} is full: it has room for {self.size}")
        self.entries[keys] = Entry(keys, action, tuple(arguments), priority)
        self._changed()

    def remove(self, keys):
        keys = tuple(self._key(k, *spec) for k, spec in zip(keys, self.keys, strict=True))
        if keys not in self.entries:
            raise TableError(f"{self.path} has no such entry")
        del self.entries[keys]
        self._changed()

    def clear(self):
        self.entries.clear()
        self._changed()

    def _changed(self):
        self._found.clear()
        self.sorted = sorted(self.entries.values(), key=lambda e: e.priority)

    def _key(self, key, name, kind, width):
        everything = (1 << width) - 1
        value, mask = (0, 0) if key is None else key if isinstance(key, tuple) else (key, everything)
        if kind == "exact" and mask != everything:
            raise TableError(f"{self.path}: {name} is matched exactly")
        if not 0 <= value <= everything or not 0 <= mask <= everything:
            raise TableError(f"{self.path}: {name} has {width} bits")
        return value & mask, mask

    def _check_action(self, action, arguments):
        if action not in self.actions:
            raise TableError(f"{self.path} has no action {action}")
        if action in self.default_only:
            raise TableError(f"{self.path}: {action} is for what no entry matches, and not for entries")
        parameters = self.actions[action][1]
        if len(parameters) != len(arguments):
            raise TableError(f"{self.path}: {action} takes {len(parameters)} arguments")
        for (name, width), value in zip(parameters, arguments):
            if not 0 <= value < 1 << width:
                raise TableError(f"{self.path}: {action}: {name} has {width} bits")

    # --- packets -------------------------------------------------------------------------------------------------

    def find(self, key):
        """(function, arguments, hit) for a packet's key."""
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._look_up(key)
            if len(self._found) > 65536:
                self._found.clear()
        return found

    def _look_up(self, key):
        if self.exact:
            everything = tuple((v, (1 << w) - 1) for v, (_, _, w) in zip(key, self.keys))
            entry = self.entries.get(everything)
        else:
            entry = next((e for e in self.sorted if all(k & m == v for k, (v, m) in zip(key, e.keys))), None)
        if entry is None:
            name, arguments = self.default
            return self.actions[name][0], arguments, False
        return self.actions[entry.action][0], entry.arguments, True

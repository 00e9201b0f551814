"""A module like bfrt_grpc.client whose switch is the interpreted program: every name, width and action of what is written is
checked against the program's own tables. connect(chip) says which Chip is meant."""

DEVICE, ALL_PIPES = 0, 0xFFFF
switches = {}  # address -> Chip


def prepare(chip):
    """What the software of a switch has besides the chip: nodes of groups, ports that are up."""
    chip.__dict__.setdefault("nodes", {})
    chip.__dict__.setdefault("up", {})


def is_enabled(chip, port):
    """Ports that others have brought up are."""
    return chip.up.get(port, {}).get("$PORT_ENABLE", True)


def connect(address, chip):
    switches[address] = chip


class KeyTuple:
    def __init__(self, name, value=None, mask=None):
        self.name, self.value, self.mask = name, value, mask


class DataTuple:
    def __init__(self, name, val=None, int_arr_val=None, bool_arr_val=None, str_val=None, bool_val=None):
        self.name = name
        self.value = next(v for v in (val, int_arr_val, bool_arr_val, str_val, bool_val) if v is not None)


class Target:
    def __init__(self, device_id=0, pipe_id=0xFFFF):
        assert (device_id, pipe_id) == (DEVICE, ALL_PIPES)


class Named:
    """A key or data: name -> value, as to_dict gives it."""

    def __init__(self, values, action=None):
        self.values, self.action = values, action

    def to_dict(self):
        return self.values


class Info:
    def __init__(self, keys, data, alone=None):
        self.keys, self.data = keys, data  # name -> bits; action or None -> names
        self.alone = alone                 # the fields that may be changed without the others

    def key_field_name_list_get(self):
        return list(self.keys)

    def key_field_size_get(self, name):
        return (self.keys[name] + 7) // 8, self.keys[name]

    def data_field_name_list_get(self, action=None):
        return list(self.data[action])


class Base:
    def __init__(self, chip, keys, data):
        self.chip, self.info = chip, Info(keys, data)

    def make_key(self, tuples):
        names = [t.name for t in tuples]
        assert sorted(names) == sorted(self.info.keys), f"keys {names}, not {list(self.info.keys)}"
        return {t.name: t for t in tuples}

    def make_data(self, tuples, action=None):
        names = [t.name for t in tuples]
        assert action in self.info.data, f"no action {action}"
        assert names == self.info.alone or sorted(names) == sorted(n for n in self.info.data[action]), f"data {names}, not {self.info.data[action]}"
        return Named({t.name: t.value for t in tuples}, action)


class MatchTable(Base):
    def __init__(self, chip, table):
        self.table = table
        prefix = table.path.rpartition(".")[0]
        keys = {name: width for name, _, width in table.keys}
        if not table.exact:
            keys["$MATCH_PRIORITY"] = 24
        super().__init__(chip, keys, {f"{prefix}.{a}": [n for n, _ in p] for a, (_, p) in table.actions.items()})

    def _keys(self, key):
        found = []
        for name, _, width in self.table.keys:
            t = key[name]
            assert (t.mask is None) == self.table.exact, f"{name}: a mask, or none"
            found.append(t.value if self.table.exact else (t.value, t.mask))
        return tuple(found)

    def _put(self, key, d):
        """Whether it is a new entry."""
        before = len(self.table.entries)
        arguments = [d.values[n] for n in self.info.data[d.action]]
        priority = 0 if self.table.exact else key["$MATCH_PRIORITY"].value
        self.table.add(self._keys(key), d.action.rpartition(".")[2], arguments, priority)
        return len(self.table.entries) > before

    def entry_add(self, target, keys, data):
        for key, d in zip(keys, data, strict=True):
            if not self._put(key, d):
                raise RuntimeError("ALREADY_EXISTS")

    def entry_mod(self, target, keys, data):
        for key, d in zip(keys, data, strict=True):
            if self._put(key, d):
                raise RuntimeError("OBJECT_NOT_FOUND")

    def entry_del(self, target, keys):
        for key in keys:
            self.table.remove(self._keys(key))


class ValueSetTable(Base):
    def __init__(self, chip, made):
        super().__init__(chip, {"f1": made.kind.width}, {})
        self.made = made

    def entry_add(self, target, keys, data):
        for key in keys:
            assert key["f1"].mask == self.made.kind.mask, "a value set of the interpreter has no masks"
            self.made.add(key["f1"].value)

    def entry_get(self, target, keys, flags):
        return [(None, key) for key in keys if key["f1"].value in self.made.values]


class RegisterTable(Base):
    def __init__(self, chip, register):
        self.register = register
        super().__init__(chip, {"$REGISTER_INDEX": 32}, {None: [f"{register.path}.{w}" for w in register.words]})

    def entry_mod(self, target, keys, data):
        for key, d in zip(keys, data, strict=True):
            values = [d.values[n] for n in self.info.data[None]]
            assert all(0 <= v < 1 << 32 for v in values)
            self.register.write(key["$REGISTER_INDEX"].value, *values)

    def entry_get(self, target, keys, flags):
        assert flags == {"from_hw": True}
        for key in keys:
            row = key["$REGISTER_INDEX"].value
            values = {n: [0, v] for n, v in zip(self.info.data[None], self.register.read(row))}  # two pipes
            yield Named(values), Named({"$REGISTER_INDEX": {"value": row}})


class CounterTable(Base):
    def __init__(self, chip, counter):
        super().__init__(chip, {"$COUNTER_INDEX": 32}, {None: ["$COUNTER_SPEC_PKTS"]})
        self.counter = counter

    def entry_get(self, target, keys, flags):
        assert flags == {"from_hw": True}
        for key in keys:
            i = key["$COUNTER_INDEX"].value
            yield Named({"$COUNTER_SPEC_PKTS": self.counter.counts[i]}), Named({"$COUNTER_INDEX": {"value": i}})


class Nodes(Base):
    def __init__(self, chip):
        super().__init__(chip, {"$MULTICAST_NODE_ID": 32}, {None: ["$MULTICAST_RID", "$MULTICAST_LAG_ID", "$DEV_PORT"]})
        self.info.alone = ["$MULTICAST_LAG_ID", "$DEV_PORT"]

    def entry_add(self, target, keys, data):
        for key, d in zip(keys, data, strict=True):
            node = key["$MULTICAST_NODE_ID"].value
            if node in self.chip.nodes:
                raise RuntimeError("ALREADY_EXISTS")
            self.chip.nodes[node] = (d.values["$MULTICAST_RID"], *d.values["$DEV_PORT"])

    def entry_mod(self, target, keys, data):
        """Of a node that is there, in every group that it is in."""
        for key, d in zip(keys, data, strict=True):
            node = key["$MULTICAST_NODE_ID"].value
            before, after = self.chip.nodes[node], (self.chip.nodes[node][0], *d.values["$DEV_PORT"])
            self.chip.nodes[node] = after
            for group, copies in self.chip.groups.items():
                self.chip.groups[group] = [after if copy == before else copy for copy in copies]

    def entry_del(self, target, keys):
        for key in keys:
            del self.chip.nodes[key["$MULTICAST_NODE_ID"].value]


class Trees(Base):
    def __init__(self, chip):
        super().__init__(chip, {"$MGID": 16}, {None: ["$MULTICAST_NODE_ID", "$MULTICAST_NODE_L1_XID_VALID", "$MULTICAST_NODE_L1_XID"]})

    def entry_add(self, target, keys, data):
        for key, d in zip(keys, data, strict=True):
            group = key["$MGID"].value
            if group in self.chip.groups:
                raise RuntimeError("ALREADY_EXISTS")
            self.chip.groups[group] = [self.chip.nodes[n] for n in d.values["$MULTICAST_NODE_ID"]]
            valid, own = d.values["$MULTICAST_NODE_L1_XID_VALID"], d.values["$MULTICAST_NODE_L1_XID"]
            self.chip.excluded[group] = {rid: xid for (rid, _), ok, xid in zip(self.chip.groups[group], valid, own, strict=True) if ok}

    def entry_get(self, target, keys, flags):
        return [(None, key) for key in keys if key["$MGID"].value in self.chip.groups]

    def entry_del(self, target, keys):
        for key in keys:
            del self.chip.groups[key["$MGID"].value], self.chip.excluded[key["$MGID"].value]


class Ports(Base):
    CHOICES = {"$SPEED": {f"BF_SPEED_{n}G" for n in (1, 10, 25, 40, 50, 100, 200, 400)},
               "$FEC": {"BF_FEC_TYP_NONE", "BF_FEC_TYP_FC", "BF_FEC_TYP_RS"},
               "$AUTO_NEGOTIATION": {"PM_AN_DEFAULT", "PM_AN_FORCE_ENABLE", "PM_AN_FORCE_DISABLE"},
               "$PORT_ENABLE": {True, False}}

    def __init__(self, chip):
        super().__init__(chip, {"$DEV_PORT": 32}, {None: list(self.CHOICES)})
        self.info.alone = ["$PORT_ENABLE"]

    def _put(self, key, d):
        assert all(d.values[n] in choices for n, choices in self.CHOICES.items()), d.values
        self.chip.up[key["$DEV_PORT"].value] = d.values

    def entry_add(self, target, keys, data):
        for key, d in zip(keys, data, strict=True):
            if key["$DEV_PORT"].value in self.chip.up:
                raise RuntimeError("ALREADY_EXISTS")
            self._put(key, d)

    def entry_mod(self, target, keys, data):
        for key, d in zip(keys, data, strict=True):
            before = self.chip.up[key["$DEV_PORT"].value]
            self._put(key, Named({**before, **d.values}))

    def entry_get(self, target, keys, flags):
        assert flags == {"from_hw": False}
        for key in keys:
            said = self.chip.up[key["$DEV_PORT"].value]
            yield Named({**said, "$PORT_UP": said["$PORT_ENABLE"]}), None

    def entry_del(self, target, keys):
        for key in keys:
            del self.chip.up[key["$DEV_PORT"].value]


class PortStats(Base):
    """Fields by (direction, what is counted); others are 0: nothing is damaged, and nothing is full."""
    FIELDS = {"$FramesReceivedOK": ("rx", 0), "$OctetsReceivedinGoodFrames": ("rx", 1), "$FrameswithanyError": None,
              "$FramesTransmittedOK": ("tx", 0), "$OctetsTransmittedwithouterror": ("tx", 1), "$FramesTransmittedwithError": None,
              "$FramesDroppedBufferFull": None}

    def __init__(self, chip):
        super().__init__(chip, {"$DEV_PORT": 32}, {None: list(self.FIELDS)})

    def entry_get(self, target, keys, flags):
        assert flags == {"from_hw": True}
        for key in keys:
            counted = self.chip.traffic.get(key["$DEV_PORT"].value, {})
            yield Named({name: counted.get(of[0], (0, 0))[of[1]] if of else 0 for name, of in self.FIELDS.items()}), None


class Learn:
    def __init__(self, fields):
        self.fields = fields

    def make_data_list(self, message):
        return [Named(dict(zip(self.fields, d, strict=True))) for d in message]


class BfrtInfo:
    FIXED = {"$pre.node": Nodes, "$pre.mgid": Trees, "$PORT": Ports, "$PORT_STAT": PortStats}

    def __init__(self, chip):
        self.chip = chip

    def table_get(self, name):
        if name in self.FIXED:
            return self.FIXED[name](self.chip)
        assert name.startswith("pipe."), name
        name, p = name[5:], self.chip.program
        for group, made in ((p.tables, MatchTable), (p.value_sets, ValueSetTable), (p.registers, RegisterTable), (p.counters, CounterTable)):
            if name in group:
                return made(self.chip, group[name])
        raise KeyError(name)

    def learn_get(self, name):
        return Learn(list(self.chip.program.digests[name].record.fields))


class ClientInterface:
    def __init__(self, grpc_addr, client_id, device_id):
        self.chip = switches[grpc_addr]
        prepare(self.chip)

    def bind_pipeline_config(self, p4_name):
        assert p4_name == "swagg", p4_name

    def bfrt_info_get(self, p4_name):
        return BfrtInfo(self.chip)

    def digest_get(self, timeout):
        if not self.chip.digests:
            raise RuntimeError("nothing has come")
        found, self.chip.digests = self.chip.digests, []
        return found



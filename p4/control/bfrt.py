"""Writes to a switch by BF Runtime, through the client that comes with the switch's software (bfrt_grpc.client). Names of key
and data fields are the switch's own: they come in the program's order, as a plan's values do."""
import contextlib

AT_ONCE = 1000  # entries in one message
FEC = {"none": "BF_FEC_TYP_NONE", "fc": "BF_FEC_TYP_FC", "rs": "BF_FEC_TYP_RS"}
AUTONEG = {"default": "PM_AN_DEFAULT", "on": "PM_AN_FORCE_ENABLE", "off": "PM_AN_FORCE_DISABLE"}
COUNTED = {"rx_frames": "$FramesReceivedOK", "rx_bytes": "$OctetsReceivedinGoodFrames", "rx_errors": "$FrameswithanyError",
           "tx_frames": "$FramesTransmittedOK", "tx_bytes": "$OctetsTransmittedwithouterror", "tx_errors": "$FramesTransmittedwithError",
           "drops": "$FramesDroppedBufferFull"}
ALL_PIPES = 0xFFFF


class SwitchError(Exception):
    """The switch has refused something; the text says what."""


class Bfrt:
    """client: the module bfrt_grpc.client, or one like it."""

    def __init__(self, client, address, program, client_id=0, device=0):
        self.client = client
        try:
            self.interface = client.ClientInterface(address, client_id, device)
            self.interface.bind_pipeline_config(program)
            self.info = self.interface.bfrt_info_get(program)
        except Exception as problem:
            raise SwitchError(f"no switch at {address} that runs {program}: {problem}") from problem
        self.target = client.Target(device, ALL_PIPES)

    def table(self, name):
        return self.info.table_get(name if name.startswith("$") else f"pipe.{name}")

    # --- the program's tables ------------------------------------------------------------------------------------

    def _key(self, table, values, priority=None):
        """values: a value, (value, mask) or None for each field. priority None: matched exactly."""
        names = [n for n in table.info.key_field_name_list_get() if n != "$MATCH_PRIORITY"]
        tuples = []
        for name, value in zip(names, values, strict=True):
            if priority is None:
                tuples.append(self.client.KeyTuple(name, value))
            else:
                value, mask = (0, 0) if value is None else value if isinstance(value, tuple) else (value, None)
                bits = table.info.key_field_size_get(name)[1]
                tuples.append(self.client.KeyTuple(name, value, (1 << bits) - 1 if mask is None else mask))
        if priority is not None:
            tuples.append(self.client.KeyTuple("$MATCH_PRIORITY", priority))
        return table.make_key(tuples)

    def _is_ternary(self, table):
        return "$MATCH_PRIORITY" in table.info.key_field_name_list_get()

    def _key_of(self, table, write):
        return self._key(table, write.keys, write.priority if self._is_ternary(table) else None)

    def _entry(self, write):
        """The table of an entry (plan.Write), its keys and its data, as the client wants them."""
        table = self.table(write.table)
        action = f"{write.table.rpartition('.')[0]}.{write.action}"
        names = table.info.data_field_name_list_get(action)
        data = table.make_data([self.client.DataTuple(n, v) for n, v in zip(names, write.arguments, strict=True)], action)
        return table, [self._key_of(table, write)], [data]

    def add(self, write):
        table, keys, data = self._entry(write)
        self._do(f"{write.table}: an entry {write.action}", table.entry_add, keys, data)

    def put(self, write):
        """The same, in the place of an entry that has this key, if there is one."""
        self._put(f"{write.table}: an entry {write.action}", *self._entry(write))

    def _put(self, what, table, keys, data):
        try:
            table.entry_add(self.target, keys, data)
        except Exception:  # there is one, or what the next line says
            self._do(what, table.entry_mod, keys, data)

    def remove(self, write):
        table = self.table(write.table)
        self._do(f"{write.table}: removing an entry", table.entry_del, [self._key_of(table, write)])

    def discard(self, write):
        """The same, if it is there."""
        with contextlib.suppress(SwitchError):
            self.remove(write)

    def add_value(self, value_set, value):
        """It may be there already."""
        table = self.table(value_set)
        key = self._value_key(table, value)
        if not self._has(table, key):
            self._do(f"{value_set}: {value}", table.entry_add, [key], None)

    def has_value(self, value_set, value):
        table = self.table(value_set)
        return self._has(table, self._value_key(table, value))

    def _value_key(self, table, value):
        name, = table.info.key_field_name_list_get()
        bits = table.info.key_field_size_get(name)[1]
        return table.make_key([self.client.KeyTuple(name, value, (1 << bits) - 1)])

    def _has(self, table, key):
        try:
            return len(list(table.entry_get(self.target, [key], {"from_hw": False}))) > 0
        except Exception:  # the client's way to say that there is none
            return False

    # --- registers and counters ----------------------------------------------------------------------------------

    def _at(self, table, field, number):
        """The key of what is known by a number."""
        return table.make_key([self.client.KeyTuple(field, number)])

    def _fields(self, table):
        return [n for n in table.info.data_field_name_list_get(None) if not n.startswith("$")]

    def _read(self, name, field, numbers):
        """number -> data, as the hardware has it."""
        table = self.table(name)
        keys = [self._at(table, field, number) for number in numbers]
        return {key.to_dict()[field]["value"]: data.to_dict()
                for data, key in self._do(name, lambda: list(table.entry_get(self.target, keys, {"from_hw": True})))}

    def set_registers(self, name, words):
        """words: row -> values of its fields."""
        table = self.table(name)
        fields, rows = self._fields(table), list(words.items())
        for at in range(0, len(rows), AT_ONCE):
            part = rows[at:at + AT_ONCE]
            keys = [self._at(table, "$REGISTER_INDEX", row) for row, _ in part]
            data = [table.make_data([self.client.DataTuple(f, v) for f, v in zip(fields, values, strict=True)])
                    for _, values in part]
            self._do(f"{name}: {len(part)} rows", table.entry_mod, keys, data)

    def get_registers(self, name, rows):
        """row -> values of its fields in the pipe that has used it: where it is largest."""
        fields = self._fields(self.table(name))
        return {row: tuple(_largest(values[f]) for f in fields) for row, values in self._read(name, "$REGISTER_INDEX", rows).items()}

    def get_counters(self, name, indexes):
        """index -> packets."""
        return {i: counted["$COUNTER_SPEC_PKTS"] for i, counted in self._read(name, "$COUNTER_INDEX", indexes).items()}

    # --- replication ---------------------------------------------------------------------------------------------

    def add_group(self, group, copies, exclude=False):
        """copies: (replication id, port); each is a node of its own, numbered by its replication id. exclude: a packet with a port's number
        for its level-1 exclusion id does not go there. ($pre.prune could say that, too, but of ids below 288 only: not all ports have such
        numbers.)"""
        node, tree = self.table("$pre.node"), self.table("$pre.mgid")
        for rid, port in copies:
            key = self._at(node, "$MULTICAST_NODE_ID", rid)
            data = node.make_data([self.client.DataTuple("$MULTICAST_RID", rid),
                                   self.client.DataTuple("$MULTICAST_LAG_ID", int_arr_val=[]),
                                   self.client.DataTuple("$DEV_PORT", int_arr_val=[port])])
            self._do(f"copy {rid} to port {port}", node.entry_add, [key], [data])
        data = tree.make_data([self.client.DataTuple("$MULTICAST_NODE_ID", int_arr_val=[rid for rid, _ in copies]),
                               self.client.DataTuple("$MULTICAST_NODE_L1_XID_VALID", bool_arr_val=[exclude] * len(copies)),
                               self.client.DataTuple("$MULTICAST_NODE_L1_XID", int_arr_val=[port if exclude else 0 for _, port in copies])])
        self._do(f"multicast group {group}", tree.entry_add, [self._at(tree, "$MGID", group)], [data])

    def lead_copy(self, rid, port):
        """A copy that is in a group goes to this port from now on."""
        node = self.table("$pre.node")
        data = node.make_data([self.client.DataTuple("$MULTICAST_LAG_ID", int_arr_val=[]),
                               self.client.DataTuple("$DEV_PORT", int_arr_val=[port])])
        self._do(f"copy {rid} to port {port}", node.entry_mod, [self._at(node, "$MULTICAST_NODE_ID", rid)], [data])

    def remove_group(self, group, copies):
        """group None: the copies alone."""
        node, tree = self.table("$pre.node"), self.table("$pre.mgid")
        if group is not None:
            self._do(f"multicast group {group}", tree.entry_del, [self._at(tree, "$MGID", group)])
        for rid, _ in copies:
            self._do(f"copy {rid}", node.entry_del, [self._at(node, "$MULTICAST_NODE_ID", rid)])

    # --- ports ---------------------------------------------------------------------------------------------------

    def port_up(self, port, speed, fec, autoneg):
        """speed: "100g"; fec, autoneg: as above."""
        table = self.table("$PORT")
        data = table.make_data([self.client.DataTuple("$SPEED", str_val=f"BF_SPEED_{speed.upper()}"),
                                self.client.DataTuple("$FEC", str_val=FEC[fec]),
                                self.client.DataTuple("$AUTO_NEGOTIATION", str_val=AUTONEG[autoneg]),
                                self.client.DataTuple("$PORT_ENABLE", bool_val=True)])
        self._put(f"port {port}, speed {speed}, fec {fec}, autoneg {autoneg}", table, [self._at(table, "$DEV_PORT", port)], [data])

    def port_down(self, port):
        table = self.table("$PORT")
        self._do(f"port {port}", table.entry_del, [self._at(table, "$DEV_PORT", port)])

    def enable_port(self, port, up):
        table = self.table("$PORT")
        data = table.make_data([self.client.DataTuple("$PORT_ENABLE", bool_val=up)])
        self._do(f"port {port}", table.entry_mod, [self._at(table, "$DEV_PORT", port)], [data])

    def port(self, port):
        """What the switch's software says of a port, and has counted; None: it has none of this number."""
        try:
            said, counted = (self._of_port(name, port, from_hw) for name, from_hw in (("$PORT", False), ("$PORT_STAT", True)))
        except Exception:  # the client's way to say so
            return None
        return {"enabled": said["$PORT_ENABLE"], "up": said["$PORT_UP"], **{name: counted[field] for name, field in COUNTED.items()}}

    def _of_port(self, name, port, from_hw):
        table = self.table(name)
        (data, _), = table.entry_get(self.target, [self._at(table, "$DEV_PORT", port)], {"from_hw": from_hw})
        return data.to_dict()

    # --- digests -------------------------------------------------------------------------------------------------

    def digests(self, name, seconds):
        """What the program has told since, as tuples; waits so long for the first."""
        learn = self.info.learn_get(name)
        try:
            message = self.interface.digest_get(seconds)
        except Exception:  # the client's way to say that nothing has come
            return []
        return [tuple(d.to_dict().values()) for d in learn.make_data_list(message)]

    def _do(self, what, function, *arguments):
        try:
            return function(self.target, *arguments) if arguments else function()
        except Exception as problem:
            raise SwitchError(f"{what}: {problem}") from problem


def _largest(value):
    return max(value) if isinstance(value, list) else value

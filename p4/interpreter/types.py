"""Types of P4, and those that TNA declares (its headers of intrinsic metadata and the fields of them that the
interpreter models)."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Bits:
    """bit<width> or int<width>; width None: a literal without one."""
    width: int | None
    signed: bool = False

    @property
    def mask(self):
        return (1 << self.width) - 1

    def __str__(self):
        return "a number" if self.width is None else f"{'int' if self.signed else 'bit'}<{self.width}>"


@dataclass(frozen=True)
class Bool:
    def __str__(self):
        return "bool"


@dataclass(frozen=True)
class Record:
    """A header or a struct; fields: name -> type, in their order."""
    name: str
    fields: dict
    is_header: bool

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    @property
    def bits(self):
        return sum(f.width for f in self.fields.values())


BOOL = Bool()
LITERAL = Bits(None)


def _record(name, is_header, **widths):
    return Record(name, {f: Bits(w) for f, w in widths.items()}, is_header)


def intrinsic_types(chip):
    """What tna.p4 or t2na.p4 declares. Types that a control must name and that have no field here are empty: a
    program that uses one of their fields is refused."""
    queue = 5 if chip == "tofino" else 7
    found = [
        _record("ingress_intrinsic_metadata_t", True, resubmit_flag=1, _pad1=1, packet_version=2, _pad2=3,
                ingress_port=9, ingress_mac_tstamp=48),
        _record("ingress_intrinsic_metadata_for_tm_t", False, ucast_egress_port=9, bypass_egress=1, mcast_grp_a=16,
                level1_exclusion_id=16, rid=16, qid=queue),
        _record("ingress_intrinsic_metadata_from_parser_t", False),
        _record("ingress_intrinsic_metadata_for_deparser_t", False, drop_ctl=3, digest_type=3),
        _record("egress_intrinsic_metadata_t", True, _pad0=7, egress_port=9, egress_rid=16),
        _record("egress_intrinsic_metadata_from_parser_t", False),
        _record("egress_intrinsic_metadata_for_deparser_t", False, drop_ctl=3),
        _record("egress_intrinsic_metadata_for_output_port_t", False),
    ]
    types = {r.name: r for r in found}
    types["PortId_t"] = Bits(9)
    types["MulticastGroupId_t"] = Bits(16)
    return types


PORT_METADATA_BITS = {"tofino": 64, "tofino2": 192}
NO_PORT = 0x1FF  # of ucast_egress_port: none was chosen

"""Small programs for the tests of the interpreter: a packet of a few bytes, and what one control does with it."""
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "p4"))

from interpreter.chip import Chip  # noqa: E402

PROGRAM = """
#include <core.p4>
#include <{include}>
header small_h {{ bit<8> a; bit<8> b; bit<16> c; bit<4> d; bit<4> e; bit<32> x; bit<32> y; }}
struct pair_t {{ bit<32> lo; bit<32> hi; }}
struct headers_t {{ small_h h; small_h again; }}
struct meta_t {{ bit<32> m; bit<16> n; bit<8> flag; }}
struct out_t {{ bit<8> unused; }}
{declarations}
parser P(packet_in pkt, out headers_t hdr, out meta_t md, out ingress_intrinsic_metadata_t ig) {{
    {parser_locals}
    state start {{ pkt.extract(ig); {advance} pkt.extract(hdr.h); {parser} }}
    {states}
}}
control C(inout headers_t hdr, inout meta_t md, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t from_parser,
          inout ingress_intrinsic_metadata_for_deparser_t deparser, inout ingress_intrinsic_metadata_for_tm_t tm) {{
    {locals}
    apply {{ tm.ucast_egress_port = 9; tm.bypass_egress = 1; {body} }}
}}
control D(packet_out pkt, inout headers_t hdr, in meta_t md, in ingress_intrinsic_metadata_for_deparser_t deparser) {{
    {deparser_locals}
    apply {{ {deparser} pkt.emit(hdr); }}
}}
parser EP(packet_in pkt, out headers_t hdr, out out_t md, out egress_intrinsic_metadata_t eg) {{
    state start {{ pkt.extract(eg); pkt.extract(hdr.h); transition accept; }}
}}
control EC(inout headers_t hdr, inout out_t md, in egress_intrinsic_metadata_t eg,
           in egress_intrinsic_metadata_from_parser_t from_parser,
           inout egress_intrinsic_metadata_for_deparser_t deparser, inout egress_intrinsic_metadata_for_output_port_t out_md) {{
    apply {{ hdr.h.c = eg.egress_rid; }}
}}
control ED(packet_out pkt, inout headers_t hdr, in out_t md, in egress_intrinsic_metadata_for_deparser_t deparser) {{
    apply {{ pkt.emit(hdr); }}
}}
Pipeline(P(), C(), D(), EP(), EC(), ED()) pipe;
Switch(pipe) main;
"""
DEFAULTS = {"declarations": "", "parser_locals": "", "advance": "pkt.advance(PORT_METADATA_SIZE);",
            "parser": "transition accept;", "states": "", "locals": "", "body": "", "deparser_locals": "", "deparser": ""}


def chip(kind="tofino", **parts):
    include = "tna.p4" if kind == "tofino" else "t2na.p4"
    with tempfile.NamedTemporaryFile("w", suffix=".p4") as file:
        file.write(PROGRAM.format(include=include, **{**DEFAULTS, **parts}))
        file.flush()
        return Chip(file.name, kind)


def packet(a=0, b=0, c=0, d=0, e=0, x=0, y=0, rest=b""):
    return bytes([a, b]) + c.to_bytes(2, "big") + bytes([d << 4 | e]) + x.to_bytes(4, "big") + y.to_bytes(4, "big") + rest


def read(data):
    """The fields of a packet, by name."""
    number = lambda at, n: int.from_bytes(data[at:at + n], "big")  # noqa: E731
    return {"a": data[0], "b": data[1], "c": number(2, 2), "d": data[4] >> 4, "e": data[4] & 15, "x": number(5, 4), "y": number(9, 4)}


def run(body, kind="tofino", locals_="", **fields):
    """The fields of a packet after a body of statements."""
    (_, out), = chip(kind, body=body, locals=locals_).send(1, packet(**fields))
    return read(out)

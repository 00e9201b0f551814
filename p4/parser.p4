/* Which packets are ours: IPv4 without options to one of the switch's own addresses and a data port, of the
 * published kind and of one of its lengths. All others are frames to be switched; those of other kinds get to
 * the control process that way. */

#define BYTES(elements) (10 + 4 * elements)

parser IngressParser(packet_in pkt, out headers_t hdr, out ingress_t md,
                     out ingress_intrinsic_metadata_t intrinsic)
{
    Checksum() ipv4_checksum;
    value_set<PortId_t>(8) loops; /* ports by which packets come back for their next step */
    value_set<bit<32>>(4) own_addresses;

    state start {
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(intrinsic.ingress_port) {
            loops: again;
            default: fresh;
        }
    }

    /* Not in start: the parser of Tofino 1 ORs what `again` would assign to what is there. */
    state fresh {
        md.port = intrinsic.ingress_port;
        transition ethernet;
    }

    state ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        md.ip_bad = ipv4_checksum.verify(); /* true: wrong (docs/tofino.md, "The verdict on a checksum") */
        transition select(hdr.ipv4.version_ihl, hdr.ipv4.fragment, hdr.ipv4.protocol) {
            (0x45, 0 &&& 0xbfff, 17): addressed;
            default: accept;
        }
    }

    state addressed {
        transition select(hdr.ipv4.dst) {
            own_addresses: udp;
            default: accept;
        }
    }

    state udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            DATA_PORTS &&& 0xfff0: kind;
            default: accept;
        }
    }

    state kind {
        transition select(pkt.lookahead<bit<8>>()) {
            0x10 &&& 0xf0: length;
            default: accept;
        }
    }

    state length {
        pkt.extract(hdr.switchml);
        md.ours = 1;
        transition select(hdr.ipv4.total_length, hdr.udp.length) {
            (28 + BYTES(0), 8 + BYTES(0)): bare;
            (28 + BYTES(32), 8 + BYTES(32)): elements32;
            (28 + BYTES(64), 8 + BYTES(64)): elements64;
            (28 + BYTES(128), 8 + BYTES(128)): elements128;
            (28 + BYTES(256), 8 + BYTES(256)): elements256;
            default: bad_length;
        }
    }

    state bare {
        md.bare = 1;
        transition select(hdr.switchml.kind_size) {
            0x10 &&& 0xfc: accept;
            default: bad_length;
        }
    }

    state elements32 {
        transition select(hdr.switchml.kind_size) {
            0x10: block_b;
            default: bad_length;
        }
    }

    state elements64 {
        transition select(hdr.switchml.kind_size) {
            0x11: block_a;
            default: bad_length;
        }
    }

    state elements128 {
        transition select(hdr.switchml.kind_size) {
            0x12: block_a;
            default: bad_length;
        }
    }

    state elements256 {
        transition select(hdr.switchml.kind_size) {
            0x13: block_a;
            default: bad_length;
        }
    }

    state bad_length {
        md.reason = REASON_BAD_LENGTH;
        transition accept;
    }

    state again {
        pkt.extract(hdr.pass);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        pkt.extract(hdr.switchml);
        md.ours = 1;
        md.port = hdr.pass.port[8:0];
        md.step = hdr.pass.step;
        md.bare = hdr.pass.bare;
        md.outcome = hdr.pass.outcome;
        transition select(hdr.pass.take) {
            1: block_b;
            2: block_a;
            default: accept;
        }
    }

    state block_a {
        pkt.extract(hdr.a);
        transition block_b;
    }

    state block_b {
        pkt.extract(hdr.b);
        transition accept;
    }
}

/* Only results pass the egress pipeline; their elements are payload there. */
parser EgressParser(packet_in pkt, out headers_t hdr, out egress_t md, out egress_intrinsic_metadata_t intrinsic)
{
    state start {
        pkt.extract(intrinsic);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        pkt.extract(hdr.udp);
        transition accept;
    }
}

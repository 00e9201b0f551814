/* Everything that is not ours: an Ethernet switch that learns addresses. New ones, and those that have moved,
 * are told to the control process by a digest, which writes both tables. */

const bit<16> FLOOD_GROUP = 0xffff;
const bit<3> DIGEST_LEARN = 1;

struct learn_t {
    mac_t address;
    PortId_t port;
}

control Bridge(inout headers_t hdr, inout ingress_t md, in ingress_intrinsic_metadata_t intrinsic,
               inout ingress_intrinsic_metadata_for_deparser_t deparser,
               inout ingress_intrinsic_metadata_for_tm_t tm)
{
    action known(PortId_t port)
    {
        md.elsewhere = port ^ intrinsic.ingress_port;
    }

    /* By an operator's word, or the switch's own: where it is heard does not matter. */
    action fixed()
    {
        md.elsewhere = 0;
    }

    action unknown()
    {
        md.elsewhere = 1;
    }

    table sources {
        key = { hdr.ethernet.src : exact; }
        actions = { known; fixed; @defaultonly unknown; }
        const default_action = unknown();
        size = 4096;
    }

    action forward(PortId_t port)
    {
        tm.ucast_egress_port = port;
        tm.bypass_egress = 1;
    }

    action flood()
    {
        tm.mcast_grp_a = FLOOD_GROUP;
        tm.level1_exclusion_id = (bit<16>)intrinsic.ingress_port; /* not back to where it comes from */
        tm.bypass_egress = 1;
    }

    table destinations {
        key = { hdr.ethernet.dst : exact; }
        actions = { forward; @defaultonly flood; }
        const default_action = flood();
        size = 4096;
    }

    action drop(bit<8> reason)
    {
        deparser.drop_ctl = 1;
        md.reason = reason;
    }

    apply {
        if (hdr.ethernet.dst[47:4] == 0x0180c200000) {
            drop(REASON_LINK_LOCAL);
        } else {
            sources.apply();
            if (md.elsewhere != 0 && hdr.ethernet.src[40:40] == 0) {
                deparser.digest_type = DIGEST_LEARN;
            }
            if (destinations.apply().hit) {
                if (tm.ucast_egress_port == intrinsic.ingress_port) {
                    drop(REASON_SAME_PORT);
                }
            }
        }
    }
}

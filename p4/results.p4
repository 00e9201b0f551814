/* A result as it leaves: from the address and UDP port that the contribution was sent to, to its sender, or,
 * in a copy for all ranks, to the rank that the replication names. */

control Results(inout headers_t hdr, inout egress_t md, in egress_intrinsic_metadata_t intrinsic,
                in egress_intrinsic_metadata_from_parser_t from_parser,
                inout egress_intrinsic_metadata_for_deparser_t deparser,
                inout egress_intrinsic_metadata_for_output_port_t output)
{
    mac_t own_mac = hdr.ethernet.dst;
    address_t own_address = hdr.ipv4.dst;
    bit<16> own_port = hdr.udp.dst_port;

    action turn_round()
    {
        hdr.ethernet.dst = hdr.ethernet.src;
        hdr.ipv4.dst = hdr.ipv4.src;
        hdr.udp.dst_port = hdr.udp.src_port;
    }

    action from_us()
    {
        hdr.ethernet.src = own_mac;
        hdr.ipv4.src = own_address;
        hdr.udp.src_port = own_port;
        hdr.ipv4.tos = 0;
        hdr.ipv4.id = 0;
        hdr.ipv4.fragment = 0x4000;
        hdr.ipv4.ttl = 64;
        hdr.udp.checksum = 0;
    }

    action worker(mac_t mac, address_t address, bit<16> port)
    {
        hdr.ethernet.dst = mac;
        hdr.ipv4.dst = address;
        hdr.udp.dst_port = port;
    }

    table workers {
        key = { intrinsic.egress_rid : exact; }
        actions = { worker; @defaultonly NoAction; }
        const default_action = NoAction();
        size = 4096;
    }

    apply {
        turn_round();
        from_us();
        workers.apply();
    }
}

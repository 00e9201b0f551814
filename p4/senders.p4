/* Which job and rank a packet is from, and what its next step is to do: one lookup by source address and UDP
 * port, header, slot and step. The control process writes an entry for each step of each worker's packets,
 * and behind them, with lower priority, entries that say what was wrong with packets that have no step.
 *
 * A job's rows are an area that is as long as a power of two and begins at a multiple of it: two for each
 * slot, one for each version, for each pass of its packets. So base and offset need not be added: a row is
 * their exclusive or, which a hash computes on the way to the register. */

control Senders(inout headers_t hdr, inout ingress_t md, in ingress_intrinsic_metadata_t intrinsic)
{
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) tensor_and_packet;
    Hash<bit<16>>(HashAlgorithm_t.XOR16) skew;

    /* A contribution in a job whose chunks have running tags. The slot says what the tag's lowest bit is.
     * Bytes are moved, since a table's actions take no more than 32 bits of hashes together. */
    action tagged(row_t base, bit<8> slot_bits, bit<8> rank, bit<32> mask, bit<32> full, bit<16> group,
                  bit<8> last, bit<8> final, bit<8> next_take, PortId_t loop)
    {
        md.what = STEP_ADD;
        md.step = md.step + 1;
        md.label = hdr.switchml.tag3 ++ hdr.switchml.tag2 ++ hdr.switchml.tag1 ++ hdr.switchml.tag0[7:1] ++
                   md.bare[0:0];
        md.base = base;
        md.slot_bits = slot_bits;
        md.rank = rank;
        md.mask = mask;
        md.full = full;
        md.group = group;
        md.last = last;
        md.final = final;
        md.next_take = next_take;
        md.loop = loop;
    }

    /* The same in a job of published clients, which count tensors in the job's byte and packets from 0 on in
     * each tensor: below 2^23, for a worker's thread. */
    action labelled(row_t base, bit<8> rank, bit<32> mask, bit<32> full, bit<16> group, bit<8> last,
                    bit<8> final, bit<8> next_take, PortId_t loop)
    {
        md.what = STEP_ADD;
        md.step = md.step + 1;
        md.label = tensor_and_packet.get({hdr.switchml.job, hdr.switchml.tag2[6:0], hdr.switchml.tag1,
                                          hdr.switchml.tag0, md.bare[0:0]});
        md.base = base;
        md.rank = rank;
        md.mask = mask;
        md.full = full;
        md.group = group;
        md.last = last;
        md.final = final;
        md.next_take = next_take;
        md.loop = loop;
    }

    /* A step of a result on its way out. */
    action read(bit<8> what, row_t base, bit<16> group, bit<8> final, PortId_t loop)
    {
        md.what = what;
        md.step = md.step + 1;
        md.base = base;
        md.group = group;
        md.final = final;
        md.loop = loop;
    }

    /* The job's registers are in another pipe, to which this port leads. */
    action carry(bit<8> take, PortId_t loop)
    {
        md.what = STEP_NONE;
        md.next_take = take;
        md.loop = loop;
    }

    action refuse(bit<8> reason)
    {
        md.reason = reason;
    }

    table senders {
        key = {
            hdr.ipv4.src : ternary;
            hdr.udp.src_port : ternary;
            hdr.switchml.kind_size : ternary;
            hdr.switchml.job : ternary;
            hdr.switchml.reserved : ternary;
            hdr.switchml.slot : ternary;
            md.bare : ternary;
            md.step : ternary;
            intrinsic.ingress_port : ternary;
        }
        actions = { tagged; labelled; read; carry; refuse; }
        const default_action = refuse(REASON_UNKNOWN_JOB);
        size = 2048;
    }

    action compare()
    {
        md.skew = skew.get({hdr.switchml.tag1, hdr.switchml.tag0, hdr.switchml.ver, hdr.switchml.reserved,
                            hdr.switchml.slot});
    }

    action bias()
    {
        md.e0 = hdr.switchml.e0 ^ 0x80;
        md.e1 = hdr.switchml.e1 ^ 0x80;
    }

    apply {
        compare();
        bias();
        senders.apply();
    }
}

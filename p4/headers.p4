/* Headers on the wire, and what is known of a packet on its way through the pipeline. Byte order is the
 * network's; docs/protocol.md, "Data packets" and "Elements" (format 0). */

typedef bit<48> mac_t;
typedef bit<32> address_t;
typedef bit<16> row_t; /* of the registers: one version of one slot in one pass */
typedef bit<32> label_t; /* which chunk a packet is about, with its lowest bit set if it has no elements */

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> DATA_PORTS = 0xbee0; /* .. 0xbeef */

/* In front of a packet on its way from one pass to the next; it never leaves the switch. */
header pass_h {
    bit<8> step;    /* which of its job's steps comes next */
    bit<8> take;    /* blocks of 32 elements that this step takes: 0, 1 or 2 */
    bit<8> bare;    /* the packet has exponents only */
    bit<8> outcome; /* OUTCOME_*, once it is known */
    bit<16> port;   /* by which the packet came to the switch */
}

header ethernet_h {
    mac_t dst;
    mac_t src;
    bit<16> ethertype;
}

header ipv4_h {
    bit<8> version_ihl;
    bit<8> tos;
    bit<16> total_length;
    bit<16> id;
    bit<16> fragment; /* flags and offset */
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    address_t src;
    address_t dst;
}

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

header switchml_h {
    bit<8> kind_size; /* kind, checksum flag, size code */
    bit<8> job;
    bit<8> tag0; /* the tag travels with its lowest byte first */
    bit<8> tag1;
    bit<8> tag2;
    bit<8> tag3;
    bit<1> ver;
    bit<1> reserved;
    bit<14> slot;
    bit<8> e0; /* signed */
    bit<8> e1;
}

/* Does X for each of the numbers below 32. */
#define BELOW_12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define FROM_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) \
    X(27) X(28) X(29) X(30) X(31)
#define EACH(X) BELOW_12(X) FROM_12(X)

#define ELEMENT(i) bit<32> v##i;
header block_h {
    EACH(ELEMENT)
}
#undef ELEMENT

/* Of Tofino 2's containers of 32 bits a register can write to 48, and 64 elements are to be written. So 20 of
 * them are in two containers of 16 bits each; the compiler looks for such a way for more than half an hour. */
#if BOTH_WORDS
#define QUOTED(name) #name
#define WHOLE_A(i) @pa_container_size("ingress", QUOTED(hdr.a.v##i), 32)
#define WHOLE_B(i) @pa_container_size("ingress", QUOTED(hdr.b.v##i), 32)
#define HALVES_B(i) @pa_container_size("ingress", QUOTED(hdr.b.v##i), 16)
EACH(WHOLE_A) BELOW_12(WHOLE_B) FROM_12(HALVES_B)
#endif
struct headers_t {
    pass_h pass;
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    switchml_h switchml;
    block_h a; /* the first words of the registers; comes before b in the packet */
    block_h b; /* the second; the only one in packets of 32 elements */
}

/* What a step does to the registers of its row. */
const bit<8> STEP_NONE = 0;
const bit<8> STEP_ADD = 1;       /* a contribution */
const bit<8> STEP_READ_A = 2;    /* first words, and exponents */
const bit<8> STEP_READ_B = 3;    /* second words */
const bit<8> STEP_READ_BOTH = 4; /* both, and exponents; on Tofino 2 */
const bit<8> STEP_EXPONENTS = 5; /* exponents alone */

/* A chunk beside the newest one of its row: what the predicate of the register action says. */
const bit<16> AGE_NONE = 0; /* not asked: slot and version are not those of the tag */
const bit<16> AGE_OLDER = 1;
const bit<16> AGE_SAME = 2;
const bit<16> AGE_NEWER = 4;

const bit<8> OUTCOME_NONE = 0;
const bit<8> OUTCOME_ALL = 1;    /* complete: to every rank */
const bit<8> OUTCOME_SENDER = 2; /* complete before: to who asks */

/* What is to be done with a packet after a pass. */
const bit<8> FATE_DROP = 0;
const bit<8> FATE_ON = 1;
const bit<8> FATE_DELIVER = 2;

struct ingress_t {
    bit<8> ours; /* 1: a published packet to one of the data ports */
    bool ip_bad; /* the IPv4 header checksum is wrong; undefined if `pass` is valid */
    bit<8> bare;
    bit<8> step;
    bit<8> outcome;
    PortId_t port; /* by which it came to the switch */

    /* From the table of senders. */
    bit<8> what; /* STEP_* */
    row_t base;
    bit<8> slot_bits; /* log2 of the job's slots; 0: chunks have labels instead of running tags */
    bit<8> rank;
    bit<32> mask;     /* this rank's bit */
    bit<32> full;     /* all ranks' bits */
    bit<16> group;    /* of copies to all ranks */
    bit<8> last;      /* 1: of the steps that add */
    bit<8> final;     /* 1: of all steps */
    bit<8> next_take;
    PortId_t loop;    /* the port that leads to the next step */

    /* From the registers. */
    label_t label;
    bit<16> skew; /* low bits of tag and slot, one against the other */
    row_t row;
    bit<16> age; /* AGE_* */
    bit<8> e0;   /* so that unsigned comparison sorts them */
    bit<8> e1;
    bit<32> seen; /* ranks that had contributed before */
    bit<32> most0; /* the largest exponents so far */
    bit<32> most1;

    bit<32> after; /* ranks that have contributed now */
    bit<32> again; /* not 0: this one had contributed before */
    bit<8> complete;
    bit<8> fate;
    bit<8> reason;

    PortId_t elsewhere; /* not 0: the port differs from the one that is known of this address */
}

struct egress_t {
    bit<8> unused;
}

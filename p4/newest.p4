/* Which chunk each version of a slot is about, and the first exponent of it.
 *
 * The newest label that has come is the chunk that is being collected, or was completed last; contributions
 * of the same label belong to it, an older label is a late copy of something that is over. Labels are serial
 * numbers, but a register action compares 32 bits without wrapping around. So labels of the second and third
 * quarter are compared as unsigned numbers and those of the first and fourth as signed ones: right for all
 * packets that are late by less than a quarter of all labels.
 *
 * That slot and version are those of the tag is a matter of the table's key: the job's slots are a power of
 * two, 2^bits, and the tag's lowest bits are the slot's, the next one is the version. */

struct newest_t {
    label_t label;
    bit<32> e0;
}

#define SECOND_QUARTER 0x40000000 &&& 0xc0000000
#define THIRD_QUARTER 0x80000000 &&& 0xc0000000

/* One number of slots: tag and slot agree in the lowest bits, and the next bit is the version. */
#define SLOTS(bits, version) \
    (STEP_ADD, bits, 0, 0 &&& (2 * version - 1), SECOND_QUARTER) : among_inner(); \
    (STEP_ADD, bits, 0, 0 &&& (2 * version - 1), THIRD_QUARTER) : among_inner(); \
    (STEP_ADD, bits, 0, 0 &&& (2 * version - 1), _) : among_outer(); \
    (STEP_ADD, bits, 1, version &&& (2 * version - 1), SECOND_QUARTER) : among_inner(); \
    (STEP_ADD, bits, 1, version &&& (2 * version - 1), THIRD_QUARTER) : among_inner(); \
    (STEP_ADD, bits, 1, version &&& (2 * version - 1), _) : among_outer();

control Newest(inout headers_t hdr, inout ingress_t md)
{
    Hash<row_t>(HashAlgorithm_t.XOR16) place;
    Hash<row_t>(HashAlgorithm_t.XOR16) place_again;
    Register<newest_t, row_t>(ROWS) newest;

#if BOTH_WORDS
#define MOST_E0 , out bit<32> e0_now
#define KEEP_E0 e0_now = v.e0;
#define TAKE_E0 , md.most0
#define AGE_TYPE bit<32>
#define AGE (bit<16>)
#else
#define MOST_E0
#define KEEP_E0
#define TAKE_E0
#define AGE_TYPE bit<16>
#define AGE
#endif

    RegisterAction<newest_t, row_t, AGE_TYPE>(newest) compare_unsigned = {
        void apply(inout newest_t v, out AGE_TYPE age MOST_E0)
        {
            age = this.predicate(v.label == md.label, v.label < md.label);
            if (v.label < md.label) {
                v.label = md.label;
                v.e0 = (bit<32>)md.e0;
            } else if (v.label == md.label) {
                v.e0 = max(v.e0, (bit<32>)md.e0);
            }
            KEEP_E0
        }
    };

    RegisterAction<newest_t, row_t, AGE_TYPE>(newest) compare_signed = {
        void apply(inout newest_t v, out AGE_TYPE age MOST_E0)
        {
            age = this.predicate(v.label == md.label, (int<32>)v.label < (int<32>)md.label);
            if ((int<32>)v.label < (int<32>)md.label) {
                v.label = md.label;
                v.e0 = (bit<32>)md.e0;
            } else if (v.label == md.label) {
                v.e0 = max(v.e0, (bit<32>)md.e0);
            }
            KEEP_E0
        }
    };

    RegisterAction<newest_t, row_t, bit<32>>(newest) read_e0 = {
        void apply(inout newest_t v, out bit<32> e0)
        {
            e0 = v.e0;
        }
    };

    action among_inner()
    {
        md.age = AGE compare_unsigned.execute(
            place.get({md.base, 1w0, hdr.switchml.slot, hdr.switchml.ver}) TAKE_E0);
    }

    action among_outer()
    {
        md.age = AGE compare_signed.execute(
            place.get({md.base, 1w0, hdr.switchml.slot, hdr.switchml.ver}) TAKE_E0);
    }

    action exponent()
    {
        md.most0 = read_e0.execute(place.get({md.base, 1w0, hdr.switchml.slot, hdr.switchml.ver}));
    }

    table ages {
        key = {
            md.what : ternary;
            md.slot_bits : ternary;
            hdr.switchml.ver : ternary;
            md.skew : ternary;
            md.label : ternary; /* whole: the compiler has no name for two bits of it in the switch's API */
        }
        actions = { among_inner; among_outer; exponent; NoAction; }
        const entries = {
            (STEP_ADD, 0, _, _, SECOND_QUARTER) : among_inner();
            (STEP_ADD, 0, _, _, THIRD_QUARTER) : among_inner();
            (STEP_ADD, 0, _, _, _) : among_outer();
            SLOTS(1, 2)
            SLOTS(2, 4)
            SLOTS(3, 8)
            SLOTS(4, 16)
            SLOTS(5, 32)
            SLOTS(6, 64)
            SLOTS(7, 128)
            SLOTS(8, 256)
            SLOTS(9, 512)
            SLOTS(10, 1024)
            SLOTS(11, 2048)
            SLOTS(12, 4096)
            SLOTS(13, 8192)
            (STEP_ADD, _, _, _, _) : NoAction();
            (_, _, _, _, _) : exponent();
        }
        const default_action = NoAction();
        size = 128;
    }

    action locate()
    {
        md.row = place_again.get({md.base, 1w0, hdr.switchml.slot, hdr.switchml.ver});
    }

    apply {
        ages.apply();
        locate();
    }
}

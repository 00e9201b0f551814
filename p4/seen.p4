/* Who has contributed to each chunk, and its second exponent. A late copy does not get here. */

struct seen_t {
    bit<32> ranks;
    bit<32> e1;
}

control Seen(inout ingress_t md)
{
    Register<seen_t, row_t>(ROWS) seen;

#if BOTH_WORDS
#define MOST_E1 , out bit<32> e1_now
#define KEEP_E1 e1_now = v.e1;
#define TAKE_E1 , md.most1
#else
#define MOST_E1
#define KEEP_E1
#define TAKE_E1
#endif

    RegisterAction<seen_t, row_t, bit<32>>(seen) begin_chunk = {
        void apply(inout seen_t v, out bit<32> e1)
        {
            v.ranks = md.mask;
            v.e1 = (bit<32>)md.e1;
            e1 = v.e1;
        }
    };

    RegisterAction<seen_t, row_t, bit<32>>(seen) join_chunk = {
        void apply(inout seen_t v, out bit<32> before MOST_E1)
        {
            before = v.ranks;
            v.ranks = v.ranks | md.mask;
            v.e1 = max(v.e1, (bit<32>)md.e1);
            KEEP_E1
        }
    };

    RegisterAction<seen_t, row_t, bit<32>>(seen) read_e1 = {
        void apply(inout seen_t v, out bit<32> e1)
        {
            e1 = v.e1;
        }
    };

    action begin()
    {
        md.most1 = begin_chunk.execute(md.row);
    }

    action join()
    {
        md.seen = join_chunk.execute(md.row TAKE_E1);
    }

    action exponent()
    {
        md.most1 = read_e1.execute(md.row);
    }

    table ranks {
        key = {
            md.what : ternary;
            md.age : ternary;
        }
        actions = { begin; join; exponent; NoAction; }
        const entries = {
            (STEP_ADD, AGE_NEWER) : begin();
            (STEP_ADD, AGE_SAME) : join();
            (STEP_ADD, _) : NoAction();
            (_, _) : exponent();
        }
        const default_action = NoAction();
        size = 8;
    }

    apply {
        ranks.apply();
    }
}

/* The sums: 32 registers of two words, of which each adds two elements of a packet, modulo 2^32. A packet of
 * a rank that has contributed already reads instead: it may be answered with the sum. What happens depends on
 * what the two registers before have said, so each of the 32 has a table with the same entries. */

struct words_t {
    bit<32> a;
    bit<32> b;
}

/* This rank has contributed before. */
#define HAS(rank) (STEP_ADD, AGE_SAME, rank, (32w1 << rank) &&& (32w1 << rank)) : AGAIN();

#if BOTH_WORDS
#define RESULT out bit<32> a_now, out bit<32> b_now
#define KEEP a_now = v.a; b_now = v.b;
#define AGAIN read_both
#define LAST_WORDS(name) action name() { a = name##_words.execute(md.row, b); }
#else
#define RESULT out bit<32> now
#define KEEP now = v.b;
#define AGAIN read_b
#define LAST_WORDS(name) action name() { b = name##_words.execute(md.row); }
#endif

control Value(inout ingress_t md, inout bit<32> a, inout bit<32> b)
{
    Register<words_t, row_t>(ROWS) sums;

    RegisterAction<words_t, row_t, bit<32>>(sums) start_words = {
        void apply(inout words_t v, RESULT)
        {
            v.a = a;
            v.b = b;
            KEEP
        }
    };

    RegisterAction<words_t, row_t, bit<32>>(sums) add_words = {
        void apply(inout words_t v, RESULT)
        {
            v.a = v.a + a;
            v.b = v.b + b;
            KEEP
        }
    };

    LAST_WORDS(start)
    LAST_WORDS(add)

#if BOTH_WORDS
    RegisterAction<words_t, row_t, bit<32>>(sums) read_both_words = {
        void apply(inout words_t v, RESULT)
        {
            KEEP
        }
    };

    LAST_WORDS(read_both)
#else
    RegisterAction<words_t, row_t, bit<32>>(sums) read_a_word = {
        void apply(inout words_t v, out bit<32> now)
        {
            now = v.a;
        }
    };

    RegisterAction<words_t, row_t, bit<32>>(sums) read_b_word = {
        void apply(inout words_t v, out bit<32> now)
        {
            now = v.b;
        }
    };

    action read_a()
    {
        a = read_a_word.execute(md.row);
    }

    action read_b()
    {
        b = read_b_word.execute(md.row);
    }
#endif

    table value {
        key = {
            md.what : ternary;
            md.age : ternary;
            md.rank : ternary;
            md.seen : ternary;
        }
#if BOTH_WORDS
        actions = { start; add; read_both; NoAction; }
#else
        actions = { start; add; read_a; read_b; NoAction; }
#endif
        const entries = {
            (STEP_ADD, AGE_NEWER, _, _) : start();
            EACH(HAS)
            (STEP_ADD, AGE_SAME, _, _) : add();
#if BOTH_WORDS
            (STEP_READ_BOTH, _, _, _) : read_both();
#else
            (STEP_READ_A, _, _, _) : read_a();
            (STEP_READ_B, _, _, _) : read_b();
#endif
        }
        const default_action = NoAction();
        size = 64;
    }

    apply {
        value.apply();
    }
}

control Values(inout headers_t hdr, inout ingress_t md)
{
#define INSTANCE(i) Value() value##i;
    EACH(INSTANCE)

    apply {
#define APPLY(i) value##i.apply(md, hdr.a.v##i, hdr.b.v##i);
        EACH(APPLY)
    }
}

/* What becomes of a packet after a pass: dropped, sent on to its next step, or sent out as a result. */

control Verdict(inout headers_t hdr, inout ingress_t md,
                inout ingress_intrinsic_metadata_for_deparser_t deparser,
                inout ingress_intrinsic_metadata_for_tm_t tm)
{
    action drop(bit<8> reason)
    {
        md.fate = FATE_DROP;
        md.reason = reason;
    }

    action on()
    {
        md.fate = FATE_ON;
        md.reason = REASON_NONE;
    }

    action complete(bit<8> outcome, bit<8> reason)
    {
        md.fate = FATE_ON;
        md.outcome = outcome;
        md.reason = reason;
    }

    action complete_at_once(bit<8> outcome, bit<8> reason)
    {
        md.fate = FATE_DELIVER;
        md.outcome = outcome;
        md.reason = reason;
    }

    action deliver()
    {
        md.fate = FATE_DELIVER;
        md.reason = REASON_NONE;
    }

    table fates {
        key = {
            md.what : ternary;
            md.age : ternary;
            md.last : ternary;
            md.final : ternary;
            md.complete : ternary;
            md.again : ternary;
        }
        actions = { drop; on; complete; complete_at_once; deliver; }
        const entries = {
            (STEP_NONE, _, _, _, _, _) : on();
            (STEP_ADD, AGE_NONE, _, _, _, _) : drop(REASON_DROP_BAD_SLOT);
            (STEP_ADD, AGE_OLDER, _, _, _, _) : drop(REASON_DROP_STALE);
            (STEP_ADD, _, 0, _, _, _) : on();
            (STEP_ADD, _, _, _, 0, 0) : drop(REASON_HELD);
            (STEP_ADD, _, _, _, 0, _) : drop(REASON_DROP_DUPLICATE);
            (STEP_ADD, _, _, 0, _, 0) : complete(OUTCOME_ALL, REASON_SEND_ALL);
            (STEP_ADD, _, _, 0, _, _) : complete(OUTCOME_SENDER, REASON_SEND_ONE);
            (STEP_ADD, _, _, _, _, 0) : complete_at_once(OUTCOME_ALL, REASON_SEND_ALL);
            (STEP_ADD, _, _, _, _, _) : complete_at_once(OUTCOME_SENDER, REASON_SEND_ONE);
            (_, _, _, 0, _, _) : on();
            (_, _, _, _, _, _) : deliver();
        }
        const default_action = deliver();
        size = 16;
    }

    action count_ranks()
    {
        md.after = md.seen | md.mask;
        md.again = md.seen & md.mask;
    }

    /* Blocks of which nothing more is to be sent. Those of a sum that is being put together, last block
     * first, are payload by now, and each pass puts one more in front. */
    action keep_none()
    {
        hdr.a.setInvalid();
        hdr.b.setInvalid();
    }

    action keep_a()
    {
        hdr.a.setValid();
        hdr.b.setInvalid();
    }

    action keep_b()
    {
        hdr.a.setInvalid();
        hdr.b.setValid();
    }

    action keep_both()
    {
        hdr.a.setValid();
        hdr.b.setValid();
    }

    table blocks {
        key = {
            md.what : ternary;
            md.last : ternary;
            hdr.a.isValid() : ternary;
            hdr.b.isValid() : ternary;
        }
        actions = { keep_none; keep_a; keep_b; keep_both; NoAction; }
        const entries = {
            (STEP_NONE, _, _, _) : NoAction();
            (STEP_ADD, 0, _, _) : keep_none();
#if BOTH_WORDS
            (STEP_ADD, _, _, _) : NoAction();
#else
            (STEP_ADD, _, _, true) : keep_b();
            (STEP_ADD, _, _, false) : keep_none();
#endif
            (STEP_READ_A, _, _, _) : keep_a();
            (STEP_READ_B, _, _, _) : keep_b();
            (STEP_READ_BOTH, _, _, _) : keep_both();
        }
        const default_action = keep_none();
        size = 8;
    }

    action go_on()
    {
        hdr.pass.setValid();
        hdr.pass.step = md.step;
        hdr.pass.take = md.next_take;
        hdr.pass.bare = md.bare;
        hdr.pass.outcome = md.outcome;
        hdr.pass.port = (bit<16>)md.port;
        tm.ucast_egress_port = md.loop;
        tm.bypass_egress = 1;
    }

    action to_all()
    {
        tm.mcast_grp_a = md.group;
    }

    action to_sender()
    {
        tm.ucast_egress_port = md.port;
    }

    action finish()
    {
        hdr.pass.setInvalid();
        hdr.switchml.e0 = md.most0[7:0] ^ 0x80;
        hdr.switchml.e1 = md.most1[7:0] ^ 0x80;
    }

    apply {
        count_ranks();
        if (md.after == md.full) {
            md.complete = 1;
        }
        fates.apply();
        blocks.apply();
        if (md.fate == FATE_ON) {
            go_on();
        } else if (md.fate == FATE_DELIVER) {
            finish();
            if (md.outcome == OUTCOME_ALL) {
                to_all();
            } else {
                to_sender();
            }
        } else {
            deparser.drop_ctl = 1;
        }
    }
}

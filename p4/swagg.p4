/* The aggregation switch on a Tofino: docs/tofino.md. Read in the order of the includes. */
#include "profile.p4"
#include "headers.p4"
#include "reasons.p4"
#include "parser.p4"
#include "bridge.p4"
#include "senders.p4"
#include "newest.p4"
#include "seen.p4"
#include "values.p4"
#include "verdict.p4"
#include "results.p4"

control Ingress(inout headers_t hdr, inout ingress_t md, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t deparser,
                inout ingress_intrinsic_metadata_for_tm_t tm)
{
    Bridge() bridge;
    Senders() senders;
    Newest() newest;
    Seen() seen;
    Values() values;
    Verdict() verdict;
    Counter<bit<64>, bit<8>>(256, CounterType_t.PACKETS) reasons;
    Counter<bit<64>, bit<10>>(1024, CounterType_t.PACKETS) stale; /* REASON_DROP_STALE of each job, by the group of its copies */

    apply {
        if (md.ours == 0) {
            bridge.apply(hdr, md, intrinsic, deparser, tm);
        } else if (md.ip_bad && !hdr.pass.isValid()) { /* what comes back has no verdict, and was checked */
            md.reason = REASON_IP_CHECKSUM;
            deparser.drop_ctl = 1;
        } else if (md.reason != REASON_NONE) {
            deparser.drop_ctl = 1;
        } else {
            senders.apply(hdr, md, intrinsic);
            if (md.reason == REASON_NONE) {
                newest.apply(hdr, md);
                seen.apply(md);
                values.apply(hdr, md);
                verdict.apply(hdr, md, deparser, tm);
            } else {
                deparser.drop_ctl = 1;
            }
        }
        reasons.count(md.reason);
        if (md.reason == REASON_DROP_STALE) {
            stale.count(md.group[9:0]);
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in ingress_t md,
                        in ingress_intrinsic_metadata_for_deparser_t deparser)
{
    Digest<learn_t>() learn;

    apply {
        if (deparser.digest_type == DIGEST_LEARN) {
            learn.pack({hdr.ethernet.src, md.port});
        }
        pkt.emit(hdr);
    }
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in egress_t md,
                       in egress_intrinsic_metadata_for_deparser_t deparser)
{
    Checksum() ipv4_checksum;

    apply {
        hdr.ipv4.checksum = ipv4_checksum.update({hdr.ipv4.version_ihl, hdr.ipv4.tos, hdr.ipv4.total_length,
                                                  hdr.ipv4.id, hdr.ipv4.fragment, hdr.ipv4.ttl,
                                                  hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst});
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Results(), EgressDeparser()) pipe;

Switch(pipe) main;

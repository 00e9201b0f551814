#include "aggregate/locate.h"

enum drop locate(const struct jobs *jobs, struct work *w)
{
    const struct frame_udp *f = locate_frame(w->m);
    enum sml_parse_error e = sml_parse(&w->packet, f->payload, frame_payload_bytes(f));
    const struct job_seat *seat;

    static_assert(DROP_SML_BAD_LENGTH - DROP_SML_TOO_SHORT == SML_BAD_LENGTH - SML_TOO_SHORT,
                  "in the same order");
    if (e != SML_OK)
        return DROP_SML_TOO_SHORT + (e - SML_TOO_SHORT);
    w->job = jobs_find(jobs, w->packet.job);
    if (w->job == NULL)
        return DROP_SML_UNKNOWN_JOB;
    seat = job_seat(w->job, f->ip.src_addr, f->udp.src_port);
    if (seat == NULL)
        return DROP_SML_FOREIGN_SENDER;
    if (!net_same_mac(&seat->mac, &f->eth.src_addr))
        return DROP_SML_FOREIGN_MAC;
    w->rank = seat->rank;
    w->switch_port = f->udp.dst_port;
    w->slot = sml_pool_locate(w->job->pool, &w->packet);
    if (w->slot != NULL)
        sml_slot_prefetch(w->slot);
    return DROP_REASONS;
}

#include <inttypes.h>

#include "capture/describe.h"
#include "wire/control.h"

static void append_join(struct line *l, const struct ctl_join *j)
{
    append(l, " \"%s\", %u slots, chunks of %u bytes, data from port %u%s", j->name, j->slots, j->chunk_bytes,
           j->data_port, j->checksum == SML_CHECKSUM_NONE ? "" : " with CRC32C");
    if (j->resume)
        append(l, ", resuming job %u from tag %u", j->job, j->oldest_tag);
}

static void append_ready(struct line *l, const struct ctl_ready *r)
{
    append(l, " job %u, %u slots, chunks of %u bytes from tag %u, data to port %u", r->job, r->slots,
           r->chunk_bytes, r->first_tag, r->data_port);
    if (r->data_ports > 1)
        append(l, "..%u", r->data_port + r->data_ports - 1);
    append(l, ", lost after %u ms%s", r->lost_after_ms, r->resumed ? ", resumed" : "");
}

static void append_pending(struct line *l, const struct ctl_pending *p)
{
    char ranks[CTL_RANKS_TEXT_MAX];

    append(l, " %s %s after %u ms", p->occupied ? "occupied by" : "missing",
           ctl_ranks_text(&p->missing, ranks), p->waited_ms);
}

static void append_heartbeat(struct line *l, const struct ctl_heartbeat *h)
{
    append(l, " %u calls done, oldest tag %u", h->calls, h->oldest_tag);
    if (h->waiting)
        append(l, ", waiting, no progress for %u ms", h->stalled_ms);
}

static void append_failure(struct line *l, const struct ctl_failure *f)
{
    append(l, " %s", ctl_reason_name(f->reason));
    if (f->rank != UINT16_MAX)
        append(l, ", rank %u", f->rank);
    append(l, ": %s", f->text);
}

static void append_body(struct line *l, const struct ctl_message *m)
{
    switch (m->head.type) {
    case CTL_JOIN:
        append_join(l, &m->join);
        break;
    case CTL_READY:
        append_ready(l, &m->ready);
        break;
    case CTL_PENDING:
        append_pending(l, &m->pending);
        break;
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        append_heartbeat(l, &m->heartbeat);
        break;
    case CTL_REFUSED:
    case CTL_ABORT:
    case CTL_ABORTED:
        append_failure(l, &m->failure);
        break;
    }
}

void describe_control(struct line *l, const uint8_t *payload, size_t bytes)
{
    struct ctl_message m;

    if (ctl_parse(&m, payload, bytes) != CTL_PARSED) {
        append(l, "malformed control message of %zu bytes", bytes);
        return;
    }
    append(l, "%s rank %u of %u epoch %u serial %u", ctl_type_name(m.head.type), m.head.rank, m.head.size,
           m.head.epoch, m.head.serial);
    append_body(l, &m);
}

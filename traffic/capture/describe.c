#include "capture/describe.h"

#include <inttypes.h>

#include "protocols.h"
#include "wire/control.h"
#include "wire/path.h"

void describe_packet(struct agg_line *l, const struct agg_words *how, const struct agg_protocol *protocol,
                     const uint8_t *payload, size_t bytes)
{
    const bool may_be_probe = protocol->udp_ports.first != 0;
    struct path_answer answer;

    if (may_be_probe && path_is_question(payload, bytes))
        agg_append(l, "path probe of %zu bytes", bytes);
    else if (may_be_probe && path_parse_answer(&answer, payload, bytes))
        agg_append(l, "answer to a path probe of %zu bytes, data ports %u", bytes, answer.data_ports);
    else
        protocol->describe(l, how, payload, bytes);
}

static void append_terms(struct agg_line *l, const struct agg_terms *terms)
{
    const struct agg_protocol *protocol = agg_protocol_find(terms->protocol);
    struct agg_term list[AGG_LISTED_TERMS];
    unsigned n = protocol != NULL ? protocol->list(terms, list) : 0;

    agg_append(l, ", protocol %u%s%s", terms->protocol, protocol != NULL ? " " : "",
               protocol != NULL ? protocol->name : "");
    for (unsigned i = 0; i < n; i++)
        if (list[i].word != NULL)
            agg_append(l, ", %s %s", list[i].name, list[i].word);
        else
            agg_append(l, ", %s %u", list[i].name, list[i].number);
}

static void append_join(struct agg_line *l, const struct ctl_join *j)
{
    agg_append(l, " \"%s\", data from port %u", j->name, j->data_port);
    append_terms(l, &j->terms);
    if (j->resume)
        agg_append(l, ", resuming job %u", j->job);
    if (j->hops > 0) {
        const uint8_t *host = (const uint8_t *)&j->host, *via = (const uint8_t *)&j->via;

        agg_append(l, ", of %u.%u.%u.%u at switch %u.%u.%u.%u, passed up %u times", host[0], host[1], host[2],
                   host[3], via[0], via[1], via[2], via[3], j->hops);
    }
}

static void append_ready(struct agg_line *l, const struct ctl_ready *r)
{
    char ranks[CTL_RANKS_TEXT_MAX];

    agg_append(l, " job %u, data to port %u", r->job, r->data_port);
    if (r->data_ports > 1)
        agg_append(l, "..%u", r->data_port + r->data_ports - 1);
    append_terms(l, &r->terms);
    agg_append(l, ", lost after %u ms%s", r->lost_after_ms, r->resumed ? ", resumed" : "");
    for (unsigned i = 0; i < r->above.levels; i++)
        agg_append(l, "%s%u", i == 0 ? ", at the switches above " : " ", r->above.number[i]);
    if (ctl_ranks_count(&r->bundle) > 0)
        agg_append(l, ", one sum for %s", ctl_ranks_text(&r->bundle, ranks));
}

static void append_pending(struct agg_line *l, const struct ctl_pending *p)
{
    char ranks[CTL_RANKS_TEXT_MAX];

    if (p->preparing) {
        agg_append(l, " preparing after %u ms", p->waited_ms);
        return;
    }
    agg_append(l, " %s %s after %u ms", p->occupied ? "occupied by" : "missing",
               ctl_ranks_text(&p->missing, ranks), p->waited_ms);
}

static void append_heartbeat(struct agg_line *l, const struct ctl_heartbeat *h)
{
    agg_append(l, " %u calls done, progress %u", h->calls, h->progress);
    if (h->waiting)
        agg_append(l, ", waiting, no progress for %u ms", h->stalled_ms);
    if (h->window > 0)
        agg_append(l, ", window %u, %" PRIu64 " retransmitted, %u resumed", h->window, h->retransmitted,
                   h->resumed);
}

static void append_failure(struct agg_line *l, const struct ctl_failure *f)
{
    agg_append(l, " %s", ctl_reason_name(f->reason));
    if (f->rank != UINT16_MAX)
        agg_append(l, ", rank %u", f->rank);
    agg_append(l, ": %s", f->text);
}

static void append_body(struct agg_line *l, const struct ctl_message *m)
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

void describe_control(struct agg_line *l, struct agg_words *how, const uint8_t *payload, size_t bytes)
{
    struct ctl_message m;

    if (ctl_parse(&m, payload, bytes) != CTL_PARSED) {
        agg_append(l, "malformed control message of %zu bytes", bytes);
        return;
    }
    agg_append(l, "%s rank %u of %u epoch %u serial %u", ctl_type_name(m.head.type), m.head.rank, m.head.size,
               m.head.epoch, m.head.serial);
    append_body(l, &m);
    if (m.head.type == CTL_READY && m.ready.terms.protocol < AGG_PROTOCOL_IDS)
        how->granted[m.ready.terms.protocol][m.ready.job] = m.ready.terms;
}

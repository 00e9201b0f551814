#include "control/tell.h"
#include "control/entry.h"
#include "control/guard.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WHO_HOSTS = 3 /* that a text names */ };

static uint32_t host_of(const struct ctl_member *member)
{
    return member->hops > 0 ? member->host : member->endpoint.ip;
}

/* ", at switch 10.0.1.1 on level 2", if all of these ranks are at one switch below this one; the root is
 * level 1. */
static size_t where(const struct ctl_entry *job, const struct ctl_ranks *set, char *text, size_t room)
{
    const struct ctl_member *one = NULL;
    for (unsigned rank = 0; rank < job->size; rank++) {
        const struct ctl_member *member = &job->members[rank];
        if (!ctl_ranks_has(set, rank) || host_of(member) == 0)
            continue;
        if (one && (one->via != member->via || one->hops != member->hops))
            return 0;
        one = member;
    }
    if (!one || one->hops == 0)
        return 0;
    const uint8_t *ip = (const uint8_t *)&one->via;
    return (size_t)snprintf(text, room, ", at switch %u.%u.%u.%u on level %u", ip[0], ip[1], ip[2], ip[3],
                            one->hops + 1u);
}

const char *ctl_entry_who(const struct ctl_entry *job, const struct ctl_ranks *set, char text[CTL_WHO_MAX])
{
    char ranks[CTL_RANKS_TEXT_MAX];
    uint32_t host[WHO_HOSTS];
    unsigned hosts = 0;
    size_t used = (size_t)snprintf(text, CTL_WHO_MAX, "%s", ctl_ranks_text(set, ranks));
    for (unsigned rank = 0; rank < job->size; rank++) {
        uint32_t ip = host_of(&job->members[rank]);
        const uint8_t *b = (const uint8_t *)&ip;
        unsigned i = 0;
        if (ip == 0 || !ctl_ranks_has(set, rank))
            continue;
        while (i < hosts && host[i] != ip)
            i++;
        if (i < hosts)
            continue;
        if (hosts == WHO_HOSTS) {
            used += (size_t)snprintf(text + used, CTL_WHO_MAX - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, CTL_WHO_MAX - used, "%s%u.%u.%u.%u", hosts ? ", " : " (", b[0],
                                 b[1], b[2], b[3]);
        host[hosts++] = ip;
    }
    used += where(job, set, text + used, CTL_WHO_MAX - used);
    if (hosts > 0)
        snprintf(text + used, CTL_WHO_MAX - used, ")");
    return text;
}

const char *ctl_entry_who_is(const struct ctl_entry *job, unsigned rank, char text[CTL_WHO_MAX])
{
    struct ctl_ranks one = {0};
    ctl_ranks_add(&one, rank);
    return ctl_entry_who(job, &one, text);
}

void ctl_failure_set(struct ctl_failure *f, enum ctl_reason reason, unsigned rank, const char *format, ...)
{
    f->reason = (uint16_t)reason;
    f->rank = (uint16_t)rank;
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

void ctl_entry_event(struct ctl_registry *r, const struct ctl_entry *job, enum ctl_event_kind kind,
                     unsigned rank, const char *format, ...)
{
    char text[CTL_TEXT_MAX + 100];
    const struct ctl_event event = {.kind = kind, .text = text, .rank = (uint16_t)rank};
    if (!r->cfg.actions.event)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->cfg.actions.event(r->cfg.actions.ctx, job, &event);
}

void ctl_entry_event_ready(struct ctl_registry *r, const struct ctl_entry *job)
{
    struct agg_term list[AGG_LISTED_TERMS];
    unsigned n = job->protocol->list(&job->terms, list);
    char terms[CTL_TEXT_MAX] = "";
    size_t used = 0;
    for (unsigned i = 0; i < n && used < sizeof terms; i++)
        if (list[i].word)
            used +=
                (size_t)snprintf(terms + used, sizeof terms - used, ", %s %s", list[i].name, list[i].word);
        else
            used +=
                (size_t)snprintf(terms + used, sizeof terms - used, ", %s %u", list[i].name, list[i].number);
    ctl_entry_event(r, job, CTL_EVENT_BEGINS, CTL_NO_RANK, "%s: %u ranks, number %u, %s%s",
                    job->resumed ? "resumed" : "ready", job->size, job->number, job->protocol->name, terms);
}

void ctl_answer(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                uint32_t epoch, struct ctl_message *m)
{
    ctl_answer_as(r, to, head, epoch, m, ctl_guard_boot_id(&r->guard, r->cfg.boot_id, to));
}

void ctl_answer_as(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                   uint32_t epoch, struct ctl_message *m, uint64_t boot_id)
{
    uint8_t out[CTL_MESSAGE_MAX];
    uint8_t type = m->head.type;
    m->head = *head;
    m->head.type = type;
    m->head.version = CTL_VERSION;
    m->head.boot_id = boot_id;
    m->head.epoch = epoch;
    struct ctl_endpoint outside = *to;
    size_t bytes = ctl_guard_build(&r->guard, to, 0, m, out);
    outside.key = 0;
    r->cfg.actions.send(r->cfg.actions.ctx, &outside, out, bytes);
}

void ctl_answer_refused(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                        const char *name, const struct ctl_failure *why)
{
    struct ctl_message m = {.head.type = CTL_REFUSED, .failure = *why};
    ctl_answer(r, to, head, 0, &m);
    if (r->cfg.actions.refused != NULL)
        r->cfg.actions.refused(r->cfg.actions.ctx, to, name, why);
}

void ctl_answer_pending(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                        const struct ctl_entry *job, bool occupied, uint64_t now)
{
    struct ctl_message m = {.head.type = CTL_PENDING};
    bool complete = !occupied && job->present == job->size;
    m.pending.waited_ms = (uint32_t)((now - job->since) / CTL_MS);
    m.pending.occupied = occupied;
    m.pending.preparing = complete && job->state == CTL_ENTRY_PREPARING;
    m.pending.no_room = complete && job->state == CTL_ENTRY_FORMING;
    if (!occupied)
        m.pending.turned_away = job->turned_away;
    m.pending.missing = occupied ? ctl_entry_in_state(job, CTL_MEMBER_JOINED) : ctl_entry_missing(job);
    ctl_answer(r, to, head, job->epoch, &m);
}

void ctl_answer_unparsed(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head,
                         enum ctl_parse_error error)
{
    struct ctl_failure why;
    if (head->incarnation == 0 || !ctl_type_from_worker(head->type))
        return; /* an answer to an answer might go on for ever */
    switch (error) {
    case CTL_OTHER_VERSION:
        ctl_failure_set(&why, CTL_BAD_VERSION, head->rank,
                        "this switch speaks version %u of the control protocol, not %u", CTL_VERSION,
                        head->version);
        break;
    case CTL_BAD_TYPE:
        ctl_failure_set(&why, CTL_BAD_ARGUMENT, head->rank, "message type %u is not known here", head->type);
        break;
    case CTL_BAD_STRING:
        ctl_failure_set(&why, CTL_BAD_ARGUMENT, head->rank,
                        "a string in %s is empty, too long or not printable ASCII",
                        ctl_type_name(head->type));
        break;
    case CTL_UNKNOWN_KEY:
        ctl_failure_set(&why, CTL_BAD_KEY, head->rank,
                        "this switch does not know the key of the message (tenants: key_file in its "
                        "configuration)");
        break;
    case CTL_BAD_SEAL:
        ctl_failure_set(&why, CTL_BAD_KEY, head->rank,
                        "the message's seal is wrong: it was damaged or forged, or its address changed on "
                        "the way (NAT)");
        break;
    default:
        ctl_failure_set(&why, CTL_BAD_ARGUMENT, head->rank, "the message is too short for %s",
                        ctl_type_name(head->type));
        break;
    }
    ctl_answer_refused(r, to, head, "", &why);
}

void ctl_answer_no_place(struct ctl_registry *r, const struct ctl_endpoint *to, const struct ctl_head *head)
{
    struct ctl_message m = {.head.type = CTL_PENDING, .pending.no_room = true};
    ctl_ranks_add(&m.pending.missing, head->rank);
    ctl_answer(r, to, head, head->epoch, &m);
}

/* No more than the protocol has. */
static uint8_t data_ports(const struct ctl_registry *r, const struct agg_protocol *protocol)
{
    const unsigned has = protocol->udp_ports.last - protocol->udp_ports.first + 1u;
    return r->cfg.data_ports < has ? r->cfg.data_ports : (uint8_t)has;
}

void ctl_entry_tell(struct ctl_registry *r, const struct ctl_entry *job, unsigned rank,
                    const struct ctl_endpoint *to)
{
    const struct ctl_member *member = &job->members[rank];
    struct ctl_head about = {.incarnation = member->incarnation,
                             .rank = (uint16_t)rank,
                             .size = job->size,
                             .serial = member->serial};
    struct ctl_message m = {0};
    if (job->state == CTL_ENTRY_RUNNING) {
        m.head.type = CTL_READY;
        m.ready = (struct ctl_ready){.job = job->number,
                                     .data_port = job->protocol->udp_ports.first,
                                     .data_ports = data_ports(r, job->protocol),
                                     .nic = ctl_nic_of(member->queue_pair),
                                     .lost_after_ms = (uint32_t)(r->cfg.lost_after_ns / CTL_MS),
                                     .resumed = member->origin == CTL_RESUMES,
                                     .roster = job->roster,
                                     .terms = job->terms,
                                     .bundle = ctl_tree_bundle(job, rank),
                                     .ticket = ctl_guard_ticket(&r->guard, job, rank)};
        memcpy(m.ready.covered, job->secret, sizeof job->secret);
    } else {
        m.head.type = CTL_ABORTED;
        m.failure = job->failure;
    }
    ctl_answer(r, to, &about, job->epoch, &m);
}

static bool may_not_know(const struct ctl_entry *job, const struct ctl_member *member)
{
    if (job->state == CTL_ENTRY_RUNNING)
        return member->state == CTL_MEMBER_JOINED && !member->confirmed;
    return member->state == CTL_MEMBER_JOINED || member->state == CTL_MEMBER_LOST;
}

void ctl_entry_push(struct ctl_registry *r, const struct ctl_entry *job)
{
    for (unsigned rank = 0; rank < job->size; rank++)
        if (may_not_know(job, &job->members[rank]))
            ctl_entry_tell(r, job, rank, &job->members[rank].endpoint);
}

/* Whether two of a kind are the same, field by field: between the fields of these structs there is padding,
 * which nobody writes, so their bytes cannot be compared. */
#pragma once

#include <assert.h>
#include <string.h>

#include "control/session.h"

/* Of arrays, and of structs that have no padding. */
#define SAME_BYTES(a, b) (memcmp(&(a), &(b), sizeof(a)) == 0)
static_assert(sizeof(struct agg_terms) == 3 + AGG_TERMS_MAX, "has padding");
static_assert(sizeof(struct ctl_above) == CTL_LEVELS_MAX, "has padding");
static_assert(sizeof(struct ctl_failure) == 4 + CTL_TEXT_MAX, "has padding");

static inline bool same_head(const struct ctl_head *a, const struct ctl_head *b)
{
    return a->type == b->type && a->version == b->version && a->sealed == b->sealed &&
           a->boot_id == b->boot_id && a->incarnation == b->incarnation && a->epoch == b->epoch &&
           a->rank == b->rank && a->size == b->size && a->serial == b->serial;
}

static inline bool same_join(const struct ctl_join *a, const struct ctl_join *b)
{
    return SAME_BYTES(a->name, b->name) && a->data_port == b->data_port && a->resume == b->resume &&
           a->root_here == b->root_here && a->waited == b->waited && a->job == b->job &&
           a->roster == b->roster && SAME_BYTES(a->terms, b->terms) && SAME_BYTES(a->above, b->above) &&
           a->ticket == b->ticket && a->hops == b->hops && a->queue_pair == b->queue_pair &&
           a->host == b->host && a->via == b->via;
}

/* What all ranks of a job are told alike. Of two, one may have been READY before the switch restarted; and
 * each has its secret under a cover of its own. */
static inline bool same_granted(const struct ctl_ready *a, const struct ctl_ready *b)
{
    return a->job == b->job && a->data_port == b->data_port && a->data_ports == b->data_ports &&
           a->lost_after_ms == b->lost_after_ms && a->roster == b->roster && SAME_BYTES(a->terms, b->terms) &&
           SAME_BYTES(a->above, b->above) && SAME_BYTES(a->bundle, b->bundle);
}

static inline bool same_ready(const struct ctl_ready *a, const struct ctl_ready *b)
{
    return same_granted(a, b) && a->resumed == b->resumed && a->nic == b->nic && a->ticket == b->ticket &&
           SAME_BYTES(a->covered, b->covered);
}

static inline bool same_pending(const struct ctl_pending *a, const struct ctl_pending *b)
{
    return a->waited_ms == b->waited_ms && a->occupied == b->occupied && a->preparing == b->preparing &&
           a->no_room == b->no_room && SAME_BYTES(a->missing, b->missing);
}

static inline bool same_heartbeat(const struct ctl_heartbeat *a, const struct ctl_heartbeat *b)
{
    return a->calls == b->calls && a->waiting == b->waiting && a->stalled_ms == b->stalled_ms &&
           a->progress == b->progress && a->window == b->window && a->resumed == b->resumed &&
           a->retransmitted == b->retransmitted && a->tells_finished == b->tells_finished &&
           a->finished == b->finished;
}

static inline bool same_message(const struct ctl_message *a, const struct ctl_message *b)
{
    if (!same_head(&a->head, &b->head))
        return false;
    switch (a->head.type) {
    case CTL_JOIN:
        return same_join(&a->join, &b->join);
    case CTL_READY:
        return same_ready(&a->ready, &b->ready);
    case CTL_PENDING:
        return same_pending(&a->pending, &b->pending);
    case CTL_HEARTBEAT:
    case CTL_LEAVE:
        return same_heartbeat(&a->heartbeat, &b->heartbeat);
    case CTL_ALIVE:
        return a->alive.behind == b->alive.behind;
    case CTL_ABORT:
    case CTL_REFUSED:
    case CTL_ABORTED:
        return SAME_BYTES(a->failure, b->failure);
    }
    return true; /* the others have no body */
}

/* Of one worker: what never changes is left out. */
static inline bool same_session(const struct ctl_session *a, const struct ctl_session *b)
{
    return same_join(&a->cfg.join, &b->cfg.join) && a->state == b->state &&
           same_ready(&a->ready, &b->ready) && SAME_BYTES(a->failure, b->failure) &&
           same_pending(&a->pending, &b->pending) && SAME_BYTES(a->refusal, b->refusal) &&
           same_heartbeat(&a->heartbeat, &b->heartbeat) && a->boot_id == b->boot_id && a->epoch == b->epoch &&
           a->serial == b->serial && a->join_serial == b->join_serial && a->generation == b->generation &&
           a->started == b->started && a->heard_at == b->heard_at && a->sent_at == b->sent_at &&
           a->next_send == b->next_send && a->interval == b->interval && a->polled_at == b->polled_at &&
           a->challenge == b->challenge && a->answered == b->answered && a->unproven == b->unproven &&
           SAME_BYTES(a->hint, b->hint) && SAME_BYTES(a->secret, b->secret);
}

/* What a rank does about its sessions and links: lib/client's links.c and standby.c. */
#pragma once

#include "switches/rank.h"

enum { RANK_JOIN_WITHIN_S = 120 };

static inline uint64_t rank_now(const struct switches_rank *r)
{
    return r->world->sim.now;
}

/* For the digest. */
void rank_note(struct switches_rank *r, uint64_t what);

struct star *rank_star(const struct switches_rank *r, unsigned node);

/* Of the job that a place is, or of a kind that is named after it; and its terms. */
struct ctl_session_config rank_session_config(struct switches_rank *r, const char *kind, unsigned place,
                                              uint64_t within);
struct agg_terms rank_wish(const struct switches_rank *r, unsigned place, uint16_t slots);

/* What the session has to say now. */
void rank_send_control(struct switches_rank *r, unsigned node, struct ctl_session *session, uint16_t port);

/* The job cannot go on, which the others are told. False. */
bool rank_fail(struct switches_rank *r, enum ctl_reason reason, unsigned rank, const char *why);

void rank_see(struct switches_rank *r, struct links_seen seen[LINKS_MAX]);
void rank_move_all(struct switches_rank *r, struct links_seen seen[]);

/* The session of a place has changed. False: the rank has failed. */
bool rank_follow(struct switches_rank *r, unsigned place);

/* At look_at. */
void rank_look(struct switches_rank *r);

/* A job's links. Where several switches share its calls, each is reached by a link, and sums a place of every
 * call. A link that is silent for too long while another is not is given up, and another switch goes on with
 * its place. Once all ranks reach it again its place goes back.
 *
 * No rank knows what the others have of a place when its link goes: one may hold sums, in the place of its
 * own numbers, that another never got. That is as when a switch restarts, and so is the way on: a rank that
 * gives a link up receives nothing from there any more, and joins the job of that place at the next switch
 * that it has not given up, with the oldest chunk whose sum it lacks (agg_worker.move). When all ranks have
 * done so the switch begins with the oldest of all: whoever holds a sum hands it to the others, and only what
 * nobody holds is summed anew, by numbers that are still whole (switchml/stream.h).
 *
 * All ranks come to the same set of links that are given up, without a word of their own:
 *
 * - whoever gives up a link leaves the job at that switch: by an ABORT there, or, where that does not get
 *   through, by its silence, for which the switch takes it for lost;
 * - the switch then ends the job there, and tells the others that it has lost a rank: to them that means that
 *   the link is to be given up, as long as another is left. So it does not matter who begins, how many do,
 *   or whether a link is dead for one rank or for all;
 * - where a place goes on depends on that set alone: at the first switch behind its own, in their order, that
 *   is left. Ranks that know of different sets wait at different switches, until they know the same. The
 *   chunks of a place that moves twice are handed on twice.
 *
 * A rank that has died is lost at all switches. So links are given up until none is left, and the last says
 * which rank it was, as if it were the only one. The last link is never given up for its silence: it comes
 * back, or the call's deadline ends the job. Nor is any while all are silent: then it may be this host, or
 * what they have in common.
 *
 * A rank that does without a switch asks it again, ever more rarely the more often it was lost: it joins a
 * job there that sums nothing, the *standby*. That begins when all ranks have joined it; so whoever is in it
 * knows that the switch and all ranks reach one another, and its members hear at once, or when they are
 * silent, if that is over. It does not bring a link back: the ranks agree on that, where they agree on shares
 * (shares.h), by the name of this one standby, which is its job's epoch. They leave it when the switch sums
 * again with all of them; should it fail before, the link is given up again, or, where it is the last one, as
 * soon as there is another: some rank that does not reach this switch may wait there already.
 *
 * Back a place goes by joining its job at its own switch. That none is left at the other, a rank ends it
 * there by an ABORT that says so. Who has not heard yet what was agreed is *adrift* then: he joins nothing
 * until he has, or the agreement is none of this life's. Where no link but a standby is left, it is taken
 * without an agreement: all ranks that are told of the same loss do so. Who begins must hear the standby's
 * switch; who is told need not: the one who told has taken it, and joins nowhere else.
 *
 * These are the decisions of one rank. What it sees of its links (struct links_seen) comes with each event,
 * as it is then. Pure; now in ns, monotonic. */
#pragma once

#include "control/session.h"

enum { LINKS_MAX = 16, LINKS_NONE = LINKS_MAX };

/* Of place i and of node i, the switch by which that began. */
struct links_seen {
    unsigned node;       /* that sums the place now */
    bool joining;        /* ... once its job was joined there */
    bool answers;        /* ... and does what it is asked, with all ranks */
    uint32_t standby;    /* the name of the standby at node i; 0: there is none, or not with all ranks, or its
                            switch is silent */
    bool standby_joined; /* by all ranks, whether or not its switch is silent */
    bool standby_failed;
};

/* Whether a session's switch is silent, and whether it answers as above. joining: as above; unanswered: what
 * the place's stream has asked in vain, in a row. */
bool links_session_is_silent(const struct ctl_session *session);
enum { LINKS_UNANSWERED_MANY = 3 }; /* one or two are lost on the way */
bool links_answers(const struct ctl_session *session, bool joining, unsigned unanswered);
/* Whether the session has failed in a way that ends the job only for who calls anything more: its switch has
 * restarted, and ranks had left, or left before all were back. Of n links: with several the others tell of a
 * rank that is lost, so that one which did not come back has left, too. */
bool links_session_rests(const struct ctl_session *session, unsigned n);
/* What is seen of a standby by its session. Of a restart nobody knows who of the others has noticed it, so
 * that ends it. */
void links_see_standby(struct links_seen *seen, const struct ctl_session *session);

/* At one node. */
struct links_standby {
    bool open;
    uint64_t try_at, pause; /* ns: then the node is asked; and how much later if that fails */
};

/* Private but for reading. */
struct links {
    unsigned n;
    uint64_t timeout;      /* ns */
    uint32_t lost, adrift; /* bit i: the job does without node i; place i is adrift */
    uint32_t deserted;     /* bit i: node i is back, but its standby failed before it summed with all ranks */
    uint64_t looked_at;
    uint64_t silent[LINKS_MAX]; /* ns: for so long each node has been, while another answered */
    struct links_standby standby[LINKS_MAX];
};

void links_init(struct links *l, unsigned n, uint64_t timeout);

static inline bool links_is_lost(const struct links *l, unsigned node)
{
    return l->lost >> node & 1;
}

static inline bool links_is_adrift(const struct links *l, unsigned place)
{
    return l->adrift >> place & 1;
}

/* Who goes on with a place; LINKS_NONE: none is left. */
unsigned links_node_for(const struct links *l, unsigned place);

/* Whether the job can do without this node. */
bool links_can_spare(const struct links *l, const struct links_seen seen[], unsigned node);
/* The same of the node of a place whose session there has failed so. */
bool links_outlive_loss(const struct links *l, const struct links_seen seen[], unsigned place,
                        enum ctl_reason reason);

/* A link is not used any more; what was its standby has to be aborted, so that the others hear of it. */
void links_lose(struct links *l, unsigned node, uint64_t now);
/* The same of one that can be spared. Which node is taken back for it, or LINKS_NONE. */
unsigned links_give_up(struct links *l, const struct links_seen seen[], unsigned node, uint64_t now);

/* The job of a place has ended where it was, for others have moved it back. */
void links_set_adrift(struct links *l, unsigned place);

/* The ranks have agreed that all of them have these standbys, by node (0: none in common). Which nodes are
 * taken back, as bits. */
uint32_t links_take_back(struct links *l, const struct links_seen seen[], const uint32_t agreed[]);

/* After each of these events: whether the place is to move to the node links_node_for, from that which it is
 * at; links_moved once it has. unheard: ranks are about to hear what they have agreed on. */
bool links_moves(const struct links *l, const struct links_seen seen[], unsigned place, bool unheard);
void links_moved(struct links *l, unsigned place);

/* To be called often. A node that has been silent for too long and can be spared; LINKS_NONE: none has. */
unsigned links_silent(struct links *l, const struct links_seen seen[], uint64_t now);

/* The same: what is to be done about the standby at a node. */
enum links_deed {
    LINKS_NOTHING,
    LINKS_OPEN,    /* it: links_opened once that was tried */
    LINKS_LEAVE,   /* and close it: the switch sums again with all ranks */
    LINKS_CLOSE,   /* it has failed */
    LINKS_GIVE_UP, /* the same, and a job that has that link back must do without it, if it can be spared */
};
enum links_deed links_look_after(struct links *l, const struct links_seen seen[], unsigned node,
                                 uint64_t now);
void links_opened(struct links *l, unsigned node, bool open, uint64_t now);

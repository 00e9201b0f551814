/* The slot protocol (docs/protocol.md), against a network that does what it likes.
 *
 * N workers, S = 2 slots, PHASES chunks a slot: chunk `phase` of slot `slot` has the tag phase * S + slot and the
 * version phase % 2. Sums are not modelled as numbers but as what has gone into them.
 *
 * The network needs no state, which keeps the model small. Whatever was sent once may arrive at any later time, any
 * number of times, or never: that is loss, duplication, delay and reordering in one. What a worker can have sent follows
 * from how far it is, what the switch can have sent from what it has completed. A retransmission is a step of the
 * worker's: its packet is lost, or arrives while the answer is lost, or both arrive. Everything that arrives later than
 * that is the network's doing. When it becomes calm, retransmissions and their answers arrive; old packets still turn up.
 *
 *   -DPAPER       the paper's switch, which knows versions but no tags (algorithm 3)
 *   -DRESTARTS=r  the switch forgets everything, at most r times, and the job is resumed
 *   -DSAME_NUMBER the resumed job has the same number on the wire, so that packets from before the restart count
 *   -DLEAF=l      a tree of two switches: workers 0 to l-1 come by another one (leaf.pml), the rest is the root's own
 */
#ifndef N
#define N 2
#endif
#ifndef PHASES
#define PHASES 3
#endif
#ifndef RESTARTS
#define RESTARTS 0
#endif
#define S 2
#define ALL ((1 << N) - 1)
#define BIT(w) (1 << (w))
#define AT(w, slot) ((w) * S + (slot))
#define TAG(slot, phase) ((phase) * S + (slot))

/* Who sends to the switch, and for whom. */
#ifdef LEAF
#define BELOW (BIT(LEAF) - 1) /* the leaf's workers */
#define CONTRIBUTORS ((ALL & ~BELOW) | BIT(0))
#define STANDS_FOR(w, slot) ((w) == 0 -> came[slot] : BIT(w))
#else
#define CONTRIBUTORS ALL
#define STANDS_FOR(w, slot) BIT(w)
#endif

/* Workers. held: of how many phases of the slot the result is there; the next phase is the one asked for. */
byte held[N * S];
byte sent_from[N * S]; /* since the last restart of the switch, contributions from this phase on have been sent */

/* Switch */
byte expected[S]; /* the phase that the slot collects (the paper's: only tells which results have been sent) */
byte seen[2 * S]; /* who has contributed; by version in the paper's switch */
#ifdef PAPER
byte count[2 * S];
#endif
byte oldest[S];   /* the phase that the slot began with in this life of the switch */

/* What has gone into the sums, by version: who, and to which phase; and whether that was right. The switch cannot
 * see this. */
byte who[2 * S];
byte about[2 * S];
bool wrong[2 * S];

/* Which life of the switch has added up the result of a chunk; 0: nobody has it. In mode "on arrival" two of them may
 * differ in the order of addition, so no two ranks may hold different ones. By life: results of an earlier one may
 * still be on their way. */
byte result[(RESTARTS + 1) * S * PHASES];
byte truth[S * PHASES]; /* the one that ranks hold */
#define RESULT(life, slot, phase) result[((life) * S + (slot)) * PHASES + (phase)]
#define TRUTH(slot, phase) truth[(slot) * PHASES + (phase)]

byte life = 0;    /* restarts so far */
byte joined = ALL; /* who is in the job in this life; data flows when all are */
bool calm = false;

#define UP (joined == ALL)
#define MINE(w) (life - 1 + ((joined >> (w)) & 1)) /* the life of the switch that the worker believes in */

/* A worker may send a chunk when it holds the results of all chunks up to tag - S. */
#define ASKS(w, slot) \
    (held[AT(w, slot)] < PHASES && \
     (slot == 0 -> held[AT(w, 1)] + 1 >= held[AT(w, 0)] : held[AT(w, 0)] >= held[AT(w, 1)]))

#define DONE(w) (held[AT(w, 0)] == PHASES && held[AT(w, 1)] == PHASES)

#if N == 2
#define ALL_DONE (DONE(0) && DONE(1))
#else
#define ALL_DONE (DONE(0) && DONE(1) && DONE(2))
#endif

/* The worker has got a result. Old ones mean nothing to it. */
inline take(w, slot, phase, from)
{
    if
    :: phase == held[AT(w, slot)] && from != 0 ->
        printf("worker %d has the result of chunk %d\n", w, TAG(slot, phase));
        assert(TRUTH(slot, phase) == 0 || TRUTH(slot, phase) == from); /* no two ranks with different sums */
        TRUTH(slot, phase) = from;
        held[AT(w, slot)]++
    :: else
    fi
}

/* A contribution goes into a sum; `first`: it is the beginning of a new one. */
inline add(w, slot, phase, first)
{
    if
    :: first ->
        printf("worker %d's chunk %d begins the sum in slot %d, version %d\n", w, TAG(slot, phase), slot, phase % 2);
        about[AT(phase % 2, slot)] = phase;
        who[AT(phase % 2, slot)] = STANDS_FOR(w, slot);
        wrong[AT(phase % 2, slot)] = false
    :: else ->
        printf("worker %d's chunk %d is added in slot %d, version %d, to chunk %d of workers (bitmap) %d\n", w,
               TAG(slot, phase), slot, phase % 2, TAG(slot, about[AT(phase % 2, slot)]), who[AT(phase % 2, slot)]);
        wrong[AT(phase % 2, slot)] = wrong[AT(phase % 2, slot)] ||
                                     about[AT(phase % 2, slot)] != phase || /* a wrong chunk */
                                     (who[AT(phase % 2, slot)] & STANDS_FOR(w, slot)); /* a double add */
        who[AT(phase % 2, slot)] = who[AT(phase % 2, slot)] | STANDS_FOR(w, slot)
    fi
}

/* The sum goes out to all. */
inline complete(slot, phase)
{
    printf("the sum of chunk %d goes out\n", TAG(slot, phase));
    assert(!wrong[AT(phase % 2, slot)]);
    assert(who[AT(phase % 2, slot)] == ALL);
    RESULT(life, slot, phase) = life + 1;
    expected[slot] = phase + 1
}

#ifdef PAPER

/* Algorithm 3, line by line. */
inline contribution(w, slot, phase)
{
    if
    :: !(seen[AT(phase % 2, slot)] & BIT(w)) ->
        seen[AT(phase % 2, slot)] = seen[AT(phase % 2, slot)] | BIT(w);
        seen[AT(1 - phase % 2, slot)] = seen[AT(1 - phase % 2, slot)] & ~BIT(w);
        count[AT(phase % 2, slot)] = (count[AT(phase % 2, slot)] + 1) % N;
        add(w, slot, phase, count[AT(phase % 2, slot)] == 1);
        if
        :: count[AT(phase % 2, slot)] == 0 -> complete(slot, phase)
        :: else
        fi
    :: else /* the shadow copy is sent again, or nothing happens */
    fi
}

#else

inline contribution(w, slot, phase)
{
    if
    :: phase == expected[slot] && !(seen[slot] & BIT(w)) ->
        add(w, slot, phase, seen[slot] == 0);
        assert(!wrong[AT(phase % 2, slot)]);
        seen[slot] = seen[slot] | BIT(w);
        if
        :: seen[slot] == CONTRIBUTORS ->
            complete(slot, phase);
            seen[slot] = 0
        :: else
        fi
    :: phase + 1 == expected[slot] && expected[slot] > oldest[slot] ->
        /* The shadow copy is sent again: it must still be there, and whole. */
        assert(RESULT(life, slot, phase) != 0);
        assert(RESULT(life, slot, phase) != life + 1 ||
               (about[AT(phase % 2, slot)] == phase && who[AT(phase % 2, slot)] == ALL))
    :: else /* duplicate, stale or ahead */
    fi
}

#endif

/* The worker hands back a sum. */
inline restore(w, slot, phase)
{
    if
    :: phase == expected[slot] && expected[slot] == oldest[slot] ->
        RESULT(life, slot, phase) = TRUTH(slot, phase);
        expected[slot] = phase + 1;
        seen[slot] = 0;
        who[AT(phase % 2, slot)] = 0
    :: else
    fi
}

/* This life of the job is over: it is dead until every rank has come back. */
inline end_life(slot)
{
    life++;
    joined = 0;
    for (slot : 0 .. S - 1) {
        expected[slot] = 0;
        seen[slot] = 0;
        who[AT(0, slot)] = 0;
        who[AT(1, slot)] = 0
    }
    slot = 0
}

/* What is between a worker and the switch: nothing, or the leaf. */
#ifdef LEAF
#include "leaf.pml"
#else
#define REACHED(w) UP                                           /* its switch hears what it says */
#define COMES(w, slot) RESULT(MINE(w), slot, held[AT(w, slot)]) /* the result that its switch has sent it, or 0 */
#define arrive(w, slot, phase) contribution(w, slot, phase)     /* at its switch */
#define arrive_restored(w, slot, phase) restore(w, slot, phase)
#endif

/* What its switch has sent it comes to the worker. Other chunks' results than the next one's mean nothing to it. */
byte coming;
inline come(w, slot)
{
    coming = COMES(w, slot);
    take(w, slot, held[AT(w, slot)], coming);
    coming = 0
}

/* The worker sends again what it has no answer to. */
inline ask(w, slot)
{
    if
    :: REACHED(w) && ASKS(w, slot) ->
        if
        :: !calm
        :: arrive(w, slot, held[AT(w, slot)])
        fi;
#ifdef LEAF
        relay(w, slot);
#endif
        if
        :: !calm
        :: come(w, slot)
        fi
    :: else
    fi
}

/* It hands back what it holds of the chunks that the switch has lost. */
inline hand_back(w, slot)
{
    if
    :: UP && sent_from[AT(w, slot)] > oldest[slot] ->
        if
        :: !calm
        :: arrive_restored(w, slot, oldest[slot])
        fi
    :: else
    fi
}

proctype worker(byte w)
{
    do
    :: ALL_DONE -> break
    :: else ->
        atomic {
            ask(w, 0);
            ask(w, 1);
#if RESTARTS > 0
            hand_back(w, 0);
            hand_back(w, 1)
#endif
        }
    od
}

proctype network()
{
    byte w, slot, phase;

    do
    :: ALL_DONE -> break
    :: else ->
        atomic {
            select(w : 0 .. N - 1);
            select(slot : 0 .. S - 1);
            select(phase : 0 .. PHASES - 1);
            if
            :: REACHED(w) && phase >= sent_from[AT(w, slot)] &&
               (phase < held[AT(w, slot)] || (phase == held[AT(w, slot)] && ASKS(w, slot))) ->
                arrive(w, slot, phase)
            :: held[AT(w, slot)] < PHASES && (!(joined & BIT(w)) || UP) ->
                come(w, slot)
#if RESTARTS > 0
            :: UP && sent_from[AT(w, slot)] > oldest[slot] -> arrive_restored(w, slot, oldest[slot])
#endif
#ifdef LEAF
            :: there -> go_up(slot)
            :: there -> come_down(slot)
#elif defined(SAME_NUMBER)
            :: UP && phase < sent_from[AT(w, slot)] -> contribution(w, slot, phase)
            :: UP && life > 0 -> take(w, slot, phase, RESULT(life - 1, slot, phase))
#endif
            :: else
            fi;
            w = 0;
            slot = 0;
            phase = 0
        }
    od
}

proctype weather()
{
    calm = true
}

#if RESTARTS > 0

#define LACKS(w) \
    (TAG(0, held[AT(w, 0)]) < TAG(1, held[AT(w, 1)]) -> TAG(0, held[AT(w, 0)]) : TAG(1, held[AT(w, 1)]))
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#if N == 2
#define FIRST_TAG MIN(LACKS(0), LACKS(1))
#else
#define FIRST_TAG MIN(LACKS(0), MIN(LACKS(1), LACKS(2)))
#endif

/* The switch dies. */
proctype crash()
{
    byte slot;

    do
    :: atomic {
        life < RESTARTS && UP ->
            printf("the switch restarts\n");
            end_life(slot)
        }
    :: break
    od
}

/* Ranks come back one by one; what the dead switch had sent reaches them until then. The last one resumes the job. */
proctype rejoin(byte w)
{
    byte slot, k, first;

    do
    :: ALL_DONE -> break
    :: !(joined & BIT(w)) ->
        atomic {
            joined = joined | BIT(w);
            if
            :: UP ->
                first = FIRST_TAG;
                printf("the job is resumed from chunk %d on\n", first);
                for (slot : 0 .. S - 1) {
                    oldest[slot] = (first - slot + S - 1) / S;
                    expected[slot] = oldest[slot];
                    for (k : 0 .. N - 1) {
                        sent_from[AT(k, slot)] = held[AT(k, slot)];
                        assert(held[AT(k, slot)] <= oldest[slot] + 1) /* what is handed back is still kept */
                    }
                }
            :: else
            fi;
            slot = 0;
            k = 0;
            first = 0
        }
    od
}

#endif

init {
    byte w;

    atomic {
        run network();
#if RESTARTS > 0
        run crash();
        for (w : 0 .. N - 1) {
            run rejoin(w)
        }
#ifdef LEAF
        run leaf()
#endif
#endif
#ifdef LIVE
        run weather();
        for (w : 0 .. N - 1) {
            run worker(w)
        }
#endif
        w = 0
    }
}

#ifdef LIVE
/* Everybody completes, once the network has become calm. */
ltl completes { <> ALL_DONE }
#endif

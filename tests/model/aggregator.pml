/* One chunk of ATP (docs/protocol.md), from its workers through a switch's aggregator to the parameter server, against
 * a network that does what it likes.
 *
 * The network needs no state but which sums have left the switch: whatever was sent once may arrive at any later time,
 * any number of times, or never. A worker's packet, with RESEND or without, or its question, may meet the switch whenever
 * it likes, or, with DIRECT, the server. Others may take the aggregator while it is empty, when it is old, or when its sum was sent; the
 * switch may forget everything. Sums are not modelled as numbers but as what has gone into them.
 *
 *   -DUNCHECKED   the switch adds without a look at the rank's bit
 *   -DNAIVE       the server adds whatever brings a rank that is not in
 *   -DPROTOTYPE   the server drops a part that overlaps, as the published prototype does
 */
#ifndef N
#define N 3
#endif
#define ALL ((1 << N) - 1)
#define BIT(w) (1 << (w))
#define MEET(a, b) (((a) & (b)) != 0)
#define WITHIN(a, b) (((a) & ~(b)) == 0)

/* Switch */
#define EMPTY 0
#define OURS 1
#define ANOTHERS 2
byte owner = EMPTY;
byte seen; /* who is in the aggregator */

/* What has left it: bit `ranks` says that a sum of these ranks has. */
int left;

/* Server */
byte in, aside; /* whose contributions are in the sum, in the part aside */
byte alone;     /* whose contributions have come singly */
bool done;

bool twice; /* somebody's contribution has gone into a sum twice */

#define LEAVES(ranks) left = left | (1 << (ranks))

/* A worker's packet at the switch. */
inline meets_switch(w, resend)
{
    if
    :: owner == ANOTHERS -> LEAVES(BIT(w))
    :: owner == EMPTY && resend -> LEAVES(BIT(w))
    :: owner == EMPTY && !resend -> owner = OURS; seen = BIT(w)
    :: owner == OURS ->
        if
#ifdef UNCHECKED
        :: true -> twice = twice || MEET(seen, BIT(w)); seen = seen | BIT(w)
#else
        :: MEET(seen, BIT(w)) && !resend -> skip
        :: else -> seen = seen | BIT(w)
#endif
        fi;
        if
        :: resend -> LEAVES(seen); owner = EMPTY; seen = 0
        :: !resend -> LEAVES(seen) /* all are in it, or the others' have passed */
        :: !resend && seen != ALL -> skip
        fi
    fi
}

/* A worker's question: what there is goes on, without anything of the worker's. */
inline question_meets_switch()
{
    if
    :: owner == OURS -> LEAVES(seen); owner = EMPTY; seen = 0
    :: else -> skip
    fi
}

/* A sum of these ranks at the server. */
inline meets_server(ranks)
{
    if
    :: ranks & (ranks - 1) -> skip
    :: else -> alone = alone | (ranks)
    fi;
    if
    :: done -> skip
#ifndef PROTOTYPE
    :: !done && aside != 0 && !MEET(aside, ranks) && (aside | (ranks)) == ALL ->
        in = ALL; aside = 0
#endif
    :: else ->
        if
        :: WITHIN(ranks, in) -> skip
        :: !WITHIN(ranks, in) && WITHIN(in, ranks) -> in = ranks
        :: !WITHIN(ranks, in) && !WITHIN(in, ranks) && !MEET(in, ranks) -> in = in | (ranks)
        :: else ->
#if defined(NAIVE)
            twice = true; in = in | (ranks)
#elif !defined(PROTOTYPE)
            if
            :: aside == 0 || WITHIN(aside, ranks) -> aside = ranks
            :: else -> skip
            fi
#else
            skip
#endif
        fi;
        if
        :: WITHIN(aside, in) -> aside = 0
        :: else -> skip
        fi
    fi;
    done = in == ALL;
    assert(!(done && twice));        /* no sum is wrong */
    assert(done || alone != ALL)     /* and there is one once everybody has come */
}

active proctype world()
{
    byte w, ranks;
    do
    :: atomic {
        select(w : 0 .. N - 1);
        printf("the switch gets worker %d's packet\n", w); meets_switch(w, false)
    }
    :: atomic {
        select(w : 0 .. N - 1);
        printf("the switch gets worker %d's packet, with RESEND\n", w); meets_switch(w, true)
    }
    :: atomic { printf("the switch gets a question\n"); question_meets_switch() }
    :: atomic {
        select(w : 0 .. N - 1);
        printf("the server gets worker %d's packet\n", w); meets_server(BIT(w))
    }
    :: atomic {
        select(ranks : 1 .. ALL);
        if
        :: left & (1 << ranks) -> printf("the server gets a sum of the ranks in %d\n", ranks); meets_server(ranks)
        :: else -> skip
        fi
    }
    :: atomic { owner == EMPTY -> printf("another job takes the aggregator\n"); owner = ANOTHERS }
    :: atomic { owner == ANOTHERS -> printf("another job frees the aggregator\n"); owner = EMPTY }
    :: atomic { owner == OURS -> printf("another job takes the aggregator of ours\n"); LEAVES(seen); owner = ANOTHERS; seen = 0 }
    :: atomic { owner == OURS -> printf("the switch forgets, the result passes, or the complete sum makes room\n"); owner = EMPTY; seen = 0 }
    od
}

/* The ranks of one host that sum in memory which they share (lib/core/local/board.h), any of which may die at any step.
 *
 * N local ranks, of which ADDERS have shares, make CALLS calls of one block to BLOCKS, or small ones, which each rank adds
 * up itself. Copying, adding and a rail's sum over the hosts take two steps, between which the others go on: what is
 * being written is 0. Sums are not modelled as numbers but as the block that they are of. Other hosts are what a rail may
 * fail with.
 *
 *   -DDEATHS=n    so many ranks may die
 *   -DGIVE_UPS=n  so often a rank's time may be over while it waits, or a rail fails
 *   -DDIFFERS     a rank may call something else than the others
 *   -DHOSTS       there are other hosts: small calls go the same way as others, by one adder, and rails sum
 *   -DTOO_EARLY   an adder does not wait for the last rank
 *   -DAHEAD       a rank copies a block in without waiting for what was in its place
 *   -DONE_PLACE   there is one place for blocks and sums, not two
 *   -DUNRAILED    a share is told before its rail is done
 *   -DBLINDLY     the next block's share is added, while the rail sums, though not all ranks have copied it in
 *   -DUNCOMPARED  calls are not compared
 *   -DUNWATCHED   who waits does not see that the other is dead
 */
#ifndef N
#define N 2
#endif
#ifndef ADDERS
#define ADDERS N
#endif
#ifndef CALLS
#define CALLS 3
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef GIVE_UPS
#define GIVE_UPS 0
#endif
#ifdef ONE_PLACE
#define PLACE(block) 0
#else
#define PLACE(block) ((block) % 2)
#endif
#define AT(who, block) ((who) * 2 + PLACE(block))

#ifdef TOO_EARLY
#define AWAITED (N - 1)
#else
#define AWAITED N
#endif

/* A call: how many blocks it has; SMALL: one, which each rank adds up itself on a job's only host. */
#define SMALL 8
#define LENGTH(call) ((call) == SMALL -> 1 : (call))
#ifdef HOSTS
#define ADDS_ALONE(call) false
#define SHARERS(call) ((call) == SMALL -> 1 : ADDERS)
#else
#define ADDS_ALONE(call) ((call) == SMALL)
#define SHARERS(call) ADDERS
#endif
/* What is in a place: the block of a call that its writer has called. */
#define IS(block, call) ((call) * 16 + (block) + 1)

byte program[CALLS]; /* what all call, but for one that may differ; 0: nobody has decided */
bool differs;        /* that one has */
byte differing;      /* in this call */

/* The board. */
byte in[N], summed[N];
byte order[2 * N];
byte fault;      /* a rank, plus 1 */
byte blamed[N];  /* by whose fault this rank says that it is, plus 1; 0: a rail's, or what was called */
bool left[N];

/* The memory. */
byte area[2 * N], sums[2 * N];

/* What nobody sees. */
bool dead[N], ended[N], failed[N];
byte deaths, give_ups;

#define OVER(r) (dead[r] || ended[r])
#if N == 2
#define ALL_OVER (OVER(0) && OVER(1))
#define ALL_IN(b) (in[0] > (b) && in[1] > (b))
#else
#define ALL_OVER (OVER(0) && OVER(1) && OVER(2))
#define ALL_IN(b) (in[0] > (b) && in[1] > (b) && in[2] > (b))
#endif

/* The first of them counts. */
inline raise(about)
{
    if
    :: fault == 0 -> blamed[me] = about; fault = me + 1; printf("rank %d raises a fault about %d\n", me, about - 1)
    :: else
    fi
}

#if DEATHS > 0
#define MAY_DIE :: atomic { deaths < DEATHS -> deaths++; dead[me] = true; printf("rank %d dies\n", me); goto over }
#else
#define MAY_DIE
#endif
#define OR_FAULT :: atomic { fault != 0 -> failed[me] = true; goto over }

/* What is done in one step, unless there is a fault, or the rank dies. */
#define STEP(work) if :: atomic { fault == 0 -> work } MAY_DIE OR_FAULT fi
/* A step's second half, which no fault keeps from coming. */
#define REST(work) if :: atomic { work } MAY_DIE fi

#ifdef UNWATCHED
#define GONE(r) left[r]
#else
#define GONE(r) (dead[r] || left[r])
#endif

/* Waits until the other's counter is beyond the block. There may be a fault since this rank has looked for one. */
#define AWAIT(counter, r, b) if \
    :: atomic { fault == 0 && counter[r] > (b) -> skip } \
    :: atomic { counter[r] <= (b) && GONE(r) -> raise(r + 1); failed[me] = true; goto over } \
    :: atomic { counter[r] <= (b) && give_ups < GIVE_UPS -> give_ups++; raise(r + 1); failed[me] = true; goto over } \
    MAY_DIE OR_FAULT fi

inline copy_in(index)
{
    STEP(area[AT(me, block + index)] = 0);
    REST(area[AT(me, block + index)] = IS(block + index, call);
         if :: index == 0 -> order[me * 2 + block % 2] = call :: else fi;
         in[me] = block + index + 1;
         printf("rank %d has copied block %d in\n", me, block + index))
}

/* That all have come, and, at a call's first block, call the same. */
inline gather(b)
{
    other = 0;
    do
    :: other < AWAITED ->
        AWAIT(in, other, block + b);
#ifndef UNCOMPARED
        if
        :: atomic { b == 0 && order[other * 2 + block % 2] != call -> raise(0); failed[me] = true; goto over }
        :: else
        fi;
#endif
        other++
    :: else -> break
    od;
    other = 0
}

inline check_areas(b)
{
    other = 0;
    do
    :: other < N -> assert(area[AT(other, block + b)] == IS(block + b, call)); other++ /* what is added is whole */
    :: else -> break
    od;
    other = 0
}

inline add_share(b)
{
    STEP(check_areas(b); sums[AT(me, block + b)] = 0);
    REST(check_areas(b))
}

#ifdef BLINDLY
#define MAY_ADD(b) true
#else
#define MAY_ADD(b) ALL_IN(block + (b))
#endif

proctype rank(byte me)
{
    byte call, at, block, index, added, other, ahead;

    do
    :: at == CALLS -> break
    :: else ->
        /* local_begin: the first to come decides what is called. */
        atomic {
            if
            :: program[at] != 0
            :: program[at] == 0 -> select(call : 1 .. BLOCKS); program[at] = call
            :: program[at] == 0 -> program[at] = SMALL
            fi;
            call = program[at];
#ifdef DIFFERS
            if
            :: true
            :: !differs -> differs = true; differing = at; call = (call == 1 -> SMALL : 1)
            fi;
#endif
            index = 0; added = 0
        }
        copy_in(0);
        if
        :: LENGTH(call) == 1 && me >= SHARERS(call) && !ADDS_ALONE(call)
        :: else -> gather(0)
        fi;
        if
        :: ADDS_ALONE(call) ->
            STEP(check_areas(0)); REST(check_areas(0))
        :: else ->
            do
            :: index == LENGTH(call) -> break
            :: else ->
#ifdef AHEAD
                ahead = index + 2;
                if
                :: index == 0 && LENGTH(call) > 1 -> copy_in(1)
                :: else
                fi;
#else
                ahead = index + 1;
#endif
                if
                :: ahead < LENGTH(call) -> copy_in(ahead)
                :: else
                fi;
                if
                :: me < SHARERS(call) ->
                    if
                    :: added > index
                    :: else ->
                        if
                        :: index > 0 -> gather(index)
                        :: else
                        fi;
                        add_share(index);
                        added = index + 1
                    fi;
#ifdef HOSTS
#ifdef UNRAILED
                    summed[me] = block + index + 1;
#endif
                    /* The rail sums in place; meanwhile the next block may be added, and follows. */
                    if
                    :: atomic { added == index + 1 && added < LENGTH(call) && MAY_ADD(added) -> skip };
                        add_share(added);
                        added++
                    :: true
                    MAY_DIE OR_FAULT
                    fi;
                    if
                    :: atomic { give_ups < GIVE_UPS -> give_ups++; raise(0); failed[me] = true; goto over }
                    :: true
                    MAY_DIE
                    fi;
#endif
                    REST(sums[AT(me, block + index)] = IS(block + index, call));
                    STEP(summed[me] = block + index + 1; printf("rank %d has made its share of block %d\n", me, block + index))
                :: else
                fi;
                do
                :: other < SHARERS(call) -> AWAIT(summed, other, block + index); other++
                :: else -> break
                od;
                other = 0;
                do
                :: other < SHARERS(call) ->
                    atomic { assert(sums[AT(other, block + index)] == IS(block + index, call)) }; /* what is copied out is whole */
                    REST(assert(sums[AT(other, block + index)] == IS(block + index, call))); /* and stays so meanwhile */
                    other++
                :: else -> break
                od;
                other = 0;
                index++
            od
        fi;
        atomic {
            printf("rank %d has the sums of call %d\n", me, at);
            assert(!differs || differing != at); /* no call succeeds if others have called something else */
            block = block + LENGTH(call);
            if
            :: ADDS_ALONE(call) || me >= SHARERS(call) -> summed[me] = block
            :: else
            fi;
            at++; index = 0; added = 0
        }
    od;
over:
    atomic {
        call = 0; at = 0; block = 0; index = 0; added = 0; other = 0; ahead = 0;
        if
        :: dead[me]
        :: else -> ended[me] = true; left[me] = true
        fi;
        /* Without a reason nobody fails, and with one he names it. */
        assert(!failed[me] || fault != 0);
        assert(!failed[me] || deaths > 0 || give_ups > 0 || differs);
        assert(!failed[me] || give_ups > 0 || differs || dead[blamed[fault - 1] - 1])
    }
}

init {
    atomic {
        run rank(0); run rank(1);
#if N > 2
        run rank(2)
#endif
    }
}

/* Whoever lives comes to his end. */
active proctype watch()
{
    timeout -> assert(ALL_OVER)
}

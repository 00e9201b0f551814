/* Trees of switches (docs/protocol.md, "Trees of switches"): between workers 0 to LEAF-1 and the switch of slots.pml, which
 * is the root here, is another one. A part of slots.pml.
 *
 * The network between the two switches is as bad as everywhere. The leaf has a pool for each life of the job, which it
 * makes when all ranks are back; until then it may have that of the life before, and serve ranks that have not heard of
 * the restart. It dies as the root does. Its ranks notice and come back, and so the root ends this life of the job.
 *
 *   -DSAME_NUMBER the root gives the resumed job the number that it had: the leaf takes its late results, and it the leaf's
 *                 late sums
 *   -DTOO_EARLY   the leaf sends its sum up when the first of its ranks has come
 */
#define AT_LEAF(w) ((w) < LEAF)

byte pool = 1;     /* the leaf's last pool is that of life pool - 1 */
bool there = true; /* it has it still */
byte collects[S];  /* the phase that its slot collects */
byte came[S];      /* which of its ranks have contributed */
byte began[S];     /* the phase that the slot began with */
byte handed_down[S * PHASES]; /* which life's sum its ranks got from this pool; 0: none */

/* The pool is of the root's present life. */
#define IS_CURRENT (pool == life + 1)

#define REACHED(w) (AT_LEAF(w) -> there && pool == MINE(w) + 1 : UP)
#define HANDED_DOWN(slot, phase) handed_down[(slot) * PHASES + (phase)]
#define COMES(w, slot) \
    (AT_LEAF(w) -> (pool == MINE(w) + 1 -> HANDED_DOWN(slot, held[AT(w, slot)]) : 0) : \
                   RESULT(MINE(w), slot, held[AT(w, slot)]))

/* The job was resumed, and the slot has completed nothing since: a rank elsewhere may have handed back the sum. */
#define MAY_BE_RESTORED(slot) (pool > 1 && collects[slot] == began[slot])

#ifdef TOO_EARLY
#define GOES_UP(slot) (came[slot] != 0)
#else
#define GOES_UP(slot) (came[slot] == BELOW)
#endif

#ifdef SAME_NUMBER
#define IS_TAKEN_ABOVE (UP && (IS_CURRENT || pool == life))
#define FROM_ABOVE(slot, phase) \
    (RESULT(pool - 1, slot, phase) == 0 && pool > 1 -> RESULT(pool - 2, slot, phase) : RESULT(pool - 1, slot, phase))
#else
#define IS_TAKEN_ABOVE (UP && IS_CURRENT)
#define FROM_ABOVE(slot, phase) RESULT(pool - 1, slot, phase)
#endif

inline arrive(w, slot, phase)
{
    if
    :: AT_LEAF(w) && phase == collects[slot] && !(came[slot] & BIT(w)) ->
        printf("worker %d's chunk %d comes to the leaf\n", w, TAG(slot, phase));
        came[slot] = came[slot] | BIT(w)
    :: AT_LEAF(w) && phase + 1 == collects[slot] && collects[slot] > began[slot] ->
        assert(handed_down[slot * PHASES + phase] != 0) /* the shadow copy is sent again */
    :: !AT_LEAF(w) -> contribution(w, slot, phase)
    :: else /* duplicate, stale or ahead */
    fi
}

/* The leaf passes on what is handed back, and waits for the root's word like everybody. */
inline arrive_restored(w, slot, phase)
{
    if
    :: !AT_LEAF(w) || (there && IS_CURRENT && phase == collects[slot] && MAY_BE_RESTORED(slot)) ->
        restore(w, slot, phase)
    :: else
    fi
}

/* The leaf's sum comes to the root, as worker 0's contribution. */
inline go_up(slot)
{
    if
    :: there && GOES_UP(slot) && IS_TAKEN_ABOVE ->
        contribution(0, slot, collects[slot])
    :: else
    fi
}

/* The root's result comes to the leaf, which gives it to its ranks. */
inline come_down(slot)
{
    if
    :: there && collects[slot] < PHASES && FROM_ABOVE(slot, collects[slot]) != 0 &&
       (came[slot] == BELOW || MAY_BE_RESTORED(slot)) ->
        printf("the leaf has the result of chunk %d\n", TAG(slot, collects[slot]));
        handed_down[slot * PHASES + collects[slot]] = FROM_ABOVE(slot, collects[slot]);
        collects[slot]++;
        came[slot] = 0
    :: else
    fi
}

/* What a rank's question sets off: the sum, or a question, goes up; the answer comes down. */
inline relay(w, slot)
{
    if
    :: AT_LEAF(w) ->
        if
        :: !calm
        :: go_up(slot)
        fi;
        if
        :: !calm
        :: come_down(slot)
        fi
    :: else
    fi
}

#if RESTARTS > 0

/* All its ranks have READY. */
inline make_pool(slot, phase)
{
    printf("the leaf makes its pool\n");
    pool = life + 1;
    there = true;
    for (slot : 0 .. S - 1) {
        began[slot] = oldest[slot];
        collects[slot] = oldest[slot];
        came[slot] = 0;
        for (phase : 0 .. PHASES - 1) {
            handed_down[slot * PHASES + phase] = 0
        }
    }
    slot = 0;
    phase = 0
}

proctype leaf()
{
    byte slot, phase;

    do
    :: ALL_DONE -> break
    :: atomic { UP && !IS_CURRENT -> make_pool(slot, phase) }
    :: atomic {
        there && (life < RESTARTS || !IS_CURRENT) ->
            printf("the leaf restarts\n");
            there = false;
            for (slot : 0 .. S - 1) {
                came[slot] = 0
            }
            slot = 0
        }
    :: atomic {
        UP && IS_CURRENT && !there ->
            printf("the leaf's ranks come back: the root ends this life of the job\n");
            end_life(slot)
        }
    od
}

#endif

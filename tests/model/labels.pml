/* A static job (docs/protocol.md, "Static jobs"): published clients, whose packets bring the low bits of a tensor's
 * number, and a switch that tells from them which of a slot's chunks is new.
 *
 * N workers, two slots, TENSORS tensors, COUNT numbers for them on the wire. A tensor has a chunk in one slot or in both,
 * as it likes, so a slot may rest. A worker sends its chunks of a tensor when it has all sums of the one before. What it
 * has sent may arrive once more, or late, as long as the newest tensor that the switch has heard of is not more than LATE
 * beyond it. What is due must never be refused, and nothing else may get into a sum.
 *
 *   -DPER_SLOT    a number is compared with that of the chunk that the slot completed last, as RFC 1982 has it
 *   -DLATE=n      by default, as late as docs/correctness.md allows
 */
#ifndef N
#define N 2
#endif
#define TENSORS 10
#define COUNT 4
#define AHEAD 1
#ifndef LATE
#define LATE (COUNT - 1 - AHEAD)
#endif
#define ALL ((1 << N) - 1)
#define BIT(i) (1 << (i))
#define WIRE(tensor) ((tensor) % COUNT)

/* Which slots a tensor uses, and their versions; nothing of tensors of which no packet can arrive any more. */
byte uses[TENSORS];
byte versions[TENSORS];
byte next_version = 0; /* bit i: slot i */

/* Workers: the tensor in progress, and the slots whose sums of it are there. */
byte at[N];
byte has[N];

/* The switch. COUNT is added to tensors, so that none is negative. */
byte newest = COUNT;
byte now[2], before[2];           /* tensors as the switch takes them */
byte now_version = 0, before_version = 0, completed = 0; /* bit i: slot i */
byte seen[2];

/* What it cannot see: the tensors that they are. */
byte about[2], last[2];

#define VERSION(slot, tensor) ((versions[tensor] >> (slot)) & 1)
#define IS(label, version, slot, tensor) \
    (WIRE(label) == WIRE(tensor) && ((version >> (slot)) & 1) == VERSION(slot, tensor))
#define DUE(w, slot, tensor) ((tensor) == at[w] && (uses[tensor] & BIT(slot)) && !(has[w] & BIT(slot)))

#ifdef PER_SLOT
#define TAKEN_FOR(slot, tensor) (COUNT + (tensor))
#define IS_NEWER(slot, taken) (((taken) - before[slot] + COUNT * TENSORS) % COUNT > 0 && \
                               ((taken) - before[slot] + COUNT * TENSORS) % COUNT < COUNT / 2)
#else
#define TAKEN_FOR(slot, tensor) (newest + AHEAD - (newest + AHEAD - WIRE(tensor)) % COUNT)
#define IS_NEWER(slot, taken) ((taken) > before[slot])
#endif

inline take(w, slot)
{
    has[w] = has[w] | BIT(slot)
}

inline complete(slot)
{
    printf("the sum of tensor %d in slot %d goes out\n", about[slot], slot);
    seen[slot] = 0;
    before[slot] = now[slot];
    before_version = (before_version & ~BIT(slot)) | (now_version & BIT(slot));
    completed = completed | BIT(slot);
    last[slot] = about[slot]
}

inline add(w, slot, tensor)
{
    assert(about[slot] == tensor); /* never into another's sum */
    seen[slot] = seen[slot] | BIT(w);
    if
    :: seen[slot] == ALL -> complete(slot)
    :: else
    fi
}

inline begin(w, slot, tensor)
{
    printf("worker %d's chunk of tensor %d begins a sum in slot %d\n", w, tensor, slot);
    now[slot] = TAKEN_FOR(slot, tensor);
    now_version = (now_version & ~BIT(slot)) | (versions[tensor] & BIT(slot));
    about[slot] = tensor;
    if
    :: now[slot] > newest -> newest = now[slot]
    :: else
    fi;
    add(w, slot, tensor)
}

/* A contribution arrives, and the answer, if there is one. */
inline arrive(w, slot, tensor)
{
    if
    :: seen[slot] != 0 && IS(now[slot], now_version, slot, tensor) ->
        if
        :: seen[slot] & BIT(w) -> skip
        :: else -> add(w, slot, tensor)
        fi
    :: !(seen[slot] != 0 && IS(now[slot], now_version, slot, tensor)) && (completed & BIT(slot)) &&
       IS(before[slot], before_version, slot, tensor) ->
        if
        :: DUE(w, slot, tensor) -> assert(last[slot] == tensor); take(w, slot)
        :: else
        fi
    :: else ->
        if
        :: seen[slot] == 0 && (!(completed & BIT(slot)) ||
                               (IS_NEWER(slot, TAKEN_FOR(slot, tensor)) &&
                                ((before_version >> slot) & 1) != VERSION(slot, tensor))) ->
            begin(w, slot, tensor)
        :: else ->
            printf("worker %d's chunk of tensor %d is dropped in slot %d\n", w, tensor, slot);
            assert(!DUE(w, slot, tensor)) /* nobody waits in vain */
        fi
    fi
}

/* The first to reach a tensor decides which slots it uses. What is too old to arrive is forgotten. */
inline reach(tensor)
{
    if
    :: tensor < TENSORS && uses[tensor] == 0 ->
        if
        :: uses[tensor] = 1
        :: uses[tensor] = 2
        :: uses[tensor] = 3
        fi;
        versions[tensor] = next_version & uses[tensor];
        next_version = next_version ^ uses[tensor];
        if
        :: tensor > LATE + 2 -> uses[tensor - LATE - 3] = 0; versions[tensor - LATE - 3] = 0
        :: else
        fi
    :: else
    fi
}

active [N] proctype worker()
{
    byte slot, tensor;

    atomic { reach(at[_pid]) }
    do
    :: at[_pid] < TENSORS ->
        atomic {
            if
            :: slot = 0
            :: slot = 1
            fi;
            if
            :: DUE(_pid, slot, at[_pid]) -> tensor = at[_pid]; arrive(_pid, slot, tensor)
            :: else
            fi;
            if
            :: has[_pid] == uses[at[_pid]] -> has[_pid] = 0; at[_pid]++; reach(at[_pid])
            :: else
            fi;
            slot = 0; tensor = 0
        }
    :: else -> break
    od
}

/* What was sent before arrives late. */
active proctype network()
{
    byte w, slot, tensor;

    do
    :: atomic {
            select(w : 0 .. N - 1);
            select(slot : 0 .. 1);
            select(tensor : 0 .. TENSORS - 1);
            if
            :: tensor < at[w] && (uses[tensor] & BIT(slot)) && newest - COUNT <= tensor + LATE ->
                arrive(w, slot, tensor)
            :: else
            fi;
            w = 0; slot = 0; tensor = 0
        }
    od
}

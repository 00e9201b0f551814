#include "why.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From where on something counts. */
static const double LATE_SHARE = 0.1, /* of the time, that all wait for one rank */
    LATE_TIMES = 2,                   /* what punctual ranks are */
    MOST_OF = 0.5,                    /* of the time, or of what was late */
    LOST_SHARE = 0.001,               /* of a rank's packets */
    LOST_TIMES = 4,                   /* what others ask for once more */
    LOST_BY_ALL = 0.01,               /* of all ranks' packets */
    DROPPED_SHARE = 0.001,            /* of a job's packets, by the switch itself */
    BUSY_PERCENT = 95;                /* of an lcore that sums */
enum {
    LOST_LEAST = 5,     /* packets of a rank: fewer say nothing */
    SMALL_PACKET = 600, /* bytes of elements: in an Ethernet frame there is room for more than twice that */
};

/* Or a switch below, which sends one packet for several ranks. */
struct rank {
    int rank;                    /* the lowest of them */
    const char *address, *below; /* below: the switch of its own, which is another; "": this one */
    unsigned others;             /* that it sends for */
    double contributions, delayed_us, up, down; /* between the looks */
    double a_call;                              /* contributions, since the job began; 0: not known */
    double lost;                                /* of up and down what its link has lost */
    double window, stalled_ms;
    bool waiting;
};

struct job {
    const json_t *view;
    unsigned n;
    struct rank *rank;
    double contributions, up, down;
    double usual;   /* delay of the punctual ranks, us */
    double seconds; /* between the looks */
};

static const char *const words[WHY_CAUSES] = {
    [WHY_NOTHING] = "nothing", [WHY_NOT_BEGUN] = "not begun", [WHY_FAILED] = "failed",
    [WHY_RANK] = "rank",       [WHY_LINK] = "link",           [WHY_CPU] = "cpu",
    [WHY_SHARE] = "share",     [WHY_SLOTS] = "slots",         [WHY_MTU] = "mtu",
};

const char *why_word(enum why_cause cause)
{
    return words[cause];
}

/* --- what was seen --- */

static const json_t *view_of(const json_t *answer)
{
    return json_object_get(answer, "view");
}

static double number(const json_t *view, const char *key)
{
    return (double)json_integer_value(json_object_get(view, key));
}

/* What a counter grew by; one that counts anew has grown by nothing. */
static double growth(const json_t *now, const json_t *before, const char *key)
{
    const double is = number(now, key), was = number(before, key);

    return is > was ? is - was : 0;
}

static const json_t *row_of(const json_t *rows, double rank)
{
    const json_t *row;
    size_t i;

    json_array_foreach (rows, i, row)
        if (number(row, "rank") == rank)
            return row;
    return NULL;
}

/* What a rank keeps on its way. A heartbeat tells it of one moment, in which a loss, or a thread that got no
 * CPU, may have made it small; so the larger of both looks. */
static double window_of(const json_t *now, const json_t *before)
{
    const double is = number(now, "window"), was = number(before, "window");

    return is > was ? is : was;
}

static struct rank see_rank(const json_t *now, const json_t *before)
{
    const char *address = json_string_value(json_object_get(now, "address")),
               *below = json_string_value(json_object_get(now, "switch"));
    const double calls = number(now, "calls"); /* of its last heartbeat */
    const double contributions = growth(now, before, "contributions"),
                 asked = growth(now, before, "lost_down");

    return (struct rank){.rank = (int)number(now, "rank"),
                         .address = address == NULL ? "?" : address,
                         .below = below == NULL ? "" : below,
                         .contributions = contributions,
                         .delayed_us = growth(now, before, "delayed_us"),
                         .up = growth(now, before, "lost_up"),
                         .down =
                             asked < contributions ? asked : contributions, /* each may be asked for often */
                         .a_call = calls > 0 ? number(now, "contributions") / calls : 0,
                         .window = window_of(now, before),
                         .stalled_ms = number(now, "stalled_ms"),
                         .waiting = json_is_true(json_object_get(now, "waiting"))};
}

/* Nothing is known of ranks that come by the switch above. */
static bool is_elsewhere(const json_t *row)
{
    const char *state = json_string_value(json_object_get(row, "state"));

    return state != NULL && strcmp(state, "above") == 0;
}

/* Whether all of these ranks do. */
static bool are_elsewhere(const json_t *view, const json_t *ranks)
{
    const json_t *rows = json_object_get(view, "ranks"), *rank;
    size_t i;

    json_array_foreach (ranks, i, rank)
        if (!is_elsewhere(row_of(rows, (double)json_integer_value(rank))))
            return false;
    return true;
}

/* Counts the row for the rank whose numbers it repeats; false: it has its own. */
static bool is_sent_with(struct job *job, const json_t *row)
{
    const json_t *with = json_object_get(row, "sent_with");

    for (unsigned i = 0; with != NULL && i < job->n; i++)
        job->rank[i].others += job->rank[i].rank == json_integer_value(with);
    return with != NULL;
}

/* To be released: job.rank. */
static struct job see(const struct why_look *before, const struct why_look *now)
{
    const json_t *rows = json_object_get(view_of(now->ranks), "ranks"),
                 *rows_before = json_object_get(view_of(before->ranks), "ranks"), *row;
    struct job job = {.view = view_of(now->job),
                      .rank = calloc(json_array_size(rows) + 1, sizeof(*job.rank))};
    size_t i;

    json_array_foreach (rows, i, row) {
        const json_t *was = row_of(rows_before, number(row, "rank"));

        if (was == NULL || job.rank == NULL || is_elsewhere(row) || is_sent_with(&job, row))
            continue; /* nothing is known of its growth */
        job.rank[job.n] = see_rank(row, was);
        job.contributions += job.rank[job.n].contributions;
        job.up += job.rank[job.n].up;
        job.down += job.rank[job.n].down;
        job.n++;
    }
    return job;
}

/* --- what it may be, one after another; true: it is said --- */

__attribute__((format(printf, 3, 4))) static bool say(struct why *why, enum why_cause cause,
                                                      const char *format, ...)
{
    va_list args;

    why->cause = cause;
    va_start(args, format);
    vsnprintf(why->text, sizeof(why->text), format, args);
    va_end(args);
    return true;
}

/* "rank 3 (10.77.0.4:37713)" */
static const char *name_of(char text[WHY_TODO_MAX], const struct rank *r)
{
    if (r->below[0] == '\0')
        snprintf(text, WHY_TODO_MAX, "rank %d (%s)", r->rank, r->address);
    else
        snprintf(text, WHY_TODO_MAX, "the switch below that sends for rank %d (at %s) and %u more", r->rank,
                 r->below, r->others);
    return text;
}

static void advise(struct why *why, const char *todo)
{
    snprintf(why->todo, sizeof(why->todo), "%s", todo);
}

/* "2, 5 and 3 more" */
static const char *list_ranks(char text[WHY_TODO_MAX], const json_t *ranks)
{
    size_t i, used = 0;
    const json_t *rank;

    text[0] = '\0';
    json_array_foreach (ranks, i, rank) {
        if (i == 8)
            break;
        used += (size_t)snprintf(text + used, WHY_TODO_MAX - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)json_integer_value(rank));
    }
    if (json_array_size(ranks) > 8)
        snprintf(text + used, WHY_TODO_MAX - used, " and %zu more", json_array_size(ranks) - 8);
    return text;
}

static bool does_not_run(struct why *why, const struct job *job)
{
    const char *state = json_string_value(json_object_get(job->view, "state"));
    const char *failure = json_string_value(json_object_get(job->view, "failure"));
    const json_t *missing = json_object_get(job->view, "missing");
    char list[WHY_TODO_MAX];

    if (state == NULL || strcmp(state, "running") == 0)
        return false;
    if (failure != NULL)
        return say(why, WHY_FAILED, "the job has failed: %s", failure);
    say(why, WHY_NOT_BEGUN, "the job is %s for %.0f s: %.0f of %.0f ranks are there; missing: %s", state,
        number(job->view, "in_state_ms") / 1000, number(job->view, "present"), number(job->view, "size"),
        json_array_size(missing) == 0 ? "none" : list_ranks(list, missing));
    advise(why, "start these ranks, or look whether their packets come: swaggctl fdb, swaggctl drops");
    return true;
}

static const struct rank *longest_stalled(const struct job *job)
{
    const struct rank *of = NULL;

    for (const struct rank *r = job->rank; r < job->rank + job->n; r++)
        if (r->waiting && (of == NULL || r->stalled_ms > of->stalled_ms))
            of = r;
    return of;
}

/* Of some protocols, and without pool.delays, nobody counts what comes from which rank. */
static bool is_not_noted(struct why *why, const struct job *job)
{
    return json_object_get(job->view, "contributions") == NULL &&
           say(why, WHY_NOTHING,
               "the switch does not note what comes from this job's ranks (its protocol, or pool.delays): "
               "what slows it cannot be told");
}

/* Nothing has come, though somebody waits. */
static bool stands_still(struct why *why, const struct job *job, const struct why_look *now)
{
    const json_t *awaited = json_object_get(job->view, "waits_for");
    const struct rank *waiting = longest_stalled(job);
    char list[WHY_TODO_MAX], since[32] = "meanwhile", above[64] = "";

    if (job->contributions > 0)
        return false;
    if (json_array_size(awaited) == 0)
        return say(why, WHY_NOTHING, "no call is in progress: the switch has nothing to sum");
    why->rank = (int)json_integer_value(json_array_get(awaited, 0));
    if (waiting != NULL && waiting->stalled_ms > 0)
        snprintf(since, sizeof(since), "for %.1f s", waiting->stalled_ms / 1000);
    if (are_elsewhere(view_of(now->ranks), awaited))
        snprintf(above, sizeof(above), " by the switch above (%s)",
                 json_string_value(json_object_get(job->view, "parent")));
    say(why, WHY_RANK, "all wait for rank%s %s, and nothing has come%s %s",
        json_array_size(awaited) == 1 ? "" : "s", list_ranks(list, awaited), above, since);
    advise(why,
           above[0] == '\0'
               ? "look at the processes of these ranks: do they compute, are they stopped, have they ended?"
               : "ask that switch, which knows more of these ranks; and look at the way to it: swaggctl "
                 "uplinks (heard_ms_ago), swaggctl ports");
    return true;
}

/* The switch drops frames that it has no time, or no room for. */
static bool is_dropped(struct why *why, const struct job *job, const struct why_look *before,
                       const struct why_look *now)
{
    static const struct {
        const char *reason;
        enum why_cause cause;
        const char *meaning, *todo;
    } drops[] = {
        {"over_share", WHY_SHARE, "other jobs have their part of a busy switch, and this one's is used up",
         "give its tenant more weight (tenants.weight), or the switch more threads (lcores)"},
        {"ring_full", WHY_CPU, "a thread of the switch does not keep up with another",
         "give the switch more threads (lcores), or CPUs of their own"},
        {"rx_missed", WHY_CPU, "a port had frames that no thread fetched in time",
         "give the switch more threads (lcores), or CPUs of their own"},
        {"no_mbuf", WHY_CPU, "there were no packet buffers left", "more memory.megabytes, or less ecn_above"},
    };
    const json_t *is = view_of(now->drops), *was = view_of(before->drops);

    for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
        const double n = growth(is, was, drops[i].reason);

        if (n <= DROPPED_SHARE * job->contributions ||
            (drops[i].cause == WHY_SHARE && job->up + job->down == 0))
            continue; /* few, or another job's: drops are counted of all together */
        say(why, drops[i].cause, "the switch has dropped %.0f frames (%s): %s", n, drops[i].reason,
            drops[i].meaning);
        advise(why, drops[i].todo);
        return true;
    }
    return false;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What is told of each rank, the least first; to be freed. NULL: no memory, or no ranks. */
static double *sorted(const struct job *job, double (*told)(const struct rank *r))
{
    double *of = job->n == 0 ? NULL : malloc(job->n * sizeof(*of));

    for (unsigned i = 0; of != NULL && i < job->n; i++)
        of[i] = told(&job->rank[i]);
    if (of != NULL)
        qsort(of, job->n, sizeof(*of), by_size);
    return of;
}

/* --- losses --- */

static double up_share(const struct rank *r)
{
    return r->contributions > 0 ? r->up / (r->contributions + r->up) : 0;
}

static double down_share(const struct rank *r)
{
    return r->contributions > 0 ? r->down / (r->contributions + r->up) : 0;
}

/* What ranks' links have lost. A contribution that the rank says it has sent, and that has not come, is lost.
 * A result that it asks for once more may also be on its way yet: so ask all ranks where results are late,
 * because there are few slots, or because they wait for somebody, or for a CPU. Hence these count where the
 * rank asks for many more than half of the others do, or where those ask for so many that no delay explains
 * it. */
static void note_losses(struct job *job)
{
    double *shares = sorted(job, down_share);
    const unsigned middle = job->n < 2 ? 0 : (job->n - 2) / 2; /* of the others */

    for (struct rank *r = job->rank; shares != NULL && r < job->rank + job->n; r++) {
        const double own = down_share(r), others = job->n < 2 ? 0 : shares[middle + (own <= shares[middle])];

        r->lost = r->up + (own >= LOST_TIMES * others || others >= LOST_BY_ALL ? r->down : 0);
    }
    free(shares);
}

static double lost_share(const struct rank *r)
{
    return r->contributions > 0 ? r->lost / (r->contributions + r->up) : 0;
}

/* The rank whose link loses most; NULL: none loses what counts. */
static const struct rank *lossiest_of(const struct job *job)
{
    const struct rank *worst = NULL;

    for (const struct rank *r = job->rank; r < job->rank + job->n; r++)
        if (r->lost >= LOST_LEAST && lost_share(r) >= LOST_SHARE &&
            (worst == NULL || lost_share(r) > lost_share(worst)))
            worst = r;
    return worst;
}

static bool is_lost(struct why *why, const struct job *job, const struct rank *lossiest)
{
    char name[WHY_TODO_MAX];

    if (lossiest == NULL)
        return false;
    why->rank = lossiest->rank;
    say(why, WHY_LINK,
        "the link of %s loses packets: %.2f %% of those to this switch, %.2f %% of those from it, "
        "where the whole job loses %.2f %%",
        name_of(name, lossiest), 100 * up_share(lossiest), 100 * down_share(lossiest),
        100 * (job->up + job->down) / (job->contributions + job->up));
    advise(
        why,
        lossiest->below[0] == '\0'
            ? "look at cable, card and switches between: ethtool -S on that host, swaggctl port of its port"
            : "look at the cable between the two switches: swaggctl port of its port, here and there");
    return true;
}

/* --- who is late --- */

static double delay_of(const struct rank *r)
{
    return r->delayed_us;
}

/* What the punctual ranks are late: that of which a quarter is less late. */
static double usual_delay(const struct job *job)
{
    double *delays = sorted(job, delay_of);
    const double usual = delays == NULL ? 0 : delays[(job->n - 1) / 4];

    free(delays);
    return usual;
}

/* How many of a rank's chunks wait at once for it: as many as are on their way, but no more than a call has.
 */
static double at_once(const struct rank *r)
{
    const double window = r->window > 0 ? r->window : r->contributions,
                 n = r->a_call > 0 && r->a_call < window ? r->a_call : window;

    return n > 1 ? n : 1;
}

/* For which part of the time all have waited for a rank, beside the punctual ones. */
static double waited(const struct job *job, const struct rank *r)
{
    const double part = (r->delayed_us - job->usual) / at_once(r) / 1e6 / job->seconds;

    return r->delayed_us < LATE_TIMES * job->usual ? 0 : part < 1 ? part : 1;
}

/* The rank that has held up the others for longest; NULL: none for a part of the time that counts. */
static const struct rank *latest_of(const struct job *job)
{
    const struct rank *latest = NULL;

    for (const struct rank *r = job->rank; r < job->rank + job->n; r++)
        if (waited(job, r) >= LATE_SHARE && (latest == NULL || r->delayed_us > latest->delayed_us))
            latest = r;
    return latest;
}

static bool is_late(struct why *why, const struct job *job, const struct rank *latest)
{
    char name[WHY_TODO_MAX];

    if (latest == NULL)
        return false;
    why->rank = latest->rank;
    say(why, WHY_RANK,
        "%s comes late: others wait for it about %.0f %% of the time; its contributions are %.1f "
        "ms later than the first one's on average",
        name_of(name, latest), 100 * waited(job, latest), latest->delayed_us / latest->contributions / 1000);
    advise(why, latest->below[0] == '\0'
                    ? "look at what that rank does between calls: more work than others, a "
                      "slower or shared CPU, a disk"
                    : "ask that switch: it knows which of its ranks is late");
    return true;
}

static bool lacks_slots(struct why *why, const struct job *job)
{
    const double slots = number(job->view, "slots");
    bool all = job->n > 0 && slots > 0;

    for (const struct rank *r = job->rank; r < job->rank + job->n; r++)
        all &= r->window >= slots;
    if (!all)
        return false;
    say(why, WHY_SLOTS,
        "all %.0f slots of the job are on their way at every rank: there would be more in flight with more "
        "of them",
        slots);
    advise(why, "raise pool.slots_per_job (and pool.megabytes), or what the job asks for");
    return true;
}

static bool is_busy(struct why *why, const struct why_look *now)
{
    const json_t *rows = json_object_get(view_of(now->lcores), "lcores"), *row;
    size_t i;

    json_array_foreach (rows, i, row) {
        if (number(row, "shards") == 0 || number(row, "busy_percent") < BUSY_PERCENT)
            continue;
        say(why, WHY_CPU, "lcore %.0f of the switch (CPU %.0f), which sums, is busy %.0f %% of the time",
            number(row, "lcore"), number(row, "cpu"), number(row, "busy_percent"));
        advise(why, "give the switch more threads that sum (lcores), or CPUs of their own");
        return true;
    }
    return false;
}

static bool has_small_packets(struct why *why, const struct job *job)
{
    const double chunk = number(job->view, "chunk_bytes");

    if (chunk == 0 || chunk > SMALL_PACKET)
        return false;
    say(why, WHY_MTU, "its packets carry %.0f bytes of elements: the path to some rank takes no longer ones",
        chunk);
    advise(why,
           "raise the MTU of hosts, of switches between, and of this one (mtu); or what the job asks for");
    return true;
}

/* Whether what a rank's link has lost may be why it is late: a loss holds up what is on its way with it, and
 * no more. */
static bool is_late_for_losses(const struct rank *r)
{
    return r->lost * at_once(r) >= MOST_OF * r->contributions;
}

/* All that holds up a job that runs, what costs most first, as far as that can be told. Who is waited for
 * most of the time costs most. More slots would hide most of the rest, where all are on their way. A loss
 * costs two round trips of one slot; it also makes ranks late, which late ranks do not do to links. What is
 * said of a link is not said again of its rank, if that may be late for the losses, or is little late. */
static size_t find_causes(struct why whys[WHY_MOST], const struct job *job, const struct why_look *before,
                          const struct why_look *now)
{
    const struct rank *latest = latest_of(job), *lossiest = lossiest_of(job);
    bool mostly;
    size_t n = 0;

    if (latest != NULL && latest == lossiest && (waited(job, latest) < MOST_OF || is_late_for_losses(latest)))
        latest = NULL;
    mostly = latest != NULL && waited(job, latest) >= MOST_OF;
    n += is_dropped(&whys[n], job, before, now);
    n += mostly && is_late(&whys[n], job, latest);
    n += lacks_slots(&whys[n], job);
    n += is_lost(&whys[n], job, lossiest);
    n += !mostly && is_late(&whys[n], job, latest);
    n += is_busy(&whys[n], now);
    n += has_small_packets(&whys[n], job);
    return n;
}

size_t why_decide(struct why whys[WHY_MOST], const struct why_look *before, const struct why_look *now,
                  double seconds)
{
    struct job job = see(before, now);
    size_t n = 1;

    job.seconds = seconds;
    job.usual = usual_delay(&job);
    note_losses(&job);
    for (size_t i = 0; i < WHY_MOST; i++)
        whys[i] = (struct why){.rank = -1};
    if (!does_not_run(whys, &job) && !is_not_noted(whys, &job) && !stands_still(whys, &job, now))
        n = find_causes(whys, &job, before, now);
    if (n == 0)
        n = say(whys, WHY_NOTHING,
                "nothing holds it up: %.0f packets of its ranks were summed in %.1f s, none is late, "
                "lost or dropped",
                job.contributions, seconds);
    free(job.rank);
    return n;
}

/* For how long a job's calls have waited for which ranks, as far as this rank can know: the switch's answers
 * to its probes name the ranks whose part of the oldest chunk is missing. What is charged to a rank is the
 * time during which nothing came and that rank was missing; if several were, to each. Not charged is the
 * first round trip, which an answer takes in any case, and a wait that was over before the first answer: one
 * of some three round trips. The last answer before the end of a wait may be older than its second half, by
 * the timer's back-off; then the ranks that it names are charged for all of the rest.
 *
 * No clock: `now` in ns. waits_begin and waits_note are for one thread at a time; any thread may read. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct waits {
    unsigned ranks;
    uint64_t progress;   /* when the newest result came that is accounted for */
    uint64_t since;      /* until then all is accounted for */
    uint64_t round_trip; /* that an answer takes in any case */
    uint16_t *missing;   /* [ranks]: so many of them were missing at last */
    unsigned missing_count;
    pthread_mutex_t lock;
    /* under the lock */
    uint64_t total;     /* ns during which any rank was missing */
    uint64_t *for_rank; /* [ranks] */
};

/* Returns 0 or -ENOMEM; waits_close follows in any case. That of one that is all zero does nothing. */
int waits_open(struct waits *w, unsigned ranks);
void waits_close(struct waits *w);

/* A call begins, or a switch that has restarted is asked anew: nobody is known to be missing. The newest
 * result came at `progress`, and a wait since then counts from now on. */
void waits_begin(struct waits *w, uint64_t round_trip, uint64_t progress, uint64_t now);

/* Something has come, or time has passed, in a call: the newest result came at `progress`, and since the
 * switch's last answer these ranks are missing (n: how many; 0: none, or it has not answered). */
void waits_note(struct waits *w, uint64_t progress, const uint16_t missing[], unsigned n, uint64_t now);

/* ns, since waits_open, during which any rank was missing. */
uint64_t waits_total(struct waits *w);

/* The same for each rank, for_rank[0..n-1]; ranks that there are not become 0. */
void waits_read(struct waits *w, uint64_t for_rank[], unsigned n);

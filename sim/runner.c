#include "runner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "switchml/reasons.h"

/* What a child process shows its parent, in memory that they share. */
struct child {
    uint64_t seed; /* being played */
    struct runner_tally tally;
};

static void add(struct runner_tally *sum, const struct runner_tally *t)
{
    const uint64_t *from = (const uint64_t *)t;
    uint64_t *to = (uint64_t *)sum;

    for (size_t i = 0; i < sizeof(*t) / sizeof(*from); i++)
        to[i] += from[i];
}

static void play(struct runner_tally *t, uint64_t seed, bool chip)
{
    const struct world_result r = world_play(seed, chip, NULL);
    const struct runner_tally one = {.scenarios = 1,
                                     .benign = r.benign,
                                     .paper = r.paper,
                                     .failed = r.failed,
                                     .many = r.parts.many,
                                     .tenants = r.parts.tenants,
                                     .forgers = r.parts.forger,
                                     .fixed = r.parts.fixed,
                                     .operated = r.parts.operated,
                                     .quorums = r.parts.quorum,
                                     .nics = r.parts.nics,
                                     .sum = r.n};

    add(t, &one);
    if (r.failed) {
        printf("seed %" PRIu64 ": %s\n  replay: swagg-sim run --seed %" PRIu64 " --trace\n", seed, r.text,
               seed);
        fflush(stdout);
    }
}

static void work(const struct runner_config *cfg, struct child *self, unsigned index)
{
    for (uint64_t i = index; i < cfg->count; i += cfg->jobs) {
        self->seed = cfg->first + i;
        play(&self->tally, self->seed, cfg->chip);
    }
}

static void collect(struct runner_tally *t, const struct child *child, int status)
{
    add(t, &child->tally);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return;
    t->crashed++;
    printf("seed %" PRIu64 ": the simulation ended with status %#x\n  replay: swagg-sim run --seed %" PRIu64
           " --trace\n",
           child->seed, (unsigned)status, child->seed);
}

static pid_t start(const struct runner_config *cfg, struct child *child, unsigned index)
{
    pid_t pid = fork();

    if (pid < 0)
        sim_die("cannot fork");
    if (pid == 0) {
        work(cfg, child, index);
        fflush(stdout);
        _exit(0);
    }
    return pid;
}

struct runner_tally runner_run(const struct runner_config *cfg)
{
    struct runner_tally tally = {0};
    pid_t *pids = memory_of(cfg->jobs * sizeof(*pids));
    size_t bytes = cfg->jobs * sizeof(struct child);
    struct child *children = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (children == MAP_FAILED)
        sim_die("no shared memory");
    fflush(stdout);
    for (unsigned i = 0; i < cfg->jobs; i++)
        pids[i] = start(cfg, &children[i], i);
    for (unsigned i = 0; i < cfg->jobs; i++) {
        int status = 0;
        if (waitpid(pids[i], &status, 0) < 0)
            sim_die("cannot wait");
        collect(&tally, &children[i], status);
    }
    free(pids);
    munmap(children, bytes);
    return tally;
}

void runner_print(const struct runner_tally *t, double seconds)
{
    const struct world_counts *s = &t->sum;

    printf("%" PRIu64 " scenarios (%" PRIu64 " benign, %" PRIu64 " with the paper's switch), %" PRIu64
           " failed, %" PRIu64 " crashed; %.1f hours simulated in %.1f s\n",
           t->scenarios, t->benign, t->paper, t->failed, t->crashed, (double)s->simulated_ns / 3.6e12,
           seconds);
    printf("  jobs: %" PRIu64 " came to their end, %" PRIu64 " failed on all ranks alike; %" PRIu64
           " calls had their exact sum\n",
           s->oracle.formations_well, s->oracle.formations_failed, s->oracle.calls_succeeded);
    printf("  faults:");
    for (unsigned i = 0; i < FAULTS; i++)
        printf("%s %" PRIu64 " x %s", i ? "," : "", s->faults[i], fault_names[i]);
    printf("; %" PRIu64 " messages of strangers, and %" PRIu64 " of floods", s->strangers, s->flooded);
    printf("\n  in %" PRIu64 " scenarios a job of 65 or 200 ranks; in %" PRIu64 " tenants: %" PRIu64
           " refusals, %" PRIu64 " frames waited for their turns and %" PRIu64 " found no place",
           t->many, t->tenants, s->refused, s->waited, s->over_share);
    printf("\n  in %" PRIu64 " a forger: %" PRIu64 " messages; in %" PRIu64 " an operator: %" PRIu64
           " jobs; in %" PRIu64 " a static job: %" PRIu64 " tensors had their exact sum",
           t->forgers, s->forged, t->operated, s->operated, t->fixed, s->tensors);
    printf("\n  in %" PRIu64 " quorums: of %" PRIu64 " chunks %" PRIu64
           " had the exact sum of some ranks, %" PRIu64
           " could not be had any more by a rank, which was in %" PRIu64 " of these",
           t->quorums, s->oracle.parts, s->oracle.parts_partial, s->oracle.parts_missed,
           s->oracle.parts_missed_in);
    printf("\n  in %" PRIu64 " NICs: switches got %" PRIu64 " of their packets, %" PRIu64
           " in messages of several",
           t->nics, s->heard.sends, s->heard.together);
    printf("\n  frames: %" PRIu64 ", lost %" PRIu64 ", duplicated %" PRIu64 ", corrupted %" PRIu64
           "; kept %" PRIu64 " and sent %" PRIu64 " that referred to those\n  switch:",
           s->frames, s->lost, s->duplicated, s->corrupted, s->kept, s->referred);
    for (unsigned i = 0; i < AGG_MAX_REASONS; i++)
        if (s->reasons[i] > 0)
            printf(" %s %" PRIu64, sml_reasons[i].name, s->reasons[i]);
    printf("\n");
}

/* libswagg by ATP, with parameter servers that are killed and started again in the middle: the only one, one
 * of two, two in turn and two at once; with a key, and with a checksum; and beside strangers, who send JOINs
 * of the job's name to its servers all the time. */
#include <stdatomic.h>
#include <unistd.h>

#include "crew.h"
#include "key_files.h"
#include "ps_process.h"
#include "stranger.h"
#include "unit.h"

#include "atp/terms.h"

enum { RANKS = 3, SERVERS_MAX = 2, LIVES = 3, CALLS_A_LIFE = 8, FIRST = 1, SECOND = 2 };

/* What a job lives through. */
struct way {
    const char *job;
    int servers;
    unsigned killed[LIVES]; /* of its servers, by life, all at once */
    bool keyed;
    enum swagg_checksum checksum;
    bool strangers; /* at each server one */
};

struct lives {
    atomic_int calls, revived;
};

/* A few calls in each of the lives: those of the next one wait until it has begun. */
static int sum_in_all_lives(struct crew_member *m)
{
    struct lives *l = m->crew->arg;
    const struct tensor t = {.type = SWAGG_F32, .count = 20000, .seed = seed, .round = true};
    int rc = 0;
    for (int i = 0; i < (LIVES + 1) * CALLS_A_LIFE && rc == 0; i++) {
        while (atomic_load(&l->revived) < i / CALLS_A_LIFE)
            sleep_ms(1);
        rc = crew_sum(m, &t, -1, i % 2 == 0);
        atomic_fetch_add(&l->calls, 1);
    }
    return rc;
}

/* While ranks make calls; in the last life, while none does. */
static void await_calls(const struct crew *crew, const struct lives *lives, int life)
{
    const int enough = RANKS * CALLS_A_LIFE * (life + 1 < LIVES ? life : LIVES) + (life + 1 < LIVES ? 4 : 0);
    crew_await(crew, &lives->calls, enough);
}

/* Returns how many there were. */
static unsigned restart(struct ps_process ps[], unsigned which)
{
    unsigned n = 0;
    for (int i = 0; i < SERVERS_MAX; i++)
        if (which & 1u << i)
            ps_kill(&ps[i]);
    for (int i = 0; i < SERVERS_MAX; i++)
        if (which & 1u << i) {
            ps_start(&ps[i]);
            n++;
        }
    return n;
}

/* Terms as near those of the job's ranks as makes a difference: he gets to where they are. */
static void let_stranger_speak(struct stranger *stranger, const struct ps_process *ps, const char *job)
{
    const struct atp_terms t = {.mode = XFER_ON_ARRIVAL,
                                .format = XFER_FORMAT_TYPED,
                                .window = 64,
                                .chunk_bytes = 1400,
                                .per_rack = ATP_LEVEL,
                                .near = ATP_NOT_NEAR,
                                .servers = 1};
    struct agg_terms terms;
    atp_terms_build(&terms, &t);
    stranger_start(stranger, ps->ip, job, RANKS, &terms, seed);
}

static void live_on(const struct way *way)
{
    struct lives lives = {0};
    struct stranger stranger[SERVERS_MAX];
    struct ps_process ps[SERVERS_MAX];
    char key[KEY_FILES_PATH_MAX], tenants[128], list[64];
    unsigned restarts = 0;
    key_file_make(key, "1");
    snprintf(tenants, sizeof tenants, "tenants: [{name: lab, key_file: %s}]\n", key);
    for (int i = 0; i < way->servers; i++) {
        ps_begin(&ps[i], way->keyed ? tenants : "");
    }
    snprintf(list, sizeof list, "%s%s%s", ps[0].ip, way->servers > 1 ? "," : "",
             way->servers > 1 ? ps[1].ip : "");
    struct crew crew = crew_at(RANKS, NULL, way->job, sum_in_all_lives, &lives);
    crew.options.protocol = SWAGG_PROTOCOL_ATP;
    crew.options.server_ip = list;
    crew.options.mode = SWAGG_ON_ARRIVAL;
    crew.options.key_file = way->keyed ? key : NULL;
    crew.options.checksum = way->checksum;
    crew_start(&crew);
    await_calls(&crew, &lives, 0);
    for (int i = 0; i < way->servers && way->strangers; i++)
        let_stranger_speak(&stranger[i], &ps[i], way->job);
    for (int life = 0; life < LIVES; life++) {
        await_calls(&crew, &lives, life);
        restarts += restart(ps, way->killed[life]);
        atomic_fetch_add(&lives.revived, 1);
    }
    crew_end_well(&crew);
    for (int i = 0; i < way->servers && way->strangers; i++)
        CU_ASSERT(stranger_end(&stranger[i]) > 0);
    for (int r = 0; r < RANKS; r++)
        CU_ASSERT_EQUAL(crew.member[r].stats.resumed, restarts);
    for (int i = 0; i < way->servers; i++)
        ps_stop(&ps[i]);
    unlink(key);
}

TEST(a_job_outlives_its_server)
{
    live_on(&(struct way){.job = "one", .servers = 1, .killed = {FIRST, FIRST, FIRST}});
}

/* The other one goes on as ever. */
TEST(a_job_outlives_one_of_two_servers)
{
    live_on(&(struct way){.job = "second", .servers = 2, .killed = {SECOND, SECOND, SECOND}});
}

TEST(a_job_with_a_key_outlives_one_server_after_the_other)
{
    live_on(&(struct way){.job = "in-turn", .servers = 2, .killed = {FIRST, SECOND, FIRST}, .keyed = true});
}

TEST(a_job_with_a_checksum_outlives_both_servers_at_once)
{
    live_on(&(struct way){.job = "at-once",
                          .servers = 2,
                          .killed = {FIRST | SECOND, FIRST | SECOND, SECOND},
                          .checksum = SWAGG_CHECKSUM_CRC32C});
}

TEST(a_job_outlives_its_server_beside_strangers)
{
    live_on(&(struct way){.job = "envied", .servers = 1, .killed = {FIRST, FIRST, FIRST}, .strangers = true});
}

#include "config/reserved.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "transfer/worker.h"

bool reserved_measure(const struct config *cfg, struct reservation *r)
{
    const struct agg_limits limits = {.payload_bytes = (uint16_t)(cfg->mtu - AGG_IP_UDP_BYTES)};
    struct sml_terms wish = {
        .format = XFER_FORMAT_TYPED, .mode = XFER_ORDERED, .chunk_bytes = SML_MAX_CHUNK_BYTES, .slots = 2};
    struct agg_pool_config pool = {.workers = (uint16_t)r->ranks, .delays = cfg->pool.delays};
    struct agg_terms wished;
    struct agg_refusal why;
    struct agg_footprint f;

    if (r->slots > SML_MAX_SLOTS)
        return false;
    while (wish.slots < r->slots)
        wish.slots *= 2;
    sml_terms_build(&wished, &wish);
    if (!sml_protocol.grant(&wished, 1, &limits, &pool.terms, &why) || !sml_protocol.footprint(&pool, &f))
        return false;
    r->slots = f.slots;
    r->bytes = f.bytes;
    return true;
}

static int find(const struct reserved *r, const char *name)
{
    for (unsigned i = 0; i < r->n; i++)
        if (strcmp(r->at[i].name, name) == 0)
            return (int)i;
    return -1;
}

static void drop(struct reserved *r, unsigned i)
{
    memmove(&r->at[i], &r->at[i + 1], (--r->n - i) * sizeof(r->at[0]));
}

int reserved_add(struct reserved *r, const struct reservation *more)
{
    if (find(r, more->name) >= 0)
        return -EEXIST;
    if (r->n == RESERVED_MAX)
        return -ENOSPC;
    r->at[r->n++] = *more;
    return 0;
}

bool reserved_drop(struct reserved *r, const char *name)
{
    const int i = find(r, name);

    if (i >= 0)
        drop(r, (unsigned)i);
    return i >= 0;
}

bool reserved_expire(struct reserved *r, uint64_t now, struct reservation *gone)
{
    for (unsigned i = 0; i < r->n; i++)
        if (now >= r->at[i].until) {
            *gone = r->at[i];
            drop(r, i);
            return true;
        }
    return false;
}

void reserved_follow(struct reserved *r, const int tenant[])
{
    for (unsigned i = r->n; i-- > 0;) {
        r->at[i].tenant = tenant[r->at[i].tenant];
        if (r->at[i].tenant < 0)
            drop(r, i);
    }
}

bool reserved_is_for(const struct reservation *r, const struct room_job *job)
{
    return job->name != NULL && job->tenant == r->tenant && fnmatch(r->pattern, job->name, 0) == 0;
}

/* What is left of a reservation; a place, if no job has it. */
struct rest {
    bool place;
    uint64_t slots, bytes;
};

static void take(uint64_t *left, uint64_t *wanted)
{
    const uint64_t n = *left < *wanted ? *left : *wanted;

    *left -= n;
    *wanted -= n;
}

/* Of each beside these jobs, in the order of r->at. */
static void find_rests(const struct reserved *r, const struct room_job job[], unsigned jobs,
                       struct rest rest[RESERVED_MAX])
{
    for (unsigned i = 0; i < r->n; i++)
        rest[i] = (struct rest){true, r->at[i].slots, r->at[i].bytes};
    for (unsigned j = 0; j < jobs; j++) {
        uint64_t slots = job[j].slots, bytes = job[j].bytes;
        bool seated = false;

        for (unsigned i = 0; i < r->n; i++) {
            if (!reserved_is_for(&r->at[i], &job[j]))
                continue;
            take(&rest[i].slots, &slots);
            take(&rest[i].bytes, &bytes);
            if (!seated && rest[i].place) {
                rest[i].place = false;
                seated = true;
            }
        }
    }
}

uint64_t reserved_append(const struct reserved *r, const struct room_job *asked, struct room_job job[],
                         unsigned *jobs)
{
    struct rest rest[RESERVED_MAX];
    uint64_t bytes = 0;

    find_rests(r, job, *jobs, rest);
    for (unsigned i = 0; i < r->n; i++) {
        if (reserved_is_for(&r->at[i], asked) || rest[i].slots + rest[i].bytes == 0)
            continue;
        job[(*jobs)++] = (struct room_job){
            .name = r->at[i].name, .tenant = r->at[i].tenant, .slots = rest[i].slots, .bytes = rest[i].bytes};
        bytes += rest[i].bytes;
    }
    return bytes;
}

unsigned reserved_places(const struct reserved *r, const struct room_job *asked, int of,
                         const struct room_job job[], unsigned jobs)
{
    struct rest rest[RESERVED_MAX];
    unsigned n = 0;

    find_rests(r, job, jobs, rest);
    for (unsigned i = 0; i < r->n; i++)
        n += rest[i].place && !reserved_is_for(&r->at[i], asked) && (of < 0 || of == r->at[i].tenant);
    return n;
}

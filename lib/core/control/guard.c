#include "control/guard.h"

#include <assert.h>
#include <string.h>

#include "wire/seal.h"

void ctl_guard_make_secret(uint8_t secret[KEYS_SECRET_BYTES], uint64_t (*random)(void *ctx), void *ctx)
{
    for (size_t i = 0; i < KEYS_SECRET_BYTES; i += sizeof(uint64_t)) {
        uint64_t word = random(ctx);
        memcpy(secret + i, &word, sizeof word);
    }
}

uint64_t ctl_guard_boot_id(const struct ctl_guard *g, uint64_t boot_id, const struct ctl_endpoint *e)
{
    const uint64_t address = (uint64_t)e->network << 32 | e->ip, own[] = {boot_id, ~boot_id};
    uint8_t key[KEYS_SHORT_BYTES];
    static_assert(sizeof own == sizeof key, "the switch's own boot id is the whole key");
    if (!g->library)
        return boot_id;
    memcpy(key, own, sizeof key);
    return g->library->short_hash(key, &address, sizeof address) | 1;
}

/* Never 0. */
static uint64_t challenge_of(const struct ctl_guard *g, uint64_t incarnation)
{
    struct {
        uint64_t incarnation, gone;
    } input = {incarnation, g->challenges.gone[incarnation % CTL_GUARD_LANES]};
    const struct keys_piece piece = {&input, sizeof input};
    uint8_t hash[KEYS_HASH_BYTES];
    uint64_t challenge;
    g->library->hash(hash, g->challenges.secret, &piece, 1);
    memcpy(&challenge, hash, sizeof challenge);
    return challenge | 1;
}

static const struct keys_key *key_of(const struct ctl_guard *g, const struct ctl_endpoint *e)
{
    return &g->key[e->key - 1].key;
}

static struct ctl_address address_of(const struct ctl_endpoint *e)
{
    return (struct ctl_address){.ip = e->ip, .udp_port = e->udp_port};
}

enum ctl_parse_error ctl_guard_check(const struct ctl_guard *g, const struct ctl_head *head,
                                     const uint8_t *message, size_t bytes, struct ctl_endpoint *from,
                                     uint64_t *challenge)
{
    const struct ctl_address worker = address_of(from);
    struct ctl_seal seal;
    *challenge = 0;
    from->key = 0;
    if (!head->sealed)
        return CTL_PARSED;
    if (!ctl_seal_parse(&seal, message, bytes))
        return CTL_TOO_SHORT;
    for (unsigned i = 0; i < g->keys; i++) {
        if (g->key[i].tenant == CTL_NO_KEY || g->key[i].key.id != seal.key_id)
            continue;
        if (!ctl_seal_holds(message, bytes, g->library, &g->key[i].key, &worker))
            return CTL_BAD_SEAL;
        from->key = (uint16_t)(i + 1);
        *challenge = seal.challenge;
        return CTL_PARSED;
    }
    return CTL_UNKNOWN_KEY;
}

int ctl_guard_tenant(const struct ctl_guard *g, const struct ctl_endpoint *from)
{
    return from->key ? g->key[from->key - 1].tenant : CTL_NO_KEY;
}

bool ctl_guard_is_fresh(const struct ctl_guard *g, const struct ctl_endpoint *from, uint64_t incarnation,
                        uint64_t challenge)
{
    return !from->key || challenge == challenge_of(g, incarnation);
}

bool ctl_guard_is_retired(const struct ctl_guard *g, const struct ctl_endpoint *from, struct ctl_failure *why)
{
    if (!from->key || !g->key[from->key - 1].retired)
        return false;
    *why = (struct ctl_failure){
        .reason = CTL_BAD_KEY,
        .rank = why->rank,
        .text = "the switch no longer takes this key for new jobs: the tenant's key_file has another"};
    return true;
}

/* Of one that the job's name, the rank and its process tell from all others. */
static uint64_t ticket_of(const struct ctl_guard *g, const char name[CTL_NAME_MAX], uint64_t roster,
                          uint64_t incarnation, uint32_t rank)
{
    const struct keys_piece pieces[] = {{name, CTL_NAME_MAX},
                                        {&roster, sizeof roster},
                                        {&incarnation, sizeof incarnation},
                                        {&rank, sizeof rank}};
    uint8_t hash[KEYS_HASH_BYTES];
    uint64_t ticket;
    g->library->hash(hash, g->lasting->secret, pieces, sizeof pieces / sizeof *pieces);
    memcpy(&ticket, hash, sizeof ticket);
    return ticket != 0 ? ticket : 1;
}

uint64_t ctl_guard_ticket(const struct ctl_guard *g, const struct ctl_entry *job, unsigned rank)
{
    return g->lasting ? ticket_of(g, job->name, job->roster, job->members[rank].incarnation, rank) : 0;
}

bool ctl_guard_believes(const struct ctl_guard *g, const struct ctl_message *join)
{
    const struct ctl_join *j = &join->join;
    return !g->lasting || g->lasting->is_new ||
           j->ticket == ticket_of(g, j->name, j->roster, join->head.incarnation, join->head.rank);
}

void ctl_guard_note_gone(struct ctl_guard *g, uint64_t incarnation)
{
    g->challenges.gone[incarnation % CTL_GUARD_LANES]++;
}

/* The secret of a job is for its members' eyes. */
static void cover_secret(const struct ctl_guard *g, const struct ctl_endpoint *to, struct ctl_message *m)
{
    const struct keys_life life = {
        .boot_id = m->head.boot_id, .incarnation = m->head.incarnation, .epoch = m->head.epoch};
    if (m->head.type == CTL_READY)
        keys_cover(m->ready.covered, g->library, key_of(g, to), &life, m->ready.covered);
}

size_t ctl_guard_build(const struct ctl_guard *g, const struct ctl_endpoint *to, uint64_t above,
                       struct ctl_message *m, uint8_t out[CTL_MESSAGE_MAX])
{
    const struct ctl_address worker = address_of(to);
    m->head.sealed = to->key != 0;
    if (!m->head.sealed)
        return ctl_build(out, m);
    cover_secret(g, to, m);
    return ctl_seal_append(out, ctl_build(out, m), g->library, key_of(g, to), &worker,
                           challenge_of(g, m->head.incarnation) ^ above);
}

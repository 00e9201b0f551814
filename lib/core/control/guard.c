#include "control/guard.h"

#include <string.h>

#include "wire/seal.h"

void ctl_guard_make_secret(const struct ctl_registry *r, uint8_t secret[KEYS_SECRET_BYTES])
{
    for (size_t i = 0; i < KEYS_SECRET_BYTES; i += sizeof(uint64_t)) {
        uint64_t random = r->cfg.actions.random(r->cfg.actions.ctx);
        memcpy(secret + i, &random, sizeof random);
    }
}

void ctl_guard_init(struct ctl_registry *r)
{
    if (r->cfg.keys > 0)
        ctl_guard_make_secret(r, r->guard.secret);
}

/* Never 0. */
static uint64_t challenge_of(const struct ctl_registry *r, uint64_t incarnation)
{
    struct {
        uint64_t incarnation, gone;
    } input = {incarnation, r->guard.gone[incarnation % CTL_GUARD_LANES]};
    const struct keys_piece piece = {&input, sizeof input};
    uint8_t hash[KEYS_HASH_BYTES];
    uint64_t challenge;
    r->cfg.library->hash(hash, r->guard.secret, &piece, 1);
    memcpy(&challenge, hash, sizeof challenge);
    return challenge | 1;
}

static const struct keys_key *key_of(const struct ctl_registry *r, const struct ctl_endpoint *e)
{
    return &r->cfg.key[e->key - 1].key;
}

static struct ctl_address address_of(const struct ctl_endpoint *e)
{
    return (struct ctl_address){.ip = e->ip, .udp_port = e->udp_port};
}

enum ctl_parse_error ctl_guard_check(const struct ctl_registry *r, const struct ctl_head *head,
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
    for (unsigned i = 0; i < r->cfg.keys; i++) {
        if (r->cfg.key[i].tenant == CTL_NO_KEY || r->cfg.key[i].key.id != seal.key_id)
            continue;
        if (!ctl_seal_holds(message, bytes, r->cfg.library, &r->cfg.key[i].key, &worker))
            return CTL_BAD_SEAL;
        from->key = (uint16_t)(i + 1);
        *challenge = seal.challenge;
        return CTL_PARSED;
    }
    return CTL_UNKNOWN_KEY;
}

int ctl_guard_tenant(const struct ctl_registry *r, const struct ctl_endpoint *from)
{
    return from->key ? r->cfg.key[from->key - 1].tenant : CTL_NO_KEY;
}

bool ctl_guard_is_fresh(const struct ctl_registry *r, const struct ctl_endpoint *from, uint64_t incarnation,
                        uint64_t challenge)
{
    return !from->key || challenge == challenge_of(r, incarnation);
}

bool ctl_guard_is_retired(const struct ctl_registry *r, const struct ctl_endpoint *from)
{
    return from->key && r->cfg.key[from->key - 1].retired;
}

void ctl_guard_note_gone(struct ctl_registry *r, uint64_t incarnation)
{
    r->guard.gone[incarnation % CTL_GUARD_LANES]++;
}

/* The secret of a job is for its members' eyes. */
static void cover_secret(const struct ctl_registry *r, const struct ctl_endpoint *to, struct ctl_message *m)
{
    const struct keys_life life = {
        .boot_id = m->head.boot_id, .incarnation = m->head.incarnation, .epoch = m->head.epoch};
    if (m->head.type == CTL_READY)
        keys_cover(m->ready.covered, r->cfg.library, key_of(r, to), &life, m->ready.covered);
}

size_t ctl_guard_build(const struct ctl_registry *r, const struct ctl_endpoint *to, struct ctl_message *m,
                       uint8_t out[CTL_MESSAGE_MAX])
{
    const struct ctl_address worker = address_of(to);
    m->head.sealed = to->key != 0;
    if (!m->head.sealed)
        return ctl_build(out, m);
    cover_secret(r, to, m);
    return ctl_seal_append(out, ctl_build(out, m), r->cfg.library, key_of(r, to), &worker,
                           challenge_of(r, m->head.incarnation));
}

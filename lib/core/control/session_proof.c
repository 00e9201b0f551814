#include "control/session_proof.h"

#include <string.h>

size_t ctl_session_seal(const struct ctl_session *s, uint8_t *message, size_t bytes)
{
    const struct ctl_credentials *c = s->cfg.credentials;
    return c ? ctl_seal_append(message, bytes, c->library, &c->key, &c->address, s->challenge) : bytes;
}

bool ctl_session_is_proven(struct ctl_session *s, const struct ctl_message *m, enum ctl_parse_error parsed,
                           const uint8_t *payload, size_t bytes, struct ctl_seal *seal)
{
    const struct ctl_credentials *c = s->cfg.credentials;
    if (!c)
        return !m->head.sealed;
    if (parsed == CTL_PARSED && m->head.sealed && ctl_seal_parse(seal, payload, bytes) &&
        seal->key_id == c->key.id && ctl_seal_holds(payload, bytes, c->library, &c->key, &c->address))
        return m->head.serial >= s->answered;
    s->unproven++;
    if (parsed == CTL_PARSED && m->head.type == CTL_REFUSED)
        s->hint = m->failure;
    return false;
}

struct keys_shared ctl_session_shared(const struct ctl_session *s)
{
    struct keys_shared shared = {.library = s->cfg.credentials ? s->cfg.credentials->library : NULL};
    memcpy(shared.secret, s->secret, sizeof shared.secret);
    return shared;
}

bool ctl_session_note_answered(struct ctl_session *s, uint32_t serial)
{
    bool newer = serial > s->answered;
    if (!s->cfg.credentials)
        return true;
    if (newer)
        s->answered = serial;
    return newer;
}

void ctl_session_uncover(struct ctl_session *s, const struct ctl_head *h)
{
    const struct ctl_credentials *c = s->cfg.credentials;
    if (!c)
        return;
    const struct keys_life life = {.boot_id = h->boot_id, .incarnation = h->incarnation, .epoch = h->epoch};
    keys_cover(s->secret, c->library, &c->key, &life, s->ready.covered);
}

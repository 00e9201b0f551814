#include "reception.h"

#include "base/secret.h"
#include "wire/path.h"

static void handle(void *context, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                   uint64_t now)
{
    struct reception *r = context;
    struct ctl_endpoint sender = *from;
    enum ctl_parse_error fault;

    if (!r->neighbour(r->context, &sender))
        return;
    fault = membership_receive(r->membership, &sender, payload, bytes, now);
    if (fault != CTL_PARSED)
        r->counts->drop[DROP_CONTROL_TOO_SHORT + (fault - CTL_TOO_SHORT)]++;
}

void reception_init(struct reception *r, const struct config *cfg)
{
    anteroom_init(&r->anteroom, cfg, secret64(), handle, r);
    path_rate_init(&r->paths, secret64());
}

void reception_free(struct reception *r)
{
    anteroom_free(&r->anteroom);
}

void reception_message(struct reception *r, const struct ctl_endpoint *from, const uint8_t *payload,
                       size_t bytes, uint64_t now)
{
    const enum drop why = anteroom_take(&r->anteroom, from, payload, bytes, now);

    r->counts->event[EVENT_CONTROL_RECEIVED]++;
    if (why != DROP_REASONS)
        r->counts->drop[why]++;
}

void reception_tick(struct reception *r, uint64_t now)
{
    anteroom_list_members(&r->anteroom, membership_shown(r->membership, now).registry);
}

bool reception_serve(struct reception *r, uint64_t now)
{
    if (anteroom_serve(&r->anteroom, now) > 0)
        reception_tick(r, now); /* they may be members now */
    return anteroom_has_waiting(&r->anteroom);
}

bool reception_question(struct reception *r, uint32_t from, uint8_t *payload, size_t bytes, uint64_t now)
{
    if (!path_is_question(payload, bytes))
        return false;
    if (!path_rate_admit(&r->paths, from, now)) {
        r->counts->drop[DROP_PATH_RATE]++;
        return false;
    }
    path_answer(payload, 1);
    r->counts->event[EVENT_PATH_ANSWERS]++;
    return true;
}

#include "operating.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "commands.h"
#include "operator/handoff.h"
#include "operator/operators.h"

struct operating {
    struct shown *shown;
    struct common_host host;
    struct helper *helper;
    struct operators *operators; /* NULL: the configuration wants none */
    struct handoff main;
    struct errand *waiting; /* for the helper; NULL: none */
    uint64_t asked;         /* the request that it waits for */
};

/* What the operators' thread hands over. */
struct parcel {
    struct operating *o;
    struct errand errand;
};

static void begin(void *argument)
{
    struct parcel *p = argument;
    struct operating *o = p->o;
    json_t *question;

    if (!membership_has_begun(o->shown->membership)) {
        reply_fail(p->errand.reply, REPLY_REFUSED, "the chip is being set up: ask again in a moment");
        return;
    }
    o->shown->now = clock_ns();
    question = commands_begin(&p->errand);
    if (question == NULL)
        return;
    o->asked = helper_ask(o->helper, question);
    if (o->asked == 0) {
        reply_fail(p->errand.reply, REPLY_FAILED, "the helper has ended");
        return;
    }
    o->waiting = &p->errand;
    handoff_hold(&o->main);
}

bool operating_answered(struct operating *o, uint64_t id, const json_t *answer)
{
    if (o->waiting == NULL || id != o->asked)
        return false;
    o->shown->now = clock_ns();
    commands_end(o->waiting, answer);
    o->waiting = NULL;
    handoff_done(&o->main);
    return true;
}

/* On the operators' thread. */
static void run(void *context, const struct request *request, struct reply *reply, struct server_feed *feed)
{
    struct operating *o = context;
    struct parcel parcel = {
        .o = o, .errand = {.shown = o->shown, .host = &o->host, .request = request, .reply = reply}};

    (void)feed; /* nothing is captured here */
    if (!handoff_call(&o->main, begin, &parcel))
        reply_fail(reply, REPLY_FAILED, "swagg-tofino is stopping");
}

struct operating *operating_start(struct shown *shown, const struct common_host *host, struct helper *helper)
{
    struct operating *o = calloc(1, sizeof(*o));
    const struct operators_host operated = {.kind = "switch", .name = shown->name, .run = run, .context = o};

    if (o == NULL || handoff_open(&o->main) < 0) {
        free(o);
        return NULL;
    }
    o->shown = shown;
    o->host = *host;
    o->helper = helper;
    if (operators_start(&o->operators, &operated, &shown->cfg->control) == 0)
        return o;
    handoff_free(&o->main);
    free(o);
    return NULL;
}

void operating_stop(struct operating *o)
{
    if (o == NULL)
        return;
    o->waiting = NULL;
    handoff_close(&o->main);
    operators_stop(o->operators);
    handoff_free(&o->main);
    free(o);
}

int operating_fd(const struct operating *o)
{
    return o->main.wake;
}

void operating_serve(struct operating *o)
{
    handoff_serve(&o->main);
}

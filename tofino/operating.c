#include "operating.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monotonic.h"
#include "operator/handoff.h"
#include "operator/operators.h"
#include "operator/reply.h"
#include "setup.h"

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
static void begin(void *errand)
{
    struct errand *e = errand;
    struct operating *o = e->of_whom;
    json_t *question;

    if (!membership_has_begun(o->shown->membership)) {
        reply_fail(e->reply, REPLY_FAILED, "the chip is being set up: ask again in a moment");
        return;
    }
    o->shown->now = monotonic_ns();
    question = commands_begin(e);
    if (question == NULL)
        return;
    o->asked = helper_ask(o->helper, question);
    if (o->asked == 0) {
        reply_fail(e->reply, REPLY_FAILED, "the helper has ended");
        return;
    }
    o->waiting = e;
    handoff_hold(&o->main);
}

bool operating_answered(struct operating *o, uint64_t id, const json_t *answer)
{
    if (o->waiting == NULL || id != o->asked)
        return false;
    o->shown->now = monotonic_ns();
    commands_end(o->waiting, answer);
    o->waiting = NULL;
    handoff_done(&o->main);
    return true;
}

/* On the operators' thread. */
static void run(void *context, const struct request *request, struct reply *reply, struct server_feed *feed)
{
    struct operating *o = context;
    struct errand errand = {
        .of_whom = o, .shown = o->shown, .host = &o->host, .request = request, .reply = reply};

    (void)feed; /* nothing is captured here */
    if (!handoff_call(&o->main, begin, &errand))
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

enum subject_kind { NOTHING, A_JOB, A_PORT, PERHAPS_A_PORT };

typedef json_t *ask_fn(struct errand *e);

struct command {
    const char *name;
    enum subject_kind of;
    view_fn *view;  /* NULL: it is an action */
    ask_fn *ask;    /* NULL: the helper is asked for nothing */
    const char *at; /* what ask_to_look asks for */
};

/* --- what the helper is asked for -------------------------------------------------------------------- */

static json_t *ask_to_look(struct errand *e)
{
    return json_pack("{s:s,s:s}", "do", "look", "at", e->command->at);
}

/* Only of a job of the configuration there is something that this process does not know. */
static json_t *ask_for_static(struct errand *e)
{
    return e->of.fixed != NULL ? ask_to_look(e) : NULL;
}

static json_t *ask_for_silence(struct errand *e)
{
    if (e->of.fixed == NULL)
        return NULL;
    return json_pack("{s:s,s:s,s:s}", "do", "look", "at", "silence", "static", e->of.fixed->common.name);
}

static json_t *ask_for_slots(struct errand *e)
{
    if (e->of.fixed != NULL)
        return json_pack("{s:s,s:s,s:s}", "do", "look", "at", "slots", "static", e->of.fixed->common.name);
    return json_pack("{s:s,s:s,s:i}", "do", "look", "at", "slots", "number",
                     e->of.job->state == CTL_ENTRY_RUNNING ? e->of.job->number : -1);
}

static json_t *ask_to_flush(struct errand *e)
{
    const struct config_port *port = e->of.port;

    return json_pack("{s:s,s:I}", "do", "flush", "port",
                     port == NULL ? (json_int_t)-1 : (json_int_t)setup_port_number(port));
}

static json_t *ask_to_fix(struct errand *e)
{
    uint8_t mac[OPERATOR_MAC_BYTES];

    if (!operator_mac_read(e->request, mac, e->reply))
        return NULL;
    return json_pack("{s:s,s:I,s:I}", "do", "fix", "mac", helper_mac(mac), "port",
                     (json_int_t)setup_port_number(e->of.port));
}

static json_t *ask_to_unfix(struct errand *e)
{
    uint8_t mac[OPERATOR_MAC_BYTES];

    if (!operator_mac_read(e->request, mac, e->reply))
        return NULL;
    return json_pack("{s:s,s:I}", "do", "unfix", "mac", helper_mac(mac));
}

static json_t *ask_for_port(struct errand *e, bool up)
{
    return json_pack("{s:s,s:I,s:b}", "do", "enable", "port", (json_int_t)setup_port_number(e->of.port), "up",
                     up);
}

static json_t *ask_for_port_up(struct errand *e)
{
    return ask_for_port(e, true);
}

static json_t *ask_for_port_down(struct errand *e)
{
    return ask_for_port(e, false);
}

static json_t *ask_to_reset(struct errand *e)
{
    if (e->of.fixed != NULL)
        return json_pack("{s:s,s:s}", "do", "reset", "static", e->of.fixed->common.name);
    reply_fail(e->reply, REPLY_REFUSED,
               "workers joined job %s, which knows when they start anew: only jobs of the configuration are "
               "reset",
               e->of.name);
    return NULL;
}

static json_t *ask_to_add(struct errand *e)
{
    const char *name = request_text(e->request, "job");

    if (name != NULL)
        snprintf(e->of.name, sizeof(e->of.name), "%s", name);
    e->end = added_end;
    return added_begin(e->host, e->request, e->reply);
}

static json_t *ask_to_delete(struct errand *e)
{
    e->end = added_end_to_delete;
    return added_begin_to_delete(e->host, e->of.fixed != NULL ? e->of.name : request_text(e->request, "name"),
                                 e->reply);
}

static const struct command commands[] = {
    {"status", NOTHING, view_status, ask_to_look, "status"},
    {"memory", NOTHING, view_memory, ask_to_look, "memory"},
    {"ports", NOTHING, view_ports, ask_to_look, "ports"},
    {"port", A_PORT, view_port, ask_to_look, "ports"},
    {"fdb", NOTHING, view_fdb, ask_to_look, "stations"},
    {"jobs", NOTHING, view_jobs, ask_to_look, "static"},
    {"job", A_JOB, view_job, ask_for_static, "static"},
    {"ranks", A_JOB, view_ranks, ask_for_silence, NULL},
    {"slots", A_JOB, view_slots, ask_for_slots, NULL},
    {"tenants", NOTHING, view_tenants, NULL, NULL},
    {"drops", NOTHING, view_drops, ask_to_look, "counters"},
    {"counters", NOTHING, view_counters, ask_to_look, "counters"},
    {"verdicts", NOTHING, view_verdicts, ask_to_look, "counters"},
    {"job reset", A_JOB, NULL, ask_to_reset, NULL},
    {"job add", NOTHING, NULL, ask_to_add, NULL},
    {"job del", A_JOB, NULL, ask_to_delete, NULL},
    {"fdb flush", PERHAPS_A_PORT, NULL, ask_to_flush, NULL},
    {"fdb add", A_PORT, NULL, ask_to_fix, NULL},
    {"fdb del", NOTHING, NULL, ask_to_unfix, NULL},
    {"port up", A_PORT, NULL, ask_for_port_up, NULL},
    {"port down", A_PORT, NULL, ask_for_port_down, NULL},
};

static const struct {
    const char *name, *why;
} refused[] = {
    {"capture", "the chip's frames do not pass this process"},
    {"uplinks", "a Tofino stands in no tree of switches"},
    {"peers", "a Tofino stands in no tree of switches"},
    {"history", "swagg-tofino keeps none: its log has what was"},
    {"events", "swagg-tofino keeps none: its log has what was"},
    {"reserved", "a Tofino reserves nothing: the chip's tables are no pool"},
    {"sums", "a Tofino sums no passing frames"},
    {"lcores", "a Tofino has no polling threads"},
    {"lcore", "a Tofino has no polling threads"},
    {"impair set", "a Tofino does not impair its ports"},
    {"impair clear", "a Tofino does not impair its ports"},
    {"port add", "ports are those of the file: change it, and start swagg-tofino again; running jobs go on"},
    {"port del", "ports are those of the file: change it, and start swagg-tofino again; running jobs go on"},
};

static const struct command *command_called(const char *name, struct reply *reply)
{
    for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (strcmp(refused[i].name, name) == 0) {
            reply_fail(reply, REPLY_REFUSED, "%s: %s", name, refused[i].why);
            return NULL;
        }
    reply_fail(reply, REPLY_BAD_REQUEST, "the switch knows no command \"%s\"", name);
    return NULL;
}

/* --- what it is about -------------------------------------------------------------------------------- */

/* The static job that is called NAME or, wholly, TENANT/NAME; NULL: there is none. */
static const struct config_static *find_static(const struct config *cfg, const char *called, bool *wholly)
{
    const struct config_static *found = NULL;

    *wholly = false;
    for (unsigned i = 0; i < cfg->static_jobs && !*wholly; i++) {
        const struct config_fixed *job = &cfg->static_job[i].common;
        const char *tenant = job->tenant < 0 ? "" : cfg->tenant[job->tenant].name;
        const size_t n = strlen(tenant);

        *wholly =
            strncmp(called, tenant, n) == 0 && called[n] == '/' && strcmp(called + n + 1, job->name) == 0;
        if (*wholly || strcmp(job->name, called) == 0)
            found = &cfg->static_job[i];
    }
    return found;
}

static bool find_job(struct errand *e, const char *name)
{
    const struct registry_shown joined = registry_host_shown(&e->shown->membership->common);
    bool wholly;
    const struct config_static *fixed = find_static(e->shown->cfg, name, &wholly);
    const int rc = wholly ? -ENOENT : registry_find(&joined, name, &e->of.job);

    if (rc == -ENOTUNIQ || (rc == 0 && fixed != NULL)) {
        reply_which_job(e->reply, &joined, name);
        if (fixed != NULL)
            json_array_append_new(
                e->reply->choices,
                json_sprintf("%s/%s",
                             fixed->common.tenant < 0 ? "" : e->shown->cfg->tenant[fixed->common.tenant].name,
                             name));
    } else if (rc == -ENOENT && fixed == NULL) {
        reply_fail(e->reply, REPLY_UNKNOWN, "there is no job %s; `swaggctl jobs` lists them", name);
    } else {
        e->of.fixed = rc == 0 ? NULL : fixed;
        snprintf(e->of.name, sizeof(e->of.name), "%s", rc == 0 ? e->of.job->name : fixed->common.name);
    }
    return e->reply->code == REPLY_OK;
}

static bool find_port(struct errand *e, const char *name)
{
    const struct config *cfg = e->shown->cfg;

    for (unsigned i = 0; i < cfg->ports; i++)
        if (strcmp(cfg->port[i].name, name) == 0 && !config_is_kernel_device(cfg->port[i].device))
            e->of.port = &cfg->port[i];
    if (e->of.port == NULL)
        reply_fail(e->reply, REPLY_UNKNOWN, "there is no port %s of the chip; `swaggctl ports` lists them",
                   name);
    return e->of.port != NULL;
}

static bool find_subject(struct errand *e, enum subject_kind of, const char *name)
{
    const char *what = of == A_JOB ? "job" : "port";

    if (name == NULL && (of == A_JOB || of == A_PORT))
        reply_fail(e->reply, REPLY_BAD_REQUEST, "which %s? `swaggctl %ss` lists them", what, what);
    else if (name != NULL && of == NOTHING)
        reply_fail(e->reply, REPLY_BAD_REQUEST, "%s takes no name here", e->request->command);
    else if (name != NULL)
        return of == A_JOB ? find_job(e, name) : find_port(e, name);
    return e->reply->code == REPLY_OK;
}

static void show(struct errand *e, const json_t *found)
{
    const struct look look = {e->shown, registry_host_shown(&e->shown->membership->common), &e->of, found};
    struct view_out out;

    view_begin(&out, views_find(e->command->name));
    e->command->view(&look, &out);
    reply_view(e->reply, &out);
}

static void run_common(struct errand *e, const struct common_command *command)
{
    struct common_job job = {.called = e->of.name, .name = e->of.name};

    if (!find_subject(e, command->of_job ? A_JOB : NOTHING, request_text(e->request, "name")))
        return;
    job.fixed = e->of.fixed != NULL;
    if (e->of.job != NULL)
        job.tenant = e->of.job->tenant;
    command->run(e->host, &job, e->request, e->reply);
}

json_t *commands_begin(struct errand *e)
{
    const struct common_command *common = common_command_find(e->request->command);
    json_t *question = NULL;

    if (common != NULL) {
        run_common(e, common);
        return NULL;
    }
    e->command = command_called(e->request->command, e->reply);
    if (e->command == NULL || !find_subject(e, e->command->of, request_text(e->request, "name")))
        return NULL;
    if (e->command->ask != NULL)
        question = e->command->ask(e);
    if (question == NULL && e->command->view != NULL && e->reply->code == REPLY_OK)
        show(e, NULL);
    return question;
}

void commands_end(struct errand *e, const json_t *answer)
{
    const char *error = helper_error(answer);

    const bool kept = e->end == NULL || e->end(e->host, e->of.name, error == NULL, e->shown->now);

    if (error != NULL)
        reply_fail(e->reply, REPLY_REFUSED, "%s", error);
    else if (!kept)
        reply_fail(
            e->reply, REPLY_REFUSED,
            "job %s: done, but the next start will not know of it: the file of --state cannot be written "
            "(the log says why); it is tried again until it is",
            e->of.name);
    else if (e->command->view != NULL)
        show(e, answer);
}

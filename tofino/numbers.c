#include "numbers.h"

#include <arpa/inet.h>

#include "switchml/terms.h"
#include "terms.h"

enum { SLOTS_MIN = 8 /* a job with fewer would wait for its results most of the time */ };

static json_t *workers_of(const struct ctl_entry *job)
{
    json_t *list = json_array();

    for (uint16_t rank = 0; rank < job->size; rank++) {
        const struct ctl_member *w = &job->members[rank];

        json_array_append_new(list, json_pack("{s:I,s:i,s:I}", "ip", (json_int_t)ntohl(w->endpoint.ip),
                                              "port", w->data_port, "mac", helper_mac(w->endpoint.mac)));
    }
    return list;
}

/* Keeps `workers`. */
static json_t *describe(unsigned number, const struct agg_terms *terms, json_t *workers)
{
    struct sml_terms t = {0};

    sml_terms_parse(&t, terms);
    return json_pack("{s:i,s:i,s:i,s:I,s:O}", "number", (int)number, "elements", t.chunk_bytes / 4, "slots",
                     t.slots, "first_tag", (json_int_t)t.first_tag, "workers", workers);
}

json_t *numbers_describe(unsigned number, const struct ctl_entry *job, const struct agg_terms *terms)
{
    json_t *workers = workers_of(job);
    json_t *found = describe(number, terms, workers);

    json_decref(workers);
    return found;
}

int numbers_choose(const struct numbers *n, const struct ctl_entry *job)
{
    int best = -1;

    for (int i = 0; i < AGG_JOBS; i++)
        if (n->number[i].use == NUMBER_FREE && !ctl_entry_had_number(job, (uint8_t)i) &&
            (best < 0 || n->number[i].freed_at < n->number[best].freed_at))
            best = i;
    return best;
}

static void ask_to_open(struct numbers *n, unsigned number)
{
    struct number *it = &n->number[number];
    json_t *request = describe(number, &it->terms, it->workers);

    json_object_set_new(request, "do", json_string("open"));
    it->asked = helper_ask(n->helper, request);
}

void numbers_open(struct numbers *n, unsigned number, const struct ctl_entry *job,
                  const struct agg_terms *terms)
{
    n->number[number] = (struct number){
        .use = NUMBER_OPENING, .preparation = job->preparation, .terms = *terms, .workers = workers_of(job)};
    ask_to_open(n, number);
}

bool numbers_open_smaller(struct numbers *n, unsigned number)
{
    struct number *it = &n->number[number];
    struct sml_terms t;

    if (!sml_terms_parse(&t, &it->terms) || t.slots <= SLOTS_MIN || !tofino_protocol.lower(&it->terms))
        return false;
    ask_to_open(n, number);
    return true;
}

void numbers_lead(struct numbers *n, const struct ctl_entry *job)
{
    struct number *it = &n->number[job->number];

    for (uint16_t rank = 0; rank < job->size; rank++) {
        json_t *told = json_array_get(it->workers, rank);
        const json_int_t mac = helper_mac(job->members[rank].endpoint.mac);

        if (json_integer_value(json_object_get(told, "mac")) == mac)
            continue;
        json_object_set_new(told, "mac", json_integer(mac));
        helper_ask(n->helper, json_pack("{s:s,s:i,s:i,s:I}", "do", "move", "number", (int)job->number, "rank",
                                        (int)rank, "mac", mac));
    }
}

void numbers_go_on(struct numbers *n, const struct ctl_entry *job)
{
    n->number[job->number] = (struct number){.use = NUMBER_OPEN, .workers = workers_of(job)};
}

void numbers_close(struct numbers *n, unsigned number)
{
    n->number[number].use = NUMBER_CLOSING;
    n->number[number].asked =
        helper_ask(n->helper, json_pack("{s:s,s:i}", "do", "close", "number", (int)number));
}

void numbers_free(struct numbers *n, unsigned number)
{
    json_decref(n->number[number].workers);
    n->number[number] = (struct number){.freed_at = ++n->ends};
}

int numbers_asked(const struct numbers *n, uint64_t id)
{
    for (int i = 0; i < AGG_JOBS; i++)
        if (n->number[i].asked == id && n->number[i].use != NUMBER_FREE && n->number[i].use != NUMBER_OPEN)
            return i;
    return -1;
}

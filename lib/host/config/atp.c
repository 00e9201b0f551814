/* What the switch adds with for ATP. */
#include "atp/terms.h"

#include "atp/table.h"
#include "config/config_parts.h"

/* clang-format off */
const struct setting config_atp_fields[] = {
    {.key = "aggregators", .required = true, SETTING_NUMBER_AT(struct config_atp, aggregators, 0, 65536, 0),
     .meaning = "packets of all its jobs together that it has room for; each takes about a packet's length of `pool.megabytes`. 0: none"},
    {.key = "max_age_ms", SETTING_NUMBER_AT(struct config_atp, max_age_ms, 1, 60000, 1000), .unit = "ms",
     .meaning = "an aggregator that nothing has come for during this time gives what it has to the parameter server"},
    {.key = "preempt", .type = SETTING_BOOL, SETTING_AT(struct config_atp, preempt),
     .meaning = "a packet of a job with a higher priority takes an aggregator from a lower one, whose sum so far goes to the server"},
    {.key = "parts", SETTING_NUMBER_AT(struct config_atp, parts, 1, 64, 1),
     .meaning = "how many parts the aggregators are divided into, one for each job"},
    {.key = "forward", .type = SETTING_SHARE, SETTING_AT(struct config_atp, forward), .refusal = "is not a share",
     .meaning = "an impairment: of all chunks this share is passed on, every packet of it, as if another's had its aggregator"},
    {.key = NULL},
};
/* clang-format on */

static void check_bounds(struct settings *s, const struct config *c)
{
    if (c->atp.parts > 1 && c->atp.parts > c->atp.aggregators)
        settings_fault(s, "atp.parts",
                       "%u parts of %u aggregators: there must be one in each, atp.aggregators", c->atp.parts,
                       c->atp.aggregators);
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_atp_terms(struct config *c)
{
    const uint32_t room = (c->mtu - AGG_IP_UDP_BYTES - ATP_HEADER_BYTES) / 4 * 4;
    const struct atp_switch_terms terms = {
        .aggregators = c->atp.aggregators,
        .chunk_bytes = (uint16_t)(room < ATP_MAX_CHUNK_BYTES ? room : ATP_MAX_CHUNK_BYTES),
        .max_age_ns = c->atp.max_age_ms * UINT64_C(1000000),
        .preempt = c->atp.preempt,
        .parts = (uint16_t)c->atp.parts,
        .forward_ppm = (uint32_t)(c->atp.forward * ATP_ALL_CHUNKS + 0.5),
        .seed = c->seed};

    atp_switch_terms_build(&c->atp.terms, &terms);
}

void config_check_atp(struct settings *s, struct config *c)
{
    check_bounds(s, c);
    make_atp_terms(c);
}

/* Nobody is a member of it: the packets of all ATP jobs compete for its slots. */
static void describe(const struct config *c, unsigned place, struct config_job *job)
{
    (void)place;
    job->terms = &c->atp.terms;
    job->tenant = -1;
}

const struct config_jobs_list config_atp_jobs = {.key = "atp",
                                                 .jobs = offsetof(struct config, atp.aggregators),
                                                 .alone = true,
                                                 .title = "atp",
                                                 .job = describe};

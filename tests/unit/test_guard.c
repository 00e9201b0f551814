/* The registry and keys: who is let in, what is answered with which seal, and what copies are good for. The
 * two ends are real; messages are carried by hand. */
#include <stdlib.h>
#include <string.h>

#include "control/registry.h"
#include "control/session.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "switchml/worker.h"
#include "terms_of.h"
#include "toy_keys.h"
#include "unit.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

enum { SENT_MAX = 64, NEXT_KEY = 3 };

/* A switch that knows two keys of tenant 1, and one of tenant 2. */
static struct ctl_tenant_key keys[3];
static struct ctl_lasting lasting;
static struct ctl_registry *registry;
static uint64_t now, random_state;
static struct {
    struct ctl_endpoint to;
    uint8_t payload[CTL_MESSAGE_MAX];
    size_t bytes;
} sent[SENT_MAX];
static unsigned sends;

struct worker {
    struct ctl_endpoint end;
    struct ctl_credentials credentials;
    struct ctl_session session;
    uint8_t said[CTL_MESSAGE_MAX]; /* last */
    size_t said_bytes;
};

static void effect_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    (void)ctx;
    CU_ASSERT_EQUAL(to->key, 0);
    CU_ASSERT_FATAL(sends < SENT_MAX);
    sent[sends].to = *to;
    memcpy(sent[sends].payload, payload, bytes);
    sent[sends++].bytes = bytes;
}

static int effect_prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                          char text[CTL_TEXT_MAX])
{
    static const uint8_t none[KEYS_SECRET_BYTES];
    (void)ctx;
    (void)terms;
    (void)text;
    CU_ASSERT_EQUAL(memcmp(job->secret, none, sizeof none) != 0, job->keyed);
    *number = 1;
    return 0;
}

static void effect_release(void *ctx, const struct ctl_entry *job)
{
    (void)ctx;
    (void)job;
}

static uint64_t effect_random(void *ctx)
{
    (void)ctx;
    return splitmix_next(&random_state);
}

static struct ctl_registry_config config(uint64_t boot_id, unsigned keys_known)
{
    static const struct agg_protocol *const protocols[] = {&sml_protocol};
    return (struct ctl_registry_config){.protocols = protocols,
                                        .protocols_known = 1,
                                        .max_jobs = 4,
                                        .boot_id = boot_id,
                                        .lost_after_ns = 5 * SECOND,
                                        .library = &toy_library,
                                        .key = keys,
                                        .keys = keys_known,
                                        .lasting = &lasting,
                                        .actions = {.send = effect_send,
                                                    .prepare = effect_prepare,
                                                    .release = effect_release,
                                                    .random = effect_random}};
}

static void start_switch(uint64_t boot_id)
{
    const struct ctl_registry_config cfg = config(boot_id, 3);
    keys[0] = (struct ctl_tenant_key){.key = toy_key(1), .tenant = 1};
    keys[1] = (struct ctl_tenant_key){.key = toy_key(2), .tenant = 2};
    keys[2] = (struct ctl_tenant_key){.key = toy_key(NEXT_KEY), .tenant = 1};
    free(registry);
    registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
    now = SECOND;
    sends = 0;
}

/* Key 0: none. */
static void make(struct worker *w, uint8_t key, unsigned rank, unsigned size, uint64_t incarnation)
{
    *w = (struct worker){.end = {.ip = 100 + rank, .udp_port = (uint16_t)(incarnation % 60000)}};
    w->credentials = (struct ctl_credentials){.library = &toy_library,
                                              .key = toy_key(key),
                                              .address = {.ip = w->end.ip, .udp_port = w->end.udp_port}};
    const struct ctl_session_config cfg = {
        .rank = (uint16_t)rank,
        .size = (uint16_t)size,
        .incarnation = incarnation,
        .join = {.name = "train",
                 .data_port = 7000,
                 .terms = terms_of(
                     (struct sml_terms){.format = XFER_FORMAT_TYPED, .chunk_bytes = 1024, .slots = 64})},
        .worker = &sml_worker,
        .credentials = key ? &w->credentials : NULL,
        .join_deadline_ns = 30 * SECOND};
    ctl_session_init(&w->session, &cfg, now);
}

static enum ctl_parse_error hand_over(struct worker *w)
{
    return ctl_registry_receive(registry, &w->end, w->said, w->said_bytes, now);
}

/* What the worker has to say goes to the switch, and what that answers to all these. */
static enum ctl_parse_error talk(struct worker *w, struct worker *all[], unsigned n)
{
    enum ctl_parse_error last = CTL_PARSED;
    size_t bytes;
    while ((bytes = ctl_session_poll(&w->session, now, w->said)) > 0) {
        w->said_bytes = bytes;
        sends = 0;
        last = hand_over(w);
        for (unsigned i = 0; i < sends; i++)
            for (unsigned k = 0; k < n; k++)
                if (memcmp(&all[k]->end, &sent[i].to, sizeof sent[i].to) == 0)
                    ctl_session_receive(&all[k]->session, sent[i].payload, sent[i].bytes, now);
    }
    return last;
}

static unsigned jobs(bool keyed)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 4; i++)
        n += ctl_registry_entry(registry, i)->state != CTL_ENTRY_FREE &&
             ctl_registry_entry(registry, i)->keyed == keyed;
    return n;
}

static bool is_sealed(unsigned i)
{
    struct ctl_message m;
    CU_ASSERT_EQUAL(ctl_parse(&m, sent[i].payload, sent[i].bytes), CTL_PARSED);
    return m.head.sealed;
}

/* Tenants may have two keys, so that one can be given out while the other is in use; the members of a job get
 * its secret by either. */
TEST(the_right_keys)
{
    struct worker a, b, *all[] = {&a, &b};
    start_switch(11);
    make(&a, 1, 0, 2, 1000);
    make(&b, NEXT_KEY, 1, 2, 1001);
    talk(&a, all, 2);
    CU_ASSERT_EQUAL(a.session.state, CTL_SESSION_JOINING);
    CU_ASSERT_EQUAL(jobs(true), 1);
    talk(&b, all, 2);
    CU_ASSERT_EQUAL(a.session.state, CTL_SESSION_READY);
    CU_ASSERT_EQUAL(b.session.state, CTL_SESSION_READY);
    CU_ASSERT_EQUAL(memcmp(a.session.secret, b.session.secret, KEYS_SECRET_BYTES), 0);
    CU_ASSERT_EQUAL(memcmp(a.session.secret, ctl_registry_entry(registry, 0)->secret, KEYS_SECRET_BYTES), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(a.session.ready.covered, b.session.ready.covered, KEYS_SECRET_BYTES), 0);
}

/* Each of these is in a job of its own, though the names are the same, or in none. */
TEST(other_keys_and_none)
{
    struct worker a, other, none, wrong, *all[] = {&a, &other, &none, &wrong};
    start_switch(12);
    make(&a, 1, 0, 2, 1000);
    make(&other, 2, 1, 2, 1001);
    make(&none, 0, 1, 2, 1002);
    make(&wrong, 9, 1, 2, 1003);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(talk(all[i], all, 4), CTL_PARSED);
    CU_ASSERT_EQUAL(jobs(true), 2);
    CU_ASSERT_EQUAL(jobs(false), 1);
    CU_ASSERT_EQUAL(talk(&wrong, all, 4), CTL_UNKNOWN_KEY);
    CU_ASSERT_EQUAL(sends, 1);
    CU_ASSERT(!is_sealed(0));
    CU_ASSERT_EQUAL(wrong.session.state, CTL_SESSION_JOINING);
    CU_ASSERT_EQUAL(wrong.session.unproven, 1);
    CU_ASSERT_EQUAL(jobs(true), 2);
    now += 31 * SECOND;
    talk(&wrong, all, 4);
    CU_ASSERT_EQUAL(wrong.session.state, CTL_SESSION_FAILED);
    CU_ASSERT_EQUAL(wrong.session.failure.reason, CTL_BAD_KEY);
    CU_ASSERT_PTR_NOT_NULL(strstr(wrong.session.failure.text, "this switch does not know the key"));
}

/* Cut, changed, or from elsewhere: nothing happens but an answer without a seal, which its worker ignores. */
TEST(wrong_seals)
{
    struct worker a, *all[] = {&a};
    start_switch(13);
    make(&a, 1, 0, 1, 1000);
    talk(&a, all, 1);
    CU_ASSERT_EQUAL(a.session.state, CTL_SESSION_READY);
    now += SECOND;
    const uint64_t heard = ctl_registry_entry(registry, 0)->members[0].heard_at;
    a.said_bytes = ctl_session_poll(&a.session, now, a.said);
    for (size_t cut = 1; cut <= CTL_SEAL_BYTES; cut++) {
        sends = 0;
        CU_ASSERT_NOT_EQUAL(ctl_registry_receive(registry, &a.end, a.said, a.said_bytes - cut, now),
                            CTL_PARSED);
        CU_ASSERT(sends <= 1);
        if (sends == 1)
            CU_ASSERT(!is_sealed(0));
    }
    a.said[a.said_bytes - 1] ^= 1;
    CU_ASSERT_EQUAL(hand_over(&a), CTL_BAD_SEAL);
    a.said[a.said_bytes - 1] ^= 1;
    a.end.ip++;
    CU_ASSERT_EQUAL(hand_over(&a), CTL_BAD_SEAL);
    a.end.ip--;
    CU_ASSERT_EQUAL(ctl_registry_entry(registry, 0)->members[0].heard_at, heard);
    CU_ASSERT_EQUAL(hand_over(&a), CTL_PARSED);
    CU_ASSERT_EQUAL(ctl_registry_entry(registry, 0)->members[0].heard_at, now);
}

/* A rank that left a forming job, or was forgotten by it, is not put back by a copy of its JOIN, however much
 * the job goes on with the others. */
TEST(a_copy_takes_no_rank)
{
    struct worker a, b, *all[] = {&a, &b};
    uint8_t join[CTL_MESSAGE_MAX];
    start_switch(14);
    make(&a, 1, 0, 3, 1000);
    make(&b, 1, 1, 3, 1001);
    talk(&a, all, 2);
    talk(&b, all, 2);
    const struct ctl_entry *job = ctl_registry_entry(registry, 0);
    CU_ASSERT_EQUAL(job->present, 2);
    size_t bytes = b.said_bytes;
    memcpy(join, b.said, bytes);
    ctl_session_leave(&b.session, now);
    talk(&b, all, 2);
    CU_ASSERT_EQUAL(b.session.state, CTL_SESSION_CLOSED);
    CU_ASSERT_EQUAL(job->present, 1);
    sends = 0;
    CU_ASSERT_EQUAL(ctl_registry_receive(registry, &b.end, join, bytes, now), CTL_PARSED);
    CU_ASSERT_EQUAL(job->present, 1);
    CU_ASSERT_EQUAL(sends, 1);
    CU_ASSERT(is_sealed(0));
    CU_ASSERT_EQUAL(sent[0].payload[5], CTL_PENDING);
}

/* A copy of a member's last JOIN by another network card: results go on to the member's. */
TEST(a_copy_moves_nobody)
{
    struct worker a, *all[] = {&a};
    start_switch(16);
    make(&a, 1, 0, 2, 1000);
    talk(&a, all, 1);
    const struct ctl_member *member = &ctl_registry_entry(registry, 0)->members[0];
    CU_ASSERT_EQUAL(member->state, CTL_MEMBER_JOINED);
    a.end.mac[5] = 9;
    CU_ASSERT_EQUAL(hand_over(&a), CTL_PARSED);
    CU_ASSERT_EQUAL(member->endpoint.mac[5], 0);
    now += SECOND;
    talk(&a, all, 1);
    CU_ASSERT_EQUAL(member->endpoint.mac[5], 9);
}

/* What the switch said before the newest answer changes nothing, and its newest answer again is no sign of
 * life. */
TEST(copies_of_answers)
{
    struct worker a, *all[] = {&a};
    start_switch(15);
    make(&a, 1, 0, 1, 1000);
    talk(&a, all, 1); /* READY, and its first heartbeat's ALIVE */
    CU_ASSERT_EQUAL(a.session.state, CTL_SESSION_READY);
    CU_ASSERT_EQUAL_FATAL(sends, 1);
    uint8_t alive[CTL_MESSAGE_MAX], newer[CTL_MESSAGE_MAX];
    size_t bytes = sent[0].bytes;
    memcpy(alive, sent[0].payload, bytes);
    CU_ASSERT_EQUAL(alive[5], CTL_ALIVE);
    now += SECOND;
    talk(&a, all, 1);
    memcpy(newer, sent[0].payload, bytes);
    const uint64_t heard = a.session.heard_at;
    CU_ASSERT_EQUAL(heard, now);
    now += SECOND / 2;
    CU_ASSERT(!ctl_session_receive(&a.session, alive, bytes, now));
    CU_ASSERT(ctl_session_receive(&a.session, newer, bytes, now));
    CU_ASSERT_EQUAL(a.session.heard_at, heard);
    CU_ASSERT_EQUAL(a.session.unproven, 0);
}

/* The switch's configuration has changed; what is in keys counts. */
static void change(uint64_t boot_id, unsigned keys_known)
{
    static const int same[] = {0, 1, 2};
    const struct ctl_registry_config cfg = config(boot_id, keys_known);
    struct ctl_registry *old = registry;
    registry = ctl_registry_move(malloc(ctl_registry_footprint(&cfg)), &cfg, old, same);
    free(old);
}

/* Who is in a job with it stays; with another key of the tenant's, newcomers get in. */
TEST(a_key_is_retired)
{
    struct worker a, b, late, *all[] = {&a, &b, &late};
    start_switch(21);
    make(&a, 1, 0, 3, 1000);
    make(&b, 1, 1, 3, 1001);
    make(&late, NEXT_KEY, 2, 3, 1002);
    talk(&a, all, 3);
    CU_ASSERT(ctl_registry_has_key(registry, 0) && !ctl_registry_has_key(registry, 2));
    keys[0].retired = true;
    change(21, 3);
    talk(&b, all, 3);
    CU_ASSERT_EQUAL(b.session.state, CTL_SESSION_FAILED);
    CU_ASSERT_EQUAL(b.session.failure.reason, CTL_BAD_KEY);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.session.failure.text, "no longer takes this key for new jobs"));
    make(&b, NEXT_KEY, 1, 3, 1003);
    talk(&b, all, 3);
    talk(&late, all, 3);
    CU_ASSERT_EQUAL(a.session.state, CTL_SESSION_READY);
    CU_ASSERT_EQUAL(b.session.state, CTL_SESSION_READY);
    CU_ASSERT_EQUAL(late.session.state, CTL_SESSION_READY);
    now += 2 * SECOND;
    sends = 0;
    talk(&a, all, 3); /* a heartbeat, which is answered */
    CU_ASSERT_EQUAL(sends, 1);
    CU_ASSERT(is_sealed(0));
    CU_ASSERT_EQUAL(jobs(true), 1);
}

/* Whatever it says, even sealed by nothing but zeros. */
TEST(a_place_without_a_key_is_nobodys)
{
    struct worker a, *all[] = {&a};
    start_switch(22);
    keys[1] = (struct ctl_tenant_key){.tenant = CTL_NO_KEY};
    change(22, 3);
    make(&a, 2, 0, 1, 1000);
    a.credentials.key = (struct keys_key){0};
    CU_ASSERT_EQUAL(talk(&a, all, 1), CTL_UNKNOWN_KEY);
    CU_ASSERT_EQUAL(jobs(true), 0);
}

TEST(a_switch_gets_its_first_keys)
{
    struct worker none, a = {0}, *all[] = {&none, &a};
    start_switch(23);
    change(23, 0);
    make(&none, 0, 0, 1, 1000);
    talk(&none, all, 2);
    CU_ASSERT_EQUAL(none.session.state, CTL_SESSION_READY);
    change(23, 3);
    make(&a, 1, 0, 1, 1001);
    talk(&a, all, 2);
    CU_ASSERT_EQUAL(a.session.state, CTL_SESSION_READY);
    CU_ASSERT(jobs(true) == 1 && jobs(false) == 1);
    now += 2 * SECOND;
    sends = 0;
    talk(&none, all, 2);
    CU_ASSERT_EQUAL(sends, 1);
    CU_ASSERT(!is_sealed(0));
}

TEST(who_forges_an_address_founds_no_job)
{
    struct worker real, forger, *all[] = {&forger};
    start_switch(24);
    make(&real, 0, 0, 2, 1000);
    make(&forger, 0, 1, 2, 1001);
    talk(&forger, all, 1);
    CU_ASSERT_EQUAL(jobs(false), 1);
    start_switch(24);
    make(&forger, 0, 1, 2, 1001);
    CU_ASSERT((forger.said_bytes = ctl_session_poll(&forger.session, now, forger.said)) > 0);
    hand_over(&forger);
    ctl_session_receive(&forger.session, sent[0].payload, sent[0].bytes, now); /* has its boot id */
    forger.end = real.end;
    talk(&forger, all, 0);
    CU_ASSERT_EQUAL(sends, 1);
    CU_ASSERT_EQUAL(jobs(false), 0);
}

TEST(a_member_is_heard_from_another_address)
{
    struct worker a, b, *all[] = {&a, &b};
    start_switch(25);
    make(&a, 0, 0, 2, 1000);
    make(&b, 0, 1, 2, 1001);
    for (unsigned i = 0; i < 4; i++)
        talk(all[i % 2], all, 2);
    CU_ASSERT(a.session.state == CTL_SESSION_READY && b.session.state == CTL_SESSION_READY);
    b.end.ip += 50;
    for (unsigned i = 0; i < 20; i++) {
        now += SECOND;
        talk(&b, all, 2);
        talk(&a, all, 2);
        ctl_registry_tick(registry, now);
    }
    CU_ASSERT(a.session.state == CTL_SESSION_READY && b.session.state == CTL_SESSION_READY);
}

/* The switch restarts, and all of these come back to it. */
static void restart(uint64_t boot_id, struct worker *all[], unsigned n)
{
    const uint64_t then = now;
    start_switch(boot_id);
    now = then;
    for (unsigned i = 0; i < n; i++) {
        now += SECOND;
        talk(all[i], all, n);
    }
    for (unsigned i = 0; i < n; i++)
        talk(all[i], all, n);
}

/* Says that it was in a job that it was not in. */
static void claim(struct worker *w, const struct ctl_ready *as, uint64_t roster, uint64_t ticket)
{
    w->session.ready = *as;
    w->session.cfg.join.resume = true;
    w->session.cfg.join.roster = roster;
    w->session.cfg.join.ticket = ticket;
    w->session.state = CTL_SESSION_REJOINING;
}

TEST(only_who_has_its_ticket_resumes_a_job)
{
    struct worker a, b, *all[] = {&a, &b};
    lasting = (struct ctl_lasting){.secret = {7}};
    start_switch(31);
    make(&a, 0, 0, 2, 1000);
    make(&b, 1, 0, 1, 1001); /* with a key, a job of its own */
    talk(&b, all, 2);
    struct worker c, *both[] = {&a, &c};
    make(&c, 0, 1, 2, 1002);
    talk(&a, both, 2);
    talk(&c, both, 2);
    talk(&a, both, 2);
    CU_ASSERT_FATAL(a.session.state == CTL_SESSION_READY && c.session.state == CTL_SESSION_READY &&
                    b.session.state == CTL_SESSION_READY);
    CU_ASSERT(a.session.ready.ticket != 0 && a.session.ready.ticket != c.session.ready.ticket);
    const struct ctl_ready given = a.session.ready;

    /* With nothing, with a guess, with another rank's ticket, as a later process of its rank. */
    const struct {
        uint64_t roster, ticket;
    } claims[] = {{9, 0},
                  {given.roster, 0},
                  {given.roster, given.ticket ^ 1},
                  {given.roster, c.session.ready.ticket},
                  {given.roster, given.ticket}};
    start_switch(32);
    for (unsigned i = 0; i < sizeof claims / sizeof *claims; i++) {
        struct worker thief, *alone[] = {&thief};
        make(&thief, i % 2, 0, 2, 2000 + i);
        claim(&thief, &given, claims[i].roster, claims[i].ticket);
        talk(&thief, alone, 1);
        CU_ASSERT_EQUAL(thief.session.state, CTL_SESSION_FAILED);
        CU_ASSERT_EQUAL(thief.session.failure.reason, CTL_CANNOT_RESUME);
        CU_ASSERT_STRING_EQUAL(thief.session.failure.text,
                               claims[i].ticket == 0
                                   ? "nothing shows that rank 0 was in the job before the switch restarted: "
                                     "its JOIN has no ticket, "
                                     "as of a library, or a switch below, that is older than this switch"
                                   : "nothing shows that rank 0 was in the job before the switch restarted: "
                                     "its ticket is not of "
                                     "this switch's secret (state)");
        CU_ASSERT(jobs(false) == 0 && jobs(true) == 0);
    }
    now += SECOND;
    talk(&b, all, 2);
    CU_ASSERT(b.session.state == CTL_SESSION_READY && b.session.generation == 2);
    talk(&a, both, 2);
    talk(&c, both, 2);
    talk(&a, both, 2);
    CU_ASSERT(a.session.state == CTL_SESSION_READY && a.session.generation == 2);
    CU_ASSERT(c.session.state == CTL_SESSION_READY && c.session.generation == 2);
    CU_ASSERT_EQUAL(a.session.ready.ticket, given.ticket);
    lasting = (struct ctl_lasting){0};
}

/* Its ranks have tickets of another secret, or none: those are believed, and given new ones. */
TEST(a_switch_with_a_new_secret_believes_who_comes_back)
{
    struct worker a, *all[] = {&a};
    lasting = (struct ctl_lasting){.secret = {7}};
    start_switch(33);
    make(&a, 0, 0, 1, 1000);
    talk(&a, all, 1);
    lasting = (struct ctl_lasting){.secret = {8}, .is_new = true};
    restart(34, all, 1);
    CU_ASSERT(a.session.state == CTL_SESSION_READY && a.session.generation == 2);
    lasting.is_new = false;
    restart(35, all, 1);
    CU_ASSERT(a.session.state == CTL_SESSION_READY && a.session.generation == 3);
    lasting = (struct ctl_lasting){0};
}

int main(void)
{
    int rc = unit_main();
    free(registry);
    return rc;
}

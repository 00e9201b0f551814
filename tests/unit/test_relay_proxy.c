/* Joining through switches: real sessions below, a real registry at the root, and proxies between them, on
 * links that lose messages. */
#include "relay/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/entry.h"
#include "control/guard.h"
#include "control/registry.h"
#include "control/session.h"
#include "random.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "switchml/worker.h"
#include "toy_keys.h"
#include "unit.h"

#define MS UINT64_C(1000000)

enum { RANKS = 4, PROXIES = 3, MAIL_MAX = 4096, STEP_MS = 10, LOST_AFTER_MS = 2000, SEEN = 64 };

/* Ranks 0 and 1 at the switch 1, rank 2 at the switch 2, which is below 1; rank 3 at the root, which is the
 * switch 0. */
static const int switch_of[RANKS] = {1, 1, 2, 0}, above[PROXIES] = {-1, 0, 1};

/* Whom a switch knows by keys of its tenant 0, made of these bytes: its ranks and the switches below. */
static const uint8_t keys_at[PROXIES][2] = {{1, 2}, {3, 4}, {5, 6}};

/* Of the root: who resumes has to show its ticket. */
static const struct ctl_lasting lasting = {.secret = {9}};

struct letter {
    bool to_switch;
    int to; /* a switch, or a rank */
    struct ctl_endpoint from;
    size_t bytes;
    uint8_t payload[CTL_MESSAGE_MAX];
};

static struct net {
    uint64_t now, rng;
    uint32_t loss_ppm;
    struct ctl_session session[RANKS];
    struct ctl_registry *registry;
    struct relay_proxy *proxy[PROXIES]; /* of the switches 1 and 2 */
    struct relay_uplink uplink[PROXIES];
    bool full;                                /* the switch 1 has no room */
    bool dead;                                /* the root does not run */
    bool no_path;                             /* nobody knows yet what gets to the switch above */
    int deaf;                                 /* READYs of the root to ranks below this one are lost */
    int open[PROXIES];                        /* pools, by switch */
    uint8_t number[PROXIES], opened[PROXIES]; /* of the latest; how many so far */
    uint16_t contributors[PROXIES];
    uint64_t had[PROXIES]; /* numbers 0..63 that the latest job was not to have */
    struct letter mail[MAIL_MAX];
    unsigned first, end;
    char text[CTL_TEXT_MAX];                      /* the last event */
    uint8_t rank_mac[RANKS], switch_mac[PROXIES]; /* the last byte of each */
    uint8_t network;
    unsigned moved[RANKS], parent_moved[PROXIES];
    bool keyed;
    struct ctl_tenant_key key[PROXIES][2];
    struct keys_key up_key[PROXIES][2]; /* by which the switch above knows it */
    struct ctl_credentials credentials[RANKS];
    bool forged;              /* somebody without a key sends what he has seen, and changes it */
    struct letter seen[SEEN]; /* the latest */
    unsigned sights;
    bool unknown_key;    /* somebody has one */
    struct letter again; /* comes over and over, once there is an old_epoch */
    uint32_t old_epoch;
} net;

static const struct agg_protocol *const spoken[] = {&sml_protocol};

static uint32_t ip_of_rank(int rank)
{
    return htonl(0x0a000001 + (uint32_t)rank);
}

static uint32_t ip_of_switch(int s)
{
    return htonl(0x0a000100 + (uint32_t)s);
}

static int switch_at(uint32_t ip)
{
    const uint32_t s = ntohl(ip) - 0x0a000100;

    return s < PROXIES ? (int)s : -1;
}

static uint8_t mac_of(uint32_t ip)
{
    const uint32_t s = ntohl(ip) - 0x0a000100, rank = ntohl(ip) - 0x0a000001;

    if (s < PROXIES)
        return net.switch_mac[s];
    return rank < RANKS ? net.rank_mac[rank] : 0;
}

static void put(bool to_switch, int to, uint32_t from_ip, uint16_t from_port, const uint8_t *payload,
                size_t bytes)
{
    struct letter *l = &net.mail[net.end % MAIL_MAX];

    if (rng_chance(&net.rng, net.loss_ppm))
        return;
    CU_ASSERT_FATAL(net.end++ - net.first < MAIL_MAX);
    *l = (struct letter){.to_switch = to_switch, .to = to, .bytes = bytes};
    l->from.ip = from_ip;
    l->from.udp_port = from_port;
    l->from.network = net.network;
    l->from.mac[5] = mac_of(from_ip);
    memcpy(l->payload, payload, bytes);
    net.seen[net.sights++ % SEEN] = *l;
}

/* From switch s. */
static void send_from(int s, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    const int other = switch_at(to->ip);

    put(other >= 0, other >= 0 ? other : (int)(ntohl(to->ip) - 0x0a000001), ip_of_switch(s), CTL_PORT,
        payload, bytes);
}

/* Effects of the root */

static void root_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    (void)ctx;
    send_from(0, to, payload, bytes);
}

static void note_open(int s, const struct ctl_entry *job, uint16_t contributors, uint8_t *number)
{
    *number = net.number[s] = (uint8_t)(20 * s + ++net.opened[s]);
    net.open[s]++;
    net.contributors[s] = contributors;
    net.had[s] = 0;
    for (uint8_t n = 0; n < 64; n++)
        net.had[s] |= (uint64_t)ctl_entry_had_number(job, n) << n;
}

static int root_prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms, uint8_t *number,
                        char text[CTL_TEXT_MAX])
{
    uint16_t contributor[RANKS];

    (void)ctx, (void)terms, (void)text;
    CU_ASSERT(ctl_tree_has_switches(job));
    note_open(0, job, ctl_tree_contributors(job, contributor, NULL), number);
    return 0;
}

static void root_release(void *ctx, const struct ctl_entry *job)
{
    (void)ctx, (void)job;
    net.open[0]--;
}

static uint64_t root_random(void *ctx)
{
    (void)ctx;
    return rng_next(&net.rng);
}

static void event(void *ctx, const struct ctl_entry *job, const struct ctl_event *event)
{
    (void)ctx, (void)job;
    snprintf(net.text, sizeof(net.text), "%s", event->text);
}

static void start_root(void)
{
    const struct ctl_registry_config cfg = {.protocols = spoken,
                                            .protocols_known = 1,
                                            .max_jobs = 4,
                                            .boot_id = rng_next(&net.rng) | 1,
                                            .lost_after_ns = LOST_AFTER_MS * MS,
                                            .library = &toy_library,
                                            .lasting = &lasting,
                                            .key = net.key[0],
                                            .keys = net.keyed ? 2 : 0,
                                            .actions = {.send = root_send,
                                                        .prepare = root_prepare,
                                                        .release = root_release,
                                                        .random = root_random,
                                                        .event = event}};

    free(net.registry);
    net.registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
    net.open[0] = 0;
}

/* Effects of a switch below; ctx: its number. */

static int number_of(void *ctx)
{
    return (int)((const struct relay_uplink *)ctx - net.uplink);
}

static void leaf_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    send_from(number_of(ctx), to, payload, bytes);
}

static void leaf_send_up(void *ctx, unsigned uplink, const uint8_t *payload, size_t bytes)
{
    CU_ASSERT_EQUAL(uplink, 0);
    put(true, above[number_of(ctx)], ip_of_switch(number_of(ctx)), CTL_PORT, payload, bytes);
}

static int leaf_prepare(void *ctx, const struct relay_job *job, uint8_t *number, char text[CTL_TEXT_MAX])
{
    const int s = number_of(ctx);

    if (s == 1 && net.full) {
        snprintf(text, CTL_TEXT_MAX, "all slots are in use");
        return -ENOSPC;
    }
    CU_ASSERT_EQUAL(job->parent_number, net.number[above[s]]);
    CU_ASSERT_EQUAL(job->parent.ip, ip_of_switch(above[s]));
    note_open(s, &job->entry, job->contributors, number);
    return 0;
}

static void leaf_release(void *ctx, const struct relay_job *job)
{
    (void)job;
    net.open[number_of(ctx)]--;
}

static void leaf_moved(void *ctx, const struct relay_job *job, unsigned rank)
{
    (void)ctx;
    CU_ASSERT_EQUAL(job->entry.members[rank].endpoint.mac[5], net.rank_mac[rank]);
    net.moved[rank]++;
}

static void leaf_parent_moved(void *ctx, const struct relay_job *job)
{
    const int s = number_of(ctx);

    CU_ASSERT_EQUAL(job->parent.mac[5], net.switch_mac[above[s]]);
    net.parent_moved[s]++;
}

static uint16_t leaf_payload_bytes(void *ctx, unsigned uplink)
{
    (void)ctx, (void)uplink;
    return net.no_path ? 0 : 1000;
}

static void start_leaf(int s)
{
    net.uplink[s] = (struct relay_uplink){.ip = ip_of_switch(above[s]),
                                          .data_port = 0xBEF0,
                                          .us = {.ip = ip_of_switch(s), .udp_port = CTL_PORT},
                                          .key = net.up_key[s],
                                          .keys = net.keyed ? 1 : 0};
    const struct relay_config cfg = {.protocols = spoken,
                                     .protocols_known = 1,
                                     .uplink = &net.uplink[s],
                                     .uplinks = 1,
                                     .max_jobs = 2,
                                     .max_processes = 8,
                                     .id = rng_next(&net.rng) | 1,
                                     .ip = ip_of_switch(s),
                                     .lost_after_ns = LOST_AFTER_MS * MS,
                                     .data_ports = 2,
                                     .library = &toy_library,
                                     .key = net.key[s],
                                     .keys = net.keyed ? 2 : 0,
                                     .actions = {.ctx = &net.uplink[s],
                                                 .send = leaf_send,
                                                 .send_up = leaf_send_up,
                                                 .prepare = leaf_prepare,
                                                 .release = leaf_release,
                                                 .event = event,
                                                 .moved = leaf_moved,
                                                 .parent_moved = leaf_parent_moved,
                                                 .random = root_random,
                                                 .payload_bytes = leaf_payload_bytes}};

    free(net.proxy[s]);
    net.proxy[s] = relay_init(malloc(relay_footprint(&cfg)), &cfg);
    net.open[s] = 0;
}

/* A switch that is asked about what it does not know, as its registry answers. */
static void answer_unknown(int s, const struct ctl_message *asked, const struct ctl_endpoint *from)
{
    const struct ctl_guard guard = {.library = &toy_library, .key = net.key[s], .keys = 2};
    struct ctl_message m = *asked;
    uint8_t out[CTL_MESSAGE_MAX];

    m.head.type = CTL_UNKNOWN;
    m.head.boot_id = rng_next(&net.rng) | 1;
    send_from(s, from, out, ctl_guard_build(&guard, from, 0, &m, out));
}

static void at_leaf(int s, const struct letter *l)
{
    struct ctl_endpoint from = l->from;
    struct ctl_message m;

    if (l->from.ip == ip_of_switch(above[s])) {
        if (ctl_parse(&m, l->payload, l->bytes) == CTL_PARSED && m.head.type == CTL_READY &&
            m.head.rank < net.deaf)
            return;
        relay_receive_up(net.proxy[s], 0, &l->from, l->payload, l->bytes, net.now);
        return;
    }
    if (relay_read(net.proxy[s], &m, &from, l->payload, l->bytes) != CTL_PARSED) {
        CU_ASSERT(net.forged);
        return;
    }
    if (m.head.type == CTL_JOIN || relay_knows(net.proxy[s], &m, &from))
        CU_ASSERT_EQUAL(relay_receive(net.proxy[s], &l->from, 0, l->payload, l->bytes, net.now), CTL_PARSED)
    else
        answer_unknown(s, &m, &from);
}

static void hand_over(const struct letter *l)
{
    if (!l->to_switch)
        ctl_session_receive(&net.session[l->to], l->payload, l->bytes, net.now);
    else if (l->to > 0)
        at_leaf(l->to, l);
    else if (!net.dead)
        CU_ASSERT(ctl_registry_receive(net.registry, &l->from, l->payload, l->bytes, net.now) == CTL_PARSED ||
                  net.forged || net.unknown_key);
}

/* One of the latest letters once more: as it was, changed, without its seal, or from and to others. */
static void forge(void)
{
    struct letter l = net.seen[rng_below(&net.rng, net.sights < SEEN ? net.sights : SEEN)];
    const struct letter *other = &net.seen[rng_below(&net.rng, net.sights < SEEN ? net.sights : SEEN)];

    switch (rng_below(&net.rng, 4)) {
    case 0:
        l.payload[rng_below(&net.rng, l.bytes)] ^= (uint8_t)(1 << rng_below(&net.rng, 8));
        break;
    case 1: { /* bit 0 of byte 6 says that it is sealed */
        struct ctl_message m;

        ctl_parse(&m, l.payload, l.bytes);
        m.head.sealed = false;
        m.head.serial += (uint32_t)rng_below(&net.rng, 3);
        m.head.type = (uint8_t)(ctl_type_from_worker(m.head.type) ? CTL_LEAVE : CTL_LEFT);
        l.bytes = ctl_build(l.payload, &m);
        break;
    }
    case 2:
        l.to_switch = other->to_switch;
        l.to = other->to;
        l.from = other->from;
        break;
    default:
        break;
    }
    hand_over(&l);
}

/* Founds no job of the life that it is of. */
static void try_old_ready(void)
{
    hand_over(&net.again);
    for (unsigned i = 0; i < 2; i++)
        CU_ASSERT_NOT_EQUAL(relay_job(net.proxy[1], i)->entry.epoch, net.old_epoch);
}

static void deliver(void)
{
    while (net.first < net.end) {
        const struct letter l = net.mail[net.first++ % MAIL_MAX];

        if (net.forged)
            forge();
        hand_over(&l);
        if (net.old_epoch != 0)
            try_old_ready();
    }
}

static void step(void)
{
    uint8_t out[CTL_MESSAGE_MAX];
    size_t bytes;

    net.now += STEP_MS * MS;
    for (int rank = 0; rank < RANKS; rank++)
        while (net.session[rank].state != 0 &&
               (bytes = ctl_session_poll(&net.session[rank], net.now, out)) > 0)
            put(true, switch_of[rank], ip_of_rank(rank), (uint16_t)(1000 + rank), out, bytes);
    deliver();
    ctl_registry_tick(net.registry, net.now);
    for (int s = 1; s < PROXIES; s++)
        relay_tick(net.proxy[s], net.now);
    deliver();
}

static void join(int rank)
{
    const struct sml_terms wish = {.format = XFER_FORMAT_TYPED, .slots = 8, .chunk_bytes = 1024};
    struct ctl_session_config cfg = {.rank = (uint16_t)rank,
                                     .size = RANKS,
                                     .incarnation = rng_next(&net.rng) | 1,
                                     .join = {.name = "t", .data_port = (uint16_t)(2000 + rank)},
                                     .worker = &sml_worker,
                                     .credentials = net.keyed ? &net.credentials[rank] : NULL,
                                     .join_deadline_ns = 60000 * MS};

    sml_terms_build(&cfg.join.terms, &wish);
    ctl_session_init(&net.session[rank], &cfg, net.now);
}

/* Ranks have the first key of their switch, and switches the second one of the switch above. */
static void make_keys(void)
{
    for (int s = 0; s < PROXIES; s++) {
        for (unsigned i = 0; i < 2; i++)
            net.key[s][i] = (struct ctl_tenant_key){.key = toy_key(keys_at[s][i])};
        if (s > 0)
            net.up_key[s][0] = toy_key(keys_at[above[s]][1]);
    }
    for (int rank = 0; rank < RANKS; rank++)
        net.credentials[rank] = (struct ctl_credentials){
            .library = &toy_library,
            .key = toy_key(keys_at[switch_of[rank]][0]),
            .address = {.ip = ip_of_rank(rank), .udp_port = (uint16_t)(1000 + rank)}};
}

static void start_with(bool keyed, uint32_t loss_ppm, uint64_t seed)
{
    struct ctl_registry *registry = net.registry;
    struct relay_proxy *one = net.proxy[1], *two = net.proxy[2];

    memset(&net, 0, sizeof(net));
    net.rng = seed;
    net.now = 1000 * MS;
    net.loss_ppm = loss_ppm;
    net.registry = registry;
    net.proxy[1] = one;
    net.proxy[2] = two;
    net.keyed = keyed;
    make_keys();
    start_root();
    start_leaf(1);
    start_leaf(2);
    for (int rank = 0; rank < RANKS; rank++)
        join(rank);
}

static void start(uint32_t loss_ppm, uint64_t seed)
{
    start_with(false, loss_ppm, seed);
}

static bool all_are(enum ctl_session_state state, unsigned generation)
{
    for (int rank = 0; rank < RANKS; rank++)
        if (net.session[rank].state != state || net.session[rank].generation < generation)
            return false;
    return true;
}

static void until_all_are(enum ctl_session_state state, unsigned generation)
{
    for (int i = 0; i < 3000 && !all_are(state, generation); i++)
        step();
    CU_ASSERT_FATAL(all_are(state, generation));
}

static void pass(unsigned ms)
{
    for (unsigned i = 0; i < ms / STEP_MS; i++)
        step();
}

/* Every switch has one pool open, the one that its ranks know. */
static void check_pools(void)
{
    struct sml_terms t;

    for (int s = 0; s < PROXIES; s++)
        CU_ASSERT_EQUAL(net.open[s], 1);
    for (int rank = 0; rank < RANKS; rank++) {
        const struct ctl_session *s = &net.session[rank];

        CU_ASSERT_EQUAL(s->ready.job, net.number[switch_of[rank]]);
        CU_ASSERT_EQUAL(s->ready.above.levels, switch_of[rank]);
        for (int level = switch_of[rank] - 1, i = 0; level >= 0; level--, i++)
            CU_ASSERT_EQUAL(s->ready.above.number[i], net.number[level]);
        CU_ASSERT_EQUAL(s->ready.data_ports, switch_of[rank] == 0 ? 1 : 2);
        CU_ASSERT(sml_terms_parse(&t, &s->ready.terms));
        CU_ASSERT_EQUAL(t.chunk_bytes, 988); /* what payload_bytes has room for */
    }
    CU_ASSERT_EQUAL(net.contributors[0], 2);
    CU_ASSERT_EQUAL(net.contributors[1], 3);
    CU_ASSERT_EQUAL(net.contributors[2], 1);
}

TEST(ready_comes_when_the_whole_tree_is_there)
{
    start(0, 1);
    net.session[2].state = 0; /* it comes later */
    pass(2000);
    for (int rank = 0; rank < RANKS; rank++)
        if (rank != 2) {
            CU_ASSERT_EQUAL(net.session[rank].state, CTL_SESSION_JOINING);
            CU_ASSERT(ctl_ranks_has(&net.session[rank].pending.missing, 2));
            CU_ASSERT_EQUAL(ctl_ranks_count(&net.session[rank].pending.missing), 1);
        }
    CU_ASSERT_EQUAL(net.open[0] + net.open[1] + net.open[2], 0);
    join(2);
    until_all_are(CTL_SESSION_READY, 1);
    check_pools();
    const struct relay_job *job = relay_job(net.proxy[1], 0);
    CU_ASSERT_EQUAL(job->entry.state, CTL_ENTRY_RUNNING);
    CU_ASSERT_EQUAL(job->entry.present, 3);
    CU_ASSERT_STRING_EQUAL(job->entry.name, "t");
    CU_ASSERT_EQUAL(ctl_ranks_count(&job->bundle), 3);
}

TEST(a_switch_without_room_fails_the_job_and_says_who_it_is)
{
    start(0, 3);
    net.full = true;
    until_all_are(CTL_SESSION_FAILED, 0);
    for (int rank = 0; rank < RANKS; rank++)
        CU_ASSERT_STRING_EQUAL(net.session[rank].failure.text, "switch 10.0.1.1: all slots are in use");
    CU_ASSERT_EQUAL(net.open[0] + net.open[1] + net.open[2], 0);
}

static bool says_who_is_silent(int rank, const char *text)
{
    return strstr(text, "switch 10.0.1.1: the switch above, 10.0.1.0, has not answered for ") != NULL ||
           (printf("\n    rank %d: %s\n", rank, text), false);
}

/* Below a switch below it, too. */
TEST(who_joins_below_a_dead_switch_hears_which_it_is)
{
    for (int no_path = 0; no_path < 2; no_path++) {
        start(0, 20);
        net.dead = true;
        net.no_path = no_path;
        net.session[3].state = 0; /* at the root itself */
        pass(500);
        for (int rank = 0; rank < 3; rank++)
            CU_ASSERT_EQUAL(net.session[rank].pending.turned_away.reason, CTL_OK);
        pass(2500);
        for (int rank = 0; rank < (no_path ? 2 : 3); rank++) {
            CU_ASSERT(ctl_ranks_has(&net.session[rank].pending.missing, (uint16_t)rank));
            CU_ASSERT(says_who_is_silent(rank, net.session[rank].pending.turned_away.text));
        }
        if (no_path) { /* it comes up in time */
            net.dead = net.no_path = false;
            join(3);
            until_all_are(CTL_SESSION_READY, 1);
            check_pools();
        } else {
            pass(60000);
            for (int rank = 0; rank < 3; rank++) {
                CU_ASSERT_EQUAL(net.session[rank].state, CTL_SESSION_FAILED);
                CU_ASSERT(says_who_is_silent(rank, net.session[rank].failure.text));
            }
        }
    }
}

static void leave_all(void)
{
    for (int rank = 0; rank < RANKS; rank++)
        ctl_session_leave(&net.session[rank], net.now);
    until_all_are(CTL_SESSION_CLOSED, 0);
}

/* One with losses or without is tried beside the other. */
static bool tries(uint64_t seed)
{
    return unit_tries((unsigned)seed / 2);
}

/* Any switch may restart, again and again: every rank goes on in another life of the job, under numbers that
 * it did not have before. */
TEST(a_restart_of_any_switch_is_one_of_all)
{
    for (uint64_t seed = 0; seed < 120; seed++) {
        if (!tries(seed))
            continue;
        start_with(seed >= 60, seed % 2 ? 10000 : 0, seed);
        net.forged = seed >= 90;
        until_all_are(CTL_SESSION_READY, 1);
        for (unsigned generation = 2; generation < 5; generation++) {
            const int s = (int)rng_below(&net.rng, PROXIES);
            const uint8_t was[PROXIES] = {net.number[0], net.number[1], net.number[2]};

            pass((unsigned)rng_below(&net.rng, 1000));
            if (s == 0)
                start_root();
            else
                start_leaf(s);
            until_all_are(CTL_SESSION_READY, generation);
            pass(3000);
            CU_ASSERT(all_are(CTL_SESSION_READY, generation));
            check_pools();
            for (int i = 0; i < PROXIES; i++)
                CU_ASSERT(net.had[i] >> was[i] & 1);
        }
        leave_all();
        pass(20000);
        CU_ASSERT_EQUAL(net.open[0] + net.open[1] + net.open[2], 0);
        CU_ASSERT_EQUAL(ctl_registry_entry(net.registry, 0)->state, CTL_ENTRY_FREE);
        CU_ASSERT_EQUAL(relay_job(net.proxy[1], 0)->entry.state, CTL_ENTRY_FREE);
    }
}

/* Restarts while the job is still forming, and of several switches at once. */
TEST(restarts_at_any_moment)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        if (!tries(seed))
            continue;
        start_with(seed >= 150, seed % 2 ? 10000 : 0, seed);
        net.forged = seed >= 225;
        for (int i = 0; i < 6; i++) {
            pass((unsigned)rng_below(&net.rng, 60) * STEP_MS / 2);
            const int s = (int)rng_below(&net.rng, PROXIES);
            if (s == 0)
                start_root();
            else
                start_leaf(s);
        }
        until_all_are(CTL_SESSION_READY, 1);
        pass(8000);
        CU_ASSERT_FATAL(all_are(CTL_SESSION_READY, 1));
        check_pools();
    }
}

TEST(who_is_lost_is_named_with_his_switch)
{
    start(0, 5);
    until_all_are(CTL_SESSION_READY, 1);
    net.session[2].state = 0;
    pass(4000);
    CU_ASSERT_EQUAL(net.session[0].state, CTL_SESSION_FAILED);
    CU_ASSERT_EQUAL(net.session[0].failure.reason, CTL_RANK_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(
        net.session[0].failure.text,
        "switch 10.0.1.0: rank 2 (10.0.0.3, at switch 10.0.1.2 on level 3) lost: no sign of life for"));
    CU_ASSERT_PTR_NOT_NULL(strstr(net.session[3].failure.text, "at switch 10.0.1.2 on level 3"));
    CU_ASSERT_EQUAL(net.open[0] + net.open[1] + net.open[2], 0);
}

TEST(the_operator_of_a_switch_ends_a_job)
{
    start(0, 6);
    until_all_are(CTL_SESSION_READY, 1);
    CU_ASSERT(!relay_end(net.proxy[1], 0, "other", net.now));
    CU_ASSERT(relay_end(net.proxy[1], 0, "t", net.now));
    until_all_are(CTL_SESSION_FAILED, 1);
    CU_ASSERT_STRING_EQUAL(net.session[3].failure.text, "switch 10.0.1.1: its operator has ended the job");
    CU_ASSERT_EQUAL(net.open[0] + net.open[1] + net.open[2], 0);
}

/* Also where the first of its ranks has left, in whose name the root would not hear it. */
TEST(an_end_is_not_said_for_a_rank_that_has_left)
{
    start(0, 6);
    until_all_are(CTL_SESSION_READY, 1);
    ctl_session_leave(&net.session[0], net.now);
    pass(1000);
    CU_ASSERT(relay_end(net.proxy[1], 0, "t", net.now));
    pass(200); /* no heartbeat is due */
    for (unsigned rank = 1; rank < RANKS; rank++)
        CU_ASSERT_STRING_EQUAL(net.session[rank].failure.text,
                               "switch 10.0.1.1: its operator has ended the job");
}

/* Where the network loses what a switch says once. */
TEST(an_end_that_is_lost_is_said_again)
{
    start(0, 6);
    until_all_are(CTL_SESSION_READY, 1);
    net.loss_ppm = 1000000;
    CU_ASSERT(relay_end(net.proxy[1], 0, "t", net.now));
    net.loss_ppm = 0;
    pass(5000);
    for (unsigned rank = 0; rank < RANKS; rank++)
        CU_ASSERT_EQUAL(net.session[rank].state, CTL_SESSION_FAILED);
}

/* The root's pool waits for the sum of all ranks that came by the switch 1, whoever of them has left since.
 */
TEST(a_rank_that_leaves_early_stays_in_its_switchs_sum)
{
    start(0, 8);
    net.deaf = 2;
    pass(1000);
    CU_ASSERT_EQUAL(net.open[0], 1);
    CU_ASSERT_EQUAL(net.session[2].state, CTL_SESSION_JOINING);
    CU_ASSERT(ctl_ranks_has(&net.session[2].pending.missing, 0));
    CU_ASSERT(ctl_ranks_has(&net.session[2].pending.missing, 1));
    ctl_session_leave(&net.session[1], net.now);
    ctl_session_leave(&net.session[2], net.now);
    pass(1000);
    net.deaf = 0;
    pass(1000);
    CU_ASSERT_EQUAL(net.open[1], 0);
    CU_ASSERT_EQUAL(net.session[0].state, CTL_SESSION_JOINING);
    CU_ASSERT_EQUAL(ctl_ranks_count(&net.session[0].pending.missing), 2);
}

/* What switch 1 answers to the JOIN of a process that it does not know. */
static struct ctl_message answer_to_newcomer(const char *name, uint8_t hops, uint16_t quorum)
{
    struct ctl_message m = {
        .head = {.type = CTL_JOIN, .version = CTL_VERSION, .incarnation = 77, .size = RANKS, .serial = 1},
        .join = {.data_port = 5, .hops = hops}};
    const struct sml_terms wish = {
        .format = XFER_FORMAT_TYPED, .slots = 8, .chunk_bytes = 1024, .quorum = quorum};
    const struct ctl_endpoint from = {.ip = ip_of_rank(0)};
    uint8_t out[CTL_MESSAGE_MAX];
    const struct letter *answer = &net.mail[net.end % MAIL_MAX];

    net.first = net.end;
    snprintf(m.join.name, sizeof(m.join.name), "%s", name);
    sml_terms_build(&m.join.terms, &wish);
    relay_receive(net.proxy[1], &from, 0, out, ctl_build(out, &m), net.now);
    CU_ASSERT_EQUAL_FATAL(net.end, net.first + 1);
    CU_ASSERT_EQUAL(ctl_parse(&m, answer->payload, answer->bytes), CTL_PARSED);
    net.first = net.end;
    return m;
}

static void expect_refused(const struct ctl_message *m, const char *text)
{
    CU_ASSERT_EQUAL(m->head.type, CTL_REFUSED);
    CU_ASSERT_STRING_EQUAL(m->failure.text, text);
}

TEST(switches_in_a_circle_are_refused)
{
    struct ctl_message m;

    start(0, 7);
    m = answer_to_newcomer("c", CTL_LEVELS_MAX - 1, 0);
    expect_refused(&m, "the switches above one another (uplink) are a circle, or more than 8");
}

/* It went no further, so nothing above owes an answer to it. */
TEST(a_join_that_is_refused_here_makes_no_parent_silent)
{
    struct ctl_message m;

    start(0, 7);
    for (int rank = 0; rank < RANKS; rank++)
        net.session[rank].state = 0;
    m = answer_to_newcomer("c", CTL_LEVELS_MAX - 1, 0);
    CU_ASSERT_EQUAL(m.head.type, CTL_REFUSED);
    pass(5000);
    m = answer_to_newcomer("t", 0, 0);
    CU_ASSERT_EQUAL(m.head.type, CTL_JOIN); /* up, and that is all */
}

TEST(a_job_with_a_quorum_is_told_that_it_has_one_switch)
{
    struct ctl_message m;

    start(0, 7);
    m = answer_to_newcomer("q", 0, 2);
    expect_refused(&m, "jobs with a quorum have one switch only, no tree of switches: all ranks set "
                       "options.uplink to SWAGG_UPLINK_NONE, or options.quorum to 0");
}

/* Its members go on, and restarts are theirs, too; a newcomer is let in when they have left. */
TEST(the_operator_of_a_switch_drains_a_job)
{
    struct ctl_message m;

    start(0, 8);
    until_all_are(CTL_SESSION_READY, 1);
    CU_ASSERT(!relay_drain(net.proxy[1], 0, "other", net.now));
    CU_ASSERT(relay_drain(net.proxy[1], 0, "t", net.now));
    m = answer_to_newcomer("t", 0, 0);
    expect_refused(&m,
                   "the switch's operator lets the job of this name come to its end: nobody else may join");
    pass(3000);
    CU_ASSERT(all_are(CTL_SESSION_READY, 1));
    start_root();
    until_all_are(CTL_SESSION_READY, 2);
    check_pools();
    leave_all();
    for (int rank = 0; rank < RANKS; rank++)
        join(rank);
    until_all_are(CTL_SESSION_READY, 1);
}

TEST(a_job_that_forms_is_not_drained_but_ended)
{
    start(0, 9);
    net.deaf = 2;
    pass(1000);
    CU_ASSERT_EQUAL(relay_job(net.proxy[1], 0)->entry.state, CTL_ENTRY_FORMING);
    CU_ASSERT(relay_drain(net.proxy[1], 0, "t", net.now));
    until_all_are(CTL_SESSION_FAILED, 0);
    CU_ASSERT_EQUAL(net.open[0] + net.open[1] + net.open[2], 0);
}

/* Routers and network cards are replaced, below and above: sums follow, the job goes on. */
TEST(mac_addresses_change)
{
    start(0, 10);
    until_all_are(CTL_SESSION_READY, 1);
    net.rank_mac[1] = 9;
    net.switch_mac[0] = 7;
    pass(3000);
    CU_ASSERT(net.moved[0] == 0 && net.moved[1] == 1 && net.moved[2] == 0);
    CU_ASSERT(net.parent_moved[1] == 1 && net.parent_moved[2] == 0);
    net.switch_mac[1] = 5; /* above switch 2, and below the root */
    pass(3000);
    CU_ASSERT(net.parent_moved[1] == 1 && net.parent_moved[2] == 1);
    CU_ASSERT(all_are(CTL_SESSION_READY, 1));
}

/* It has not heard yet that the job runs, and goes on to join. */
TEST(a_rank_that_joins_from_another_mac_address_is_followed)
{
    struct letter again = {0};
    struct ctl_message m;

    start(0, 26);
    step();
    for (unsigned i = 0; i < SEEN && again.bytes == 0; i++)
        if (net.seen[i].to_switch && net.seen[i].to == 1 && net.seen[i].from.ip == ip_of_rank(1))
            again = net.seen[i];
    until_all_are(CTL_SESSION_READY, 1);
    net.rank_mac[1] = again.from.mac[5] = 9;
    CU_ASSERT_FATAL(ctl_parse(&m, again.payload, again.bytes) == CTL_PARSED && m.head.type == CTL_JOIN);
    m.head.serial = ++net.session[1].serial;
    m.head.boot_id = net.session[1].boot_id;
    again.bytes = ctl_build(again.payload, &m);
    hand_over(&again);
    CU_ASSERT_EQUAL(net.moved[1], 1);
    CU_ASSERT_EQUAL(relay_job(net.proxy[1], 0)->entry.members[1].endpoint.mac[5], 9);
    pass(3000);
    CU_ASSERT_EQUAL(net.moved[1], 1);
    CU_ASSERT(all_are(CTL_SESSION_READY, 1));
}

/* The job's secret at switch s, as its ranks and the switches below have it. */
static const uint8_t *secret_at(int s)
{
    return s == 0 ? ctl_registry_entry(net.registry, 0)->secret : relay_job(net.proxy[s], 0)->entry.secret;
}

TEST(each_switch_shares_a_secret_of_its_own)
{
    start_with(true, 0, 14);
    until_all_are(CTL_SESSION_READY, 1);
    check_pools();
    for (int rank = 0; rank < RANKS; rank++)
        CU_ASSERT_EQUAL(memcmp(net.session[rank].secret, secret_at(switch_of[rank]), KEYS_SECRET_BYTES), 0);
    for (int s = 1; s < PROXIES; s++) {
        const struct relay_job *job = relay_job(net.proxy[s], 0);

        CU_ASSERT(job->entry.keyed);
        CU_ASSERT_EQUAL(memcmp(job->parent_secret, secret_at(above[s]), KEYS_SECRET_BYTES), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(job->parent_secret, secret_at(s), KEYS_SECRET_BYTES), 0);
    }
    CU_ASSERT(relay_has_key(net.proxy[1], 0) && relay_has_key(net.proxy[1], 1));
    CU_ASSERT(relay_has_key(net.proxy[2], 0) && !relay_has_key(net.proxy[2], 1));
}

/* The next key of the switch above is used from the next message on; members with the old one stay. */
TEST(an_uplink_gets_another_key)
{
    start_with(true, 0, 15);
    until_all_are(CTL_SESSION_READY, 1);
    net.up_key[1][1] = net.up_key[1][0];
    net.up_key[1][0] = toy_key(keys_at[0][0]);
    net.uplink[1].keys = 2;
    pass(5000);
    CU_ASSERT(all_are(CTL_SESSION_READY, 1));
    net.key[0][1].retired = true;
    start_leaf(1); /* all join again, by the new key */
    until_all_are(CTL_SESSION_READY, 2);
    check_pools();
    net.key[1][0].retired = true; /* of rank 0 and 1, who stay */
    start_root();
    until_all_are(CTL_SESSION_READY, 3);
    leave_all();
    join(0);
    pass(3000);
    CU_ASSERT_EQUAL(net.session[0].state, CTL_SESSION_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(net.session[0].failure.text, "no longer takes this key for new jobs"));
}

TEST(keys_that_are_missing_are_named)
{
    start_with(true, 0, 16);
    net.uplink[2].keys = 0;
    pass(3000);
    CU_ASSERT_EQUAL(net.session[2].state, CTL_SESSION_FAILED);
    CU_ASSERT_EQUAL(net.session[2].failure.reason, CTL_BAD_KEY);
    CU_ASSERT_PTR_NOT_NULL(strstr(net.session[2].failure.text, "key_file in its configuration"));
    start_with(true, 0, 17);
    net.up_key[1][0] = toy_key(99);
    net.unknown_key = true;
    pass(61000);
    CU_ASSERT_EQUAL_FATAL(net.session[0].state, CTL_SESSION_FAILED);
    CU_ASSERT_EQUAL(net.session[0].failure.reason, CTL_BAD_KEY);
    CU_ASSERT_PTR_NOT_NULL(strstr(net.session[0].failure.text,
                                  "switch 10.0.1.0: this switch does not know the key of the message"));
}

/* Who has no key is another process, though he says that he is rank 1; his LEAVE is not passed on as one of
 * rank 1. Neither does an answer that is not sealed end the job. */
TEST(who_has_no_key_is_nobody)
{
    struct ctl_message m;
    uint8_t out[CTL_MESSAGE_MAX];

    start_with(true, 0, 18);
    until_all_are(CTL_SESSION_READY, 1);
    m = (struct ctl_message){.head = {.type = CTL_LEAVE,
                                      .version = CTL_VERSION,
                                      .boot_id = net.session[1].boot_id,
                                      .incarnation = net.session[1].cfg.incarnation,
                                      .epoch = net.session[1].epoch,
                                      .rank = 1,
                                      .size = RANKS,
                                      .serial = net.session[1].serial + 1}};
    const struct ctl_endpoint rank = {.ip = ip_of_rank(1), .udp_port = 1001};
    const struct ctl_endpoint parent = {.ip = ip_of_switch(0), .udp_port = CTL_PORT};
    relay_receive(net.proxy[1], &rank, 0, out, ctl_build(out, &m), net.now);
    CU_ASSERT_EQUAL(net.first, net.end); /* nobody hears of it */
    m.head.type = CTL_LEFT;
    m.head.serial--;
    m.head.boot_id = ctl_registry_entry(net.registry, 0)->roster; /* any */
    relay_receive_up(net.proxy[1], 0, &parent, out, ctl_build(out, &m), net.now);
    CU_ASSERT_EQUAL(relay_job(net.proxy[1], 0)->entry.present, 3);
    CU_ASSERT_EQUAL(net.first, net.end);
}

/* A JOIN from an address of somebody else's, who does not hear the answer. Returns how many messages it makes
 * the leaf send up. */
static unsigned forge_join(uint32_t ip, uint64_t boot_id)
{
    const struct ctl_endpoint from = {.ip = ip, .udp_port = 4000};
    struct ctl_message m = {.head = {.type = CTL_JOIN,
                                     .version = CTL_VERSION,
                                     .boot_id = boot_id,
                                     .incarnation = rng_next(&net.rng) | 1,
                                     .size = 2,
                                     .serial = 1},
                            .join = {.name = "x", .data_port = 5000}};
    uint8_t out[CTL_MESSAGE_MAX];
    unsigned up = 0;

    m.join.terms = net.session[0].cfg.join.terms;
    relay_receive(net.proxy[1], &from, 0, out, ctl_build(out, &m), net.now);
    for (; net.first < net.end; net.first++)
        up += net.mail[net.first % MAIL_MAX].to_switch;
    return up;
}

/* Neither a place nor a message to the switch above: for the boot id that each address is shown is another,
 * and forgers do not hear theirs. So the ranks that are there keep their routes, and others still join. */
TEST(forged_joins_cost_nobody_anything)
{
    unsigned up = 0;

    start_with(false, 0, 23);
    until_all_are(CTL_SESSION_READY, 1);
    net.first = net.end;
    for (uint32_t i = 0; i < 4000; i++)
        up += forge_join(htonl(0x0a090000 + i), i % 3 == 0   ? 0
                                                : i % 3 == 1 ? rng_next(&net.rng)
                                                             : net.session[1].boot_id);
    CU_ASSERT_EQUAL(up, 0);
    for (unsigned rank = 0; rank < RANKS; rank++)
        CU_ASSERT_EQUAL(net.session[rank].state, CTL_SESSION_READY);
    pass(3 * LOST_AFTER_MS);
    for (unsigned rank = 0; rank < RANKS; rank++)
        CU_ASSERT_EQUAL(net.session[rank].state, CTL_SESSION_READY);
}

/* A copy that comes late: a JOIN from before the job is nobody's wish any more. */
TEST(a_late_message_goes_nowhere)
{
    struct letter late = {0};

    start(0, 24);
    step();
    for (unsigned i = 0; i < SEEN && late.bytes == 0; i++)
        if (net.seen[i].to_switch && net.seen[i].to == 1 && net.seen[i].from.ip == ip_of_rank(0))
            late = net.seen[i];
    until_all_are(CTL_SESSION_READY, 1);
    hand_over(&late);
    CU_ASSERT(late.bytes > 0 && net.first == net.end);
    leave_all();
}

/* What ranks are shown is this switch's and their address's own, and another after it has restarted. */
TEST(boot_ids_are_this_switchs_own)
{
    uint64_t shown;

    start(0, 25);
    until_all_are(CTL_SESSION_READY, 1);
    shown = net.session[0].boot_id;
    CU_ASSERT(shown != net.session[1].boot_id && shown != net.session[3].boot_id);
    start_leaf(1);
    until_all_are(CTL_SESSION_READY, 2);
    CU_ASSERT(net.session[0].boot_id != shown && net.session[0].boot_id != net.session[3].boot_id);
}

/* As a machine that was suspended: nothing could be heard meanwhile. */
TEST(time_that_the_switch_slept_is_held_against_nobody)
{
    start(0, 26);
    until_all_are(CTL_SESSION_READY, 1);
    net.now += 100 * LOST_AFTER_MS * MS;
    relay_tick(net.proxy[1], net.now);
    CU_ASSERT_EQUAL(relay_job(net.proxy[1], 0)->entry.present, 3);
}

static bool is_ready_for_leaf(const struct letter *l)
{
    struct ctl_message m;

    return l->to_switch && l->to == 1 && l->from.ip == ip_of_switch(0) &&
           ctl_parse(&m, l->payload, l->bytes) == CTL_PARSED && m.head.type == CTL_READY;
}

/* What the root said in an earlier life of the switch is no answer to who joins now. */
TEST(an_old_ready_founds_nothing)
{
    start_with(true, 0, 19);
    while (!all_are(CTL_SESSION_READY, 1)) {
        step();
        for (unsigned i = 0; i < SEEN && net.again.bytes == 0; i++)
            if (is_ready_for_leaf(&net.seen[i]))
                net.again = net.seen[i];
    }
    CU_ASSERT_FATAL(net.again.bytes > 0);
    net.old_epoch = net.session[0].epoch;
    start_leaf(1);
    until_all_are(CTL_SESSION_READY, 2);
    check_pools();
}

TEST(tenants_are_renumbered)
{
    static const int tenant[] = {3};

    start(0, 11);
    until_all_are(CTL_SESSION_READY, 1);
    CU_ASSERT(relay_has_tenant(net.proxy[1], 0) && !relay_has_tenant(net.proxy[1], 3));
    relay_follow(net.proxy[1], tenant, 0);
    CU_ASSERT(relay_has_tenant(net.proxy[1], 3) && !relay_has_tenant(net.proxy[1], 0));
    CU_ASSERT_EQUAL(relay_job(net.proxy[1], 0)->entry.tenant, 3);
    CU_ASSERT(!relay_end(net.proxy[1], 0, "t", net.now));
    CU_ASSERT(relay_end(net.proxy[1], 3, "t", net.now));
}

static bool is_rank_1(const void *ctx, const struct ctl_endpoint *endpoint)
{
    (void)ctx;
    return endpoint->ip == ip_of_rank(1);
}

TEST(a_rank_whose_port_goes_ends_the_job)
{
    start(0, 12);
    until_all_are(CTL_SESSION_READY, 1);
    relay_cut(net.proxy[1], is_rank_1, NULL, "on port h2, which the switch's operator has removed", net.now);
    until_all_are(CTL_SESSION_FAILED, 1);
    CU_ASSERT_STRING_EQUAL(net.session[3].failure.text, "switch 10.0.1.1: rank 1 (10.0.0.2) was on port h2, "
                                                        "which the switch's operator has removed");
    CU_ASSERT_EQUAL(net.open[0] + net.open[1] + net.open[2], 0);
}

TEST(a_job_is_in_the_network_of_its_ranks)
{
    start(0, 13);
    net.network = 2;
    until_all_are(CTL_SESSION_READY, 1);
    CU_ASSERT_EQUAL(relay_job(net.proxy[1], 0)->entry.network, 2);
}

int main(void)
{
    int rc = unit_main();

    free(net.registry);
    free(net.proxy[1]);
    free(net.proxy[2]);
    return rc;
}

/* The switch's side of the control protocol, by scripted transcripts. Each script says what happens, one line
 * each, and what the registry is to do about it, indented:
 *
 *   JOIN p 0/2 key=value ...  process p (a..z) joins as rank 0 of 2
 *   HEARTBEAT p calls=3 finished=3 mac=9 waiting stalled=2500 stranger
 *   LEAVE p calls=3 finished=3
 *   ABORT p what it says
 *   again mac=9               the last message once more, as it was, but for the MAC address it comes from
 *   old p TYPE                a message of this type with a serial before p's last
 *   packets a b               data packets of these processes come
 *   wait 2.5                  seconds pass, with ticks
 *   sleep 60                  seconds pass without any
 *   restart                   the switch loses all it knew; reborn: all but its running jobs
 *   slow                      from now on pools take time
 *   prepared, lacking         what was put off last is ready; or there is no room for it
 *   full, numberless          prepare says no from now on: there are no slots, no numbers
 *   roomy                     it says yes again
 *   reserved                  from now on a place is kept for tenant 0's job "reserved"
 *   hasty                     a new switch, to which a second is a long silence
 *   strict 5                  a new switch, which ends jobs that wait 5 s for a rank that lives
 *   hearing                   a new switch, which hears NICs
 *   narrow                    a new switch, whose ports carry 1000 bytes of UDP payload
 *   end j of 1, drain j of 1  the operator ends tenant 1's job "j", or lets it come to its end; without
 *                             more, tenant 0's job "t"
 *   alone                     there is one tenant from now on
 *   loud                      events are shown from now on
 *   list                      jobs, as an operator is shown them: their states
 *
 * Keys of JOIN: job, slots, chunk, mode, format, checksum, quorum; resume (its tag), was (its job's number
 * before), among (the processes that it was READY with; else a, b, c, ...); waited: since before a restart;
 * like=q: from q's endpoint; host=q: from q's host; data=q: from its host and data port; fixed: from where a
 * job sends that nobody joins; stranger: it does not know this boot id; network=: of the switch's; below=: of
 * a host behind a switch below; pair=: its NIC's queue pair; asked=: so many messages of it were lost before;
 * moved: it is heard on another port of the switch; protocol= and terms=: another protocol, another version
 * of its terms; unlike: the terms are those of a rank that resumes, and the rank is not one, or the other way
 * round.
 *
 * Some lines stand for several:
 *
 *   running 3                 a, b and c (1 to 3 of them) have joined as all ranks of a job
 *   alive a b                 HEARTBEAT of each, and its ALIVE
 *     abc READY ...           the same for each, one after the other
 */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "control/registry.h"
#include "random.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "unit.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

static const struct agg_protocol *const spoken[] = {&sml_protocol};

struct process {
    struct ctl_endpoint endpoint;
    uint16_t data_port, rank, size;
    uint32_t serial, epoch;
    uint64_t boot_id;
};

struct stage {
    struct ctl_registry *registry;
    uint64_t now, boot_id, random;
    unsigned max_jobs;
    bool loud, full, numberless, silent, slow, alone, reserved;
    uint64_t asked; /* the preparation that was put off last */
    struct ctl_prepared prepared;
    uint64_t lost_after_ns, late_ends_ns;
    uint16_t payload_bytes;
    bool hears_nics;
    bool heard[26]; /* by process: its data packets */
    struct process processes[26];
    struct ctl_endpoint last_from;
    uint8_t last[CTL_MESSAGE_MAX];
    size_t last_bytes;
    unsigned next_number;
    char out[8000];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static inline void say(struct stage *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->out + s->used, sizeof s->out - s->used, format, args);
    va_end(args);
    if (n > 0 && s->used + (size_t)n < sizeof s->out)
        s->used += (size_t)n;
}

/* Not inlined: gcc 12 then believes that m is used after its scope has ended. */
__attribute__((noinline)) static void effect_send(void *ctx, const struct ctl_endpoint *to,
                                                  const uint8_t *payload, size_t bytes)
{
    struct stage *s = ctx;
    struct ctl_message m;
    struct sml_terms t;
    char ranks[CTL_RANKS_TEXT_MAX];
    CU_ASSERT_EQUAL(ctl_parse(&m, payload, bytes), CTL_PARSED);
    if (s->silent)
        return;
    char name = (char)m.head.incarnation;
    struct process *p = &s->processes[name - 'a'];
    CU_ASSERT_EQUAL(memcmp(to, &p->endpoint, sizeof *to), 0);
    CU_ASSERT_EQUAL(m.head.rank, p->rank);
    CU_ASSERT_EQUAL(m.head.size, p->size);
    CU_ASSERT(m.head.boot_id == s->boot_id || (m.head.type == CTL_UNKNOWN && m.head.boot_id == ~s->boot_id));
    CU_ASSERT(m.head.serial <= p->serial);
    say(s, "  %c %s", name, ctl_type_name(m.head.type));
    switch (m.head.type) {
    case CTL_ALIVE:
        if (m.alive.behind > 0)
            say(s, " %u behind", m.alive.behind);
        break;
    case CTL_PENDING:
        if (m.pending.no_room)
            say(s, " no room");
        else if (m.pending.preparing)
            say(s, " preparing");
        else
            say(s, " %s%s", m.pending.occupied ? "occupied by " : "",
                ctl_ranks_text(&m.pending.missing, ranks));
        if (m.pending.turned_away.reason != CTL_OK)
            say(s, ", turned away: rank %u, %s", m.pending.turned_away.rank,
                ctl_reason_name(m.pending.turned_away.reason));
        break;
    case CTL_READY:
        p->epoch = m.head.epoch;
        p->boot_id = m.head.boot_id;
        CU_ASSERT(sml_terms_parse(&t, &m.ready.terms));
        say(s, " %u slots %u bytes%s", t.slots, t.chunk_bytes, m.ready.resumed ? " resumed" : "");
        if (m.ready.nic)
            say(s, " by its NIC");
        if (m.ready.resumed)
            say(s, " at %u", t.first_tag);
        break;
    case CTL_UNKNOWN:
        say(s, "%s", m.head.boot_id == s->boot_id ? "" : ", join again");
        break;
    case CTL_REFUSED:
    case CTL_ABORTED:
        say(s, " %s: %s", ctl_reason_name(m.failure.reason), m.failure.text);
        break;
    }
    say(s, "\n");
}

static inline int effect_prepare(void *ctx, const struct ctl_entry *job, struct agg_terms *terms,
                                 uint8_t *number, char text[CTL_TEXT_MAX])
{
    struct stage *s = ctx;
    struct sml_terms t;
    CU_ASSERT_EQUAL(job->state, CTL_ENTRY_FORMING);
    CU_ASSERT_EQUAL(job->present, job->size);
    if (s->full) {
        snprintf(text, CTL_TEXT_MAX, "all slots are in use");
        return -ENOSPC;
    }
    if (s->numberless) {
        snprintf(text, CTL_TEXT_MAX, "all numbers are in use");
        return -EMFILE;
    }
    *number = (uint8_t)s->next_number++;
    CU_ASSERT(sml_terms_parse(&t, terms));
    if (!job->resumed && t.slots > 256)
        t.slots = 256;
    sml_terms_build(terms, &t);
    if (s->slow) {
        s->asked = job->preparation;
        s->prepared = (struct ctl_prepared){.terms = *terms, .number = *number};
        say(s, "  prepare\n");
        return CTL_LATER;
    }
    say(s, "  open%s\n", ctl_entry_had_number(job, *number) ? ", but not under its old number" : "");
    return 0;
}

static inline void effect_release(void *ctx, const struct ctl_entry *job)
{
    struct stage *s = ctx;
    if (job->state == CTL_ENTRY_PREPARING) {
        CU_ASSERT_EQUAL(job->preparation, s->asked);
        say(s, "  never mind\n");
        return;
    }
    CU_ASSERT_EQUAL(job->state, CTL_ENTRY_RUNNING);
    CU_ASSERT(job->number < s->next_number);
    say(s, "  close\n");
}

static inline void effect_event(void *ctx, const struct ctl_entry *job, const struct ctl_event *event)
{
    struct stage *s = ctx;
    if (s->loud)
        say(s, "  job '%s': %s\n", job->name, event->text);
}

/* Nobody may join the job called "closed", and all but process b the job called "picky". In jobs called
 * "shared...", processes a, c, ... are of tenant 1, which may have three jobs, one of them one that nobody
 * joins; all others are of tenant 0, and so is everybody once that one is alone. */
static inline int effect_tenant_of(void *ctx, const struct ctl_endpoint *from, int key, const char *name,
                                   char text[CTL_TEXT_MAX])
{
    const uint8_t *ip = (const uint8_t *)&from->ip;
    (void)key;
    snprintf(text, CTL_TEXT_MAX, "%u.%u.%u.%u may not", ip[0], ip[1], ip[2], ip[3]);
    if (strcmp(name, "closed") == 0 || (strcmp(name, "picky") == 0 && ip[3] == 2))
        return -1;
    return !((struct stage *)ctx)->alone && strncmp(name, "shared", 6) == 0 && ip[3] % 2 == 1;
}

static inline unsigned effect_kept(void *ctx, int tenant, const char *name, bool of_tenant)
{
    const struct stage *s = ctx;
    const bool its = tenant == 0 && strcmp(name, "reserved") == 0;
    return s->reserved && !its && (tenant == 0 || !of_tenant);
}

enum { FIXED_PORT = 4000 /* of a job that nobody joins, at every host */ };

static inline bool effect_is_taken(void *ctx, const struct ctl_endpoint *from, uint16_t data_port,
                                   char text[CTL_TEXT_MAX])
{
    (void)ctx;
    snprintf(text, CTL_TEXT_MAX, "port %u of host %u is fixed", data_port, ((const uint8_t *)&from->ip)[3]);
    return data_port == FIXED_PORT;
}

static inline void effect_moved(void *ctx, const struct ctl_entry *job, unsigned rank)
{
    say(ctx, "  rank %u moved to %u\n", rank, job->members[rank].endpoint.mac[5]);
}

static inline bool effect_heard(void *ctx, const struct ctl_entry *job, unsigned rank)
{
    bool *heard = &((struct stage *)ctx)->heard[job->members[rank].incarnation - 'a'], was = *heard;
    CU_ASSERT_EQUAL(job->state, CTL_ENTRY_RUNNING);
    *heard = false;
    return was;
}

static inline uint64_t effect_random(void *ctx)
{
    struct stage *s = ctx;
    return rng_next(&s->random);
}

static inline void start_registry(struct stage *s)
{
    static const struct ctl_tenant tenants[] = {{.name = "rest"}, {.name = "odd", .jobs = 3, .elsewhere = 1}};
    struct ctl_registry_config cfg = {
        .protocols = spoken,
        .protocols_known = 1,
        .max_jobs = (uint16_t)s->max_jobs,
        .tenants_known = 2,
        .tenants = tenants,
        .boot_id = ++s->boot_id,
        .lost_after_ns = s->lost_after_ns ? s->lost_after_ns : 10 * SECOND,
        .late_ends_ns = s->late_ends_ns,
        .hears_nics = s->hears_nics,
        .payload_bytes = s->payload_bytes,
        .actions = {s, effect_send, effect_prepare, effect_release, effect_random, effect_event,
                    effect_tenant_of, effect_is_taken, effect_moved, effect_heard, .kept = effect_kept},
    };
    free(s->registry);
    s->registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
}

/* Another process goes on with all running jobs of the one before. */
static inline void do_reborn(struct stage *s)
{
    struct ctl_registry *before = s->registry;
    s->registry = NULL;
    s->boot_id--;
    start_registry(s);
    for (unsigned i = 0; i < s->max_jobs; i++)
        if (ctl_registry_entry(before, i)->state == CTL_ENTRY_RUNNING)
            CU_ASSERT(ctl_registry_restore(s->registry, ctl_registry_entry(before, i), s->now));
    free(before);
}

/* A stage on which a switch has just started; close_stage frees it. */
static inline struct stage *open_stage(unsigned max_jobs)
{
    struct stage *s = calloc(1, sizeof *s);

    s->max_jobs = max_jobs;
    s->now = SECOND;
    s->boot_id = 100;
    start_registry(s);
    return s;
}

static inline void close_stage(struct stage *s)
{
    free(s->registry);
    free(s);
}

static inline unsigned number_after(const char *line, const char *key, unsigned otherwise)
{
    const char *at = strstr(line, key);
    return at ? (unsigned)strtoul(at + strlen(key), NULL, 10) : otherwise;
}

static inline struct process *process_after(struct stage *s, const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? &s->processes[at[strlen(key)] - 'a'] : NULL;
}

static inline void deliver(struct stage *s, const struct process *p, const struct ctl_message *m)
{
    s->last_bytes = ctl_build(s->last, m);
    s->last_from = p->endpoint;
    CU_ASSERT_EQUAL(ctl_registry_receive(s->registry, &s->last_from, s->last, s->last_bytes, s->now),
                    CTL_PARSED);
}

/* The last message once more, perhaps from another MAC address. */
static inline void do_again(struct stage *s, const char *line)
{
    struct ctl_message m;

    CU_ASSERT_EQUAL(ctl_parse(&m, s->last, s->last_bytes), CTL_PARSED);
    s->last_from.mac[5] = (uint8_t)number_after(line, "mac=", s->last_from.mac[5]);
    s->processes[m.head.incarnation - 'a'].endpoint = s->last_from;
    ctl_registry_receive(s->registry, &s->last_from, s->last, s->last_bytes, s->now);
}

static inline struct ctl_message message_from(char name, struct process *p, uint8_t type)
{
    struct ctl_message m;
    memset(&m, 0, sizeof m);
    m.head = (struct ctl_head){.type = type,
                               .version = CTL_VERSION,
                               .boot_id = p->boot_id,
                               .incarnation = (uint64_t)name,
                               .epoch = p->epoch,
                               .rank = p->rank,
                               .size = p->size,
                               .serial = ++p->serial};
    return m;
}

static inline void do_join(struct stage *s, char name, const char *line)
{
    struct process *p = &s->processes[name - 'a'];
    const struct process *like = process_after(s, line, "like="), *data = process_after(s, line, "data="),
                         *host = process_after(s, line, "host=");
    unsigned rank = 0, size = 0;
    const char *job = strstr(line, "job="), *among = strstr(line, "among=");
    CU_ASSERT_EQUAL(sscanf(line, "JOIN %*c %u/%u", &rank, &size), 2);
    p->rank = (uint16_t)rank;
    p->size = (uint16_t)size;
    p->endpoint =
        (struct ctl_endpoint){.mac = {2, 0, 0, 0, 0, (uint8_t)name}, .udp_port = (uint16_t)(1000 + name)};
    memcpy(&p->endpoint.ip, (uint8_t[]){10, 0, 0, (uint8_t)(name - 'a' + 1)}, 4);
    p->data_port = (uint16_t)(2000 + name);
    if (data) {
        p->endpoint.ip = data->endpoint.ip;
        p->data_port = data->data_port;
    }
    if (host)
        p->endpoint.ip = host->endpoint.ip;
    if (strstr(line, "fixed"))
        p->data_port = FIXED_PORT;
    if (like)
        p->endpoint = like->endpoint;
    p->endpoint.port = strstr(line, "moved") != NULL;
    p->endpoint.network = (uint8_t)number_after(line, "network=", 0);
    if (!strstr(line, "stranger"))
        p->boot_id = s->boot_id;
    p->serial += number_after(line, "asked=", 0);
    struct ctl_message m = message_from(name, p, CTL_JOIN);
    m.join = (struct ctl_join){.data_port = p->data_port,
                               .resume = strstr(line, "resume="),
                               .job = (uint8_t)number_after(line, "was=", 99),
                               .waited = strstr(line, "waited"),
                               .queue_pair = number_after(line, "pair=", 0),
                               .hops = strstr(line, "below=") != NULL};
    memcpy(&m.join.host, (uint8_t[]){10, 0, 1, (uint8_t)number_after(line, "below=", 0)}, 4);
    const struct sml_terms wish = {.mode = number_after(line, "mode=", XFER_ORDERED),
                                   .chunk_bytes = (uint16_t)number_after(line, "chunk=", 1460),
                                   .slots = (uint16_t)number_after(line, "slots=", 128),
                                   .checksum = number_after(line, "checksum=", XFER_CHECKSUM_NONE),
                                   .quorum = (uint16_t)number_after(line, "quorum=", 0),
                                   .resumed = m.join.resume != (strstr(line, "unlike") != NULL),
                                   .first_tag = number_after(line, "resume=", 0)};
    sml_terms_build(&m.join.terms, &wish);
    m.join.terms.data[0] = (uint8_t)number_after(line, "format=", m.join.terms.data[0]); /* as on the wire */
    m.join.terms.protocol = (uint8_t)number_after(line, "protocol=", AGG_PROTOCOL_SWITCHML);
    m.join.terms.version = (uint8_t)number_after(line, "terms=", SML_TERMS_VERSION);
    for (unsigned i = 0; among ? among[6 + i] >= 'a' : i < size; i++)
        m.join.roster ^= (uint64_t)(among ? among[6 + i] : 'a' + (int)i);
    strcpy(m.join.name, "t");
    if (job)
        sscanf(job, "job=%47s", m.join.name);
    deliver(s, p, &m);
}

static inline void do_message(struct stage *s, char name, uint8_t type, const char *line)
{
    struct process *p = &s->processes[name - 'a'];
    struct ctl_message m = message_from(name, p, type);
    p->endpoint.mac[5] = (uint8_t)number_after(line, "mac=", p->endpoint.mac[5]);
    if (strstr(line, "stranger"))
        m.head.boot_id++;
    if (strstr(line, "asks"))
        m.head.boot_id = 0;
    if (type == CTL_ABORT) {
        m.failure.reason = CTL_APPLICATION;
        m.failure.rank = UINT16_MAX;
        snprintf(m.failure.text, sizeof m.failure.text, "%s", line + strlen("ABORT a "));
    } else {
        m.heartbeat = (struct ctl_heartbeat){.calls = number_after(line, "calls=", 0),
                                             .waiting = strstr(line, "waiting"),
                                             .stalled_ms = number_after(line, "stalled=", 0),
                                             .tells_finished = strstr(line, "finished="),
                                             .finished = number_after(line, "finished=", 0)};
    }
    deliver(s, p, &m);
}

static inline void do_old(struct stage *s, char name, const char *type)
{
    struct process *p = &s->processes[name - 'a'];
    struct process before = *p;
    p->serial -= 2;
    do_message(s, name, strcmp(type, "LEAVE") == 0 ? CTL_LEAVE : CTL_ABORT, "ABORT a late");
    *p = before;
}

static inline void do_wait(struct stage *s, double seconds, uint64_t step)
{
    for (uint64_t end = s->now + (uint64_t)(seconds * 1e3 + 0.5) * MS; s->now < end;) {
        s->now += step < end - s->now ? step : end - s->now;
        ctl_registry_tick(s->registry, s->now);
    }
}

static inline void do_lacking(struct stage *s, int result, const char *why)
{
    struct ctl_prepared p = {.result = result};
    snprintf(p.text, sizeof p.text, "%s", why);
    ctl_registry_prepared(s->registry, s->asked, &p, s->now);
}

static inline void list(struct stage *s)
{
    for (unsigned i = 0; i < s->max_jobs; i++) {
        const struct ctl_entry *job = ctl_registry_entry(s->registry, i);
        if (job->state != CTL_ENTRY_FREE && !ctl_registry_is_superseded(s->registry, i))
            say(s, "  %s\n", ctl_entry_state_name(job->state));
    }
}

/* By the operator. */
static inline bool do_end(struct stage *s, const char *line,
                          bool (*end)(struct ctl_registry *, int, const char *, uint64_t))
{
    char job[CTL_NAME_MAX] = "t";
    sscanf(line, "%*s %47s", job);
    return end(s->registry, (int)number_after(line, " of ", 0), job, s->now);
}

static inline void do_line(struct stage *s, const char *line)
{
    char verb[16] = "", name = 'a', type[16] = "";
    double seconds = 0;
    sscanf(line, "%15s %c %15s", verb, &name, type);
    if (strcmp(verb, "JOIN") == 0)
        do_join(s, name, line);
    else if (strcmp(verb, "HEARTBEAT") == 0)
        do_message(s, name, CTL_HEARTBEAT, line);
    else if (strcmp(verb, "LEAVE") == 0)
        do_message(s, name, CTL_LEAVE, line);
    else if (strcmp(verb, "ABORT") == 0)
        do_message(s, name, CTL_ABORT, line);
    else if (strcmp(verb, "again") == 0)
        do_again(s, line);
    else if (strcmp(verb, "old") == 0)
        do_old(s, name, type);
    else if (strcmp(verb, "packets") == 0)
        for (const char *p = strchr(line, ' '); p != NULL; p = strchr(p + 1, ' '))
            s->heard[p[1] - 'a'] = true;
    else if (sscanf(line, "wait %lf", &seconds) == 1)
        do_wait(s, seconds, 100 * MS);
    else if (sscanf(line, "sleep %lf", &seconds) == 1)
        do_wait(s, seconds, UINT64_MAX);
    else if (strcmp(verb, "restart") == 0)
        start_registry(s);
    else if (strcmp(verb, "reborn") == 0)
        do_reborn(s);
    else if (strcmp(verb, "full") == 0)
        s->full = true;
    else if (strcmp(verb, "numberless") == 0)
        s->numberless = true;
    else if (strcmp(verb, "reserved") == 0)
        s->reserved = true;
    else if (strcmp(verb, "roomy") == 0)
        s->full = s->numberless = false;
    else if (strcmp(verb, "hasty") == 0) {
        s->lost_after_ns = SECOND;
        start_registry(s);
    } else if (sscanf(line, "strict %lf", &seconds) == 1) {
        s->late_ends_ns = (uint64_t)seconds * SECOND;
        start_registry(s);
    } else if (strcmp(verb, "narrow") == 0) {
        s->payload_bytes = 1000;
        start_registry(s);
    } else if (strcmp(verb, "hearing") == 0) {
        s->hears_nics = true;
        start_registry(s);
    } else if (strcmp(verb, "loud") == 0)
        s->loud = true;
    else if (strcmp(verb, "slow") == 0)
        s->slow = true;
    else if (strcmp(verb, "alone") == 0)
        s->alone = true;
    else if (strcmp(verb, "list") == 0)
        list(s);
    else if (strcmp(verb, "end") == 0)
        say(s, do_end(s, line, ctl_registry_end) ? "" : "  nothing\n");
    else if (strcmp(verb, "drain") == 0)
        say(s, do_end(s, line, ctl_registry_drain) ? "" : "  nothing\n");
    else if (strcmp(verb, "prepared") == 0)
        ctl_registry_prepared(s->registry, s->asked, &s->prepared, s->now);
    else if (strcmp(verb, "lacking") == 0)
        do_lacking(s, -ENOSPC, "the parent has no slots");
    else
        CU_FAIL("a script has a line that means nothing");
}

static inline void say_running(struct stage *s, unsigned size)
{
    static const char *const missing[][2] = {{""}, {"rank 1"}, {"ranks 1 and 2", "rank 2"}};

    for (unsigned r = 0; r < size; r++) {
        say(s, "JOIN %c %u/%u\n", 'a' + (int)r, r, size);
        if (r + 1 < size)
            say(s, "  %c PENDING %s\n", 'a' + (int)r, missing[size - 1][r]);
    }
    say(s, "  open\n");
    for (unsigned r = 0; r < size; r++)
        say(s, "  %c READY 128 slots 1460 bytes\n", 'a' + (int)r);
}

/* Says the script, with all that its lines stand for. */
static inline void say_script(struct stage *s, const char *script)
{
    for (const char *end; *script != '\0'; script = end + 1) {
        char names[4], capital[2];
        unsigned size;

        end = strchr(script, '\n');
        if (sscanf(script, "running %u", &size) == 1)
            say_running(s, size);
        else if (strncmp(script, "alive", 5) == 0)
            for (const char *p = script + 5; p < end; p += 2)
                say(s, "HEARTBEAT %c\n  %c ALIVE\n", p[1], p[1]);
        else if (sscanf(script, "  %3[a-e] %1[A-Z]", names, capital) == 2)
            for (const char *name = names; *name != '\0'; name++)
                say(s, "  %c%.*s\n", *name, (int)(strcspn(script + 2, "\n") - strlen(names)),
                    script + 2 + strlen(names));
        else
            say(s, "%.*s\n", (int)(end - script), script);
    }
}

static inline void play(unsigned max_jobs, const char *text)
{
    struct stage *s = open_stage(max_jobs);
    char script[sizeof s->out];

    say_script(s, text);
    memcpy(script, s->out, sizeof script);
    s->used = 0;
    for (const char *line = script; *line;) {
        const char *end = strchr(line, '\n');
        if (*line != ' ') {
            char copy[200];
            snprintf(copy, sizeof copy, "%.*s", (int)(end - line), line);
            say(s, "%s\n", copy);
            do_line(s, copy);
        }
        line = end + 1;
    }
    CU_ASSERT_STRING_EQUAL(s->out, script);
    if (strcmp(s->out, script) != 0)
        printf("\n---- expected\n%s---- seen\n%s", script, s->out);
    close_stage(s);
}

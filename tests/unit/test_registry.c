/* The switch's side of the control protocol, by scripted transcripts. Each script says what happens, one line
 * each, and what the registry is to do about it, indented:
 *
 *   JOIN p 0/2 key=value ...  process p (a..z) joins as rank 0 of 2. Keys: job, slots, chunk, mode, format,
 *                             resume (its tag), was (its job's number before); like=q: from q's endpoint;
 *                             data=q: from q's host and data port; stranger: it does not know this boot id;
 *                             moved: it is heard on another port of the switch
 *   HEARTBEAT p calls=3 waiting stalled=2500 stranger
 *   LEAVE p calls=3
 *   ABORT p what it says
 *   again                     the last message once more, as it was
 *   old p TYPE                a message of this type with a serial before p's last
 *   wait 2.5                  seconds pass, with ticks
 *   sleep 60                  seconds pass without any
 *   restart                   the switch loses all it knew
 *   full, numberless          open_pool says no from now on: there are no slots, no numbers
 *   hasty                     a new switch, to which a second is a long silence
 *   loud                      events are shown from now on
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "control/registry.h"
#include "unit.h"

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)

struct process {
    struct ctl_endpoint endpoint;
    uint16_t data_port, rank, size;
    uint32_t serial, epoch;
    uint64_t boot_id;
};

struct stage {
    struct ctl_registry *registry;
    uint64_t now, boot_id;
    unsigned max_jobs;
    bool loud, full, numberless, silent;
    uint64_t lost_after_ns;
    struct process processes[26];
    struct ctl_endpoint last_from;
    uint8_t last[CTL_MESSAGE_MAX];
    size_t last_bytes;
    unsigned next_number;
    char out[8000];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct stage *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(s->out + s->used, sizeof s->out - s->used, format, args);
    va_end(args);
    if (n > 0 && s->used + (size_t)n < sizeof s->out)
        s->used += (size_t)n;
}

static void effect_send(void *ctx, const struct ctl_endpoint *to, const uint8_t *payload, size_t bytes)
{
    struct stage *s = ctx;
    struct ctl_message m;
    char ranks[CTL_RANKS_TEXT_MAX];
    CU_ASSERT_EQUAL(ctl_parse(&m, payload, bytes), CTL_PARSED);
    if (s->silent)
        return;
    char name = (char)m.head.incarnation;
    struct process *p = &s->processes[name - 'a'];
    CU_ASSERT_EQUAL(memcmp(to, &p->endpoint, sizeof *to), 0);
    CU_ASSERT_EQUAL(m.head.rank, p->rank);
    CU_ASSERT_EQUAL(m.head.size, p->size);
    CU_ASSERT_EQUAL(m.head.boot_id, s->boot_id);
    CU_ASSERT_TRUE(m.head.serial <= p->serial);
    say(s, "  %c %s", name, ctl_type_name(m.head.type));
    switch (m.head.type) {
    case CTL_PENDING:
        say(s, " %s%s", m.pending.occupied ? "occupied by " : "", ctl_ranks_text(&m.pending.missing, ranks));
        break;
    case CTL_READY:
        p->epoch = m.head.epoch;
        p->boot_id = m.head.boot_id;
        say(s, " %u slots %u bytes%s", m.ready.slots, m.ready.chunk_bytes, m.ready.resumed ? " resumed" : "");
        if (m.ready.resumed)
            say(s, " at %u", m.ready.first_tag);
        break;
    case CTL_REFUSED:
    case CTL_ABORTED:
        say(s, " %s: %s", ctl_reason_name(m.failure.reason), m.failure.text);
        break;
    }
    say(s, "\n");
}

static int effect_open(void *ctx, const struct ctl_job *job, uint16_t *slots, uint8_t *number,
                       char text[CTL_TEXT_MAX])
{
    struct stage *s = ctx;
    CU_ASSERT_EQUAL(job->state, CTL_JOB_FORMING);
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
    if (!job->resumed && *slots > 256)
        *slots = 256;
    say(s, "  open%s\n", ctl_job_had_number(job, *number) ? ", but not under its old number" : "");
    return 0;
}

static void effect_close(void *ctx, const struct ctl_job *job)
{
    struct stage *s = ctx;
    CU_ASSERT_EQUAL(job->state, CTL_JOB_RUNNING);
    CU_ASSERT_TRUE(job->number < s->next_number);
    say(s, "  close\n");
}

static void effect_event(void *ctx, const struct ctl_job *job, const char *what)
{
    struct stage *s = ctx;
    if (s->loud)
        say(s, "  job '%s': %s\n", job->name, what);
}

static void start_registry(struct stage *s)
{
    struct ctl_registry_config cfg = {
        .max_jobs = (uint16_t)s->max_jobs,
        .boot_id = ++s->boot_id,
        .lost_after_ns = s->lost_after_ns ? s->lost_after_ns : 10 * SECOND,
        .seed = 1,
        .data_port = SML_PORT_FIRST,
        .actions = {s, effect_send, effect_open, effect_close, effect_event},
    };
    free(s->registry);
    s->registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
}

static unsigned number_after(const char *line, const char *key, unsigned otherwise)
{
    const char *at = strstr(line, key);
    return at ? (unsigned)strtoul(at + strlen(key), NULL, 10) : otherwise;
}

static struct process *process_after(struct stage *s, const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? &s->processes[at[strlen(key)] - 'a'] : NULL;
}

static void deliver(struct stage *s, const struct process *p, const struct ctl_message *m)
{
    s->last_bytes = ctl_build(s->last, m);
    s->last_from = p->endpoint;
    CU_ASSERT_EQUAL(ctl_registry_receive(s->registry, &s->last_from, s->last, s->last_bytes, s->now),
                    CTL_PARSED);
}

static struct ctl_message message_from(char name, struct process *p, uint8_t type)
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

static void do_join(struct stage *s, char name, const char *line)
{
    struct process *p = &s->processes[name - 'a'];
    const struct process *like = process_after(s, line, "like="), *data = process_after(s, line, "data=");
    unsigned rank = 0, size = 0;
    const char *job = strstr(line, "job=");
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
    if (like)
        p->endpoint = like->endpoint;
    p->endpoint.port = strstr(line, "moved") != NULL;
    if (!strstr(line, "stranger"))
        p->boot_id = s->boot_id;
    struct ctl_message m = message_from(name, p, CTL_JOIN);
    m.join = (struct ctl_join){.data_port = p->data_port,
                               .format = (uint8_t)number_after(line, "format=", SML_FORMAT_TYPED),
                               .mode = (uint8_t)number_after(line, "mode=", SML_WHEN_COMPLETE),
                               .chunk_bytes = (uint16_t)number_after(line, "chunk=", 1460),
                               .slots = (uint16_t)number_after(line, "slots=", 128),
                               .resume = strstr(line, "resume="),
                               .job = (uint8_t)number_after(line, "was=", 99),
                               .oldest_tag = number_after(line, "resume=", 0)};
    strcpy(m.join.name, "t");
    if (job)
        sscanf(job, "job=%47s", m.join.name);
    deliver(s, p, &m);
}

static void do_message(struct stage *s, char name, uint8_t type, const char *line)
{
    struct process *p = &s->processes[name - 'a'];
    struct ctl_message m = message_from(name, p, type);
    if (strstr(line, "stranger"))
        m.head.boot_id++;
    if (type == CTL_ABORT) {
        m.failure.reason = CTL_APPLICATION;
        m.failure.rank = UINT16_MAX;
        snprintf(m.failure.text, sizeof m.failure.text, "%s", line + strlen("ABORT a "));
    } else {
        m.heartbeat = (struct ctl_heartbeat){.calls = number_after(line, "calls=", 0),
                                             .waiting = strstr(line, "waiting"),
                                             .stalled_ms = number_after(line, "stalled=", 0)};
    }
    deliver(s, p, &m);
}

static void do_old(struct stage *s, char name, const char *type)
{
    struct process *p = &s->processes[name - 'a'];
    struct process before = *p;
    p->serial -= 2;
    do_message(s, name, strcmp(type, "LEAVE") == 0 ? CTL_LEAVE : CTL_ABORT, "ABORT a late");
    *p = before;
}

static void do_wait(struct stage *s, double seconds, uint64_t step)
{
    for (uint64_t end = s->now + (uint64_t)(seconds * 1e3 + 0.5) * MS; s->now < end;) {
        s->now += step < end - s->now ? step : end - s->now;
        ctl_registry_tick(s->registry, s->now);
    }
}

static void do_line(struct stage *s, const char *line)
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
        ctl_registry_receive(s->registry, &s->last_from, s->last, s->last_bytes, s->now);
    else if (strcmp(verb, "old") == 0)
        do_old(s, name, type);
    else if (sscanf(line, "wait %lf", &seconds) == 1)
        do_wait(s, seconds, 100 * MS);
    else if (sscanf(line, "sleep %lf", &seconds) == 1)
        do_wait(s, seconds, UINT64_MAX);
    else if (strcmp(verb, "restart") == 0)
        start_registry(s);
    else if (strcmp(verb, "full") == 0)
        s->full = true;
    else if (strcmp(verb, "numberless") == 0)
        s->numberless = true;
    else if (strcmp(verb, "hasty") == 0) {
        s->lost_after_ns = SECOND;
        start_registry(s);
    } else if (strcmp(verb, "loud") == 0)
        s->loud = true;
    else
        CU_FAIL("a script has a line that means nothing");
}

static void play(unsigned max_jobs, const char *script)
{
    struct stage *s = calloc(1, sizeof *s);
    s->max_jobs = max_jobs;
    s->now = SECOND;
    s->boot_id = 100;
    start_registry(s);
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
    free(s->registry);
    free(s);
}

static void test_forms(void)
{
    play(4, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN c 2/3 slots=100 chunk=1000\n"
            "  c PENDING rank 1\n"
            "JOIN a 0/3 moved\n"
            "  a PENDING rank 1\n"
            "again\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/3 slots=4096\n"
            "  open\n"
            "  a READY 64 slots 1000 bytes\n"
            "  b READY 64 slots 1000 bytes\n"
            "  c READY 64 slots 1000 bytes\n"
            "JOIN b 1/3\n"
            "  b READY 64 slots 1000 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n");
}

static void test_one_rank(void)
{
    play(4, "JOIN a 0/1\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "  close\n"
            "LEAVE a\n"
            "  a UNKNOWN\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "ABORT a too late\n"
            "  a UNKNOWN\n");
}

static void test_open_pool_lowers_slots(void)
{
    play(4, "JOIN a 0/1 slots=16384\n"
            "  open\n"
            "  a READY 256 slots 1460 bytes\n");
}

static void test_no_slots(void)
{
    play(4, "full\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  a ABORTED no slots: all slots are in use\n"
            "  b ABORTED no slots: all slots are in use\n"
            "JOIN a 0/2\n"
            "  a ABORTED no slots: all slots are in use\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "JOIN a 0/2\n"
            "  a LEFT\n");
}

static void test_no_numbers(void)
{
    play(4, "numberless\n"
            "JOIN a 0/1\n"
            "  a ABORTED no jobs: all numbers are in use\n");
}

static void test_unconfirmed_ready_is_pushed_again(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "wait 0.1\n"
            "  a READY 128 slots 1460 bytes\n"
            "wait 0.1\n"
            "wait 0.1\n"
            "  a READY 128 slots 1460 bytes\n"
            "wait 3.2\n"
            "  a READY 128 slots 1460 bytes\n"
            "  a READY 128 slots 1460 bytes\n"
            "  a READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "wait 5\n");
}

static void test_forming_forgets_the_silent(void)
{
    play(4, "loud\n"
            "JOIN a 0/3\n"
            "  job 't': rank 0 of 3 has joined\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  job 't': rank 1 of 3 has joined\n"
            "  b PENDING rank 2\n"
            "wait 2\n"
            "  job 't': waiting for rank 2 for 2.0 s\n"
            "wait 4\n"
            "  job 't': waiting for rank 2 for 4.0 s\n"
            "JOIN a 0/3\n"
            "  a PENDING rank 2\n"
            "wait 4.1\n"
            "  job 't': waiting for rank 2 for 8.0 s\n"
            "  job 't': forgotten, silent for too long: rank 1\n"
            "wait 5.9\n"
            "  job 't': waiting for ranks 1 and 2 for 16.0 s\n"
            "wait 0.1\n"
            "  job 't': forgotten, silent for too long: rank 0\n"
            "  job 't': over: nobody is left in it\n");
}

/* JOINs may be a second apart, however soon a running job's members count as lost. */
static void test_forming_is_patient(void)
{
    play(4, "hasty\n"
            "loud\n"
            "JOIN a 0/2\n"
            "  job 't': rank 0 of 2 has joined\n"
            "  a PENDING rank 1\n"
            "wait 4.9\n"
            "  job 't': waiting for rank 1 for 2.0 s\n"
            "  job 't': waiting for rank 1 for 4.0 s\n"
            "JOIN b 1/2\n"
            "  job 't': rank 1 of 2 has joined\n"
            "  open\n"
            "  job 't': ready: 2 ranks, number 0, 128 slots, 1460 bytes a chunk\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n");
}

static void test_forming_leave_and_abort(void)
{
    play(4, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  b PENDING rank 2\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "JOIN c 2/3\n"
            "  c PENDING rank 1\n"
            "ABORT c no more\n"
            "  a ABORTED application: no more\n"
            "  c ABORTED application: no more\n"
            "JOIN a 0/3\n"
            "  a ABORTED application: no more\n");
}

static void test_abort_first_one_counts(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "ABORT b first\n"
            "  close\n"
            "  a ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "ABORT a second\n"
            "  a ABORTED application: first\n"
            "HEARTBEAT a\n"
            "  a ABORTED application: first\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "again\n"
            "  a LEFT\n"
            "wait 3.4\n"
            "  b ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "  b ABORTED application: first\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "HEARTBEAT b\n"
            "  b UNKNOWN\n");
}

static void test_lost(void)
{
    play(4, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  b PENDING rank 2\n"
            "JOIN c 2/3\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "HEARTBEAT c\n"
            "  c ALIVE\n"
            "wait 6\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "wait 4\n"
            "again\n"
            "  a ALIVE\n"
            "wait 0.1\n"
            "  close\n"
            "  a ABORTED rank lost: ranks 1 and 2 lost: no sign of life for 10.1 s\n"
            "  b ABORTED rank lost: ranks 1 and 2 lost: no sign of life for 10.1 s\n"
            "  c ABORTED rank lost: ranks 1 and 2 lost: no sign of life for 10.1 s\n"
            "HEARTBEAT b\n"
            "  b ABORTED rank lost: ranks 1 and 2 lost: no sign of life for 10.1 s\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "HEARTBEAT c\n"
            "  c UNKNOWN\n");
}

static void test_a_failed_job_ends_with_its_members(void)
{
    play(4, "JOIN a 0/1\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "HEARTBEAT a stranger\n"
            "  a UNKNOWN\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "loud\n"
            "wait 10.1\n"
            "  close\n"
            "  job 't': failed (rank lost): rank 0 lost: no sign of life for 10.1 s\n"
            "  a ABORTED rank lost: rank 0 lost: no sign of life for 10.1 s\n"
            "  job 't': over: all ranks have left or fallen silent\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n");
}

/* A switch that was stopped for a while has not listened: its members' silence is its own. */
static void test_own_absence_loses_nobody(void)
{
    play(4, "JOIN a 0/1\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "wait 1\n"
            "sleep 60\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n");
}

static void test_killed_and_back_on_the_same_endpoint(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN c 0/2 like=a\n"
            "  c PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  c READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "JOIN d 1/2 like=b\n"
            "  close\n"
            "  c ABORTED rank lost: rank 1 is lost: its process ended and was started again\n"
            "  b ABORTED rank lost: rank 1 is lost: its process ended and was started again\n"
            "  d PENDING rank 0\n"
            "HEARTBEAT c\n"
            "  c ABORTED rank lost: rank 1 is lost: its process ended and was started again\n"
            "JOIN e 0/2\n"
            "  open\n"
            "  e READY 128 slots 1460 bytes\n"
            "  d READY 128 slots 1460 bytes\n"
            "HEARTBEAT c\n"
            "  c ABORTED rank lost: rank 1 is lost: its process ended and was started again\n"
            "HEARTBEAT e\n"
            "  e ALIVE\n");
}

static void test_killed_and_back_on_another_endpoint(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "wait 2\n"
            "JOIN c 1/2\n"
            "  c PENDING occupied by ranks 0 and 1\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "wait 8\n"
            "wait 0.1\n"
            "  close\n"
            "  a ABORTED rank lost: rank 1 lost: no sign of life for 10.1 s\n"
            "  b ABORTED rank lost: rank 1 lost: no sign of life for 10.1 s\n"
            "JOIN c 1/2\n"
            "  c PENDING rank 0\n");
}

static void test_rank_taken(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN c 0/2\n"
            "  c PENDING occupied by rank 0\n"
            "JOIN a 0/2\n" /* may have been sent before it died */
            "  a PENDING rank 1\n"
            "wait 0.2\n"
            "JOIN c 0/2\n"
            "  c PENDING occupied by rank 0\n"
            "JOIN a 0/2\n"
            "  c REFUSED rank taken: rank 0 is taken by a process at 10.0.0.1 that is alive\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "JOIN c 0/2\n"
            "  c PENDING occupied by ranks 0 and 1\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "wait 1\n"
            "HEARTBEAT a\n"
            "  c REFUSED rank taken: rank 0 is taken by a process at 10.0.0.1 that is alive\n"
            "  a ALIVE\n");
}

/* A copy of what the dead one sent before it died proves nothing. */
static void test_a_copy_is_no_sign_of_life(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "wait 1\n"
            "JOIN c 0/2\n"
            "  c PENDING occupied by rank 0\n"
            "wait 1\n"
            "JOIN a 0/2\n"
            "  c REFUSED rank taken: rank 0 is taken by a process at 10.0.0.1 that is alive\n"
            "  a PENDING rank 1\n"
            "wait 1\n"
            "again\n"
            "  a PENDING rank 1\n"
            "wait 9.1\n"
            "JOIN c 0/2\n"
            "  c PENDING rank 1\n");
}

static void test_terms_differ(void)
{
    play(4,
         "JOIN a 0/2\n"
         "  a PENDING rank 1\n"
         "JOIN c 2/3\n"
         "  c PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  c REFUSED terms differ: rank 2 says that there are 3 ranks, rank 0 says 2\n"
         "  a PENDING rank 1\n"
         "JOIN b 1/2 mode=0\n"
         "  b PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  b REFUSED terms differ: rank 1 wants sums on arrival, rank 0 wants ordered sums\n"
         "  a PENDING rank 1\n"
         "JOIN d 1/2 format=0\n"
         "  d PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  d REFUSED terms differ: rank 1 wants int32 elements with exponents, rank 0 wants typed elements\n"
         "  a PENDING rank 1\n"
         "JOIN e 1/2 data=a\n"
         "  e PENDING occupied by rank 0\n"
         "wait 1\n"
         "JOIN a 0/2\n"
         "  e REFUSED rank taken: rank 1 uses the data port of rank 0, a process at 10.0.0.1\n"
         "  a PENDING rank 1\n");
}

static void test_new_terms_after_the_old_have_died(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 0/4\n"
            "  b PENDING occupied by rank 0\n"
            "wait 10.1\n"
            "JOIN b 0/4\n"
            "  b PENDING ranks 1-3\n");
}

static void test_leaver_comes_back_for_the_next_job(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "HEARTBEAT b calls=2\n"
            "  b ALIVE\n"
            "LEAVE a calls=2\n"
            "  a LEFT\n"
            "JOIN c 0/2 like=a\n"
            "  c PENDING occupied by rank 1\n"
            "wait 1\n"
            "HEARTBEAT b calls=2\n"
            "  b ALIVE\n"
            "LEAVE b calls=2\n"
            "  b LEFT\n"
            "  close\n"
            "JOIN c 0/2 like=a\n"
            "  c PENDING rank 1\n");
}

static void test_rank_left(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "HEARTBEAT b calls=1 waiting\n"
            "  b ALIVE\n"
            "LEAVE a calls=2\n" /* b's collective is complete in the switch; b will get it */
            "  a LEFT\n"
            "HEARTBEAT b calls=2\n"
            "  b ALIVE\n"
            "HEARTBEAT b calls=2 waiting\n"
            "  b ALIVE\n"
            "  close\n"
            "  b ABORTED rank left: rank 0 left after 2 collectives, but rank 1 waits for it in another\n"
            "LEAVE b calls=2\n"
            "  b LEFT\n"
            "HEARTBEAT b\n"
            "  b UNKNOWN\n");
}

static void test_rank_left_while_others_wait(void)
{
    play(4, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  b PENDING rank 2\n"
            "JOIN c 2/3\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes\n"
            "HEARTBEAT a calls=5 waiting\n"
            "  a ALIVE\n"
            "LEAVE c calls=5\n"
            "  c LEFT\n"
            "  close\n"
            "  a ABORTED rank left: rank 2 left after 5 collectives, but rank 0 waits for it in another\n"
            "  b ABORTED rank left: rank 2 left after 5 collectives, but rank 0 waits for it in another\n");
}

static void test_late_messages(void)
{
    play(4, "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "old a LEAVE\n"
            "old a ABORT\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "LEAVE a\n"
            "  a LEFT\n"
            "JOIN a 0/2\n"
            "  a LEFT\n"
            "HEARTBEAT a\n"
            "  a LEFT\n"
            "ABORT a after all\n"
            "  a LEFT\n"
            "HEARTBEAT b\n"
            "  b ALIVE\n");
}

static void test_resume(void)
{
    play(4, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  b PENDING rank 2\n"
            "JOIN c 2/3\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes\n"
            "restart\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "JOIN a 0/3 resume=4294967280\n"
            "  a PENDING ranks 1 and 2\n"
            "HEARTBEAT a\n" /* sent before it knew */
            "  a UNKNOWN\n"
            "JOIN b 1/3 resume=4294967290\n"
            "  b PENDING rank 2\n"
            "JOIN a 0/3 resume=35\n"
            "  a PENDING rank 2\n"
            "JOIN c 2/3 resume=10\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes resumed at 4294967290\n"
            "  b READY 128 slots 1460 bytes resumed at 4294967290\n"
            "  c READY 128 slots 1460 bytes resumed at 4294967290\n"
            "JOIN c 2/3 resume=10\n"
            "  c READY 128 slots 1460 bytes resumed at 4294967290\n"
            "HEARTBEAT c\n"
            "  c ALIVE\n");
}

/* Late packets from before the restart must not find a job under their number. The script's open_pool, which
 * takes one number after the other from 0, says when it may not. */
static void test_resume_under_another_number(void)
{
    play(4, "JOIN a 0/1 was=0\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n");
    play(4, "JOIN a 0/2 resume=5\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 resume=5 was=0\n"
            "  open, but not under its old number\n"
            "  a READY 128 slots 1460 bytes resumed at 5\n"
            "  b READY 128 slots 1460 bytes resumed at 5\n");
}

static void test_resume_too_far_apart(void)
{
    play(4, "JOIN a 0/2 slots=64 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 slots=64 resume=164\n"
            "  open\n"
            "  a READY 64 slots 1460 bytes resumed at 100\n"
            "  b READY 64 slots 1460 bytes resumed at 100\n");
    play(4, "JOIN a 0/2 slots=64 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 slots=64 resume=165\n"
            "  a ABORTED cannot resume: the ranks are 65 chunks apart, further than 64 slots allow\n"
            "  b ABORTED cannot resume: the ranks are 65 chunks apart, further than 64 slots allow\n");
    play(4,
         "JOIN a 0/3 slots=64 resume=0\n"
         "  a PENDING ranks 1 and 2\n"
         "JOIN b 1/3 slots=64 resume=2147483647\n"
         "  b PENDING rank 2\n"
         "JOIN c 2/3 slots=64 resume=4294967294\n"
         "  a ABORTED cannot resume: the ranks are 2147483649 chunks apart, further than 64 slots allow\n"
         "  b ABORTED cannot resume: the ranks are 2147483649 chunks apart, further than 64 slots allow\n"
         "  c ABORTED cannot resume: the ranks are 2147483649 chunks apart, further than 64 slots allow\n");
}

static void test_resume_other_terms(void)
{
    play(4, "JOIN a 0/2 slots=64 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 slots=32 resume=100\n"
            "  a ABORTED cannot resume: rank 0 had 64 slots and 1460 bytes a chunk, rank 1 had 32 and 1460: "
            "not the same "
            "job\n"
            "  b ABORTED cannot resume: rank 0 had 64 slots and 1460 bytes a chunk, rank 1 had 32 and 1460: "
            "not the same "
            "job\n");
}

static void test_resume_without_slots(void)
{
    play(4, "full\n"
            "JOIN a 0/1 resume=100\n"
            "  a ABORTED no slots: all slots are in use\n");
}

static void test_fresh_rank_among_resuming(void)
{
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  a ABORTED cannot resume: rank 1 was started anew, so the job cannot resume\n"
            "  b PENDING ranks 0 and 2\n"
            "JOIN c 2/3 resume=100\n"
            "  c REFUSED cannot resume: the job has been started anew, without rank 2\n");
}

static void test_leave_and_abort_while_resuming(void)
{
    play(4, "JOIN a 0/3 resume=100\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3 resume=100\n"
            "  b PENDING rank 2\n"
            "LEAVE b\n"
            "  b LEFT\n"
            "  a ABORTED cannot resume: rank 1 left, so the job cannot resume\n"
            "JOIN c 2/3 resume=100\n"
            "  c PENDING ranks 0 and 1\n");
}

/* A JOIN that does not know the switch may be a late copy from before its restart: it changes nothing. */
static void test_join_by_a_stranger(void)
{
    play(4, "JOIN a 0/2 stranger\n"
            "  a PENDING no rank\n"
            "JOIN a 0/2\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "restart\n"
            "again\n"
            "  b PENDING no rank\n"
            "JOIN a 0/2 resume=100\n"
            "  a PENDING rank 1\n"
            "JOIN b 1/2 stranger\n"
            "  b PENDING no rank\n"
            "JOIN b 1/2 resume=101\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes resumed at 100\n"
            "  b READY 128 slots 1460 bytes resumed at 100\n");
}

static void test_jobs_side_by_side(void)
{
    play(2, "JOIN a 0/1 job=x\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "JOIN b 0/2 job=y\n"
            "  b PENDING rank 1\n"
            "JOIN c 0/1 job=z\n"
            "  c REFUSED no jobs: the switch has no room for more than its 2 jobs\n"
            "ABORT a no more\n"
            "  close\n"
            "  a ABORTED application: no more\n"
            "JOIN c 0/1 job=z\n" /* a failed job gives up its place */
            "  open\n"
            "  c READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a UNKNOWN\n"
            "JOIN b 0/2 job=y\n"
            "  b PENDING rank 1\n");
}

static void test_the_oldest_failed_job_gives_up_its_place(void)
{
    play(2, "JOIN a 0/1 job=x\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "JOIN b 0/1 job=y\n"
            "  open\n"
            "  b READY 128 slots 1460 bytes\n"
            "ABORT b first\n"
            "  close\n"
            "  b ABORTED application: first\n"
            "wait 0.05\n"
            "ABORT a second\n"
            "  close\n"
            "  a ABORTED application: second\n"
            "JOIN c 0/1 job=z\n"
            "  open\n"
            "  c READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ABORTED application: second\n"
            "HEARTBEAT b\n"
            "  b UNKNOWN\n");
}

static void test_stalled_is_reported(void)
{
    play(4, "JOIN a 0/3\n"
            "  a PENDING ranks 1 and 2\n"
            "JOIN b 1/3\n"
            "  b PENDING rank 2\n"
            "JOIN c 2/3\n"
            "  open\n"
            "  a READY 128 slots 1460 bytes\n"
            "  b READY 128 slots 1460 bytes\n"
            "  c READY 128 slots 1460 bytes\n"
            "HEARTBEAT a\n"
            "  a ALIVE\n"
            "HEARTBEAT b calls=7\n"
            "  b ALIVE\n"
            "HEARTBEAT c\n"
            "  c ALIVE\n"
            "wait 2.5\n"
            "loud\n"
            "HEARTBEAT c calls=6 waiting stalled=2100\n"
            "  c ALIVE\n"
            "HEARTBEAT a calls=7 waiting stalled=2200\n"
            "  a ALIVE\n"
            "wait 0.1\n"
            "  job 't': rank 0 has waited 2.2 s in collective 7 for ranks 1 and 2\n"
            "wait 1.9\n"
            "HEARTBEAT a calls=7 waiting stalled=4200\n"
            "  a ALIVE\n"
            "wait 0.1\n"
            "  job 't': rank 0 has waited 4.2 s in collective 7 for ranks 1 and 2\n"
            "HEARTBEAT c calls=7 waiting stalled=0\n"
            "  c ALIVE\n"
            "HEARTBEAT b calls=7 waiting stalled=0\n"
            "  b ALIVE\n"
            "wait 4\n"
            "  job 't': rank 0 has waited 4.2 s in collective 7, though all ranks are in it\n"
            "HEARTBEAT a calls=8\n"
            "  a ALIVE\n"
            "wait 1\n");
}

static void test_bad_arguments(void)
{
    play(4, "JOIN a 0/0\n"
            "  a REFUSED bad argument: a job has 1 to 256 ranks, not 0\n"
            "JOIN a 0/257\n"
            "  a REFUSED bad argument: a job has 1 to 256 ranks, not 257\n"
            "JOIN a 4/4\n"
            "  a REFUSED bad argument: rank 4 is not one of the 4 ranks, which count from 0\n"
            "JOIN a 0/1 format=2\n"
            "  a REFUSED bad argument: packet format 2 is not known here\n"
            "JOIN a 0/1 mode=2\n"
            "  a REFUSED bad argument: mode 2 is not known here\n"
            "JOIN a 0/1 chunk=60\n"
            "  a REFUSED bad argument: a chunk has 64 to 8960 bytes, a multiple of 4, not 60\n"
            "JOIN a 0/1 chunk=66\n"
            "  a REFUSED bad argument: a chunk has 64 to 8960 bytes, a multiple of 4, not 66\n"
            "JOIN a 0/1 chunk=8964\n"
            "  a REFUSED bad argument: a chunk has 64 to 8960 bytes, a multiple of 4, not 8964\n"
            "JOIN a 0/1 slots=1\n"
            "  a REFUSED bad argument: a job has 2 to 16384 slots, not 1\n"
            "JOIN a 0/1 slots=16385\n"
            "  a REFUSED bad argument: a job has 2 to 16384 slots, not 16385\n"
            "JOIN a 0/1 slots=96 resume=1\n"
            "  a REFUSED bad argument: a job with 96 slots, not a power of two, cannot be resumed\n"
            "JOIN a 255/256 slots=2 chunk=64\n"
            "  a PENDING ranks 0-254\n");
}

/* What a script cannot say: arguments that no process has, reasons that nobody may give. */
static void test_bad_heads_and_reasons(void)
{
    static struct stage s;
    memset(&s, 0, sizeof s);
    s.max_jobs = 1;
    start_registry(&s);
    struct process *p = &s.processes[0];
    *p = (struct process){.rank = 0, .size = 1, .data_port = 1, .boot_id = s.boot_id};
    struct ctl_message m = message_from('a', p, CTL_JOIN);
    m.join = (struct ctl_join){.name = "t", .chunk_bytes = 64, .slots = 2};
    deliver(&s, p, &m);
    CU_ASSERT_STRING_EQUAL(s.out, "  a REFUSED bad argument: the data port is 0\n");
    m.join.data_port = 1;
    m.head.incarnation = 0;
    s.silent = true; /* its answer is for nobody that the stage knows */
    deliver(&s, p, &m);
    CU_ASSERT_EQUAL(ctl_registry_job(s.registry, 0)->state, CTL_JOB_FREE);
    m.head.incarnation = 'a';
    deliver(&s, p, &m);
    CU_ASSERT_EQUAL(ctl_registry_job(s.registry, 0)->state, CTL_JOB_RUNNING);

    m = message_from('a', p, CTL_ABORT);
    m.failure = (struct ctl_failure){.reason = CTL_OK, .rank = 7, .text = "because"};
    deliver(&s, p, &m);
    const struct ctl_job *job = ctl_registry_job(s.registry, 0);
    CU_ASSERT_EQUAL(job->state, CTL_JOB_FAILED);
    CU_ASSERT_EQUAL(job->failure.reason, CTL_APPLICATION);
    CU_ASSERT_EQUAL(job->failure.rank, 0);
    free(s.registry);
}

/* An epoch of 0 stands for none. */
static void test_no_epoch_is_zero(void)
{
    static struct stage s;
    struct ctl_registry_config cfg = {
        .max_jobs = 1,
        .boot_id = UINT32_MAX, /* with this seed the first epoch would be 0 */
        .lost_after_ns = SECOND,
        .actions = {&s, effect_send, effect_open, effect_close, NULL},
    };
    memset(&s, 0, sizeof s);
    s.silent = true;
    s.registry = ctl_registry_init(malloc(ctl_registry_footprint(&cfg)), &cfg);
    struct process *p = &s.processes[0];
    *p = (struct process){.rank = 0, .size = 2, .data_port = 1, .boot_id = cfg.boot_id};
    struct ctl_message m = message_from('a', p, CTL_JOIN);
    m.join = (struct ctl_join){.name = "t", .chunk_bytes = 64, .slots = 2, .data_port = 1};
    deliver(&s, p, &m);
    CU_ASSERT_EQUAL(ctl_registry_job(s.registry, 0)->state, CTL_JOB_FORMING);
    CU_ASSERT_EQUAL(ctl_registry_job(s.registry, 0)->epoch, 1);
    free(s.registry);
}

/* What cannot be parsed is refused in words, unless it may be an answer itself. */
static void test_unparsed(void)
{
    static struct stage s;
    memset(&s, 0, sizeof s);
    s.max_jobs = 1;
    start_registry(&s);
    struct process *p = &s.processes[0];
    *p = (struct process){.rank = 1, .size = 2};
    struct ctl_message m = message_from('a', p, CTL_JOIN);
    strcpy(m.join.name, "t");
    uint8_t bytes[CTL_MESSAGE_MAX];
    size_t length = ctl_build(bytes, &m);
    struct {
        size_t at, length;
        uint8_t value;
        enum ctl_parse_error error;
        const char *answer;
    } cases[] = {
        {40, 39, 't', CTL_TOO_SHORT, ""},
        {0, length, 'X', CTL_NOT_CONTROL, ""},
        {4, length, 2, CTL_OTHER_VERSION,
         "  a REFUSED bad version: version 2 of the control protocol is not spoken here, 1 is\n"},
        {5, length, 9, CTL_BAD_TYPE, "  a REFUSED bad argument: message type 9 is not known here\n"},
        {5, length, 99, CTL_BAD_TYPE, ""},
        {5, length, CTL_READY, CTL_BAD_TYPE, ""},
        {40, length, 0, CTL_BAD_STRING,
         "  a REFUSED bad argument: a string in JOIN is empty, too long or not printable ASCII\n"},
        {40, length - 1, 't', CTL_TOO_SHORT, "  a REFUSED bad argument: the message is too short for JOIN\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t before = bytes[cases[i].at];
        bytes[cases[i].at] = cases[i].value;
        s.used = 0;
        s.out[0] = 0;
        CU_ASSERT_EQUAL(ctl_registry_receive(s.registry, &p->endpoint, bytes, cases[i].length, 0),
                        cases[i].error);
        CU_ASSERT_STRING_EQUAL(s.out, cases[i].answer);
        bytes[cases[i].at] = before;
    }
    CU_ASSERT_EQUAL(ctl_registry_job(s.registry, 0)->state, CTL_JOB_FREE);
    free(s.registry);
}

static void test_footprint(void)
{
    static struct stage s;
    struct ctl_registry_config good = {
        .max_jobs = 256,
        .boot_id = UINT64_MAX,
        .lost_after_ns = 3600 * SECOND,
        .actions = {&s, effect_send, effect_open, effect_close, NULL},
    };
    CU_ASSERT_TRUE(ctl_registry_footprint(&good) > 256 * sizeof(struct ctl_job));
    struct ctl_registry *r = ctl_registry_init(malloc(ctl_registry_footprint(&good)), &good);
    CU_ASSERT_EQUAL(ctl_registry_job(r, 255)->state, CTL_JOB_FREE);
    ctl_registry_tick(r, UINT64_MAX);
    free(r);

    struct ctl_registry_config bad[9];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bad[i] = good;
    bad[0].max_jobs = 0;
    bad[1].max_jobs = 257;
    bad[2].boot_id = 0;
    bad[3].lost_after_ns = 10 * MS - 1;
    bad[4].lost_after_ns = 3600 * SECOND + 1;
    bad[5].actions.send = NULL;
    bad[6].actions.open_pool = NULL;
    bad[7].actions.close_pool = NULL;
    bad[8].lost_after_ns = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_EQUAL(ctl_registry_footprint(&bad[i]), 0);
}

/* 256 ranks, 256 jobs. */
static void test_extremes(void)
{
    struct stage *s = calloc(1, sizeof *s);
    s->max_jobs = 256;
    start_registry(s);
    for (unsigned job = 0; job < 256; job++)
        for (unsigned rank = 0; rank < SML_MAX_WORKERS; rank++) {
            struct process *p = &s->processes[0];
            *p = (struct process){
                .rank = (uint16_t)rank, .size = SML_MAX_WORKERS, .data_port = 1, .boot_id = s->boot_id};
            p->endpoint.ip = 1 + rank;
            struct ctl_message m = message_from('a', p, CTL_JOIN);
            m.head.incarnation = (uint64_t)job << 40 | rank << 8 | 'a';
            m.join = (struct ctl_join){.data_port = 1, .chunk_bytes = 64, .slots = 2};
            snprintf(m.join.name, sizeof m.join.name, "job %u", job);
            uint8_t bytes[CTL_MESSAGE_MAX];
            size_t length = ctl_build(bytes, &m);
            s->used = sizeof s->out - 1; /* nobody reads what is said */
            if (rank == SML_MAX_WORKERS - 1)
                break; /* all but the last */
            ctl_registry_receive(s->registry, &p->endpoint, bytes, length, 1);
        }
    for (unsigned job = 0; job < 256; job++) {
        CU_ASSERT_EQUAL(ctl_registry_job(s->registry, job)->state, CTL_JOB_FORMING);
        CU_ASSERT_EQUAL(ctl_registry_job(s->registry, job)->present, SML_MAX_WORKERS - 1);
        CU_ASSERT_EQUAL(ctl_registry_job(s->registry, job)->epoch,
                        ctl_registry_job(s->registry, 0)->epoch + job);
    }
    free(s->registry);
    free(s);
}

static void test_state_names(void)
{
    CU_ASSERT_STRING_EQUAL(ctl_job_state_name(CTL_JOB_RUNNING), "running");
    CU_ASSERT_STRING_EQUAL(ctl_job_state_name((enum ctl_job_state)9), "?");
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_forms),
        UNIT_TEST(test_one_rank),
        UNIT_TEST(test_open_pool_lowers_slots),
        UNIT_TEST(test_no_slots),
        UNIT_TEST(test_no_numbers),
        UNIT_TEST(test_unconfirmed_ready_is_pushed_again),
        UNIT_TEST(test_forming_forgets_the_silent),
        UNIT_TEST(test_forming_is_patient),
        UNIT_TEST(test_forming_leave_and_abort),
        UNIT_TEST(test_abort_first_one_counts),
        UNIT_TEST(test_lost),
        UNIT_TEST(test_a_failed_job_ends_with_its_members),
        UNIT_TEST(test_own_absence_loses_nobody),
        UNIT_TEST(test_killed_and_back_on_the_same_endpoint),
        UNIT_TEST(test_killed_and_back_on_another_endpoint),
        UNIT_TEST(test_rank_taken),
        UNIT_TEST(test_a_copy_is_no_sign_of_life),
        UNIT_TEST(test_terms_differ),
        UNIT_TEST(test_new_terms_after_the_old_have_died),
        UNIT_TEST(test_leaver_comes_back_for_the_next_job),
        UNIT_TEST(test_rank_left),
        UNIT_TEST(test_rank_left_while_others_wait),
        UNIT_TEST(test_late_messages),
        UNIT_TEST(test_resume),
        UNIT_TEST(test_resume_under_another_number),
        UNIT_TEST(test_resume_too_far_apart),
        UNIT_TEST(test_resume_other_terms),
        UNIT_TEST(test_resume_without_slots),
        UNIT_TEST(test_fresh_rank_among_resuming),
        UNIT_TEST(test_leave_and_abort_while_resuming),
        UNIT_TEST(test_join_by_a_stranger),
        UNIT_TEST(test_jobs_side_by_side),
        UNIT_TEST(test_the_oldest_failed_job_gives_up_its_place),
        UNIT_TEST(test_stalled_is_reported),
        UNIT_TEST(test_bad_arguments),
        UNIT_TEST(test_bad_heads_and_reasons),
        UNIT_TEST(test_no_epoch_is_zero),
        UNIT_TEST(test_unparsed),
        UNIT_TEST(test_footprint),
        UNIT_TEST(test_extremes),
        UNIT_TEST(test_state_names),
        CU_TEST_INFO_NULL,
    };
    return unit_main("control/registry", tests);
}

#include "stranger.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "atp/terms.h"
#include "crew.h"
#include "random.h"
#include "wire/control.h"

enum { PAUSE_MS = 5, PROGRAMS = 2 /* of his, which retry as rank 0 and as the last one */, DATA_PORT = 9 };

/* One of his programs: it goes on after a restart, and says that it has waited since before. */
struct program {
    struct ctl_head head;
    uint64_t began; /* under this boot id */
};

static void take_answers(struct stranger *s)
{
    uint8_t payload[CTL_MESSAGE_MAX];
    struct ctl_message m;
    ssize_t n;
    while ((n = recv(s->fd, payload, sizeof payload, MSG_DONTWAIT)) > 0)
        if (ctl_parse(&m, payload, (size_t)n) == CTL_PARSED) {
            s->boot_id = m.head.boot_id;
            atomic_fetch_add(&s->answers, 1);
        }
}

static struct ctl_message join(const struct stranger *s, const struct ctl_head *head)
{
    struct ctl_message m = {.head = *head};
    m.head.type = CTL_JOIN;
    m.join = (struct ctl_join){.data_port = DATA_PORT, .terms = s->terms};
    snprintf(m.join.name, sizeof m.join.name, "%s", s->job);
    return m;
}

static struct ctl_message retry(const struct stranger *s, struct program *p)
{
    if (p->began == 0)
        p->began = s->boot_id;
    p->head.boot_id = s->boot_id;
    p->head.serial++;
    struct ctl_message m = join(s, &p->head);
    m.join.waited = p->began != s->boot_id;
    return m;
}

/* Somebody who was in the job, or says that he was, or is in another of this name. */
static struct ctl_message make_up(struct stranger *s)
{
    static const uint8_t types[] = {CTL_JOIN, CTL_JOIN, CTL_JOIN, CTL_HEARTBEAT, CTL_LEAVE, CTL_ABORT};
    const unsigned size = rng_below(&s->random, 2) ? s->size : 1 + (unsigned)rng_below(&s->random, 4);
    const struct ctl_head head = {.version = CTL_VERSION,
                                  .boot_id = s->boot_id,
                                  .incarnation = rng_next(&s->random) | 1,
                                  .epoch = (uint32_t)rng_next(&s->random),
                                  .rank = (uint16_t)rng_below(&s->random, size),
                                  .size = (uint16_t)size,
                                  .serial = 1};
    struct ctl_message m = join(s, &head);
    m.head.type = types[rng_below(&s->random, sizeof types)];
    if (m.head.type != CTL_JOIN) {
        memset(&m.join, 0, sizeof m.join);
        return m;
    }
    m.join.waited = rng_below(&s->random, 2);
    m.join.resume = !m.join.waited && rng_below(&s->random, 2);
    m.join.roster = rng_next(&s->random);
    m.join.terms.data[ATP_TERMS_BYTES - 2] = m.join.resume;
    return m;
}

static void *speak(void *arg)
{
    struct stranger *s = arg;
    struct program program[PROGRAMS];
    for (unsigned i = 0; i < PROGRAMS; i++)
        program[i] = (struct program){.head = {.version = CTL_VERSION,
                                               .incarnation = rng_next(&s->random) | 1,
                                               .rank = (uint16_t)(i == 0 ? 0 : s->size - 1),
                                               .size = (uint16_t)s->size}};
    while (!atomic_load(&s->over)) {
        const unsigned who = (unsigned)rng_below(&s->random, PROGRAMS + 1);
        const struct ctl_message m = who < PROGRAMS ? retry(s, &program[who]) : make_up(s);
        uint8_t payload[CTL_MESSAGE_MAX];
        const size_t bytes = ctl_build(payload, &m);
        if (send(s->fd, payload, bytes, MSG_DONTWAIT) < 0)
            take_answers(s); /* there is no server now */
        sleep_ms(PAUSE_MS);
        take_answers(s);
    }
    return NULL;
}

void stranger_start(struct stranger *s, const char *ip, const char *job, unsigned size,
                    const struct agg_terms *terms, uint64_t random)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(CTL_PORT)}, from = to;
    *s = (struct stranger){.job = job, .terms = *terms, .size = size, .random = random};
    inet_pton(AF_INET, ip, &to.sin_addr);
    from.sin_addr.s_addr = to.sin_addr.s_addr ^ htonl(1); /* not that of the ranks */
    from.sin_port = 0;
    s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&from, sizeof from) < 0 ||
        connect(s->fd, (struct sockaddr *)&to, sizeof to) < 0 ||
        pthread_create(&s->thread, NULL, speak, s) != 0)
        abort();
}

unsigned stranger_end(struct stranger *s)
{
    atomic_store(&s->over, true);
    pthread_join(s->thread, NULL);
    close(s->fd);
    return atomic_load(&s->answers);
}

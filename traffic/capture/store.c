#include "capture/store.h"

#include <stdlib.h>
#include <string.h>

#include "capture/packets.h"
#include "command_line.h"
#include "switchml/protocol.h"
#include "wire/control.h"
#include "wire/path.h"

/* Room for `more` further items; doubles, so that growing costs a constant factor. */
static void *grow(void *items, size_t count, size_t more, size_t *room, size_t item_bytes)
{
    size_t want = *room > 0 ? *room : 4096;
    void *grown;

    if (items != NULL && count + more <= *room)
        return items;
    while (want < count + more)
        want *= 2;
    grown = realloc(items, want * item_bytes);
    if (grown != NULL)
        *room = want;
    return grown;
}

/* The job with this number of the switch with this address: which of s->job. Without room for one more, 0. */
static uint16_t find_job(struct store *s, uint32_t sw, uint8_t number)
{
    for (unsigned i = 0; i < s->jobs; i++)
        if (s->job[i].sw == sw && s->job[i].number == number)
            return (uint16_t)i;
    s->too_many_jobs |= s->jobs == STORE_JOBS_MAX;
    if (s->too_many_jobs)
        return 0;
    s->job[s->jobs] = (struct stored_job){.sw = sw, .number = number};
    return (uint16_t)s->jobs++;
}

static bool add(struct store *s, const struct captured_packet *c, const struct sml_packet *p)
{
    const struct udp_end *worker = c->from_switch ? &c->datagram.to : &c->datagram.from,
                         *sw = c->from_switch ? &c->datagram.from : &c->datagram.to;
    void *packets = grow(s->packets, s->count, 1, &s->room, sizeof(*s->packets));
    void *bodies = grow(s->bodies, s->bodies_bytes, p->body_bytes, &s->bodies_room, 1);

    s->packets = packets != NULL ? packets : s->packets;
    s->bodies = bodies != NULL ? bodies : s->bodies;
    if (packets == NULL || bodies == NULL) {
        s->no_memory = true;
        return false;
    }
    s->packets[s->count++] = (struct stored_packet){
        .job = find_job(s, sw->ip, p->job),
        .kind = p->kind,
        .e0 = p->e0,
        .e1 = p->e1,
        .ver = p->ver,
        .slot = p->slot,
        .tag = p->tag,
        .result = c->from_switch,
        .worker = (uint64_t)worker->ip << 16 | worker->port,
        .at = s->bodies_bytes,
        .bytes = (uint32_t)p->body_bytes,
        .file = s->files,
        .frame = c->frame->number,
    };
    memcpy(s->bodies + s->bodies_bytes, p->body, p->body_bytes);
    s->bodies_bytes += p->body_bytes;
    return true;
}

static struct stored_rank *find_rank(const struct store *s, uint64_t incarnation)
{
    for (size_t i = s->ranks_count; i-- > 0;)
        if (s->ranks[i].incarnation == incarnation)
            return &s->ranks[i];
    return NULL;
}

/* Of a rank itself; those that a switch passes up are not told apart by where contributions come from. */
static void take_join(struct store *s, const struct udp_datagram *d, const struct ctl_message *join)
{
    struct stored_rank *ranks;

    if (join->join.hops > 0 || find_rank(s, join->head.incarnation) != NULL)
        return;
    ranks = grow(s->ranks, s->ranks_count, 1, &s->ranks_room, sizeof(*s->ranks));
    if (ranks == NULL) {
        s->no_memory = true;
        return;
    }
    s->ranks = ranks;
    s->ranks[s->ranks_count++] =
        (struct stored_rank){.incarnation = join->head.incarnation,
                             .worker = (uint64_t)d->from.ip << 16 | join->join.data_port,
                             .rank = join->head.rank};
}

/* A switch below sends in the name of the lowest of its ranks. */
static void take_bundle(struct ctl_ranks *summed, const struct ctl_message *ready)
{
    bool lowest = true;

    for (unsigned rank = 0; rank < ready->head.size && rank < CTL_RANKS_MAX; rank++)
        if (ctl_ranks_has(&ready->ready.bundle, rank)) {
            if (!lowest)
                ctl_ranks_add(summed, rank);
            lowest = false;
        }
}

/* The switch tells each worker when a job is complete, how large it is, and its terms. */
static void take_ready(struct store *s, uint32_t sw, const struct ctl_message *m)
{
    struct stored_rank *rank = find_rank(s, m->head.incarnation);
    struct stored_job *job;
    struct sml_terms terms;

    if (m->head.size > CTL_RANKS_MAX || !sml_terms_parse(&terms, &m->ready.terms) ||
        terms.format >= XFER_FORMATS)
        return;
    job = &s->job[find_job(s, sw, m->ready.job)];
    if (job->size > 0 && (job->size != m->head.size || job->format != terms.format))
        s->ambiguous = job;
    job->size = m->head.size;
    job->format = terms.format;
    job->table = sml_table_valid(&terms.table) ? terms.table : (struct sml_table){0};
    job->quorum = terms.quorum > 0;
    take_bundle(&job->summed, m);
    if (rank != NULL) {
        rank->in = true;
        rank->job = (uint16_t)(job - s->job);
    }
}

static void take_control(struct store *s, const struct udp_datagram *d)
{
    struct ctl_message m;

    if (ctl_parse(&m, d->payload, d->bytes) != CTL_PARSED)
        return;
    if (m.head.type == CTL_JOIN)
        take_join(s, d, &m);
    else if (m.head.type == CTL_READY && d->from.port == CTL_PORT)
        take_ready(s, d->from.ip, &m);
}

const struct stored_rank *store_rank(const struct store *s, unsigned job, uint64_t worker)
{
    for (size_t i = s->ranks_count; i-- > 0;)
        if (s->ranks[i].in && s->ranks[i].job == job && s->ranks[i].worker == worker)
            return &s->ranks[i];
    return NULL;
}

unsigned store_contributors(const struct stored_job *job)
{
    const unsigned summed = ctl_ranks_count(&job->summed);

    return job->size > summed ? job->size - summed : 0;
}

/* Whether the job's own checksum is right, if the packet has one that can be checked. A worker's rank is not
 * known here. */
static bool checksum_is_right(const struct sml_packet *p, bool from_switch)
{
    uint16_t rank = 0;

    if (p->checksum == XFER_CHECKSUM_KEYED)
        return true;
    if (from_switch)
        return sml_checksum_holds(p, p->checksum, XFER_SWITCH);
    while (rank < AGG_MAX_WORKERS && !sml_checksum_holds(p, p->checksum, rank))
        rank++;
    return rank < AGG_MAX_WORKERS;
}

static bool is_path_probe(const struct udp_datagram *d)
{
    struct path_answer answer;

    return path_is_question(d->payload, d->bytes) || path_parse_answer(&answer, d->payload, d->bytes);
}

/* False: no memory. */
static bool take_gradient(struct store *s, const struct captured_packet *c)
{
    struct sml_packet p;

    s->unchecked += c->first && c->datagram.left_to_device;
    s->merged += c->merged;
    if (sml_parse(&p, c->datagram.payload, c->datagram.bytes) != SML_OK) {
        *(is_path_probe(&c->datagram) ? &s->others : &s->malformed) += 1;
        return true;
    }
    s->keyed += p.checksum == XFER_CHECKSUM_KEYED;
    if (!checksum_is_right(&p, c->from_switch))
        s->damaged++;
    else if (p.kind != SML_DATA && p.kind != SML_OPEN)
        s->others++;
    else
        return add(s, c, &p);
    return true;
}

static bool take(void *context, const struct captured_packet *c)
{
    struct store *s = context;

    if (c->kind == PACKET_CONTROL)
        take_control(s, &c->datagram);
    if (c->kind == PACKET_NONE)
        s->damaged += c->frame->cut;
    else if (c->protocol == &sml_protocol && c->datagram.bad_checksum)
        s->damaged++;
    else if (c->protocol == &sml_protocol)
        return take_gradient(s, c);
    return true;
}

/* Whether all that was read can be checked together; or else complains. */
static bool is_checkable(const struct store *s, const char *file)
{
    const struct stored_job *j = s->ambiguous;

    if (s->no_memory)
        complain("%s: not enough memory for the whole capture", file);
    else if (s->too_many_jobs)
        complain("%s: packets of more than %d jobs; check fewer captures at a time", file, STORE_JOBS_MAX);
    else if (j != NULL)
        complain("%s: two jobs have number %u at a switch %u.%u.%u.%u, and cannot be told apart; check a "
                 "capture of each by itself",
                 file, j->number, j->sw >> 24, j->sw >> 16 & 255, j->sw >> 8 & 255, j->sw & 255);
    else
        return true;
    return false;
}

int store_read(struct store *s, const char *file)
{
    if (packets_read(file, 0, take, s) < 0 || !is_checkable(s, file))
        return -1;
    s->files++;
    return 0;
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare(const void *left, const void *right)
{
    const struct stored_packet *a = left, *b = right;
    int by = order(a->job, b->job);

    if (by == 0)
        by = order(a->tag, b->tag);
    if (by == 0)
        by = order(a->result, b->result);
    if (by == 0)
        by = order(a->worker, b->worker);
    return by != 0 ? by : order(a->at, b->at); /* bodies lie in the order they came */
}

void store_sort(struct store *s)
{
    if (s->count > 0)
        qsort(s->packets, s->count, sizeof(*s->packets), compare);
}

void store_free(struct store *s)
{
    free(s->packets);
    free(s->bodies);
    free(s->ranks);
}

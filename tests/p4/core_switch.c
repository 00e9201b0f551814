/* The core as a switch of int32 jobs that speaks lines, one answer each: what the P4 program is compared
 * with.
 *
 *   open NUMBER SLOTS CHUNK_BYTES FIRST_TAG LABELLED IP:PORT ...   ok
 *   close NUMBER                                                   ok
 *   packet IP:PORT PAYLOAD                                         REASON all|sender|none PAYLOAD|-
 *
 * Addresses and payloads are hexadecimal, ports decimal. A labelled job's workers have one thread. Addresses
 * are kept as numbers, since only whether they are equal matters. */
#include <stdio.h>
#include <stdlib.h>

#include "carry.h"
#include "kernels_chosen.h"
#include "memory.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"

enum { LINE = 4 * SML_MAX_CHUNK_BYTES, SENDER_PLACES = 1024 };

static struct agg_jobs jobs;

_Noreturn static void bad(const char *line)
{
    fprintf(stderr, "core_switch: cannot read: %.100s\n", line);
    exit(1);
}

static bool read_sender(const char *word, struct agg_sender *s)
{
    static const uint8_t mac[AGG_MAC_BYTES] = {2};
    unsigned ip, port;

    if (word == NULL || sscanf(word, "%x:%u", &ip, &port) != 2)
        return false;
    *s = carry_sender(mac, ip, (uint16_t)port);
    return true;
}

static void remember_senders(const struct agg_sender members[], unsigned n, uint8_t number)
{
    if (jobs.senders == NULL) {
        jobs.senders = memory_of(sizeof(*jobs.senders) + SENDER_PLACES * sizeof(uint64_t));
        jobs.senders->entries = SENDER_PLACES;
    }
    for (unsigned i = 0; i < n; i++)
        agg_senders_add(jobs.senders, agg_sender_key(&members[i]), number);
}

static void open_job(const char *line, char *words)
{
    struct agg_sender members[AGG_MAX_WORKERS];
    unsigned number, slots, chunk_bytes, first_tag, labelled, workers = 0;
    int used;
    struct agg_pool_config cfg = {.kernels = kernels_or_exit()};

    if (sscanf(words, "%u %u %u %u %u%n", &number, &slots, &chunk_bytes, &first_tag, &labelled, &used) != 5)
        bad(line);
    for (char *word = strtok(words + used, " \n"); word != NULL; word = strtok(NULL, " \n"))
        if (workers == AGG_MAX_WORKERS || !read_sender(word, &members[workers++]))
            bad(line);
    sml_terms_build(&cfg.terms, &(struct sml_terms){.format = XFER_FORMAT_INT32,
                                                    .mode = XFER_ON_ARRIVAL,
                                                    .slots = (uint16_t)slots,
                                                    .chunk_bytes = (uint16_t)chunk_bytes,
                                                    .first_tag = first_tag,
                                                    .plain = true,
                                                    .labelled = labelled != 0});
    cfg.job = (uint8_t)number;
    cfg.workers = (uint16_t)workers;
    if (agg_jobs_find(&jobs, number) != NULL || carry_open(&jobs, &sml_protocol, &cfg, members, NULL) == NULL)
        bad(line);
    if (labelled)
        remember_senders(members, workers, cfg.job);
    puts("ok");
}

static void close_job(const char *line, const char *words)
{
    struct agg_job *job = agg_jobs_find(&jobs, (unsigned)atoi(words));

    if (job == NULL)
        bad(line);
    carry_close(&jobs, job);
    puts("ok");
}

static size_t read_hex(const char *word, uint8_t *bytes)
{
    size_t n = 0;

    for (; word != NULL && sscanf(word + 2 * n, "%2hhx", &bytes[n]) == 1; n++)
        ;
    return n;
}

static void print_verdict(const struct agg_packet *p, const struct agg_verdict *v)
{
    const char *to = v->action == AGG_TO_ALL ? "all" : v->action == AGG_REPLY ? "sender" : "none";

    printf("%s %s ", sml_reasons[p->reason].name, to);
    for (size_t i = 0; i < v->bytes && to[0] != 'n'; i++)
        printf("%02x", v->payload[i]);
    puts(to[0] == 'n' ? "-" : "");
}

static void apply_packet(const char *line, char *words)
{
    static uint8_t payload[LINE / 2];
    static struct agg_verdict v;
    struct agg_packet p = {.payload = payload};

    if (!read_sender(strtok(words, " \n"), &p.from))
        bad(line);
    p.bytes = read_hex(strtok(NULL, " \n"), payload);
    sml_protocol.locate(&jobs, &p, 1);
    sml_protocol.apply(&p, 1, 0, &v);
    print_verdict(&p, &v);
}

int main(void)
{
    static char line[LINE];

    while (fgets(line, sizeof(line), stdin) != NULL) {
        if (strncmp(line, "open ", 5) == 0)
            open_job(line, line + 5);
        else if (strncmp(line, "close ", 6) == 0)
            close_job(line, line + 6);
        else if (strncmp(line, "packet ", 7) == 0)
            apply_packet(line, line + 7);
        else
            bad(line);
        fflush(stdout);
    }
    return 0;
}

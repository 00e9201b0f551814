#include "chip_protocol.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory.h"
#include "paper_protocol.h"
#include "sim.h"
#include "switchml/protocol.h"
#include "switchml/reasons.h"
#include "switchml/terms.h"

enum { LINE = 8192 };

/* Where a pool of the paper's protocol would be. */
struct chip_pool {
    struct sml_terms terms;
    uint8_t number;
    bool open; /* in the chip: since its first packet, by which its members are known */
};

static const char *command;
static struct {
    pid_t owner; /* the process that it answers */
    FILE *to, *from;
} chip;

void chip_protocol_set(const char *set)
{
    command = set;
}

static void start(void)
{
    int to[2], from[2];

    if (pipe(to) < 0 || pipe(from) < 0)
        sim_die("no pipes to the interpreter");
    chip.owner = getpid();
    if (fork() == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        close(from[0]);
        execl("/bin/sh", "sh", "-c", command, NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    chip.to = fdopen(to[1], "w");
    chip.from = fdopen(from[0], "r");
}

/* Ends the line that was written to it, and reads the answer. */
static void ask(char answer[LINE])
{
    fputs("\n", chip.to);
    fflush(chip.to);
    if (fgets(answer, LINE, chip.from) == NULL)
        sim_die("the interpreter has ended");
}

static void write_sender(uint32_t ip, uint16_t port)
{
    fprintf(chip.to, " %x:%u", ntohl(ip), ntohs(port));
}

static void *init(void *mem, const struct agg_pool_config *cfg)
{
    struct chip_pool *pool = mem;

    *pool = (struct chip_pool){.number = cfg->job};
    return sml_terms_parse(&pool->terms, &cfg->terms) ? pool : NULL;
}

static void open_job(struct chip_pool *pool, const struct agg_job *job)
{
    char answer[LINE];

    if (chip.owner != getpid())
        start();
    fprintf(chip.to, "open %u %u %u %u", pool->number, pool->terms.slots, pool->terms.chunk_bytes,
            pool->terms.first_tag);
    for (unsigned rank = 0; rank < job->size; rank++)
        for (unsigned i = 0; i < job->seats; i++)
            if (job->seat[i].sender != 0 && job->seat[i].rank == rank)
                write_sender((uint32_t)(job->seat[i].sender >> 16), (uint16_t)job->seat[i].sender);
    ask(answer);
    pool->open = true;
}

static void drain(void *mem, void (*release)(void *buffer))
{
    struct chip_pool *pool = mem;
    char answer[LINE];

    (void)release;
    if (!pool->open)
        return;
    fprintf(chip.to, "close %u", pool->number);
    ask(answer);
    pool->open = false;
}

static enum sml_reason reason_named(const char *name)
{
    for (unsigned i = 0; i < SML_REASONS; i++)
        if (strcmp(sml_reasons[i].name, name) == 0)
            return (enum sml_reason)i;
    sim_die("the interpreter counts a packet as what the core does not know");
}

/* A packet at a time. */
static unsigned apply(struct agg_packet p[], unsigned n, uint64_t now, struct agg_verdict *v)
{
    static const uint64_t all[AGG_MAX_WORKERS / 64] = {UINT64_MAX};
    static uint8_t payload[LINE / 2];
    char answer[LINE];
    size_t bytes = 0;

    (void)n;
    (void)now;
    if (p->slot != NULL) {
        struct chip_pool *pool = p->slot;

        if (!pool->open)
            open_job(pool, p->job);
        fputs("packet", chip.to);
        write_sender(p->from.ip, p->from.port);
        fputs(" ", chip.to);
        for (size_t i = 0; i < p->bytes; i++)
            fprintf(chip.to, "%02x", p->payload[i]);
        ask(answer);
        p->reason = (uint8_t)reason_named(strtok(answer, " \n"));
        for (const char *hex = strtok(NULL, " \n"); hex != NULL && sscanf(hex, "%2hhx", &payload[bytes]) == 1;
             hex += 2)
            bytes++;
    }
    *v = (struct agg_verdict){.action = sml_reasons[p->reason].action,
                              .reason = p->reason,
                              .payload = payload,
                              .bytes = bytes,
                              .wants = all};
    return 1;
}

struct agg_protocol chip_protocol(void)
{
    struct agg_protocol p = paper_protocol();

    p.init = init;
    p.drain = drain;
    p.apply = apply;
    return p;
}

#include "adder.h"

#include <stdlib.h>

#include "memory.h"

void adder_open(struct adder *a, const struct sml_pool_config *cfg, uint16_t filler)
{
    const size_t bytes = sml_pool_footprint(cfg);

    if (bytes == 0)
        sim_die("slots, workers or chunk bytes are out of range");
    *a = (struct adder){.pool = sml_pool_init(memory_of(bytes), cfg),
                        .workers = cfg->workers,
                        .down = memory_of(cfg->workers * sizeof(struct link *)),
                        .filler = filler};
}

void adder_close(struct adder *a)
{
    free(a->pool);
    free(a->down);
}

static void send_down(const struct adder *a, unsigned rank, const struct agg_verdict *v, uint16_t filler)
{
    struct frame *f = frame_new(rank, SML_PORT_FIRST, 0, v->payload, v->bytes, false);

    f->filler = filler;
    link_send(a->down[rank], f);
}

void adder_receive(void *adder, struct frame *f)
{
    const struct adder *a = adder;
    struct sml_packet p;
    struct agg_verdict v = {.reason = SML_DROP_BAD_SLOT};

    if (sml_parse(&p, f->payload, f->bytes) == SML_OK) {
        struct sml_slot *slot = sml_pool_locate(a->pool, &p, 0);
        sml_pool_apply(a->pool, slot, (uint16_t)f->host, &p, NULL, 0, &v);
    }
    if (v.reason == SML_SEND_ALL)
        for (unsigned r = 0; r < a->workers; r++)
            send_down(a, r, &v, a->filler);
    else if (v.reason == SML_SEND_ONE)
        send_down(a, f->host, &v, a->filler);
    else if (v.reason == SML_SEND_ANSWER)
        send_down(a, f->host, &v, 0);
    frame_free(f);
}

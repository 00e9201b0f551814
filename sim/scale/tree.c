#include "scale/tree.h"

#include "link.h"

enum { FCS_AND_HEADERS = 14 + 20 + 8 + 4 };

unsigned scale_at_level(const struct scale_tree *tree, unsigned level)
{
    unsigned n = 1;

    for (unsigned l = 0; l < level; l++)
        n *= tree->fan_in[l];
    return n;
}

unsigned scale_workers(const struct scale_tree *tree)
{
    return scale_at_level(tree, tree->levels);
}

unsigned scale_switches(const struct scale_tree *tree)
{
    unsigned n = 0;

    for (unsigned l = 0; l < tree->levels; l++)
        n += scale_at_level(tree, l);
    return n;
}

unsigned scale_wire_bytes(uint16_t chunk_bytes)
{
    return SML_HEADER_BYTES + chunk_bytes + FRAME_WIRE_OVERHEAD;
}

unsigned scale_frame_bytes(uint16_t chunk_bytes)
{
    return SML_HEADER_BYTES + chunk_bytes + FCS_AND_HEADERS;
}

double scale_ideal_s(const struct scale_config *cfg)
{
    return (double)cfg->chunks * scale_wire_bytes(cfg->chunk_bytes) * 8 / (double)cfg->bits_per_s;
}

/* Of the payload, if it had a whole chunk. */
static size_t whole_bytes(const struct scale_config *cfg, const uint8_t *payload, size_t bytes)
{
    const unsigned kind = payload[0] >> 4;
    const bool has_elements = (kind == SML_DATA || kind == SML_OPEN) && bytes > SML_HEADER_BYTES;

    return has_elements ? bytes + cfg->chunk_bytes - SCALE_CARRIED_BYTES : bytes;
}

uint64_t scale_service_ps(const struct scale_config *cfg, const struct parcel *p)
{
    return costs_ps(cfg->costs, (unsigned)(whole_bytes(cfg, p->payload, p->bytes) + FCS_AND_HEADERS));
}

/* Cables */

static void send(struct scale_node *n, struct server *cable, struct parcel *p)
{
    const size_t bytes = whole_bytes(&n->run->cfg, p->payload, p->bytes) + FRAME_WIRE_OVERHEAD;

    n->run->frames++;
    server_put(cable, p, bytes * 8 * 1000 * S / n->run->cfg.bits_per_s);
}

void scale_send_up(struct scale_node *from, const uint8_t *payload, size_t bytes)
{
    send(from, &from->up, parcel_new(payload, bytes, from->place));
}

void scale_send_down(struct scale_node *to, const uint8_t *payload, size_t bytes)
{
    send(to, &to->down, parcel_new(payload, bytes, AGG_PARENT));
}

#include "lcore_packets.h"

#include <endian.h>
#include <string.h>

#include "roce/pool.h"
#include "roce/protocol.h"
#include "roce/terms.h"
#include "switchml/protocol.h"
#include "switchml/terms.h"

enum { SENDER_PORT = 40000 };

/* --- SwitchML over UDP --- */

static void plan_switchml(struct jobs_plan *plan, enum xfer_format format, unsigned slots,
                          unsigned element_bytes)
{
    const struct sml_terms terms = {.format = format,
                                    .mode = XFER_ON_ARRIVAL,
                                    .slots = (uint16_t)slots,
                                    .chunk_bytes = (uint16_t)element_bytes};

    sml_terms_build(&plan->terms, &terms);
}

static size_t begin_switchml(uint8_t *payload, const struct packets_chunk *c, uint8_t size_code, uint8_t e0,
                             uint8_t e1)
{
    const struct sml_packet p = {.kind = SML_DATA,
                                 .size_code = size_code,
                                 .job = c->job,
                                 .tag = c->tag,
                                 .slot = sml_tag_slot(c->tag, c->slots),
                                 .ver = sml_tag_ver(c->tag, c->slots),
                                 .e0 = e0,
                                 .e1 = e1};

    sml_build_header(payload, &p);
    return SML_HEADER_BYTES;
}

static const uint8_t *switchml_elements(const uint8_t *payload, size_t bytes, unsigned element_bytes)
{
    struct sml_packet p;

    return sml_parse(&p, payload, bytes) == SML_OK && p.body_bytes == element_bytes ? p.body : NULL;
}

static uint32_t float32_form(uint32_t number)
{
    const float value = (float)number;
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void plan_float32(struct jobs_plan *plan, unsigned slots, unsigned element_bytes)
{
    plan_switchml(plan, XFER_FORMAT_TYPED, slots, element_bytes);
}

static size_t begin_float32(uint8_t *payload, const struct packets_chunk *c)
{
    return begin_switchml(payload, c, SML_SIZE_AGREED, agg_code(AGG_F32, AGG_SUM), SML_FLAG_WANT);
}

const struct packets packets_float32 = {
    .name = "float32",
    .protocol = &sml_protocol,
    .from_port = SENDER_PORT,
    .head_bytes = SML_HEADER_BYTES,
    .form = float32_form,
    .plan = plan_float32,
    .begin = begin_float32,
    .elements = switchml_elements,
};

static uint32_t int32_form(uint32_t number)
{
    return htobe32(number);
}

static void plan_int32(struct jobs_plan *plan, unsigned slots, unsigned element_bytes)
{
    plan_switchml(plan, XFER_FORMAT_INT32, slots, element_bytes);
}

static size_t begin_int32(uint8_t *payload, const struct packets_chunk *c)
{
    return begin_switchml(payload, c, sml_size_code(c->element_bytes), 0, 0);
}

const struct packets packets_int32 = {
    .name = "int32",
    .protocol = &sml_protocol,
    .from_port = SENDER_PORT,
    .head_bytes = SML_HEADER_BYTES,
    .form = int32_form,
    .plan = plan_int32,
    .begin = begin_int32,
    .elements = switchml_elements,
};

/* --- by RDMA --- */

/* Of a worker's NIC, of which nothing is asked. */
static struct rce_member nic[PACKETS_WORKERS];

static void plan_roce(struct jobs_plan *plan, unsigned slots, unsigned element_bytes)
{
    const struct rce_terms terms = {.queue_pairs = (uint16_t)(slots / PACKETS_OF_MESSAGE),
                                    .packet_bytes = (uint16_t)element_bytes,
                                    .packets = PACKETS_OF_MESSAGE};

    rce_terms_build(&plan->terms, &terms);
    plan->is_static = true;
    plan->particulars = (struct agg_particulars){nic, sizeof(nic)};
}

static uint8_t opcode_at(unsigned place)
{
    if (place == PACKETS_OF_MESSAGE - 1)
        return ROCE_WRITE_LAST_IMMEDIATE;
    return place == 0 ? ROCE_WRITE_FIRST : ROCE_WRITE_MIDDLE;
}

static size_t begin_roce(uint8_t *payload, const struct packets_chunk *c)
{
    const unsigned slot = c->tag % c->slots, round = c->tag / c->slots;
    const unsigned place = slot % PACKETS_OF_MESSAGE, pair = slot / PACKETS_OF_MESSAGE;
    const struct roce_packet p = {.opcode = opcode_at(place),
                                  .queue_pair = RCE_QUEUE_PAIR | c->rank << 16 | pair,
                                  .number = (round * PACKETS_OF_MESSAGE + place) % ROCE_NUMBERS,
                                  .key = (slot - place) << 1 | (round & 1),
                                  .length = PACKETS_OF_MESSAGE * c->element_bytes};

    return roce_build_headers(payload, &p);
}

static const uint8_t *roce_elements(const uint8_t *payload, size_t bytes, unsigned element_bytes)
{
    struct roce_packet p;

    return roce_parse(&p, payload, bytes) == ROCE_OK && p.body_bytes == element_bytes &&
                   roce_icrc_holds(payload - ROCE_IP_UDP_BYTES, payload, bytes)
               ? p.body
               : NULL;
}

const struct packets packets_roce = {
    .name = "roce",
    .protocol = &rce_protocol,
    .from_port = ROCE_PORT,
    .head_bytes = ROCE_HEADERS_MAX,
    .tail_bytes = ROCE_ICRC_BYTES,
    .seals = true,
    .form = int32_form,
    .plan = plan_roce,
    .begin = begin_roce,
    .elements = roce_elements,
};

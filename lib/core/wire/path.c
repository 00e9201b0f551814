#include "wire/path.h"

#include <string.h>

#include "wire/control.h"
#include "wire/switchml.h"

enum { DATA_PORTS = SML_HEADER_BYTES };

static void put_kind(uint8_t *payload, unsigned kind)
{
    payload[0] = (uint8_t)(kind << 4 | SML_SIZE_AGREED);
}

static bool is_kind(const uint8_t *payload, size_t bytes, unsigned kind)
{
    return bytes >= PATH_BYTES_MIN && payload[0] == (kind << 4 | SML_SIZE_AGREED);
}

void path_build_question(uint8_t *payload, size_t bytes, uint32_t tag, uint16_t slot)
{
    const struct sml_packet head = {.tag = tag, .slot = slot};

    memset(payload, 0, bytes);
    sml_build_header(payload, &head);
    put_kind(payload, PATH_QUESTION);
}

bool path_is_question(const uint8_t *payload, size_t bytes)
{
    return is_kind(payload, bytes, PATH_QUESTION);
}

void path_answer(uint8_t *payload, uint8_t data_ports)
{
    put_kind(payload, PATH_ANSWER);
    payload[DATA_PORTS] = data_ports;
}

bool path_parse_answer(struct path_answer *a, const uint8_t *payload, size_t bytes)
{
    if (!is_kind(payload, bytes, PATH_ANSWER) || payload[DATA_PORTS] == 0 ||
        payload[DATA_PORTS] > CTL_DATA_PORTS_MAX)
        return false;
    a->tag = (uint32_t)payload[2] | (uint32_t)payload[3] << 8 | (uint32_t)payload[4] << 16 |
             (uint32_t)payload[5] << 24;
    a->data_ports = payload[DATA_PORTS];
    return true;
}

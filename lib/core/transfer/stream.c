#include "transfer/stream.h"

#include <string.h>

/* What the elements alone make up of the body, which are some. */
static void write_elements(const struct xfer_send *send, uint8_t *body)
{
    if (send->convert != NULL)
        xfer_pieces_gather(&send->elements, body, send->convert);
    else
        xfer_scale_gather(&send->scale, &send->elements, body);
}

static void write_body(const struct xfer_send *send, uint8_t *body)
{
    if (send->elements_bytes > 0)
        write_elements(send, body);
    if (send->names != NULL)
        memcpy(body + send->elements_bytes, send->names, send->body_bytes - send->elements_bytes);
    else
        memset(body + send->elements_bytes, 0, send->body_bytes - send->elements_bytes);
}

const void *xfer_send_body(const struct xfer_send *send, void *buffer)
{
    if (send->body_bytes == 0)
        return buffer;
    if (send->convert != NULL && !send->swapped && send->names == NULL && xfer_pieces_whole(&send->elements))
        return xfer_pieces_at(&send->elements);
    write_body(send, buffer);
    return buffer;
}

size_t xfer_send_copy(const struct xfer_send *send, uint8_t *payload)
{
    size_t bytes = send->head_bytes + send->body_bytes;

    memcpy(payload, send->head, send->head_bytes);
    write_body(send, payload + send->head_bytes);
    xfer_send_trailer(send, payload + send->head_bytes, payload + bytes);
    return bytes + xfer_trailer_bytes(send->checksum);
}

void xfer_send_trailer(const struct xfer_send *send, const void *body, uint8_t trailer[XFER_TRAILER_MAX])
{
    if (send->checksum != XFER_CHECKSUM_NONE)
        send->seal(send, body, trailer);
}

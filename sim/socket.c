#include "socket.h"

enum { SOCKET_BYTES = 212992 }; /* Linux' default receive buffer */

void socket_put(struct socket *socket, struct frame *f)
{
    if (socket->bytes + f->bytes > SOCKET_BYTES) {
        frame_free(f);
        return;
    }
    f->next = NULL;
    if (socket->first == NULL)
        socket->first = f;
    else
        socket->last->next = f;
    socket->last = f;
    socket->bytes += f->bytes;
}

struct frame *socket_take(struct socket *socket)
{
    struct frame *f = socket->first;

    if (f != NULL) {
        socket->first = f->next;
        socket->bytes -= f->bytes;
    }
    return f;
}

void socket_drain(struct socket *socket)
{
    for (struct frame *f; (f = socket_take(socket)) != NULL;)
        frame_free(f);
}

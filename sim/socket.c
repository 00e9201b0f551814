#include "socket.h"

enum { SOCKET_BYTES = 212992 }; /* Linux' default receive buffer */

void socket_put(struct socket *socket, struct frame *f)
{
    if (socket->bytes + f->bytes > SOCKET_BYTES) {
        frame_free(f);
        return;
    }
    frame_line_put(&socket->line, f);
    socket->bytes += f->bytes;
}

struct frame *socket_take(struct socket *socket)
{
    struct frame *f = frame_line_take(&socket->line);

    if (f != NULL)
        socket->bytes -= f->bytes;
    return f;
}

void socket_drain(struct socket *socket)
{
    frame_line_drop(&socket->line);
    socket->bytes = 0;
}

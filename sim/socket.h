/* Datagrams that wait in a process's socket. */
#pragma once

#include "link.h"

struct socket {
    uint16_t port;
    struct frame_line line;
    size_t bytes;
};

void socket_put(struct socket *socket,
                struct frame *frame);             /* takes it over; drops it if the socket is full */
struct frame *socket_take(struct socket *socket); /* the caller's now; NULL: none */
void socket_drain(struct socket *socket);

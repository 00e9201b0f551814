/* TCP sockets with addresses of other hosts (IP_TRANSPARENT), which take CAP_NET_ADMIN and a route that
 * brings those hosts' packets here (docs/mpi-tcp.md). */
#pragma once

#include <netinet/in.h>

/* A socket that listens there, or begins to connect from one host to the other; neither blocks. The
 * descriptor, or -errno. */
int transparent_listen(const struct sockaddr_in *at);
int transparent_connect(const struct sockaddr_in *from, const struct sockaddr_in *to);

/* The next connection that has come to a listening socket, and who it is between. The descriptor, or -errno.
 */
int transparent_accept(int listening, struct sockaddr_in *from, struct sockaddr_in *to);

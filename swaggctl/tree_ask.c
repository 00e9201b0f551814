#include "tree_ask.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "tree.h"
#include "watch.h"

enum { PEERS_MAX = 64, REQUEST_BYTES = 128 };

/* No answer is longer: 64 jobs with 16,384 ranks. */
static const size_t most_bytes = 64 << 20;

/* Another switch of the tree, and what came of asking it. */
struct peer {
    const char *address; /* IP:PORT */
    pthread_t thread;
    bool asked;
    json_t *live; /* NULL: nothing, and state says why */
    char state[128];
};

/* --- over HTTP ----------------------------------------------------------------------------------------- */

/* Waits until the socket is ready; 0, or -errno. */
static int ready(int fd, short what, double until)
{
    struct pollfd p = {.fd = fd, .events = what};
    const double left = until - seconds_now();
    int n;

    do
        n = left <= 0 ? 0 : poll(&p, 1, (int)(left * 1000) + 1);
    while (n < 0 && errno == EINTR);
    return n > 0 ? 0 : n == 0 ? -ETIMEDOUT : -errno;
}

static int connect_to(const struct peer *peer, double until)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    const size_t host = strcspn(peer->address, ":");
    socklen_t length = sizeof(int);
    char ip[INET_ADDRSTRLEN];
    int fd, error = 0;

    snprintf(ip, sizeof(ip), "%.*s", (int)host, peer->address);
    if (peer->address[host] != ':' || inet_pton(AF_INET, ip, &at.sin_addr) != 1)
        return -EINVAL;
    at.sin_port = htons((uint16_t)strtoul(peer->address + host + 1, NULL, 10));
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
        error = errno == EINPROGRESS ? -ready(fd, POLLOUT, until) : errno;
    if (error == 0)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error == 0)
        return fd;
    close(fd);
    return -error;
}

/* All that comes until the other side closes, into *text, which is the caller's; its length, or -errno. */
static ssize_t receive_all(int fd, char **text, double until)
{
    size_t used = 0, room = 0;
    ssize_t n = 1;

    while (n > 0) {
        if (used == room) {
            char *longer = room >= most_bytes ? NULL : realloc(*text, room = room == 0 ? 1 << 16 : 2 * room);

            if (longer == NULL)
                return -ENOMEM;
            *text = longer;
        }
        n = ready(fd, POLLIN, until);
        if (n == 0) {
            n = recv(fd, *text + used, room - used, 0);
            n = n < 0 ? -errno : n;
        }
        used += n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? n : (ssize_t)used;
}

/* The object behind the head of an answer with status 200; NULL: it is another. */
static json_t *read_answer(const char *text, size_t bytes)
{
    const char *body = memmem(text, bytes, "\r\n\r\n", 4);

    if (body == NULL || bytes < 12 || memcmp(text, "HTTP/1.", 7) != 0 || memcmp(text + 8, " 200", 4) != 0)
        return NULL;
    return json_loadb(body + 4, bytes - (size_t)(body + 4 - text), 0, NULL);
}

static void *ask_peer(void *context)
{
    struct peer *peer = context;
    const double until = seconds_now() + TREE_PATIENCE_S;
    char request[REQUEST_BYTES], *text = NULL;
    const int fd = connect_to(peer, until);
    ssize_t n = fd;

    snprintf(request, sizeof(request), "GET /live HTTP/1.0\r\nHost: %s\r\n\r\n", peer->address);
    if (fd >= 0) {
        n = send(fd, request, strlen(request), MSG_NOSIGNAL) < 0 ? -errno : receive_all(fd, &text, until);
        close(fd);
    }
    peer->live = n > 0 ? read_answer(text, (size_t)n) : NULL;
    if (n < 0)
        snprintf(peer->state, sizeof(peer->state), "away: %s", strerror((int)-n));
    else if (peer->live == NULL)
        snprintf(peer->state, sizeof(peer->state), "away: who answers there is no swagg");
    free(text);
    return NULL;
}

/* --- the one that is asked first ------------------------------------------------------------------------ */

/* Its view, of the job of this name; NULL: it has none, or there is no answer and why says so. */
static json_t *view_of(const struct instance *instance, const char *view, const char *name,
                       char why[INSTANCE_WHY_MAX])
{
    json_t *request = ask_request(view), *answer, *got;

    if (name != NULL)
        json_object_set_new(request, "name", json_string(name));
    answer = ask(instance, request, why);
    got = json_incref(json_object_get(answer, "view"));
    json_decref(request);
    json_decref(answer);
    return got;
}

/* Of a view the table of the same name. */
static json_t *rows_of(const struct instance *instance, const char *view, const char *name)
{
    char why[INSTANCE_WHY_MAX];
    json_t *whole = view_of(instance, view, name, why), *rows = json_incref(json_object_get(whole, view));

    json_decref(whole);
    return rows == NULL ? json_array() : rows;
}

static json_t *jobs_of(const struct instance *instance)
{
    json_t *list = rows_of(instance, "jobs", NULL), *jobs = json_array();
    char why[INSTANCE_WHY_MAX], called[INSTANCE_WHY_MAX];
    const json_t *listed;
    size_t i;

    json_array_foreach (list, i, listed) {
        const char *tenant = json_string_value(json_object_get(listed, "tenant"));
        json_t *job;

        snprintf(called, sizeof(called), "%s%s%s", tenant == NULL ? "" : tenant, tenant == NULL ? "" : "/",
                 json_string_value(json_object_get(listed, "name")));
        job = view_of(instance, "job", called, why);
        if (job == NULL)
            continue; /* it has ended meanwhile */
        json_object_set_new(job, "ranks", rows_of(instance, "ranks", called));
        json_array_append_new(jobs, job);
    }
    json_decref(list);
    return jobs;
}

/* The same that /live tells of others. NULL: no switch answers. */
static json_t *ask_first(const struct instance *instance, char why[INSTANCE_WHY_MAX])
{
    json_t *status = view_of(instance, "status", NULL, why);

    if (status == NULL)
        return NULL;
    return json_pack("{s:o, s:o, s:o, s:o}", "status", status, "ports", rows_of(instance, "ports", NULL),
                     "uplinks", rows_of(instance, "uplinks", NULL), "jobs", jobs_of(instance));
}

/* --- all ------------------------------------------------------------------------------------------------ */

/* Asks those of the list, as many as there is room for; returns how many. */
static size_t ask_peers(struct peer peer[PEERS_MAX], const json_t *list)
{
    const json_t *row;
    size_t i, n = 0;

    json_array_foreach (list, i, row) {
        struct peer *p = &peer[n];

        if (n == PEERS_MAX)
            break;
        *p = (struct peer){.address = json_string_value(json_object_get(row, "address")),
                           .state = "away: no thread to ask it"};
        p->asked = p->address != NULL && pthread_create(&p->thread, NULL, ask_peer, p) == 0;
        n += p->address != NULL;
    }
    for (i = 0; i < n; i++)
        if (peer[i].asked)
            pthread_join(peer[i].thread, NULL);
    return n;
}

json_t *tree_ask(const struct instance *instance, char why[INSTANCE_WHY_MAX])
{
    json_t *first = ask_first(instance, why), *list, *told, *away, *view;
    struct peer peer[PEERS_MAX];
    size_t n;

    if (first == NULL)
        return NULL;
    list = rows_of(instance, "peers", NULL);
    n = ask_peers(peer, list);
    told = json_pack("[o]", first);
    away = json_array();
    for (size_t i = 0; i < n; i++) {
        if (peer[i].live != NULL)
            json_array_append_new(told, peer[i].live);
        else
            json_array_append_new(
                away, json_pack("{s:s, s:s}", "address", peer[i].address, "state", peer[i].state));
    }
    view = tree_view(told, away);
    json_decref(list);
    json_decref(told);
    json_decref(away);
    return view;
}

#include "tree_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "tree.h"

enum { PEERS_MAX = 64, URL_BYTES = 128 };

/* No answer is longer: 64 jobs with 16,384 ranks. */
static const size_t most_bytes = 64 << 20;

/* Another switch of the tree, and what came of asking it. */
struct peer {
    const char *address; /* IP:PORT */
    FILE *answer;        /* NULL: it cannot be asked; what is written to it is in text */
    char *text;
    size_t bytes;
    json_t *live; /* NULL: nothing, and state says why */
    char state[128];
};

/* --- over HTTP ----------------------------------------------------------------------------------------- */

/* Some of an answer has come, for a stream; how much of it was taken: less than all ends the asking. */
static size_t take(char *data, size_t one, size_t count, void *stream)
{
    return (size_t)ftello(stream) + one * count > most_bytes ? 0 : fwrite(data, 1, one * count, stream);
}

/* The question to a peer. NULL: there is no memory. */
static CURL *question(struct peer *peer)
{
    CURL *asked = curl_easy_init();
    char url[URL_BYTES];

    if (asked == NULL)
        return NULL;
    snprintf(url, sizeof(url), "http://%s/live", peer->address);
    curl_easy_setopt(asked, CURLOPT_URL, url);
    curl_easy_setopt(asked, CURLOPT_PROXY, ""); /* what the environment says of proxies is for the Web */
    curl_easy_setopt(asked, CURLOPT_TIMEOUT, (long)TREE_PATIENCE_S);
    curl_easy_setopt(asked, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(asked, CURLOPT_WRITEDATA, peer->answer);
    curl_easy_setopt(asked, CURLOPT_PRIVATE, peer);
    return asked;
}

/* The asking has ended. */
static void conclude(CURL *asked, CURLcode how)
{
    long status = 0, error = 0;
    struct peer *peer = NULL;

    curl_easy_getinfo(asked, CURLINFO_PRIVATE, &peer);
    curl_easy_getinfo(asked, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(asked, CURLINFO_OS_ERRNO, &error);
    fflush(peer->answer);
    if (how == CURLE_OPERATION_TIMEDOUT)
        error = ETIMEDOUT;
    if (how == CURLE_OK && status == 200)
        peer->live = json_loadb(peer->text, peer->bytes, 0, NULL);
    if (how != CURLE_OK && error != 0)
        snprintf(peer->state, sizeof(peer->state), "away: %s", strerror((int)error));
    else
        snprintf(peer->state, sizeof(peer->state), "away: who answers there is no swagg");
}

/* Asks all at once. */
static void ask_all(struct peer peer[PEERS_MAX], size_t n)
{
    CURLM *all = curl_multi_init();
    CURL *asked[PEERS_MAX];
    const CURLMsg *ended;
    int going, left;

    for (size_t i = 0; i < n; i++) {
        asked[i] = peer[i].answer == NULL ? NULL : question(&peer[i]);
        curl_multi_add_handle(all, asked[i]);
    }
    while (curl_multi_perform(all, &going) == CURLM_OK && going > 0)
        curl_multi_poll(all, NULL, 0, TREE_PATIENCE_S * 1000, NULL);
    while ((ended = curl_multi_info_read(all, &left)) != NULL)
        conclude(ended->easy_handle, ended->data.result);
    for (size_t i = 0; i < n; i++) {
        curl_multi_remove_handle(all, asked[i]);
        curl_easy_cleanup(asked[i]);
    }
    curl_multi_cleanup(all);
}

/* --- the one that is asked first ------------------------------------------------------------------------ */

/* Its view, of the job of this name; NULL: it has none, or there is no answer and why says so. */
static json_t *view_of(const struct instance *instance, const char *view, const char *name,
                       char why[INSTANCE_WHY_MAX])
{
    json_t *answer = ask_view(instance, view, name, why), *got = json_incref(json_object_get(answer, "view"));

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
    char why[INSTANCE_WHY_MAX], called[JOB_CALLED_MAX];
    const json_t *listed;
    size_t i;

    json_array_foreach (list, i, listed) {
        json_t *job;

        ask_job_called(called, listed);
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

/* Those of the list, as many as there is room for; returns how many. */
static size_t read_peers(struct peer peer[PEERS_MAX], const json_t *list)
{
    const json_t *row;
    size_t i, n = 0;

    json_array_foreach (list, i, row) {
        struct peer *p = &peer[n];

        if (n == PEERS_MAX)
            break;
        *p = (struct peer){.address = json_string_value(json_object_get(row, "address")),
                           .state = "away: no memory to ask it"};
        if (p->address == NULL)
            continue;
        p->answer = open_memstream(&p->text, &p->bytes);
        n++;
    }
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
    n = read_peers(peer, list);
    ask_all(peer, n);
    told = json_pack("[o]", first);
    away = json_array();
    for (size_t i = 0; i < n; i++) {
        if (peer[i].live != NULL)
            json_array_append_new(told, peer[i].live);
        else
            json_array_append_new(
                away, json_pack("{s:s, s:s}", "address", peer[i].address, "state", peer[i].state));
        if (peer[i].answer != NULL)
            fclose(peer[i].answer);
        free(peer[i].text);
    }
    view = tree_view(told, away);
    json_decref(list);
    json_decref(told);
    json_decref(away);
    return view;
}

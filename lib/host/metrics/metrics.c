#include "metrics/metrics.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/log.h"
#include "monotonic.h"

enum { ROUND_MS = 100, CONNECTION_BYTES = 32 << 10 };

#define FRESH_NS NS_PER_SECOND /* so long an answer serves others that ask */

/* page.html, as the linker has put it here. */
extern const char _binary_page_html_start[], _binary_page_html_end[];

/* What there is to read. */
enum form { FORM_TEXT, FORM_OPEN, FORM_LIVE, FORM_PAGE, FORMS };

static char *make_text(const struct view_source *host, unsigned ranks, size_t *bytes)
{
    return metrics_collect(host, ranks, false, bytes);
}

static char *make_open(const struct view_source *host, unsigned ranks, size_t *bytes)
{
    return metrics_collect(host, ranks, true, bytes);
}

static char *make_page(const struct view_source *host, unsigned ranks, size_t *bytes)
{
    char *page = malloc((size_t)(_binary_page_html_end - _binary_page_html_start));

    (void)host;
    (void)ranks;
    *bytes = (size_t)(_binary_page_html_end - _binary_page_html_start);
    return page == NULL ? NULL : memcpy(page, _binary_page_html_start, *bytes);
}

static const struct {
    const char *path, *type;
    char *(*make)(const struct view_source *host, unsigned ranks, size_t *bytes);
} forms[FORMS] = {
    [FORM_TEXT] = {"/metrics", "text/plain; version=0.0.4; charset=utf-8", make_text},
    [FORM_OPEN] = {"/metrics", "application/openmetrics-text; version=1.0.0; charset=utf-8", make_open},
    [FORM_LIVE] = {"/live", "application/json", metrics_live},
    [FORM_PAGE] = {"/", "text/html; charset=utf-8", make_page},
};

/* The page asks nobody but who has sent it, and nothing of it comes from elsewhere. */
static const char policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'";

struct metrics {
    struct metrics_host host;
    struct config_metrics cfg;
    struct MHD_Daemon *http;
    pthread_t thread;
    bool stop; /* atomic */
    /* The latest of each form. A connection that is slow keeps its own. */
    struct {
        struct MHD_Response *response;
        uint64_t at;
    } made[FORMS];
};

static struct MHD_Response *make(const struct metrics *m, enum form form)
{
    size_t bytes = 0;
    char *text = forms[form].make(&m->host.views, m->cfg.ranks, &bytes);
    struct MHD_Response *response =
        text == NULL ? NULL : MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE);

    if (response == NULL) {
        free(text);
        return NULL;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, forms[form].type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "Content-Security-Policy", policy);
    return response;
}

static struct MHD_Response *latest(struct metrics *m, enum form form)
{
    const uint64_t now = monotonic_ns();

    if (m->made[form].response != NULL && now - m->made[form].at < FRESH_NS)
        return m->made[form].response;
    if (m->made[form].response != NULL)
        MHD_destroy_response(m->made[form].response);
    m->made[form].response = make(m, form);
    m->made[form].at = now;
    return m->made[form].response;
}

static enum MHD_Result say(struct MHD_Connection *to, unsigned status, const char *words)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(words), (void *)words, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result rc;

    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    rc = MHD_queue_response(to, status, response);
    MHD_destroy_response(response);
    return rc;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *from, const char *url, const char *method,
                              const char *version, const char *body, size_t *body_bytes, void **request)
{
    const char *accepts = MHD_lookup_connection_value(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    enum form form = 0;
    struct MHD_Response *response;

    (void)version;
    (void)body;
    (void)body_bytes;
    (void)request;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return say(from, MHD_HTTP_METHOD_NOT_ALLOWED, "this can only be read: GET\n");
    while (form < FORMS && strcmp(url, forms[form].path) != 0)
        form++;
    if (form == FORMS)
        return say(from, MHD_HTTP_NOT_FOUND, "there is a page at /, and what Prometheus reads at /metrics\n");
    if (form == FORM_TEXT && accepts != NULL && strstr(accepts, "application/openmetrics-text") != NULL)
        form = FORM_OPEN;
    response = latest(context, form);
    if (response == NULL)
        return say(from, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory for an answer\n");
    return MHD_queue_response(from, MHD_HTTP_OK, response);
}

static void *run(void *context)
{
    struct metrics *m = context;

    while (!__atomic_load_n(&m->stop, __ATOMIC_RELAXED))
        MHD_run_wait(m->http, ROUND_MS);
    return NULL;
}

static int begin(struct metrics *m)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = m->cfg.at.ip, .sin_port = htons(m->cfg.at.port)};

    errno = 0;
    m->http = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, m, MHD_OPTION_SOCK_ADDR, &at,
                               MHD_OPTION_CONNECTION_LIMIT, (unsigned)METRICS_CONNECTIONS,
                               MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)METRICS_CONNECTIONS / 2,
                               MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)METRICS_SILENT_S,
                               MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_END);
    if (m->http == NULL)
        return errno == 0 ? -ENOMEM : -errno;
    return m->host.start_thread == NULL ? -pthread_create(&m->thread, NULL, run, m)
                                        : m->host.start_thread(&m->thread, run, m);
}

static void end(struct metrics *m)
{
    for (unsigned form = 0; form < FORMS; form++)
        if (m->made[form].response != NULL)
            MHD_destroy_response(m->made[form].response);
    if (m->http != NULL)
        MHD_stop_daemon(m->http);
    free(m);
}

int metrics_start(struct metrics **out, const struct metrics_host *host, const struct config_metrics *cfg)
{
    struct metrics *m = cfg->at.port == 0 ? NULL : calloc(1, sizeof(*m));
    char at[VIEW_ADDRESS_MAX];
    int rc;

    *out = NULL;
    if (cfg->at.port == 0)
        return 0;
    if (m == NULL)
        return -ENOMEM;
    m->host = *host;
    m->cfg = *cfg;
    view_address(at, cfg->at.ip, cfg->at.port, 1);
    rc = begin(m);
    if (rc < 0) {
        end(m);
        return log_fail(rc, "metrics.listen: nothing can be told at %s: %s", at, strerror(-rc));
    }
    log_notice("metrics of this %s: http://%s/metrics, and a page: http://%s/", host->kind, at, at);
    *out = m;
    return 0;
}

void metrics_stop(struct metrics *m)
{
    if (m == NULL)
        return;
    __atomic_store_n(&m->stop, true, __ATOMIC_RELAXED);
    pthread_join(m->thread, NULL);
    end(m);
}

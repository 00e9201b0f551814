/* What a program asks of the calls that it has posted. */
#include "await.h"

int swagg_test(struct swagg_request **request)
{
    if (!request || !*request)
        return SWAGG_OK;
    int rc = job_check_own((*request)->job);
    if (rc < 0)
        return rc;
    rc = await_look(*request);
    if (rc != SWAGG_IN_PROGRESS)
        *request = NULL;
    return rc;
}

int swagg_wait(struct swagg_request **request)
{
    size_t index;
    return request ? swagg_wait_any(request, 1, &index) : SWAGG_OK;
}

/* Of which job they all are, in *job, which is NULL if there are none. */
static int find_job(struct swagg_request *const requests[], size_t n, struct swagg_job **job)
{
    *job = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!requests[i])
            continue;
        const int rc = job_check_own(requests[i]->job);
        if (rc < 0)
            return rc;
        if (*job && *job != requests[i]->job)
            return client_fail(SWAGG_ERR_ARGUMENT, "requests[%zu] is of job '%s', others are of job '%s'", i,
                               requests[i]->job->options.job, (*job)->options.job);
        *job = requests[i]->job;
    }
    return SWAGG_OK;
}

int swagg_wait_any(struct swagg_request *requests[], size_t n, size_t *index)
{
    struct swagg_job *job;
    if (!index || (n > 0 && !requests))
        return client_fail(SWAGG_ERR_ARGUMENT, "requests or index is NULL");
    *index = n;
    int rc = find_job(requests, n, &job);
    if (rc < 0 || !job)
        return rc;
    *index = await_any(job, requests, n);
    rc = await_end(requests[*index]);
    requests[*index] = NULL;
    return rc;
}

int swagg_wait_all(struct swagg_request *requests[], size_t n)
{
    if (n > 0 && !requests)
        return client_fail(SWAGG_ERR_ARGUMENT, "requests is NULL");
    int first = SWAGG_OK;
    for (size_t i = 0; i < n; i++) {
        const int rc = swagg_wait(&requests[i]);
        first = first < 0 ? first : rc;
    }
    return first;
}

int swagg_get_fd(struct swagg_job *job)
{
    int rc = job_check_own(job);
    if (rc < 0)
        return rc;
    struct requests *q = &job->requests;
    pthread_mutex_lock(&q->lock);
    rc = q->bell.sleeper.fd >= 0 ? 0 : waker_open(&q->bell);
    if (rc == 0 && q->ended > 0)
        waker_wake(&q->bell);
    const int fd = q->bell.sleeper.fd;
    pthread_mutex_unlock(&q->lock);
    return rc == 0 ? fd : client_fail(SWAGG_ERR_SYSTEM, "no pipe");
}

#include "operator/reply_job.h"

#include <errno.h>

static void add_choice(void *context, const char *call)
{
    json_array_append_new(context, json_string(call));
}

void reply_which_job(struct reply *reply, const struct registry_shown *s, const char *name)
{
    reply_fail(reply, REPLY_AMBIGUOUS, "several tenants have a job %s; say which: TENANT/%s", name, name);
    reply->choices = json_array();
    registry_calls(s, name, add_choice, reply->choices);
}

const struct ctl_entry *reply_find_job(struct reply *reply, const struct registry_shown *s, const char *name)
{
    const struct ctl_entry *job = NULL;
    const int rc = name == NULL ? -EINVAL : registry_find(s, name, &job);

    if (rc == 0)
        return job;
    if (rc == -EINVAL)
        reply_fail(reply, REPLY_BAD_REQUEST, "which job? `swaggctl jobs` lists them");
    else if (rc == -ENOTUNIQ)
        reply_which_job(reply, s, name);
    else
        reply_fail(reply, REPLY_UNKNOWN, "there is no job %s; `swaggctl jobs` lists them", name);
    return NULL;
}

#include "operator/reply_changes.h"

void reply_changes(struct reply *reply, const struct settings_changes *changes)
{
    static const char *const when[SETTING_WHENS] = {
        [SETTING_AT_ONCE] = "now", [SETTING_NEW_JOBS] = "new jobs", [SETTING_WHEN_QUIET] = "now"};
    json_t *rows = json_array();
    int rc = 0;

    for (unsigned i = 0; i < changes->n; i++)
        rc |=
            json_array_append_new(rows, json_pack("{s:s,s:s,s:s,s:s}", "key", changes->change[i].key, "from",
                                                  changes->change[i].from, "to", changes->change[i].to, "for",
                                                  when[changes->change[i].when]));
    reply->view = json_pack("{s:o}", "changes", rows);
    reply->counters = json_array();
    if (rc != 0 || reply->view == NULL)
        reply_fail(reply, REPLY_FAILED, "it is done, but there is no memory to say what has changed");
}

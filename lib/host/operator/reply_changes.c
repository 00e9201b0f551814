#include "operator/reply_changes.h"

#include "views/writer_json.h"

void reply_changes(struct reply *reply, const struct settings_changes *changes)
{
    static const char *const when[SETTING_WHENS] = {
        [SETTING_AT_ONCE] = "now", [SETTING_NEW_JOBS] = "new jobs", [SETTING_WHEN_QUIET] = "now"};
    struct writer_json w;

    writer_json_init(&w);
    writer_table(&w.writer, "changes");
    for (unsigned i = 0; i < changes->n; i++) {
        writer_row(&w.writer);
        writer_text(&w.writer, "key", changes->change[i].key);
        writer_text(&w.writer, "from", changes->change[i].from);
        writer_text(&w.writer, "to", changes->change[i].to);
        writer_text(&w.writer, "for", when[changes->change[i].when]);
        writer_end(&w.writer);
    }
    writer_end(&w.writer);
    if (writer_json_take(&w, &reply->view, &reply->counters) < 0)
        reply_fail(reply, REPLY_FAILED, "it is done, but there is no memory to say what has changed");
}

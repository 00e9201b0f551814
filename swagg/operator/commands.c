#include "operator/commands.h"

#include <errno.h>

#include "show/views.h"
#include "show/writer_json.h"

static void unknown_subject(const struct show_parts *parts, enum view_subject subject, const char *name,
                            struct reply *reply)
{
    char names[512];

    view_subject_list(parts, subject, names, sizeof(names));
    if (name == NULL)
        reply_fail(reply, REPLY_BAD_REQUEST, "which %s? There are: %s", view_subject_name(subject), names);
    else
        reply_fail(reply, REPLY_UNKNOWN, "there is no %s %s; there are: %s", view_subject_name(subject), name,
                   names);
}

static void show(const struct show_parts *parts, const struct view *view, const char *name,
                 struct reply *reply)
{
    struct writer_json w;
    int rc;

    if (name == NULL && !view->optional) {
        unknown_subject(parts, view->of, NULL, reply);
        return;
    }
    writer_json_init(&w);
    rc = view->write(parts, name, &w.writer);
    if (writer_json_take(&w, &reply->view, &reply->counters) < 0)
        reply_fail(reply, REPLY_FAILED, "no memory for the answer");
    else if (rc < 0)
        unknown_subject(parts, view->of, name, reply);
}

void commands_run(const struct show_parts *parts, const struct request *request, struct reply *reply)
{
    const struct view *view = views_find(request->command);
    const char *name = request_text(request, "name");

    *reply = (struct reply){.code = REPLY_OK};
    if (view == NULL)
        reply_fail(reply, REPLY_BAD_REQUEST, "the switch knows no command \"%s\"", request->command);
    else if (name != NULL && view->of == VIEW_OF_ALL)
        reply_fail(reply, REPLY_BAD_REQUEST, "%s takes no name", view->name);
    else
        show(parts, view, name, reply);
}

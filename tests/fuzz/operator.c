/* An operator's request: any bytes. A refusal has a reason that an answer can carry; what is accepted has a
 * command. The answer is one line of JSON. */
#include <jansson.h>

#include "fuzz.h"
#include "operator/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct reply reply = {.code = REPLY_OK};
    struct request request;
    char why[REQUEST_TEXT_MAX] = "", *line;
    size_t bytes;
    char *text = (char *)take_bytes(&in, REQUEST_BYTES_MAX, &bytes);

    if (request_parse(&request, text, bytes, why) < 0) {
        REQUIRE(why[0] != '\0' && request.body == NULL);
        reply_fail(&reply, REPLY_BAD_REQUEST, "%s", why);
    } else {
        REQUIRE(request.command != NULL);
        reply_fail(&reply, REPLY_UNKNOWN, "there is no %s", request.command);
        request_free(&request);
    }
    line = reply_line(&reply, "fuzz");
    REQUIRE(line != NULL && strchr(line, '\n') == line + strlen(line) - 1);
    json_t *answer = json_loads(line, 0, NULL);
    REQUIRE(json_is_string(json_object_get(answer, "error")));
    json_decref(answer);
    free(line);
    free(text);
    return 0;
}

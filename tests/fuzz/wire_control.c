/* Control messages: any payload, parsed; what parses is built again and parses to the same. */
#include "fuzz.h"
#include "same.h"
#include "wire/control.h"

static void check_string(const char *s, size_t max)
{
    size_t n = strnlen(s, max);
    REQUIRE(n < max);
    for (size_t i = 0; i < n; i++)
        REQUIRE(s[i] >= ' ' && s[i] <= '~');
    for (size_t i = n; i < max; i++)
        REQUIRE(s[i] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ctl_message m, again;
    static const struct ctl_head none;
    uint8_t built[CTL_MESSAGE_MAX] = {0};
    enum ctl_parse_error error = ctl_parse(&m, data, size);
    if (error == CTL_NOT_CONTROL || size < CTL_HEAD_BYTES)
        REQUIRE(same_head(&m.head, &none));
    if (error != CTL_PARSED)
        return 0;
    if (m.head.type == CTL_JOIN) {
        check_string(m.join.name, sizeof m.join.name);
        REQUIRE(m.join.name[0]);
    }
    if (m.head.type == CTL_ABORT || m.head.type == CTL_REFUSED || m.head.type == CTL_ABORTED)
        check_string(m.failure.text, sizeof m.failure.text);
    size_t bytes = ctl_build(built, &m) + (m.head.sealed ? CTL_SEAL_BYTES : 0); /* the seal is zeros */
    REQUIRE(bytes <= sizeof built); /* longer than what came, where that was an older worker's */
    REQUIRE(ctl_parse(&again, built, bytes) == CTL_PARSED);
    REQUIRE(same_message(&m, &again));
    if (m.head.type == CTL_PENDING) {
        char text[CTL_RANKS_TEXT_MAX];
        REQUIRE(strlen(ctl_ranks_text(&m.pending.missing, text)) < sizeof text);
    }
    return 0;
}

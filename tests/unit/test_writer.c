/* Views as JSON: what is written comes out under its keys, in order. As answers of telemetry: what is cut. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/writer_telemetry.h"
#include "unit.h"
#include "views/writer_json.h"

static void write_view(struct writer *w)
{
    const struct net_mac mac = {.addr_bytes = {2, 0, 0, 0, 0, 0xab}};

    writer_text(w, "name", "s");
    writer_counter(w, "frames", 7);
    writer_flag(w, "up", true);
    writer_mac(w, "mac", &mac);
    writer_numbers(w, "missing");
    writer_number(w, NULL, 1);
    writer_number(w, NULL, 5);
    writer_end(w);
    writer_table(w, "ports");
    for (unsigned row = 0; row < 2; row++) {
        writer_row(w);
        writer_format(w, "name", "p%u", row);
        writer_counter(w, "frames", row);
        writer_texts(w, "rx");
        if (row == 0)
            writer_text(w, NULL, "x");
        writer_end(w);
        writer_end(w);
    }
    writer_end(w);
    writer_number(w, "last", UINT64_C(1) << 40);
}

static void test_a_view_becomes_json(void)
{
    static const char expected[] =
        "{\"name\":\"s\",\"frames\":7,\"up\":true,\"mac\":\"02:00:00:00:00:AB\",\"missing\":[1,5],"
        "\"ports\":[{\"name\":\"p0\",\"frames\":0,\"rx\":[\"x\"]},{\"name\":\"p1\",\"frames\":1,\"rx\":[]}],"
        "\"last\":1099511627776}";
    struct writer_json w;
    json_t *view, *counters;
    char *text;

    writer_json_init(&w);
    write_view(&w.writer);
    CU_ASSERT_EQUAL_FATAL(writer_json_take(&w, &view, &counters), 0);
    text = json_dumps(view, JSON_COMPACT);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
    text = json_dumps(counters, JSON_COMPACT);
    CU_ASSERT_STRING_EQUAL(text, "[\"frames\",\"ports/frames\"]");
    free(text);
    json_decref(view);
    json_decref(counters);
}

/* What telemetry makes of a list in a row, of these numbers. */
static void expect_cell(unsigned first, unsigned last, const char *end)
{
    struct rte_tel_data *answer = rte_tel_data_alloc();
    struct writer_telemetry w;

    writer_telemetry_init(&w, answer);
    writer_table(&w.writer, "waiting");
    writer_row(&w.writer);
    writer_numbers(&w.writer, "missing");
    for (unsigned i = first; i <= last; i++)
        writer_number(&w.writer, NULL, i);
    CU_ASSERT_TRUE(strlen(w.cell) < sizeof(w.cell) && strlen(w.cell) >= strlen(end));
    CU_ASSERT_STRING_EQUAL(w.cell + strlen(w.cell) - strlen(end), end);
    rte_tel_data_free(answer);
}

static void test_a_list_that_is_too_long_for_telemetry_ends_with_a_whole_item(void)
{
    expect_cell(100, 129, "128 129");     /* 30 of three digits */
    expect_cell(100, 130, "129 130");     /* 123 characters: with " ..." there is no room for more */
    expect_cell(100, 131, "129 130 ..."); /* and not "13" */
    expect_cell(100, 999, "129 130 ...");
    expect_cell(1000, 1099, "1022 1023 ...");
}

int main(void)
{
    CU_TestInfo tests[] = {
        UNIT_TEST(test_a_view_becomes_json),
        UNIT_TEST(test_a_list_that_is_too_long_for_telemetry_ends_with_a_whole_item),
        CU_TEST_INFO_NULL,
    };

    return unit_main("writer", tests);
}

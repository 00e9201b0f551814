/* Path probes (path.h): told from everything else, answered in place. */
#include <string.h>

#include "unit.h"
#include "wire/path.h"
#include "wire/switchml.h"

enum { BYTES = 100, TAG = 0x12345678 };

TEST(an_answer_is_as_long_as_its_question_and_carries_its_tag)
{
    uint8_t payload[BYTES];
    struct path_answer a;

    path_build_question(payload, sizeof payload, TAG, 5);
    CU_ASSERT(path_is_question(payload, sizeof payload));
    CU_ASSERT(!path_parse_answer(&a, payload, sizeof payload));
    CU_ASSERT_EQUAL(sml_peek_slot(payload), 5);
    path_answer(payload, 16);
    CU_ASSERT(!path_is_question(payload, sizeof payload)); /* or two switches would answer each other for
                                                              ever */
    CU_ASSERT_FATAL(path_parse_answer(&a, payload, sizeof payload));
    CU_ASSERT_EQUAL(a.tag, TAG);
    CU_ASSERT_EQUAL(a.data_ports, 16);
}

TEST(what_is_cut_short_or_makes_no_sense_is_no_answer)
{
    uint8_t payload[BYTES];
    struct path_answer a;

    path_build_question(payload, sizeof payload, TAG, 0);
    for (size_t bytes = 0; bytes < sizeof payload; bytes++)
        CU_ASSERT_EQUAL(path_is_question(payload, bytes), bytes >= PATH_BYTES_MIN);
    for (unsigned ports = 0; ports < 256; ports++) {
        path_answer(payload, (uint8_t)ports);
        CU_ASSERT_EQUAL(path_parse_answer(&a, payload, sizeof payload), ports >= 1 && ports <= 16);
    }
    path_answer(payload, 1);
    for (size_t bytes = 0; bytes < sizeof payload; bytes++)
        CU_ASSERT_EQUAL(path_parse_answer(&a, payload, bytes), bytes >= PATH_BYTES_MIN);
}

/* No data packet is taken for a probe, no probe for a data packet. */
TEST(probes_and_data_packets_are_two_things)
{
    uint8_t payload[BYTES] = {0};
    struct sml_packet p;
    struct path_answer a;

    payload[SML_HEADER_BYTES] = 1;
    for (unsigned first = 0; first < 256; first++) {
        payload[0] = (uint8_t)first;
        bool probe =
            path_is_question(payload, sizeof payload) || path_parse_answer(&a, payload, sizeof payload);
        CU_ASSERT_EQUAL(probe, first == 0x94 || first == 0xA4);
        if (probe)
            CU_ASSERT_EQUAL(sml_parse(&p, payload, sizeof payload), SML_BAD_KIND);
    }
}

/* Open MPI's frames, as Debian's Open MPI 4.1.4 has sent them: a linear MPI_Reduce of 250,000 floats,
 * recorded. */
#include "wire/ob1.h"

#include <string.h>

#include "unit.h"

static const uint8_t greeting[] = {0x01, 0x00, 0x22, 0xc2, 0x02, 0x00, 0x00, 0x00, 0x4f, 0x50, 0x41, 0x4c,
                                   0x2d, 0x54, 0x43, 0x50, 0x2d, 0x42, 0x54, 0x4c, 0x00, 0x55, 0x00, 0x00};
static const uint8_t rndv[] = {0x42, 0x01, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x42, 0x2c,
                               0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0xeb, 0xff, 0xff, 0xff,
                               0x01, 0x00, 0x00, 0x00, 0x40, 0x42, 0x0f, 0x00, 0x00, 0x00,
                               0x00, 0x00, 0x80, 0x15, 0xcc, 0x05, 0x34, 0x56, 0x00, 0x00};
static const uint8_t put[] = {0x48, 0x01, 0x00, 0x00, 0x38, 0x00, 0x00, 0x00, 0x48, 0x44, 0x00, 0x00, 0x00,
                              0x00, 0x00, 0x00, 0x80, 0x15, 0xcc, 0x05, 0x34, 0x56, 0x00, 0x00, 0xc0, 0x05,
                              0x27, 0xdf, 0xaf, 0x55, 0x00, 0x00, 0x40, 0x30, 0x27, 0xdf, 0xaf, 0x55, 0x00,
                              0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0xb0, 0x70, 0x03,
                              0x76, 0x7f, 0x00, 0x00, 0x40, 0x42, 0x0f, 0x00, 0x00, 0x00, 0x00, 0x00};
static const uint8_t data[] = {0x20, 0x02, 0x01, 0x00, 0x40, 0x42, 0x0f, 0x00, 0x10, 0xb0, 0x70, 0x03,
                               0x76, 0x7f, 0x00, 0x00, 0x40, 0x42, 0x0f, 0x00, 0x00, 0x00, 0x00, 0x00};
static const uint8_t fin[] = {0x49, 0x01, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00, 0x49, 0x00, 0x00,
                              0x00, 0x03, 0x00, 0x00, 0x00, 0x40, 0x42, 0x0f, 0x00, 0x00, 0x00,
                              0x00, 0x00, 0xc0, 0x05, 0x27, 0xdf, 0xaf, 0x55, 0x00, 0x00};

static struct ob1_frame frame_of(const uint8_t *bytes, enum ob1_tag tag, size_t length)
{
    struct ob1_frame f;

    CU_ASSERT(ob1_parse_frame(&f, bytes));
    CU_ASSERT(ob1_is(&f, tag));
    CU_ASSERT_EQUAL(ob1_frame_length(&f), length);
    return f;
}

TEST(a_handshake_is_known)
{
    uint8_t other[sizeof(greeting)];

    CU_ASSERT(ob1_is_handshake(greeting));
    CU_ASSERT_EQUAL(ob1_job_of(greeting), 0xc2220001);
    memcpy(other, greeting, sizeof(other));
    other[8] = 'o';
    CU_ASSERT_FALSE(ob1_is_handshake(other));
}

TEST(a_message_is_announced)
{
    const struct ob1_frame f = frame_of(rndv, OB1_RNDV, sizeof(rndv));
    struct ob1_rndv r;

    ob1_parse_rndv(&r, rndv);
    CU_ASSERT_FALSE(ob1_is(&f, OB1_FIN));
    CU_ASSERT(r.context == 0 && r.source == 3 && r.tag == OB1_TAG_REDUCE && r.sequence == 1);
    CU_ASSERT(r.length == 1000000 && r.request == UINT64_C(0x563405cc1580));
}

TEST(a_put_is_built_as_it_came)
{
    uint8_t built[OB1_PUT_BYTES];
    struct ob1_put p;

    frame_of(put, OB1_PUT, sizeof(put));
    ob1_parse_put(&p, put);
    CU_ASSERT(p.request == UINT64_C(0x563405cc1580) && p.offset == 0 && p.length == 1000000);
    CU_ASSERT(p.address == UINT64_C(0x7f760370b010) && p.fragment == UINT64_C(0x55afdf2705c0));
    ob1_build_put(built, &p);
    CU_ASSERT_EQUAL(memcmp(built, put, sizeof(put)), 0);
}

TEST(data_are_built_as_they_came)
{
    uint8_t built[OB1_DATA_BYTES], longer[sizeof(data)];
    struct ob1_data d;

    frame_of(data, OB1_DATA, sizeof(data) + 1000000);
    CU_ASSERT(ob1_parse_data(&d, data));
    CU_ASSERT(d.address == UINT64_C(0x7f760370b010) && d.length == 1000000);
    ob1_build_data(built, &d);
    CU_ASSERT_EQUAL(memcmp(built, data, sizeof(data)), 0);
    memcpy(longer, data, sizeof(longer));
    longer[4]++;
    CU_ASSERT_FALSE(ob1_parse_data(&d, longer));
}

/* But for what fills a gap of the header's, which Open MPI leaves as it was. */
TEST(an_end_is_built_as_it_came)
{
    uint8_t built[OB1_FIN_BYTES];
    struct ob1_fin f;

    frame_of(fin, OB1_FIN, sizeof(fin));
    ob1_parse_fin(&f, fin);
    CU_ASSERT(f.length == 1000000 && f.fragment == UINT64_C(0x55afdf2705c0));
    ob1_build_fin(built, &f);
    built[12] = fin[12];
    CU_ASSERT_EQUAL(memcmp(built, fin, sizeof(fin)), 0);
}

TEST(other_frames_are_none_of_these)
{
    uint8_t other[sizeof(rndv)];
    struct ob1_frame f;

    memcpy(other, rndv, sizeof(other));
    other[1] = 3;
    CU_ASSERT_FALSE(ob1_parse_frame(&f, other));
    other[1] = OB1_SEND;
    other[4]++; /* with data behind it */
    CU_ASSERT(ob1_parse_frame(&f, other));
    CU_ASSERT_FALSE(ob1_is(&f, OB1_RNDV));
    CU_ASSERT_EQUAL(ob1_frame_length(&f), sizeof(rndv) + 1);
}

/* What the configuration allows a job, and which key a refusal names. */
#include "registry/terms.h"

#include <errno.h>
#include <string.h>

#include "switchml/protocol.h"
#include "switchml/terms.h"
#include "tally.h"
#include "unit.h"

static const struct config cfg = {.mtu = 1500, .limits = {.workers = 8}, .pool = {.slots_per_job = 64}};
static struct sml_terms job;
static uint16_t ranks;
static char text[AGG_TEXT_MAX];

static int check(uint16_t *slots)
{
    struct agg_terms terms;
    int rc;

    text[0] = '\0';
    job.slots = *slots;
    sml_terms_build(&terms, &job);
    rc = terms_check(&cfg, &sml_protocol, ranks, NULL, &terms, text);
    CU_ASSERT_FATAL(sml_terms_parse(&job, &terms));
    *slots = job.slots;
    return rc;
}

static void set_up(void)
{
    memset(&job, 0, sizeof(job));
    ranks = 8;
    job.format = XFER_FORMAT_TYPED;
    job.chunk_bytes = 1024;
}

EACH_TEST(set_up, NULL)

TEST(slots_per_job_bounds_what_a_job_gets)
{
    uint16_t slots = 8192;

    CU_ASSERT_EQUAL(check(&slots), 0);
    CU_ASSERT_EQUAL(slots, 64);
    slots = 32;
    CU_ASSERT_EQUAL(check(&slots), 0);
    CU_ASSERT_EQUAL(slots, 32);
}

TEST(a_resumed_job_has_all_its_slots_or_none)
{
    uint16_t slots = 128;

    job.resumed = true;
    CU_ASSERT_EQUAL(check(&slots), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "pool.slots_per_job is now 64"));
    slots = 64;
    CU_ASSERT_EQUAL(check(&slots), 0);
    CU_ASSERT_EQUAL(slots, 64);
}

TEST(mtu_bounds_the_chunk_with_all_headers)
{
    uint16_t slots = 64;

    job.chunk_bytes = (1500 - 20 - 8 - SML_HEADER_BYTES) / 4 * 4;
    CU_ASSERT_EQUAL(check(&slots), 0);
    job.checksum = XFER_CHECKSUM_CRC32C; /* four bytes more */
    CU_ASSERT_EQUAL(check(&slots), -EINVAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "the switch's mtu is 1500"));
}

/* Whatever the protocol. */
TEST(a_protocol_lowers_its_own_slots)
{
    struct agg_terms terms = tally_terms(200);

    CU_ASSERT_EQUAL(terms_check(&cfg, &tally, 1, NULL, &terms, text), 0);
    CU_ASSERT_EQUAL(tally_slots(&terms), 64);
    terms = tally_terms(0);
    CU_ASSERT_EQUAL(terms_check(&cfg, &tally, 1, NULL, &terms, text), -EINVAL);
    CU_ASSERT_STRING_EQUAL(text, "no pool of tally serves 1 ranks under these terms");
}

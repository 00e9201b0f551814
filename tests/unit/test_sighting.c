/* Stations of which the main lcore is told: noted by any lcore, taken once. */
#include "bridge/sighting.h"
#include "unit.h"

TEST(the_last_one_is_taken_once)
{
    static const struct net_mac first = {{2, 0, 0, 0, 0, 1}}, last = {{0xfe, 1, 2, 3, 4, 0xff}};
    struct net_mac station;
    struct sighting s = {0};
    uint8_t port;

    CU_ASSERT(!sighting_take(&s, &station, &port));
    sighting_note(&s, &first, 3);
    sighting_note(&s, &last, 63);
    CU_ASSERT(sighting_take(&s, &station, &port));
    CU_ASSERT(net_same_mac(&station, &last));
    CU_ASSERT_EQUAL(port, 63);
    CU_ASSERT(!sighting_take(&s, &station, &port));
}

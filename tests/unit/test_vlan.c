/* VLAN tags: what a frame says, and putting a tag in and taking it out. */
#include "net/vlan.h"

#include "unit.h"

enum { BYTES = 64, TAG = sizeof(struct net_tag), AT_TYPE = 12 };

static uint8_t frame[BYTES];
static struct net_ethernet *const eth = (struct net_ethernet *)(void *)frame;

/* Addresses, then these words, in network order. */
static void make(uint16_t first, uint16_t second, uint16_t third)
{
    const uint16_t words[] = {net16(first), net16(second), net16(third)};

    for (unsigned i = 0; i < BYTES; i++)
        frame[i] = (uint8_t)(i + 1);
    memcpy(frame + AT_TYPE, words, sizeof(words));
}

static void expect(enum net_vlan_found found, bool has_tag, uint16_t tci)
{
    const struct net_vlan v = net_vlan_of(eth, BYTES);

    CU_ASSERT_EQUAL(v.found, found);
    CU_ASSERT_EQUAL(v.has_tag, has_tag);
    CU_ASSERT_EQUAL(v.tci, tci);
}

TEST(what_a_frame_says)
{
    make(NET_TYPE_IPV4, 0x4500, 0);
    expect(NET_UNTAGGED, false, 0);
    make(NET_TYPE_TAG, 10, NET_TYPE_IPV4);
    expect(NET_TAGGED, true, 10);
    make(NET_TYPE_TAG, 0xE000 | 4094, NET_TYPE_ARP);
    expect(NET_TAGGED, true, 0xE000 | 4094);
    make(NET_TYPE_TAG, 0xA000, NET_TYPE_IPV4);
    expect(NET_UNTAGGED, true, 0xA000); /* a priority only */
    make(NET_TYPE_TAG, 4095, NET_TYPE_IPV4);
    expect(NET_TAG_RESERVED, true, 4095);
    make(NET_TYPE_TAG, 10, NET_TYPE_TAG);
    expect(NET_TAG_NESTED, true, 10);
    make(NET_TYPE_TAG, 10, NET_TYPE_OUTER_TAG);
    expect(NET_TAG_NESTED, true, 10);
    make(NET_TYPE_OUTER_TAG, 10, NET_TYPE_TAG);
    expect(NET_TAG_NESTED, false, 0);
}

TEST(a_tag_that_is_cut_short)
{
    make(NET_TYPE_TAG, 10, NET_TYPE_IPV4);
    for (size_t bytes = sizeof(*eth); bytes < sizeof(*eth) + TAG; bytes++)
        CU_ASSERT_EQUAL(net_vlan_of(eth, bytes).found, NET_TAG_SHORT);
    CU_ASSERT_EQUAL(net_vlan_of(eth, sizeof(*eth) + TAG).found, NET_TAGGED);
    make(NET_TYPE_IPV4, 0, 0);
    CU_ASSERT_EQUAL(net_vlan_of(eth, sizeof(*eth)).found, NET_UNTAGGED);
}

TEST(tags_are_put_in_and_taken_out)
{
    uint8_t untagged[BYTES], tagged[BYTES];

    make(NET_TYPE_TAG, 0x6000 | 77, NET_TYPE_IPV4);
    memcpy(tagged, frame, BYTES);
    memcpy(untagged, frame, AT_TYPE);
    memcpy(untagged + AT_TYPE, frame + AT_TYPE + TAG, BYTES - AT_TYPE - TAG);
    net_untag(frame);
    CU_ASSERT(memcmp(frame + TAG, untagged, BYTES - TAG) == 0);
    memset(frame, 0, TAG);
    net_tag(frame, 0x6000 | 77);
    CU_ASSERT(memcmp(frame, tagged, BYTES) == 0);
}

/* Control messages that come by a socket: members' are handled at once, strangers' after them, and who sends
 * many delays no other. */
#include "registry/anteroom.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { LANE = FAIR_QUEUE_PLACES, FLOOD = 200, SERVED = 8, MEMBER = 77, SEED = 3 };

static struct anteroom room;
static uint32_t handled[FLOOD]; /* addresses, in order */
static unsigned handled_n;
static size_t last_bytes;

static void handle(void *context, const struct ctl_endpoint *from, const uint8_t *payload, size_t bytes,
                   uint64_t now)
{
    (void)payload;
    CU_ASSERT_PTR_EQUAL(context, &room);
    CU_ASSERT_EQUAL(now, 5);
    handled[handled_n++ % FLOOD] = from->ip;
    last_bytes = bytes;
}

static struct ctl_endpoint at(uint32_t ip)
{
    return (struct ctl_endpoint){.ip = ip, .udp_port = 4000};
}

static void open_room(void)
{
    static struct config cfg = {.limits.workers = 2};
    const struct ctl_endpoint member = at(1);

    handled_n = 0;
    anteroom_init(&room, &cfg, SEED, handle, &room);
    ctl_known_begin(&room.rules.members);
    ctl_known_add(&room.rules.members, MEMBER, &member);
    ctl_known_show(&room.rules.members);
}

/* How many of so many are not dropped; why: what the last one was dropped as. */
static unsigned send(uint32_t ip, unsigned messages, enum drop *why)
{
    const struct ctl_endpoint from = at(ip);
    const struct ctl_message m = {
        .head = {.type = CTL_HEARTBEAT, .version = CTL_VERSION, .incarnation = MEMBER, .size = 1}};
    uint8_t payload[CTL_MESSAGE_MAX];
    const size_t bytes = ctl_build(payload, &m);
    unsigned taken = 0;

    while (messages-- > 0) {
        *why = anteroom_take(&room, &from, payload, bytes, 5);
        taken += *why == DROP_REASONS;
    }
    return taken;
}

TEST(members_are_handled_at_once_and_strangers_after_them)
{
    enum drop why;

    open_room();
    CU_ASSERT_EQUAL(send(2, 3, &why), 3);
    CU_ASSERT_EQUAL(handled_n, 0);
    CU_ASSERT_EQUAL(send(1, 2, &why), 2);
    CU_ASSERT_EQUAL(handled_n, 2);
    CU_ASSERT(anteroom_has_waiting(&room));
    CU_ASSERT_EQUAL(anteroom_serve(&room, 5), 3);
    CU_ASSERT(!anteroom_has_waiting(&room));
    CU_ASSERT_EQUAL(anteroom_serve(&room, 5), 0);
    CU_ASSERT(handled_n == 5 && handled[1] == 1 && handled[4] == 2);
    anteroom_free(&room);
}

TEST(a_stranger_that_floods_delays_no_other)
{
    enum drop why;

    open_room();
    CU_ASSERT_EQUAL(send(2, FLOOD, &why), LANE);
    CU_ASSERT_EQUAL(why, DROP_CONTROL_FULL);
    CU_ASSERT_EQUAL(send(3, 1, &why), 1);
    CU_ASSERT_EQUAL(anteroom_serve(&room, 5), SERVED);
    CU_ASSERT(handled[0] == 3 || handled[1] == 3);
    send(2, FLOOD, &why);
    CU_ASSERT_EQUAL(why, DROP_CONTROL_RATE);
    CU_ASSERT_EQUAL(send(1, 1, &why), 1);
    anteroom_free(&room); /* with all that waits */
}

TEST(a_member_that_floods_is_handled_so_often)
{
    enum drop why;

    open_room();
    CU_ASSERT_EQUAL(send(1, FLOOD, &why), 64);
    CU_ASSERT_EQUAL(why, DROP_CONTROL_MEMBER_RATE);
    CU_ASSERT_EQUAL(handled_n, 64);
    anteroom_free(&room);
}

TEST(what_is_too_long_stays_too_long)
{
    static const uint8_t noise[2 * CTL_MESSAGE_MAX];
    const struct ctl_endpoint from = at(2);

    open_room();
    CU_ASSERT_EQUAL(anteroom_take(&room, &from, noise, sizeof(noise), 5), DROP_REASONS);
    CU_ASSERT_EQUAL(anteroom_serve(&room, 5), 1);
    CU_ASSERT_EQUAL(last_bytes, CTL_MESSAGE_MAX + 1);
    anteroom_free(&room);
}

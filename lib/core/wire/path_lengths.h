/* Finds out how long the packets are that get to a switch and back, by questions (path.h) of several lengths.
 * First one of the longest is asked, which nearly always is enough. If it does not come back, all lengths are
 * asked at once, round after round, the longest first: when a shorter one has come back in a few of the
 * rounds and a longer one never has, the longer one does not fit. Answers may come when the next rounds have
 * begun. ICMP plays no part, since anybody can send it.
 *
 * Pure: who sends, receives and waits is the caller. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATH_LENGTHS_MAX = 20, PATH_USUAL_MTUS = 13 };

/* Falling: jumbo frames, also within tunnels; Ethernet, PPPoE, GRE, VXLAN, WireGuard; the minima of IPv6 and
 * IPv4. */
extern const uint16_t path_usual_mtus[PATH_USUAL_MTUS];

struct path_lengths {
    struct {
        unsigned mtu;
        size_t bytes;            /* of a UDP payload */
    } size[PATH_LENGTHS_MAX];    /* falling */
    unsigned sizes, first, best; /* indexes: first: the longest that can be sent; best: the longest that came
                                    back, `sizes` if none did */
    unsigned rounds_back;        /* rounds of which some came back */
    uint16_t newest_back;        /* the newest of them */
};

/* l: all zero, or filled by earlier calls; nothing was asked yet. There is room for PATH_LENGTHS_MAX
 * different lengths. */
void path_lengths_add(struct path_lengths *l, unsigned mtu, size_t bytes);

/* In a round the sizes from l->first to this one are to be asked, in this order. In the first round the first
 * is enough. */
unsigned path_lengths_last(const struct path_lengths *l);

/* What an answer says. */
enum path_news {
    PATH_OLD_NEWS, /* its length is not the best, or was not asked */
    PATH_BEST,     /* it is as long as the longest that has come back */
    PATH_BETTER,   /* it is longer */
};

/* An answer of so many bytes has come, to a question of this round. The caller numbers the rounds, modulo
 * 2^16. */
enum path_news path_lengths_answered(struct path_lengths *l, size_t bytes, uint16_t round);

/* All longer packets than the best have been tried often enough. */
bool path_lengths_are_settled(const struct path_lengths *l);

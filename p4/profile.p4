/* What differs between the two chips. The compiler says which one it compiles for.
 *
 * BOTH_WORDS: a register action of Tofino 2 returns both words of a register, Tofino 1's only one, so that
 * there a chunk of 64 elements takes a second pass to read the other half of its sum. Both have 512 bytes of
 * packet header vector, of which 64 elements take a half, so neither adds more than 64 a pass. */
#ifndef SWAGG_PROFILE
#define SWAGG_PROFILE

#include <core.p4>

#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#define BOTH_WORDS 1
#define ROWS 32768
#else
#include <tna.p4>
#define BOTH_WORDS 0
#define ROWS 16384
#endif

#endif

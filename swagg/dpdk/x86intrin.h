/* Stands before the compiler's header of this name wherever DPDK is used. DPDK's own headers include that for
 * a few instructions of SSE, and to read all of it, AVX-512 included, takes four times as long as the rest of
 * a source file. Nothing here uses more: sums are made in lib/core/kernels, without DPDK. */
#ifdef __AVX__
#include_next <x86intrin.h> /* DPDK was built for a newer CPU, and its headers use what that has */
#else
#include <nmmintrin.h> /* up to SSE4.2 */
#endif

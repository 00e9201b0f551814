/* CRC32C by instructions that are optional in ARMv8.0 and always there from ARMv8.1 on. */
#include <arm_acle.h>
#include <string.h>
#include <sys/auxv.h>

#include "wire/crc32c.h"

static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t word;

    crc = ~crc;
    for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        crc = __crc32cd(crc, word);
    }
    for (; n > 0; n--, at++)
        crc = __crc32cb(crc, *at);
    return ~crc;
}

crc32c_fn *crc32c_vector(void)
{
    return getauxval(AT_HWCAP) & HWCAP_CRC32 ? by_instruction : NULL;
}

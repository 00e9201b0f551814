/* An architecture whose CRC-32 instructions, if it has any, are not used. */
#include "wire/crc32.h"

crc32_fn *crc32_ieee_vector(void)
{
    return NULL;
}

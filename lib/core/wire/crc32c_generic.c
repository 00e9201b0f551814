/* An architecture whose CRC32C instructions, if it has any, are not used. */
#include "wire/crc32c.h"

crc32c_fn *crc32c_vector(void)
{
    return NULL;
}

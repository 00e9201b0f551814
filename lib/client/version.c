#include "version.h"

#include "swagg.h"

const char *swagg_version(void)
{
    return build_version;
}

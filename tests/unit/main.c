/* For programs that bring no main of their own: from a library, it is linked only then. */
#include "unit.h"

int main(void)
{
    return unit_main();
}

/* For tests of crews that bring no main of their own: before the one that unit tests have, for crew.h's seed.
 */
#include "crew.h"
#include "ps_process.h"
#include "unit.h"

int main(int argc, char **argv)
{
    ps_program = argc > 1 ? argv[1] : NULL;
    seed_from_environment();
    return unit_main();
}

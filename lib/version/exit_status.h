/* What programs tell by their exit status, all of them alike (docs/configuration.md, "Exit status"). */
#pragma once

enum {
    EXIT_GOOD = 0,      /* it is done, and whatever was checked is right */
    EXIT_BAD = 1,       /* something failed, was refused, or is wrong */
    EXIT_USAGE = 2,     /* the command line is wrong, or the configuration: nothing was begun */
    EXIT_NO_SWITCH = 3, /* swaggctl: nobody answers */
};

/* swagg-pcap: captures of aggregation traffic, made, checked and shown. */
#include <stdio.h>
#include <string.h>

#include "capture/commands.h"
#include "standard_streams.h"
#include "version.h"

static const struct {
    const char *name;
    int (*run)(int argc, char *argv[]);
} commands[] = {{"gen", command_gen}, {"check", command_check}, {"show", command_show}};

int main(int argc, char *argv[])
{
    static const char usage[] =
        "usage: swagg-pcap gen|check|show ...\n"
        "  gen    write a capture of what the workers of a job send\n"
        "  check  compare a switch's sums with what workers sent, in one or more captures\n"
        "  show   print gradient packets and control messages, a line each\n"
        "swagg-pcap COMMAND --help says more, swagg-pcap --version which build this is.\n";

    standard_streams_begin();
    for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return EXIT_GOOD;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("swagg-pcap %s\n", build_version);
        return EXIT_GOOD;
    }
    if (argc > 1)
        fprintf(stderr, "swagg-pcap: there is no command %s\n", argv[1]);
    fputs(usage, stderr);
    return EXIT_USAGE;
}

/* swagg-doctor: looks at a host of ranks, or at a switch, and says what is wrong and what to type. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <swagg.h>

#include "base/sysfiles.h"
#include "box.h"
#include "command_line.h"
#include "findings.h"
#include "firewall.h"
#include "machine.h"
#include "rate.h"
#include "standard_streams.h"
#include "version.h"
#include "way.h"

#define USUAL_FILE "/etc/swagg/switch.yaml"

struct arguments {
    const char *only, *below, *job, *key_file; /* NULL: not given */
    bool is_switch, is_server, json, all, strict;
    double patience, rate;
    unsigned mtu, questions;
};

static const char intro[] =
    "usage: swagg-doctor [OPTION...] [ADDRESS[,ADDRESS...]]\n"
    "       swagg-doctor --switch [OPTION...] [FILE]\n"
    "       swagg-doctor --server [OPTION...] FILE\n"
    "Looks at a host of ranks and its way to the switch at ADDRESS (unless given: SWAGG_SWITCH), or at a\n"
    "switch or server, and says what is wrong and what to type. swagg doctor is swagg-doctor --switch.\n";

#define FIELD(member) offsetof(struct arguments, member)
enum { QUESTIONS_MOST = 60000 };

static const struct option_row rows[] = {
    {"switch", 's', NULL, option_flag, FIELD(is_switch), 0, 0,
     "look at the switch on this machine, whose configuration is FILE, " USUAL_FILE " unless given"},
    {"server", 0, NULL, option_flag, FIELD(is_server), 0, 0,
     "look at the server (swagg-ps) on this machine, whose configuration is FILE"},
    {"mtu", 'm', "BYTES", option_unsigned, FIELD(mtu), WAY_MTU_LEAST, WAY_MTU_MOST,
     "packets of so many bytes must get to the switch and back; unless given, what gets through is told"},
    {"questions", 'q', "N", option_unsigned, FIELD(questions), 1, QUESTIONS_MOST,
     "by how many packets losses are counted; 2000 unless given, which take a second"},
    {"rate", 'r', "SECONDS", option_real, FIELD(rate), 0, 3600,
     "for how long a job of one rank sums; 1 unless given, 0: there is none"},
    {"job", 'j', "NAME", option_text, FIELD(job), 0, 0, "its name; doctor unless given"},
    {"key-file", 'k', "FILE", option_text, FIELD(key_file), 0, 0,
     "the key of the switch's tenant, for that job"},
    {"patience", 'p', "SECONDS", option_real, FIELD(patience), 0, 3600,
     "who is silent for so long does not answer; 3 unless given"},
    {"only", 'o', "TOPIC,...", option_text, FIELD(only), 0, 0, "look at these only"},
    {"all", 'a', NULL, option_flag, FIELD(all), 0, 0, "print also what is well, and what was not looked at"},
    {"json", 0, NULL, option_flag, FIELD(json), 0, 0, "print all findings as JSON"},
    {"strict", 0, NULL, option_flag, FIELD(strict), 0, 0, "a warning counts as a fault"},
    {"below", 0, "FOLDER", option_text, FIELD(below), 0, 0,
     "read /proc and /sys in this folder, a copy of another machine's"},
};

static void print_rest(void)
{
    puts("\ntopics:");
    topics_print(stdout);
    puts("\nexit status: 0 there is no fault; 1 there is one; 2 a wrong command line");
}

/* OPTIONS_READ, or the exit status. */
static int parse(struct arguments *a, int argc, char *argv[])
{
    const struct option_group group = {rows, sizeof(rows) / sizeof(rows[0]), a};
    const struct command_line line = {.version = build_version,
                                      .intro = intro,
                                      .operands = "switch",
                                      .is_optional = true,
                                      .groups = &group,
                                      .count = 1,
                                      .print_rest = print_rest};

    *a = (struct arguments){.below = "", .job = "doctor", .patience = 3, .rate = 1, .questions = 2000};
    const int status = options_read(&line, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    if (a->only != NULL && !topics_are_known(a->only))
        return refuse_usage("--only %s: there is no such topic", a->only);
    if (argc - optind > 1)
        return refuse_usage("one at a time; several switches of a job are separated by commas");
    if (a->is_switch && a->is_server)
        return refuse_usage("--switch and --server: one of them");
    if (a->is_server && optind == argc)
        return refuse_usage("--server of which configuration?");
    return OPTIONS_READ;
}

/* The switches of a job, separated by commas. False: one is no address. */
static bool ways(struct findings *f, const struct arguments *a, const char *addresses)
{
    char list[512], *next = list, *name;
    bool open = true;

    if ((size_t)snprintf(list, sizeof(list), "%s", addresses) >= sizeof(list))
        return false;
    while ((name = strsep(&next, ",")) != NULL) {
        struct way_wish wish = {
            .name = name, .patience = a->patience, .mtu = a->mtu, .questions = a->questions};

        if (inet_pton(AF_INET, name, &wish.ip) != 1)
            return false;
        open &= way_look(f, &wish);
    }
    if (open)
        rate_look(f, &(struct rate_wish){addresses, a->job, a->key_file, a->rate, a->patience});
    return true;
}

static void library(struct findings *f)
{
    if (strcmp(swagg_version(), build_version) == 0)
        found(f, FINDING_OK, "versions", NULL, "libswagg %s", swagg_version());
    else
        finding_type(found(f, FINDING_WARNING, "versions", NULL, "libswagg is %s, and this program %s",
                           swagg_version(), build_version),
                     "ldd $(command -v swagg-doctor) tells where it comes from; LD_LIBRARY_PATH?");
}

/* False: the command line is wrong, which was reported. */
static bool look(struct findings *f, const struct arguments *a, const char *operand)
{
    const char *set = getenv("SWAGG_SWITCH"), *addresses = operand;

    if (a->is_switch || a->is_server) {
        machine_clock(f);
        box_look(f, &(struct box_wish){operand != NULL ? operand : USUAL_FILE, a->is_server});
        if (a->is_server)
            firewall_look(f);
        return true;
    }
    if (operand == NULL && set != NULL && set[0] != '\0')
        addresses = set;
    library(f);
    machine_cpus(f, 0);
    machine_buffers(f);
    machine_clock(f);
    firewall_look(f);
    if (addresses == NULL) {
        found(f, FINDING_SKIPPED, "switch", NULL, "no ADDRESS was given, and SWAGG_SWITCH is not set");
        return true;
    }
    if (ways(f, a, addresses))
        return true;
    refuse_usage("%s\"%s\" is no IPv4 address", operand != NULL ? "" : "SWAGG_SWITCH: ", addresses);
    return false;
}

int main(int argc, char *argv[])
{
    struct findings f = {0};
    struct arguments a;

    standard_streams_begin();
    const int status = parse(&a, argc, argv);
    if (status != OPTIONS_READ)
        return status;
    f.only = a.only;
    sysfiles_below(a.below);
    if (!sysfile_is_there("/"))
        return refuse_usage("--below: there is no folder %s", a.below);
    if (!look(&f, &a, optind < argc ? argv[optind] : NULL)) {
        findings_free(&f);
        return EXIT_USAGE;
    }
    if (a.json)
        findings_print_json(&f, stdout);
    else
        findings_print(&f, a.all, stdout);
    const bool bad = f.count[FINDING_FAULT] > 0 || (a.strict && f.count[FINDING_WARNING] > 0);
    findings_free(&f);
    return bad ? EXIT_BAD : EXIT_GOOD;
}

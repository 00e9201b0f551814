#include "firewall.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/control.h"
#include "wire/switchml.h"

/* Whether a port, or a range (a-b in nft, a:b in iptables), has one of those that ranks and switch use. */
static bool is_ours(unsigned first, unsigned last)
{
    return first <= SML_PORT_LAST && last >= CTL_PORT;
}

/* Of a text that begins with a port, a range, or a set of these. */
static bool ports_are_ours(const char *at)
{
    unsigned first, last;
    int used;

    at += strspn(at, " {=!");
    while (isdigit((unsigned char)*at) && sscanf(at, "%u%n", &first, &used) == 1) {
        at += used;
        last = first;
        if ((*at == '-' || *at == ':') && sscanf(at + 1, "%u%n", &last, &used) == 1)
            at += 1 + used;
        if (is_ours(first, last))
            return true;
        at += strspn(at, " ,");
    }
    return false;
}

static bool names_our_port(const char *line)
{
    static const char *const words[] = {"dport ", "sport ", "dports ", "sports ", "--ports "};

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        for (const char *at = strstr(line, words[i]); at != NULL; at = strstr(at + 1, words[i]))
            if (ports_are_ours(at + strlen(words[i])))
                return true;
    return false;
}

static bool has_word(const char *line, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = strstr(line, word); at != NULL; at = strstr(at + 1, word))
        if ((at == line || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

static bool is_of_another_protocol(const char *line)
{
    return has_word(line, "tcp") || (has_word(line, "icmp") && strstr(line, "with icmp") == NULL) ||
           has_word(line, "ip6") || has_word(line, "icmpv6");
}

enum firewall_line firewall_line(const char *line)
{
    const bool names_ports = strstr(line, "port") != NULL;
    const bool drops = has_word(line, "drop") || has_word(line, "DROP") || has_word(line, "reject") ||
                       has_word(line, "REJECT");
    const bool accepts = has_word(line, "accept") || has_word(line, "ACCEPT");

    if (strstr(line, "policy drop") != NULL)
        return strstr(line, "hook input") != NULL || strstr(line, "hook output") != NULL
                   ? FIREWALL_DROPS_THE_REST
                   : FIREWALL_NOTHING;
    if (strncmp(line, ":INPUT DROP", 11) == 0 || strncmp(line, ":OUTPUT DROP", 12) == 0)
        return FIREWALL_DROPS_THE_REST;
    if (strstr(line, "policy ") != NULL || line[0] == ':' || is_of_another_protocol(line))
        return FIREWALL_NOTHING;
    if (drops && (names_our_port(line) || (has_word(line, "udp") && !names_ports)))
        return FIREWALL_DROPS;
    if (accepts && (names_our_port(line) || strstr(line, "stablished") != NULL ||
                    strstr(line, "STABLISHED") != NULL || (has_word(line, "udp") && !names_ports)))
        return FIREWALL_ACCEPTS;
    return FIREWALL_NOTHING;
}

struct rules {
    unsigned lines;
    char drops[160], rest[160]; /* the last of each; "": none */
    bool accepts;
};

static void remember(char to[160], const char *line)
{
    snprintf(to, 160, "%s", line + strspn(line, " \t"));
    to[strcspn(to, "\n")] = '\0';
}

/* Rules as a program lists them. False: it could not. */
static bool read_rules(struct rules *rules, const char *command)
{
    char line[1024];
    FILE *listing = popen(command, "re");

    while (listing != NULL && fgets(line, sizeof(line), listing) != NULL) {
        const enum firewall_line kind = firewall_line(line);

        rules->lines++;
        rules->accepts |= kind == FIREWALL_ACCEPTS;
        if (kind == FIREWALL_DROPS)
            remember(rules->drops, line);
        if (kind == FIREWALL_DROPS_THE_REST)
            remember(rules->rest, line);
    }
    return listing != NULL && pclose(listing) == 0;
}

#define PATHS "PATH=$PATH:/usr/sbin:/sbin; "

void firewall_look(struct findings *f)
{
    struct rules rules = {0};

    if (!findings_want(f, "firewall"))
        return;
    const bool nft = read_rules(&rules, PATHS "nft list ruleset 2>/dev/null");
    const bool iptables = read_rules(&rules, PATHS "iptables-save 2>/dev/null");

    if (rules.drops[0] != '\0')
        finding_type(
            found(f, FINDING_FAULT, "firewall", NULL, "a rule drops swagg's packets: %s", rules.drops),
            "nft -a list ruleset, and delete that rule (or iptables -D); UDP ports %d to %d must be open "
            "in both directions",
            CTL_PORT, SML_PORT_LAST);
    else if (rules.rest[0] != '\0' && !rules.accepts)
        finding_type(found(f, FINDING_WARNING, "firewall", NULL,
                           "what no rule accepts is dropped, and none accepts swagg's ports: %s", rules.rest),
                     "nft add rule inet filter input udp sport %d-%d accept", CTL_PORT, SML_PORT_LAST);
    else if (!nft && !iptables)
        found(f, FINDING_SKIPPED, "firewall", NULL, "%s",
              geteuid() == 0 ? "neither nft nor iptables is here" : "only root may see the rules");
    else
        found(f, FINDING_OK, "firewall", NULL, "no rule names UDP ports %d to %d", CTL_PORT, SML_PORT_LAST);
}

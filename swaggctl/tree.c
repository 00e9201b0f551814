#include "tree.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>

#include "views/view.h"

enum { SWITCHES_MAX = 256, TEXT_MAX = 512 };

/* A switch that tells of itself, or that another one names. */
struct node {
    const char *ip;
    const json_t *live; /* NULL: only named */
    int above;          /* whose sums it sends up; -1: nobody's */
    bool shown;
};

struct tree {
    struct node node[SWITCHES_MAX];
    int n;
    json_t *switches, *jobs;
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *ip_of(const json_t *live)
{
    return text_of(json_object_get(live, "status"), "ip");
}

static int find(const struct tree *t, const char *ip)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->node[i].ip, ip) == 0)
            return i;
    return -1;
}

/* The node of this address, which is new if need be; -1: there is no room. */
static int add(struct tree *t, const char *ip, const json_t *live)
{
    int i = find(t, ip);

    if (i < 0 && t->n < SWITCHES_MAX) {
        i = t->n++;
        t->node[i] = (struct node){.ip = ip, .above = -1};
    }
    if (i >= 0 && t->node[i].live == NULL)
        t->node[i].live = live;
    return i;
}

/* Links a switch with those that it names: the first above it, and those
 * right below that ranks come by. */
static void link_up(struct tree *t, int i)
{
    const json_t *live = t->node[i].live, *job, *rank;
    const json_t *uplink = json_array_get(json_object_get(live, "uplinks"), 0);
    size_t j, r;

    if (uplink != NULL)
        t->node[i].above = add(t, text_of(uplink, "parent"), NULL);
    json_array_foreach (json_object_get(live, "jobs"), j, job) {
        json_array_foreach (json_object_get(job, "ranks"), r, rank) {
            const char *at = text_of(rank, "switch");
            const bool next = at[0] != '\0' && number_of(rank, "level") == number_of(job, "level") + 1;
            const int below = next ? add(t, at, NULL) : -1;

            if (below >= 0 && t->node[below].live == NULL)
                t->node[below].above = i;
        }
    }
}

/* The switch right below node i by which the one with this address sends to it; -1: it does not. */
static int way_down(const struct tree *t, int i, const char *ip)
{
    int below = find(t, ip);

    for (int steps = 0; below >= 0 && t->node[below].above != i; steps++)
        below = steps < t->n ? t->node[below].above : -1;
    return below;
}

/* What was lost of all jobs between node i and the one above, as that one counts it: the same for all ranks
 * that come by this link, which are one sender to it. */
static json_int_t lost(const struct tree *t, int i, const char *direction)
{
    const int above = t->node[i].above;
    const json_t *job, *rank;
    json_int_t sum = 0;
    size_t j, r;

    if (above < 0)
        return 0;
    json_array_foreach (json_object_get(t->node[above].live, "jobs"), j, job) {
        json_int_t most = 0;

        json_array_foreach (json_object_get(job, "ranks"), r, rank) {
            const json_int_t n = number_of(rank, direction);

            if (n > most && way_down(t, above, text_of(rank, "switch")) == i)
                most = n;
        }
        sum += most;
    }
    return sum;
}

static void append(char text[TEXT_MAX], const char *more)
{
    const size_t used = strlen(text);

    if (used + strlen(more) + 2 < TEXT_MAX)
        snprintf(text + used, TEXT_MAX - used, "%s%s", used > 0 ? "," : "", more);
}

static void put_ports(json_t *row, const json_t *ports)
{
    char down[TEXT_MAX] = "", up[64];
    const json_t *port;
    size_t i, n = 0;

    json_array_foreach (ports, i, port) {
        if (strcmp(text_of(port, "link"), "up") == 0)
            n++;
        else
            append(down, text_of(port, "name"));
    }
    snprintf(up, sizeof(up), "%zu/%zu", n, json_array_size(ports));
    json_object_set_new(row, "ports", json_string(ports == NULL ? "" : up));
    json_object_set_new(row, "ports_down", json_string(down));
}

static json_int_t goodput(const json_t *live)
{
    json_int_t sum = 0;
    const json_t *job;
    size_t i;

    json_array_foreach (json_object_get(live, "jobs"), i, job)
        sum += number_of(job, "bytes_per_s");
    return sum;
}

static void add_switch(struct tree *t, int i, unsigned level)
{
    const struct node *node = &t->node[i];
    const json_t *uplink = json_array_get(json_object_get(node->live, "uplinks"), 0);
    json_t *row = json_pack("{s:s, s:i, s:s, s:s, s:s}", "switch", node->ip, "level", (int)level, "above",
                            node->above < 0 ? "" : t->node[node->above].ip, "state",
                            node->live != NULL ? "up" : "not reached", "version",
                            text_of(json_object_get(node->live, "status"), "version"));

    put_ports(row, json_object_get(node->live, "ports"));
    json_object_set_new(row, "jobs",
                        json_integer((json_int_t)json_array_size(json_object_get(node->live, "jobs"))));
    json_object_set_new(row, "bytes_per_s", json_integer(goodput(node->live)));
    json_object_set_new(row, "link_above", json_string(text_of(uplink, "state")));
    json_object_set_new(row, "lost_up", json_integer(lost(t, i, "lost_up")));
    json_object_set_new(row, "lost_down", json_integer(lost(t, i, "lost_down")));
    json_array_append_new(t->switches, row);
}

/* --- jobs ---------------------------------------------------------------------------------------------- */

static bool is_listed(const char *list, const char *host)
{
    const size_t n = strlen(host);

    for (const char *at = list; (at = strstr(at, host)) != NULL; at++)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

/* "10.77.0.1:40001" without the port. */
static void append_host(char text[TEXT_MAX], const char *address)
{
    char host[VIEW_ADDRESS_MAX];

    snprintf(host, sizeof(host), "%.*s", (int)strcspn(address, ":"), address);
    if (!is_listed(text, host))
        append(text, host);
}

static bool is_own(const json_t *rank)
{
    return text_of(rank, "switch")[0] == '\0' && strcmp(text_of(rank, "state"), "joined") == 0;
}

/* Who others wait for here: a rank of this switch's own, or all that come by a switch below. */
static void name_latest(char text[TEXT_MAX], const struct tree *t, int i, const json_t *rank)
{
    const int below = way_down(t, i, text_of(rank, "switch"));

    if (below >= 0)
        snprintf(text, TEXT_MAX, "switch %s", t->node[below].ip);
    else if (is_own(rank))
        snprintf(text, TEXT_MAX, "rank %d", (int)number_of(rank, "rank"));
}

static void add_job(struct tree *t, int i, const json_t *job)
{
    char ranks[TEXT_MAX] = "", hosts[TEXT_MAX] = "", latest[TEXT_MAX] = "", present[64], number[32];
    json_int_t up = 0, down = 0;
    const json_t *rank;
    size_t r;

    snprintf(present, sizeof(present), "%d/%d", (int)number_of(job, "present"), (int)number_of(job, "size"));
    json_array_foreach (json_object_get(job, "ranks"), r, rank) {
        if (number_of(rank, "rank") == number_of(job, "latest_rank") && number_of(job, "latest_us_mean") > 0)
            name_latest(latest, t, i, rank);
        if (!is_own(rank))
            continue;
        snprintf(number, sizeof(number), "%d", (int)number_of(rank, "rank"));
        append(ranks, number);
        append_host(hosts, text_of(rank, "address"));
        up += number_of(rank, "lost_up");
        down += number_of(rank, "lost_down");
    }
    json_array_append_new(
        t->jobs, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:I, s:I, s:I}", "switch",
                           t->node[i].ip, "job", text_of(job, "name"), "tenant", text_of(job, "tenant"),
                           "state", text_of(job, "state"), "present", present, "ranks_here", ranks, "hosts",
                           hosts, "bytes_per_s", number_of(job, "bytes_per_s"), "latest", latest, "late_us",
                           latest[0] == '\0' ? (json_int_t)0 : number_of(job, "latest_us_mean"), "lost_up",
                           up, "lost_down", down));
}

/* --- the whole ----------------------------------------------------------------------------------------- */

/* Of the switches below this one (-1: of those at the top) that are not shown yet the one with the least
 * address; -1: there is none. */
static int next_below(const struct tree *t, int above)
{
    int next = -1;

    for (int i = 0; i < t->n; i++)
        if (t->node[i].above == above && !t->node[i].shown &&
            (next < 0 || ntohl(inet_addr(t->node[i].ip)) < ntohl(inet_addr(t->node[next].ip))))
            next = i;
    return next;
}

static void show(struct tree *t, int i, unsigned level)
{
    const json_t *job;
    size_t j;

    t->node[i].shown = true;
    add_switch(t, i, level);
    json_array_foreach (json_object_get(t->node[i].live, "jobs"), j, job)
        add_job(t, i, job);
    for (int below = next_below(t, i); below >= 0; below = next_below(t, i))
        show(t, below, level + 1);
}

json_t *tree_view(const json_t *told, const json_t *away)
{
    struct tree t = {.switches = json_array(), .jobs = json_array()};
    const json_t *live, *one;
    size_t i;

    json_array_foreach (told, i, live)
        add(&t, ip_of(live), live);
    for (int n = 0; n < t.n; n++)
        link_up(&t, n);
    for (int top = next_below(&t, -1); top >= 0; top = next_below(&t, -1))
        show(&t, top, 1);
    for (int n = 0; n < t.n; n++) /* each above the other, by a mistake of configurations */
        if (!t.node[n].shown)
            show(&t, n, 1);
    json_array_foreach (away, i, one)
        json_array_append_new(t.switches, json_pack("{s:O, s:O}", "switch", json_object_get(one, "address"),
                                                    "state", json_object_get(one, "state")));
    return json_pack("{s:o, s:o}", "switches", t.switches, "jobs", t.jobs);
}

void tree_indent(json_t *view)
{
    json_t *row;
    size_t i;

    json_array_foreach (json_object_get(view, "switches"), i, row) {
        const json_int_t level = number_of(row, "level");
        char name[TEXT_MAX];

        snprintf(name, sizeof(name), "%*s%s", level > 1 ? (int)(2 * (level - 1)) : 0, "",
                 text_of(row, "switch"));
        json_object_set_new(row, "switch", json_string(name));
        json_object_del(row, "level");
        json_object_del(row, "above");
    }
}

/* The list of replayed jobs. */
#include <arpa/inet.h>
#include <string.h>

#include "config/config_parts.h"
#include "settings/values.h"
#include "switchml/terms.h"

enum {
    PHASES_TIMES_SLOTS_MAX = 1 << 30,
    CHUNK_BYTES_MIN = 64,
    CHUNK_BYTES_MAX = 8960,
    HEADERS_BYTES = AGG_IP_UDP_BYTES + SML_HEADER_BYTES,
};

static const struct setting_word formats[] = {
    {"typed", XFER_FORMAT_TYPED}, {"int32", XFER_FORMAT_INT32}, {"fp16", XFER_FORMAT_FP16}, {NULL, 0}};

/* The same defaults as in `swagg-pcap gen`. */
/* clang-format off */
const struct setting config_replay_fields[] = {
    {.key = "workers", SETTING_NUMBER_AT(struct config_replay, workers, 1, 1024, 2), .meaning = "`--workers`"},
    {.key = "slots", SETTING_NUMBER_AT(struct config_replay, slots, 1, 16384, 64), .power_of_two = true,
     .meaning = "`--slots`"},
    {.key = "phases", SETTING_NUMBER_AT(struct config_replay, phases, 4, 1 << 24, 4), .power_of_two = true,
     .meaning = "`--phases`. After `slots` × `phases` chunks, 2^30 at most, the numbers of chunks start over"},
    {.key = "chunk_bytes", SETTING_NUMBER_AT(struct config_replay, chunk_bytes, 0, UINT32_MAX, 0),
     .kind = "64..8960 bytes, a multiple of 4", .usual = "as long as `mtu` allows",
     .meaning = "elements in a packet: at most, or with format int32 and 32, 64, 128 or 256 elements exactly so many"},
    {.key = "format", .type = SETTING_WORD, SETTING_AT(struct config_replay, format), .words = formats,
     .meaning = "`--format`: of the packets; int32 is the published SwitchML format ([protocol.md](protocol.md#elements))"},
    {.key = "ordered", .type = SETTING_BOOL, SETTING_AT(struct config_replay, ordered),
     .meaning = "contributions are added in the order of their ranks; else on arrival"},
    {.key = "worker_mac", SETTING_MAC, SETTING_AT(struct config_replay, worker_mac), .initial = "02:00:00:00:01:01",
     .meaning = "`--worker`: of the first worker; the others count on from it"},
    {.key = "worker_ip", SETTING_IP, SETTING_AT(struct config_replay, worker_ip), .initial = "10.77.0.1",
     .meaning = "likewise"},
    {.key = "worker_port", SETTING_NUMBER_AT(struct config_replay, worker_port, 1, 65535, 30000),
     .meaning = "the UDP port of all, or of the first"},
    {.key = "tenant", .type = SETTING_LATER, SETTING_AT(struct config_replay, tenant), .most = CONFIG_NAME_MAX - 1,
     .show = config_show_tenant,
     .meaning = "the [tenant](#tenants-a-list-up-to-64) whose weight and quotas count for it; without one it takes [no turns](#sharing) on a busy lcore"},
    {.key = "one_host", .type = SETTING_BOOL, SETTING_AT(struct config_replay, one_host),
     .meaning = "`--one-host`: the others count on from its port instead"},
    {.key = NULL},
};
/* clang-format on */

/* Default: the longest chunk that fits into a packet of the MTU. */
static void check_chunk_bytes(struct settings *s, const char *path, struct config_replay *r, uint32_t mtu)
{
    const uint32_t fits = (mtu - HEADERS_BYTES) / 4 * 4;
    const uint32_t max = fits < CHUNK_BYTES_MAX ? fits : CHUNK_BYTES_MAX;

    if (!settings_has(s, path))
        r->chunk_bytes = max;
    else if (!settings_are_faulty(s, "mtu") &&
             (r->chunk_bytes < CHUNK_BYTES_MIN || r->chunk_bytes > max || r->chunk_bytes % 4 != 0))
        settings_fault(s, path, "%u must be a multiple of 4 within %u..%u (mtu less headers)", r->chunk_bytes,
                       CHUNK_BYTES_MIN, max);
}

/* Turns the keys into the protocol's terms; done nowhere else. */
static void make_terms(struct config_replay *r)
{
    const uint64_t tags = (uint64_t)r->slots * r->phases;
    const struct sml_terms terms = {
        .format = r->format,
        .mode = r->ordered ? XFER_ORDERED : XFER_ON_ARRIVAL,
        .slots = (uint16_t)r->slots,
        .chunk_bytes = (uint16_t)r->chunk_bytes,
        .tag_bits = tags == 0 ? 0 : (uint8_t)(63 - __builtin_clzll(tags)),
    };

    sml_terms_build(&r->terms, &terms);
}

void config_check_replay(struct settings *s, struct config *c)
{
    if (c->replays > 0 && !c->has_ip && !settings_are_faulty(s, "switch.ip"))
        settings_fault(s, "replay", "needs switch.ip, the address that the packets are sent to");
    for (unsigned i = 0; i < c->replays; i++) {
        struct config_replay *r = &c->replay[i];

        if ((uint64_t)r->slots * r->phases > PHASES_TIMES_SLOTS_MAX)
            settings_fault(s, settings_path(s, "replay[%u].phases", i),
                           "%u phases of %u slots are more chunks than %u", r->phases, r->slots,
                           PHASES_TIMES_SLOTS_MAX);
        check_chunk_bytes(s, settings_path(s, "replay[%u].chunk_bytes", i), r, c->mtu);
        r->tenant = config_find_tenant(s, c, settings_path(s, "replay[%u].tenant", i));
        make_terms(r);
    }
}

static void describe(const struct config *c, unsigned place, struct config_job *job)
{
    const struct config_replay *r = &c->replay[place];

    job->is_replay = true;
    job->terms = &r->terms;
    job->tenant = r->tenant;
    job->members = r->workers;
}

/* With the addresses that it has in swagg-pcap's captures. */
static struct config_member member(const struct config *c, unsigned place, unsigned rank)
{
    const struct config_replay *r = &c->replay[place];
    struct config_member m = {.port = htons((uint16_t)(r->worker_port + (r->one_host ? rank : 0))),
                              .ip = htonl(ntohl(r->worker_ip) + (r->one_host ? 0 : rank))};
    uint32_t low;

    memcpy(m.mac, r->worker_mac, sizeof(m.mac));
    memcpy(&low, m.mac + 2, sizeof(low));
    low = htonl(ntohl(low) + (r->one_host ? 0 : rank));
    memcpy(m.mac + 2, &low, sizeof(low));
    return m;
}

const struct config_jobs_list config_replay_jobs = {.key = "replay",
                                                    .jobs = offsetof(struct config, replays),
                                                    .title = "replay",
                                                    .job = describe,
                                                    .member = member};

/* What swagg-tofino tells its helper of the configuration. */
#include "base/log.h"
#include "setup.h"
#include "unit.h"

static char faults[2000];

static void note(void *context, const char *message)
{
    const size_t used = strlen(faults);

    (void)context;
    snprintf(faults + used, sizeof(faults) - used, "%s\n", message);
}

/* What is logged as an error is noted, too. */
static void listen(void)
{
    static const struct log_listener listener = {.hear = note};

    log_listen(&listener);
}

EACH_TEST(listen, NULL)

static struct config load(const char *more)
{
    struct config c = {0};
    char text[2000];

    snprintf(text, sizeof(text),
             "switch: {ip: 10.77.0.254/24}\nports:\n  - {name: cpu, device: \"kernel:ens1\"}\n%s", more);
    faults[0] = '\0';
    CU_ASSERT_EQUAL(config_load_text(&c, "test.yaml", text, note, NULL), 0);
    CU_ASSERT_STRING_EQUAL(faults, "");
    return c;
}

TEST(ports_and_jobs)
{
    const struct config c = load("  - {name: h0, device: \"chip:128,speed=100g,fec=rs,autoneg=off\"}\n"
                                 "  - {name: h1, device: \"chip:136\"}\n"
                                 "static:\n"
                                 "  - {name: p, threads: 2, slots: 64, elements: 64, quiet_ms: 500, workers: "
                                 "[{mac: \"02:00:00:00:00:01\", ip: "
                                 "10.77.0.1, port: 50000}]}\n");
    json_t *setup = setup_describe(&c);
    char *text = json_dumps(setup, JSON_COMPACT | JSON_SORT_KEYS);

    CU_ASSERT_STRING_EQUAL(faults, "");
    CU_ASSERT_STRING_EQUAL(setup_interface(&c), "ens1");
    CU_ASSERT_STRING_EQUAL(
        text, "{\"ip\":172818686,"
              "\"ports\":[{\"autoneg\":\"off\",\"fec\":\"rs\",\"number\":128,\"speed\":\"100g\"},"
              "{\"autoneg\":\"default\",\"fec\":\"none\",\"number\":136,\"speed\":null}],"
              "\"static\":[{\"elements\":64,\"name\":\"p\",\"quiet_ms\":500,\"slots\":64,\"threads\":2,"
              "\"workers\":[{\"ip\":172818433,\"mac\":2199023255553,\"port\":50000}]}]}");
    CU_ASSERT_EQUAL(setup_static_job(&c, c.static_job[0].worker[0].ip, 50001), 0);
    CU_ASSERT_EQUAL(setup_static_job(&c, c.static_job[0].worker[0].ip, 50002), -1);
    CU_ASSERT_EQUAL(setup_static_job(&c, c.static_job[0].worker[0].ip, 49999), -1);
    CU_ASSERT_EQUAL(setup_static_job(&c, c.ip, 50000), -1);
    free(text);
    json_decref(setup);
}

static void expect(const char *more, const char *fault)
{
    const struct config c = load(more);

    CU_ASSERT_PTR_NULL(setup_describe(&c));
    CU_ASSERT_PTR_NOT_NULL(strstr(faults, fault));
}

TEST(what_this_switch_cannot_do)
{
    const struct config two =
        load("  - {name: other, device: \"kernel:ens2\"}\n  - {name: h0, device: \"chip:1\"}\n");

    CU_ASSERT_PTR_NULL(setup_interface(&two));
    CU_ASSERT_PTR_NOT_NULL(strstr(faults, "only one device may be the kernel's"));
    expect("", "those of the chip are missing");
    expect("  - {name: h0, device: \"chip:none\"}\n", "port h0: \"chip:none\" is no port of a chip");
    expect("  - {name: h0, device: \"chip:512\"}\n", "is no port of a chip");
    expect("  - {name: h0, device: \"net_memif0\"}\n", "is no port of a chip");
    expect("  - {name: h0, device: \"chip:1,speed=3g\"}\n", "port h0: \"speed=3g\" is none of speed=10g");
    expect("  - {name: h0, device: \"chip:1\"}\nstatic: [{name: p, format: fp16, workers: [{mac: "
           "\"02:00:00:00:00:01\", ip: "
           "10.77.0.1, port: 50000}]}]\n",
           "static job p: format must be int32");
    expect("  - {name: h0, device: \"chip:1\"}\nstatic: [{name: p, udp_checksum: true, workers: [{mac: "
           "\"02:00:00:00:00:01\", ip: "
           "10.77.0.1, port: 50000}]}]\n",
           "static job p: udp_checksum must be false");
}

/* Nor is anything that it cannot do left unsaid. */
TEST(what_only_the_daemon_does)
{
#define CHIP "  - {name: h0, device: \"chip:1\"}\n"
    expect(CHIP "uplink: [{parent: 10.77.0.253}]\n", "uplink: is nothing that this switch does");
    expect(CHIP "timers: {mac_age_s: 60}\n", "timers.mac_age_s: is nothing that this switch does");
    expect(CHIP "lcores: [{cpu: 0, rx: [all], tx: [all], aggregate: [0]}]\n",
           "lcores: is nothing that this switch does");
    expect(CHIP "memory: {megabytes: 64}\n", "memory: is nothing that this switch does");
    expect(CHIP "idle: {spin: 10}\n", "idle: is nothing that this switch does");
    expect(CHIP "loops: {find: true}\n", "loops: is nothing that this switch does");
    expect(CHIP "state: /var/lib/swagg/chip\n", "state: is nothing that this switch does");
    expect(CHIP "tx_delay_us: 10\n", "tx_delay_us: is nothing that this switch does");
    expect(CHIP "privileges: all\n", "privileges: is nothing that this switch does");
    expect(CHIP "tenants: [{name: a, addresses: [0.0.0.0/0], quota: {slots: 64}}]\n",
           "tenants[0].quota: only jobs");
    expect(CHIP "tenants: [{name: a, jobs: [x], key_file: /etc/swagg/a.key}]\n",
           "tenants[0].data_keys must be false");
    expect("  - {name: h0, device: \"chip:1\", impair: {rx: {drop: 0.1}}}\n", "port h0: impair");
    expect("  - {name: h0, device: \"chip:1\", storm: {broadcast: 9}}\n", "port h0: storm");
    struct config c = load(CHIP);
    c.link_local = CONFIG_LINK_LOCAL_DROP;
    CU_ASSERT_PTR_NULL(setup_describe(&c));
    CU_ASSERT_PTR_NOT_NULL(strstr(faults, "switch.link_local: is nothing that this switch does"));
#undef CHIP
}

TEST(the_interfaces_mac_address)
{
    struct config c = load("  - {name: h0, device: \"chip:1\"}\n");
    const struct net_mac mac = {{2, 0, 0, 0, 0, 1}}, other = {{2, 0, 0, 0, 0, 2}};

    CU_ASSERT(setup_has_mac(&c, "ens1", &mac));
    c.has_mac = true;
    memcpy(c.mac, mac.addr_bytes, sizeof(c.mac));
    CU_ASSERT(setup_has_mac(&c, "ens1", &mac));
    CU_ASSERT(!setup_has_mac(&c, "ens1", &other));
}

/* The registry in the daemon, on the rig of lcore_rig.h: messages come and go as frames, jobs become pools.
 */
#pragma once

#include "control/registrar.h"
#include "control/static_jobs.h"
#include "kernels_chosen.h"
#include "lcore_rig.h"
#include "terms_of.h"

enum { BOOT = 77, DATA_PORTS = 4 };

static struct jobs jobs;
static struct lcores lcores = {.lcore = {&rig}}; /* the main one alone */
static struct config cfg;
static struct registrar *registrar;

/* A switch whose jobs anybody may join. */
static inline void registrar_configure(void)
{
    cfg = (struct config){
        .mtu = 1500,
        .tenants = 1,
        .tenant = {{.addresses = 1, .jobs = {.n = 1, .text = {"*"}}}},
        .pool.slots_per_job = 16,
        .limits = {.jobs = 4, .jobs_per_host = 4, .workers = 2},
        .timers = {.lost_after_ms = 600000 /* nothing here waits for time */, .forming_s = 600},
    };
}

/* As cfg says, on a rig that is open. uplinks: NULL, or to switches above. */
static inline void registrar_start(const struct agg_protocol *const protocols[], unsigned known,
                                   struct uplinks *uplinks)
{
    const struct registrar_parts parts = {.common = {.cfg = &cfg,
                                                     .protocols = protocols,
                                                     .protocols_known = known,
                                                     .boot_id = BOOT,
                                                     .data_ports = DATA_PORTS},
                                          .lcores = &lcores,
                                          .bridge = rig_bridge,
                                          .jobs = &jobs,
                                          .uplinks = uplinks};

    jobs = (struct jobs){
        .rcu = rig_classifier.rcu, .kernels = kernels_or_exit(), .bytes_max = 16 << 20, .frames_max = 64};
    CU_ASSERT_EQUAL_FATAL(registrar_open(&registrar, &parts), 0);
}

static inline void registrar_stop(void)
{
    registrar_close(registrar);
    jobs_free(&jobs);
    CU_ASSERT_EQUAL(jobs.bytes, 0);
    rig_close();
}

/* A job of the configuration, "fixed": its one worker is station 0, a thread at each UDP port from this one
 * on. Returns its number. */
static inline uint8_t registrar_open_fixed(rte_be16_t first_port, uint16_t threads)
{
    static const struct jobs_identity us;
    struct jobs_plan plan = {.protocol = &sml_protocol,
                             .terms = terms_of((struct sml_terms){.format = XFER_FORMAT_INT32,
                                                                  .slots = 8,
                                                                  .chunk_bytes = 128,
                                                                  .plain = true,
                                                                  .labelled = true,
                                                                  .threads = threads}),
                             .as_it_is = true,
                             .is_static = true,
                             .threads = threads,
                             .size = 1,
                             .name = "fixed",
                             .tenant = -1,
                             .member = {{.ip = rig_station(0).ip, .udp_port = first_port}}};
    char text[AGG_TEXT_MAX];
    uint8_t number;

    CU_ASSERT_EQUAL_FATAL(jobs_open(&jobs, &plan, &us, &number, text), 0);
    return number;
}

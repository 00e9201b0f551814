/* The rig of lcore_rig.h with jobs that a configuration makes, and the flows that they take. Stations 0 and 1
 * are workers; station 2 is whom they send to. */
#pragma once

#include "aggregate/jobs_share.h"
#include "control/static_jobs.h"
#include "datapath_make.h"
#include "kernels_chosen.h"
#include "lcore_rig.h"
#include "protocols.h"

/* Stations in a configuration; the second at a UDP port. */
#define FLOW_MAC(r)        "\"02:00:00:00:01:0" #r "\""
#define FLOW_HOST(r, port) "{ip: 10.0.0." FLOW_IP_##r ", mac: " FLOW_MAC(r) ", port: " #port "}"
#define FLOW_IP_0          "1"
#define FLOW_IP_1          "2"
#define FLOW_IP_2          "3"

static struct config cfg;
static struct datapath dp;
static struct static_jobs fixed;
static bool flow_is_open;

static inline void flow_close(void)
{
    if (!flow_is_open)
        return;
    flow_is_open = false;
    CU_ASSERT_EQUAL(rig_drops(), 0);
    static_jobs_close(&fixed);
    jobs_free(&dp.jobs);
    classifier_free(&dp.classifier);
    rig_close();
}

EACH_TEST(NULL, flow_close)

/* On a rig that is open: the jobs of this configuration. */
static inline void flow_make(const char *yaml)
{
    static pthread_mutex_t shown = PTHREAD_MUTEX_INITIALIZER;
    const struct agg_protocol *const *protocols;
    unsigned n;

    CU_ASSERT_EQUAL_FATAL(config_load_text(&cfg, "test", yaml, NULL, NULL), 0);
    dp = (struct datapath){.mac = rig_mac,
                           .ip = rig_ip,
                           .rcu = rig_classifier.rcu,
                           .jobs = {.rcu = rig_classifier.rcu, .kernels = kernels_or_exit()}};
    jobs_limit(&dp.jobs, &cfg);
    fixed = (struct static_jobs){.jobs = &dp.jobs, .us = {.mac = rig_mac, .ip = rig_ip}, .shown = &shown};
    CU_ASSERT_EQUAL_FATAL(static_jobs_open(&fixed, &cfg, 0), 0);
    CU_ASSERT_EQUAL_FATAL(datapath_make_classifier(&dp, &cfg), 0);
    rig.receive.classifier = &dp.classifier;
    protocols = agg_protocols(&n);
    for (unsigned i = 0; i < n; i++)
        rig.engine.source[protocols[i]->id] =
            (struct engine_source){.table = protocols[i], .jobs = &dp.jobs.running[protocols[i]->id]};
    flow_is_open = true;
}

/* The same of a switch without VLANs, anew. */
static inline void flow_open(const char *lists)
{
    char yaml[1024];

    flow_close();
    rig_open();
    snprintf(yaml, sizeof(yaml), "ports: [{device: kernel:a}]\nswitch: {ip: 10.0.0.254}\n%s\n", lists);
    flow_make(yaml);
}

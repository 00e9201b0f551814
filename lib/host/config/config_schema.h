/* libcyaml's schema of the configuration file: keys, their types, and where their values go. */
#ifndef SWAGG_CONFIG_CONFIG_SCHEMA_H
#define SWAGG_CONFIG_CONFIG_SCHEMA_H

#include <cyaml/cyaml.h>

#include "config/config.h"

/* Values that are still text: they must be checked and resolved before they go into struct config. */
struct config_raw_address {
    uint32_t vlan;
    char ip[64];
};

struct config_raw_switch {
    char mac[64], ip[64];
    enum config_link_local link_local;
    unsigned vlans_count;
    struct config_raw_address vlans[CONFIG_VLANS_MAX];
};

enum { CONFIG_QUEUES_MAX = 4 * SWAGG_MAX_PORTS }; /* that one list can name */

struct config_raw_lcore {
    int32_t cpu;
    unsigned rx_count, tx_count, aggregate_count;
    char *rx[CONFIG_QUEUES_MAX], *tx[CONFIG_QUEUES_MAX]; /* "NAME", or "NAME:QUEUE" */
    uint32_t aggregate[SWAGG_MAX_SHARDS];
};

struct config_raw_control {
    char path[CONFIG_SOCKET_MAX], mode[16], group[CONFIG_NAME_MAX];
};

struct config_raw_server {
    char ip[64], groups[64];
    struct config_server server;
};

struct config_raw_replay {
    struct config_replay replay;
    char worker_mac[64], worker_ip[64], tenant[CONFIG_NAME_MAX];
};

struct config_raw_peer {
    struct config_peer peer;
    char mac[64], ip[64];
};

struct config_raw_static {
    struct config_static job;
    struct config_raw_peer worker[CONFIG_STATIC_WORKERS_MAX]; /* as many as job.workers */
    char tenant[CONFIG_NAME_MAX];
};

struct config_raw_hostagg {
    struct config_hostagg job;
    struct config_raw_peer host;
    char type[16], operation[16], tenant[CONFIG_NAME_MAX];
    struct config_raw_peer worker[CONFIG_STATIC_WORKERS_MAX]; /* as many as job.workers */
};

struct config_raw_clone {
    struct config_clone job;
    struct config_raw_peer collector;
    char host[64], type[16], operation[16], match[64], tenant[CONFIG_NAME_MAX];
    unsigned workers_count;
    char *workers[CONFIG_CLONE_WORKERS_MAX];
};

struct config_raw_tenant {
    struct config_tenant tenant;
    unsigned addresses_count, jobs_count;
    char *addresses[CONFIG_TENANT_ADDRESSES_MAX], *jobs[CONFIG_PATTERNS_MAX];
};

struct config_raw_uplink {
    struct config_uplink uplink;
    char parent[64], via[64];
    unsigned jobs_count, tenants_count;
    char *jobs[CONFIG_PATTERNS_MAX], *tenants[CONFIG_TENANTS_MAX];
};

struct config_raw {
    struct config config;
    struct config_raw_switch sw;
    struct config_raw_control control;
    struct config_raw_server server;
    unsigned lcores;
    struct config_raw_lcore lcore[SWAGG_MAX_LCORES];
    struct config_raw_tenant tenant[CONFIG_TENANTS_MAX];         /* as many as config.tenants */
    struct config_raw_uplink uplink[SWAGG_MAX_UPLINKS];          /* as many as config.uplinks */
    struct config_raw_static static_job[CONFIG_STATIC_JOBS_MAX]; /* as many as config.static_jobs */
    struct config_raw_hostagg hostagg[CONFIG_HOSTAGG_JOBS_MAX];  /* as many as config.hostagg_jobs */
    struct config_raw_clone clone[CONFIG_CLONE_JOBS_MAX];        /* as many as config.clone_jobs */
    struct config_raw_replay replay[CONFIG_REPLAYS_MAX];         /* as many as config.replays */
};

/* Both of a struct config_raw: what a switch has, and a server. */
extern const cyaml_schema_value_t config_schema, config_server_schema;

#endif

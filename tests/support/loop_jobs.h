/* The protocol half of a loop switch: one life of it, from start to kill. No sockets, no clock. */
#pragma once

#include "carry.h"
#include "control/registry.h"

enum { LOOP_JOBS = 16 };

/* One for data of each protocol. */
enum loop_port { LOOP_CONTROL, LOOP_SWITCHML, LOOP_ATP, LOOP_PORTS };

/* Of its data port. */
const struct agg_protocol *loop_protocol(enum loop_port port);

/* Sends from one of the switch's ports. ip in network order, port in host order. */
typedef void loop_send_fn(void *ctx, enum loop_port from, uint32_t ip, uint16_t port, const uint8_t *payload,
                          size_t bytes);

struct loop_life {
    uint64_t boot_id, random;
    struct ctl_registry *registry;
    struct ctl_tenant_key key;
    struct agg_jobs jobs[LOOP_PORTS]; /* by their data port */
    loop_send_fn *send;
    void *ctx;
    unsigned deaf; /* ranks that data packets do not reach */
    bool full;     /* no job by SwitchML finds slots */
};

void loop_life_begin(struct loop_life *life, uint64_t boot_id, uint64_t lost_after_ns,
                     const struct keys_key *key, loop_send_fn *send, void *ctx);
void loop_life_control(struct loop_life *life, uint32_t ip, uint16_t port, const uint8_t *payload,
                       size_t bytes, uint64_t now);
/* at: the data port that it came to. */
void loop_life_data(struct loop_life *life, enum loop_port at, uint32_t ip, uint16_t port,
                    const uint8_t *payload, size_t bytes, uint64_t now);
/* What time alone brings about. Returns whether there are jobs that want to be asked again soon. */
bool loop_life_tick(struct loop_life *life, uint64_t now);
void loop_life_end(struct loop_life *life);

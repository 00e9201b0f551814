/* Configurations as text: loaded, with every message that comes of it. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "unit.h"

/* All messages of one load, a line each, the file's name replaced by "F". */
struct transcript {
    const char *file;
    char text[32768];
};

static inline void take_down(void *context, const char *message)
{
    struct transcript *t = context;
    const size_t used = strlen(t->text), prefix = strlen(t->file);

    CU_ASSERT_EQUAL_FATAL(strncmp(message, t->file, prefix), 0);
    CU_ASSERT_PTR_NULL(strchr(message, '\n'));
    snprintf(t->text + used, sizeof(t->text) - used, "F%s\n", message + prefix);
}

/* Writes yaml to a file and loads it. */
static inline int load(struct config *c, const char *yaml, size_t bytes, struct transcript *t)
{
    char file[] = "/tmp/test_config_XXXXXX";
    int fd = mkstemp(file), ret;

    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL_FATAL(write(fd, yaml, bytes), (ssize_t)bytes);
    close(fd);
    *t = (struct transcript){.file = file};
    ret = config_load(c, file, take_down, t);
    unlink(file);
    t->file = NULL;
    return ret;
}

/* Stays for as long as no more than eight are asked for: they are large. */
static inline const struct config *kept(const char *yaml)
{
    static struct config place[8];
    static unsigned used;
    struct config *c = &place[used++ % 8];
    struct transcript t;
    int ret = load(c, yaml, strlen(yaml), &t);

    if (ret != 0)
        printf("\nunexpected: %s", t.text);
    CU_ASSERT_EQUAL_FATAL(ret, 0);
    CU_ASSERT_STRING_EQUAL(t.text, "");
    return c;
}

static inline struct config good(const char *yaml)
{
    return *kept(yaml);
}

#define SWITCH   PORT "switch: {ip: 10.0.0.1, mac: \"02:00:00:00:01:fe\"}\n"
#define WORKER_2 "{ip: 10.0.0.2, mac: \"02:00:00:00:00:02\"}"
#define RDMA_2(queue_pairs)                                                                                  \
    "{ip: 10.0.0.2, mac: \"02:00:00:00:00:02\", rkey: 7, queue_pairs: [" queue_pairs "]}"
#define WORKER_3        "{ip: 10.0.0.3, mac: \"02:00:00:00:00:03\"}"
#define PORT            "ports:\n  - device: net_af_packet0,iface=a\n"
#define VLANS           "ports: [{device: kernel:a, trunk: [10, 30]}]\nswitch: {vlans: [{vlan: 10, ip: 10.0.0.1/24}]}\n"
#define PORTS           PORT "  - name: b\n    device: net_af_packet1,iface=b\n"
#define TWO_QUEUES      "ports: [{device: \"net_tap0,iface=a\", name: a, rx_queues: 2, tx_queues: 2}]\n"
#define NUMBER_EXPECTED "is not a whole number, 0 or greater\n"
#define A_GROUP         "lines of the form \"key: value\", with a space behind the colon"
#define A_LIST          "a list, [a, b, ...] or lines that begin with \"- \""
#define GROUP           A_GROUP "\n"
#define LIST            A_LIST "\n"

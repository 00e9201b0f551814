/* A configuration that is written as a file is the same when it is read. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/reload.h"
#include "config_rig.h"

static char *written(const struct config *c)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    CU_ASSERT_EQUAL(config_write(to, c), 0);
    fclose(to);
    return text;
}

static void expect_same(const struct config *first, const struct config *second, const char *text)
{
    static struct settings_changes changes;

    config_compare(&changes, first, second);
    if (changes.n > 0)
        printf("\n%s: %s -> %s in\n%s", changes.change[0].key, changes.change[0].from, changes.change[0].to,
               text);
    CU_ASSERT_EQUAL(changes.n, 0);
}

/* Text and struct: what the comparison shows of neither is seen in the second text. */
static void read_again(const struct config *first, bool server)
{
    static struct config second;
    static struct transcript t;
    char file[] = "/tmp/test_config_XXXXXX", *text = written(first), *again;
    const int fd = mkstemp(file);
    int rc;

    CU_ASSERT_EQUAL_FATAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    t = (struct transcript){.file = file};
    rc = (server ? config_load_server : config_load)(&second, file, take_down, &t);
    unlink(file);
    if (rc < 0)
        printf("\n%s in\n%s", t.text, text);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    expect_same(first, &second, text);
    again = written(&second);
    CU_ASSERT_STRING_EQUAL(text, again);
    free(again);
    free(text);
}

static void ignore(void *context, const char *message)
{
    (void)context;
    (void)message;
}

TEST(the_examples_are_what_they_were)
{
    static struct config c;
    glob_t found;
    unsigned switches = 0, servers = 0;

    CU_ASSERT_EQUAL_FATAL(glob(CONF_DIRECTORY "/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (config_load(&c, found.gl_pathv[i], ignore, NULL) == 0) {
            read_again(&c, false);
            switches++;
        } else if (config_load_server(&c, found.gl_pathv[i], ignore, NULL) == 0) {
            read_again(&c, true);
            servers++;
        }
    }
    CU_ASSERT_EQUAL(switches + servers, found.gl_pathc);
    CU_ASSERT(switches > 5 && servers > 0);
    globfree(&found);
}

TEST(everything_that_can_be_set_is_written)
{
    read_again(
        kept("ports: [{device: kernel:e0, rx_queues: 2, impair: {tx: {drop: 0.25, corrupt_every: 9}}},\n"
             "        {name: \"q\\\"uote\\\\d\", device: kernel:e1, storm: {unknown: 7}, ecn_above: 9000}]\n"
             "switch: {ip: 10.0.0.1/24, mac: 02:00:00:00:00:77, link_local: drop}\n"
             "lcores: [{cpu: 1, rx: [port0:0, 'q\"uote\\d'], tx: [all], aggregate: [1]},\n"
             "         {rx: [port0:1], aggregate: [0]}]\n"
             "tenants: [{name: lab, addresses: [10.1.0.0/16, 10.2.0.7], jobs: [a*, b], quota: {jobs: 3}, "
             "weight: 2},\n"
             "          {name: rest, addresses: [0.0.0.0/0]}]\n"
             "uplink: [{parent: 10.0.0.9, jobs: [a*], tenants: [rest]}]\n"
             "idle: {max_sleep_us: 1000}\n"
             "timers: {late_ends_s: 60}\n"
             "control: {path: none}\n"
             "metrics: {listen: 127.0.0.1:9273}\n"
             "atp: {aggregators: 64, parts: 2, preempt: true, forward: 0.125}\n"
             "log_level: debug\n"
             "seed: 18446744073709551615\n"),
        false);
}

TEST(jobs_of_the_file_are_written)
{
    read_again(
        kept("ports: [{device: kernel:e0}]\n"
             "switch: {ip: 10.0.0.1/24}\n"
             "tenants: [{name: lab, addresses: [10.0.0.0/24]}]\n"
             "hostagg: [{host: {ip: 10.0.0.2, mac: 02:00:00:00:00:02, port: 5000}, type: bfloat16, "
             "operation: max,\n"
             "           workers: [{ip: 10.0.0.3, mac: 02:00:00:00:00:03}], job: 7, tenant: lab},\n"
             "          {host: {ip: 10.0.0.2, mac: 02:00:00:00:00:02, port: 5001}, job: 0,\n"
             "           workers: [{ip: 10.0.0.4, mac: 02:00:00:00:00:04}]}]\n"
             "clone: [{host: 02:00:00:00:00:05, workers: ['02:00:00:00:00:06', '02:00:00:00:00:07'], match: "
             "00ff,\n"
             "         byte_order: little, type: int32, tenant: lab}]\n"
             "static: [{workers: [{ip: 10.0.0.8, mac: 02:00:00:00:00:08}], format: fp16, elements: 128}]\n"
             "replay: [{}, {worker_ip: 10.0.0.20, worker_mac: 02:00:00:00:01:20}]\n"),
        false);
}

TEST(a_default_is_a_comment_and_what_is_set_is_not)
{
    char *text = written(kept("ports: [{device: kernel:e0}]\npool: {slots_per_job: 64}\n"));

    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\npool:\n  slots_per_job: 64\n  # slots: 0\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n# mtu: 1500\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n# idle:\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\n# uplink: (not set)\n"));
    free(text);
}

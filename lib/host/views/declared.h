/* The views: for each a struct that a program fills, and below it what its fields are and mean. Whatever is
 * shown of them follows from here, in this order; new fields of a table come at its end.
 *
 * A host of a registry (the daemon, swagg-ps, swagg-tofino) has those views that it fills, and of their
 * fields those that it has: a flag says of a group of fields whether it is there.
 */
#pragma once

#include <stddef.h>

#include "net/mac.h"
#include "views/view.h"

enum view_id {
    VIEW_STATUS,
    VIEW_PORTS,
    VIEW_PORT,
    VIEW_JOBS,
    VIEW_JOB,
    VIEW_MEMBERS,
    VIEW_TENANTS,
    VIEW_RESERVED,
    VIEW_UPLINKS,
    VIEW_PEERS,
    VIEW_SLOTS,
    VIEW_SUMS,
    VIEW_FDB,
    VIEW_DROPS,
    VIEW_COUNTERS,
    VIEW_VERDICTS,
    VIEW_LCORES,
    VIEW_LCORE,
    VIEW_MEMORY,
    VIEW_HISTORY,
    VIEW_EVENTS,
    VIEWS
};

extern const struct view views[VIEWS];

/* NULL: there is none of this name. */
const struct view *views_find(const char *name);

/* A field under its member's name; the second: where the flag of its group is set. */
#define FIELD(row, type, member, unit, meaning)                                                              \
    {                                                                                                        \
#member, type, offsetof(struct row, member), 0, unit, meaning                                        \
    }
#define FIELD_IF(row, flag, type, member, unit, meaning)                                                     \
    {                                                                                                        \
#member, type, offsetof(struct row, member), offsetof(struct row, flag), unit, meaning               \
    }
#define TABLE(name, meaning)                                                                                 \
    {                                                                                                        \
        name, VIEW_TABLE, 0, 0, NULL, meaning                                                                \
    }
#define END                                                                                                  \
    {                                                                                                        \
        0                                                                                                    \
    }

/* --- the host as a whole ----------------------------------------------------------------------------- */

struct status_view {
    const char *name, *version, *chip, *log_level;
    bool bridges, polls, serves;
    char mac[NET_MAC_TEXT_MAX], ip[VIEW_IP_MAX];
    uint64_t pid, up_s, ports, ports_up, lcores, shards, threads, jobs, stations, pool_bytes,
        pool_bytes_in_use, log_lines_lost;
};

static const struct view_field view_status_fields[] = {
    FIELD(status_view, VIEW_TEXT, name, NULL, "which of those that run on the machine it is"),
    FIELD(status_view, VIEW_TEXT, version, NULL, "of the program"),
    FIELD(status_view, VIEW_ID, pid, NULL, "its process"),
    FIELD(status_view, VIEW_GAUGE, up_s, "s", "since it was started"),
    FIELD_IF(status_view, bridges, VIEW_CHARS, mac, NULL, "MAC address of the switch"),
    FIELD(status_view, VIEW_CHARS, ip, NULL, "IPv4 address that workers send to; 0.0.0.0: none"),
    FIELD(status_view, VIEW_TEXT, chip, NULL, "which chip it is (a Tofino)"),
    FIELD_IF(status_view, bridges, VIEW_GAUGE, ports, NULL, "ports that there are"),
    FIELD_IF(status_view, bridges, VIEW_GAUGE, ports_up, NULL, "of them those whose link is up"),
    FIELD_IF(status_view, polls, VIEW_GAUGE, lcores, NULL, "polling threads"),
    FIELD_IF(status_view, polls, VIEW_GAUGE, shards, NULL, "parts that slots are dealt to"),
    FIELD_IF(status_view, serves, VIEW_GAUGE, threads, NULL, "threads that sum (`swagg-ps`)"),
    FIELD(status_view, VIEW_GAUGE, jobs, NULL, "jobs in any state"),
    FIELD_IF(status_view, bridges, VIEW_GAUGE, stations, NULL, "MAC addresses that are known"),
    FIELD_IF(status_view, serves, VIEW_GAUGE, pool_bytes, "bytes", "memory that jobs may have (`swagg-ps`)"),
    FIELD_IF(status_view, serves, VIEW_GAUGE, pool_bytes_in_use, "bytes", "of it what they have"),
    FIELD(status_view, VIEW_TEXT, log_level, NULL, "how much is logged"),
    FIELD(status_view, VIEW_COUNTER, log_lines_lost, "lines",
          "of the log, because nobody read them in time or a disk was full"),
    END};

struct memory_view {
    bool process, chip;
    uint64_t memory_bytes, memory_bytes_in_use, pool_bytes, pool_bytes_in_use, mbufs, mbufs_in_use,
        kept_frames, kept_frames_in_use;
    uint64_t rows, rows_in_use, entries, entries_in_use, stations, stations_in_use;
};

static const struct view_field view_memory_fields[] = {
    FIELD_IF(memory_view, process, VIEW_GAUGE, memory_bytes, "bytes", "memory of DPDK's"),
    FIELD_IF(memory_view, process, VIEW_GAUGE, memory_bytes_in_use, "bytes", "of it what is taken"),
    FIELD_IF(memory_view, process, VIEW_GAUGE, pool_bytes, "bytes", "what jobs may have of it (`pool`)"),
    FIELD_IF(memory_view, process, VIEW_GAUGE, pool_bytes_in_use, "bytes", "what they have"),
    FIELD_IF(memory_view, process, VIEW_GAUGE, mbufs, NULL, "packet buffers"),
    FIELD_IF(memory_view, process, VIEW_GAUGE, mbufs_in_use, NULL, "of them those that are taken"),
    FIELD_IF(memory_view, process, VIEW_GAUGE, kept_frames, NULL, "frames that jobs may keep"),
    FIELD_IF(memory_view, process, VIEW_GAUGE, kept_frames_in_use, NULL, "frames that they keep"),
    FIELD_IF(memory_view, chip, VIEW_GAUGE, rows, NULL, "slots' rows in the chip (a Tofino)"),
    FIELD_IF(memory_view, chip, VIEW_GAUGE, rows_in_use, NULL, "of them those of jobs"),
    FIELD_IF(memory_view, chip, VIEW_GAUGE, entries, NULL, "entries of its tables"),
    FIELD_IF(memory_view, chip, VIEW_GAUGE, entries_in_use, NULL, "of them those of jobs"),
    FIELD_IF(memory_view, chip, VIEW_GAUGE, stations, NULL, "MAC addresses that it can know"),
    FIELD_IF(memory_view, chip, VIEW_GAUGE, stations_in_use, NULL, "those that it knows"),
    END};

/* Of drops, counters and verdicts. */
struct counted_view {
    struct view_counts counts;
    bool by_protocol; /* they are rows of a table instead */
};

static const struct view_field view_drops_fields[] = {
    FIELD(counted_view, VIEW_COUNTS, counts, "frames", "a counter for each reason to drop a frame"), END};

static const struct view_field view_counters_fields[] = {
    FIELD(counted_view, VIEW_COUNTS, counts, "frames", "a counter for each thing that is done with others"),
    END};

static const struct view_field view_verdicts_fields[] = {
    FIELD(counted_view, VIEW_COUNTS, counts, "packets", "a counter for each thing that becomes of one"),
    {"verdicts", VIEW_TABLE, 0, offsetof(struct counted_view, by_protocol), NULL,
     "of `swagg-ps`, by protocol"},
    END};

struct verdict_view {
    const char *protocol, *verdict;
    uint64_t packets;
};

static const struct view_field view_verdicts_row[] = {
    FIELD(verdict_view, VIEW_TEXT, protocol, NULL, "whose packets"),
    FIELD(verdict_view, VIEW_TEXT, verdict, NULL, "what became of them"),
    FIELD(verdict_view, VIEW_COUNTER, packets, "packets", "how many"), END};

/* --- ports and stations ------------------------------------------------------------------------------ */

struct port_view {
    const char *name, *device, *link; /* link: NULL in the daemon's view of one */
    bool one, chip;                   /* the daemon's view of one, a Tofino's */
    char mac[NET_MAC_TEXT_MAX];
    bool link_up, disabled, blocked, gone, compares_ip_checksum, compares_udp_checksum;
    uint64_t mtu, returns, rx_frames, rx_bytes, rx_merged, rx_missed, rx_errors, tx_frames, tx_bytes,
        tx_merged, tx_errors, drops;
    struct view_counts impaired;
};

static const struct view_field view_ports_fields[] = {TABLE("ports", "the ports"), END};

static const struct view_field view_ports_row[] = {
    FIELD(port_view, VIEW_TEXT, name, NULL, "as in the configuration"),
    FIELD(port_view, VIEW_TEXT, device, NULL, "what it is"),
    FIELD(port_view, VIEW_TEXT, link, NULL,
          "`up`, `down`, `gone` (the device), `absent` (from the chip), `disabled` (by an operator), "
          "`blocked` (for a loop)"),
    FIELD(port_view, VIEW_COUNTER, rx_frames, "frames", "received"),
    FIELD(port_view, VIEW_COUNTER, rx_bytes, "bytes", "received"),
    FIELD(port_view, VIEW_COUNTER, tx_frames, "frames", "sent"),
    FIELD(port_view, VIEW_COUNTER, tx_bytes, "bytes", "sent"),
    FIELD(port_view, VIEW_COUNTER, drops, "frames", "dropped, for whatever reason"),
    FIELD(port_view, VIEW_COUNTER, rx_errors, "frames", "that the device could not receive"),
    FIELD(port_view, VIEW_COUNTER, tx_errors, "frames", "that the device could not send"),
    END};

static const struct view_field view_port_fields[] = {
    FIELD(port_view, VIEW_TEXT, name, NULL, "as in the configuration"),
    FIELD(port_view, VIEW_TEXT, device, NULL, "what it is"),
    FIELD(port_view, VIEW_TEXT, link, NULL, "as in `ports` (a Tofino)"),
    FIELD_IF(port_view, one, VIEW_CHARS, mac, NULL, "its MAC address, as it was when the port was opened"),
    FIELD_IF(port_view, one, VIEW_GAUGE, mtu, "bytes", "of the longest packet"),
    FIELD_IF(port_view, one, VIEW_FLAG, link_up, NULL, "its link is up"),
    FIELD_IF(port_view, one, VIEW_FLAG, disabled, NULL, "an operator has taken it down"),
    FIELD_IF(port_view, one, VIEW_FLAG, blocked, NULL, "there is a loop behind it"),
    FIELD_IF(port_view, one, VIEW_FLAG, gone, NULL, "its device is not there"),
    FIELD_IF(port_view, one, VIEW_FLAG, compares_ip_checksum, NULL, "the device looks at IPv4 checksums"),
    FIELD_IF(port_view, one, VIEW_FLAG, compares_udp_checksum, NULL, "the device looks at UDP checksums"),
    FIELD_IF(port_view, one, VIEW_COUNTER, returns, "times", "that a device that was gone has come back"),
    FIELD(port_view, VIEW_COUNTER, rx_frames, "frames", "received"),
    FIELD(port_view, VIEW_COUNTER, rx_bytes, "bytes", "received"),
    FIELD_IF(port_view, one, VIEW_COUNTER, rx_merged, "frames", "of them those that the kernel had merged"),
    FIELD_IF(port_view, one, VIEW_COUNTER, rx_missed, "frames", "for which the device had no room"),
    FIELD(port_view, VIEW_COUNTER, rx_errors, "frames", "that the device could not receive"),
    FIELD(port_view, VIEW_COUNTER, tx_frames, "frames", "sent"),
    FIELD(port_view, VIEW_COUNTER, tx_bytes, "bytes", "sent"),
    FIELD_IF(port_view, one, VIEW_COUNTER, tx_merged, "frames", "of them those that went in runs"),
    FIELD(port_view, VIEW_COUNTER, tx_errors, "frames", "that the device could not send"),
    FIELD_IF(port_view, chip, VIEW_COUNTER, drops, "frames", "dropped, for whatever reason (a Tofino)"),
    FIELD_IF(port_view, one, VIEW_COUNTS, impaired, "times",
             "a counter for each impairment that has struck: `rx_impaired_drop`, ..."),
    END};

struct station_view {
    char mac[NET_MAC_TEXT_MAX];
    const char *port, *kind;
    bool ages; /* so that it is known when it was heard, and in which VLAN */
    uint64_t silent_s, vlan;
};

static const struct view_field view_fdb_fields[] = {TABLE("fdb", "the stations"), END};

static const struct view_field view_fdb_row[] = {
    FIELD(station_view, VIEW_CHARS, mac, NULL, "its MAC address"),
    FIELD(station_view, VIEW_TEXT, port, NULL, "on which it was last heard"),
    FIELD(station_view, VIEW_TEXT, kind, NULL, "`learned`, or `static`: an operator has said so"),
    FIELD_IF(station_view, ages, VIEW_GAUGE, silent_s, "s", "since it was heard, but for a tick of ageing"),
    FIELD_IF(station_view, ages, VIEW_ID, vlan, NULL, "its VLAN; 0: the switch has none"),
    END};

/* --- polling threads --------------------------------------------------------------------------------- */

struct lcore_view {
    uint64_t lcore, cpu, shards, busy_percent, ran_ms, waited_ms;
    struct view_texts rx, tx;
    struct view_counts counts;
};

#define VIEW_LCORE_TASKS                                                                                     \
    FIELD(lcore_view, VIEW_ID, lcore, NULL, "its number"),                                                   \
        FIELD(lcore_view, VIEW_ID, cpu, NULL, "on which it runs"),                                           \
        FIELD(lcore_view, VIEW_TEXTS, rx, NULL, "queues that it receives from"),                             \
        FIELD(lcore_view, VIEW_TEXTS, tx, NULL, "queues that it sends to"),                                  \
        FIELD(lcore_view, VIEW_GAUGE, shards, NULL, "parts of the slots that it has"),                       \
        FIELD(lcore_view, VIEW_GAUGE, busy_percent, "percent",                                               \
              "of the last second in rounds that found something to do")

static const struct view_field view_lcores_fields[] = {TABLE("lcores", "the polling threads"), END};

static const struct view_field view_lcores_row[] = {
    VIEW_LCORE_TASKS,
    FIELD(lcore_view, VIEW_COUNTS, counts, NULL,
          "`received`, `gradients`, `rounds`, `busy_rounds`, `sleeps`, `stalls` of `counters`, of this one"),
    END};

static const struct view_field view_lcore_fields[] = {
    VIEW_LCORE_TASKS, FIELD(lcore_view, VIEW_COUNTS, counts, NULL, "all of `counters`, of this one"),
    FIELD(lcore_view, VIEW_COUNTER, ran_ms, "ms", "that it had a CPU; 0: the kernel does not tell"),
    FIELD(lcore_view, VIEW_COUNTER, waited_ms, "ms", "that it waited for one that others had"), END};

/* --- jobs -------------------------------------------------------------------------------------------- */

struct jobs_view {
    const char *name, *state, *protocol, *tenant; /* tenant: NULL, there are none */
    uint64_t in_state_ms, size, present, vlan;
    bool has_vlan;
};

static const struct view_field view_jobs_fields[] = {TABLE("jobs", "the jobs"), END};

static const struct view_field view_jobs_row[] = {
    FIELD(jobs_view, VIEW_TEXT, name, NULL, "as its workers, or the configuration, call it"),
    FIELD(jobs_view, VIEW_TEXT, state, NULL, "`forming`, `running`, ..."),
    FIELD(jobs_view, VIEW_GAUGE, in_state_ms, "ms", "since when"),
    FIELD(jobs_view, VIEW_GAUGE, size, "ranks", "that belong to it"),
    FIELD(jobs_view, VIEW_GAUGE, present, "ranks", "that are there"),
    FIELD(jobs_view, VIEW_TEXT, protocol, NULL, "by which it sums"),
    FIELD(jobs_view, VIEW_TEXT, tenant, NULL, "whose it is"),
    FIELD_IF(jobs_view, has_vlan, VIEW_ID, vlan, NULL, "that its workers are in; 0: the switch has none"),
    END};

struct job_view {
    const char *name, *tenant, *state;
    bool joined; /* by workers, or shown as if it were: a Tofino knows little of jobs of its file */
    bool has_vlan, fixed, keyed, draining, runs, switched, delays, rated, heartbeats, failed, awaits, placed,
        relayed, parts;
    uint64_t vlan, in_state_ms, epoch, size, present;
    struct view_terms terms;
    uint64_t threads, slots, elements;
    uint64_t number, kept_frames, kept_frames_max, late, amiss;
    char amiss_last[128];
    uint64_t contributions, bytes, repeated, probes, missed, lost_up, lost_down, contributions_per_s,
        bytes_per_s, latest_rank, latest_us_mean;
    uint64_t retransmitted, window_least, window_most, restarts, resumed_most;
    const char *reason, *failure;
    struct view_ranks missing, waits_for;
    uint64_t level, parent_number, contributors;
    char parent[VIEW_IP_MAX];
};

static const struct view_field view_job_fields[] = {
    FIELD(job_view, VIEW_TEXT, name, NULL, "as its workers, or the configuration, call it"),
    FIELD(job_view, VIEW_TEXT, tenant, NULL, "whose it is"),
    FIELD_IF(job_view, has_vlan, VIEW_ID, vlan, NULL, "that its workers are in; 0: the switch has none"),
    FIELD(job_view, VIEW_TEXT, state, NULL, "`forming`, `running`, ..."),
    FIELD_IF(job_view, joined, VIEW_GAUGE, in_state_ms, "ms", "since when"),
    FIELD_IF(job_view, joined, VIEW_ID, epoch, NULL,
             "of a job of the configuration: how often it has begun anew"),
    FIELD(job_view, VIEW_GAUGE, size, "ranks", "that belong to it"),
    FIELD_IF(job_view, joined, VIEW_GAUGE, present, "ranks", "that are there"),
    FIELD_IF(job_view, joined, VIEW_FLAG, keyed, NULL, "its messages are sealed with its tenant's key"),
    FIELD_IF(job_view, joined, VIEW_FLAG, draining, NULL, "nobody else may join it"),
    FIELD_IF(job_view, joined, VIEW_TERMS, terms, NULL,
             "`protocol`, and what its ranks have agreed on, by protocol"),
    FIELD_IF(job_view, fixed, VIEW_GAUGE, threads, NULL,
             "of each worker (a Tofino's job of the configuration)"),
    FIELD_IF(job_view, fixed, VIEW_GAUGE, slots, NULL, "of all its threads"),
    FIELD_IF(job_view, fixed, VIEW_GAUGE, elements, NULL, "in a packet"),
    FIELD_IF(job_view, runs, VIEW_ID, number, NULL, "on the wire"),
    FIELD_IF(job_view, switched, VIEW_GAUGE, kept_frames, "frames", "that it keeps"),
    FIELD_IF(job_view, switched, VIEW_GAUGE, kept_frames_max, "frames", "that it may keep"),
    FIELD_IF(job_view, switched, VIEW_COUNTER, late, "packets",
             "of members that came after their sum was closed"),
    FIELD_IF(job_view, switched, VIEW_COUNTER, amiss, "packets", "of members that can be in no sum"),
    FIELD_IF(job_view, switched, VIEW_CHARS, amiss_last, NULL,
             "why the last of them could not, and whose it was"),
    FIELD_IF(job_view, delays, VIEW_COUNTER, contributions, "packets",
             "that counted, of all ranks and of switches below, which send one for theirs"),
    FIELD_IF(job_view, delays, VIEW_COUNTER, bytes, "bytes", "that they carried, without headers"),
    FIELD_IF(job_view, delays, VIEW_COUNTER, repeated, "packets",
             "that had come before: they or their results seemed lost"),
    FIELD_IF(job_view, delays, VIEW_COUNTER, probes, "packets", "questions for a result"),
    FIELD_IF(job_view, delays, VIEW_COUNTER, missed, "chunks",
             "that were closed without a rank, once for each"),
    FIELD_IF(job_view, rated, VIEW_GAUGE, contributions_per_s, "packets/s",
             "that counted in the last second"),
    FIELD_IF(job_view, rated, VIEW_GAUGE, bytes_per_s, "bytes/s", "that they carried"),
    FIELD_IF(job_view, delays, VIEW_ID, latest_rank, NULL, "the rank whose delays add up to most"),
    FIELD_IF(job_view, delays, VIEW_GAUGE, latest_us_mean, "us", "how late that one is on average"),
    FIELD_IF(job_view, heartbeats, VIEW_COUNTER, retransmitted, "packets", "that workers have sent again"),
    FIELD_IF(job_view, heartbeats, VIEW_GAUGE, window_least, "packets",
             "that a worker keeps on their way, the least of all"),
    FIELD_IF(job_view, heartbeats, VIEW_GAUGE, window_most, "packets", "the same, the most"),
    FIELD_IF(job_view, heartbeats, VIEW_GAUGE, restarts, "jobs", "of its name that were before it"),
    FIELD_IF(job_view, heartbeats, VIEW_GAUGE, resumed_most, "times",
             "that a worker has outlived the switch, the most of all"),
    FIELD_IF(job_view, failed, VIEW_TEXT, reason, NULL, "why it has failed, in a word"),
    FIELD_IF(job_view, failed, VIEW_TEXT, failure, NULL, "and in a sentence"),
    FIELD_IF(job_view, joined, VIEW_RANKS, missing, NULL, "the ranks that have not joined"),
    FIELD_IF(job_view, awaits, VIEW_RANKS, waits_for, NULL,
             "the ranks that all chunks lack which have begun"),
    FIELD_IF(job_view, placed, VIEW_GAUGE, level, NULL,
             "of this switch in its tree of switches; the root's is 1"),
    FIELD_IF(job_view, placed, VIEW_CHARS, parent, NULL, "the switch above"),
    FIELD_IF(job_view, relayed, VIEW_ID, parent_number, NULL, "the job's number there"),
    FIELD_IF(job_view, parts, VIEW_GAUGE, contributors, NULL, "ranks and switches below that send it sums"),
    FIELD_IF(job_view, delays, VIEW_COUNTER, lost_up, "packets",
             "contributions that ranks, or switches below, have sent and that had not come when they asked"),
    FIELD_IF(job_view, delays, VIEW_COUNTER, lost_down, "packets",
             "results that were sent to them and asked for once more"),
    END};

/* Of ranks, slots and sums. */
struct of_job_view {
    const char *name;
    bool joined;
    struct view_ranks missing;
    uint64_t slots, collecting, there_are;
};

static const struct view_field view_ranks_fields[] = {
    FIELD(of_job_view, VIEW_TEXT, name, NULL, "of the job"),
    FIELD_IF(of_job_view, joined, VIEW_RANKS, missing, NULL, "the ranks that have not joined"),
    TABLE("ranks", "its members"), END};

struct rank_view {
    bool joined, delays_noted, placed, together;
    const char *state;
    char address[VIEW_ADDRESS_MAX], at[VIEW_IP_MAX];
    uint64_t rank, heard_ms_ago, calls, stalled_ms;
    bool waiting;
    uint64_t contributions, bytes, repeated, probes, missed, was_last, lost_up, lost_down, late_us_mean,
        late_us_last, late_us_worst;
    struct view_delays late_us_log2;
    uint64_t delays[AGG_DELAY_BUCKETS]; /* what that lists */
    uint64_t retransmitted, window, restarts, resumed, level, delayed_us, sent_with;
};

static const struct view_field view_ranks_row[] = {
    FIELD(rank_view, VIEW_ID, rank, NULL, "its number"),
    FIELD_IF(rank_view, joined, VIEW_TEXT, state, NULL,
             "`absent`, `joined`, ...; `above`: it comes by the switch above, which knows more"),
    FIELD(rank_view, VIEW_CHARS, address, NULL, "where its packets come from"),
    FIELD_IF(rank_view, joined, VIEW_GAUGE, heard_ms_ago, "ms", "since its last sign of life"),
    FIELD_IF(rank_view, joined, VIEW_COUNTER, calls, "calls", "that it has completed"),
    FIELD_IF(rank_view, joined, VIEW_FLAG, waiting, NULL, "it is in a call"),
    FIELD_IF(rank_view, joined, VIEW_GAUGE, stalled_ms, "ms", "that nothing has come for it there"),
    FIELD_IF(rank_view, delays_noted, VIEW_COUNTER, contributions, "packets", "that counted"),
    FIELD_IF(rank_view, delays_noted, VIEW_COUNTER, bytes, "bytes", "that they carried, without headers"),
    FIELD_IF(rank_view, delays_noted, VIEW_COUNTER, repeated, "packets",
             "that had come before: they or their results seemed lost"),
    FIELD_IF(rank_view, delays_noted, VIEW_COUNTER, probes, "packets", "questions for a result"),
    FIELD_IF(rank_view, delays_noted, VIEW_COUNTER, missed, "chunks",
             "that were closed without this rank ([jobs with a quorum](protocol.md#jobs-with-a-quorum))"),
    FIELD_IF(rank_view, delays_noted, VIEW_COUNTER, was_last, "chunks",
             "that were complete with this rank's contribution"),
    FIELD_IF(rank_view, delays_noted, VIEW_GAUGE, late_us_mean, "us",
             "how late it was on average; the first rank of a chunk is 0 late"),
    FIELD_IF(rank_view, delays_noted, VIEW_GAUGE, late_us_last, "us", "how late it was last"),
    FIELD_IF(rank_view, delays_noted, VIEW_GAUGE, late_us_worst, "us", "how late it was at worst"),
    FIELD_IF(rank_view, delays_noted, VIEW_DELAYS, late_us_log2, NULL,
             "how often it was how late: less than 1.024 us, less than twice that, and so on, up to 4.3 s "
             "and more"),
    FIELD_IF(rank_view, joined, VIEW_COUNTER, retransmitted, "packets", "that the worker has sent again"),
    FIELD_IF(rank_view, joined, VIEW_GAUGE, window, "packets",
             "that it keeps on their way, as it said in its last heartbeat"),
    FIELD_IF(rank_view, joined, VIEW_GAUGE, restarts, NULL,
             "processes that had this rank before: while the job formed, and in earlier jobs of this tenant "
             "and name, as long as the switch remembers those"),
    FIELD_IF(rank_view, joined, VIEW_GAUGE, resumed, "times",
             "that the switch was restarted, and the worker has outlived it in this job"),
    FIELD_IF(rank_view, placed, VIEW_GAUGE, level, NULL, "of its own switch in a tree of switches"),
    {"switch", VIEW_CHARS, offsetof(struct rank_view, at), offsetof(struct rank_view, placed), NULL,
     "its own switch, if that is another"},
    FIELD_IF(
        rank_view, delays_noted, VIEW_COUNTER, lost_up, "packets",
        "of its contributions that had not come when it asked for their sum: lost on the way to the switch"),
    FIELD_IF(
        rank_view, delays_noted, VIEW_COUNTER, lost_down, "packets",
        "results that were sent to it, and that it asked for once more: lost on the way from the switch"),
    FIELD_IF(rank_view, delays_noted, VIEW_COUNTER, delayed_us, "us",
             "how late all its contributions were together; its growth tells who is late now"),
    FIELD_IF(rank_view, together, VIEW_ID, sent_with, NULL,
             "the rank whose numbers these are, too: a switch below sends one packet for both"),
    END};

static const struct view_field view_slots_fields[] = {
    FIELD(of_job_view, VIEW_TEXT, name, NULL, "of the job"),
    TABLE("waiting", "slots that wait, the first 64"),
    FIELD(of_job_view, VIEW_GAUGE, slots, NULL, "that the job has"),
    FIELD(of_job_view, VIEW_GAUGE, collecting, NULL, "of them those that wait"), END};

struct slot_view {
    uint64_t slot, tag, contributed;
    struct view_ranks missing;
};

static const struct view_field view_slots_row[] = {
    FIELD(slot_view, VIEW_ID, slot, NULL, "its number"),
    FIELD(slot_view, VIEW_ID, tag, NULL, "of the chunk that it collects"),
    FIELD(slot_view, VIEW_GAUGE, contributed, "ranks", "that have contributed"),
    FIELD(slot_view, VIEW_RANKS, missing, NULL, "the ranks that have not"), END};

static const struct view_field view_sums_fields[] = {
    FIELD(of_job_view, VIEW_TEXT, name, NULL, "of the job"), TABLE("sums", "of the latest 64 chunks"),
    FIELD(of_job_view, VIEW_GAUGE, there_are, "sums", "that the switch keeps"), END};

struct sum_view {
    uint64_t chunk;
    struct view_texts elements;
};

static const struct view_field view_sums_row[] = {
    FIELD(sum_view, VIEW_ID, chunk, NULL, "its number"),
    FIELD(sum_view, VIEW_TEXTS, elements, NULL, "the sum, of long chunks the first 256 bytes"), END};

struct tenant_view {
    const char *name;
    bool shares, holds, keeps; /* a part of the switch; slots and memory; frames */
    uint64_t weight, jobs, jobs_quota, slots, slots_quota, pool_bytes, pool_bytes_quota, kept_frames,
        kept_frames_quota;
};

static const struct view_field view_tenants_fields[] = {TABLE("tenants", "the tenants"), END};

static const struct view_field view_tenants_row[] = {
    FIELD(tenant_view, VIEW_TEXT, name, NULL, "as in the configuration"),
    FIELD_IF(tenant_view, shares, VIEW_GAUGE, weight, NULL, "its part of the switch, beside those of others"),
    FIELD(tenant_view, VIEW_GAUGE, jobs, NULL, "that it has"),
    FIELD(tenant_view, VIEW_GAUGE, jobs_quota, NULL, "that it may have; 0: any, as for all quotas"),
    FIELD_IF(tenant_view, holds, VIEW_GAUGE, slots, NULL, "of its jobs"),
    FIELD_IF(tenant_view, holds, VIEW_GAUGE, slots_quota, NULL, "that they may have"),
    FIELD_IF(tenant_view, holds, VIEW_GAUGE, pool_bytes, "bytes", "of its jobs"),
    FIELD_IF(tenant_view, holds, VIEW_GAUGE, pool_bytes_quota, "bytes", "that they may have"),
    FIELD_IF(tenant_view, keeps, VIEW_GAUGE, kept_frames, "frames", "that its jobs keep"),
    FIELD_IF(tenant_view, keeps, VIEW_GAUGE, kept_frames_quota, "frames", "that they may keep"),
    END};

struct reserved_view {
    const char *name, *job, *tenant;
    uint64_t ranks, slots, bytes, jobs, left_s;
};

static const struct view_field view_reserved_fields[] = {TABLE("reserved", "the reservations"), END};

static const struct view_field view_reserved_row[] = {
    FIELD(reserved_view, VIEW_TEXT, name, NULL, "its own, by which it is released"),
    FIELD(reserved_view, VIEW_TEXT, job, NULL, "names of jobs that it is for"),
    FIELD(reserved_view, VIEW_TEXT, tenant, NULL, "whose jobs"),
    FIELD(reserved_view, VIEW_GAUGE, ranks, "ranks", "of the job that was thought of"),
    FIELD(reserved_view, VIEW_GAUGE, slots, NULL, "that are kept, with those that its jobs have"),
    FIELD(reserved_view, VIEW_GAUGE, bytes, "bytes", "of their memory"),
    FIELD(reserved_view, VIEW_GAUGE, jobs, NULL, "that are there and may use it"),
    FIELD(reserved_view, VIEW_GAUGE, left_s, "s", "until it ends"),
    END};

/* --- switches above ---------------------------------------------------------------------------------- */

struct uplink_view {
    char parent[VIEW_IP_MAX], next[VIEW_IP_MAX], mac[NET_MAC_TEXT_MAX];
    const char *state, *port;
    uint64_t path_mtu, jobs, sent, sent_bytes, received, received_bytes, control_sent, control_received,
        heard_ms_ago;
};

static const struct view_field view_uplinks_fields[] = {TABLE("uplinks", "the switches above"), END};

static const struct view_field view_uplinks_row[] = {
    FIELD(uplink_view, VIEW_CHARS, parent, NULL, "the switch's address"),
    FIELD(uplink_view, VIEW_TEXT, state, NULL,
          "`not found`: nobody answers ARP; `silent`: no path probe came back; `up`"),
    FIELD(uplink_view, VIEW_CHARS, next, NULL, "the first on the way there: itself, or a router"),
    FIELD(uplink_view, VIEW_CHARS, mac, NULL, "its MAC address"),
    FIELD(uplink_view, VIEW_TEXT, port, NULL, "on which it was heard"),
    FIELD(uplink_view, VIEW_GAUGE, path_mtu, "bytes", "of the longest packet that gets through"),
    FIELD(uplink_view, VIEW_GAUGE, jobs, NULL, "that go on to it"),
    FIELD(uplink_view, VIEW_COUNTER, sent, "packets", "gradients that went up"),
    FIELD(uplink_view, VIEW_COUNTER, sent_bytes, "bytes", "that they carried"),
    FIELD(uplink_view, VIEW_COUNTER, received, "packets", "that came down"),
    FIELD(uplink_view, VIEW_COUNTER, received_bytes, "bytes", "that they carried"),
    FIELD(uplink_view, VIEW_COUNTER, control_sent, "messages", "that went up"),
    FIELD(uplink_view, VIEW_COUNTER, control_received, "messages", "that came down"),
    FIELD(uplink_view, VIEW_GAUGE, heard_ms_ago, "ms", "since something came from it; 0: nothing has"),
    END};

struct peer_view {
    char address[VIEW_ADDRESS_MAX];
};

static const struct view_field view_peers_fields[] = {
    TABLE("peers", "switches of its tree, of which the configuration knows (`metrics.tree`)"), END};

static const struct view_field view_peers_row[] = {
    FIELD(peer_view, VIEW_CHARS, address, NULL, "where it is told about, over HTTP"), END};

/* --- what has been (history/history.h) --------------------------------------------------------------- */

struct minute_view {
    char time[VIEW_TIME_MAX];
    bool whole, drops;
    const char *job, *tenant, *latest_job, *lossy_job;
    char latest_rank[VIEW_NUMBER_MAX], lossy_rank[VIEW_NUMBER_MAX];
    uint64_t jobs, bytes, bytes_per_s, lost_up, lost_down, dropped, late_us_mean;
};

static const struct view_field view_history_fields[] = {
    TABLE("history", "minutes of the last day in which something came, the one that goes on last"), END};

static const struct view_field view_history_row[] = {
    FIELD(minute_view, VIEW_CHARS, time, NULL, "when the minute began, UTC"),
    FIELD(minute_view, VIEW_TEXT, job, NULL, "of minutes of a job: its name"),
    FIELD(minute_view, VIEW_TEXT, tenant, NULL, "and whose it is"),
    FIELD_IF(minute_view, whole, VIEW_GAUGE, jobs, NULL, "of which something came"),
    FIELD(minute_view, VIEW_GAUGE, bytes, "bytes", "of contributions, without headers"),
    FIELD(minute_view, VIEW_GAUGE, bytes_per_s, "bytes/s", "the same in a second, on average"),
    FIELD(minute_view, VIEW_GAUGE, lost_up, "packets", "contributions that were lost on their way"),
    FIELD(minute_view, VIEW_GAUGE, lost_down, "packets", "results that were"),
    FIELD_IF(minute_view, drops, VIEW_GAUGE, dropped, "frames", "that the switch has dropped (`drops`)"),
    FIELD(minute_view, VIEW_TEXT, latest_job, NULL,
          "TENANT/JOB whose rank was late most in all; empty: none was"),
    FIELD(minute_view, VIEW_CHARS, latest_rank, NULL, "that rank"),
    FIELD(minute_view, VIEW_GAUGE, late_us_mean, "us", "how late it was on average"),
    FIELD(minute_view, VIEW_TEXT, lossy_job, NULL,
          "TENANT/JOB whose rank lost most; empty: nothing was lost"),
    FIELD(minute_view, VIEW_CHARS, lossy_rank, NULL, "that rank"),
    END};

struct event_view {
    char time[VIEW_TIME_MAX];
    const char *what, *job, *tenant, *who, *text;
    uint64_t times;
};

static const struct view_field view_events_fields[] = {
    TABLE("events", "the last 256 of each kind, the oldest first"), END};

static const struct view_field view_events_row[] = {
    FIELD(event_view, VIEW_CHARS, time, NULL, "when, UTC; of what was the same several times, the last"),
    FIELD(event_view, VIEW_TEXT, what, NULL,
          "jobs have `began`, `ended`, `failed`, `warned`; a process was `refused`; the host was `operated`"),
    FIELD(event_view, VIEW_TEXT, job, NULL, "that it is about; empty, as what follows, where there is none"),
    FIELD(event_view, VIEW_TEXT, tenant, NULL, "whose job it is"),
    FIELD(event_view, VIEW_TEXT, who, NULL,
          "the rank that failed or is late; the address of the process that was refused; the user"),
    FIELD(event_view, VIEW_GAUGE, times, "times", "that it was so, one behind the other"),
    FIELD(event_view, VIEW_TEXT, text, NULL, "in words"),
    END};

#undef FIELD
#undef FIELD_IF
#undef TABLE
#undef END

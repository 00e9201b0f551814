#include "options_table.h"

#include <string.h>

#include "atp/topology.h"
#include "options.h"
#include "swagg.h"
#include "thc/table.h"
#include "wire/switchml.h"

static const char *const protocols[] = {"switchml", "atp", "auto", NULL};
static const char *const modes[] = {"ordered", "arrival", NULL};
static const char *const checksums[] = {"none", "crc32c", NULL};
static const char *const returns[] = {"complete", "buffered", NULL};
static const char *const uplinks[] = {"configured", "none", NULL};
static const char *const numbers[] = {"native", "int32", "fp16", NULL};
static const char *const compressions[] = {"none", "thc", NULL};
static const char *const progress_threads[] = {"off", "on", NULL};
static const char *const locals[] = {"auto", "off", NULL};
static const char *const feedbacks[] = {"tensor", "off", NULL};

enum { CLAMPED_ONE_IN_MOST = 1 << 20, PERCENT = 100, MTU_MAX = 65535 };

#define WORD(field, list, what)                                                                              \
    {                                                                                                        \
        .name = #field, .offset = offsetof(struct swagg_options, field), .form = OPTION_WORD, .words = list, \
        .meaning = what                                                                                      \
    }
#define NUMBER(field, from, to, by_default, what, ...)                                                       \
    {                                                                                                        \
        .name = #field, .offset = offsetof(struct swagg_options, field), .form = OPTION_NUMBER,              \
        .least = from, .most = to, .usual = by_default, .meaning = what, __VA_ARGS__                         \
    }
#define TEXT(field, what, ...)                                                                               \
    {                                                                                                        \
        .name = #field, .offset = offsetof(struct swagg_options, field), .form = OPTION_TEXT,                \
        .meaning = what, __VA_ARGS__                                                                         \
    }

const struct option_field option_fields[] = {
    TEXT(switch_ip, "the switch; or several, each of which sums a part of every call",
         .values = "IPv4 address, or up to 16 with commas between them", .otherwise = "required"),
    WORD(
        protocol, protocols,
        "how tensors are summed: in slots of the switch's; by ATP's parameter server and the switches on the "
        "way; or in slots, and where the switch has none left by ATP"),
    TEXT(server_ip, "ATP's parameter servers, which share each call's packets: swagg-ps, or a switch",
         .values = "IPv4 address, or up to 16 with commas between them", .otherwise = "the switch"),
    TEXT(job, "its name, the same on every rank", .values = "1 to 47 printable characters",
         .otherwise = "required"),
    NUMBER(size, 0, 0, 0, "how many ranks there are", .values = "1 to 1024", .otherwise = "required"),
    NUMBER(rank, 0, 0, 0, "which of them this is", .values = "0 to `size` - 1"),
    TEXT(key_file, "the file with the key that the switch's tenant has, on every host", .values = "a path",
         .otherwise = "none"),
    WORD(
        mode, modes,
        "in which order the switch adds: by rank, reproducibly; or as packets come, with less of its memory"),
    WORD(checksum, checksums, "`crc32c`: packets have one from end to end, in the place of UDP's checksum"),
    WORD(reduce, returns,
         "when a reduce returns on ranks that are not the root: when the sum is complete, or when their part "
         "is buffered"),
    WORD(progress_thread, progress_threads,
         "`on`: a thread of the job's goes on with posted calls while the program computes"),
    WORD(uplink, uplinks,
         "`none`: sums go no further than this switch, for jobs whose ranks are all at one switch of a tree"),
    WORD(numbers, numbers,
         "how floats travel: as they are; as int32 with a scale for each packet, as SwitchML has it; or as "
         "16-bit floats with a scale"),
    WORD(compression, compressions, "`thc`: large sums of float32 are **approximate**, in fewer bytes"),
    NUMBER(thc_bits, 1, THC_MOST_BITS, 4, "of a compressed number on its way to the switch"),
    NUMBER(thc_sum_bits, 0, 0, 0, "of a compressed sum on its way back", .values = "8 or 16",
           .otherwise = "8 if it fits, else 16"),
    NUMBER(thc_granularity, 0, 0, 30, "of THC's table: the finer, the less error",
           .values = "2^`thc_bits` - 1 to 255", .otherwise = "30, or less to fit sums of 8 bits"),
    NUMBER(thc_clamped_one_in, 2, CLAMPED_ONE_IN_MOST, 32, "how rare the numbers are that are cut off"),
    NUMBER(thc_block, 0, 0, 4096, "floats that are rotated at once", .values = "a power of two, 64 and more"),
    NUMBER(compress_least, 1, INT32_MAX, 16384, "calls of fewer floats stay exact"),
    WORD(feedback, feedbacks,
         "what compression leaves out of a tensor is added to it the next time; `off`: for programs whose "
         "buffers hold now this tensor, now that"),
    {.name = "feedback_bytes",
     .offset = offsetof(struct swagg_options, feedback_bytes),
     .form = OPTION_NUMBER,
     .usual = 1 << 30,
     .values = "bytes",
     .otherwise = "1 GiB",
     .meaning = "for that, at most: 4 an element. The tensor used longest ago is forgotten first"},
    NUMBER(best_effort_ms, 1, INT32_MAX, 0,
           "compressed sums that come so much later than the last one count as zeros", .otherwise = "never"),
    NUMBER(quorum, 0, 0, 0, "so many ranks are enough for a sum", .values = "1 to `size`",
           .otherwise = "all ranks"),
    NUMBER(quorum_percent, 1, PERCENT, 0, "the same as a share of the ranks, rounded up",
           .otherwise = "all ranks"),
    NUMBER(quorum_wait_ms, 0, 0, 0, "how long the ranks beyond the quorum are waited for",
           .values = "0 to 65535"),
    NUMBER(slots, 2, SML_MAX_SLOTS, 1024, "wanted from the switch for each job"),
    NUMBER(window, 1, SML_MAX_SLOTS, 0, "chunks in flight, at most", .otherwise = "adapts"),
    NUMBER(ranks_per_rack, 1, ATP_LEVEL, ATP_LEVEL,
           "for ATP: how many ranks, in their order, are at one switch that sums"),
    NUMBER(server_rack, 1, ATP_LEVEL, 0,
           "for ATP: the parameter servers are at the switch of this rack's ranks", .otherwise = "none"),
    WORD(local, locals,
         "whether ranks of one host sum in its memory first, so that only one sum a host goes to the switch; "
         "`off`: in the "
         "order of ranks, wherever they run"),
    NUMBER(local_ranks, 1, CTL_RANKS_MAX, 0,
           "how many of the ranks run on this host. If it is all of them, nothing goes to the network",
           .otherwise = "found out"),
    TEXT(local_directory,
         "where ranks of one host meet that are in different network namespaces, such as containers that "
         "have this "
         "directory in common",
         .values = "a path", .otherwise = "none"),
    NUMBER(mtu, CLIENT_MTU_MIN, MTU_MAX, 0,
           "bytes of an IP packet, at most: to be set where the network takes long packets but loses them",
           .otherwise = "as much as gets through"),
    TEXT(transport,
         "what carries the packets: the kernel's sockets; or a device that DPDK drives, for this process "
         "alone",
         .values = "`kernel`, or `dpdk:` and a device of DPDK's with its arguments", .otherwise = "`kernel`"),
    TEXT(address, "with a device: this rank's own address and the length of its subnet's prefix",
         .values = "like 10.0.0.1/24", .otherwise = "the kernel's"),
    TEXT(gateway, "with a device: the way to a switch that is not in that subnet", .values = "IPv4 address",
         .otherwise = "none"),
    TEXT(eal, "with a device: further arguments of DPDK's EAL, the same for all jobs of a process",
         .values = "words like `--no-huge`", .otherwise = "none"),
    NUMBER(join_timeout_ms, 1, INT32_MAX, 30000, "until then all ranks must have joined"),
    NUMBER(call_timeout_ms, 1, INT32_MAX, 120000,
           "until then a call must be done; while this process stands still for a second and more, its clock "
           "does, too"),
    NUMBER(warn_after_ms, 1, INT32_MAX, 2000, "a call that waits so long logs who is missing"),
    NUMBER(answer_timeout_ms, 1, INT32_MAX, 3000,
           "a switch that is silent for so long when ranks join is not there; more where it shares its CPUs "
           "and may stand still for seconds"),
    {0},
};

const struct option_field *option_field_named(const char *name)
{
    const struct option_field *f = option_fields;

    while (strcmp(f->name, name) != 0)
        f++;
    return f;
}

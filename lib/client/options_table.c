#include "options_table.h"

#include <string.h>

#include "atp/topology.h"
#include "options.h"
#include "swagg.h"
#include "thc/table.h"
#include "transfer/messages.h"
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

#define WORD(field, in_environment, list, what)                                                              \
    {                                                                                                        \
        .name = #field, .variable = in_environment, .offset = offsetof(struct swagg_options, field),         \
        .form = OPTION_WORD, .words = list, .meaning = what                                                  \
    }
#define NUMBER(field, in_environment, from, to, by_default, what, ...)                                       \
    {                                                                                                        \
        .name = #field, .variable = in_environment, .offset = offsetof(struct swagg_options, field),         \
        .form = OPTION_NUMBER, .least = from, .most = to, .usual = by_default, .meaning = what, __VA_ARGS__  \
    }
#define TEXT(field, in_environment, what, ...)                                                               \
    {                                                                                                        \
        .name = #field, .variable = in_environment, .offset = offsetof(struct swagg_options, field),         \
        .form = OPTION_TEXT, .meaning = what, __VA_ARGS__                                                    \
    }

const struct option_field option_fields[] = {
    TEXT(switch_ip, "SWAGG_SWITCH", "the switch; or several, each of which sums a part of every call",
         .values = "IPv4 address, or up to 16 with commas between them", .otherwise = "required"),
    WORD(
        protocol, "SWAGG_PROTOCOL", protocols,
        "how tensors are summed: in slots of the switch's; by ATP's parameter server and the switches on the "
        "way; or in slots, and where the switch has none left by ATP"),
    TEXT(server_ip, "SWAGG_SERVER",
         "ATP's parameter servers, which share each call's packets: swagg-ps, or a switch",
         .values = "IPv4 address, or up to 16 with commas between them", .otherwise = "the switch"),
    TEXT(job, NULL, "its name, the same on every rank", .values = "1 to 47 printable characters",
         .otherwise = "required"),
    NUMBER(size, NULL, 0, 0, 0, "how many ranks there are", .values = "1 to 1024", .otherwise = "required"),
    NUMBER(rank, NULL, 0, 0, 0, "which of them this is", .values = "0 to `size` - 1"),
    TEXT(key_file, "SWAGG_KEY_FILE", "the file with the key that the switch's tenant has, on every host",
         .values = "a path", .otherwise = "none"),
    WORD(
        mode, "SWAGG_MODE", modes,
        "in which order the switch adds: by rank, reproducibly; or as packets come, with less of its memory"),
    WORD(checksum, "SWAGG_CHECKSUM", checksums,
         "`crc32c`: packets have one from end to end, in the place of UDP's checksum"),
    WORD(reduce, "SWAGG_REDUCE", returns,
         "when a reduce returns on ranks that are not the root: when the sum is complete, or when their part "
         "is buffered"),
    WORD(progress_thread, "SWAGG_PROGRESS_THREAD", progress_threads,
         "`on`: a thread of the job's goes on with posted calls while the program computes"),
    WORD(uplink, "SWAGG_UPLINK", uplinks,
         "`none`: sums go no further than this switch, for jobs whose ranks are all at one switch of a tree"),
    WORD(numbers, "SWAGG_NUMBERS", numbers,
         "how floats travel: as they are; as int32 with a scale for each packet, as SwitchML has it; or as "
         "16-bit floats with a scale"),
    WORD(compression, "SWAGG_COMPRESSION", compressions,
         "`thc`: large sums of float32 are **approximate**, in fewer bytes"),
    NUMBER(thc_bits, "SWAGG_COMPRESSION_BITS", 1, THC_MOST_BITS, 4,
           "of a compressed number on its way to the switch"),
    NUMBER(thc_sum_bits, "SWAGG_THC_SUM_BITS", 0, 0, 0, "of a compressed sum on its way back",
           .values = "8 or 16", .otherwise = "8 if it fits, else 16"),
    NUMBER(thc_granularity, "SWAGG_THC_GRANULARITY", 0, 0, 30, "of THC's table: the finer, the less error",
           .values = "2^`thc_bits` - 1 to 255", .otherwise = "30, or less to fit sums of 8 bits"),
    NUMBER(thc_clamped_one_in, "SWAGG_THC_CLAMPED_ONE_IN", 2, CLAMPED_ONE_IN_MOST, 32,
           "how rare the numbers are that are cut off"),
    NUMBER(thc_block, "SWAGG_THC_BLOCK", 0, 0, 4096, "floats that are rotated at once",
           .values = "a power of two, 64 and more"),
    NUMBER(compress_least, "SWAGG_COMPRESS_LEAST", 1, INT32_MAX, 16384, "calls of fewer floats stay exact"),
    WORD(feedback, "SWAGG_FEEDBACK", feedbacks,
         "what compression leaves out of a tensor is added to it the next time; `off`: for programs whose "
         "buffers hold now this tensor, now that"),
    {.name = "feedback_bytes",
     .variable = "SWAGG_FEEDBACK_BYTES",
     .offset = offsetof(struct swagg_options, feedback_bytes),
     .form = OPTION_NUMBER,
     .usual = 1 << 30,
     .values = "bytes",
     .otherwise = "1 GiB",
     .meaning = "for that, at most: 4 an element. The tensor used longest ago is forgotten first"},
    NUMBER(best_effort_ms, "SWAGG_BEST_EFFORT_MS", 1, INT32_MAX, 0,
           "compressed sums that come so much later than the last one count as zeros", .otherwise = "never"),
    NUMBER(quorum, "SWAGG_QUORUM", 0, 0, 0, "so many ranks are enough for a sum", .values = "1 to `size`",
           .otherwise = "all ranks"),
    NUMBER(quorum_percent, "SWAGG_QUORUM_PERCENT", 1, PERCENT, 0,
           "the same as a share of the ranks, rounded up", .otherwise = "all ranks"),
    NUMBER(quorum_wait_ms, "SWAGG_QUORUM_WAIT_MS", 0, 0, 0,
           "how long the ranks beyond the quorum are waited for", .values = "0 to 65535"),
    NUMBER(slots, "SWAGG_SLOTS", 2, SML_MAX_SLOTS, 1024, "wanted from the switch for each job"),
    NUMBER(window, "SWAGG_WINDOW", 1, SML_MAX_SLOTS, 0, "chunks in flight, at most", .otherwise = "adapts"),
    NUMBER(ranks_per_rack, "SWAGG_RANKS_PER_RACK", 1, ATP_LEVEL, ATP_LEVEL,
           "for ATP: how many ranks, in their order, are at one switch that sums"),
    NUMBER(server_rack, "SWAGG_SERVER_RACK", 1, ATP_LEVEL, 0,
           "for ATP: the parameter servers are at the switch of this rack's ranks", .otherwise = "none"),
    WORD(local, "SWAGG_LOCAL", locals,
         "whether ranks of one host sum in its memory first, so that only one sum a host goes to the switch; "
         "`off`: in the "
         "order of ranks, wherever they run"),
    NUMBER(local_ranks, "SWAGG_LOCAL_RANKS", 1, CTL_RANKS_MAX, 0,
           "how many of the ranks run on this host. If it is all of them, nothing goes to the network",
           .otherwise = "found out"),
    TEXT(local_directory, "SWAGG_LOCAL_DIRECTORY",
         "where ranks of one host meet that are in different network namespaces, such as containers that "
         "have this "
         "directory in common",
         .values = "a path", .otherwise = "none"),
    NUMBER(threads, "SWAGG_THREADS", 1, CLIENT_THREADS_MAX, 0,
           "of this rank that share long calls, each with sockets of its own; the least of all ranks' counts",
           .otherwise = "by the link and the CPUs"),
    NUMBER(mtu, "SWAGG_MTU", CLIENT_MTU_MIN, MTU_MAX, 0,
           "bytes of an IP packet, at most: to be set where the network takes long packets but loses them",
           .otherwise = "as much as gets through"),
    TEXT(
        transport, "SWAGG_TRANSPORT",
        "what carries the packets: the kernel's sockets; or an RDMA device, the one that leads to the switch "
        "or this one; or a device that DPDK drives, for this process alone",
        .values = "`kernel`; `roce`, or `roce:` and a device; or `dpdk:` and a device of DPDK's with its "
                  "arguments",
        .otherwise = "`kernel`"),
    TEXT(address, "SWAGG_ADDRESS",
         "with a device: this rank's own address and the length of its subnet's prefix",
         .values = "like 10.0.0.1/24", .otherwise = "the kernel's"),
    TEXT(gateway, "SWAGG_GATEWAY", "with a device: the way to a switch that is not in that subnet",
         .values = "IPv4 address", .otherwise = "none"),
    TEXT(eal, "SWAGG_EAL",
         "with a device: further arguments of DPDK's EAL, the same for all jobs of a process",
         .values = "words like `--no-huge`", .otherwise = "none"),
    TEXT(gpu_driver, "SWAGG_GPU_DRIVER",
         "CUDA's driver, by which tensors in GPUs' memory are copied where the program has loaded it; `off`: "
         "tensors are the host's",
         .values = "a library's name or path, or `off`", .otherwise = "`libcuda.so.1`"),
    NUMBER(message_packets, "SWAGG_MESSAGE_PACKETS", 1, XFER_MESSAGE_MAX, 0,
           "by RoCE: packets that are one message of the NIC's, at most", .otherwise = "as measured"),
    NUMBER(join_timeout_ms, "SWAGG_JOIN_TIMEOUT_MS", 1, INT32_MAX, 30000,
           "until then all ranks must have joined"),
    NUMBER(call_timeout_ms, "SWAGG_CALL_TIMEOUT_MS", 1, INT32_MAX, 120000,
           "until then a call must be done; while this process stands still for a second and more, its clock "
           "does, too"),
    NUMBER(warn_after_ms, "SWAGG_WARN_AFTER_MS", 1, INT32_MAX, 2000,
           "a call that waits so long logs who is missing"),
    NUMBER(answer_timeout_ms, "SWAGG_ANSWER_TIMEOUT_MS", 1, INT32_MAX, 3000,
           "a switch that is silent for so long when ranks join is not there; more where it shares its CPUs "
           "and may stand still for seconds"),
    NUMBER(link_timeout_ms, "SWAGG_LINK_TIMEOUT_MS", 1, INT32_MAX, 10000,
           "of several switches one that is silent for so long, while another answers, is done without"),
    {0},
};

const struct option_field *option_field_named(const char *name)
{
    const struct option_field *f = option_fields;

    while (strcmp(f->name, name) != 0)
        f++;
    return f;
}

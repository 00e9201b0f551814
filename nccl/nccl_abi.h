/* What NCCL asks of a network plugin, as of version 8 of its interface: the facts of its public header, in
 * our own words. NCCL loads the library that NCCL_NET_PLUGIN names and looks up ncclNetPlugin_v8 and
 * ncclCollNetPlugin_v8, which are tables of functions.
 *
 * Functions return an enum nccl_result. Handles are NCCL's, HANDLE_MAX bytes, which it carries to other
 * ranks; what the functions make of them ("comms"), memory handles and requests are the plugin's. Functions
 * of one comm are not called by two threads at once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum nccl_result {
    NCCL_SUCCESS = 0,
    NCCL_SYSTEM_ERROR = 2,
    NCCL_INTERNAL_ERROR = 3,
    NCCL_INVALID_ARGUMENT = 4,
    NCCL_INVALID_USAGE = 5,
    NCCL_REMOTE_ERROR = 6,
};

enum nccl_type {
    NCCL_INT8 = 0,
    NCCL_UINT8 = 1,
    NCCL_INT32 = 2,
    NCCL_UINT32 = 3,
    NCCL_INT64 = 4,
    NCCL_UINT64 = 5,
    NCCL_FLOAT16 = 6,
    NCCL_FLOAT32 = 7,
    NCCL_FLOAT64 = 8,
    NCCL_BFLOAT16 = 9,
};

enum nccl_op { NCCL_SUM = 0, NCCL_PROD = 1, NCCL_MAX = 2, NCCL_MIN = 3, NCCL_AVG = 4 };

enum nccl_log_level { NCCL_LOG_WARN = 2, NCCL_LOG_INFO = 3 };
enum { NCCL_LOG_INIT = 1, NCCL_LOG_NET = 16 }; /* what a line is about */

typedef void nccl_logger_fn(enum nccl_log_level level, unsigned long about, const char *function, int line,
                            const char *format, ...);

enum { NCCL_HANDLE_MAX = 128, NCCL_REQUESTS_MAX = 32 }; /* requests of a comm at once */
enum { NCCL_MEMORY_HOST = 1 };                          /* bits: where buffers may be */

struct nccl_properties {
    char *name;
    char *pci_path; /* of /sys; NULL: unknown */
    uint64_t guid;
    int memory;
    int registered_globally;
    int speed; /* Mbit/s */
    int port;
    float latency; /* us; 0: unknown */
    int comms_max;
    int receives_max; /* of one irecv */
    int device_type;  /* 0: the host drives the network */
    int device_version;
};

struct nccl_net {
    const char *name;
    enum nccl_result (*init)(nccl_logger_fn *logger);
    enum nccl_result (*devices)(int *count);
    enum nccl_result (*get_properties)(int device, struct nccl_properties *properties);
    enum nccl_result (*listen)(int device, void *handle, void **listening);
    /* connect and accept never wait: success with no comm is to be called again, with the same handle. */
    enum nccl_result (*connect)(int device, void *handle, void **sending, void **on_device);
    enum nccl_result (*accept)(void *listening, void **receiving, void **on_device);
    enum nccl_result (*reg_mr)(void *comm, void *data, size_t size, int memory, void **mr);
    enum nccl_result (*reg_mr_dmabuf)(void *comm, void *data, size_t size, int memory, uint64_t offset,
                                      int fd, void **mr);
    enum nccl_result (*dereg_mr)(void *comm, void *mr);
    /* Both may return no request: to be called again. */
    enum nccl_result (*isend)(void *sending, void *data, int size, int tag, void *mr, void **request);
    enum nccl_result (*irecv)(void *receiving, int n, void **data, int *sizes, int *tags, void **mrs,
                              void **request);
    enum nccl_result (*iflush)(void *receiving, int n, void **data, int *sizes, void **mrs, void **request);
    enum nccl_result (*test)(void *request, int *done, int *sizes);
    enum nccl_result (*close_send)(void *sending);
    enum nccl_result (*close_recv)(void *receiving);
    enum nccl_result (*close_listen)(void *listening);
    enum nccl_result (*get_device_mr)(void *comm, void *mr, void **device_mr);
    enum nccl_result (*irecv_consumed)(void *receiving, int n, void *request);
};

struct nccl_part {
    void *mr;
    void *address;
    uint32_t size;
};

/* iallgather and ireducescatter are about a window of what all ranks have together, one rank's bytes behind
 * the other's: its bytes are in the part, and what of it is this rank's in `send` or `recv`. */
struct nccl_collnet {
    const char *name;
    enum nccl_result (*init)(nccl_logger_fn *logger);
    enum nccl_result (*devices)(int *count);
    enum nccl_result (*get_properties)(int device, struct nccl_properties *properties);
    enum nccl_result (*listen)(int device, void *handle, void **listening);
    enum nccl_result (*connect)(void *handles[], int ranks, int rank, void *listening, void **comm);
    enum nccl_result (*reduce_support)(enum nccl_type type, enum nccl_op op, int *supported);
    enum nccl_result (*reg_mr)(void *comm, void *data, size_t size, int memory, void **mr);
    enum nccl_result (*reg_mr_dmabuf)(void *comm, void *data, size_t size, int memory, uint64_t offset,
                                      int fd, void **mr);
    enum nccl_result (*dereg_mr)(void *comm, void *mr);
    enum nccl_result (*iallreduce)(void *comm, void *send, void *recv, int count, enum nccl_type type,
                                   enum nccl_op op, void *send_mr, void *recv_mr, void **request);
    enum nccl_result (*iallgather)(void *comm, void *send, int parts, struct nccl_part *part,
                                   size_t bytes_per_rank, size_t window_offset, size_t window_bytes,
                                   void *send_mr, void **request);
    enum nccl_result (*ireducescatter)(void *comm, int parts, struct nccl_part *part, void *recv,
                                       size_t bytes_per_rank, size_t window_offset, size_t window_bytes,
                                       enum nccl_type type, enum nccl_op op, void *recv_mr, void **request);
    enum nccl_result (*iflush)(void *comm, void *data, int size, void *mr, void **request);
    enum nccl_result (*test)(void *request, int *done, int *size);
    enum nccl_result (*close_coll)(void *comm);
    enum nccl_result (*close_listen)(void *listening);
};

extern const struct nccl_net ncclNetPlugin_v8;
extern const struct nccl_collnet ncclCollNetPlugin_v8;

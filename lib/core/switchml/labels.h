/* Which chunk a packet of a published client is about. Such a client numbers the packets of each tensor from
 * 0 (tsi), counts its tensors in the job's byte, and lets the slots go on from tensor to tensor; so the three
 * together are the chunk's label, and nothing but the order of labels tells old from new ("p4app-switchML",
 * client library, DPDK backend; docs/protocol.md, "Static jobs"). Pure and reentrant.
 *
 * The packet has the low 8 bits of its tensor's number. The others follow from the newest tensor that the job
 * was heard of: all threads of a client are in one tensor at a time, and it begins the next when it has all
 * sums of this one, which takes a contribution of every rank. So what anybody waits for is of the newest
 * tensor, of the one before it, or of the next; all other numbers are left for copies that come late. A slot,
 * or a thread, may rest for as long as it likes.
 */
#pragma once

#include "wire/switchml.h"

/* A number stands for a tensor that is newer than the newest by this at most, or older by 255 less this. Room
 * for clients whose threads are not in one tensor at a time. */
enum { SML_TENSORS_AHEAD = 31 };

struct sml_label {
    uint32_t tag;    /* number of the packet in its tensor */
    uint32_t tensor; /* modulo 2^32; byte 1 of the packet are its low 8 bits */
    uint8_t ver;
};

/* What a slot knows of such a job. */
struct sml_labels {
    struct sml_label now;    /* of the chunk that is being collected, while there are contributions */
    struct sml_label before; /* of the chunk completed last, if any was */
};

/* Where a chunk stands, as its slot sees it. */
enum sml_age {
    SML_NOW,    /* it is being collected, or may begin */
    SML_BEFORE, /* it was completed last */
    SML_OLDER,
    SML_NEWER, /* its sender cannot be that far */
};

/* newest: the newest tensor that the job was heard of. */
static inline struct sml_label sml_label_of(const struct sml_packet *p, uint32_t newest)
{
    const uint32_t furthest = newest + SML_TENSORS_AHEAD;

    return (struct sml_label){
        .tag = p->tag, .tensor = furthest - (uint8_t)(furthest - p->job), .ver = p->ver};
}

static inline bool sml_tensor_is_newer(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

/* By what the packets say alone. */
static inline bool sml_label_equal(const struct sml_label *a, const struct sml_label *b)
{
    return a->tag == b->tag && (uint8_t)a->tensor == (uint8_t)b->tensor && a->ver == b->ver;
}

/* Of two chunks of one slot. Tensors and packets are serial numbers (RFC 1982). */
static inline bool sml_label_is_newer(const struct sml_label *a, const struct sml_label *b)
{
    if (a->tensor != b->tensor)
        return sml_tensor_is_newer(a->tensor, b->tensor);
    return (int32_t)(a->tag - b->tag) > 0;
}

/* A worker uses a slot's versions in turn, so the next chunk has the other one and a newer label. A slot
 * that has completed nothing takes any chunk. */
static inline enum sml_age sml_label_age(const struct sml_labels *slot, const struct sml_label *p,
                                         bool collecting, bool completed)
{
    if (collecting && sml_label_equal(p, &slot->now))
        return SML_NOW;
    if (completed && sml_label_equal(p, &slot->before))
        return SML_BEFORE;
    if (collecting)
        return sml_label_is_newer(p, &slot->now) ? SML_NEWER : SML_OLDER;
    if (!completed)
        return SML_NOW;
    if (!sml_label_is_newer(p, &slot->before))
        return SML_OLDER;
    return p->ver != slot->before.ver ? SML_NOW : SML_NEWER;
}

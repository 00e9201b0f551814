/* The slots of a SwitchML job in a tree of switches (SwitchML paper, section 7; docs/protocol.md, "Trees of
 * switches"): a pool (switchml/pool.h) in the role of one switch of the tree. It is a struct sml_pool, and
 * sml_pool_locate, sml_pool_apply and sml_pool_drain take it; what they call ranks are contributors here
 * (protocol/tree.h).
 *
 * The root is like a job's only switch, but that a contribution may stand for several ranks: averages are
 * divided by the number of ranks, and what names ranks (WAIT, MISMATCH, checksums) names those of the whole
 * job.
 *
 * A switch with one above it is a worker of that one. In its slot, of chunk `expected`, by where a packet is
 * from:
 *
 * - below, a contribution, not the last: held.
 * - below, the last contribution: the sum of those below goes up, as the one contribution of them all. It
 * waits in the slot for the result.
 * - below, PROBE or ASK: the sender is answered, WAIT or NACK. The question goes up (ASK, with the ranks that
 *   have contributed here), if the sender has contributed or the chunk may be complete above.
 * - below, a contribution again: ASK goes up, if the chunk may be complete above.
 * - below, RESTORE: it goes up, with WANT, if this slot has completed nothing since the job was resumed.
 * - above, a result: it completes the chunk here, to all below. Not a result without elements while somebody
 *   below may want them.
 * - above, NACK: the sum again, if all below are in it.
 * - above, WAIT: noted, for answers to those below.
 * - above, MISMATCH: to the contributor with the lowest rank, in whose name the sum went up.
 * - above, REJECT: to all below. They ask on their control ports what has happened.
 *
 * A chunk may be complete above if all below have contributed; or if the job was resumed and the slot has
 * completed nothing since, for a rank elsewhere may have handed back its sum.
 *
 * Questions go up only when somebody asks, so there are no timers here. Of several askers the first is passed
 * up, and whoever asks again.
 *
 * So nobody below gets a sum but the root's, and the root sees a contribution of a switch only when all its
 * ranks have contributed in this life of the job. What holds for ranks at one switch therefore holds here: a
 * rank that has a chunk's sum does not contribute to it again, so neither does any switch above it.
 *
 * In a keyed job a switch shares one secret with those below and, as a member of the parent's job, another
 * with that one: what comes from the one side is proven anew to the other, in the name of the lowest rank
 * below. With one secret for both, a rank's packet to its switch could be sent on as the sum of all.
 *
 * Memory, threads and rules for buffers are the pool's. A partial sum is built as a result is: in the frame
 * that was kept for it, if there is one; when the result comes, that one is released and the result's is
 * kept.
 */
#pragma once

#include "protocol/tree.h"
#include "switchml/pool.h"

/* As sml_pool_footprint and sml_pool_init. cfg->workers: contributors; cfg's role, ranks and role_bytes are
 * filled in here. 0, too, if the tree's table is not one: not all contributors in the order of their lowest
 * ranks, or nobody's ranks without a parent; if the pool is labelled, or has tag_bits; if it is keyed, and
 * nothing is shared with the parent. The table is copied. */
size_t relay_slots_footprint(const struct sml_pool_config *cfg, const struct agg_node *tree);
struct sml_pool *relay_slots_init(void *mem, const struct sml_pool_config *cfg, const struct agg_node *tree);

/* As sml_pool_view and sml_pool_view_rank, but by ranks of the whole job. Of ranks that come by the switch
 * above nothing is known. */
void relay_slots_view(const struct sml_pool *pool, uint16_t slot, struct agg_slot_view *view);
bool relay_slots_view_rank(const struct sml_pool *pool, uint16_t rank, struct agg_rank_view *view);

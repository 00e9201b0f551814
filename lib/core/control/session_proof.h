/* A worker's side of keys: sealing what it says, and what it believes; for session.c only. Without a key
 * nothing is sealed, and all that is not is believed. */
#ifndef SWAGG_CORE_CONTROL_SESSION_PROOF_H
#define SWAGG_CORE_CONTROL_SESSION_PROOF_H

#include "control/session.h"

/* Appends the seal; returns the length of both. */
size_t ctl_session_seal(const struct ctl_session *s, uint8_t *message, size_t bytes);

/* Whether a message, which parsing has found so, shows that the switch sent it, and that it is no older than
 * the newest answer. Counts what does not. Fills in *seal if there is one. */
bool ctl_session_is_proven(struct ctl_session *s, const struct ctl_message *m, enum ctl_parse_error parsed,
                           const uint8_t *payload, size_t bytes, struct ctl_seal *seal);

/* A message that was believed answers this serial. Returns whether it is a sign of life: with a key, a copy
 * is none. */
bool ctl_session_note_answered(struct ctl_session *s, uint32_t serial);

/* READY has come, with this head: takes the job's secret out of it. */
void ctl_session_uncover(struct ctl_session *s, const struct ctl_head *h);

#endif

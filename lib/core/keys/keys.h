/* Shared keys: what the core asks of a cryptographic library, and what it makes of a tenant's secret
 * (docs/protocol.md, "Keys").
 *
 * Pure and reentrant. Nothing here is random: whoever makes a secret takes it from a generator for secrets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KEYS_SECRET_BYTES = 32,
    KEYS_HASH_BYTES = 32,
    KEYS_SHORT_BYTES = 16, /* of the key of short_hash */
};

/* A hash is taken of pieces, one after the other. */
struct keys_piece {
    const void *at;
    size_t bytes;
};

/* The functions of a library. Both are pseudorandom functions: who lacks the key can neither compute a result
 * nor tell it from random bits, whatever results of other inputs he has seen. Any thread may call them. */
struct keys_library {
    /* BLAKE2b of 32 bytes with a key (RFC 7693). */
    void (*hash)(uint8_t out[KEYS_HASH_BYTES], const uint8_t key[KEYS_SECRET_BYTES],
                 const struct keys_piece pieces[], unsigned n);
    /* SipHash-2-4 ("SipHash: a fast short-input PRF", Aumasson and Bernstein, INDOCRYPT 2012), its result
     * read as little endian. */
    uint64_t (*short_hash)(const uint8_t key[KEYS_SHORT_BYTES], const void *in, size_t bytes);
};

/* What is made of a tenant's secret, so that each key has one use. */
struct keys_key {
    uint64_t id;                        /* names the key on the wire; tells nothing of it */
    uint8_t control[KEYS_SECRET_BYTES]; /* of the tags of control messages */
    uint8_t cover[KEYS_SECRET_BYTES];   /* of what hides the secret of a job in READY */
};
void keys_derive(struct keys_key *key, const struct keys_library *library,
                 const uint8_t secret[KEYS_SECRET_BYTES]);

/* Hides the secret of a job in READY, or shows it again: the exclusive or with what this key makes of the
 * three numbers, which are never the same twice. in may be out. */
struct keys_life {
    uint64_t boot_id, incarnation;
    uint32_t epoch;
};
void keys_cover(uint8_t out[KEYS_SECRET_BYTES], const struct keys_library *library,
                const struct keys_key *key, const struct keys_life *life,
                const uint8_t in[KEYS_SECRET_BYTES]);

/* What the members of a job and the switch share, and the library to use it by. */
struct keys_secret {
    const struct keys_library *library; /* outlives whatever is made of the secret */
    uint8_t secret[KEYS_SECRET_BYTES];
};

/* Fills out with bytes that follow from the secret and what they are for, and look random to everybody else:
 * the hashes, with the secret, of the words what_for and the block's number (4 bytes, big endian). */
void keys_expand(uint8_t *out, size_t bytes, const struct keys_secret *shared, const char *what_for);

/* Whether they are the same, in a time that does not tell where they differ. */
bool keys_equal(const uint8_t *a, const uint8_t *b, size_t bytes);

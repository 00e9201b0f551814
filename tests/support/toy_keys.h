/* A library of keyed hashes for tests: quick, the same on every machine, and no secret from anybody. */
#pragma once

#include <string.h>

#include "keys/keys.h"
#include "random/splitmix.h"

static inline uint64_t toy_mix(uint64_t state, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        state ^= bytes[i];
        state = splitmix_next(&state);
    }
    return state;
}

static inline void toy_hash(uint8_t out[KEYS_HASH_BYTES], const uint8_t key[KEYS_SECRET_BYTES],
                            const struct keys_piece pieces[], unsigned n)
{
    uint64_t state = toy_mix(1, key, KEYS_SECRET_BYTES);
    for (unsigned i = 0; i < n; i++)
        state = toy_mix(state, pieces[i].at, pieces[i].bytes);
    for (unsigned i = 0; i < KEYS_HASH_BYTES; i += sizeof(uint64_t)) {
        uint64_t word = splitmix_next(&state);
        memcpy(out + i, &word, sizeof word);
    }
}

static inline uint64_t toy_short_hash(const uint8_t key[KEYS_SHORT_BYTES], const void *in, size_t bytes)
{
    return toy_mix(toy_mix(2, key, KEYS_SHORT_BYTES), in, bytes);
}

static const struct keys_library toy_library = {.hash = toy_hash, .short_hash = toy_short_hash};

/* What is made of the secret that consists of this byte. */
static inline struct keys_key toy_key(uint8_t byte)
{
    uint8_t secret[KEYS_SECRET_BYTES];
    struct keys_key key;
    memset(secret, byte, sizeof secret);
    keys_derive(&key, &toy_library, secret);
    return key;
}

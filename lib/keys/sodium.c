#include "sodium_keys.h"

#include <sodium.h>

_Static_assert((int)KEYS_SHORT_BYTES == (int)crypto_shorthash_KEYBYTES, "SipHash's key");
_Static_assert((int)KEYS_SECRET_BYTES <= (int)crypto_generichash_KEYBYTES_MAX, "BLAKE2b's key");

static void hash(uint8_t out[KEYS_HASH_BYTES], const uint8_t key[KEYS_SECRET_BYTES],
                 const struct keys_piece pieces[], unsigned n)
{
    crypto_generichash_state state;

    crypto_generichash_init(&state, key, KEYS_SECRET_BYTES, KEYS_HASH_BYTES);
    for (unsigned i = 0; i < n; i++)
        crypto_generichash_update(&state, pieces[i].at, pieces[i].bytes);
    crypto_generichash_final(&state, out, KEYS_HASH_BYTES);
}

static uint64_t short_hash(const uint8_t key[KEYS_SHORT_BYTES], const void *in, size_t bytes)
{
    uint8_t out[crypto_shorthash_BYTES];
    uint64_t value = 0;

    crypto_shorthash(out, in, bytes, key);
    for (unsigned i = sizeof(out); i-- > 0;)
        value = value << 8 | out[i];
    return value;
}

const struct keys_library *keys_sodium(void)
{
    static const struct keys_library library = {.hash = hash, .short_hash = short_hash};

    return sodium_init() < 0 ? NULL : &library;
}

void keys_erase(void *secret, size_t bytes)
{
    sodium_memzero(secret, bytes);
}

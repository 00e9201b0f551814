#include "keys/keys.h"

#include <string.h>

static void derive(uint8_t out[KEYS_HASH_BYTES], const struct keys_library *library,
                   const uint8_t secret[KEYS_SECRET_BYTES], const char *what_for)
{
    const struct keys_piece label = {what_for, strlen(what_for)};

    library->hash(out, secret, &label, 1);
}

static uint64_t little_endian(const uint8_t *bytes, size_t n)
{
    uint64_t value = 0;

    while (n-- > 0)
        value = value << 8 | bytes[n];
    return value;
}

static void put(uint8_t *out, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(value >> 8 * (n - 1 - i));
}

void keys_derive(struct keys_key *key, const struct keys_library *library,
                 const uint8_t secret[KEYS_SECRET_BYTES])
{
    uint8_t id[KEYS_HASH_BYTES];

    derive(id, library, secret, "swagg key id");
    key->id = little_endian(id, sizeof(key->id));
    derive(key->control, library, secret, "swagg control");
    derive(key->cover, library, secret, "swagg job secret");
}

void keys_cover(uint8_t out[KEYS_SECRET_BYTES], const struct keys_library *library,
                const struct keys_key *key, const struct keys_life *life, const uint8_t in[KEYS_SECRET_BYTES])
{
    uint8_t numbers[20], cover[KEYS_HASH_BYTES];
    const struct keys_piece piece = {numbers, sizeof(numbers)};

    put(numbers, life->boot_id, 8);
    put(numbers + 8, life->incarnation, 8);
    put(numbers + 16, life->epoch, 4);
    library->hash(cover, key->cover, &piece, 1);
    for (unsigned i = 0; i < KEYS_SECRET_BYTES; i++)
        out[i] = in[i] ^ cover[i];
}

void keys_expand(uint8_t *out, size_t bytes, const struct keys_secret *shared, const char *what_for)
{
    uint8_t number[4], block[KEYS_HASH_BYTES];
    const struct keys_piece pieces[] = {{what_for, strlen(what_for)}, {number, sizeof(number)}};

    for (uint32_t i = 0; bytes > 0; i++) {
        const size_t n = bytes < sizeof(block) ? bytes : sizeof(block);

        put(number, i, sizeof(number));
        shared->library->hash(block, shared->secret, pieces, 2);
        memcpy(out, block, n);
        out += n;
        bytes -= n;
    }
}

bool keys_equal(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    volatile uint8_t differ = 0;

    for (size_t i = 0; i < bytes; i++)
        differ = (uint8_t)(differ | (a[i] ^ b[i]));
    return differ == 0;
}

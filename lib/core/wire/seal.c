#include "wire/seal.h"

#include <string.h>

#include "wire/bytes.h"

enum { KEY_ID = 0, CHALLENGE = 8, TAG = 16, TAG_BYTES = CTL_SEAL_BYTES - TAG };

static void make_tag(uint8_t tag[KEYS_HASH_BYTES], const struct keys_library *library,
                     const struct keys_key *key, const struct ctl_address *worker, const uint8_t *message,
                     size_t bytes)
{
    uint8_t unsent[] = {'s', 'w', 'a', 'g', 'g', 0, 0, 0, 0, 0, 0};
    const struct keys_piece pieces[] = {{unsent, sizeof(unsent)}, {message, bytes}};

    memcpy(unsent + 5, &worker->ip, sizeof(worker->ip));
    put_be16(unsent + 9, worker->udp_port);
    library->hash(tag, key->control, pieces, 2);
}

size_t ctl_seal_append(uint8_t *message, size_t bytes, const struct keys_library *library,
                       const struct keys_key *key, const struct ctl_address *worker, uint64_t challenge)
{
    uint8_t *seal = message + bytes, tag[KEYS_HASH_BYTES];

    put_be64(seal + KEY_ID, key->id);
    put_be64(seal + CHALLENGE, challenge);
    make_tag(tag, library, key, worker, message, bytes + TAG);
    memcpy(seal + TAG, tag, TAG_BYTES);
    return bytes + CTL_SEAL_BYTES;
}

bool ctl_seal_parse(struct ctl_seal *seal, const uint8_t *message, size_t bytes)
{
    if (bytes < CTL_HEAD_BYTES + CTL_SEAL_BYTES)
        return false;
    message += bytes - CTL_SEAL_BYTES;
    seal->key_id = get_be64(message + KEY_ID);
    seal->challenge = get_be64(message + CHALLENGE);
    return true;
}

bool ctl_seal_holds(const uint8_t *message, size_t bytes, const struct keys_library *library,
                    const struct keys_key *key, const struct ctl_address *worker)
{
    uint8_t tag[KEYS_HASH_BYTES];

    make_tag(tag, library, key, worker, message, bytes - TAG_BYTES);
    return keys_equal(tag, message + bytes - TAG_BYTES, TAG_BYTES);
}

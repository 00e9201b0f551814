/* The library's hashes and what is made of them, against other implementations (Python's hashlib); a sealed
 * message byte by byte; files with keys. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "key_file.h"
#include "unit.h"
#include "wire/seal.h"

static const struct keys_library *library;
static uint8_t secret[KEYS_SECRET_BYTES]; /* 00 01 02 ... 1f */

static bool is_hex(const uint8_t *bytes, size_t n, const char *hex)
{
    char text[2 * CTL_MESSAGE_MAX + 1] = "";
    for (size_t i = 0; i < n; i++)
        sprintf(text + 2 * i, "%02x", bytes[i]);
    return strcmp(text, hex) == 0;
}

TEST(hash_is_blake2b)
{
    const struct keys_piece pieces[] = {{"a", 1}, {"", 0}, {"bc", 2}};
    uint8_t out[KEYS_HASH_BYTES];
    library->hash(out, secret, pieces, 3);
    CU_ASSERT(is_hex(out, sizeof out, "d63a32d3e44738d7907f964316c241adaba0abfeabc32349677578a15a203f7f"));
}

/* The example in the paper's appendix A. */
TEST(short_hash_is_siphash)
{
    CU_ASSERT_EQUAL(library->short_hash(secret, secret, 15), UINT64_C(0xa129ca6149be45e5));
}

TEST(derived_keys)
{
    static const struct keys_life life = {.boot_id = UINT64_C(0x0102030405060708),
                                          .incarnation = UINT64_C(0x1112131415161718),
                                          .epoch = 0x21222324};
    struct keys_key key;
    uint8_t covered[KEYS_SECRET_BYTES] = {0};
    keys_derive(&key, library, secret);
    CU_ASSERT_EQUAL(key.id, UINT64_C(0x8e7d3f5b21829cdf));
    CU_ASSERT(is_hex(key.control, 32, "f124d83db71defc905bf6ba728a9702f2853f187aa1f3ece423f4b2f6ead3159"));
    CU_ASSERT(is_hex(key.cover, 32, "99330730e425c027b7de11763d4a0562a5c5198ceae207774950b0c911d5af79"));
    keys_cover(covered, library, &key, &life, covered);
    CU_ASSERT(is_hex(covered, 32, "63fcdb69c39a5d0d69bdd87b1024908df80f29acbdde7804f19a0d7668c13b51"));
    keys_cover(covered, library, &key, &life, covered);
    CU_ASSERT(is_hex(covered, 32, "0000000000000000000000000000000000000000000000000000000000000000"));
}

/* The example in docs/protocol.md. */
TEST(a_sealed_message)
{
    static const struct ctl_message m = {
        .head = {.type = CTL_HEARTBEAT,
                 .version = CTL_VERSION,
                 .sealed = true,
                 .boot_id = UINT64_C(0x0102030405060708),
                 .incarnation = UINT64_C(0x1112131415161718),
                 .epoch = 0x21222324,
                 .rank = 1,
                 .size = 2,
                 .serial = 7},
        .heartbeat = {
            .calls = 5, .waiting = true, .progress = 9, .window = 64, .resumed = 1, .retransmitted = 2}};
    struct ctl_address worker = {.udp_port = 40001};
    struct keys_key key;
    struct ctl_seal seal;
    struct ctl_message parsed;
    uint8_t out[CTL_MESSAGE_MAX];
    memcpy(&worker.ip, "\x0a\x00\x00\x01", 4);
    keys_derive(&key, library, secret);
    size_t bytes =
        ctl_seal_append(out, ctl_build(out, &m), library, &key, &worker, UINT64_C(0x3132333435363738));
    CU_ASSERT(is_hex(out, bytes,
                     "53574147020201000102030405060708111213141516171821222324000100020000000700000000"
                     "0000000501000000000000000000000900000040000000010000000000000002"
                     "8e7d3f5b21829cdf31323334353637383f05cc0b3e95817a621251db93559828"));
    CU_ASSERT_EQUAL(ctl_parse(&parsed, out, bytes), CTL_PARSED);
    CU_ASSERT(parsed.head.sealed);
    CU_ASSERT(ctl_seal_parse(&seal, out, bytes));
    CU_ASSERT_EQUAL(seal.key_id, key.id);
    CU_ASSERT_EQUAL(seal.challenge, UINT64_C(0x3132333435363738));
    CU_ASSERT(ctl_seal_holds(out, bytes, library, &key, &worker));
    for (size_t i = 0; i < 8 * bytes; i++) {
        out[i / 8] ^= (uint8_t)(1 << i % 8);
        CU_ASSERT(!ctl_seal_holds(out, bytes, library, &key, &worker));
        out[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t n = CTL_HEAD_BYTES + CTL_SEAL_BYTES; n < bytes; n++)
        CU_ASSERT(!ctl_seal_holds(out, n, library, &key, &worker));
    CU_ASSERT(!ctl_seal_parse(&seal, out, CTL_HEAD_BYTES + CTL_SEAL_BYTES - 1));
    worker.udp_port++;
    CU_ASSERT(!ctl_seal_holds(out, bytes, library, &key, &worker));
    worker.udp_port--;
    worker.ip ^= 1;
    CU_ASSERT(!ctl_seal_holds(out, bytes, library, &key, &worker));
}

#define KEY_A "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define KEY_B "FF0102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"

TEST(key_files)
{
    static const struct {
        const char *text;
        mode_t mode;
        unsigned keys;
        const char *says;
    } cases[] = {
        {KEY_A "\n", 0600, 1, ""},
        {KEY_A, 0640, 1, ""},
        {"# present\n" KEY_A " # since May\n\n  " KEY_B "\t\r\n", 0400, 2, ""},
        {KEY_A "\n", 0644, 0, "chmod g-w,o-rwx"},
        {KEY_A "\n", 0602, 0, "chmod g-w,o-rwx"},
        {KEY_A "\n", 0660, 0, "chmod g-w,o-rwx"},
        {"", 0600, 0, "openssl rand -hex 32"},
        {"# none\n", 0600, 0, "has no key"},
        {KEY_A "\nabc\n", 0600, 0, "line 2 is no key"},
        {KEY_A "00\n", 0600, 0, "64 hexadecimal digits"},
        {"g" KEY_A, 0600, 0, "line 1 is no key"},
        {KEY_A "\n" KEY_B "\n" KEY_A, 0600, 0, "line 3 is one key too many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/swagg-keys-XXXXXX", why[KEY_FILE_WHY_MAX] = "";
        struct key_file f;
        int fd = mkstemp(path);
        CU_ASSERT_FATAL(fd >= 0);
        CU_ASSERT_EQUAL(write(fd, cases[i].text, strlen(cases[i].text)), (ssize_t)strlen(cases[i].text));
        CU_ASSERT_EQUAL(fchmod(fd, cases[i].mode), 0);
        CU_ASSERT_EQUAL(key_file_read(&f, path, why) == 0, cases[i].keys > 0);
        if (cases[i].keys > 0) {
            CU_ASSERT_EQUAL(f.keys, cases[i].keys);
            CU_ASSERT_EQUAL(f.key[0].id, UINT64_C(0x8e7d3f5b21829cdf));
        } else {
            CU_ASSERT_PTR_NOT_NULL(strstr(why, path));
            CU_ASSERT_PTR_NOT_NULL(strstr(why, cases[i].says));
        }
        close(fd);
        unlink(path);
        CU_ASSERT(key_file_read(&f, path, why) < 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(why, "No such file"));
    }
}

TEST(no_key_files)
{
    char why[KEY_FILE_WHY_MAX];
    struct key_file f;
    CU_ASSERT(key_file_read(&f, "/tmp", why) < 0);
    CU_ASSERT(key_file_read(&f, "/dev/zero", why) < 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "is not a file"));
}

int main(void)
{
    for (unsigned i = 0; i < sizeof secret; i++)
        secret[i] = (uint8_t)i;
    library = keys_sodium();
    return library ? unit_main() : 1;
}

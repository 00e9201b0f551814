/* Data packets: any payload, parsed; what parses can be built again, byte for byte, with a checksum or an
 * authenticator that holds. */
#include "fuzz.h"
#include "toy_keys.h"
#include "wire/switchml.h"

static void check_call(const uint8_t *body, size_t bytes)
{
    struct xfer_call call, again;
    uint8_t built[XFER_CALL_BYTES];
    if (!xfer_parse_call(&call, body, bytes)) {
        REQUIRE(bytes < XFER_CALL_BYTES);
        return;
    }
    xfer_build_call(built, &call);
    REQUIRE(xfer_parse_call(&again, built, sizeof built) && xfer_call_equal(&call, &again));
}

static void check_mismatch(const uint8_t *body, size_t bytes)
{
    struct xfer_mismatch mismatch, again;
    uint8_t built[XFER_MISMATCH_BYTES];
    REQUIRE(xfer_parse_mismatch(&mismatch, body, bytes));
    xfer_build_mismatch(built, &mismatch);
    REQUIRE(xfer_parse_mismatch(&again, built, sizeof built));
    REQUIRE(again.your_tag == mismatch.your_tag && again.peer_bytes == mismatch.peer_bytes &&
            xfer_call_equal(&again.peers, &mismatch.peers));
}

/* Of a secret that the input has not been made with. */
static void check_authenticator(const struct sml_packet *p, const uint8_t *data)
{
    static const struct keys_secret shared = {.library = &toy_library};
    const struct xfer_route route = {.sender = 1, .receiver = XFER_SWITCH, .wraps = 2};
    const size_t bytes = SML_HEADER_BYTES + p->body_bytes;
    uint8_t *built = malloc(bytes + XFER_AUTH_BYTES);
    struct xfer_auth *auth =
        xfer_auth_init(malloc(xfer_auth_footprint(p->body_bytes)), &shared, p->body_bytes);
    struct sml_packet again = *p;
    memcpy(built, data, bytes);
    again.body = built + SML_HEADER_BYTES;
    xfer_auth_build(built + bytes, auth, &route, built, SML_HEADER_BYTES, again.body, p->body_bytes);
    REQUIRE(sml_auth_holds(auth, &route, &again, 0));
    bool same = memcmp(built + bytes, data + bytes, XFER_AUTH_BYTES) == 0;
    REQUIRE(sml_auth_holds(auth, &route, p, 0) == same);
    free(auth);
    free(built);
}

static void check_checksum(const struct sml_packet *p, const uint8_t *data)
{
    size_t bytes = SML_HEADER_BYTES + p->body_bytes;
    uint8_t *built = malloc(bytes + XFER_TRAILER_BYTES);
    struct sml_packet again = *p;
    REQUIRE(!sml_checksum_holds(p, !p->checksum, 1));
    memcpy(built, data, bytes);
    again.body = built + SML_HEADER_BYTES;
    sml_build_trailer(built + bytes, 1, data, SML_HEADER_BYTES, p->body, p->body_bytes);
    REQUIRE(sml_checksum_holds(&again, p->checksum, 1));
    bool same =
        p->checksum == XFER_CHECKSUM_NONE || memcmp(built + bytes, data + bytes, XFER_TRAILER_BYTES) == 0;
    REQUIRE(sml_checksum_holds(p, p->checksum, 1) == same);
    free(built);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sml_packet p;
    uint8_t head[SML_HEADER_BYTES];
    if (sml_parse(&p, data, size) != SML_OK)
        return 0;
    REQUIRE(size >= SML_HEADER_BYTES && p.body == data + SML_HEADER_BYTES &&
            p.body_bytes + xfer_trailer_bytes(p.checksum) == size - SML_HEADER_BYTES);
    REQUIRE((p.kind >= SML_DATA && p.kind <= SML_RESTORE) || p.kind == SML_ASK || p.kind == SML_LATE);
    REQUIRE(p.size_code <= SML_SIZE_AGREED);
    REQUIRE(p.slot < SML_MAX_SLOTS && p.ver <= 1 && p.body_bytes <= SML_MAX_CHUNK_BYTES);
    REQUIRE(p.slot == sml_peek_slot(data));
    sml_build_header(head, &p);
    REQUIRE(memcmp(head, data, sizeof head) == 0);
    if (p.checksum == XFER_CHECKSUM_KEYED)
        check_authenticator(&p, data);
    else
        check_checksum(&p, data);
    if (p.kind == SML_OPEN || p.kind == SML_RESTORE)
        check_call(p.body, p.body_bytes);
    if (p.kind == SML_MISMATCH)
        check_mismatch(p.body, p.body_bytes);
    if (p.kind == SML_LATE)
        REQUIRE(p.body_bytes == SML_LATE_BYTES);
    return 0;
}

#include "elements.h"

#include "random/splitmix.h"
#include "reference.h"

static void convert(uint8_t code, void *to, const void *from, size_t bytes)
{
    agg_kernels_scalar.convert[agg_code_type(code)](to, from, bytes);
}

void elements_invent(uint8_t code, uint64_t seed, unsigned worker, uint32_t tag, uint8_t *wire, size_t count)
{
    uint64_t state = splitmix_mix(splitmix_hash(seed) ^ ((uint64_t)worker << 32 | tag));

    reference_fill(code, &state, true, wire, count);
    convert(code, wire, wire, count * agg_code_bytes(code));
}

/* Of each of the n the element that begins at `at`, in the host's order. */
static void take(uint8_t code, const uint8_t *const in[], unsigned n, size_t at,
                 uint8_t elements[][REFERENCE_ELEMENT_MAX], const void *pointers[])
{
    for (unsigned i = 0; i < n; i++) {
        convert(code, elements[i], in[i] + at, agg_code_bytes(code));
        pointers[i] = elements[i];
    }
}

void elements_reduce(uint8_t code, uint8_t *wire, const uint8_t *const in[], unsigned n, size_t count)
{
    uint8_t elements[REFERENCE_MAX][REFERENCE_ELEMENT_MAX];
    const void *pointers[REFERENCE_MAX];
    const size_t bytes = agg_code_bytes(code);

    for (size_t at = 0; at < count * bytes; at += bytes) {
        take(code, in, n, at, elements, pointers);
        reference_reduce(code, wire + at, pointers, n, 1);
        convert(code, wire + at, wire + at, bytes);
    }
}

bool element_is_result(uint8_t code, const uint8_t *wire, const uint8_t *const in[], unsigned n)
{
    uint8_t elements[REFERENCE_MAX][REFERENCE_ELEMENT_MAX], result[REFERENCE_ELEMENT_MAX];
    const void *pointers[REFERENCE_MAX];

    take(code, in, n, 0, elements, pointers);
    convert(code, result, wire, agg_code_bytes(code));
    return reference_allows(code, result, pointers, n);
}

int element_print(char *text, size_t bytes, uint8_t code, const uint8_t *wire)
{
    uint8_t element[REFERENCE_ELEMENT_MAX];

    convert(code, element, wire, agg_code_bytes(code));
    return reference_print(code, element, text, bytes);
}

#include "samples/job.h"

#include "hostagg/pool.h"

#define FIELD(name) offsetof(struct job_options, name)

const struct option_row job_option_rows[] = {
    {"job", 'j', "N", option_unsigned, FIELD(job), 0, AGG_JOBS - 1,
     "its number in the configuration; default 0"},
    {"workers", 'n', "N", option_unsigned, FIELD(workers), 0, AGG_MAX_WORKERS - 1, "of the job; default 2"},
    {"slots", 's', "N", option_unsigned, FIELD(slots), 0, HAG_MAX_SLOTS,
     "of the job, a power of two: chunks under way at once; default 64"},
    {"elements", 'k', "N", option_unsigned, FIELD(elements), 0, HAG_MAX_CHUNK_BYTES / sizeof(float),
     "in a packet; default 365, which an MTU of 1500 takes. 366 make frames of 1516 bytes, and need 1502"},
    {"run", 'r', "N", option_unsigned, FIELD(run), 0, UINT16_MAX,
     "number of this run: the same for all, and newer than all before; default 1"},
    {"floats", 'f', "N", option_unsigned, FIELD(floats), 0, JOB_FLOATS_MAX, "in an array; default 1000000"},
    {"arrays", 'a', "N", option_unsigned, FIELD(arrays), 0, 1 << 20, "one after the other; default 1"},
    {"timeout", 't', "SECONDS", option_real, FIELD(timeout_s), 0, 86400,
     "without progress, after which to give up; default 60"},
    {"json", 0, "FILE", option_text, FIELD(json), 0, 0, "the report as one flat object"},
};
const size_t job_option_count = sizeof(job_option_rows) / sizeof(job_option_rows[0]);

bool option_ask_after(const struct option_row *row, const char *text, void *field)
{
    if (!option_real(row, text, field))
        return false;
    if (*(const double *)field >= 1)
        return true;
    return complain("--%s: \"%s\" is less than 1 ms", row->name, text);
}

bool job_options_check(const struct job_options *o)
{
    if (o->workers == 0 || o->elements == 0 || o->floats == 0 || o->arrays == 0)
        return complain("--workers, --elements, --floats and --arrays must be at least 1");
    if (o->slots == 0 || (o->slots & (o->slots - 1)) != 0)
        return complain("--slots: %u is not a power of two", o->slots);
    if ((uint64_t)job_chunks(o) * o->arrays > UINT32_MAX / 2)
        return complain("--arrays: %u of %u floats are more than 2^31 chunks", o->arrays, o->floats);
    return true;
}

#include "feedback.h"

#include <stdlib.h>

struct feedback_memory {
    struct feedback_memory *next; /* used before this one */
    struct feedback_key key;
    float left_out[];
};

static bool is_of(const struct feedback_memory *m, const struct feedback_key *key)
{
    return m->key.named == key->named && m->key.who == key->who && m->key.floats == key->floats;
}

static size_t bytes_of(const struct feedback_key *key)
{
    return sizeof(struct feedback_memory) + key->floats * sizeof(float);
}

static void forget_oldest(struct feedback *f)
{
    struct feedback_memory **last = &f->latest;
    while ((*last)->next)
        last = &(*last)->next;
    f->bytes -= bytes_of(&(*last)->key);
    free(*last);
    *last = NULL;
}

static struct feedback_memory *find(struct feedback *f, const struct feedback_key *key)
{
    for (struct feedback_memory **m = &f->latest; *m; m = &(*m)->next)
        if (is_of(*m, key)) {
            struct feedback_memory *found = *m;
            *m = found->next;
            return found;
        }
    return NULL;
}

static struct feedback_memory *make(struct feedback *f, const struct feedback_key *key)
{
    if (key->floats > f->most_bytes / sizeof(float) || bytes_of(key) > f->most_bytes) {
        f->forgotten++;
        return NULL;
    }
    for (; f->bytes + bytes_of(key) > f->most_bytes; f->forgotten++)
        forget_oldest(f);
    struct feedback_memory *m = calloc(1, bytes_of(key));
    if (!m) {
        f->forgotten++;
        return NULL;
    }
    m->key = *key;
    f->bytes += bytes_of(key);
    return m;
}

float *feedback_of(struct feedback *f, const struct feedback_key *key)
{
    struct feedback_memory *m = find(f, key);
    if (!m && !(m = make(f, key)))
        return NULL;
    m->next = f->latest;
    f->latest = m;
    return m->left_out;
}

void feedback_forget_all(struct feedback *f)
{
    while (f->latest)
        forget_oldest(f);
}

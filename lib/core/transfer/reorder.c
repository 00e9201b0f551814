#include "transfer/reorder.h"

enum {
    QUARTERS_MIN = 1,
    QUARTERS_MAX = 6,  /* with more, the timer would be as quick */
    QUIET_ROUNDS = 16, /* RACK's reo_wnd_persist */
};

void xfer_reorder_init(struct xfer_reorder *r)
{
    *r = (struct xfer_reorder){.quarters = QUARTERS_MIN};
}

void xfer_reorder_result(struct xfer_reorder *r, uint64_t position, uint64_t next, bool asked)
{
    r->asked += asked;
    if (position < r->round_end)
        return;
    if (2 * r->in_vain > r->asked) {
        r->quarters += r->quarters < QUARTERS_MAX;
        r->quiet = 0;
    } else if (++r->quiet == QUIET_ROUNDS) {
        r->quarters -= r->quarters > QUARTERS_MIN;
        r->quiet = 0;
    }
    r->asked = r->in_vain = 0;
    r->round_end = next;
}

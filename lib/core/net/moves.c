#include "net/moves.h"

#include "random/spread.h"

static unsigned index_of(uint64_t station)
{
    return spread(station) % NET_MOVES_ENTRIES;
}

/* A station that is being watched keeps its entry until its window is over. */
bool net_moves_note(struct net_moves *m, uint64_t station, uint64_t now, uint64_t window)
{
    const unsigned i = index_of(station);

    if (m->entry[i].station == 0 || now - m->entry[i].since >= window) {
        m->entry[i].station = station;
        m->entry[i].since = now;
        m->entry[i].moves = 0;
    }
    return m->entry[i].station == station && ++m->entry[i].moves == NET_MOVES_SUSPICIOUS;
}

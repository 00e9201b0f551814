#include "net/moves.h"

static unsigned place_of(uint64_t station)
{
    return (unsigned)(station * UINT64_C(0x9E3779B97F4A7C15) >> 32) % NET_MOVES_PLACES;
}

/* A station that is being watched keeps its place until its window is over. */
bool net_moves_note(struct net_moves *m, uint64_t station, uint64_t now, uint64_t window)
{
    const unsigned i = place_of(station);

    if (m->place[i].station == 0 || now - m->place[i].since >= window) {
        m->place[i].station = station;
        m->place[i].since = now;
        m->place[i].moves = 0;
    }
    return m->place[i].station == station && ++m->place[i].moves == NET_MOVES_SUSPICIOUS;
}

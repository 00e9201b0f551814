/* Why a packet got its fate: the switch's counters. What the daemon has too has the daemon's name
 * (control/plan.py). */

const bit<8> REASON_NONE = 0; /* goes on to its next step, or is a frame that is switched */
const bit<8> REASON_SEND_ALL = 1;
const bit<8> REASON_SEND_ONE = 2;
const bit<8> REASON_HELD = 3;
const bit<8> REASON_DROP_DUPLICATE = 4;
const bit<8> REASON_DROP_STALE = 5;
const bit<8> REASON_DROP_BAD_SLOT = 6;
const bit<8> REASON_DROP_BAD_LENGTH = 7;
const bit<8> REASON_BAD_LENGTH = 8;
const bit<8> REASON_BAD_SLOT = 9;
const bit<8> REASON_UNKNOWN_JOB = 10;
const bit<8> REASON_FOREIGN_SENDER = 11;
const bit<8> REASON_IP_CHECKSUM = 12;
const bit<8> REASON_LINK_LOCAL = 13;
const bit<8> REASON_SAME_PORT = 14;

/* The interpreter knows what is in the compiler's tna.p4 (tna.py). */

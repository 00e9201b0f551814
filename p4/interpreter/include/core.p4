/* The interpreter knows what is in the compiler's core.p4 (tna.py). */

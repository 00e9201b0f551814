/* The interpreter knows what is in the compiler's t2na.p4 (tna.py). */

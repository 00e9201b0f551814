/* The mean of a gradient over all ranks, taken in the switch.
 *
 *     cc allreduce.c $(pkg-config --cflags --libs libswagg) -o allreduce
 *     ./allreduce 10.0.0.254 0 2 & ./allreduce 10.0.0.254 1 2     (on two hosts, or on one)
 */
#include <stdio.h>
#include <stdlib.h>
#include <swagg.h>

enum { PARAMETERS = 100000 };

static void log_line(void *ctx, enum swagg_log_level level, const char *line)
{
    (void)ctx;
    if (level <= SWAGG_LOG_WARN)
        fprintf(stderr, "%s\n", line);
}

int main(int argc, char **argv)
{
    static float gradient[PARAMETERS];
    if (argc != 4) {
        fprintf(stderr, "usage: %s SWITCH_IP RANK SIZE\n", argv[0]);
        return 2;
    }
    struct swagg_options options = SWAGG_OPTIONS_DEFAULT;
    options.switch_ip = argv[1];
    options.job = "example";
    options.rank = atoi(argv[2]);
    options.size = atoi(argv[3]);
    options.log = log_line;

    /* Waits until all ranks are there, at most 30 s. */
    struct swagg_job *job;
    int rc = swagg_open(&job, &options);

    for (int step = 1; rc == 0 && step <= 3; step++) {
        for (int i = 0; i < PARAMETERS; i++)
            gradient[i] = (float)(options.rank * step);
        rc = swagg_allreduce(job, gradient, gradient, PARAMETERS, SWAGG_F32, SWAGG_SUM);
        if (rc == 0)
            printf("rank %d, step %d: mean gradient %g\n", options.rank, step,
                   gradient[PARAMETERS - 1] / options.size);
    }
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", swagg_strerror(rc), swagg_last_error());
    swagg_close(job);
    return rc < 0;
}

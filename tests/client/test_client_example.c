/* The example of docs/libswagg.md, three ranks of it, against the loop switch. Its path is the argument. */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "unit.h"

enum { RANKS = 3 };

static const char *example;

/* Starts a rank; its output is to be read from *out. */
static pid_t start_rank(const char *ip, int rank, FILE **out)
{
    extern char **environ;
    char number[12], size[12];
    int ends[2];
    pid_t pid = 0;
    snprintf(number, sizeof number, "%d", rank);
    snprintf(size, sizeof size, "%d", RANKS);
    char *argv[] = {(char *)example, (char *)ip, number, size, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    CU_ASSERT_EQUAL_FATAL(posix_spawn(&pid, example, &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *out = fdopen(ends[0], "r");
    return pid;
}

/* It has the usual patience, of 3 s, whatever the deadline: where the switch stands still for longer they try
 * again. */
static bool all_print_the_means(int deadline_ms)
{
    struct loop_switch *ls = loop_switch_start(&(struct loop_switch_config){.seed = 1});
    pid_t pid[RANKS];
    FILE *out[RANKS];
    bool right = true;
    (void)deadline_ms;
    for (int r = 0; r < RANKS; r++)
        pid[r] = start_rank(loop_switch_ip(ls), r, &out[r]);
    for (int r = 0; r < RANKS; r++) {
        char line[100], expected[100];
        int status = -1;
        for (int step = 1; step <= 3; step++) { /* the mean of 0, step and 2 step */
            snprintf(expected, sizeof expected, "rank %d, step %d: mean gradient %d\n", r, step, step);
            right = right && fgets(line, sizeof line, out[r]) && strcmp(line, expected) == 0;
        }
        fclose(out[r]);
        waitpid(pid[r], &status, 0);
        right = right && status == 0;
    }
    loop_switch_stop(ls);
    return right;
}

TEST(the_example_prints_the_means)
{
    crew_give_up(all_print_the_means);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    example = argv[1];
    return unit_main();
}

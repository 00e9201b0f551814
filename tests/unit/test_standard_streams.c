/* Standard input, output and error of a program that was started without some of them. */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "standard_streams.h"
#include "unit.h"

static bool is_null(int fd)
{
    struct stat null, file;

    return stat("/dev/null", &null) == 0 && fstat(fd, &file) == 0 && file.st_rdev == null.st_rdev;
}

/* In a process that has closed those of this set. */
static bool fills(unsigned closed)
{
    int status = 1;
    const pid_t pid = fork();

    CU_ASSERT_FATAL(pid >= 0);
    if (pid == 0) {
        closefrom(STDERR_FILENO + 1); /* whoever started this may have left others open */
        const int other = open("/", O_RDONLY | O_DIRECTORY);

        for (int fd = 0; fd <= STDERR_FILENO; fd++)
            if (closed >> fd & 1)
                close(fd);
            else
                dup2(other, fd);
        close(other);
        standard_streams_begin();
        for (int fd = 0; fd <= STDERR_FILENO; fd++)
            if (is_null(fd) != (closed >> fd & 1))
                _exit(1);
        if ((closed >> STDOUT_FILENO & 1) != 0 &&
            write(STDOUT_FILENO, "x", 1) == 1) /* it would not be missed */
            _exit(1);
        _exit(fcntl(STDERR_FILENO + 1, F_GETFD) >= 0); /* and no other is left open */
    }
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    return status == 0;
}

TEST(those_that_are_closed_are_filled_and_no_others)
{
    for (unsigned closed = 0; closed < 8; closed++)
        CU_ASSERT(fills(closed));
}

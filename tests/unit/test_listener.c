/* The sockets of daemons for operators, and the links by which tools find them. */
#include "operator/listener.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "stderr_capture.h"
#include "unit.h"

static char directory[] = "/tmp/test_listener.XXXXXX", name[64], usual[PATH_MAX];

static struct config_control at(const char *file)
{
    struct config_control cfg = {.mode = 0600};

    if (file != NULL)
        snprintf(cfg.path, sizeof(cfg.path), "%s/%s", directory, file);
    return cfg;
}

static int open_at(struct listener *l, const char *file)
{
    const struct config_control cfg = at(file);

    return listener_open(l, &cfg, name);
}

static void end(struct listener *l)
{
    listener_remove(l);
    close(l->fd);
}

/* As a daemon that was killed. */
static void die(struct listener *l)
{
    close(l->fd);
}

/* Whether a tool that looks for a daemon of this name finds this one. */
static bool is_found(const struct listener *l)
{
    struct stat by_name, by_path;

    return stat(usual, &by_name) == 0 && stat(l->path, &by_path) == 0 && by_name.st_ino == by_path.st_ino &&
           by_name.st_dev == by_path.st_dev;
}

TEST(a_daemon_is_found_by_its_name)
{
    struct listener usually, elsewhere;

    CU_ASSERT_EQUAL_FATAL(open_at(&usually, NULL), 0);
    CU_ASSERT_STRING_EQUAL(usually.path, usual);
    CU_ASSERT(is_found(&usually));
    end(&usually);
    CU_ASSERT_NOT_EQUAL(access(usual, F_OK), 0);
    CU_ASSERT_EQUAL_FATAL(open_at(&elsewhere, "a"), 0);
    CU_ASSERT(is_found(&elsewhere));
    end(&elsewhere);
    CU_ASSERT_NOT_EQUAL(access(elsewhere.path, F_OK), 0);
}

/* Of one name, as servers at one address in two network namespaces. */
TEST(a_daemon_takes_no_others_place)
{
    for (unsigned first_elsewhere = 0; first_elsewhere < 2; first_elsewhere++) {
        struct listener first, second;

        CU_ASSERT_EQUAL_FATAL(open_at(&first, first_elsewhere ? "a" : NULL), 0);
        CU_ASSERT_EQUAL_FATAL(open_at(&second, "b"), 0);
        CU_ASSERT(is_found(&first));
        end(&second);
        CU_ASSERT(is_found(&first));
        end(&first);
    }
}

TEST(a_dead_ones_place_is_free)
{
    struct listener dead, next, again;

    CU_ASSERT_EQUAL_FATAL(open_at(&dead, NULL), 0);
    die(&dead);
    CU_ASSERT_EQUAL_FATAL(open_at(&next, "a"), 0);
    CU_ASSERT(is_found(&next));
    die(&next);
    CU_ASSERT_EQUAL_FATAL(open_at(&again, "a"), 0);
    CU_ASSERT(is_found(&again));
    end(&again);
}

/* What is in the way is told as what it is. */
TEST(what_is_no_socket_stays)
{
    static const struct {
        const char *file, *told;
    } refused[] = {
        {"none", "control.path: %s is a file that is no socket: remove it, or choose another path\n"},
        {"folder", "control.path: %s is a folder: name a file in it\n"}};
    struct listener l;
    char told[3 * PATH_MAX];
    const struct config_control none = at("none"), folder = at("folder");

    CU_ASSERT_EQUAL_FATAL(mkdir(folder.path, 0700), 0);
    CU_ASSERT_EQUAL_FATAL(mknod(none.path, S_IFREG | 0600, 0), 0);
    for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        snprintf(told, sizeof(told), refused[i].told, at(refused[i].file).path);
        CU_ASSERT_TRUE_FATAL(capture_begin());
        CU_ASSERT(open_at(&l, refused[i].file) < 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(capture_take(), told));
        capture_end();
    }
    rmdir(folder.path);
    unlink(none.path);
}

int main(void)
{
    int status;

    mkdir(RUN_DIRECTORY, 0755);
    if (access(RUN_DIRECTORY, W_OK) != 0) {
        fprintf(stderr, "skipped: this user may not write to " RUN_DIRECTORY "\n");
        return 77;
    }
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(name, sizeof(name), "test-listener-%d", (int)getpid());
    snprintf(usual, sizeof(usual), RUN_DIRECTORY "/%s.ctl", name);
    status = unit_main();
    rmdir(directory);
    return status;
}

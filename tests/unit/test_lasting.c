/* What outlives a restart: the secret, made once, the same for all that read it, and nobody else's; and files
 * that are whole or as they were. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/kept_file.h"
#include "registry/lasting.h"
#include "stderr_capture.h"
#include "unit.h"

static char folder[] = "/tmp/test_lasting.XXXXXX", path[sizeof folder + 32];

TEST(it_outlives_a_restart)
{
    static const uint8_t none[KEYS_SECRET_BYTES];
    struct ctl_lasting first, second;
    struct stat st;

    CU_ASSERT_EQUAL(lasting_open(&first, folder), 0);
    CU_ASSERT(first.is_new && memcmp(first.secret, none, sizeof none) != 0);
    CU_ASSERT_EQUAL(lasting_open(&second, folder), 0);
    CU_ASSERT(second.is_new && memcmp(first.secret, second.secret, sizeof first.secret) == 0);
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, (struct timespec[]){{.tv_sec = 1}, {.tv_sec = 1}}, 0), 0);
    CU_ASSERT_EQUAL(lasting_open(&second, folder), 0);
    CU_ASSERT(!second.is_new && memcmp(first.secret, second.secret, sizeof first.secret) == 0);
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600 && st.st_size == KEYS_SECRET_BYTES);
}

TEST(what_others_may_read_is_no_secret)
{
    struct ctl_lasting l;

    chmod(path, 0640);
    CU_ASSERT_EQUAL(lasting_open(&l, folder), -EPERM);
    chmod(path, 0600);
    CU_ASSERT_EQUAL(truncate(path, 7), 0);
    CU_ASSERT_EQUAL(lasting_open(&l, folder), -EINVAL);
    unlink(path);
    CU_ASSERT_EQUAL(symlink("/dev/null", path), 0);
    CU_ASSERT_FATAL(capture_begin());
    CU_ASSERT_EQUAL(lasting_open(&l, folder), -ELOOP);
    capture_take();
    capture_end();
    CU_ASSERT_PTR_NOT_NULL(strstr(captured_text, "links: it must be a file of this user's: remove it"));
    unlink(path);
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(lasting_open(&l, folder), -EPERM); /* and does not wait for who writes to it */
    unlink(path);
}

TEST(there_is_no_such_folder)
{
    struct ctl_lasting l;

    CU_ASSERT_EQUAL(lasting_open(&l, "/nowhere/at/all"), -ENOENT);
}

TEST(a_kept_file_is_whole_or_as_it_was)
{
    char kept[sizeof path], fresh[sizeof path + 8];
    json_t *content = json_pack("[i, i]", 1, 2), *read;
    struct stat st;

    snprintf(kept, sizeof kept, "%s/kept.json", folder);
    snprintf(fresh, sizeof fresh, "%s.new", kept);
    CU_ASSERT_EQUAL(kept_file_write(kept, content, 0), 0);
    CU_ASSERT(stat(kept, &st) == 0 && (st.st_mode & 0777) == 0600);
    CU_ASSERT_EQUAL(kept_file_write(kept, NULL, 0), -ENOMEM);
    CU_ASSERT_EQUAL(mkdir(fresh, 0700), 0);
    CU_ASSERT_EQUAL(kept_file_write(kept, json_true(), JSON_ENCODE_ANY), -EISDIR);
    read = json_load_file(kept, 0, NULL);
    CU_ASSERT(json_equal(read, content));
    CU_ASSERT_EQUAL(kept_file_write("/nowhere/at/all", content, 0), -ENOENT);
    rmdir(fresh);
    unlink(kept);
    json_decref(read);
    json_decref(content);
}

int main(void)
{
    int rc;

    if (mkdtemp(folder) == NULL)
        return 99;
    snprintf(path, sizeof path, "%s/tickets.secret", folder);
    rc = unit_main();
    rmdir(folder);
    return rc;
}

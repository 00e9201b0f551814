#include "key_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

enum { FILE_MAX = 4096, DIGITS = 2 * KEYS_SECRET_BYTES };

__attribute__((format(printf, 3, 4))) static int no(char why[KEY_FILE_WHY_MAX], int error, const char *format,
                                                    ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, KEY_FILE_WHY_MAX, format, args);
    va_end(args);
    return error;
}

/* One line without its comment. 1: it has a secret; 0: it is empty; -1: it is neither. */
static int read_line(const char *line, size_t length, uint8_t secret[KEYS_SECRET_BYTES])
{
    size_t bytes;

    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    for (; length > 0 && isspace((unsigned char)*line); length--)
        line++;
    if (length == 0)
        return 0;
    return sodium_hex2bin(secret, KEYS_SECRET_BYTES, line, length, NULL, &bytes, NULL) == 0 &&
                   bytes == KEYS_SECRET_BYTES
               ? 1
               : -1;
}

static int take(struct key_file *f, const char *path, const char *text, char why[KEY_FILE_WHY_MAX])
{
    const struct keys_library *library = keys_sodium();
    uint8_t secret[KEYS_SECRET_BYTES];

    if (library == NULL)
        return no(why, -ENOSYS, "libsodium cannot be used on this machine");
    for (unsigned number = 1; *text != '\0'; number++) {
        int has = read_line(text, strcspn(text, "#\n"), secret);

        if (has < 0)
            return no(why, -EINVAL, "%s: line %u is no key: it must have %d hexadecimal digits", path, number,
                      DIGITS);
        if (has && f->keys == KEY_FILE_KEYS)
            return no(why, -EINVAL, "%s: line %u is one key too many: there is the present one and the next",
                      path, number);
        if (has)
            keys_derive(&f->key[f->keys++], library, secret);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    keys_erase(secret, sizeof(secret));
    if (f->keys == 0)
        return no(why, -EINVAL, "%s has no key: `openssl rand -hex 32` makes one", path);
    return 0;
}

static int check(int fd, const char *path, char why[KEY_FILE_WHY_MAX])
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return no(why, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return no(why, -EINVAL, "%s is not a file", path);
    if (st.st_mode & (S_IROTH | S_IWOTH | S_IWGRP))
        return no(why, -EPERM, "%s can be read or changed by others: `chmod g-w,o-rwx %s`", path, path);
    if (st.st_size >= FILE_MAX)
        return no(why, -EFBIG, "%s is too long for a key file", path);
    return 0;
}

int key_file_read(struct key_file *f, const char *path, char why[KEY_FILE_WHY_MAX])
{
    char text[FILE_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t bytes;
    int rc;

    memset(f, 0, sizeof(*f));
    if (fd < 0)
        return no(why, -errno, "%s: %s", path, strerror(errno));
    rc = check(fd, path, why);
    if (rc == 0) {
        bytes = read(fd, text, sizeof(text) - 1);
        text[bytes < 0 ? 0 : bytes] = '\0';
        rc = bytes < 0 ? no(why, -errno, "%s: %s", path, strerror(errno)) : take(f, path, text, why);
        keys_erase(text, sizeof(text));
    }
    close(fd);
    return rc;
}

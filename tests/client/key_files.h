/* Key files that nobody else can read. Functions abort the test when the machine gives no files. */
#pragma once

enum { KEY_FILES_PATH_MAX = 32 };

/* A new file with a key for each of these hexadecimal digits, which is all of it. */
void key_file_make(char path[KEY_FILES_PATH_MAX], const char *digits);

/* Another content for it. */
void key_file_change(const char *path, const char *digits);

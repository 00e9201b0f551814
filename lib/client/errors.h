/* The text of the last error, one for each thread (swagg_last_error). */
#ifndef SWAGG_CLIENT_ERRORS_H
#define SWAGG_CLIENT_ERRORS_H

enum { CLIENT_TEXT_MAX = 1024 };

/* Keeps the text for swagg_last_error and returns status, so that `return client_fail(...)` reads well. */
int client_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

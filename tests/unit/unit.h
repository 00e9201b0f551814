/* How a unit test is written: TEST(what_holds) { ... }, as often as there is something to say, in one file of
 * a program. The program runs them in the order of the file, prints CUnit's summary, and fails if one of them
 * did. It needs no main of its own, unless something has to be there before. */
#pragma once

#include <CUnit/CUnit.h>
#include <stdbool.h>

/* Defines test_<name>(), which the program then runs. */
#define TEST(name)                                                                                           \
    static void test_##name(void);                                                                           \
    __attribute__((constructor)) static void list_test_##name(void)                                          \
    {                                                                                                        \
        unit_add(__LINE__, #name, test_##name);                                                              \
    }                                                                                                        \
    static void test_##name(void)

/* Does something before each test and after each, failed or not; either may be NULL. */
#define EACH_TEST(before, after)                                                                             \
    __attribute__((constructor)) static void set_around(void)                                                \
    {                                                                                                        \
        unit_around(before, after);                                                                          \
    }

void unit_around(void (*before)(void), void (*after)(void));

/* One more test, which stands in this line of its file. */
void unit_add(unsigned line, const char *name, void (*test)(void));

/* Runs all. For main to return: 0, or 1 if one failed. */
int unit_main(void);

/* Of so many random cases, those that are tried: all, or one of UNIT_ONE_OF in the environment, where each
 * takes many times as long (an emulator). */
unsigned unit_cases(unsigned usual);

/* The same of cases that are counted from 0: whether this is one that is tried. */
bool unit_tries(unsigned nth);

/* Whether RLIMIT_NOFILE bounds what a program gets: not under valgrind, which has not every call heed it
 * (UNIT_DESCRIPTORS in the environment). */
bool unit_descriptors_are_bounded(void);

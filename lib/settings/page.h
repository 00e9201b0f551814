/* The settings as a part of a page, in Markdown: a table for the file, and one for each list and group that
 * has a title. */
#pragma once

#include <stdio.h>

#include "settings/settings.h"

/* title: above the table of what is in no other. when: changes count no sooner. */
void settings_print(FILE *page, const char *title, const struct setting *table, enum setting_when when);

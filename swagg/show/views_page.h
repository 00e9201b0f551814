/* The page of the docs that says what views have (docs/views.md), from their declaration. */
#pragma once

/* To standard output, as Markdown. */
void views_page_print(void);

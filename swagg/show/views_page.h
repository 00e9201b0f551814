/* The page of the docs that says what views have (docs/views.md), from their declaration. */
#ifndef SWAGG_SHOW_VIEWS_PAGE_H
#define SWAGG_SHOW_VIEWS_PAGE_H

/* To standard output, as Markdown. */
void views_page_print(void);

#endif

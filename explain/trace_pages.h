/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the raw pages of a trace (the folder raw/ of a folder that --save-trace wrote) by libtraceevent: the events of
 * the text, with times in nanoseconds. See WITH_TRACEEVENT in the Makefile; only trace_pages.c and trace_format.c call
 * this library.
 *
 * The folder is not trusted: files are opened without following links, sizes are bounded, and each page and each format
 * is checked before the library reads it. Pages that differ from the text are refused.
 */
#ifndef EXPLAIN_TRACE_PAGES_H
#define EXPLAIN_TRACE_PAGES_H

#include "explain/trace_text.h"

#define TRACE_PAGES_WHY_BYTES 128

/* Replaces the events and markers of *t, which trace_text_read() has read, by those of the pages. Names that are not in
 * the pages (of tasks and functions) are those of the text. folder_fd: the folder that contains `raw`. 0:
 * t->resolution_ns is 0; else -errno, *t is unchanged, and `why` has the reason. */
int trace_pages_read(struct trace_text *t, int folder_fd, char why[static TRACE_PAGES_WHY_BYTES]);

/* The library that reads pages; NULL: built without libtraceevent. */
const char *trace_pages_library(void);

#endif

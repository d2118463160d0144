/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repair of a log whose run did not end: cuts it back to its last whole line, or array record. */
#ifndef REPORT_LOG_LOG_MEND_H
#define REPORT_LOG_LOG_MEND_H

#define LOG_MEND_BYTES 160 /* size of `words`, with the terminating 0 */

/*
 * Removes the octets after the last end of line of a log (text, csv) or after its last whole record (npy,
 * whose header then has the number of records): a write(2) that a fatal signal ended at a page boundary,
 * and zeros, which a file system shows for data that were not on disk at a power failure. Preallocated disk
 * space is released; the modification time stays. Only a regular file with a single link, owned by this
 * user (any user for root), that begins like a log is changed, and at most a line and 256 MB of zeros are
 * read. fd: open for reading, for writing too if permitted. words: result in words, or the change that
 * was not possible; "" if no change was necessary.
 */
void log_mend(int fd, char words[LOG_MEND_BYTES]);

#endif

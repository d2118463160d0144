/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run that did not end has left of its log: cut back to its last whole line, or record of an array. */
#ifndef REPORT_LOG_LOG_MEND_H
#define REPORT_LOG_LOG_MEND_H

#define LOG_MEND_BYTES 160 /* of words, with the 0 behind them */

/*
 * Removes what is behind the last end of line of a log (text, csv) or behind its last whole record (npy, whose header
 * then tells how many there are): what is left of a write(2) that a fatal signal ended at a page, and octets of zero,
 * which a file system shows for what was not on the disk when the power went. Room on the disk that was taken ahead is
 * given back; the time of the last change stays. Only of a regular file of one name, which is of this user (any user's,
 * for root) and begins as a log does, and no more is read than a line and 256 MB of zeros: all else stays as it is.
 * fd: open for reading; for writing too, if it may be. words: what was done or should have been, "" if nothing had to
 * be.
 */
void log_mend(int fd, char words[LOG_MEND_BYTES]);

#endif

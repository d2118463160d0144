/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HMAC-SHA-256 by libnettle, when built with it (hot: sign and verify). */
#ifndef WIRE_HMAC_H
#define WIRE_HMAC_H

#include "rant.h"

#define HMAC_BYTES 16 /* RFC 8762 section 4.4: the leftmost of 32 */
#define HMAC_KEY_MIN_BYTES 16
#define HMAC_KEY_MAX_BYTES 256

struct hmac;

/* Name and version of the library; NULL: built without libnettle. */
const char *hmac_library(void);

/* Reads the key from a file: hexadecimal digits, white space ignored, HMAC_KEY_MIN_BYTES to
 * HMAC_KEY_MAX_BYTES octets. The file must be a regular file (no symbolic link) that only its owner may
 * read or write. 0: the caller calls hmac_close(*h); or -errno after one line with *h NULL: -EOPNOTSUPP
 * without libnettle. */
int hmac_open(struct hmac **h, const char *path);

/* The first HMAC_BYTES of the HMAC over `first`, then `second`, which may be NULL if it has no octets. Not
 * thread-safe. */
void hmac_sign(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
	       uint8_t out[HMAC_BYTES]);

/* True if the HMAC matches. Constant time. */
bool hmac_verify(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
		 const uint8_t expected[HMAC_BYTES]);

/* Clears the key's memory. h may be NULL. */
void hmac_close(struct hmac *h);

#endif

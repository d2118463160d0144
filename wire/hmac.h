/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HMAC-SHA-256 by libcrypto, when built with it (hot: sign and verify). */
#ifndef WIRE_HMAC_H
#define WIRE_HMAC_H

#include "rant.h"

#define HMAC_BYTES 16 /* RFC 8762 section 4.4: the leftmost of 32 */
#define HMAC_KEY_MIN_BYTES 16
#define HMAC_KEY_MAX_BYTES 256

struct hmac;

/* The library that a key is worked with, which is loaded when there is one; NULL: built without libcrypto. */
const char *hmac_library(void);

/* Reads the key from a file: hexadecimal digits, white space between them ignored, HMAC_KEY_MIN_BYTES to
 * HMAC_KEY_MAX_BYTES octets. It must be a regular file, no link, and nobody but its owner may read or write it. 0, and
 * *h is for hmac_close(); or -errno after one line, and *h is NULL: -EOPNOTSUPP without libcrypto. */
int hmac_open(struct hmac **h, const char *path);

/* The first HMAC_BYTES of the HMAC over `first` and then `second`, which may be NULL when it has no octets. One thread
 * at a time. */
void hmac_sign(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
	       uint8_t out[HMAC_BYTES]);

/* Does it match? In constant time. */
bool hmac_verify(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
		 const uint8_t expected[HMAC_BYTES]);

/* Clears the memory in which the key was. NULL is fine. */
void hmac_close(struct hmac *h);

#endif

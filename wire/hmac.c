// SPDX-License-Identifier: GPL-2.0-or-later
/* HMAC-SHA-256 (RFC 2104) for the authenticated mode of STAMP, RFC 8762 section 4.4. Without WITH_NETTLE
 * every key is refused, so that a plain compile needs no libnettle. */
#include "wire/hmac.h"

#include <err.h>
#include <errno.h>
#include <string.h>

#ifdef WITH_NETTLE

#include <ctype.h>
#include <fcntl.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/version.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_OF(x) #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)

/* By nettle, which never allocates: EVP_MAC of OpenSSL 3.0 does so twice for each HMAC. */
struct hmac {
	struct hmac_sha256_ctx keyed; /* has hashed the blocks that depend on the key only */
};

/* Digits, white space and a final newline. */
#define FILE_MAX_BYTES (4 * HMAC_KEY_MAX_BYTES)

/* The stack that nettle has used, which keeps the padded key: nettle does not clear it. */
static __attribute__((noinline)) void clear_stack(void)
{
	uint8_t used[4096];

	explicit_bzero(used, sizeof(used));
}

static void set_key(struct hmac *h, const uint8_t *key, size_t bytes)
{
	hmac_sha256_set_key(&h->keyed, bytes, key);
	clear_stack();
}

const char *hmac_library(void)
{
	return "libnettle " TEXT_OF_VALUE(NETTLE_VERSION_MAJOR) "." TEXT_OF_VALUE(NETTLE_VERSION_MINOR);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Octets in key[], or -EINVAL after one line. */
static ssize_t read_digits(const char *path, const char *text, size_t bytes, uint8_t key[HMAC_KEY_MAX_BYTES])
{
	size_t digits = 0;

	for (size_t i = 0; i < bytes; i++) {
		int digit = digit_of(text[i]);

		if (isspace((unsigned char)text[i]))
			continue;
		if (digit < 0 || digits == 2 * HMAC_KEY_MAX_BYTES) {
			warnx("key file %s: %s: write %d to %d octets as hexadecimal digits, and nothing else", path,
			      digit < 0 ? "a character is not a hexadecimal digit" : "the key is too long",
			      HMAC_KEY_MIN_BYTES, HMAC_KEY_MAX_BYTES);
			return -EINVAL;
		}
		key[digits / 2] = (uint8_t)(digits % 2 ? key[digits / 2] | digit : digit << 4);
		digits++;
	}
	if (digits % 2 || digits < 2 * HMAC_KEY_MIN_BYTES) {
		warnx("key file %s: has %zu hexadecimal digits: an even number of at least %d is needed", path, digits,
		      2 * HMAC_KEY_MIN_BYTES);
		return -EINVAL;
	}
	return (ssize_t)(digits / 2);
}

/* Reason to refuse the file, with *error set; or NULL. */
static const char *objection_to(int fd, int *error)
{
	struct stat s;

	if (fstat(fd, &s)) {
		*error = errno;
		return strerror(*error);
	}
	if (!S_ISREG(s.st_mode)) {
		*error = EINVAL;
		return "it is not a regular file";
	}
	/* The owner can read the key and change the file's contents and mode. */
	if (s.st_uid != geteuid() && s.st_uid != 0) {
		*error = EACCES;
		return "its owner is neither you nor root: 'chown' it, and make a new key if need be";
	}
	if (s.st_mode & (S_IRWXG | S_IRWXO)) {
		*error = EACCES;
		return "its group or others have access: 'chmod 600' it, and make a new key if need be";
	}
	return NULL;
}

/* A descriptor, or -errno after one line. */
static int open_key(const char *path)
{
	/* A FIFO must not block the program, and a symbolic link would select another file. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), error = errno;
	const char *why;

	if (fd < 0) {
		warnx("key file %s: %s", path,
		      error == ELOOP ? "it is a symbolic link: give the file itself" : strerror(error));
		return -error;
	}
	why = objection_to(fd, &error);
	if (!why)
		return fd;
	warnx("key file %s: %s", path, why);
	close(fd);
	return -error;
}

/* Reads the whole file, up to FILE_MAX_BYTES + 1 octets; -errno after one line. */
static ssize_t read_file(int fd, const char *path, char text[FILE_MAX_BYTES + 1])
{
	size_t bytes = 0;

	while (bytes < FILE_MAX_BYTES + 1) {
		ssize_t got = read(fd, text + bytes, FILE_MAX_BYTES + 1 - bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = errno;

			warnx("key file %s: %s", path, strerror(error));
			return -error;
		}
		if (!got)
			break;
		bytes += (size_t)got;
	}
	if (bytes > FILE_MAX_BYTES) {
		warnx("key file %s: is larger than %d octets: it must have nothing but the key", path, FILE_MAX_BYTES);
		return -EINVAL;
	}
	return (ssize_t)bytes;
}

/* Octets in key[], or -errno after one line. */
static ssize_t read_key(const char *path, uint8_t key[HMAC_KEY_MAX_BYTES])
{
	char text[FILE_MAX_BYTES + 1];
	int fd = open_key(path);
	ssize_t bytes;

	if (fd < 0)
		return fd;
	bytes = read_file(fd, path, text);
	close(fd);
	if (bytes >= 0)
		bytes = read_digits(path, text, (size_t)bytes, key);
	explicit_bzero(text, sizeof(text));
	return bytes;
}

int hmac_open(struct hmac **opened, const char *path)
{
	uint8_t key[HMAC_KEY_MAX_BYTES];
	ssize_t bytes = read_key(path, key);
	int error = bytes < 0 ? (int)bytes : 0;

	*opened = NULL;
	if (!error) {
		struct hmac *h = calloc(1, sizeof(*h));

		if (h) {
			set_key(h, key, (size_t)bytes);
			*opened = h;
		} else {
			error = -ENOMEM;
			warnx("key file %s: %s", path, strerror(ENOMEM));
		}
	}
	explicit_bzero(key, sizeof(key));
	return error;
}

void hmac_sign(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
	       uint8_t out[HMAC_BYTES])
{
	struct hmac_sha256_ctx c = h->keyed;
	uint8_t digest[SHA256_DIGEST_SIZE];

	hmac_sha256_update(&c, first_bytes, first);
	if (second_bytes)
		hmac_sha256_update(&c, second_bytes, second);
#if NETTLE_VERSION_MAJOR >= 4
	hmac_sha256_digest(&c, digest);
#else
	hmac_sha256_digest(&c, sizeof(digest), digest);
#endif
	memcpy(out, digest, HMAC_BYTES);
}

bool hmac_verify(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
		 const uint8_t expected[HMAC_BYTES])
{
	uint8_t right[HMAC_BYTES];

	hmac_sign(h, first, first_bytes, second, second_bytes, right);
	return memeql_sec(right, expected, sizeof(right));
}

void hmac_close(struct hmac *h)
{
	if (!h)
		return;
	explicit_bzero(h, sizeof(*h));
	free(h);
}

#else

const char *hmac_library(void)
{
	return NULL;
}

int hmac_open(struct hmac **h, const char *path)
{
	*h = NULL;
	warnx("key file %s: cannot be used: this rant was built without libnettle: build it by 'make NETTLE=1'", path);
	return -EOPNOTSUPP;
}

/* Never called, since no struct hmac exists without libnettle. */
void hmac_sign(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
	       uint8_t out[HMAC_BYTES])
{
	(void)h, (void)first, (void)first_bytes, (void)second, (void)second_bytes;
	memset(out, 0, HMAC_BYTES);
}

bool hmac_verify(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
		 const uint8_t expected[HMAC_BYTES])
{
	(void)h, (void)first, (void)first_bytes, (void)second, (void)second_bytes, (void)expected;
	return false;
}

void hmac_close(struct hmac *h)
{
	(void)h;
}

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* HMAC-SHA-256 (RFC 2104) for the authenticated mode of STAMP, RFC 8762 section 4.4. Without WITH_CRYPTO
 * every key is refused, so that a plain compile needs no libcrypto. */
#include "wire/hmac.h"

#include <err.h>
#include <errno.h>
#include <string.h>

#ifdef WITH_CRYPTO

/* Calls SHA-256 directly: the replacements in OpenSSL 3 (EVP_MAC, EVP_Digest) allocate at each start, in
 * 3.0 twice for each HMAC. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <openssl/opensslv.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The library that matches the headers: its name changes when SHA256_CTX or a function does. Loaded only
 * with a key: memory_lock() would keep its 5 MB resident in every run. */
#ifdef OPENSSL_SHLIB_VERSION
#define TEXT_OF(x) #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)
#define LIBRARY "libcrypto.so." TEXT_OF_VALUE(OPENSSL_SHLIB_VERSION)
#else
#define LIBRARY "libcrypto.so." SHLIB_VERSION_NUMBER /* before OpenSSL 3 */
#endif

struct hmac {
	void *library;
	int (*init)(SHA256_CTX *c);
	int (*update)(SHA256_CTX *c, const void *data, size_t bytes);
	int (*final)(unsigned char *digest, SHA256_CTX *c);
	int (*differ)(const void *a, const void *b, size_t bytes); /* constant-time comparison */
	SHA256_CTX inner, outer; /* SHA-256 states after the first block, which depends on the key only */
};

/* Digits, white space and a final newline. */
#define FILE_MAX_BYTES (4 * HMAC_KEY_MAX_BYTES)

const char *hmac_library(void)
{
	return LIBRARY;
}

static void start(const struct hmac *h, SHA256_CTX *c, const uint8_t block[SHA256_CBLOCK], uint8_t pad)
{
	uint8_t padded[SHA256_CBLOCK];

	for (size_t i = 0; i < sizeof(padded); i++)
		padded[i] = block[i] ^ pad;
	h->init(c);
	h->update(c, padded, sizeof(padded));
	explicit_bzero(padded, sizeof(padded));
}

static void set_key(struct hmac *h, const uint8_t *key, size_t bytes)
{
	uint8_t block[SHA256_CBLOCK] = { 0 };

	/* RFC 2104 section 2. */
	if (bytes > sizeof(block)) {
		h->init(&h->inner);
		h->update(&h->inner, key, bytes);
		h->final(block, &h->inner);
	} else {
		memcpy(block, key, bytes);
	}
	start(h, &h->inner, block, 0x36);
	start(h, &h->outer, block, 0x5c);
	explicit_bzero(block, sizeof(block));
}

/* 0, or -ENOENT after one line. */
static int load(struct hmac *h)
{
	h->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (h->library) {
		*(void **)&h->init = dlsym(h->library, "SHA256_Init");
		*(void **)&h->update = dlsym(h->library, "SHA256_Update");
		*(void **)&h->final = dlsym(h->library, "SHA256_Final");
		*(void **)&h->differ = dlsym(h->library, "CRYPTO_memcmp");
		if (h->init && h->update && h->final && h->differ)
			return 0;
		dlclose(h->library);
		h->library = NULL;
	}
	warnx("a key needs %s, which is not there or has no SHA-256: install OpenSSL", LIBRARY);
	return -ENOENT;
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
	struct hmac *h = NULL;
	int error = bytes < 0 ? (int)bytes : 0;

	*opened = NULL;
	if (!error) {
		h = calloc(1, sizeof(*h));
		error = h ? load(h) : -ENOMEM;
		if (!h)
			warnx("key file %s: %s", path, strerror(ENOMEM));
	}
	if (!error) {
		set_key(h, key, (size_t)bytes);
		*opened = h;
	} else {
		free(h);
	}
	explicit_bzero(key, sizeof(key));
	return error;
}

void hmac_sign(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
	       uint8_t out[HMAC_BYTES])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA256_CTX c = h->inner;

	h->update(&c, first, first_bytes);
	h->update(&c, second, second_bytes);
	h->final(digest, &c);
	c = h->outer;
	h->update(&c, digest, sizeof(digest));
	h->final(digest, &c);
	memcpy(out, digest, HMAC_BYTES);
}

bool hmac_verify(const struct hmac *h, const void *first, size_t first_bytes, const void *second, size_t second_bytes,
		 const uint8_t expected[HMAC_BYTES])
{
	uint8_t right[HMAC_BYTES];

	hmac_sign(h, first, first_bytes, second, second_bytes, right);
	return !h->differ(right, expected, sizeof(right));
}

void hmac_close(struct hmac *h)
{
	if (!h)
		return;
	dlclose(h->library);
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
	warnx("key file %s: cannot be used: this rant was built without libcrypto: build it by 'make CRYPTO=1'", path);
	return -EOPNOTSUPP;
}

/* Never called, since no struct hmac exists without libcrypto. */
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

/* build: wraps=free,calloc,explicit_bzero,read,fstat,geteuid sources= libs= */
// SPDX-License-Identifier: GPL-2.0-or-later
/* HMAC-SHA-256 against the vectors of RFC 4231 and stamp.md, and the key file. */
#include "wire/hmac.c"

#include "golden.h"

#include <fcntl.h>
#include <sys/stat.h>

#define MESSAGE_BYTES 512

static char directory[] = "/tmp/test_hmac_XXXXXX";

/* Opens `path`, and returns its messages in `said`. */
static int open_and_hear(struct hmac **h, const char *path, char said[MESSAGE_BYTES])
{
	struct util_capture c;
	int result;

	*h = (struct hmac *)1;
	util_capture_begin(&c);
	result = hmac_open(h, path);
	util_capture_end(&c, said, MESSAGE_BYTES);
	return result;
}

#ifdef WITH_NETTLE

static void assert_refused(const struct hmac *h, int result, int expected, const char *said)
{
	assert_int_equal(result, expected);
	assert_null(h);
	golden_line(said);
}

/* From AddressSanitizer; gcc has no header for it. Without it, as in make coverage, the test that needs it
 * is skipped. */
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *p,
										      size_t bytes),
								    void (*on_free)(const volatile void *p));

/* Replacements are off unless a test turns them on. */
static struct {
	bool no_memory, read_fails, fstat_fails;
	bool owned; /* the file by owner, while user runs this */
	uid_t owner, user;
	int interrupts; /* reads that a signal ends first */
	const void *watched;
	size_t watched_bytes;
	int freed, freed_with_octets;
	int wiped[3]; /* copies of the key, by WIPED_ */
} fake;

enum { WIPED_TEXT, WIPED_KEY, WIPED_PADDED };

void __real_free(void *p);
void __wrap_free(void *p);
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
ssize_t __real_read(int fd, void *to, size_t bytes);
ssize_t __wrap_read(int fd, void *to, size_t bytes);
void __real_explicit_bzero(void *p, size_t bytes);
void __wrap_explicit_bzero(void *p, size_t bytes);
int __real_fstat(int fd, struct stat *s);
int __wrap_fstat(int fd, struct stat *s);
uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);

void __wrap_free(void *p)
{
	if (p && p == fake.watched) {
		fake.freed++;
		for (size_t i = 0; i < fake.watched_bytes; i++)
			fake.freed_with_octets += ((const uint8_t *)p)[i] != 0;
	}
	__real_free(p);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fake.no_memory ? NULL : __real_calloc(n, bytes);
}

#define OCTETS_16 "00112233445566778899aabbccddeeff"

/* Searches for the key above in cleared memory. */
void __wrap_explicit_bzero(void *p, size_t bytes)
{
	static const uint8_t pads[] = { [WIPED_KEY] = 0, [WIPED_PADDED] = 0x36 };
	static uint8_t key[16]; /* on the stack it would remain in the next buffer at the same address */

	fake.wiped[WIPED_TEXT] += memmem(p, bytes, OCTETS_16, 32) != NULL;
	for (int kind = WIPED_KEY; kind <= WIPED_PADDED; kind++) {
		for (size_t i = 0; i < sizeof(key); i++)
			key[i] = (uint8_t)(i * 0x11) ^ pads[kind];
		fake.wiped[kind] += memmem(p, bytes, key, sizeof(key)) != NULL;
	}
	__real_explicit_bzero(p, bytes);
}

/* An octet at a time, which is allowed to a file system. */
ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
	if (fake.interrupts > 0 && fake.interrupts--) {
		errno = EINTR;
		return -1;
	}
	if (fake.read_fails) {
		errno = EIO;
		return -1;
	}
	return __real_read(fd, to, bytes ? 1 : 0);
}

int __wrap_fstat(int fd, struct stat *s)
{
	int result = __real_fstat(fd, s);

	if (fake.owned)
		s->st_uid = fake.owner;
	if (!fake.fstat_fails)
		return result;
	errno = EIO;
	return -1;
}

uid_t __wrap_geteuid(void)
{
	return fake.owned ? fake.user : __real_geteuid();
}

static int no_fakes(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	return 0;
}

/* ---- Octets ------------------------------------------------------------------------------------------------------ */

struct vector {
	const char *name, *key, *text, *mac;
};

/* A key as it is; the file has its own tests. */
static struct hmac *of_key(const void *key, size_t bytes)
{
	struct hmac *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	set_key(h, key, bytes);
	return h;
}

static void check_vector(const struct vector *v)
{
	uint8_t key[200], text[200], expected[HMAC_BYTES], made[HMAC_BYTES];
	size_t key_bytes = util_hex(key, sizeof(key), v->key), bytes = util_hex(text, sizeof(text), v->text);
	struct hmac *h = of_key(key, key_bytes);
	uint8_t *exact = util_exact(text, bytes);

	assert_int_equal(util_hex(expected, sizeof(expected), v->mac), sizeof(expected));
	/* Wherever it is cut in two. */
	for (size_t at = 0; at <= bytes; at++) {
		memset(made, 0, sizeof(made));
		hmac_sign(h, exact, at, at < bytes ? exact + at : NULL, bytes - at, made);
		if (memcmp(made, expected, sizeof(made)))
			fail_msg("%s, cut at %zu", v->name, at);
		assert_true(hmac_verify(h, exact, at, at < bytes ? exact + at : NULL, bytes - at, expected));
	}
	free(exact);
	hmac_close(h);
}

#define TIMES_10(x) x x x x x x x x x x
#define AA_131 TIMES_10("aaaaaaaaaaaaaaaaaaaaaaaaaa") "aa"

static void vectors_of_rfc_4231(void **state)
{
	static const struct vector vectors[] = {
		{ "case 1", TIMES_10("0b0b"), "4869205468657265", "b0344c61d8db38535ca8afceaf0bf12b" },
		{ "case 2", "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
		  "5bdcc146bf60754e6a042426089575c7" },
		{ "case 3", TIMES_10("aaaa"), TIMES_10("dddddddddd"), "773ea91e36800e46854db8ebd09181a7" },
		{ "case 4", "0102030405060708090a0b0c0d0e0f10111213141516171819", TIMES_10("cdcdcdcdcd"),
		  "82558a389a443c0ea4cc819899f2083a" },
		{ "case 6", AA_131,
		  "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b657920"
		  "4669727374", "60e431591ee0b67f0d8a26aacbf5b77f" },
		{ "case 7", AA_131,
		  "5468697320697320612074657374207573696e672061206c6172676572207468616e20626c6f636b2d73697a65206b6579"
		  "20616e642061206c6172676572207468616e20626c6f636b2d73697a6520646174612e20546865206b6579206e65656473"
		  "20746f20626520686173686564206265666f7265206265696e6720757365642062792074686520484d414320616c676f72"
		  "6974686d2e", "9b09ffa71b942fcb27635fbcd5b0e944" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(vectors); i++)
		check_vector(&vectors[i]);
}

/* Computed by Python's hmac: around the size of a block, where the key begins to be hashed. */
static void keys_around_a_block(void **state)
{
	static const struct {
		size_t bytes;
		const char *mac;
	} rows[] = {
		{ 63, "31d58bd201330a09b80417724080943c" },
		{ 64, "68ea1dc616c008f415c25ae1c02e52f6" },
		{ 65, "c75e0fd438bfbc46106abaf23e249bed" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint8_t key[65], text[65], expected[HMAC_BYTES], made[HMAC_BYTES];

		for (size_t j = 0; j < rows[i].bytes; j++)
			key[j] = (uint8_t)j;
		memset(text, 'x', sizeof(text));
		util_hex(expected, sizeof(expected), rows[i].mac);

		struct hmac *h = of_key(key, rows[i].bytes);

		hmac_sign(h, text, rows[i].bytes, NULL, 0, made);
		assert_memory_equal(made, expected, sizeof(made));
		hmac_close(h);
	}
}

static void one_wrong_bit_is_wrong(void **state)
{
	struct hmac *h = of_key("0123456789abcdef", 16);
	uint8_t text[20] = { 1, 2, 3 }, mac[HMAC_BYTES];

	(void)state;
	hmac_sign(h, text, 4, text + 4, 16, mac);
	assert_true(hmac_verify(h, text, 4, text + 4, 16, mac));
	for (size_t bit = 0; bit < sizeof(mac) * 8; bit++) {
		mac[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(hmac_verify(h, text, 4, text + 4, 16, mac));
		mac[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t bit = 0; bit < sizeof(text) * 8; bit++) {
		text[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(hmac_verify(h, text, 4, text + 4, 16, mac));
		text[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_false(hmac_verify(h, text, 4, text + 4, 15, mac));
	hmac_close(h);
}

/* ---- Hot --------------------------------------------------------------------------------------------------------- */

static unsigned long allocations, releases;

static void note_allocation(const volatile void *p, size_t bytes)
{
	(void)p;
	(void)bytes;
	allocations++;
}

static void note_release(const volatile void *p)
{
	(void)p;
	releases++;
}

/* The sanitizer sees those of the library too. */
static void signing_does_not_allocate(void **state)
{
	static bool installed;
	struct hmac *h = of_key("0123456789abcdef", 16);
	uint8_t text[200] = { 0 }, mac[HMAC_BYTES];

	(void)state;
	if (!__sanitizer_install_malloc_and_free_hooks)
		skip();
	if (!installed)
		assert_true(__sanitizer_install_malloc_and_free_hooks(note_allocation, note_release));
	installed = true;
	allocations = releases = 0;
	__real_free(__real_calloc(1, 10));
	assert_true(allocations == 1 && releases == 1); /* they are seen */
	for (int i = 0; i < 1000; i++) {
		hmac_sign(h, text, 4, text + 4, (size_t)i % 196, mac);
		assert_true(hmac_verify(h, text, 4, text + 4, (size_t)i % 196, mac));
	}
	assert_int_equal(allocations, 1);
	assert_int_equal(releases, 1);
	hmac_close(h);
}

/* ---- The file with the key --------------------------------------------------------------------------------------- */

/* Its path, until the next call. */
static const char *key_file(const void *content, size_t bytes, mode_t mode)
{
	static char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/key", directory);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, bytes), bytes);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

#define OCTETS_32 OCTETS_16 OCTETS_16
#define OCTETS_128 OCTETS_32 OCTETS_32 OCTETS_32 OCTETS_32

/* V4 and V5 of the packets, through the file. */
static void keys_that_are_read(void **state)
{
	static const char *const right[] = {
		OCTETS_16, OCTETS_16 "\n", "00112233445566778899AABBCCDDEEFF\n",
		"  0011 2233\t4455 6677\r\n8899 aabb\nccdd eeff \n\n", "0 0112233445566778899aabbccddeef\nf",
	};
	uint8_t packet[96], expected[HMAC_BYTES], mac[HMAC_BYTES];
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	memset(packet, 0, sizeof(packet));
	util_hex(packet, sizeof(packet), "00000005000000000000000000000000e8fe6f801f9add3780011234");
	util_hex(expected, sizeof(expected), "5fc9b8846371f91753939fcf91e554fb");
	for (size_t i = 0; i < COUNT_OF(right); i++) {
		assert_int_equal(open_and_hear(&h, key_file(right[i], strlen(right[i]), i % 2 ? 0400 : 0600), said), 0);
		assert_string_equal(said, "");
		hmac_sign(h, packet, sizeof(packet), NULL, 0, mac);
		assert_memory_equal(mac, expected, sizeof(mac));
		hmac_close(h);
	}
	assert_int_equal(open_and_hear(&h, key_file(OCTETS_128 OCTETS_128, 512, 0600), said), 0);

	struct hmac *direct;
	uint8_t key[256], other[HMAC_BYTES];

	util_hex(key, sizeof(key), OCTETS_128 OCTETS_128);
	direct = of_key(key, sizeof(key));
	hmac_sign(h, packet, sizeof(packet), NULL, 0, mac);
	hmac_sign(direct, packet, sizeof(packet), NULL, 0, other);
	assert_memory_equal(mac, other, sizeof(mac));
	hmac_close(direct);
	hmac_close(h);
}

static void keys_that_are_refused(void **state)
{
	static const char *const contents[] = {
		"",
		"\n \n",
		"00112233445566778899aabbccddee",
		"00112233445566778899aabbccddeef",
		OCTETS_16 "0",
		"0x" OCTETS_16,
		OCTETS_16 "g0",
		OCTETS_16 "/0",
		OCTETS_16 ":0",
		OCTETS_16 "@0",
		OCTETS_16 "`0",
		OCTETS_16 "G0",
		OCTETS_16 "\x10" "0", /* '0' without the bit that makes a letter small */
		"# a comment\n" OCTETS_16,
		OCTETS_16 "\xe9",
		OCTETS_128 OCTETS_128 "0",
		OCTETS_128 OCTETS_128 "00",
	};
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(contents); i++) {
		const char *path = key_file(contents[i], strlen(contents[i]), 0600);
		int result = open_and_hear(&h, path, said);

		assert_refused(h, result, -EINVAL, said);
		assert_non_null(strstr(said, path));
		assert_null(strstr(said, "112233")); /* nothing of the key is printed */
	}
}

static void a_zero_octet_is_no_end(void **state)
{
	char said[MESSAGE_BYTES];
	struct hmac *h;
	int result = open_and_hear(&h, key_file(OCTETS_16 "\0zz", 35, 0600), said);

	(void)state;
	assert_refused(h, result, -EINVAL, said);
}

static void a_large_file_is_refused(void **state)
{
	char content[1025], said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	memset(content, '\n', sizeof(content));
	memcpy(content, OCTETS_16, 32);
	assert_int_equal(open_and_hear(&h, key_file(content, 1024, 0600), said), 0);
	hmac_close(h);
	int result = open_and_hear(&h, key_file(content, 1025, 0600), said);

	assert_refused(h, result, -EINVAL, said);
}

static void others_may_not_use_it(void **state)
{
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	for (mode_t bit = 1; bit <= 040; bit <<= 1) {
		int result = open_and_hear(&h, key_file(OCTETS_16, 32, 0600 | bit), said);

		assert_refused(h, result, -EACCES, said);
	}
}

static void another_user_may_not_own_it(void **state)
{
	enum { ROOT = 0, USER = 1000, OTHER = 1001 };
	static const struct {
		uid_t user, owner;
		bool refused;
	} rows[] = {
		{ ROOT, ROOT, false }, { USER, USER, false }, { USER, ROOT, false }, { ROOT, USER, true },
		{ USER, OTHER, true },
	};
	const char *path = key_file(OCTETS_16, 32, 0600);
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		fake.owned = true;
		fake.user = rows[i].user;
		fake.owner = rows[i].owner;
		int result = open_and_hear(&h, path, said);

		if (rows[i].refused)
			assert_refused(h, result, -EACCES, said);
		else
			assert_int_equal(result, 0);
		hmac_close(h);
	}
}

static void what_is_no_regular_file(void **state)
{
	char path[PATH_MAX], said[MESSAGE_BYTES];
	struct hmac *h;
	int result;

	(void)state;
	snprintf(path, sizeof(path), "%s/other", directory);
	result = open_and_hear(&h, path, said);
	assert_refused(h, result, -ENOENT, said);
	result = open_and_hear(&h, directory, said);
	assert_refused(h, result, -EINVAL, said);
	assert_int_equal(symlink(key_file(OCTETS_16, 32, 0600), path), 0);
	result = open_and_hear(&h, path, said);
	unlink(path);
	assert_refused(h, result, -ELOOP, said);
	assert_int_equal(mkfifo(path, 0600), 0); /* without a writer: a plain open() would block */
	result = open_and_hear(&h, path, said);
	unlink(path);
	assert_refused(h, result, -EINVAL, said);
	result = open_and_hear(&h, "/dev/zero", said);
	assert_refused(h, result, -EINVAL, said);
}

static void what_fails_is_reported(void **state)
{
	const char *path = key_file(OCTETS_16, 32, 0600);
	char said[MESSAGE_BYTES];
	struct hmac *h;
	int result;

	(void)state;
	fake.read_fails = true;
	result = open_and_hear(&h, path, said);
	assert_refused(h, result, -EIO, said);
	no_fakes(NULL);
	fake.fstat_fails = true;
	result = open_and_hear(&h, path, said);
	assert_refused(h, result, -EIO, said);
	no_fakes(NULL);
	fake.no_memory = true;
	result = open_and_hear(&h, path, said);
	assert_refused(h, result, -ENOMEM, said);
}

static void an_interrupted_read_goes_on(void **state)
{
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	fake.interrupts = 3;
	assert_int_equal(open_and_hear(&h, key_file(OCTETS_16, 32, 0600), said), 0);
	assert_int_equal(fake.interrupts, 0);
	hmac_close(h);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void nothing_is_left_open(void **state)
{
	int before = open_descriptors();
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	open_and_hear(&h, key_file("zz", 2, 0600), said);
	open_and_hear(&h, key_file(OCTETS_16, 32, 0644), said);
	open_and_hear(&h, directory, said);
	assert_int_equal(open_and_hear(&h, key_file(OCTETS_16, 32, 0600), said), 0);
	assert_int_equal(open_descriptors(), before);
	hmac_close(h);
}

/* The text, the octets, and these with the inner pad, which nettle writes last and leaves on the stack. */
static void no_copy_of_the_key_is_left(void **state)
{
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	clear_stack(); /* keys of other tests */
	no_fakes(NULL);
	assert_int_equal(open_and_hear(&h, key_file(OCTETS_16, 32, 0600), said), 0);
	assert_int_equal(fake.wiped[WIPED_TEXT], 1);
	assert_int_equal(fake.wiped[WIPED_KEY], 1);
	assert_int_equal(fake.wiped[WIPED_PADDED], 1);
	hmac_close(h);
	no_fakes(NULL);
	open_and_hear(&h, key_file(OCTETS_16 "zz", 34, 0600), said);
	assert_int_equal(fake.wiped[WIPED_TEXT], 1);
	assert_int_equal(fake.wiped[WIPED_KEY], 1);
}

static void closing_clears_the_key(void **state)
{
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	assert_int_equal(open_and_hear(&h, key_file(OCTETS_16, 32, 0600), said), 0);
	fake.watched = h;
	fake.watched_bytes = sizeof(*h);
	hmac_close(h);
	assert_int_equal(fake.freed, 1);
	assert_int_equal(fake.freed_with_octets, 0);
	hmac_close(NULL);
}

static void it_is_available(void **state)
{
	(void)state;
	assert_non_null(strstr(hmac_library(), "libnettle"));
}

#define TEST(f) cmocka_unit_test_setup(f, no_fakes)

static const struct CMUnitTest tests[] = {
	TEST(it_is_available),
	TEST(vectors_of_rfc_4231),
	TEST(keys_around_a_block),
	TEST(one_wrong_bit_is_wrong),
	TEST(signing_does_not_allocate),
	TEST(keys_that_are_read),
	TEST(keys_that_are_refused),
	TEST(a_zero_octet_is_no_end),
	TEST(a_large_file_is_refused),
	TEST(others_may_not_use_it),
	TEST(another_user_may_not_own_it),
	TEST(what_is_no_regular_file),
	TEST(what_fails_is_reported),
	TEST(an_interrupted_read_goes_on),
	TEST(nothing_is_left_open),
	TEST(no_copy_of_the_key_is_left),
	TEST(closing_clears_the_key),
};

#else

static void without_libnettle_it_refuses(void **state)
{
	char said[MESSAGE_BYTES];
	struct hmac *h;

	(void)state;
	assert_null(hmac_library());
	int result = open_and_hear(&h, "/etc/rant.key", said);

	assert_int_equal(result, -EOPNOTSUPP);
	assert_null(h);
	assert_one_line(said);
	assert_non_null(strstr(said, "/etc/rant.key"));
	hmac_close(NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(without_libnettle_it_refuses),
};

#endif

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
#ifdef WITH_NETTLE
	golden_hide("FOLDER", directory);
#endif
	return 0;
}

static int remove_directory(void **state)
{
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/key", directory);
	unlink(path);
	return rmdir(directory);
}

int main(void)
{
#ifdef WITH_NETTLE
	return golden_run_group(tests, make_directory, remove_directory);
#else
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
#endif
}

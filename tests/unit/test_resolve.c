/* build: wraps=getaddrinfo,nic_reaches sources=host/nic/nic*.c libs=-lnl-3 -lnl-genl-3 */
// SPDX-License-Identifier: GPL-2.0-or-later
/* The address chosen for a name, and the messages, with a simulated resolver. */
#include "host/nic/resolve.c"

#include "golden.h"

#define MOST 5

static struct {
	const char *address[MOST]; /* in the resolver's order, up to NULL */
	const char *reached[MOST];
	int error, system_error;
	int family; /* as requested */
	int64_t takes_ns;
} fake;

static struct addrinfo entry[MOST];
static union address octets[MOST];
static struct options o;
static char said[1024];

static union address address_of(const char *text)
{
	union address a = { .any.sa_family = strchr(text, ':') ? AF_INET6 : AF_INET };
	void *at = strchr(text, ':') ? (void *)&a.in6.sin6_addr : &a.in.sin_addr;

	assert_int_equal(inet_pton(a.any.sa_family, text, at), 1);
	return a;
}

int __wrap_getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list);
int __wrap_getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
	const struct timespec t = { .tv_sec = fake.takes_ns / NS_PER_S, .tv_nsec = fake.takes_ns % NS_PER_S };

	assert_string_equal(name, "reflector");
	assert_null(service);
	fake.family = hints->ai_family;
	nanosleep(&t, NULL);
	errno = fake.system_error;
	if (fake.error)
		return fake.error;
	for (int i = 0; i < MOST && fake.address[i]; i++) {
		octets[i] = address_of(fake.address[i]);
		entry[i] = (struct addrinfo){ .ai_family = octets[i].any.sa_family, .ai_addr = &octets[i].any,
					      .ai_addrlen = address_bytes(&octets[i]) };
		if (i)
			entry[i - 1].ai_next = &entry[i];
	}
	*list = entry;
	return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
	assert_ptr_equal(list, entry);
}

bool __wrap_nic_reaches(int index, const union address *to);
bool __wrap_nic_reaches(int index, const union address *to)
{
	uint64_t a[2], b[2];

	assert_int_equal(index, (int)if_nametoindex("lo"));
	address_as_ipv6(to, a);
	for (int i = 0; i < MOST && fake.reached[i]; i++) {
		const union address one = address_of(fake.reached[i]);

		address_as_ipv6(&one, b);
		if (a[0] == b[0] && a[1] == b[1])
			return true;
	}
	return false;
}

static int resolve(void)
{
	struct util_capture c;
	int error;

	util_capture_begin(&c);
	error = resolve_server(&o);
	util_capture_end(&c, said, sizeof(said));
	return error;
}

static int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	o = (struct options){ .interface = "lo", .server_name = "reflector", .role = ROLE_EMIT };
	return 0;
}

static void assert_server(const char *text)
{
	const union address want = address_of(text);

	assert_memory_equal(&o.server, &want, address_bytes(&want));
}

/* Without a name the resolver is not called. */
static void no_name(void **state)
{
	(void)state;
	o.server_name = NULL;
	fake.error = EAI_FAIL;
	assert_int_equal(resolve(), 0);
	assert_string_equal(said, "");
	assert_int_equal(o.server.any.sa_family, AF_UNSPEC);
}

static const struct {
	const char *address[MOST], *reached[MOST], *taken, *says;
} cases[] = {
	{ { "192.0.2.1" }, { "192.0.2.1" }, "192.0.2.1", "--address reflector: resolved to 192.0.2.1\n" },
	/* a later line reports the missing route */
	{ { "192.0.2.1" }, { 0 }, "192.0.2.1", "resolved to 192.0.2.1\n" },
	{ { "2001:db8::1", "192.0.2.1" }, { "192.0.2.1", "2001:db8::1" }, "2001:db8::1",
	  "resolved to 2001:db8::1, the first of its 2 addresses that is reached through lo\n" },
	{ { "2001:db8::1", "192.0.2.1" }, { "192.0.2.1" }, "192.0.2.1",
	  "resolved to 192.0.2.1, the first of its 2 addresses that is reached" },
	{ { "2001:db8::1", "192.0.2.1", "192.0.2.2", "2001:db8::2" }, { "2001:db8::2", "192.0.2.2" }, "192.0.2.2",
	  "resolved to 192.0.2.2, the first of its 4 addresses that is reached" },
	{ { "2001:db8::1", "192.0.2.1" }, { 0 }, "2001:db8::1",
	  "resolved to 2001:db8::1, the first of its 2 addresses, none of which is reached through lo\n" },
};

static void which_is_taken(void **state)
{
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		setup(state);
		memcpy(fake.address, cases[i].address, sizeof(fake.address));
		memcpy(fake.reached, cases[i].reached, sizeof(fake.reached));
		assert_int_equal(resolve(), 0);
		assert_server(cases[i].taken);
		if (!strstr(said, cases[i].says) || strchr(said, '\n')[1])
			fail_msg("%zu says %s", i, said);
		assert_int_equal(fake.family, AF_UNSPEC);
	}
}

static void the_family_that_is_asked_for(void **state)
{
	for (int i = 0; i < 4; i++) {
		setup(state);
		fake.address[0] = i % 2 ? "2001:db8::1" : "192.0.2.1";
		o.ipv4 = i == 0;
		o.ipv6 = i == 1;
		if (i >= 2)
			o.own = address_of(i % 2 ? "2001:db8::9" : "192.0.2.9");
		assert_int_equal(resolve(), 0);
		assert_int_equal(fake.family, i % 2 ? AF_INET6 : AF_INET);
	}
}

static void what_the_resolver_says(void **state)
{
	static const struct {
		int error, system_error;
		bool ipv4, ipv6;
	} failures[] = {
		{ EAI_NONAME, 0, false, false },
		{ EAI_AGAIN, 0, true, false },
		{ EAI_NONAME, 0, false, true },
		{ EAI_SYSTEM, EMFILE, false, false },
	};

	for (size_t i = 0; i < COUNT_OF(failures); i++) {
		setup(state);
		fake.error = failures[i].error;
		fake.system_error = failures[i].system_error;
		o.ipv4 = failures[i].ipv4;
		o.ipv6 = failures[i].ipv6;
		assert_int_equal(resolve(), -ENOENT);
		golden_line(said);
	}
}

static void whom_the_resolver_asks(void **state)
{
	static const struct {
		const char *name_switch, *resolver, *says;
	} files[] = {
		{ "passwd: files\nhosts: files dns\nnetworks: db\n", "search here\nnameserver 192.0.2.1\n",
		  ": sources: files dns (192.0.2.1)" },
		{ "# hosts: nis\nhosts:\tfiles  mdns4_minimal [NOTFOUND=return] dns # as ever",
		  "nameserver 192.0.2.1\nnameserver\t2001:db8::1 # the other\n",
		  ": sources: files mdns4_minimal [NOTFOUND=return] dns (192.0.2.1 2001:db8::1)" },
		{ "hosts: files\n", "", ": sources: files" },
		{ "hosts:\n", "nameserver 192.0.2.1", "" },
		{ "", "", "" },
	};
	char name_switch[FILE_BYTES], resolver[FILE_BYTES], text[FILE_BYTES];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		strcpy(name_switch, files[i].name_switch);
		strcpy(resolver, files[i].resolver);
		write_sources(name_switch, resolver, text);
		assert_string_equal(text, files[i].says);
	}
	/* A list that exceeds the buffer is cut off. */
	for (size_t i = 0; i < sizeof(name_switch) - 1; i++)
		name_switch[i] = i % 3 ? 'x' : ' ';
	memcpy(name_switch, "hosts:", 6);
	name_switch[sizeof(name_switch) - 1] = '\0';
	strcpy(resolver, "nameserver 192.0.2.1");
	write_sources(name_switch, resolver, text);
	assert_int_equal(strlen(text), strlen(": sources: ") + FILE_BYTES / 4 - 1 + strlen(" (192.0.2.1)"));
}

static void it_takes_long(void **state)
{
	for (int slow = 0; slow < 2; slow++) {
		setup(state);
		fake.address[0] = "192.0.2.1";
		fake.takes_ns = slow ? 1300 * NS_PER_MS : 200 * NS_PER_MS;
		assert_int_equal(resolve(), 0);
		golden("%s:\n%s", slow ? "slow" : "fast", said);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_name, setup), cmocka_unit_test_setup(which_is_taken, setup),
		cmocka_unit_test_setup(the_family_that_is_asked_for, setup),
		cmocka_unit_test_setup(what_the_resolver_says, setup),
		cmocka_unit_test(whom_the_resolver_asks), cmocka_unit_test_setup(it_takes_long, setup),
	};

	program_invocation_short_name = (char *)"rant";
	return golden_run(tests);
}

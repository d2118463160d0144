// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses of three families, names of hosts, prefixes. */
#include "options/value.h"

#include <arpa/inet.h>
#include <string.h>

/* Six pairs of hexadecimal digits with colons between them. */
static bool read_mac(const char *text, uint8_t mac[6])
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	for (int i = 0; i < 17; i++) {
		const char *digit = strchr(digits, text[i]);

		if (!text[i] || (i % 3 == 2 ? text[i] != ':' : !digit))
			return false;
		if (i % 3 != 2)
			mac[i / 3] = (uint8_t)(mac[i / 3] << 4 | (digit - digits) % 16);
	}
	return !text[17];
}

static int set_mac(const struct option_row *row, const char *text, const uint8_t mac[6], union address *server)
{
	if (mac[0] & 1)
		return option_refuse(row, text, "is the address of a group and not of one interface");
	if (!memcmp(mac, "\0\0\0\0\0", 6))
		return option_refuse(row, text, "is nobody's address");
	server->ll = (struct sockaddr_ll){ .sll_family = AF_PACKET, .sll_halen = 6 };
	memcpy(server->ll.sll_addr, mac, 6);
	return 0;
}

/* Up to a '%' or a '/', as inet_pton() wants it. */
static bool read_ipv6(const char *text, size_t bytes, struct in6_addr *in6)
{
	char address[INET6_ADDRSTRLEN];

	if (bytes >= sizeof(address))
		return false;
	memcpy(address, text, bytes);
	address[bytes] = '\0';
	return inet_pton(AF_INET6, address, in6) == 1;
}

/* Which interface the zone must name is not known before all options are: zone_elsewhere(). */
static int set_ipv6(const struct option_row *row, const char *text, union address *address)
{
	const size_t bytes = strcspn(text, "%");

	if (!read_ipv6(text, bytes, &address->in6.sin6_addr))
		return option_refuse(row, text, "is not an IPv6 address");
	address->in6.sin6_family = AF_INET6;
	if (IN6_IS_ADDR_V4MAPPED(&address->in6.sin6_addr))
		return option_refuse(row, text, "is an IPv4 address as IPv6 writes it, give its last four numbers");
	if (text[bytes] && !address_is_link_local(address))
		return option_refuse(row, text, "has a zone, which is only for link-local addresses (fe80::/10)");
	return 0;
}

/* What a resolver may be asked for (RFC 1123 section 2.1), and what is no mistyped address. */
static bool is_name(const char *text)
{
	static const char letters[] = "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const size_t length = strlen(text);
	struct in_addr number;

	return length && length <= 253 && strspn(text, letters) == length && *text != '-' && *text != '.' &&
	       !inet_aton(text, &number);
}

int option_set_address(const struct option_row *row, const char *text, void *field)
{
	struct options *o = (struct options *)((char *)field - row->offset);
	const bool may_be_name = row->letter == 'a';
	union address *address = field;
	uint8_t mac[6] = { 0 };

	*address = (union address){ .any.sa_family = AF_UNSPEC };
	if (may_be_name)
		o->server_name = NULL;
	if (may_be_name && read_mac(text, mac))
		return set_mac(row, text, mac, address);
	if (inet_pton(AF_INET, text, &address->in.sin_addr) == 1) {
		address->in.sin_family = AF_INET;
		return 0;
	}
	if (strchr(text, ':'))
		return set_ipv6(row, text, address);
	if (text[strspn(text, "0123456789./-")] == '\0')
		return option_refuse(row, text, "is not an IPv4 address");
	if (!may_be_name || !is_name(text))
		return option_refuse(row, text, may_be_name ? "is neither an address nor a name" :
				     "is not an IP address");
	o->server_name = text;
	return 0;
}

/* The length behind the slash, 0 to `most`; -1: it is none. */
static int prefix_bits(const char *text, int most)
{
	size_t digits = strspn(text, "0123456789");
	int bits = 0;

	if (!digits || digits > (most > 99 ? 3 : 2) || text[digits])
		return -1;
	while (*text)
		bits = 10 * bits + *text++ - '0';
	return bits <= most ? bits : -1;
}

/* Of the two families; what is behind the slash is not looked at. */
static bool read_prefix(const char *text, union address *at)
{
	const size_t bytes = strcspn(text, "/");
	char address[INET_ADDRSTRLEN] = "";

	at->any.sa_family = memchr(text, ':', bytes) ? AF_INET6 : AF_INET;
	if (at->any.sa_family == AF_INET6)
		return read_ipv6(text, bytes, &at->in6.sin6_addr);
	if (bytes < sizeof(address))
		memcpy(address, text, bytes);
	return inet_pton(AF_INET, address, &at->in.sin_addr) == 1;
}

/* The first bits of one of IPv6 as it is in memory. */
static void make_mask(int bits, uint64_t mask[2])
{
	uint8_t *octet = (uint8_t *)mask;

	for (int i = 0; i < 16; i++, bits -= 8)
		octet[i] = bits >= 8 ? 0xff : bits > 0 ? (uint8_t)(0xff00 >> bits) : 0;
}

int option_set_prefix(const struct option_row *row, const char *text, void *field)
{
	const char *length = strchr(text, '/');
	struct allow_list *list = field;
	struct allow_prefix p = { .ipv6 = false };
	union address at = { .any.sa_family = AF_UNSPEC };
	int most, bits;

	if (!read_prefix(text, &at))
		return option_refuse(row, text, at.any.sa_family == AF_INET6 ? "is not an IPv6 prefix" :
				     "is not an IPv4 prefix");
	p.ipv6 = at.any.sa_family == AF_INET6;
	most = p.ipv6 ? 128 : 32;
	bits = length ? prefix_bits(length + 1, most) : most;
	if (bits < 0)
		return option_refuse(row, text, p.ipv6 ? "has no length of 0 to 128 behind the slash" :
				     "has no length of 0 to 32 behind the slash");
	if (p.ipv6 && bits >= 96 && IN6_IS_ADDR_V4MAPPED(&at.in6.sin6_addr))
		return option_refuse(row, text, "is an IPv4 prefix as IPv6 writes it, by which nobody comes");
	address_as_ipv6(&at, p.address);
	make_mask(p.ipv6 ? bits : 96 + bits, p.mask);
	if (p.address[0] & ~p.mask[0] || p.address[1] & ~p.mask[1])
		return option_refuse(row, text, "has bits set behind its length");
	if (list->prefixes == ALLOW_MAX) {
		_Static_assert(ALLOW_MAX == 32, "the sentence below says how many");
		return option_refuse(row, text, "is one more than the 32 that are allowed");
	}
	list->prefix[list->prefixes++] = p;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses of IPv4, IPv6 and Ethernet, host names, prefixes. */
#include "options/inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* Reads six pairs of hexadecimal digits separated by colons. */
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
		return option_refuse(row, text, "is a group address");
	if (!memcmp(mac, "\0\0\0\0\0", 6))
		return option_refuse(row, text, "is not the address of an interface");
	server->ll = (struct sockaddr_ll){ .sll_family = AF_PACKET, .sll_halen = 6 };
	memcpy(server->ll.sll_addr, mac, 6);
	return 0;
}

/* Reads the first `bytes` octets: inet_pton() takes neither a zone (%) nor a prefix length (/). */
static bool read_ipv6(const char *text, size_t bytes, struct in6_addr *in6)
{
	char address[INET6_ADDRSTRLEN];

	if (bytes >= sizeof(address))
		return false;
	memcpy(address, text, bytes);
	address[bytes] = '\0';
	return inet_pton(AF_INET6, address, in6) == 1;
}

/* options/rules.c compares the zone with the interface, which may be given later: zone_elsewhere(). */
static int set_ipv6(const struct option_row *row, const char *text, union address *address)
{
	const size_t bytes = strcspn(text, "%");

	if (!read_ipv6(text, bytes, &address->in6.sin6_addr))
		return option_refuse(row, text, "is not an IPv6 address");
	address->in6.sin6_family = AF_INET6;
	if (IN6_IS_ADDR_V4MAPPED(&address->in6.sin6_addr))
		return option_refuse(row, text, "is an IPv4-mapped IPv6 address, give the IPv4 address in it");
	if (text[bytes] && !address_is_link_local(address))
		return option_refuse(row, text, "has a zone, which only link-local addresses (fe80::/10) have");
	return 0;
}

/* True for a host name (RFC 1123 section 2.1) that is not a mistyped IPv4 address. */
static bool is_name(const char *text)
{
	static const char letters[] = "-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const size_t length = strlen(text);
	struct in_addr number;

	return length && length <= 253 && strspn(text, letters) == length && *text != '-' && *text != '.' &&
	       !inet_aton(text, &number);
}

/* "192.0.2.1:862", "name:862" or "[2001:db8::1]:862": one line with the option for the port. */
static bool has_port(const struct option_row *row, const char *text)
{
	const char *colon = strrchr(text, ':');
	struct phrase why = { "" };
	int host_bytes;

	if (!colon || colon == text || !colon[1] || strlen(colon + 1) > 5 || colon[1 + strspn(colon + 1, "0123456789")])
		return false;
	if (strchr(text, ':') != colon && (*text != '[' || colon[-1] != ']'))
		return false;
	host_bytes = (int)(colon - text) > 60 ? 60 : (int)(colon - text);
	if (*text == '[')
		phrase_add(&why, "has a port in it (write %.*s --port %s)", host_bytes - 2, text + 1, colon + 1);
	else
		phrase_add(&why, "has a port in it (write %.*s --port %s)", host_bytes, text, colon + 1);
	option_refuse(row, text, why.text);
	return true;
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
	if (may_be_name && !option_has_control(text) && has_port(row, text))
		return -EINVAL;
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

/* The prefix length after the slash, 0 to `most`; -1: malformed or too large. */
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

/* Reads the address before the slash, of IPv4 or IPv6. */
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

/* A mask of the first `bits` bits of an IPv6 address, in network byte order. */
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
		return option_refuse(row, text, p.ipv6 ? "has no prefix length of 0 to 128 after the slash" :
				     "has no prefix length of 0 to 32 after the slash");
	if (p.ipv6 && bits >= 96 && IN6_IS_ADDR_V4MAPPED(&at.in6.sin6_addr))
		return option_refuse(row, text, "is an IPv4-mapped IPv6 prefix, which matches no packet");
	address_as_ipv6(&at, p.address);
	make_mask(p.ipv6 ? bits : 96 + bits, p.mask);
	if (p.address[0] & ~p.mask[0] || p.address[1] & ~p.mask[1])
		return option_refuse(row, text, "has bits set after its prefix length");
	if (list->prefixes == ALLOW_MAX) {
		_Static_assert(ALLOW_MAX == 32, "the message below has this number");
		return option_refuse(row, text, "is the 33rd prefix, 32 are allowed");
	}
	list->prefix[list->prefixes++] = p;
	return 0;
}

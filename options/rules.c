// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of rules that concern two options: the condition that breaks each, and its message. */
#include "options/inside.h"

#include <err.h>
#include <errno.h>
#include <string.h>

static bool reads_files(const struct parse *p)
{
	return p->o->report || p->o->compare || p->o->explain_path;
}

static bool no_interface(const struct parse *p)
{
	return !options_given(p, "interface") && !reads_files(p) && !p->o->host_given && !p->o->check;
}

static bool mac_without_interface(const struct parse *p)
{
	return !options_given(p, "interface") && p->o->server.any.sa_family == AF_PACKET;
}

static bool link_local_without_interface(const struct parse *p)
{
	return !options_given(p, "interface") && address_is_link_local(&p->o->server);
}

static bool save_without_trace(const struct parse *p)
{
	return p->o->save_trace_path && !p->o->trace_marker;
}

static bool events_without_trace(const struct parse *p)
{
	return options_given(p, "trace-events") && !p->o->trace_marker;
}

static bool rearm_without_continue(const struct parse *p)
{
	return p->o->trace_rearm && !p->o->keep_going && (p->o->threshold_ns || !p->o->allow_freeze);
}

static bool snapshot_without_breach(const struct parse *p)
{
	return options_given(p, "snapshot") && !p->o->threshold_ns && !p->o->allow_freeze;
}

static bool stop_and_continue(const struct parse *p)
{
	return p->o->on_breach.stop && p->o->keep_going;
}

static bool full_without_stages(const struct parse *p)
{
	return p->o->stages.detail == STAGES_FULL && !p->o->sw_timestamps;
}

static bool full_without_stamps(const struct parse *p)
{
	return p->o->stages.detail == STAGES_FULL && p->o->sw_timestamps && p->o->stamp != STAMP_BEST &&
	       !options_on_wire(p->o);
}

/* Hardware timestamps are left out by another option. */
static bool not_by_nic(const struct parse *p)
{
	return p->o->stamp != STAMP_BEST && !options_by_nic(p->o);
}

static bool provider_of_nothing(const struct parse *p)
{
	return p->o->provider && not_by_nic(p);
}

static bool filter_of_nothing(const struct parse *p)
{
	return p->o->rx_filter && not_by_nic(p);
}

static bool give_up_before_timeout(const struct parse *p)
{
	return p->o->give_up_ns && p->o->give_up_ns < p->o->timeout_ns;
}

static bool user_stamps_and_others(const struct parse *p)
{
	return p->o->no_hw_stamps && options_given(p, "stamp") && strcmp(options_given(p, "stamp"), "user");
}

static bool overflow_below_bucket(const struct parse *p)
{
	return p->o->overflow_ns < p->o->bucket_ns;
}

static bool budget_without_busy_poll(const struct parse *p)
{
	return p->o->busy_poll_budget && options_given(p, "busy-poll-us") && !p->o->busy_poll_us;
}

static bool preference_without_busy_poll(const struct parse *p)
{
	return p->o->prefer_busy_poll && options_given(p, "busy-poll-us") && !p->o->busy_poll_us;
}

static bool seed_without_chance(const struct parse *p)
{
	return p->o->seed >= 0 && !p->o->jitter_percent && !p->o->poisson;
}

static bool window_with_counters(const struct parse *p)
{
	return p->o->pmc && p->o->window > 1;
}

static bool ports_with_counters(const struct parse *p)
{
	return p->o->pmc && p->o->source_ports > 1;
}

static bool load_without_window(const struct parse *p)
{
	return p->o->stamp_every > 1 && p->o->window < 2 && p->o->source_ports < 2;
}

static bool load_by_user(const struct parse *p)
{
	return p->o->stamp_every > 1 && p->o->stamp == SOURCE_USER;
}

static bool plain_number(const struct parse *p)
{
	return p->o->plain && p->o->threshold_on != METRIC_RTT;
}

static bool duration_zero(const struct parse *p)
{
	return options_given(p, "duration") && !p->o->duration_ns;
}

static bool has_fast_path(const struct parse *p)
{
	return p->o->fast_path;
}

static bool has_threaded(const struct parse *p)
{
	return p->o->threaded;
}

static bool is_echo(const struct parse *p)
{
	return options_echoes(p->o);
}

static bool echo_by_nobody(const struct parse *p)
{
	return is_echo(p) && p->o->role == ROLE_REFLECT && !p->o->check;
}

static bool echo_of_port(const struct parse *p)
{
	return is_echo(p) && options_given(p, "port");
}

static bool echo_of_ports(const struct parse *p)
{
	return is_echo(p) && p->o->source_ports > 1;
}

static bool echo_with_key(const struct parse *p)
{
	return is_echo(p) && p->o->key_path;
}

static bool echo_of_metric(const struct parse *p)
{
	return is_echo(p) && p->o->threshold_on != METRIC_RTT;
}

static bool echo_freeze(const struct parse *p)
{
	return is_echo(p) && p->o->freeze_peer;
}

static bool echo_log_full(const struct parse *p)
{
	return is_echo(p) && p->o->log_full;
}

static bool echo_synced(const struct parse *p)
{
	return is_echo(p) && options_given(p, "synced");
}

static bool echo_busy_poll(const struct parse *p)
{
	return is_echo(p) && p->o->busy_poll_us;
}

static bool port_of_ptp(const struct parse *p)
{
	return options_in_ptp(p->o) && options_given(p, "port");
}

static bool ports_in_ptp(const struct parse *p)
{
	return options_in_ptp(p->o) && p->o->source_ports > 1;
}

static bool type_without_ptp(const struct parse *p)
{
	return !options_in_ptp(p->o) && options_given(p, "ptp-type");
}

static bool domain_without_ptp(const struct parse *p)
{
	return !options_in_ptp(p->o) && options_given(p, "ptp-domain");
}

static bool on_ethernet(const struct parse *p)
{
	return p->o->transport == TRANSPORT_L2;
}

static bool mac_without_ethernet(const struct parse *p)
{
	return p->o->server.any.sa_family == AF_PACKET && !on_ethernet(p);
}

static bool ip_on_ethernet(const struct parse *p)
{
	return options_given(p, "address") && p->o->server.any.sa_family != AF_PACKET && on_ethernet(p);
}

static bool ipv4_on_ethernet(const struct parse *p)
{
	return p->o->ipv4 && on_ethernet(p);
}

static bool ipv6_on_ethernet(const struct parse *p)
{
	return p->o->ipv6 && on_ethernet(p);
}

/* True for an IP address of the other family. */
static bool is_other(const union address *a, int family)
{
	return (a->any.sa_family == AF_INET || a->any.sa_family == AF_INET6) && a->any.sa_family != family;
}

static bool address_not_ipv4(const struct parse *p)
{
	return p->o->ipv4 && is_other(&p->o->server, AF_INET);
}

static bool address_not_ipv6(const struct parse *p)
{
	return p->o->ipv6 && is_other(&p->o->server, AF_INET6);
}

static bool bind_not_ipv4(const struct parse *p)
{
	return p->o->ipv4 && is_other(&p->o->own, AF_INET);
}

static bool bind_not_ipv6(const struct parse *p)
{
	return p->o->ipv6 && is_other(&p->o->own, AF_INET6);
}

static bool bind_not_as_address(const struct parse *p)
{
	return p->o->own.any.sa_family != AF_UNSPEC && is_other(&p->o->server, p->o->own.any.sa_family);
}

/* True for an address whose zone is not the interface. */
static bool zone_elsewhere(const struct parse *p, const char *name)
{
	const char *zone = options_given(p, name) ? strchr(options_given(p, name), '%') : NULL;

	return zone && p->o->interface && strcmp(zone + 1, p->o->interface);
}

static bool address_elsewhere(const struct parse *p)
{
	return zone_elsewhere(p, "address");
}

static bool bind_elsewhere(const struct parse *p)
{
	return zone_elsewhere(p, "bind");
}

static bool bind_on_ethernet(const struct parse *p)
{
	return options_given(p, "bind") && on_ethernet(p);
}

static bool dscp_on_ethernet(const struct parse *p)
{
	return options_given(p, "dscp") && on_ethernet(p);
}

static bool ttl_on_ethernet(const struct parse *p)
{
	return options_given(p, "ttl") && on_ethernet(p);
}

static bool allow_on_ethernet(const struct parse *p)
{
	return options_given(p, "allow") && on_ethernet(p);
}

static bool busy_poll_on_ethernet(const struct parse *p)
{
	return p->o->busy_poll_us && on_ethernet(p);
}

/* IEEE 1588-2019 section 14.1: the length of a TLV is even. */
static bool odd_in_ptp(const struct parse *p)
{
	return options_in_ptp(p->o) && p->o->size_bytes % 2;
}

static const struct rule {
	bool (*broken)(const struct parse *p); /* NULL: broken if `first` is given with, or without, `second` */
	const char *first;
	const char *second; /* NULL: the rule concerns `first` alone */
	const char *joint; /* message: "--first 1 joint --second 2: why", or "--first why" */
	const char *why;
} rules[] = {
	{ NULL, "report", "compare", "with", "give one of the two" },
	{ NULL, "explain", "report", "with", "give one of the two" },
	{ NULL, "explain", "compare", "with", "give one of the two" },
	{ NULL, "tolerance", "compare", "without", "only --compare has a tolerance" },
	{ NULL, "anyway", "compare", "without", "only --compare checks that settings are the same" },
	{ NULL, "prove", "check", "with", "give one of the two" },
	{ no_interface, "interface", NULL, NULL,
	  "is missing: give the name of a network interface ('ip link' lists them), or 'rant HOST' to emit by the route" },
	{ mac_without_interface, "interface", NULL, NULL,
	  "is missing: a MAC address has no route, give the name of a network interface" },
	{ link_local_without_interface, "interface", NULL, NULL,
	  "is missing: a link-local address is valid on one link only, give its interface, as in fe80::1%eth0" },
	{ full_without_stages, "stages", "sw-timestamps", "without", "its times divide the stages of -s, add -s" },
	{ full_without_stamps, "stages", NULL, NULL,
	  "full needs transmit timestamps: leave out --no-tx-ts, --no-hw-ts and --stamp user" },
	{ provider_of_nothing, "provider", NULL, NULL,
	  "has no use without hardware timestamps: leave it out, or leave out --no-tx-ts, --no-hw-ts and --stamp" },
	{ filter_of_nothing, "rx-filter", NULL, NULL,
	  "has no use without hardware timestamps: leave it out, or leave out --no-tx-ts, --no-hw-ts and --stamp" },
	{ NULL, "once", "address", "with", "only a reflector waits for emitters, use --count or --duration" },
	{ NULL, "allow", "address", "with", "only a reflector answers" },
	{ NULL, "allow-short", "address", "with", "only a reflector answers" },
	{ NULL, "rate-limit", "address", "with", "only a reflector answers" },
	{ NULL, "sessions", "address", "with", "only a reflector answers" },
	{ NULL, "spin", "address", "with", "only a reflector sleeps while no request arrives" },
	{ NULL, "allow-short", "key", "with", "an authenticated request has 112 octets or more" },
	{ NULL, "once-silence", "once", "without", "only --once waits for a silence" },
	{ NULL, "give-up", "address", "without", "a reflector waits for emitters, see --once" },
	{ give_up_before_timeout, "give-up", "timeout", "with",
	  "a reply may still arrive in time, give at least the timeout" },
	{ NULL, "vlan-priority", "priority", "with", "it sets SO_PRIORITY too, give one of the two" },
	{ NULL, "size", "address", "without", "a reply is as long as its request" },
	{ NULL, "plain", "address", "without", "the request decides the form of a reply" },
	{ NULL, "interval", "address", "without", "a reflector only answers requests" },
	{ NULL, "window", "address", "without", "a reflector only answers requests" },
	{ window_with_counters, "pmc", "window", "with",
	  "the counters cover one exchange at a time, give --window 1" },
	{ NULL, "source-ports", "address", "without", "a reflector answers from the port of the request" },
	{ ports_with_counters, "pmc", "source-ports", "with", "the counters cover one socket, give --source-ports 1" },
	{ NULL, "stamp-every", "address", "without", "a reflector stamps all replies, or with --no-tx-ts no reply" },
	{ load_without_window, "stamp-every", "window", "without",
	  "one probe at a time makes no load, give --window N or --interval TIME" },
	{ load_by_user, "stamp-every", NULL, NULL,
	  "has no use with --stamp user, where no timestamp has to be waited for: leave it out" },
	{ port_of_ptp, "port", "transport", "with", "PTP fixes the port, leave it out" },
	{ ports_in_ptp, "source-ports", "transport", "with", "PTP has a single port, leave it out" },
	{ echo_by_nobody, "transport", "address", "without",
	  "any host answers an echo by itself: give --address to emit, no reflector is needed" },
	{ echo_of_port, "port", "transport", "with", "an echo has no port" },
	{ echo_of_ports, "source-ports", "transport", "with", "an echo has no port" },
	{ echo_with_key, "key", "transport", "with", "an echo returns unchanged, which cannot prove a key" },
	{ echo_of_metric, "threshold-on", "transport", "with", "an echo carries no times of the responder" },
	{ echo_freeze, "freeze-peer", "transport", "with", "the responder of an echo has no trace of rant" },
	{ echo_log_full, "log-full", "transport", "with", "an echo carries no times of the responder" },
	{ echo_synced, "synced", "transport", "with", "an echo carries no times of the responder" },
	{ echo_busy_poll, "busy-poll-us", "transport", "with", "the kernel does not busy-poll for ICMP sockets" },
	{ type_without_ptp, "ptp-type", "transport", "with", "only --transport ptp and l2 send PTP messages" },
	{ domain_without_ptp, "ptp-domain", "transport", "with", "only --transport ptp and l2 send PTP messages" },
	{ mac_without_ethernet, "address", "transport", "with", "a MAC address is for --transport l2, at both ends" },
	{ ip_on_ethernet, "address", "transport", "with",
	  "this transport has no IP, give the MAC address of the reflector" },
	{ NULL, "ipv4", "ipv6", "with",
	  "a reflector answers both families without these options, and an emitter takes the first address of a name "
	  "that has a route" },
	{ address_not_ipv4, "address", "ipv4", "with", "that is an IPv6 address" },
	{ address_not_ipv6, "address", "ipv6", "with", "that is an IPv4 address" },
	{ bind_not_ipv4, "bind", "ipv4", "with", "that is an IPv6 address" },
	{ bind_not_ipv6, "bind", "ipv6", "with", "that is an IPv4 address" },
	{ bind_not_as_address, "bind", "address", "with", "one is IPv4 and one is IPv6, give two of the same family" },
	{ address_elsewhere, "address", "interface", "with",
	  "the zone after the % must be this interface: leave it out" },
	{ bind_elsewhere, "bind", "interface", "with", "the zone after the % must be this interface: leave it out" },
	{ ipv4_on_ethernet, "ipv4", "transport", "with", "this transport has no IP" },
	{ ipv6_on_ethernet, "ipv6", "transport", "with", "this transport has no IP" },
	{ bind_on_ethernet, "bind", "transport", "with", "this transport has no IP addresses" },
	{ dscp_on_ethernet, "dscp", "transport", "with", "this transport has no IP header" },
	{ ttl_on_ethernet, "ttl", "transport", "with", "this transport has no IP header" },
	{ allow_on_ethernet, "allow", "transport", "with", "this transport has no IP addresses" },
	{ busy_poll_on_ethernet, "busy-poll-us", "transport", "with",
		"the kernel does not busy-poll for packet sockets" },
	{ odd_in_ptp, "size", "transport", "with", "the contents of a PTP message have an even length" },
	{ NULL, "pacing", "interval", "without", "give --interval TIME" },
	{ NULL, "jitter", "interval", "without", "give --interval TIME" },
	{ NULL, "poisson", "interval", "without", "give --interval TIME" },
	{ NULL, "poisson", "jitter", "with", "its intervals are random already" },
	{ seed_without_chance, "seed", "jitter", "without",
	  "nothing is random, give --jitter PCT or --poisson" },
	{ NULL, "synced", "address", "without", "only an emitter has the times of both ends" },
	{ NULL, "threshold-on", "address", "without", "a reflector checks its response time only" },
	{ NULL, "log-full", "address", "without", "only an emitter has the times of both ends" },
	{ NULL, "threshold-on", "threshold", "without",
	  "give --threshold US" },
	{ NULL, "log-full", "log", "without", "give --log FILE" },
	{ NULL, "plain", "log-full", "with", "--plain requests no times of the reflector" },
	{ plain_number, "plain", "threshold-on", "with", "--plain requests no times of the reflector" },
	{ NULL, "plain", "size", "with", "a plain packet has 44 octets" },
	{ user_stamps_and_others, "no-hw-ts", "stamp", "with", "it means --stamp user, give one of the two" },
	{ NULL, "on-breach", "threshold", "without", "only a threshold causes breaches, give --threshold US" },
	{ stop_and_continue, "on-breach", "continue", "with", "give stop or continue" },
	{ save_without_trace, "save-trace", "trace-marker", "without", "give -T or -S" },
	{ events_without_trace, "trace-events", "trace-marker", "without", "give -T or -S" },
	{ NULL, "trace-rearm", "save-trace", "without", "an unsaved trace would be overwritten" },
	{ rearm_without_continue, "trace-rearm", "continue", "without", "the run ends at the first breach" },
	{ NULL, "freeze-peer", "address", "without",
	  "a reflector's own breaches freeze the trace of an emitter that has it; the other way is --allow-freeze" },
	{ NULL, "freeze-peer", "threshold", "without", "only a threshold causes breaches, give --threshold US" },
	{ NULL, "plain", "freeze-peer", "with", "a plain packet has no room for the request" },
	{ NULL, "allow-freeze", "address", "with", "only a reflector is asked; for an emitter it is --freeze-peer" },
	{ NULL, "log-format", "log", "without", "give --log FILE" },
	{ NULL, "log-last", "log", "without", "give --log FILE" },
	{ NULL, "log-rotate", "log", "without", "give --log FILE" },
	{ NULL, "every", "quiet", "with", "--quiet suppresses the lines of intervals, give one of the two" },
	{ NULL, "summary-every", "quiet", "with", "--quiet suppresses the summary lines, give one of the two" },
	{ overflow_below_bucket, "overflow", "bucket-size", "with",
	  "the overflow threshold must be at least one bucket" },
	{ budget_without_busy_poll, "budget", "busy-poll-us", "with",
	  "without a busy-poll time the kernel ignores it" },
	{ preference_without_busy_poll, "prefer-busypoll", "busy-poll-us", "with",
	  "without a busy-poll time the kernel ignores it" },
};

/* Warnings of options without effect, printed if no rule is broken; derive() in options.c ignores these options. */
static const struct rule notes[] = {
	{ NULL, "continue", "threshold", "without", "ignored, only a threshold causes breaches" },
	{ snapshot_without_breach, "snapshot", "threshold", "without",
	  "ignored except for the -T that it implies, only a threshold causes breaches" },
	{ NULL, "log-threshold", "log", "without", "ignored, give --log FILE" },
	{ NULL, "no-tx-ts", "address", "with",
	  "ignored, a round trip starts at a transmit timestamp; the option is for reflectors" },
	{ duration_zero, "duration", NULL, NULL, "of 0 means no limit: the run ends when interrupted" },
	{ has_fast_path, "fast-path", NULL, NULL,
	  "has no effect: every run has the shortest path between send and receive" },
	{ has_threaded, "threaded", NULL, NULL,
	  "has no effect: one thread sends, receives and fetches timestamps without waiting for them" },
};

/* The option with its given value, or with its default. */
static struct phrase as_given(const struct parse *p, const char *name)
{
	const char *text = options_given(p, name);
	struct phrase value = text ? phrase_excerpt(text) : phrase_default(option_named(name)), option = { "" };

	phrase_add(&option, "--%s%s%s", name, *value.text ? " " : "", value.text);
	return option;
}

static bool is_broken(const struct parse *p, const struct rule *r)
{
	if (r->broken)
		return r->broken(p);
	if (!r->second)
		return !options_given(p, r->first);

	bool without = !strcmp(r->joint, "without");

	return options_given(p, r->first) && without == !options_given(p, r->second);
}

static void say_rule(const struct parse *p, const struct rule *r, const char *prefix)
{
	if (r->second)
		warnx("%s%s %s %s: %s", prefix, as_given(p, r->first).text, r->joint, as_given(p, r->second).text,
		      r->why);
	else
		warnx("--%s %s", r->first, r->why);
}

/* --report, --compare and --explain refuse options of a run, which could be taken for settings of the saved runs. */
static int check_reading(const struct parse *p)
{
	static const char *const of_both[] = { "report", "compare", "json", "quiet", "verbose", "details",
					       "color", "tolerance" };
	static const char *const of_report[] = { "histogram", "overflow", "bucket-size", "jsonl", "hgrm", "hlog",
						 "prometheus" };
	static const char *const of_compare[] = { "strict", "anyway" };
	const bool explain = p->o->explain_path;
	const char *mode = p->o->report ? "report" : explain ? "explain" : "compare";

	for (const struct option_row *row = option_table; row < option_table + option_rows; row++) {
		bool fits = !p->given[row - option_table];

		if (explain)
			fits |= !strcmp(row->name, "explain") || !strcmp(row->name, "quiet") ||
				!strcmp(row->name, "json");
		for (size_t i = 0; i < sizeof(of_both) / sizeof(of_both[0]) && !explain; i++)
			fits |= !strcmp(row->name, of_both[i]);
		for (size_t i = 0; i < sizeof(of_report) / sizeof(of_report[0]) && p->o->report; i++)
			fits |= !strcmp(row->name, of_report[i]);
		for (size_t i = 0; i < sizeof(of_compare) / sizeof(of_compare[0]) && p->o->compare; i++)
			fits |= !strcmp(row->name, of_compare[i]);
		if (fits)
			continue;
		warnx("%s with --%s: the option concerns a measurement, and this mode only reads files: leave it out",
		      as_given(p, row->name).text, mode);
		return -EINVAL;
	}
	if (explain || (p->o->compare ? p->o->files == 2 : p->o->files > 0))
		return 0;
	warnx("--%s needs %s", mode, p->o->compare ?
	      "two files that --json has written: first the earlier run, then the later one" :
						      "files: give logs, or files that --json has written");
	return -EINVAL;
}

/* --prove chooses sizes, rates and timestamps itself. */
static int check_proving(const struct parse *p)
{
	static const char *const accepted[] = { "prove", "interface", "address", "ipv4", "ipv6", "port", "transport", "key",
						"provider", "rx-filter", "cpu", "fifo", "no-step-check", "json", "quiet" };

	for (const struct option_row *row = option_table; row < option_table + option_rows; row++) {
		bool fits = !p->given[row - option_table];

		for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
			fits |= !strcmp(row->name, accepted[i]);
		if (fits)
			continue;
		warnx("%s with --prove: it chooses the packets itself and uses timestamps of the NIC: leave it out",
		      as_given(p, row->name).text);
		return -EINVAL;
	}
	return 0;
}

/* A time without a unit that makes sense in another unit only: "--interval 1" is 1 us. */
static void warn_bare_times(const struct parse *p)
{
	for (const struct option_row *row = option_table; row < option_table + option_rows; row++) {
		const char *given = p->given[row - option_table];
		const int64_t value = given && row->ns ? *(const int64_t *)((const char *)p->o + row->offset) : 0;

		if (!value || !option_has_no_unit(given))
			continue;
		if ((row->bare_min && value < row->bare_min) || (row->bare_max && value > row->bare_max))
			warnx("warning: --%s %s means %s %s: write the unit, for example 1ms or 1s", row->name,
			      phrase_excerpt(given).text, phrase_excerpt(given).text, row->unit);
	}
}

int options_check_rules(const struct parse *p)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!is_broken(p, &rules[i]))
			continue;
		say_rule(p, &rules[i], "");
		return -EINVAL;
	}
	if (reads_files(p))
		return check_reading(p);
	if (p->o->prove)
		return check_proving(p);
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (is_broken(p, &notes[i]))
			say_rule(p, &notes[i], "warning: ");
	warn_bare_times(p);
	return 0;
}

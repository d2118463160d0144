// SPDX-License-Identifier: GPL-2.0-or-later
/* Run, configuration, host and NIC. */
#include "options.h"
#include "report/export/json_parts.h"
#include "report/text/label.h"
#include "report/text/report.h"
#include "report/verdict/verdict.h"
#include "result/result.h"
#include "wire/transport.h"

#include <arpa/inet.h>
#include <errno.h>

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static const char *const ends[] = { [END_NOT_YET] = NULL, [END_DURATION] = "duration", [END_COUNT] = "count",
				    [END_SIGNAL] = "signal",
				    [END_BREACH] = "breach", [END_ONCE] = "once", [END_GONE] = "interface_gone",
				    [END_GIVEN_UP] = "given_up", [END_KNOWN] = "known" };

/* The watch thread ends the run like a signal does, when the interface is gone. */
static enum end end_of(const struct report *r)
{
	const bool gone = r->result->nic.after.error == -ENODEV;

	return gone && r->result->end == END_SIGNAL ? END_GONE : r->result->end;
}

static void put_address(struct json *j, const char *name, const union address *a)
{
	char text[TRANSPORT_NAME_BYTES];

	json_text(j, name, transport_name(a, text));
}

void json_run(struct json *j, const struct report *r, bool over)
{
	const struct result *result = r->result;
	const struct options *o = r->options;
	char latency[64];

	if (json_read_member(j, r, "run"))
		return;
	json_object(j, "run");
	json_text(j, "role", role_name(o->role));
	json_text(j, "interface", o->interface);
	put_address(j, "server", &o->server);
	json_integer_if(j, "port", !result->read || o->port, o->port);
	json_text(j, "stamp", label_stamps[options_on_wire(o) ? o->stamp : SOURCE_USER].option);
	label_latency(o, latency, sizeof(latency));
	json_text(j, "latency", latency);
	if (result->read) {
		json_null(j, "began_unix_ns");
		json_integer_if(j, "duration_ns", result->read->has_duration, result->ended_ns - result->began_ns);
	} else if (over && result->started) {
		json_integer(j, "began_unix_ns",
			     clock_read_ns(CLOCK_REALTIME) - clock_read_ns(CLOCK_MONOTONIC) + result->began_ns);
		json_integer(j, "duration_ns", result->ended_ns - result->began_ns);
	} else if (over) {
		json_null(j, "began_unix_ns");
		json_integer(j, "duration_ns", 0);
	}
	if (over || result->read)
		json_text(j, "end", ends[end_of(r)]);
	json_end(j);
}

/* ---- The configuration ------------------------------------------------------------------------------------------- */

static void put_words(struct json *j, const char *name, const struct system *s)
{
	if (!s->command_bytes) {
		json_null(j, name);
		return;
	}
	json_array(j, name);
	for (size_t at = 0; at < s->command_bytes; at += strlen(s->command + at) + 1)
		json_text(j, NULL, s->command + at);
	json_end(j);
}

static void put_prefixes(struct json *j, const char *name, const struct allow_list *list)
{
	json_array(j, name);
	for (int i = 0; i < list->prefixes; i++) {
		const struct allow_prefix *p = &list->prefix[i];
		char address[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 4];

		inet_ntop(p->ipv6 ? AF_INET6 : AF_INET, (const char *)p->address + (p->ipv6 ? 0 : 12), address,
			  sizeof(address));
		snprintf(text, sizeof(text), "%s/%d", address,
			 __builtin_popcountll(p->mask[0]) + __builtin_popcountll(p->mask[1]) - (p->ipv6 ? 0 : 96));
		json_text(j, NULL, text);
	}
	json_end(j);
}

static void put_hooks(struct json *j, const char *name, const struct breach_hooks *a)
{
	json_array(j, name);
	if (a->stop)
		json_text(j, NULL, "stop");
	if (a->keep_going)
		json_text(j, NULL, "continue");
	for (int i = 0; i < a->commands; i++) {
		char text[512];

		snprintf(text, sizeof(text), "exec:%s", a->command[i]);
		json_text(j, NULL, text);
	}
	json_end(j);
}

static void put_option(struct json *j, const struct options *o, const struct option_value *v)
{
	static const struct {
		const char *unit, *suffix;
	} units[] = { { "ns", "_ns" }, { "octets", "_bytes" }, { "%", "_percent" } };
	char name[JSON_NAME_BYTES];
	const char *suffix = "";

	for (size_t i = 0; v->unit && i < sizeof(units) / sizeof(units[0]); i++)
		suffix = strcmp(v->unit, units[i].unit) ? suffix : units[i].suffix;
	json_name(name, sizeof(name), v->name, suffix);
	if (v->kind == OPTION_NONE)
		json_null(j, name);
	else if (v->kind == OPTION_FLAG)
		json_bool(j, name, v->number);
	else if (v->kind == OPTION_NUMBER)
		json_integer(j, name, v->number);
	else if (v->kind == OPTION_TEXT)
		json_text(j, name, v->text);
	else if (v->kind == OPTION_ADDRESS)
		put_address(j, name, v->address);
	else if (v->kind == OPTION_PREFIXES)
		put_prefixes(j, name, &o->allow);
	else if (v->kind == OPTION_ACTIONS)
		put_hooks(j, name, &o->on_breach);
}

static void put_options(struct json *j, const struct options *o)
{
	struct option_value v;

	json_object(j, "options");
	for (unsigned i = 0; options_value(o, i, &v); i++) {
		if (!strcmp(v.name, "help"))
			break; /* the remaining options do not concern a run */
		if (v.kind != OPTION_ROTATION) {
			put_option(j, o, &v);
			continue;
		}
		json_object(j, "log_rotate");
		json_integer(j, "size_bytes", o->log_rotate.bytes);
		json_integer(j, "files", o->log_rotate.files);
		json_end(j);
	}
	json_end(j);
}

/* Scheduling of the measuring thread. */
static void put_affinity(struct json *j, const struct result_affinity *p)
{
	json_integer_if(j, "cpus_allowed", p->known, p->cpus);
	json_text(j, "policy", p->known ? p->policy : NULL);
	json_integer_if(j, "priority", p->known, p->priority);
	json_text(j, "measuring_thread", *p->text ? p->text : NULL);
}

static void put_granted(struct json *j, const struct report *r)
{
	const struct granted *g = &r->result->granted;
	const struct result *result = r->result;

	json_object(j, "granted");
	json_text(j, "transport", g->transport);
	json_integer(j, "receive_buffer_bytes", g->receive_buffer_bytes);
	json_text(j, "stamps", label_stamps[g->stamps].option);
	json_bool(j, "transmit_stamps", g->transmit_stamps);
	json_text(j, "stamp_ids", !g->transmit_stamps ? NULL : g->stamp_ids_by_message ? "by message" :
		  "counted by the kernel");
	json_bool(j, "receive_by_kernel", g->receive_by_kernel);
	json_integer_if(j, "transmit_by_kernel", g->transmit_by_kernel > 0, g->transmit_by_kernel);
	json_integer(j, "bucket_ns", r->histogram->width_ns);
	if (r->options->role == ROLE_EMIT) {
		json_integer(j, "probe_bytes", result->probe_bytes.value);
		json_integer(j, "window", result->window.most ? result->window.most : 1);
	}
	json_integer(j, "busy_poll_us", r->options->busy_poll_us); /* the kernel does not round it */
	put_affinity(j, &result->affinity);
	json_bool(j, "other_cpu", !r->no_other_cpu);
	if (r->facts)
		json_bool(j, "memory_locked", !r->facts->lock_error);
	json_end(j);
}

/* ---- Runs that were read ----------------------------------------------------------------------------------------- */

static void put_read_setting(struct json *j, const struct read_setting *s)
{
	static const char options[] = "configuration.options.";
	const char *name = s->path + sizeof(options) - 1;

	if (strncmp(s->path, options, sizeof(options) - 1))
		return; /* written in another object */
	if (s->kind == SETTING_NUMBER)
		json_integer(j, name, s->number);
	else if (s->kind == SETTING_BOOL)
		json_bool(j, name, s->number);
	else
		json_text(j, name, s->kind == SETTING_TEXT ? s->text : NULL);
}

/* Options that are equal in all runs, or that the columns of a log show. */
static void put_read_configuration(struct json *j, const struct options *o, const struct read *read)
{
	json_object(j, "configuration");
	json_null(j, "command_line");
	json_object(j, "options");
	json_null(j, "interface");
	json_null(j, "port");
	for (unsigned i = 0; i < read->settings; i++)
		put_read_setting(j, &read->setting[i]);
	if (!read->settings) {
		json_null(j, "timeout_ns");
		json_text(j, "stamp", label_stamps[o->stamp].option);
		json_integer(j, "overflow_ns", o->overflow_ns);
		json_bool(j, "sw_timestamps", o->sw_timestamps);
		json_bool(j, "no_tx_ts", o->no_tx_stamps);
		json_bool(j, "plain", o->plain);
	}
	json_end(j);
	json_null(j, "granted");
	json_end(j);
}

void json_configuration(struct json *j, const struct report *r)
{
	if (json_read_member(j, r, "configuration"))
		return;
	if (r->result->read) {
		put_read_configuration(j, r->options, r->result->read);
		return;
	}
	json_object(j, "configuration");
	put_words(j, "command_line", &r->result->system);
	put_options(j, r->options);
	put_granted(j, r);
	json_end(j);
}

/* ---- The host ---------------------------------------------------------------------------------------------------- */

static void put_known(struct json *j, const char *name, const char *text)
{
	json_text(j, name, *text ? text : NULL);
}

static void put_reported(struct json *j, const char *name, struct optional reported)
{
	if (reported.known)
		json_bool(j, name, reported.value);
	else
		json_null(j, name);
}

static void put_host(struct json *j, const struct report *r)
{
	const int cpu = r->facts && r->facts->thread[1].known ? r->facts->thread[1].cpu : -1;
	const struct system *s = &r->result->system;

	json_object(j, "host");
	put_known(j, "hostname", s->hostname);
	put_known(j, "kernel", s->kernel);
	put_known(j, "kernel_version", s->version);
	put_reported(j, "real_time_kernel", s->is_real_time);
	put_known(j, "machine", s->machine);
	put_known(j, "cpu_model", s->cpu_model);
	json_optional(j, "cpus_online", s->cpus_online);
	json_integer_if(j, "measuring_cpu", cpu >= 0, cpu);
	put_known(j, "governor", s->governor);
	json_text(j, "isolated_cpus", s->isolated_known ? s->isolated : NULL);
	put_known(j, "clocksource", s->clocksource);
	put_reported(j, "virtual", s->is_virtual);
	put_known(j, "hypervisor", s->hypervisor);
	json_end(j);
}

/* ---- The NIC ----------------------------------------------------------------------------------------------------- */

static void put_coalescing(struct json *j, const struct nic_details *d)
{
	if (!json_object_if(j, "coalescing", d->coalescing_known))
		return;
	json_bool(j, "adaptive_receive", d->adaptive_receive);
	json_count(j, "receive_us", d->receive_us);
	json_bool(j, "adaptive_transmit", d->adaptive_transmit);
	json_count(j, "transmit_us", d->transmit_us);
	json_end(j);
}

static void put_setting(struct json *j, const char *name, const struct result_nic_setting *s)
{
	if (!json_object_if(j, name, s->known))
		return;
	json_text(j, "transmit", s->transmit);
	json_text(j, "receive_filter", s->filter);
	json_end(j);
}

/* null: not known. */
static void put_provider(struct json *j, const char *name, const struct nic_provider *p, const char *text)
{
	static const char *const sources[] = { [NIC_SOURCE_UNKNOWN] = NULL, [NIC_SOURCE_MAC] = "mac",
					       [NIC_SOURCE_PHY] = "phy" };
	static const char *const precisions[] = { "precise", "approx", NULL };

	if (!json_object_if(j, name, p->known))
		return;
	json_text(j, "name", text);
	json_text(j, "source", sources[p->source]);
	json_count(j, "phc_index", p->phc_index);
	json_text(j, "precision", precisions[p->qualifier < 2 ? p->qualifier : 2]);
	json_integer_if(j, "phy_index", p->has_phy_index, p->phy_index);
	json_end(j);
}

static void put_nic(struct json *j, const struct report *r)
{
	static const char *const duplex[] = { [NIC_DUPLEX_UNKNOWN] = NULL, [NIC_DUPLEX_HALF] = "half",
					      [NIC_DUPLEX_FULL] = "full" };
	const struct result_nic *n = &r->result->nic;
	const struct nic_details *d = &n->details;

	json_object(j, "nic");
	json_text(j, "interface", n->name);
	put_known(j, "driver", n->driver);
	put_known(j, "driver_version", d->driver_version);
	put_known(j, "firmware", d->firmware);
	put_known(j, "bus", n->bus);
	json_optional(j, "mtu_bytes", n->mtu);
	json_optional(j, "speed_mbps", d->link.speed_mbps);
	json_text(j, "duplex", d->link.speed_mbps.known ? duplex[d->link.duplex] : NULL);
	put_coalescing(j, d);
	/* Timestamping capabilities are read for --stamp hardware only. */
	json_integer_if(j, "phc_index", options_by_nic(r->options) && n->phc_index.known, n->phc_index.value);
	json_text(j, "stamped_by", options_by_nic(r->options) && *n->stamper ? n->stamper : NULL);
	put_setting(j, "stamp_setting", &n->setting[0]);
	put_setting(j, "stamp_setting_after", &n->setting[1]);
	put_provider(j, "provider", &n->provider, n->provider_text);
	put_provider(j, "provider_after", &n->provider_after, n->provider_after_text);
	json_integer_if(j, "provider_changes", n->provider.known, n->provider_changes);
	json_end(j);
}

void json_host(struct json *j, const struct report *r)
{
	if (!json_read_member(j, r, "host"))
		put_host(j, r);
	if (json_read_member(j, r, "nic"))
		return;
	if (nic_is_known(&r->result->nic))
		put_nic(j, r);
	else
		json_null(j, "nic");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks of hardware timestamps: abilities and setting of the NIC, its other users, delivery by the driver. */
#include "doctor/inside.h"
#include "host/nic/nic.h"
#include "host/nic/nic_names.h"
#include "host/nic/nic_provider.h"
#include "host/nic/nic_stamp.h"
#include "options.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <string.h>

/* ---- Abilities, setting, users ----------------------------------------------------------------------------------- */

#define SETTING "SIOCGHWTSTAMP"

/* True if the driver lists a filter for the packets of --transport. */
static bool lists_filter(const struct check *c)
{
	return nic_lists_filter(&c->nic, c->options);
}

/* True for a driver that is known to refuse filter "all" where it does not list it. */
static bool refuses_all(const struct check *c)
{
	const struct nic_driver *d = check_find_driver(c);

	return d && (d->flags & NIC_REFUSES || d->receives == NIC_STAMPS_PTP) && !lists_filter(c);
}

/* The cure: another transport or source, with `try` also an attempt to set the filter. */
static const char *another_way(struct check *c, bool try)
{
	const char *other = nic_other_transport(&c->nic, c->options);
	char ways[64] = "";

	if (other)
		snprintf(ways, sizeof(ways), "rant %s, or ", other);
	if (!try)
		return check_command(c, "%srant --stamp kernel", ways);
	return check_command(c, "%srant --stamp kernel, or try sudo hwstamp_ctl -i %s -t 1 -r 1", ways, c->nic.name);
}

static void look_at_kernel_stamps(struct check *c)
{
	if (c->options->stamp == SOURCE_KERNEL && !(c->nic.can.stamping & SOF_TIMESTAMPING_TX_SOFTWARE))
		check_say(c, FAIL, CHECK_TSINFO,
			  "without kernel transmit timestamps of this driver, T1 and T3 would be missing",
			  "rant --stamp user", "no software-transmit");
	else
		check_say(c, OK, CHECK_TSINFO "; command line", NULL, NULL, "no hardware timestamps are requested");
}

/* A driver may accept a filter that it does not list; only setting the filter would show that. */
static void look_at_unlisted(struct check *c)
{
	const struct nic_driver *d = check_find_driver(c);
	char filters[NIC_NAMES_BYTES];
	int setting[3];

	nic_filter_names(c->nic.can.rx_filters, filters);
	if (!nic_read_setting(&c->nic, setting) && nic_stamps(setting, c->options))
		check_say(c, OK, CHECK_TSINFO "; " SETTING, NULL, NULL,
			  "hardware transmit, and receive with filter 'all', which is set but not listed");
	else if (d && (d->flags & NIC_TAKES))
		check_say(c, OK, CHECK_TSINFO "; " CHECK_DRIVER_SOURCE, NULL, NULL,
			  "filter 'all' is not listed, but '%s' accepts it", c->nic.driver);
	else if (refuses_all(c))
		check_say(c, FAIL, CHECK_TSINFO "; " CHECK_DRIVER_SOURCE,
			  "packets of rant would have no receive timestamp",
			  another_way(c, false), "'%s' timestamps only PTP packets on receipt, filters: %.100s",
			  c->nic.driver, filters);
	else
		check_say(c, FAIL, CHECK_TSINFO, "rant will not start unless the driver accepts it anyway",
			  another_way(c, true), "filter 'all' is not listed, only: %.100s", filters);
}

static void look_at_abilities(struct check *c)
{
	const uint32_t by_kernel = options_place_sent(c->options) ? SOF_TIMESTAMPING_TX_SOFTWARE : 0;
	const uint32_t of = by_kernel | SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE |
			    SOF_TIMESTAMPING_RAW_HARDWARE;
	char names[NIC_NAMES_BYTES];

	if (c->abilities_error && options_by_nic(c->options))
		return check_say(c, FAIL, CHECK_TSINFO, "rant will not start",
				 check_command(c, "rant --stamp kernel; see ethtool -T %s, dmesg", c->nic.name),
				 "cannot be read: %s", strerror(-c->abilities_error));
	if (c->abilities_error)
		return check_not_known(c, CHECK_TSINFO, -c->abilities_error);
	if (!options_by_nic(c->options))
		return look_at_kernel_stamps(c);
	if (c->nic.can.phc_index < 0)
		return check_say(c, FAIL, CHECK_TSINFO, "--stamp hardware cannot work", "rant --stamp kernel",
				 "no hardware clock");
	if (!nic_can_serve(&c->nic, c->options) && nic_can_receive(&c->nic))
		return check_say(c, FAIL, CHECK_TSINFO, "--stamp hardware cannot work", "rant --stamp receive",
				 "hardware timestamps of received packets only");
	if (!nic_can_serve(&c->nic, c->options))
		return check_say(c, FAIL, CHECK_TSINFO,
				 check_command(c, "--stamp %s cannot work",
					       options_place_sent(c->options) ? "receive" : "hardware"),
				 "rant --stamp kernel",
				 "a hardware clock, but only the abilities %s",
				 nic_stamping_names(c->nic.can.stamping & of, names));
	if (!lists_filter(c))
		return look_at_unlisted(c);
	check_say(c, OK, CHECK_TSINFO, NULL, NULL, "%s transmit, and %sreceive %s",
		  options_place_sent(c->options) ? "kernel" : "hardware",
		  options_place_sent(c->options) ? "hardware " : "",
		  options_in_ptp(c->options) ? "of PTP event messages" : "with filter 'all'");
}

/* True with CAP_NET_ADMIN. False after a finding: the capability is missing or unknown. */
static bool may_set(struct check *c, const char *what, const char *cure)
{
	unsigned long long capabilities;
	struct check_file f;

	if (!check_capabilities(&f, &capabilities)) {
		check_not_known(c, f.path, f.error);
		return false;
	}
	if (capabilities & 1ULL << 12) /* CAP_NET_ADMIN */
		return true;
	check_say(c, FAIL, SETTING "; CapEff in /proc/self/status", "the change needs CAP_NET_ADMIN", cure, "%s",
		  what);
	return false;
}

/* The driver does not report its setting, or the request fails. nic_stamp() acts as these findings say. */
static void judge_unseen(struct check *c, int error)
{
	if (error != -EOPNOTSUPP)
		return check_say(c, FAIL, SETTING, "rant will not start", "rant --stamp kernel; see dmesg",
				 "cannot be read: %s", strerror(-error));
	if (!lists_filter(c))
		return check_say(c, FAIL, SETTING "; " CHECK_TSINFO,
				 "rant will not start, because it could not restore the setting", "rant --stamp kernel",
				 "the driver does not report it, and filter 'all' is not listed");
	if (may_set(c, "the driver does not report it", "sudo rant"))
		check_say(c, NOTE, SETTING, "rant sets it for the run and cannot restore it",
			  check_command(c, "hwstamp_ctl -i %s -t 0 -r 0 ends it", c->nic.name),
			  "the driver does not report it");
}

/* The present setting does not timestamp the packets of rant: is rant allowed to change it? */
static void judge_setting(struct check *c, const int setting[3])
{
	const char *tx = nic_tx_type_name(setting[1]), *filter = nic_filter_name(setting[2]);
	char what[96];

	snprintf(what, sizeof(what), "transmit '%s', filter '%s'", tx, filter);
	if (setting[1] > HWTSTAMP_TX_ON)
		check_say(c, FAIL, SETTING, "another program owns the NIC, rant will not start",
			  "stop that program, see 'users'", "transmit '%s'", tx);
	else if (!may_set(c, what, check_command(c, "sudo hwstamp_ctl -i %s -t 1 -r 1", c->nic.name)))
		return;
	else if (setting[1] || setting[2])
		check_say(c, NOTE, SETTING, "another program has set it; rant widens it for the run and restores it",
			  NULL,
			  "%s", what);
	else
		check_say(c, OK, SETTING, NULL, NULL, "%s: rant sets it for the run and restores it", what);
}

static const char *option_of(enum nic_source source)
{
	return source == NIC_SOURCE_MAC ? "rant --provider mac" : "rant --provider phy";
}

/* The devices that can stamp the packets of this interface, apart from the selected one. `wanted`: see --provider. */
static void look_at_other_providers(struct check *c, const struct nic_provider *selected, enum nic_source wanted)
{
	struct nic_provider list[NIC_PROVIDERS];
	const int count = nic_provider_list(&c->nic, list);
	bool found = !wanted || wanted == selected->source;
	char text[NIC_PROVIDER_BYTES];

	for (int i = 0; i < count; i++) {
		const char *other = nic_provider_text(&list[i], text);

		if (nic_provider_same(&list[i], selected))
			continue;
		if (!found && list[i].source == wanted) {
			found = true;
			check_say(c, NOTE, CHECK_TSINFO,
				  "rant selects it for the run; stamps, stamp setting and NIC clock are those of the selected one",
				  NULL, "not selected: %s", other);
			continue;
		}
		check_say(c, NOTE, CHECK_TSINFO, "its times differ; ptp4l or ethtool may select it in mid-run",
			  list[i].source == NIC_SOURCE_UNKNOWN || list[i].source == selected->source ? NULL :
			  option_of(list[i].source),
			  "not selected: %s", other);
	}
	if (!found)
		check_say(c, FAIL, CHECK_TSINFO, "rant will not start", "leave out --provider",
			  "no %s that timestamps packets", wanted == NIC_SOURCE_MAC ? "MAC" : "PHY");
}

/* No line where no hardware timestamps are used. */
static void look_at_provider(struct check *c)
{
	const enum nic_source wanted = (enum nic_source)c->options->provider;
	char text[NIC_PROVIDER_BYTES];
	struct nic_provider p;

	if (!options_by_nic(c->options) || c->abilities_error || !nic_can_stamp(&c->nic))
		return;
	if (!nic_provider_read(&c->nic, &p))
		return check_say(c, wanted ? FAIL : OK, CHECK_TSINFO, wanted ? "rant will not start" : NULL,
				 wanted ? "leave out --provider" : NULL,
				 "not known whether the MAC or a PHY stamps: Linux 6.14 and newer report it");
	check_say(c, OK, CHECK_TSINFO, NULL, NULL, "%s", nic_provider_text(&p, text));
	look_at_other_providers(c, &p, wanted);
}

static void look_at_setting(struct check *c)
{
	int setting[3], error;

	if (!options_by_nic(c->options))
		return check_say(c, OK, "command line", NULL, NULL, "not needed");
	if (c->abilities_error || !nic_can_serve(&c->nic, c->options))
		return check_say(c, OK, CHECK_TSINFO, NULL, NULL, "no hardware timestamps");
	error = nic_read_setting(&c->nic, setting);
	if (error)
		judge_unseen(c, error);
	else if (nic_stamps(setting, c->options) || refuses_all(c))
		check_say(c, OK, SETTING, NULL, NULL, "transmit '%s', filter '%s'", nic_tx_type_name(setting[1]),
			  nic_filter_name(setting[2]));
	else
		judge_setting(c, setting);
}

/* True for programs that send packets with timestamps. Others (phc2sys) only read and adjust the clock. */
static bool asks_for_stamps(const struct check_user *u)
{
	return !strcmp(u->comm, "ptp4l") || !strcmp(u->comm, "chronyd") || !strcmp(u->comm, "timemaster");
}

static void look_at_users(struct check *c)
{
	const char *where = "comm, cmdline and fd in /proc";

	if (c->processes_hidden)
		return check_not_known(c, "/proc/1/comm", ENOENT);
	for (int i = 0; i < c->users; i++) {
		const struct check_user *u = &c->user[i];

		if (u->hidden && !u->named)
			check_say(c, NOTE, "/proc/PID/fd", "it may use this NIC", "sudo rant --check",
				  "%s (%d) runs, unknown on which NIC", u->comm, u->pid);
		else if (asks_for_stamps(u))
			check_say(c, WARN, where, "it uses timestamps too, and sets the NIC for its own packets",
				  "stop it, or measure on another port", "%s (%d) %s", u->comm,
				  u->pid, u->named ? "names this interface" : "holds its clock open");
		else
			check_say(c, NOTE, where, "it reads or adjusts the clock of the NIC, steps appear in a run",
				  NULL,
				  "%s (%d) %s", u->comm, u->pid,
				  u->has_phc ? "holds its clock open" : "names this interface");
	}
	if (!c->users)
		check_say(c, OK, c->brief ? "comm and cmdline in /proc" : where, NULL, NULL,
			  "no other program uses timestamps or clock of this NIC");
}

/* ---- Delivery of timestamps by the driver ------------------------------------------------------------------------ */

/* True if the driver fetches timestamps in a kernel thread that this process starves on a CPU of its own. */
static bool starves_kworker(const struct check *c, const struct nic_driver *d)
{
	cpu_set_t irqs = check_irq_cpus(c);

	if (!check_real_time(c))
		return false;
	return d->delivery == NIC_BY_OWN_KWORKER || (d->delivery == NIC_BY_KWORKER && check_cpus_overlap(&c->cpus, &irqs));
}

static void look_at_delivery(struct check *c, const struct nic_driver *d)
{
	static const char *const ways[] = {
		[NIC_BY_INTERRUPT] = "the interrupt", [NIC_BY_THREAD] = "a thread of the driver",
		[NIC_BY_COMPLETION] = "the completion of the packet",
		[NIC_BY_KWORKER] = "a kworker on the CPU of the interrupt",
		[NIC_BY_OWN_KWORKER] = "a kworker on the sending CPU",
	};
	char policy[32];

	if (starves_kworker(c, d))
		check_say(c, WARN, CHECK_DRIVER_SOURCE "; sched_getscheduler",
			  "a busy real-time loop starves this thread: timestamps took up to 0.9 s",
			  d->delivery == NIC_BY_KWORKER ? "taskset to another CPU, or run without chrt" :
				  "run without chrt",
			  "'%s' delivers transmit timestamps by %s, and this process has %s", d->name,
				  ways[d->delivery],
			  check_policy_text(c->policy, c->priority, policy));
	else
		check_say(c, OK, CHECK_DRIVER_SOURCE, NULL, NULL, "'%s' delivers transmit timestamps by %s", d->name,
			  ways[d->delivery]);
}

/* NULL: there is no such fact. */
static void note_fact(struct check *c, const char *fact)
{
	if (fact)
		check_say(c, NOTE, CHECK_DRIVER_SOURCE, NULL, NULL, "%s", fact);
}

/* Facts that matter for each kind of timestamp of the NIC. */
static void look_at_facts(struct check *c, const struct nic_driver *d)
{
	note_fact(c, d->meaning);
	if (d->constants)
		check_say(c, NOTE, CHECK_DRIVER_SOURCE,
			  "their error shifts differences between two kinds of NIC", NULL,
			  "corrects timestamps by constants: %s", d->constants);
	note_fact(c, d->clock);
	note_fact(c, d->fault);
	if (d->lost)
		check_say(c, OK, CHECK_DRIVER_SOURCE, NULL, NULL, "counts lost transmit timestamps: %s", d->lost);
}

/* A NIC of which rant uses no hardware timestamps: other sources of time, if --stamp hardware was requested. */
static void look_at_unused(struct check *c, const struct nic_driver *d)
{
	check_say(c, OK, "ETHTOOL_GDRVINFO", NULL, NULL, "'%s', no hardware timestamps in use", c->nic.driver);
	if (!d || !options_by_nic(c->options))
		return;
	if (d->transmits == NIC_STAMPS_NONE && d->receives != NIC_STAMPS_NONE)
		check_say(c, NOTE, CHECK_DRIVER_SOURCE, NULL, NULL, "'%s' timestamps no transmitted packet", d->name);
	else if (d->transmits == NIC_STAMPS_NONE)
		check_say(c, NOTE, CHECK_DRIVER_SOURCE, NULL, NULL, "'%s' timestamps no packet", d->name);
	note_fact(c, d->clock);
	note_fact(c, d->instead);
}

static void look_at_slots(struct check *c, const struct nic_driver *d)
{
	bool others = false;

	for (int i = 0; i < c->users; i++)
		others |= asks_for_stamps(&c->user[i]);
	if (d->in_flight == 1)
		check_say(c, others ? WARN : NOTE, CHECK_DRIVER_SOURCE,
			  "a packet of another program (ptp4l) can take the timestamp of a packet of rant",
			  "see 'users'", "one transmit timestamp at a time");
	else if (d->in_flight)
		check_say(c, OK, CHECK_DRIVER_SOURCE, NULL, NULL, "at most %d transmit timestamps at a time",
			  d->in_flight);
}

/* A driver without a row has no line: it is not a fault that nothing is known. */
static void look_at_driver(struct check *c)
{
	const struct nic_driver *d = check_find_driver(c);

	if (!options_by_nic(c->options) || !nic_can_serve(&c->nic, c->options))
		return look_at_unused(c, d);
	if (!d)
		return;
	if (d->delivery != NIC_BY_UNKNOWN && !options_place_sent(c->options))
		look_at_delivery(c, d);
	look_at_facts(c, d);
	if (!options_place_sent(c->options))
		look_at_slots(c, d);
}

const struct check_row check_stamps_rows[] = {
	{ "NIC", "stamps", look_at_abilities, false },
	{ NULL, "provider", look_at_provider, false },
	{ NULL, "stamp setting", look_at_setting, false },
	{ NULL, "users", look_at_users, false },
	{ NULL, "driver", look_at_driver, false },
	{ NULL, NULL, NULL, false },
};

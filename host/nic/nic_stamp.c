// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Set-up of NIC timestamps, and its restoration. A NIC has one timestamp setting for all programs, and the last writer
 * wins. So the setting is read first, changed only if needed, read back, and restored only if nobody changed it since.
 */
#include "host/nic/nic_stamp.h"

#include "host/nic/nic_abilities.h"
#include "host/nic/nic_inside.h"
#include "host/nic/nic_lower.h"
#include "host/nic/nic_names.h"
#include "host/nic/nic_provider.h"

#include <err.h>
#include <errno.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>

#define BIT(n) (1U << (n))

enum { FLAGS, TX_TYPE, RX_FILTER }; /* the ints of struct hwtstamp_config */

/* ---- Packets of each receive filter ---------------------------------------------------------------------------- */

enum {
	V2_L4_SYNC = BIT(0), V2_L4_DELAY_REQ = BIT(1), V2_L4_OTHER = BIT(2), V2_L2_SYNC = BIT(3),
		     V2_L2_DELAY_REQ = BIT(4),
	V2_L2_OTHER = BIT(5), V1_SYNC = BIT(6), V1_DELAY_REQ = BIT(7), V1_OTHER = BIT(8), NTP = BIT(9), OTHER = BIT(10),
	V2_L4 = V2_L4_SYNC | V2_L4_DELAY_REQ | V2_L4_OTHER,
	V2_L2 = V2_L2_SYNC | V2_L2_DELAY_REQ | V2_L2_OTHER,
	EVERYTHING = BIT(11) - 1,
};

/* Packets that each HWTSTAMP_FILTER_* stamps; a filter that is not listed counts as stamping nothing. */
static const uint32_t filters[] = {
	[HWTSTAMP_FILTER_ALL] = EVERYTHING,
	[HWTSTAMP_FILTER_PTP_V1_L4_EVENT] = V1_SYNC | V1_DELAY_REQ | V1_OTHER,
	[HWTSTAMP_FILTER_PTP_V1_L4_SYNC] = V1_SYNC,
	[HWTSTAMP_FILTER_PTP_V1_L4_DELAY_REQ] = V1_DELAY_REQ,
	[HWTSTAMP_FILTER_PTP_V2_L4_EVENT] = V2_L4,
	[HWTSTAMP_FILTER_PTP_V2_L4_SYNC] = V2_L4_SYNC,
	[HWTSTAMP_FILTER_PTP_V2_L4_DELAY_REQ] = V2_L4_DELAY_REQ,
	[HWTSTAMP_FILTER_PTP_V2_L2_EVENT] = V2_L2,
	[HWTSTAMP_FILTER_PTP_V2_L2_SYNC] = V2_L2_SYNC,
	[HWTSTAMP_FILTER_PTP_V2_L2_DELAY_REQ] = V2_L2_DELAY_REQ,
	[HWTSTAMP_FILTER_PTP_V2_EVENT] = V2_L4 | V2_L2,
	[HWTSTAMP_FILTER_PTP_V2_SYNC] = V2_L4_SYNC | V2_L2_SYNC,
	[HWTSTAMP_FILTER_PTP_V2_DELAY_REQ] = V2_L4_DELAY_REQ | V2_L2_DELAY_REQ,
	[HWTSTAMP_FILTER_NTP_ALL] = NTP,
};

#define FILTERS ((int)(sizeof(filters) / sizeof(filters[0])))

static uint32_t stamped_by(int filter)
{
	return filter >= 0 && filter < FILTERS ? filters[filter] : 0;
}

static uint32_t packets_of(int64_t transport, bool sync)
{
	switch ((enum transport_kind)transport) {
	case TRANSPORT_PTP:
		return sync ? V2_L4_SYNC : V2_L4_DELAY_REQ;
	case TRANSPORT_L2:
		return sync ? V2_L2_SYNC : V2_L2_DELAY_REQ;
	case TRANSPORT_UDP:
	case TRANSPORT_ICMP:
		break;
	}
	return OTHER;
}

static uint32_t needed(const struct options *o)
{
	return packets_of(o->transport, o->ptp_type == PTP_TYPE_SYNC);
}

/* The narrowest listed filter that stamps all of these packets; 0: no such filter. */
static int narrowest(const struct nic *n, uint32_t packets)
{
	int best = HWTSTAMP_FILTER_NONE;

	for (int i = 1; i < FILTERS; i++)
		if (n->can.rx_filters & BIT(i) && !(packets & ~filters[i]) &&
		    (!best || __builtin_popcount(filters[i]) < __builtin_popcount(filters[best])))
			best = i;
	return best;
}

/* --rx-filter; 0: not given, -1: unknown or "none". */
static int asked_filter(const struct options *o)
{
	const int filter = o->rx_filter ? nic_filter_of(o->rx_filter) : (int)HWTSTAMP_FILTER_NONE;

	return o->rx_filter && filter == HWTSTAMP_FILTER_NONE ? -1 : filter;
}

/* A reflector replies to both PTP types if one filter stamps both. Filter "all" need not be listed: some drivers accept
 * it without listing it. */
static int choose_filter(const struct nic *n, const struct options *o, int found)
{
	const uint32_t either = packets_of(o->transport, true) | packets_of(o->transport, false);
	int filter = asked_filter(o);

	if (!filter && o->role == ROLE_REFLECT)
		filter = narrowest(n, either | stamped_by(found));
	if (!filter)
		filter = narrowest(n, needed(o) | stamped_by(found));
	return filter ? filter : HWTSTAMP_FILTER_ALL;
}

bool nic_lists_filter(const struct nic *n, const struct options *o)
{
	const int asked = asked_filter(o);

	return asked > 0 ? n->can.rx_filters & BIT(asked) : narrowest(n, needed(o)) != HWTSTAMP_FILTER_NONE;
}

const char *nic_other_transport(const struct nic *n, const struct options *o)
{
	static const struct {
		int64_t transport;
		const char *how;
	} others[] = { { TRANSPORT_UDP, "--transport udp at both ends" },
		       { TRANSPORT_PTP, "--transport ptp at both ends" },
			{ TRANSPORT_L2, "--transport l2 at both ends" } };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].transport != o->transport &&
		    narrowest(n, packets_of(others[i].transport, o->ptp_type == PTP_TYPE_SYNC)))
			return others[i].how;
	return NULL;
}

/* Addresses the NIC that stamps by its own name: a bond would forward the request to the member that is active now, so
 * that a later restoration could reach another member. */
static int hwtstamp_ioctl(const struct nic *n, unsigned long request, int setting[3])
{
	struct hwtstamp_config c = { setting[FLAGS], setting[TX_TYPE], setting[RX_FILTER] };
	struct ifreq r = { .ifr_data = (void *)&c };

	memcpy(r.ifr_name, *n->stamper_name ? n->stamper_name : n->name, sizeof(r.ifr_name));
	if (ioctl(n->control_fd, request, &r) < 0)
		return -errno;
	setting[FLAGS] = c.flags;
	setting[TX_TYPE] = c.tx_type;
	setting[RX_FILTER] = c.rx_filter;
	return 0;
}

int nic_read_setting(const struct nic *n, int setting[3])
{
	memset(setting, 0, 3 * sizeof(setting[0]));
	return hwtstamp_ioctl(n, SIOCGHWTSTAMP, setting);
}

int nic_write_setting(const struct nic *n, int setting[3])
{
	return hwtstamp_ioctl(n, SIOCSHWTSTAMP, setting);
}

bool nic_stamps(const int setting[3], const struct options *o)
{
	const bool receives = asked_filter(o) ? setting[RX_FILTER] != HWTSTAMP_FILTER_NONE :
			      !(needed(o) & ~stamped_by(setting[RX_FILTER]));

	return receives && (setting[TX_TYPE] == HWTSTAMP_TX_ON || options_place_sent(o));
}

/* ---- Checks and error messages --------------------------------------------------------------------------------- */

static uint32_t missing_abilities(const struct nic *n, bool sent_by_kernel)
{
	return ~n->can.stamping &
	       ((sent_by_kernel ? SOF_TIMESTAMPING_TX_SOFTWARE : SOF_TIMESTAMPING_TX_HARDWARE) |
		SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE);
}

bool nic_can_stamp(const struct nic *n)
{
	return n->can.phc_index >= 0 && !missing_abilities(n, false) && (n->can.tx_types & BIT(HWTSTAMP_TX_ON));
}

bool nic_can_receive(const struct nic *n)
{
	return n->can.phc_index >= 0 && !missing_abilities(n, true);
}

bool nic_can_serve(const struct nic *n, const struct options *o)
{
	return options_place_sent(o) ? nic_can_receive(n) : nic_can_stamp(n);
}

static int check_abilities(const struct nic *n, const struct options *o)
{
	const uint32_t missing = missing_abilities(n, options_place_sent(o));
	char text[NIC_NAMES_BYTES];

	if (nic_can_serve(n, o))
		return 0;
	if (nic_can_receive(n)) {
		warnx("interface '%s' (driver '%s') timestamps received packets only: use --stamp receive at this end",
		      n->name, n->driver);
		return -EOPNOTSUPP;
	}
	if (n->can.phc_index < 0)
		warnx("interface '%s' (driver '%s') has no hardware clock to stamp packets with: "
		      "--stamp kernel works on any interface", n->name, n->driver);
	else if (missing)
		warnx("interface '%s' (driver '%s') has a hardware clock but not the abilities %s: "
		      "--stamp kernel works on any interface", n->name, n->driver,
		      nic_stamping_names(missing, text));
	else
		warnx("interface '%s' (driver '%s') cannot stamp transmitted packets, its transmit types are: %s: "
		      "--stamp kernel works on any interface", n->name, n->driver,
		      nic_tx_type_names(n->can.tx_types, text));
	return -EOPNOTSUPP;
}

/* The alternatives to hardware timestamps of this transport, as the end of an error message. */
static const char *instead(const struct nic *n, const struct options *o, char text[64])
{
	const char *how = nic_other_transport(n, o);

	snprintf(text, 64, "%s%s--stamp kernel", how ? how : "", how ? ", or " : "");
	return text;
}

static int say_refused(const struct nic *n, const struct options *o, int filter, int error)
{
	const char *name = nic_filter_name(filter);
	char text[NIC_NAMES_BYTES], how[64];

	instead(n, o, how);
	nic_filter_names(n->can.rx_filters, text);
	if (error == -EPERM || error == -EACCES)
		warnx("setting the NIC of interface '%s' to stamp packets needs CAP_NET_ADMIN: run with sudo, or have "
		      "root set it once with 'hwstamp_ctl -i %s -t 1 -r %d'", n->name, n->name, filter);
	else if (o->rx_filter)
		warnx("interface '%s' (driver '%s') refuses filter '%s': %s; its filters are: %s: leave out --rx-filter",
		      n->name, n->driver, name, strerror(-error), text);
	else if (error == -ERANGE && !options_in_ptp(o) && !nic_lists_filter(n, o) && nic_other_transport(n, o))
		warnx("interface '%s' (driver '%s') stamps PTP event packets only, its filters are: %s: use %s",
		      n->name, n->driver,
		      text, how);
	else if (filter == HWTSTAMP_FILTER_ALL)
		warnx("interface '%s' (driver '%s') refuses to stamp every packet: %s; its filters are: %s: use %s",
		      n->name,
		      n->driver, strerror(-error), text, how);
	else
		warnx("interface '%s' (driver '%s') refuses filter '%s': %s; its filters are: %s: use %s", n->name,
		      n->driver, name,
		      strerror(-error), text, how);
	return error;
}

static int say_granted(const struct nic *n, const struct options *o, const int setting[3], int asked, const char *left)
{
	char how[64];

	if (options_place_sent(o))
		warnx("interface '%s' (driver '%s') was asked for receive filter '%s' but granted '%s', so it stamps "
		      "only some packets%s: use %s", n->name, n->driver, nic_filter_name(asked),
		      nic_filter_name(setting[RX_FILTER]), left, instead(n, o, how));
	else
		warnx("interface '%s' (driver '%s') was asked for transmit 'on' and receive filter '%s' but granted "
		      "'%s' and '%s', so it stamps only some packets%s: use %s", n->name, n->driver, nic_filter_name(asked),
	      nic_tx_type_name(setting[TX_TYPE]), nic_filter_name(setting[RX_FILTER]), left, instead(n, o, how));
	return -ERANGE;
}

/* ---- Set-up and restoration ------------------------------------------------------------------------------------ */

/* Without transmit timestamps of the NIC the setting found stays, for other programs. */
static int choose_transmit(const struct options *o, int found)
{
	return options_place_sent(o) ? found : HWTSTAMP_TX_ON;
}

/*
 * Older drivers do not report their setting (no SIOCGHWTSTAMP), so it cannot be restored: "off" would take the
 * timestamps from a ptp4l that needs them, while "on, all" (or "on" with all PTP version 2 events) serves every other
 * program. So the setting stays after the run, with a warning. Only a listed filter is set, since a partial failure
 * could not be undone either.
 */
static int set_unseen(const struct nic *n, const struct options *o)
{
	const int filter = n->can.rx_filters & BIT(HWTSTAMP_FILTER_ALL) ? (int)HWTSTAMP_FILTER_ALL :
			   options_in_ptp(o) ? narrowest(n, V2_L4 | V2_L2) : (int)HWTSTAMP_FILTER_NONE;
	int error, setting[3] = { 0, choose_transmit(o, HWTSTAMP_TX_OFF), filter };

	if (o->rx_filter) {
		warnx("driver '%s' does not report the setting of interface '%s', which could not be restored: leave out "
		      "--rx-filter", n->driver, n->name);
		return -EOPNOTSUPP;
	}
	if (!filter)
		return say_refused(n, o, HWTSTAMP_FILTER_ALL, -ERANGE);
	error = hwtstamp_ioctl(n, SIOCSHWTSTAMP, setting);
	if (error)
		return say_refused(n, o, filter, error);
	if (!nic_stamps(setting, o))
		return say_granted(n, o, setting, filter, "; the previous setting is not known");
	warnx("warning: driver '%s' does not report the previous setting, so interface '%s' will go on stamping "
	      "packets after this run: 'hwstamp_ctl -i %s -t 0 -r 0' ends that", n->driver, n->name, n->name);
	return 0;
}

/* After a request that failed or was granted only in part: the driver may have changed the setting in spite of it. */
static void put_back(struct nic *n)
{
	if (!hwtstamp_ioctl(n, SIOCGHWTSTAMP, n->set) && memcmp(n->set, n->found, sizeof(n->set)))
		nic_restore(n);
	n->changed = false;
}

static int set_and_verify(struct nic *n, const struct options *o)
{
	const int filter = choose_filter(n, o, n->found[RX_FILTER]);
	int error, now[3] = { 0 };

	memcpy(n->set, (const int[3]){ 0, choose_transmit(o, n->found[TX_TYPE]), filter }, sizeof(n->set));
	n->changed = true; /* first, so that a signal from here on restores */
	error = hwtstamp_ioctl(n, SIOCSHWTSTAMP, n->set);
	if (error) {
		say_refused(n, o, filter, error);
		put_back(n);
		return error;
	}
	if (!hwtstamp_ioctl(n, SIOCGHWTSTAMP, now))
		memcpy(n->set, now, sizeof(n->set));
	if (nic_stamps(n->set, o))
		return 0;
	error = say_granted(n, o, n->set, filter, "");
	put_back(n);
	return error;
}

/* Another rant has set the NIC for its own packets: sets a filter that stamps its packets and those of this rant. The
 * last rant restores the setting that the first rant found. */
static int widen(struct nic *n, const struct options *o, const int now[3])
{
	const int filter = choose_filter(n, o, now[RX_FILTER]);
	int setting[3] = { 0, choose_transmit(o, now[TX_TYPE]), filter }, seen[3], back[3];
	int error = hwtstamp_ioctl(n, SIOCSHWTSTAMP, setting);

	if (!error && !hwtstamp_ioctl(n, SIOCGHWTSTAMP, seen))
		memcpy(setting, seen, sizeof(seen));
	if (!error && nic_stamps(setting, o)) {
		memcpy(n->set, setting, sizeof(setting));
		n->changed = true;
		nic_share_begin(n);
		return 0;
	}
	error = error ? say_refused(n, o, filter, error) : say_granted(n, o, setting, filter, "");
	memcpy(back, now, sizeof(back));
	hwtstamp_ioctl(n, SIOCSHWTSTAMP, back);
	return error;
}

/* --rx-filter takes the timestamps from no other program. */
static int check_asked(const struct nic *n, const struct options *o, const int now[3])
{
	const int asked = asked_filter(o);

	if (asked < 0) {
		warnx("--rx-filter %s: is not a receive filter that timestamps: 'ethtool -T %s' lists them",
		      o->rx_filter, n->name);
		return -EINVAL;
	}
	if (!asked || !(stamped_by(now[RX_FILTER]) & ~stamped_by(asked)))
		return 0;
	warnx("the NIC of interface '%s' is set to filter '%s' by another program, which '%s' would take timestamps from: "
	      "stop that program, or 'hwstamp_ctl -i %s -t 0 -r 0'", n->name, nic_filter_name(now[RX_FILTER]),
	      o->rx_filter, n->name);
	return -EBUSY;
}

/* joined: n->found is the setting that the first rant found, which is not the present setting. */
static int make_setting(struct nic *n, const struct options *o, bool joined)
{
	int now[3], error = nic_read_setting(n, now);

	if (error == -EOPNOTSUPP)
		return set_unseen(n, o);
	if (error)
		return nic_say_io(n, "read the stamping setting of", error);
	error = check_asked(n, o, now);
	if (error)
		return error;
	if (nic_stamps(now, o) && (!o->rx_filter || now[RX_FILTER] == asked_filter(o))) {
		memcpy(n->set, now, sizeof(now));
		if (!joined)
			memcpy(n->found, now, sizeof(now));
		n->changed = joined;
		return 0;
	}
	if (joined && !memcmp(now, n->set, sizeof(now)))
		return widen(n, o, now);
	/* Another program changed the setting that the rants share: this rant leaves the share and restores the setting
	 * of that program. */
	if (joined) {
		nic_share_end(n, false);
		n->provider_switch.done = false; /* of another rant */
	}
	memcpy(n->found, now, sizeof(now));
	if (n->found[TX_TYPE] > HWTSTAMP_TX_ON) {
		warnx("the NIC of interface '%s' is set to transmit '%s' by another program (ptp4l?): "
		      "stop that program, or use --stamp kernel", n->name,
		      nic_tx_type_name(n->found[TX_TYPE]));
		return -EBUSY;
	}
	return set_and_verify(n, o);
}

void nic_find_stamper(struct nic *n)
{
	n->stamper = nic_stamper(n);
	if (!n->stamper || !if_indextoname((unsigned)n->stamper, n->stamper_name))
		n->stamper = n->index;
}

/* Without --provider the NIC is joined after the check of its abilities. */
static int choose_provider(struct nic *n, const struct options *o, bool *joined)
{
	nic_find_stamper(n);
	nic_provider_open(n);
	if (!o->provider)
		return 0;
	*joined = nic_share_join(n);
	return nic_provider_select(n, (enum nic_source)o->provider, *joined);
}

/* After an error: another rant goes on with the provider that it has selected. */
static void give_provider_back(struct nic *n, bool joined)
{
	if (joined)
		n->provider_switch.done = false;
	nic_provider_restore(n);
}

int nic_stamp(struct nic *n, const struct options *o)
{
	bool joined = false;
	int error = choose_provider(n, o, &joined);

	if (!error)
		error = nic_read_abilities(n);
	if (!error)
		error = check_abilities(n, o);
	if (error && !o->provider)
		return error;
	if (!o->provider)
		joined = nic_share_join(n);
	if (!error)
		error = make_setting(n, o, joined);
	if (error)
		give_provider_back(n, joined);
	else if (n->provider_switch.done)
		n->changed = true;
	if (!n->changed)
		nic_share_end(n, !joined);
	else if (!joined)
		nic_share_begin(n);
	return error;
}

void nic_restore(struct nic *n)
{
	int now[3] = { 0 }, back[3];
	int saved_errno = errno; /* a signal handler must not change the errno of the interrupted code */
	bool alone;

	if (!n->changed)
		return;
	alone = nic_share_leave(n);
	memcpy(back, n->found, sizeof(back));
	if (alone && nic_provider_is_ours(n) && !hwtstamp_ioctl(n, SIOCGHWTSTAMP, now) && !memcmp(now, n->set, sizeof(now)))
		hwtstamp_ioctl(n, SIOCSHWTSTAMP, back);
	if (alone)
		nic_provider_restore(n);
	nic_share_end(n, alone);
	n->changed = false; /* last: a signal during the ioctls restores as well */
	errno = saved_errno;
}

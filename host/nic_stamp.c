// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making the NIC stamp, and putting it back. A NIC has one stamping setting for all programs, and the last writer wins:
 * so it is read first, changed only when it must be, read back, and put back only while it is still ours.
 */
#include "host/nic_stamp.h"

#include "host/nic_abilities.h"
#include "host/nic_inside.h"
#include "host/nic_names.h"
#include "host/nic_share.h"

#include <err.h>
#include <errno.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <string.h>

#define BIT(n) (1U << (n))

enum { FLAGS, TX_TYPE, RX_FILTER }; /* the ints of struct hwtstamp_config */

static const int wanted[3] = { 0, HWTSTAMP_TX_ON, HWTSTAMP_FILTER_ALL };

static int hwtstamp_ioctl(const struct nic *n, unsigned long request, int setting[3])
{
	struct hwtstamp_config c = { setting[FLAGS], setting[TX_TYPE], setting[RX_FILTER] };
	struct ifreq r = { .ifr_data = (void *)&c };
	int error = nic_ioctl(n, request, &r);

	if (error)
		return error;
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

bool nic_stamps_all(const int setting[3])
{
	return setting[TX_TYPE] == HWTSTAMP_TX_ON && setting[RX_FILTER] == HWTSTAMP_FILTER_ALL;
}

/* ---- What stands in the way ------------------------------------------------------------------------------------ */

static uint32_t missing_abilities(const struct nic *n)
{
	return ~n->can.stamping &
	       (SOF_TIMESTAMPING_TX_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE);
}

bool nic_can_stamp(const struct nic *n)
{
	return n->can.phc_index >= 0 && !missing_abilities(n) && (n->can.tx_types & BIT(HWTSTAMP_TX_ON));
}

static int check_abilities(const struct nic *n)
{
	const uint32_t missing = missing_abilities(n);
	char text[NIC_NAMES_BYTES];

	if (nic_can_stamp(n))
		return 0;
	if (n->can.phc_index < 0)
		warnx("interface '%s' (driver '%s') has no hardware clock to stamp packets with: "
		      "--stamp kernel works on any interface", n->name, n->driver);
	else if (missing)
		warnx("interface '%s' (driver '%s') has a hardware clock but not the abilities %s: "
		      "--stamp kernel works on any interface", n->name, n->driver,
		      nic_stamping_names(missing, text));
	else
		warnx("interface '%s' (driver '%s') cannot stamp what it sends, its transmit types are: %s: "
		      "--stamp kernel works on any interface", n->name, n->driver,
		      nic_tx_type_names(n->can.tx_types, text));
	return -EOPNOTSUPP;
}

static int say_refused(const struct nic *n, int error)
{
	char text[NIC_NAMES_BYTES];

	if (error == -EPERM || error == -EACCES)
		warnx("setting the NIC of interface '%s' to stamp packets needs CAP_NET_ADMIN: run with sudo, or have "
		      "root set it once with 'hwstamp_ctl -i %s -t 1 -r 1'", n->name, n->name);
	else if (error == -ERANGE && !(n->can.rx_filters & BIT(HWTSTAMP_FILTER_ALL)))
		warnx("interface '%s' (driver '%s') stamps only PTP packets on receipt, not rant's; its filters are: "
		      "%s: use --stamp kernel", n->name, n->driver,
		      nic_filter_names(n->can.rx_filters, text));
	else
		warnx("interface '%s' (driver '%s') refuses to stamp every packet: %s; its filters are: %s: "
		      "use --stamp kernel", n->name, n->driver, strerror(-error),
		      nic_filter_names(n->can.rx_filters, text));
	return error;
}

static int say_granted(const struct nic *n, const int setting[3], const char *left)
{
	warnx("interface '%s' (driver '%s') was asked for transmit 'on' and receive filter 'all' but granted '%s' and "
	      "'%s', so it stamps only some packets%s: use --stamp kernel", n->name, n->driver,
	      nic_tx_type_name(setting[TX_TYPE]),
	      nic_filter_name(setting[RX_FILTER]), left);
	return -ERANGE;
}

/* ---- Making it stamp, putting it back -------------------------------------------------------------------------- */

/*
 * Older drivers cannot say what they are set to. Nothing can then be put back: "off" would take the stamps from a
 * ptp4l that needs them, while "on, all" gives every other program what it had. So the setting is left and said; and it
 * is made only where the driver lists it, since a refusal half-way could not be undone either.
 */
static int set_unseen(const struct nic *n)
{
	int setting[3];
	int error;

	if (!(n->can.rx_filters & BIT(HWTSTAMP_FILTER_ALL)))
		return say_refused(n, -ERANGE);
	memcpy(setting, wanted, sizeof(setting));
	error = hwtstamp_ioctl(n, SIOCSHWTSTAMP, setting);
	if (error)
		return say_refused(n, error);
	if (!nic_stamps_all(setting))
		return say_granted(n, setting, "; what it was set to before is not known");
	warnx("warning: driver '%s' does not tell what it was set to, so interface '%s' will go on stamping all "
	      "packets after this run: 'hwstamp_ctl -i %s -t 0 -r 0' ends it", n->driver, n->name, n->name);
	return 0;
}

/* For a set that failed or was not granted in full: a driver may have changed something all the same. */
static void put_back(struct nic *n)
{
	if (!hwtstamp_ioctl(n, SIOCGHWTSTAMP, n->set) && memcmp(n->set, n->found, sizeof(n->set)))
		nic_restore(n);
	n->changed = false;
}

static int set_and_verify(struct nic *n)
{
	int error, now[3] = { 0 };

	memcpy(n->set, wanted, sizeof(n->set));
	n->changed = true; /* first, so that a signal from here on restores */
	error = hwtstamp_ioctl(n, SIOCSHWTSTAMP, n->set);
	if (error) {
		say_refused(n, error);
		put_back(n);
		return error;
	}
	if (!hwtstamp_ioctl(n, SIOCGHWTSTAMP, now))
		memcpy(n->set, now, sizeof(n->set));
	if (nic_stamps_all(n->set))
		return 0;
	error = say_granted(n, n->set, "");
	put_back(n);
	return error;
}

/* joined: n->found is not what the NIC is set to now, but what the first rant found. */
static int make_setting(struct nic *n, bool joined)
{
	int now[3], error = nic_read_setting(n, now);

	if (error == -EOPNOTSUPP)
		return set_unseen(n);
	if (error)
		return nic_say_io(n, "read the stamping setting of", error);
	if (nic_stamps_all(now)) {
		memcpy(n->set, now, sizeof(now));
		n->changed = joined;
		return 0;
	}
	/* Those who share it have lost it to another program: what that one wants is to be put back, by this rant
	 * alone. */
	if (joined)
		nic_share_end(n, false);
	memcpy(n->found, now, sizeof(now));
	if (n->found[TX_TYPE] > HWTSTAMP_TX_ON) {
		warnx("the NIC of interface '%s' is set to transmit '%s' by another program (ptp4l?), which owns it: "
		      "stop that program, or use --stamp kernel", n->name,
		      nic_tx_type_name(n->found[TX_TYPE]));
		return -EBUSY;
	}
	return set_and_verify(n);
}

int nic_stamp(struct nic *n)
{
	int error = nic_read_abilities(n);
	bool joined;

	if (!error)
		error = check_abilities(n);
	if (error)
		return error;
	joined = nic_share_join(n);
	error = make_setting(n, joined);
	if (!n->changed)
		nic_share_end(n, !joined);
	else if (!joined)
		nic_share_begin(n);
	return error;
}

void nic_restore(struct nic *n)
{
	int now[3] = { 0 }, back[3];
	int saved_errno = errno; /* of what a signal handler interrupts */
	bool alone;

	if (!n->changed)
		return;
	alone = nic_share_leave(n);
	memcpy(back, n->found, sizeof(back));
	if (alone && !hwtstamp_ioctl(n, SIOCGHWTSTAMP, now) && !memcmp(now, n->set, sizeof(now)))
		hwtstamp_ioctl(n, SIOCSHWTSTAMP, back);
	nic_share_end(n, alone);
	n->changed = false; /* last: a signal during the ioctls restores as well */
	errno = saved_errno;
}

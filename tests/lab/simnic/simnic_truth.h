/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When the simulated NICs had each packet in their hands: simnic.c, which alone includes it, notes that, and /dev/simnic_truth has one
 * row for each exchange whose sequence number is below truth_rows. All times are readings of the PHC of the device that sent or
 * received, whatever the stamps of it are. Of a packet that is sent or received twice, the first.
 */
#ifndef SIMNIC_TRUTH_H
#define SIMNIC_TRUTH_H

#include "simnic_clock.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/vmalloc.h>

/* Of one direction; 0: not known. truth_twelve.py reads these as six signed numbers of 64 bits. */
struct truth {
	s64 sent_stamp, sent_from, sent_until; /* the hardware stamp; ndo_start_xmit, and the kernel's stamp has been taken */
	s64 got_stamp, got_from, got_until; /* the hardware stamp; around netif_receive_skb() */
};

static struct truth *truth; /* of the probe, of the reply, and so on */

static s64 truth_now(struct clock *c)
{
	return clock_read_at(c, true_now());
}

/* NULL: nothing is noted of it. `mark` is of truth_mark(). */
static struct truth *truth_of(u32 mark)
{
	return mark ? &truth[mark - 1] : NULL;
}

/* What the receiver finds it by; 0: nothing is noted of it. */
static u32 truth_mark(bool probe, u32 seq)
{
	return seq < truth_rows ? 2 * seq + !probe + 1 : 0;
}

static void truth_sent(struct truth *t, struct clock *c, s64 from_ns, s64 stamp)
{
	if (!t || t->sent_until)
		return;
	t->sent_stamp = stamp;
	t->sent_from = from_ns;
	t->sent_until = truth_now(c);
}

static void truth_got(struct truth *t, struct clock *c, s64 from_ns, s64 stamp)
{
	if (!t || t->got_until)
		return;
	t->got_stamp = stamp;
	t->got_from = from_ns;
	t->got_until = truth_now(c);
}

static size_t truth_bytes(void)
{
	return 2 * (size_t)truth_rows * sizeof(*truth);
}

static ssize_t truth_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	return simple_read_from_buffer(to, bytes, at, truth, truth_bytes());
}

/* Any write makes all rows unknown. */
static ssize_t truth_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	memset(truth, 0, truth_bytes());
	return bytes;
}

static const struct file_operations truth_operations = {
	.owner = THIS_MODULE,
	.read = truth_read,
	.write = truth_write,
	.llseek = default_llseek,
};

static struct miscdevice truth_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "simnic_truth",
	.fops = &truth_operations,
	.mode = 0600,
};

static int truth_open(void)
{
	int error;

	if (!truth_rows)
		return 0;
	truth = vzalloc(truth_bytes());
	if (!truth)
		return -ENOMEM;
	error = misc_register(&truth_device);
	if (error)
		vfree(truth);
	return error;
}

static void truth_close(void)
{
	if (!truth_rows)
		return;
	misc_deregister(&truth_device);
	vfree(truth);
}

#endif

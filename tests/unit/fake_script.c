// SPDX-License-Identifier: GPL-2.0-or-later
/* The script of the fake, see fake_kernel.h: its entries for a packet. */
#include "fake_kernel.h"

#include "fake_inside.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Events of the reflecting peer. */
static void apply_event_there(struct fake_fate *f, const struct fake_event *e)
{
	switch (e->fault) {
	case LOST_BACK: f->lost_backward_count = true; f->lost_which = e->argument; break;
	case DELAYED: f->delayed_ns = e->argument; break;
	case ASKED_TWICE: f->asked_twice = true; f->asked_ns = e->argument; break;
	case RESTARTED: f->restarted = true; break;
	case RESPONSE: f->latency_ns += e->argument - f->response_ns; f->response_ns = e->argument; break;
	case STEPPED_THERE: f->stepped_ns = e->argument; break;
	case NO_T2: f->no_t2 = true; break;
	case NO_CLOCK: f->no_clock = true; break;
	case NO_T2_USER: f->no_t2_user = true; break;
	case NO_BOUND: f->no_bound = true; break;
	case NO_TLVS: f->no_tlvs = true; break;
	case BAD_TLVS: f->bad_tlvs = true; break;
	case BAD_INTEGRITY: f->bad_integrity = true; break;
	case PADDED: f->padding_bytes = e->argument; break;
	case FOLLOW_ZERO: f->follow_zero = true; break;
	case FOLLOW_NUMBER: f->follow_number = e->argument; break;
	case FOLLOW_METHOD: f->follow_method = (uint8_t)e->argument; break;
	case ARRIVED_TTL: f->ttl = (uint8_t)e->argument; break;
	case ARRIVED_TOS: f->tos = (uint8_t)e->argument; break;
	default: fail_msg("fault %d means nothing", e->fault);
	}
}

static void apply_event(struct fake_fate *f, const struct fake_event *e)
{
	switch (e->fault) {
	case LOST: f->lost = true; break;
	case LATE: f->late_ns = e->argument; break;
	case TWICE: f->twice = true; f->twice_ns = e->argument; break;
	case LATENCY: f->latency_ns = e->argument; break;
	case STEP: f->step_ns = e->argument; break;
	case SET: f->set_ns = e->argument; f->set_times = e->times; break;
	case EXTRA: f->extra[f->extras++ % FAKE_MORE_MAX] = (enum fake_extra)e->argument; break;
	case BAD_TLV: f->bad_tlv = true; break;
	case LARGE: f->large = true; break;
	case RX: f->rx = (enum fake_rx)e->argument; break;
	case TX: f->tx = (enum fake_entry)e->argument; break;
	case TX_NONE: f->tx_none = true; break;
	case TX_SLOW: f->tx_slow_ns = e->argument; break;
	case TX_TWICE: f->tx_twice = true; break;
	case TX_ASLEEP: f->tx_asleep = true; break;
	case TX_ID: f->tx_id = e->argument; break;
	case TX_EXTRA: f->tx_extra[f->tx_extras++ % FAKE_MORE_MAX] = (enum fake_entry)e->argument; break;
	case TX_EXTRA_ID: f->tx_extra_id[f->tx_extra_ids++ % FAKE_MORE_MAX] = e->argument; break;
	case TX_TIME: f->tx_time_ns = e->argument; break;
	case NO_ID: f->no_id = true; break;
	case SEND_ERROR: f->send_error = (int)e->argument; f->send_times = e->times ? e->times : 1; break;
	case RECV_ERROR: f->recv_error = (int)e->argument; break;
	case STOP: f->stop_ns = e->argument; break;
	case NO_FAULT: break;
	default: apply_event_there(f, e);
	}
}

struct fake_fate fake_fate_of(uint32_t number)
{
	/* Odd values, so that two packets seldom have the same latency. */
	struct fake_fate f = { .latency_ns = 5000 + number * 7919LL % 3001,
			       .response_ns = 1200 + number * 6271LL % 1801,
			  .ttl = FAKE_TTL, .tos = (uint8_t)(fake.dscp << 2) };

	/* Long random scripts: entries far below are not searched again. */
	while (fake.cursor < fake.event_count && fake.events[fake.cursor].last < number &&
	       fake.events[fake.cursor].first + 1000 < number)
		fake.cursor++;
	for (size_t i = fake.cursor; i < fake.event_count && fake.events[i].first <= number; i++)
		if (number == fake.events[i].first || number <= fake.events[i].last)
			apply_event(&f, &fake.events[i]);
	assert_true(f.extras <= FAKE_MORE_MAX && f.tx_extras <= FAKE_MORE_MAX && f.tx_extra_ids <= FAKE_MORE_MAX);
	return f;
}

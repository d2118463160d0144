// SPDX-License-Identifier: GPL-2.0-or-later
/* Identities between the counters. */
#include "result/account.h"

bool account_balances(const struct account *a, enum role role, const struct histogram *h, uint64_t logged)
{
	uint64_t concluded = counter_get(&a->warmup) + counter_get(&a->recorded) + counter_get(&a->lost) +
			     counter_get(&a->unstamped) + counter_get(&a->negative) + counter_get(&a->stepped) +
			     counter_get(&a->unfinished) + counter_get(&a->closing) + counter_get(&a->unasked);
	uint64_t taken = counter_get(&a->answered) + counter_get(&a->unanswered) + counter_get(&a->late) +
			 counter_get(&a->duplicate) + counter_get(&a->foreign) + counter_get(&a->malformed) +
			 counter_get(&a->unverified) + counter_get(&a->cut_short) +
			 counter_get(&a->disallowed) + counter_get(&a->too_short) + counter_get(&a->no_session) +
			 counter_get(&a->replayed) + counter_get(&a->over_rate);
	uint64_t below = 0, above = 0, completed = 0;

	for (int i = 0; i < FOLLOW_UPS; i++)
		completed += counter_get(&a->follow_up[i]);
	if (role == ROLE_EMIT && completed != counter_get(&a->recorded) + counter_get(&a->negative))
		return false;

	for (uint32_t i = 0; i < h->buckets; i++)
		below += histogram_bucket(h, i);
	for (uint32_t i = h->buckets; i < h->buckets + h->log_buckets; i++)
		above += histogram_bucket(h, i);
	return counter_get(&a->sent) == concluded && counter_get(&a->received) == taken &&
	       counter_get(&a->recorded) == h->count && h->count == below + above && above == h->overflows &&
	       counter_get(&a->negative) == h->negatives && logged <= h->count;
}

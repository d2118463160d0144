// SPDX-License-Identifier: GPL-2.0-or-later
/* Ring buffer of breaches. The measuring thread writes, and overwrites breaches that the reader has not read yet. */
#include "result/breach.h"

#include "result/result.h"

/* Samples may be overwritten while they are copied: words are read and written atomically. */
typedef uint64_t __attribute__((may_alias)) word;
#define WORDS (sizeof(struct sample) / sizeof(word))
_Static_assert(sizeof(struct sample) % sizeof(word) == 0 && _Alignof(struct sample) >= _Alignof(word),
	       "a sample is whole words");

static void keep(struct sample *to, const struct sample *s)
{
	for (size_t i = 0; i < WORDS; i++)
		__atomic_store_n((word *)to + i, ((const word *)s)[i], __ATOMIC_RELAXED);
}

static void copy(struct sample *s, const struct sample *from)
{
	for (size_t i = 0; i < WORDS; i++)
		((word *)s)[i] = __atomic_load_n((const word *)from + i, __ATOMIC_RELAXED);
}

void breach_note(struct result *r, const struct sample *s)
{
	counter *breaches = &r->account.breaches;
	uint64_t before = counter_get(breaches);
	int64_t value_ns, worst_ns;

	if (!before)
		r->breach = *s;
	result_metric(r, s, &value_ns);
	result_metric(r, &r->worst, &worst_ns);
	if (!before || value_ns > worst_ns)
		r->worst = *s;
	/* A reader sees the old count before a sample that overwrites an older one. */
	atomic_thread_fence(memory_order_release);
	keep(&r->kept[before % BREACHES_KEPT], s);
	/* A reader sees the sample before the count that includes it. */
	atomic_store_explicit(breaches, before + 1, memory_order_release);
}

bool breach_read(const struct result *r, uint64_t index, struct sample *s)
{
	const counter *breaches = &r->account.breaches;

	/* Read the sample after the count, which the caller has read. */
	atomic_thread_fence(memory_order_acquire);
	copy(s, &r->kept[index % BREACHES_KEPT]);
	/* The count shows whether the sample was overwritten during the copy. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(breaches, memory_order_acquire) - index < BREACHES_KEPT;
}

void breach_complete(const struct result *r, struct sample *s)
{
	const uint64_t n = counter_get(&r->account.breaches);

	for (uint64_t i = n; i > 0 && n - i < BREACHES_KEPT - 1; i--) {
		struct sample kept;

		if (breach_read(r, i - 1, &kept) && kept.seq == s->seq) {
			*s = kept;
			return;
		}
	}
	for (int i = 0; i < ALL_TIMES && r->converted && !s->converted; i++)
		if (!time_is_remote(i) && (s->source[i] == SOURCE_USER || i >= KERNEL_RECEIVE))
			s->source[i] = SOURCE_NONE;
}

void breach_print(void *printer)
{
	struct breach_printer *t = printer;
	const uint64_t breaches = counter_get(&t->result->account.breaches);
	struct sample s;

	for (; t->seen < breaches; t->seen++) {
		if (breach_read(t->result, t->seen, &s))
			t->act(t->context, &s, t->seen);
		else
			t->missed++;
	}
}

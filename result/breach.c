// SPDX-License-Identifier: GPL-2.0-or-later
/* A small ring of breaches with one writer, the measuring thread, and one reader, which may come too late. */
#include "result/breach.h"

#include "result/result.h"

/* What is copied while it may be overwritten, in words that are whole. */
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
	result_figure(r, s, &value_ns);
	result_figure(r, &r->worst, &worst_ns);
	if (!before || value_ns > worst_ns)
		r->worst = *s;
	/* The count is seen before the sample that takes the place of an older one, */
	atomic_thread_fence(memory_order_release);
	keep(&r->kept[before % BREACHES_KEPT], s);
	/* and the sample is there before the count that tells of it. */
	atomic_store_explicit(breaches, before + 1, memory_order_release);
}

bool breach_read(const struct result *r, uint64_t index, struct sample *s)
{
	const counter *breaches = &r->account.breaches;

	/* The caller has read the count; the sample that it tells of comes after it. */
	atomic_thread_fence(memory_order_acquire);
	copy(s, &r->kept[index % BREACHES_KEPT]);
	/* What is overwritten while it is copied is counted right after it. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(breaches, memory_order_acquire) - index < BREACHES_KEPT;
}

void breach_tell(void *teller)
{
	struct breach_teller *t = teller;
	const uint64_t breaches = counter_get(&t->result->account.breaches);
	struct sample s;

	for (; t->seen < breaches; t->seen++) {
		if (breach_read(t->result, t->seen, &s))
			t->act(t->context, &s, t->seen);
		else
			t->missed++;
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The period of the spikes of a run. Several runs have no common phase. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"

#include <errno.h>

static int refuse(const char *path)
{
	return run_refuse(path, "rhythm", "is not valid");
}

static bool take_count(unsigned *to, const struct tree *t)
{
	int64_t n;

	if (!run_count(t, &n) || n > UINT_MAX)
		return false;
	*to = (unsigned)n;
	return true;
}

static bool take_suspect(struct suspect *s, const struct tree *t)
{
	const char *name = tree_text(tree_member(t, "name"));
	const struct tree *times = tree_member(t, "times");
	int64_t n;

	if (!name || !run_count(tree_member(t, "period_ns"), &s->period.period_ns))
		return false;
	for (size_t i = 0; name[i] && i + 1 < sizeof(s->period.name); i++)
		s->period.name[i] = text_shown(name[i]);
	return !tree_integer(times, &n) || take_count(&s->times, times);
}

int run_take_rhythm(struct outcome *o, const struct tree *root, const char *path)
{
	const struct tree *t = tree_member(root, "rhythm"), *suspects = tree_member(t, "suspects");
	struct rhythm r = { .has_suspects = tree_is_array(suspects) };

	o->result.rhythm = (struct rhythm){ .of = 0 };
	if (!tree_is_object(t) || o->read.files > 1)
		return 0;
	if (!run_count(tree_member(t, "period_ns"), &r.period_ns) || !r.period_ns ||
	    !tree_number(tree_member(t, "p"), &r.p) || !(r.p > 0 && r.p <= 1) ||
	    !take_count(&r.in_phase, tree_member(t, "in_phase")) || !take_count(&r.of, tree_member(t, "of")) ||
	    !run_count(tree_member(t, "from_ns"), &r.from_ns) ||
	    !run_count(tree_member(t, "during_ns"), &r.during_ns) || r.in_phase > r.of)
		return refuse(path);
	for (size_t i = 0; i < tree_length(suspects) && r.suspects < RHYTHM_SUSPECTS; i++)
		if (!take_suspect(&r.suspect[r.suspects++], tree_item(suspects, i)))
			return refuse(path);
	o->result.rhythm = r;
	return 0;
}

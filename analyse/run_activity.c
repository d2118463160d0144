// SPDX-License-Identifier: GPL-2.0-or-later
/* The activity of the machine during a run. Several runs are of several machines or times. */
#include "analyse/outcome.h"
#include "analyse/run_parts.h"
#include "report/export/json_parts.h"

#include <errno.h>
#include <stdlib.h>

static bool take_difference(struct result_difference *d, const struct tree *t)
{
	const int change = run_index_of(tree_member(t, "change"), json_activity_changes, ACTIVITY_COUNTED,
					JSON_ACTIVITY_CHANGES);

	if (change < 0)
		return false;
	d->change = (enum activity_change)change;
	run_take_text(d->group, sizeof(d->group), tree_member(t, "group"));
	run_take_text(d->name, sizeof(d->name), tree_member(t, "name"));
	run_take_text(d->unit, sizeof(d->unit), tree_member(t, "unit"));
	return run_take_number(&d->delta, tree_member(t, "count")) &&
	       run_take_number(&d->from, tree_member(t, "from")) && run_take_number(&d->to, tree_member(t, "to"));
}

/* 0, or -errno. */
static int take_list(struct result_differences *to, const struct tree *list)
{
	const size_t count = tree_length(list);

	if (!tree_is_array(list))
		return list ? -EINVAL : 0;
	if (count > DIFFERENCES_SHOWN)
		return -EINVAL;
	to->list = calloc(count + 1, sizeof(*to->list));
	if (!to->list)
		return -ENOMEM;
	to->known = true;
	for (; to->count < count; to->count++)
		if (!take_difference(&to->list[to->count], tree_item(list, to->count)))
			return -EINVAL;
	return 0;
}

static bool take_left_out(struct result_activity *a, const struct tree *t)
{
	struct result_differences *const lists[] = { &a->run, &a->until_breach, &a->before_worst };
	uint64_t left_out, not_read;

	if (!run_take_number(&not_read, tree_member(t, "not_read")) || not_read > UINT16_MAX)
		return false;
	a->counters_left_out = (unsigned)not_read;
	for (int i = 0; i < 3; i++) {
		if (!run_take_number(&left_out, tree_item(tree_member(t, "left_out_each"), (size_t)i)) ||
		    left_out > UINT16_MAX || (left_out && lists[i]->count != DIFFERENCES_SHOWN))
			return false;
		lists[i]->count += left_out;
	}
	return true;
}

static bool take_marks(struct result_activity *a, const struct tree *t)
{
	const struct tree *worst = tree_member(t, "worst_breach_read_after");

	return run_take_number(&a->until_breach.mark[1], tree_member(t, "first_breach_read_after")) &&
	       run_take_number(&a->before_worst.mark[0], tree_item(worst, 0)) &&
	       run_take_number(&a->before_worst.mark[1], tree_item(worst, 1));
}

static void take_unreadable(struct result_activity *a, const struct tree *list)
{
	for (size_t i = 0; i < tree_length(list) && i < ACTIVITY_UNREADABLE; i++)
		run_take_text(a->unreadable[a->unreadables++], sizeof(a->unreadable[0]), tree_item(list, i));
}

int run_take_activity(struct outcome *o, const struct tree *root, const char *path)
{
	const struct tree *t = tree_member(root, "activity");
	struct result_activity *a = &o->result.activity;
	int error;

	if (!tree_is_object(t) || o->read.files > 1)
		return 0;
	a->is_read = tree_is_array(tree_member(t, "run"));
	error = take_list(&a->run, tree_member(t, "run"));
	if (!error)
		error = take_list(&a->until_breach, tree_member(t, "until_first_breach"));
	if (!error)
		error = take_list(&a->before_worst, tree_member(t, "before_worst_breach"));
	if (!error && (!take_left_out(a, t) || !take_marks(a, t)))
		error = -EINVAL;
	take_unreadable(a, tree_member(t, "unreadable"));
	return error == -EINVAL ? run_refuse(path, "activity", "is not valid") : error;
}

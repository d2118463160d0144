// SPDX-License-Identifier: GPL-2.0-or-later
/* The cause of a breach for the emitter at the other end. */
#include "explain/explain_peer.h"

#include "explain/explain.h"
#include "measure/exchange.h"
#include "result/freeze.h"
#include "tracefs.h"

#include <string.h>

/* docs/protocol.md has these numbers: a new class goes to the end there, and needs a table here. */
_Static_assert(OWNER_ABSENT == 0 && OWNER_IRQ == 3 && OWNER_THREAD == 6 && OWNER_HELD == 9 && OWNER_PACKETS == 13 &&
	       OWNER_OTHERS == 16 && CAUSE_SPREAD == 17 && CAUSE_NONE == 18, "classes of the cause TLV");

static int stage_of(const char *id)
{
	for (size_t i = 0; i < FREEZE_STAGES; i++) {
		const size_t bytes = strlen(freeze_stages[i].id);

		if (!strncmp(id, freeze_stages[i].id, bytes) && !strcmp(id + bytes, "_ns"))
			return (int)i;
	}
	return -1;
}

static void take(struct packet_cause *c, const struct why *w)
{
	const struct optional cpu = why_cpu(w);
	const int stage = stage_of(w->stage);

	if (*w->not_explained || stage < 0) {
		c->state = PACKET_CAUSE_NOT_EXPLAINED;
		return;
	}
	c->state = PACKET_CAUSE_KNOWN;
	c->class = w->class;
	c->stage = (uint8_t)stage;
	c->percent = (uint8_t)why_share_percent(w);
	c->cpu = cpu.known ? (uint16_t)cpu.value : PACKET_CAUSE_NO_CPU;
	c->stage_ns = w->value_ns;
	c->ns = w->named ? w->part[0].value_ns : 0;
	memcpy(c->name, why_name(w), strnlen(why_name(w), sizeof(c->name)));
}

void explain_for_peer(void *causes, const struct trace_record *breach, const char *path)
{
	static struct why w; /* one thread saves traces */
	struct packet_cause c = { .state = PACKET_CAUSE_NO_TRACE, .seq = breach->seq };

	if (path) {
		explain_folder(&w, path);
		take(&c, &w);
	}
	freeze_causes_add(causes, breach->ssid, &c);
}

-- SPDX-License-Identifier: GPL-2.0-or-later
-- Wireshark dissector for STAMP (RFC 8762, RFC 8972) over UDP with the TLVs of rant: docs/protocol.md.

local rant = Proto("rant", "rant: STAMP with its own TLVs")

rant.prefs.port = Pref.uint("UDP port", 862, "Port of the reflector. Packets from this port are replies.")
rant.prefs.authenticated = Pref.bool("Authenticated mode", false, "With a key the base has 112 octets; no field of a packet shows the mode.")

local METHODS = { [0] = "not reported", [1] = "hardware assist", [2] = "software local", [3] = "control plane" } -- RFC 8972 table 9
local SOURCES = { [0] = "not reported", [1] = "NTP", [2] = "PTP", [3] = "SSU/BITS", [4] = "GNSS", [5] = "local free-running" } -- table 8
local STAMPED_BY = { [0] = "not reported", [1] = "user space", [2] = "kernel", [3] = "NIC" }
local TLV_NAMES = {
	[1] = "Extra Padding", [2] = "Location", [3] = "Timestamp Information", [4] = "Class of Service", [5] = "Direct Measurement",
	[6] = "Access Report", [7] = "Follow-Up Telemetry", [8] = "HMAC", [240] = "rant: T2_SW and clock", [241] = "rant: last replies", [242] = "rant: receipt", [243] = "rant: departure", [244] = "rant: freeze",
	[245] = "rant: cause",
}
local CAUSE_STATES = { [0] = "nothing was asked", [1] = "pending", [2] = "known", [3] = "no trace was saved", [4] = "not explained", [5] = "refused" }
local CAUSE_CLASSES = {
	[0] = "not in the trace", "events lost", "NMI", "irq", "interrupt", "softirq", "thread", "idle", "rant itself", "interrupt held back",
	"interrupt held back in idle", "deferred to ksoftirqd", "softirqs off", "other packets", "not seen by the kernel", "NIC or its bus", "others", "spread",
	"not late",
}
local CAUSE_STAGES = {
	[0] = "NIC-to-app", "NIC-to-kernel", "Kernel-to-app", "App processing", "App-to-NIC", "App-to-kernel", "App-to-qdisc", "Qdisc-to-driver",
	"Qdisc-to-kernel", "Driver-to-NIC",
}
local MAGIC = 0x52414e54
local NTP_TO_UNIX_S = 2208988800

local f = {
	kind = ProtoField.string("rant.kind", "Kind"),
	seq = ProtoField.uint32("rant.seq", "Sequence Number"),
	timestamp = ProtoField.absolute_time("rant.timestamp", "Timestamp", base.UTC),
	error_estimate = ProtoField.uint16("rant.error_estimate", "Error Estimate", base.HEX),
	synchronised = ProtoField.bool("rant.error_estimate.s", "Clock is synchronised", 16, nil, 0x8000),
	ptp_format = ProtoField.bool("rant.error_estimate.z", "Timestamps in PTP format", 16, nil, 0x4000),
	ssid = ProtoField.uint16("rant.ssid", "SSID", base.HEX),
	receive = ProtoField.absolute_time("rant.receive_timestamp", "Receive Timestamp (T2)", base.UTC),
	sender_seq = ProtoField.uint32("rant.sender.seq", "Session-Sender Sequence Number"),
	sender_timestamp = ProtoField.absolute_time("rant.sender.timestamp", "Session-Sender Timestamp (T1)", base.UTC),
	sender_error = ProtoField.uint16("rant.sender.error_estimate", "Session-Sender Error Estimate", base.HEX),
	sender_ttl = ProtoField.uint8("rant.sender.ttl", "Session-Sender TTL"),
	hmac = ProtoField.bytes("rant.hmac", "HMAC"),
	tlv = ProtoField.none("rant.tlv", "TLV"),
	tlv_flags = ProtoField.uint8("rant.tlv.flags", "Flags", base.HEX),
	unrecognised = ProtoField.bool("rant.tlv.flags.u", "Unrecognised", 8, nil, 0x80),
	malformed = ProtoField.bool("rant.tlv.flags.m", "Malformed", 8, nil, 0x40),
	integrity = ProtoField.bool("rant.tlv.flags.i", "Integrity check failed", 8, nil, 0x20),
	tlv_type = ProtoField.uint8("rant.tlv.type", "Type", base.DEC, TLV_NAMES),
	tlv_length = ProtoField.uint16("rant.tlv.length", "Length"),
	value = ProtoField.bytes("rant.tlv.value", "Value"),
	sync_in = ProtoField.uint8("rant.info.source_in", "Synchronization Source of T2", base.DEC, SOURCES),
	method_in = ProtoField.uint8("rant.info.method_in", "Timestamping Method of T2", base.DEC, METHODS),
	sync_out = ProtoField.uint8("rant.info.source_out", "Synchronization Source of T3", base.DEC, SOURCES),
	method_out = ProtoField.uint8("rant.info.method_out", "Timestamping Method of T3", base.DEC, METHODS),
	dscp1 = ProtoField.uint8("rant.cos.dscp_wanted", "DSCP wanted for the reply", base.DEC, nil, 0xfc),
	follow_seq = ProtoField.uint32("rant.followup.seq", "Sequence Number of the earlier reply"),
	follow_time = ProtoField.absolute_time("rant.followup.timestamp", "Transmit timestamp (T3) of that reply", base.UTC),
	follow_method = ProtoField.uint8("rant.followup.method", "Timestamping Method", base.DEC, METHODS),
	t2_kernel = ProtoField.absolute_time("rant.own.t2_kernel", "Receive time of the reflector's kernel", base.UTC),
	poll_gap = ProtoField.uint32("rant.own.poll_gap", "Poll gap at the receipt (ns)"),
	kernel_every = ProtoField.uint32("rant.departure.every", "Kernel's transmit times are wanted of one reply in"),
	departure = ProtoField.none("rant.departure", "Kernel's transmit times of an earlier reply"),
	departure_seq = ProtoField.uint32("rant.departure.seq", "Sequence Number"),
	sched = ProtoField.uint32("rant.departure.sched", "T3_SCHED - T3_SW (ns)"),
	txsw = ProtoField.uint32("rant.departure.txsw", "T3_TXSW - T3_SW (ns)"),
	freeze_flags = ProtoField.uint8("rant.freeze.flags", "Flags", base.HEX),
	freeze_breach = ProtoField.bool("rant.freeze.flags.breach", "The sender had a breach: freeze the trace", 8, nil, 0x80),
	freeze_frozen = ProtoField.bool("rant.freeze.flags.frozen", "Marked and frozen", 8, nil, 0x40),
	freeze_refused = ProtoField.bool("rant.freeze.flags.refused", "Refused", 8, nil, 0x20),
	freeze_occupied = ProtoField.bool("rant.freeze.flags.occupied", "Frozen already at another breach", 8, nil, 0x10),
	freeze_seen = ProtoField.bool("rant.freeze.flags.seen", "The reflector's breach was seen", 8, nil, 0x08),
	freeze_no_trace = ProtoField.bool("rant.freeze.flags.no_trace", "Marked, no trace was frozen", 8, nil, 0x04),
	freeze_answer = ProtoField.bool("rant.freeze.flags.answer", "Answered", 8, nil, 0x01),
	freeze_seq = ProtoField.uint32("rant.freeze.seq", "Sequence Number of the breach"),
	freeze_age = ProtoField.uint32("rant.freeze.age_us", "Age (us)"),
	cause_asked = ProtoField.bool("rant.cause.asked", "The cause is asked for", 8, nil, 0x80),
	cause_state = ProtoField.uint8("rant.cause.state", "State", base.DEC, CAUSE_STATES),
	cause_class = ProtoField.uint8("rant.cause.class", "Class", base.DEC, CAUSE_CLASSES),
	cause_stage = ProtoField.uint8("rant.cause.stage", "Stage", base.DEC, CAUSE_STAGES),
	cause_share = ProtoField.uint8("rant.cause.share", "Share in the excess of the stage (%)"),
	cause_seq = ProtoField.uint32("rant.cause.seq", "Sequence Number of the breach"),
	cause_cpu = ProtoField.uint16("rant.cause.cpu", "CPU"),
	cause_stage_ns = ProtoField.int64("rant.cause.stage_ns", "Stage (ns)"),
	cause_ns = ProtoField.int64("rant.cause.ns", "Cause in it (ns)"),
	cause_name = ProtoField.string("rant.cause.name", "Name"),
	received = ProtoField.uint32("rant.direct.received", "Packets received in the session"),
	sent = ProtoField.uint32("rant.direct.sent", "Replies sent in the session"),
	magic = ProtoField.string("rant.own.magic", "Magic"),
	flags = ProtoField.uint8("rant.own.flags", "Flags", base.HEX),
	has_t2_sw = ProtoField.bool("rant.own.flags.t2_sw", "T2_SW is wanted, or is in the reply", 8, nil, 0x80),
	same_timebase = ProtoField.bool("rant.own.flags.same_timebase", "T3 and T2_SW are in the timebase of T2, within the bound", 8, nil, 0x40),
	clock_fault = ProtoField.bool("rant.own.flags.clock_fault", "Clock fault in this session", 8, nil, 0x20),
	has_source = ProtoField.bool("rant.own.flags.source", "Source of T2 and discards are reported", 8, nil, 0x10),
	rate_limited = ProtoField.bool("rant.own.flags.rate_limited", "Discarded: rate limit", 8, nil, 0x08),
	refused = ProtoField.bool("rant.own.flags.refused", "Discarded: the host refused to send", 8, nil, 0x04),
	not_read = ProtoField.bool("rant.own.flags.not_read", "Discarded: not read from the socket", 8, nil, 0x02),
	no_session = ProtoField.bool("rant.own.flags.no_session", "No session", 8, nil, 0x01),
	stamped_by = ProtoField.uint8("rant.own.stamped_by", "T2 and follow-ups stamped by", base.DEC, STAMPED_BY),
	discarded = ProtoField.uint16("rant.own.discarded", "Requests discarded (low 16 bits)"),
	bound = ProtoField.uint32("rant.own.bound_ns", "Bound (ns)"),
	t2_sw = ProtoField.absolute_time("rant.own.t2_sw", "T2_SW", base.UTC),
	entry = ProtoField.none("rant.reply", "Earlier reply"),
	entry_seq = ProtoField.uint32("rant.reply.seq", "Sequence Number"),
	entry_method = ProtoField.uint8("rant.reply.method", "Timestamping Method", base.DEC, METHODS),
	entry_time = ProtoField.absolute_time("rant.reply.timestamp", "Transmit timestamp (T3)", base.UTC),
}
rant.fields = f

local bad_length = ProtoExpert.new("rant.bad_length", "Length exceeds the packet or does not fit the type", expert.group.MALFORMED, expert.severity.ERROR)
rant.experts = { bad_length }

-- The eight octets of a timestamp in PTP or NTP format. The fraction of NTP is rounded to the nearest nanosecond.
local function time_of(range, is_ptp)
	local seconds, rest = range(0, 4):uint(), range(4, 4):uint()
	if is_ptp then
		return NSTime.new(seconds, rest)
	end
	local ns = math.floor(rest * 1e9 / 4294967296 + 0.5)
	-- Seconds of NTP begin again in 2036.
	seconds = seconds - NTP_TO_UNIX_S + (seconds < NTP_TO_UNIX_S and 4294967296 or 0)
	if ns >= 1000000000 then
		seconds, ns = seconds + 1, ns - 1000000000
	end
	return NSTime.new(seconds, ns)
end

local function add_time(tree, field, range, is_ptp)
	if range:uint64() == UInt64(0) then
		tree:add(f.value, range):set_text("Time: 0, not known")
		return
	end
	tree:add(field, range, time_of(range, is_ptp))
end

local function add_error(tree, field, range)
	local item = tree:add(field, range)
	item:add(f.synchronised, range)
	item:add(f.ptp_format, range)
	return bit.band(range:uint(), 0x4000) ~= 0
end

local function is_own(value)
	return value:len() >= 4 and value(0, 4):uint() == MAGIC
end

-- Readers of the value of a TLV. Each returns false if the length does not fit.
local readers = {
	[3] = function(tree, value)
		if value:len() < 4 then return false end
		tree:add(f.sync_in, value(0, 1))
		tree:add(f.method_in, value(1, 1))
		tree:add(f.sync_out, value(2, 1))
		tree:add(f.method_out, value(3, 1))
	end,
	[4] = function(tree, value)
		if value:len() ~= 4 then return false end
		tree:add(f.dscp1, value(0, 1))
	end,
	[5] = function(tree, value)
		if value:len() ~= 12 then return false end
		tree:add(f.received, value(4, 4))
		tree:add(f.sent, value(8, 4))
	end,
	[7] = function(tree, value, is_ptp)
		if value:len() ~= 16 then return false end
		tree:add(f.follow_seq, value(0, 4))
		add_time(tree, f.follow_time, value(4, 8), is_ptp)
		tree:add(f.follow_method, value(12, 1))
	end,
	[8] = function(tree, value)
		if value:len() ~= 16 then return false end
		tree:add(f.hmac, value)
	end,
	[240] = function(tree, value, is_ptp)
		if not is_own(value) then return end
		if value:len() ~= 20 then return false end
		tree:add(f.magic, value(0, 4))
		local flags = tree:add(f.flags, value(4, 1))
		for _, field in ipairs({ f.has_t2_sw, f.same_timebase, f.clock_fault, f.has_source, f.rate_limited, f.refused, f.not_read, f.no_session }) do
			flags:add(field, value(4, 1))
		end
		tree:add(f.stamped_by, value(5, 1))
		tree:add(f.discarded, value(6, 2))
		tree:add(f.bound, value(8, 4))
		add_time(tree, f.t2_sw, value(12, 8), is_ptp)
	end,
	[241] = function(tree, value, is_ptp)
		if not is_own(value) then return end
		if value:len() < 20 or value:len() > 100 or (value:len() - 4) % 16 ~= 0 then return false end
		tree:add(f.magic, value(0, 4))
		for at = 4, value:len() - 16, 16 do
			local entry = value(at, 16)
			if entry(8, 8):uint64() ~= UInt64(0) then
				local item = tree:add(f.entry, entry)
				item:add(f.entry_seq, entry(0, 4))
				item:add(f.entry_method, entry(4, 1))
				item:add(f.entry_time, entry(8, 8), time_of(entry(8, 8), is_ptp))
				item:append_text(" " .. entry(0, 4):uint())
			end
		end
	end,
	[242] = function(tree, value, is_ptp)
		if not is_own(value) then return end
		if value:len() < 8 or value:len() > 64 then return false end
		tree:add(f.magic, value(0, 4))
		tree:add(f.poll_gap, value(4, 4))
		if value:len() >= 16 then tree:add(f.t2_kernel, value(8, 8), time_of(value(8, 8), is_ptp)) end
	end,
	[243] = function(tree, value)
		if not is_own(value) then return end
		if value:len() < 20 or value:len() > 100 or (value:len() - 4) % 16 ~= 0 then return false end
		tree:add(f.magic, value(0, 4))
		for at = 4, value:len() - 16, 16 do
			local known = value(at + 4, 1):uint() % 4
			if known ~= 0 then
				local item = tree:add(f.departure, value(at, 16))
				item:add(f.departure_seq, value(at, 4))
				if known % 2 == 1 then item:add(f.sched, value(at + 8, 4)) end
				if known >= 2 then item:add(f.txsw, value(at + 12, 4)) end
			elseif at == 4 and value(at + 8, 4):uint() ~= 0 then
				tree:add(f.kernel_every, value(at + 8, 4))
			end
		end
	end,
	[244] = function(tree, value)
		if not is_own(value) then return end
		if value:len() ~= 16 then return false end
		tree:add(f.magic, value(0, 4))
		local flags = tree:add(f.freeze_flags, value(4, 1))
		for _, field in ipairs({ f.freeze_breach, f.freeze_frozen, f.freeze_refused, f.freeze_occupied, f.freeze_seen, f.freeze_no_trace, f.freeze_answer }) do
			flags:add(field, value(4, 1))
		end
		tree:add(f.freeze_seq, value(8, 4))
		tree:add(f.freeze_age, value(12, 4))
	end,
	[245] = function(tree, value)
		if not is_own(value) then return end
		if value:len() ~= 64 then return false end
		tree:add(f.magic, value(0, 4))
		if value(4, 1):uint() >= 0x80 then
			tree:add(f.cause_asked, value(4, 1))
		else
			tree:add(f.cause_state, value(4, 1))
		end
		tree:add(f.cause_seq, value(8, 4))
		if value(4, 1):uint() == 2 then
			tree:add(f.cause_class, value(5, 1))
			tree:add(f.cause_stage, value(6, 1))
			tree:add(f.cause_share, value(7, 1))
			if value(12, 2):uint() ~= 0xffff then tree:add(f.cause_cpu, value(12, 2)) end
			tree:add(f.cause_stage_ns, value(16, 8))
			tree:add(f.cause_ns, value(24, 8))
			tree:add(f.cause_name, value(32, 32), value(32, 32):stringz())
		end
	end,
}

local function add_tlvs(tree, range, is_ptp)
	local at = 0
	while at + 4 <= range:len() do
		local kind, length = range(at + 1, 1):uint(), range(at + 2, 2):uint()
		local room = math.min(length, range:len() - at - 4)
		local item = tree:add(f.tlv, range(at, 4 + room))
		item:append_text(" " .. kind .. ": " .. (TLV_NAMES[kind] or "unknown type"))
		local flags = item:add(f.tlv_flags, range(at, 1))
		flags:add(f.unrecognised, range(at, 1))
		flags:add(f.malformed, range(at, 1))
		flags:add(f.integrity, range(at, 1))
		item:add(f.tlv_type, range(at + 1, 1))
		item:add(f.tlv_length, range(at + 2, 2))
		if room < length then
			item:add_proto_expert_info(bad_length)
			return
		end
		if room > 0 then
			local value = range(at + 4, room)
			if not readers[kind] then
				item:add(f.value, value)
			elseif readers[kind](item, value, is_ptp) == false then
				item:add_proto_expert_info(bad_length)
				item:add(f.value, value)
			end
		end
		at = at + 4 + length
	end
end

function rant.dissector(buffer, pinfo, tree)
	local key = rant.prefs.authenticated
	local base_octets, shift = key and 112 or 44, key and 12 or 0
	if buffer:len() < base_octets then
		return 0
	end
	local is_reply = pinfo.src_port == rant.prefs.port
	pinfo.cols.protocol = "STAMP"
	local item = tree:add(rant, buffer())
	item:add(f.kind, is_reply and "reply" or "request"):set_generated()
	item:add(f.seq, buffer(0, 4))
	local is_ptp = bit.band(buffer(12 + shift, 2):uint(), 0x4000) ~= 0
	add_time(item, f.timestamp, buffer(4 + shift, 8), is_ptp)
	add_error(item, f.error_estimate, buffer(12 + shift, 2))
	item:add(f.ssid, buffer(14 + shift, 2))
	local text = string.format("%s %d", is_reply and "Reply" or "Request", buffer(0, 4):uint())
	if is_reply then
		local receive, sender = key and 32 or 16, key and 48 or 24
		local sender_time, sender_error, ttl = key and 64 or 28, key and 72 or 36, key and 80 or 40
		add_time(item, f.receive, buffer(receive, 8), is_ptp)
		item:add(f.sender_seq, buffer(sender, 4))
		local sender_ptp = bit.band(buffer(sender_error, 2):uint(), 0x4000) ~= 0
		add_time(item, f.sender_timestamp, buffer(sender_time, 8), sender_ptp)
		add_error(item, f.sender_error, buffer(sender_error, 2))
		item:add(f.sender_ttl, buffer(ttl, 1))
		text = text .. " to request " .. buffer(sender, 4):uint()
	end
	if key then
		item:add(f.hmac, buffer(96, 16))
	end
	pinfo.cols.info = text
	if buffer:len() > base_octets then
		add_tlvs(item, buffer(base_octets), is_ptp)
	end
	return buffer:len()
end

-- A changed port replaces the port before.
local port = 0
local function register()
	local ports = DissectorTable.get("udp.port")
	if port ~= 0 then ports:remove(port, rant) end
	port = rant.prefs.port
	if port ~= 0 then ports:add(port, rant) end
end
rant.prefs_changed = register
register()

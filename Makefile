# SPDX-License-Identifier: GPL-2.0-or-later
# rant: make, make unit, sudo make demo, sudo make check, sudo make check-all, make coverage, make golden, make lab,
# sudo make fuzz, sudo make bench, sudo make sweep, sudo make install, make dist, sudo make packages

CC ?= cc
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
ZSH_FUNCTIONS = share/zsh/site-functions

# The same path on Debian, Ubuntu and Fedora: pkg-config is not needed.
INCLUDES = -I. -I/usr/include/libnl3
# -z now: the loop never waits for a name that is looked up at its first call, in libraries whose pages are not locked (memory_lock()).
LIBRARIES = -Wl,--as-needed,-z,now -lnl-3 -lnl-genl-3 -lm -lpthread -ldl
WARNINGS = -Wall -Wextra -Wshadow -Wformat=2 -Wmissing-prototypes -Wpointer-arith -Wvla
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
STANDARD = -std=gnu11

# The authenticated mode (hmac.c) needs libnettle: on where its header is. NETTLE=0: without.
NETTLE ?= $(if $(wildcard /usr/include/nettle/hmac.h),1,0)
ifeq ($(NETTLE),1)
INCLUDES += -DWITH_NETTLE
LIBRARIES += -lnettle
endif

# The system call filter (seccomp.c) needs libseccomp, in the same way. SECCOMP=0: without.
SECCOMP ?= $(if $(wildcard /usr/include/seccomp.h),1,0)
ifeq ($(SECCOMP),1)
INCLUDES += -DWITH_SECCOMP
LIBRARIES += -lseccomp
endif

# Reading JSON (analyse/tree.c) needs libjansson, in the same way. JANSSON=0: without.
JANSSON ?= $(if $(wildcard /usr/include/jansson.h),1,0)
ifeq ($(JANSSON),1)
INCLUDES += -DWITH_JANSSON
LIBRARIES += -ljansson
endif

# The raw pages of a saved trace (explain/trace_format.c, trace_pages.c) need libtraceevent, loaded when it is used. TRACEEVENT=0: without.
TRACEEVENT ?= $(if $(wildcard /usr/include/traceevent/kbuffer.h),1,0)
ifeq ($(TRACEEVENT),1)
INCLUDES += -DWITH_TRACEEVENT
endif

# Commit that --version prints (report/text/version.c): from git, or from .version, which "git archive" writes; COMMIT=X replaces it.
# --git-dir ignores a repository around this tree, and lets root read the tree of another user.
ifneq ($(origin COMMIT),command line)
COMMIT := $(shell if [ -e .git ]; then git --git-dir=.git --work-tree=. describe --always --dirty --exclude='*' --abbrev=12; \
	else grep -oE '^[0-9a-f]{12}' .version; fi 2>/dev/null)
endif

# In folders that tests/structure.sh knows.
SOURCES = $(sort $(wildcard *.c [!t]*/*.c [!t]*/*/*.c))
OBJECTS = $(SOURCES:%.c=build/%.o)
TESTS = $(patsubst tests/unit/%.c,build/%,$(sort $(wildcard tests/unit/test_*.c)))

# V=1 prints each command; else there is a line for each file, as in the kernel's build.
Q = $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V))$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-4s %s\n' $(1) '$@')

all: rant

rant: $(OBJECTS)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBRARIES)

# Objects that depend on NETTLE, SECCOMP, JANSSON and TRACEEVENT are rebuilt when these change.
with = build/with-$(NETTLE)$(SECCOMP)$(JANSSON)$(TRACEEVENT)

$(with):
	@mkdir -p $(@D)
	@rm -f build/with-*
	@touch $@

build/wire/hmac.o build/host/process/seccomp.o build/analyse/tree.o build/explain/trace_format.o build/explain/trace_pages.o: $(with)

# Only version.o depends on the commit.
committed = build/commit-$(or $(COMMIT),unknown)

$(committed):
	@mkdir -p $(@D)
	@rm -f build/commit-*
	@touch $@

build/report/text/version.o build/sanitized/report/text/version.o build/tsan/report/text/version.o: INCLUDES += -DRANT_COMMIT='"$(COMMIT)"'
build/report/text/version.o build/sanitized/report/text/version.o build/tsan/report/text/version.o: $(committed)

# -MMD writes the headers that each object depends on.
# Before and after the run, and on other threads: smaller, since the whole program is locked in memory.
build/analyse/%.o build/doctor/%.o build/explain/%.o build/host/nic/%.o build/options/%.o build/report/export/%.o build/report/text/%.o \
	build/report/verdict/%.o: CFLAGS += -Os

build/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(STANDARD) $(CPPFLAGS) $(CFLAGS) $(WARNINGS) $(INCLUDES) -MMD -MP -c $< -o $@

-include $(wildcard $(OBJECTS:.o=.d))

# Objects of the tests. No _FORTIFY_SOURCE: it renames libc calls, and a wrapped call would be missed silently.
build/sanitized/%.o: %.c Makefile $(with)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(STANDARD) -g $(OPTIMIZE) -Wno-format-truncation -U_FORTIFY_SOURCE $(SANITIZE) $(WARNINGS) -Werror $(INCLUDES) -MMD -MP -c $< -o $@

# -Og compiles in half the time of -O1 (measure/reflect.c with sanitizers: 3 s instead of 8), and its code takes as long to run.
build/sanitized/%.o: OPTIMIZE = -Og
# The unit tests themselves compile faster without optimization (test_report_breach: 0.7 s instead of 4.9); gcc then takes every buffer of a
# format to be full. Those that include the code of long simulations would run for longer than that.
build/sanitized/tests/unit/%.o: OPTIMIZE = -O0
$(patsubst %,build/sanitized/tests/unit/test_%.o,results_bootstrap stalls source_port exchange_run fuzz_results clock_track joining log \
	histogram window rhythm modes confidence): OPTIMIZE = -O1

-include $(wildcard build/sanitized/*.d build/sanitized/*/*.d build/sanitized/*/*/*.d)

build/rant-sanitized: $(SOURCES:%.c=build/sanitized/%.o)
	$(call say,LINK)
	$(Q)$(CC) $(SANITIZE) -static-libasan -static-libubsan $^ -o $@ $(LIBRARIES)

# For data races: tests/link/threads.sh. No -Wtsan: what a fence orders are atomic accesses, and these ThreadSanitizer knows. Two calls are
# the test's own, see tests/link/threads.c.
TSAN = -fsanitize=thread -Wno-tsan
build/tsan/%.o: %.c Makefile $(with)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(STANDARD) -g -O1 -U_FORTIFY_SOURCE $(TSAN) $(WARNINGS) -Werror $(INCLUDES) -MMD -MP -c $< -o $@

-include $(wildcard build/tsan/*.d build/tsan/*/*.d build/tsan/*/*/*.d)

build/rant-tsan: $(SOURCES:%.c=build/tsan/%.o) build/tsan/tests/link/threads.o
	$(call say,LINK)
	$(Q)$(CC) $(TSAN) -Wl,--wrap=syscall,--wrap=close $^ -o $@ $(LIBRARIES)

build/hostile: tests/link/hostile.c $(filter-out build/rant.o,$(OBJECTS))
	$(call say,LINK)
	$(Q)$(CC) $(STANDARD) -O2 -g $(WARNINGS) -Werror $(INCLUDES) $^ -o $@ $(LIBRARIES)

# Helpers: the system call filter of a systemd unit; a program that reads another process.
build/sandbox build/look_into: build/%: tests/link/%.c Makefile
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(STANDARD) -O2 -g $(WARNINGS) -Werror $< -o $@ $(if $(filter sandbox,$*),-lseccomp)

build/spike.so: tests/lab/spike.c Makefile
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(STANDARD) -O2 -g $(WARNINGS) -Werror -shared -fPIC -z now tests/lab/spike.c -o $@ -ldl

# Each unit test has a line "build: wraps=A,B sources=X.c,@SET,... libs=...": the functions that it replaces, and what is linked to it, without
# the files that the test includes. SET is one of these:
set_loop = $(patsubst %,tests/unit/fake_%.c,kernel script account reflector emitter) histogram.c host/counters/pmc.c host/clock/*.c \
	$(patsubst %,wire/%.c,timestamping peer_socket packet tlv* hmac session allow sequence) \
	$(patsubst %,measure/%.c,exchange emit freeze reflect join probe idle_sleep window* pace sample tx_match rules ipdv source_port) $(set_result)
set_report = histogram.c tracefs.c result/*.c $(patsubst %,host/%.c,process/affinity process/memory trace/* counters/* clock/* nic/nic*) \
	$(patsubst %,report/%.c,verdict/rhythm* verdict/verdict_finding verdict/modes verdict/teeth log/log_file log/log_mend) \
	$(patsubst %,report/text/%.c,brief headline buckets account breach causes clocks clocks_remote confidence echo evidence freeze label limit machine stage report statistics \
		ipdv source_ports teeth)
set_result = $(filter-out result/take%.c,$(wildcard result/*.c))
set_host = host/*.c host/*/*.c
set_outputs = report/*/*.c
comma = ,
field = $(subst $(comma), ,$(shell sed -n 's|^/\* build:.* $(2)=\([^ ]*\).*|\1|p' tests/unit/test_$(1).c))
included = $(shell sed -n 's|^\#include "\([^"]*\.c\)".*|\1|p' tests/unit/test_$(1).c)
sources_of = $(foreach w,$(call field,$(1),sources),$(if $(filter @%,$(w)),$(set_$(w:@%=%)),$(w)))
objects_of = $(patsubst %.c,build/sanitized/%.o,$(filter-out $(call included,$(1)),$(wildcard $(call sources_of,$(1)))))

# Intermediate objects of tests are kept.
.PRECIOUS: build/sanitized/%.o

.SECONDEXPANSION:
build/test_%: build/sanitized/tests/unit/test_%.o $$(call objects_of,$$*)
	$(call say,LINK)
	$(Q)$(CC) $(SANITIZE) $(foreach w,$(call field,$*,wraps),-Wl$(comma)--wrap=$(w)) $^ -o $@ -lcmocka $(LIBRARIES)

# Writes the texts that tests compare with, tests/golden/: "git diff" shows what has changed.
GOLDEN_TESTS = $(patsubst tests/unit/%.c,build/%,$(shell grep -lE 'return golden_run' $(wildcard tests/unit/test_*.c)))
golden: $(GOLDEN_TESTS)
	@mkdir -p tests/golden/unit
	@for test in $^; do GOLDEN=write $$test >$$test.golden 2>&1 || { cat $$test.golden; exit 1; }; done

demo:
	$(Q)tests/packages.sh build demo
	$(Q)$(MAKE) --no-print-directory $(if $(filter 1,$(V)),,-s) rant
	$(Q)tests/demo.sh

# Unit tests alone: no root, and no packages but compiler, libnl-3 and cmocka. TEST=NAME: only those with NAME in their name.
unit:
	tests/packages.sh unit
	TEST="$(TEST)" tests/check.sh --unit

# The quick tests; the rest of them. LAB=0: without the virtual machines. TEST=NAME: as above.
check check-all:
	tests/packages.sh build demo check $(if $(filter check-all,$@),packages cross) $(if $(filter 0,$(LAB)),,lab)
	TEST="$(TEST)" LAB="$(LAB)" tests/check.sh $(if $(filter check-all,$@),--rest)

# Lines and branches that the unit tests run, by folder. No root.
coverage:
	tests/packages.sh build coverage
	tests/coverage.sh

# In virtual machines whose NICs have PTP clocks; Debian on amd64. LAB=all: the slow tests too. ARCH=arm64: machines of that architecture.
lab:
	tests/packages.sh build check lab $(if $(filter arm64,$(ARCH)),cross)
	$(if $(filter arm64,$(ARCH)),,$(MAKE) lab-programs)
	ARCH="$(ARCH)" tests/lab/lab.sh $(if $(filter all,$(LAB)),--all)

# What the tests in the lab run.
lab-programs: rant build/hostile $(filter build/test_clock build/test_tracefs,$(TESTS))

# What comes from elsewhere: packets as the rooms decode them, options, what runs have left, arguments of config.sh; SECONDS of each.
# libFuzzer adds what it finds to build/corpus, build/corpus_options, build/corpus_results and build/corpus_trace. build/fuzz_packet -merge=1
# tests/fuzz/corpus build/corpus keeps what reaches further.
SECONDS ?= 600
FUZZING = -max_total_time=$(SECONDS) -max_len=600 -artifact_prefix=build/

build/fuzz_packet: wire/packet.c wire/tlv.c wire/tlv_rant.c $(wildcard wire/*.h) tests/unit/reply.h
build/fuzz_options: $(filter options%,$(SOURCES)) $(wildcard options/*.h) # options/rules.c it includes
build/fuzz_packet build/fuzz_options: build/%: tests/fuzz/%.c tests/fuzz/insist.h $(wildcard *.h) Makefile
	@mkdir -p $(@D)
	clang $(STANDARD) -g -O1 -fsanitize=fuzzer $(SANITIZE) $(WARNINGS) -Werror $(INCLUDES) $(filter-out options/rules.c,$(filter %.c,$^)) -o $@

# Nearly all rooms are in it: what they are warned of is told where they are made.
build/fuzz_results: tests/fuzz/fuzz_results.c tests/fuzz/insist.h $(filter-out rant.c,$(SOURCES)) $(wildcard *.h */*.h */*/*.h) Makefile
	@mkdir -p $(@D)
	clang $(STANDARD) -g -O1 -fsanitize=fuzzer $(SANITIZE) -w $(INCLUDES) $(filter %.c,$^) -o $@ $(LIBRARIES)

build/fuzz_trace: tests/fuzz/fuzz_trace.c tests/fuzz/insist.h $(filter-out explain/explain%,$(wildcard explain/*.[ch])) analyse/tree.c result/causes.c \
		report/text/causes.c report/export/json.c report/text/label.c result/stages.c $(wildcard *.h) Makefile
	@mkdir -p $(@D)
	clang $(STANDARD) -g -O1 -fsanitize=fuzzer $(SANITIZE) $(WARNINGS) -Werror $(INCLUDES) $(filter %.c,$^) -o $@ $(LIBRARIES)

fuzz:
	tests/packages.sh build demo fuzz
	$(MAKE) build/fuzz_packet build/fuzz_options build/fuzz_results build/fuzz_trace
	mkdir -p build/corpus build/corpus_options build/corpus_results build/corpus_trace
	build/fuzz_packet $(FUZZING) build/corpus tests/fuzz/corpus
	build/fuzz_options $(FUZZING) build/corpus_options tests/fuzz/corpus_options
	build/fuzz_results $(FUZZING) -max_len=4096 build/corpus_results tests/fuzz/corpus_results
	build/fuzz_trace $(FUZZING) -max_len=4096 build/corpus_trace tests/fuzz/corpus_trace
	tests/fuzz/config_arguments.sh $(SECONDS)

# OLD=PROGRAM: another rant, and this one beside it. PUBLIC=PROGRAM: the public tool of this name, beside the others.
bench:
	tests/packages.sh build demo bench
	$(MAKE) rant
	tests/bench/bench.sh ./rant $(OLD)

# A standing reflector for COUNT answers, a day of one each millisecond, or for MINUTES, while sessions come and go: its memory, descriptors
# and rate. COUNT=0: for MINUTES.
MINUTES ?= 60
COUNT ?= 86400000
soak:
	tests/packages.sh build demo
	$(MAKE) rant build/hostile
	ONLY='sessions come and go' SOAK_S=$$(($(MINUTES) * 60)) SOAK_ANSWERS=$(COUNT) tests/link/namespace_standing.sh ./rant build/hostile

# OPTIONS="OPTION...": of the emitter, too. RATES, SECONDS_EACH: see sweep.sh.
sweep:
	tests/packages.sh build demo bench
	$(MAKE) rant
	tests/bench/sweep.sh ./rant $(if $(OPTIONS),-- $(OPTIONS))

# The options of rant(1) come from docs/options.md, those of rant-config(8) from config.sh --help.
build/man/%: man/%.in man/page.sh man/options.awk man/paragraphs.awk docs/options.md config.sh
	@mkdir -p $(@D)
	man/page.sh $< $(if $(filter rant-config.8,$*),./config.sh,docs/options.md) >$@

PAGES = build/man/rant.1 build/man/rant-config.8

UNIT = rant-reflect@.service

install: rant $(PAGES)
	install -D -m 0755 rant $(DESTDIR)$(PREFIX)/bin/rant
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/rant/config $(wildcard config/*.sh)
	install -D -m 0755 config.sh $(DESTDIR)$(PREFIX)/share/rant/config.sh
	install -d $(DESTDIR)$(PREFIX)/sbin
	ln -sf ../share/rant/config.sh $(DESTDIR)$(PREFIX)/sbin/rant-config
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(filter %.1,$(PAGES)) man/rant-plot.1
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man8 $(filter %.8,$(PAGES))
	sed -i 's|/usr/local/|$(PREFIX)/|' $(DESTDIR)$(PREFIX)/share/man/man1/rant.1 # the paths of the installed files
	install -D -m 0644 completion/rant.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rant
	ln -sf rant $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rant-config
	ln -sf rant $(DESTDIR)$(PREFIX)/share/bash-completion/completions/rant-plot
	install -D -m 0644 completion/_rant $(DESTDIR)$(PREFIX)/$(ZSH_FUNCTIONS)/_rant
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's|/usr/local/bin/|$(PREFIX)/bin/|' 'systemd/$(UNIT)' >'$(DESTDIR)$(PREFIX)/lib/systemd/system/$(UNIT)'
	chmod 0644 '$(DESTDIR)$(PREFIX)/lib/systemd/system/$(UNIT)'
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/rant/plot $(wildcard plot/*.py)
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/rant/plot/rant_results $(wildcard python/rant_results/*.py)
	install -m 0755 plot/rant-plot $(DESTDIR)$(PREFIX)/share/rant/plot/rant-plot
	ln -sf ../share/rant/plot/rant-plot $(DESTDIR)$(PREFIX)/bin/rant-plot

# Folders that others have something in stay, and those that a machine has anyway: bin, lib, sbin, share and share/man.
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/rant bin/rant-plot sbin/rant-config lib/systemd/system/$(UNIT) \
		$(ZSH_FUNCTIONS)/_rant $(addprefix share/,man/man1/rant.1 man/man1/rant-plot.1 man/man8/rant-config.8 \
			$(addprefix bash-completion/completions/,rant rant-config rant-plot) \
			$(addprefix rant/,config.sh $(wildcard config/*.sh) plot/rant-plot $(wildcard plot/*.py) \
				$(patsubst python/%,plot/%,$(wildcard python/rant_results/*.py)))))
	rmdir $(addprefix $(DESTDIR)$(PREFIX)/,lib/systemd/system lib/systemd $(ZSH_FUNCTIONS) $(dir $(ZSH_FUNCTIONS)) $(addprefix share/,\
		man/man1 man/man8 bash-completion/completions bash-completion rant/config rant/plot/rant_results rant/plot rant)) 2>/dev/null || true

# A release is the last commit, whose name is in .version.
VERSION = $(shell sed -n 's/^\#define RANT_VERSION "\(.*\)".*/\1/p' rant.h)

dist:
	@mkdir -p build
	git archive --prefix=rant-$(VERSION)/ -o build/rant-$(VERSION).tar.gz HEAD
	@echo "build/rant-$(VERSION).tar.gz is commit $(COMMIT:-dirty=)$(if $(filter %-dirty,$(COMMIT)),: what was changed since is not in it)"

# build/packages gets the .deb where there is dpkg, and the .rpm where there is rpmbuild.
packages:
	tests/packages.sh build packages
	if command -v dpkg-buildpackage >/dev/null; then packaging/make.sh deb build/packages; fi
	if command -v rpmbuild >/dev/null; then packaging/make.sh rpm build/packages; fi

clean:
	rm -rf build rant

.PHONY: all golden demo unit check check-all coverage lab lab-programs fuzz soak bench sweep install uninstall dist packages clean

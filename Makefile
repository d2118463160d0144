# SPDX-License-Identifier: GPL-2.0-or-later
# rant: make, sudo make demo, sudo make check, make lab, sudo make bench, sudo make install

CC ?= cc
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local

# The same place on Debian, Ubuntu and Fedora, so that no tool has to be asked before packages are installed.
INCLUDES = -I. -I/usr/include/libnl3
LIBRARIES = -lnl-3 -lnl-genl-3 -lm -lpthread
WARNINGS = -Wall -Wextra -Wshadow -Wformat=2 -Wmissing-prototypes -Wpointer-arith -Wvla
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
STANDARD = -std=gnu11

ROOMS = rant options nic socket packet timestamping exchange session histogram log memory watch report
HOT = packet timestamping exchange session
TESTS = $(patsubst tests/%.c,%,$(sort $(wildcard tests/test_*.c)))

all: rant

rant: $(ROOMS:%=build/%.o)
	$(CC) $(CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBRARIES)

build/%.o: %.c rant.h Makefile
	@mkdir -p $(@D)
	$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) $(INCLUDES) -c $< -o $@

build/rant-sanitized: $(ROOMS:%=%.c) rant.h Makefile
	@mkdir -p $(@D)
	$(CC) $(STANDARD) -g -O1 $(SANITIZE) $(WARNINGS) -Werror $(INCLUDES) $(ROOMS:%=%.c) -o $@ $(LIBRARIES)

build/hostile: tests/hostile.c packet.c rant.h Makefile
	@mkdir -p $(@D)
	$(CC) $(STANDARD) -O2 -g $(WARNINGS) -Werror $(INCLUDES) tests/hostile.c packet.c -o $@

# Each unit test says in a line "build: wraps=A,B sources=X.c,Y.c libs=..." what it replaces and what it is linked with.
# No _FORTIFY_SOURCE: it renames libc calls, and a wrapped call would be missed silently.
comma = ,
field = $(subst $(comma), ,$(shell sed -n 's|^/\* build:.* $(2)=\([^ ]*\).*|\1|p' tests/$(notdir $(1)).c))

build/test_%: tests/test_%.c $(wildcard *.c tests/*.h tests/fake_*.c) rant.h Makefile
	@mkdir -p $(@D)
	$(CC) $(STANDARD) -g -O1 -U_FORTIFY_SOURCE $(SANITIZE) $(WARNINGS) -Werror $(INCLUDES) \
		$(foreach w,$(call field,$@,wraps),-Wl$(comma)--wrap=$(w)) \
		$< $(call field,$@,sources) -o $@ -lcmocka $(LIBRARIES)

demo:
	tests/packages.sh build demo
	$(MAKE) rant
	tests/demo.sh

check:
	tests/packages.sh build demo check
	$(MAKE) rant build/rant-sanitized build/hostile $(TESTS:%=build/%)
	HOT="$(HOT:%=%.o)" tests/check.sh

# In a virtual machine whose NICs have PTP clocks; Debian on amd64.
lab:
	tests/packages.sh build lab
	$(MAKE) rant
	tests/lab/lab.sh igb kernel_stamps

bench:
	tests/packages.sh build demo bench
	$(MAKE) rant
	tests/bench/bench.sh ./rant

install: rant
	install -D -m 0755 rant $(DESTDIR)$(PREFIX)/bin/rant
	install -D -m 0755 config.sh $(DESTDIR)$(PREFIX)/share/rant/config.sh

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/rant $(DESTDIR)$(PREFIX)/share/rant/config.sh

clean:
	rm -rf build rant

.PHONY: all demo check lab bench install uninstall clean

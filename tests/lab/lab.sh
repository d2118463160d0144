#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs tests in a virtual machine whose NICs have PTP clocks: a stock Debian kernel under QEMU's software emulation, with
# this machine's own file tree (read-only, under an overlay) and two joined igb ports, eth0 and eth1. A guest of another
# architecture has a file tree of that architecture's packages, with this source tree and the cache in it.
#
#   lab.sh                  the quick tests
#   lab.sh --all            all of them, and all of each
#   lab.sh --rest           what the quick tests leave out: the slow ones, and those of which only a part is quick
#   lab.sh TEST...          tests/lab/test_TEST.sh
#
# A test is one file test_NAME.sh: bash, run as root in the guest, that prints "ok - NAME", "not ok - NAME",
# "ok - NAME # SKIP REASON" and lines that begin with "# " (see guest.sh, which tests may source). It finds no namespace and
# no simulated NIC that a test before it left. A line "# lab: WORD..." says more of it: the kernels that it runs on, of
# amd64 (the default), rt (PREEMPT_RT), old (the release's own, where these are of its backports), new (of the backports of Debian's stable
# release, whichever this machine has) and arm64 (the one of ARCH=arm64, on which
# those of amd64 run, too); slow; two (a second guest is at the other end of the wire of eth2, see at_peer of guest.sh). It finds in the
# environment:
#   QUICK    not empty: slow parts of a test are to be left out
#   REST     not empty: parts that are not slow are to be left out; never so for a test that is slow as a whole
#   RANT     the program under test            HELPERS  folder with what was built from tests/lab/*.c
#   SIMNIC   the simulated NIC's module, built for this kernel; empty if it did not build or is not there
#   BUILD    folder with test programs that make has built, for this architecture
#   UDEV     folder with Debian's package of that name, unpacked; it may be without files where this machine has it
#   FLAVOUR  the kernel: see above             RESULTS  folder that outlives the guest: see stand_still(), and for "judge PROGRAM FOLDER":
# that line of a test is replaced by what tests/lab/PROGRAM prints of $RESULTS/FOLDER outside, where it is twenty times faster.
#
# From outside:
#   ARCH            architecture of the guest: amd64 (the default) or arm64, with its one kernel
#   RANT            default: ./rant of this tree, made first; for ARCH=arm64 the one that tests/cross.sh builds
#   FLAVOUR         amd64, rt, old or new: all tests on this kernel
#   RANT_LAB_CACHE  what was fetched, and all that is temporary. Default: ~/.cache/rant-lab
#   LIMIT           seconds after which a test is ended, 1200
#   MEMORY          of a guest in MB, 1024: half of it is for files
#   KEEP=1          keep the folder of the run, with the console of the guest
#   ONLY, SELF, SPIKES, COUNT   handed to the tests
#
# Nothing is installed: packages are fetched by name and unpacked into the cache, with an apt configuration of its own.
# Debian on amd64 only; no root, no KVM. Exit status 1 when anything failed.
set -Eeuo pipefail
export LC_ALL=C

lab=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$lab/../.." && pwd)
cache=${RANT_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rant-lab}
arch=${ARCH:-amd64}
unset ARCH # for the kernel's makefiles it has another meaning
flavour=${FLAVOUR:-}
limit_s=${LIMIT:-1200}
boot_limit_s=120 # for all that is not a test: boot, or silence between two tests
renew_days=7     # after which it is looked whether what was fetched is still current

# Tools that are unpacked if this machine has not got them. igb is in QEMU 8.1 and newer.
tools=(busybox-static cpio kmod xz-utils iproute2 ethtool linuxptp pciutils procps util-linux)
# Programs and libraries in the file tree of a guest of another architecture.
programs=(base-files base-passwd bash busybox-static coreutils dash ethtool findutils grep iproute2 kmod libc-bin linuxptp mawk mount procps sed
	util-linux libcmocka0 libjansson4 libnettle8 libnl-3-200 libnl-genl-3-200 libseccomp2 libtraceevent1)
declare -A kernels=() # packages of the kernels, by flavour
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# What the guest needs before it sees the file tree, and what tests want there.
modules=(virtio_pci 9pnet_virtio 9p overlay igb veth sch_netem)

fault=
trap 'fault="line $LINENO: $BASH_COMMAND"' ERR

# The reason is printed at the end, see finish(); a subshell would lose its reason.
die() {
	fault=$*
	[ "$BASH_SUBSHELL" -eq 0 ] || echo "lab: $*" >&2
	exit 1
}

# ---- Architecture of the guest ---------------------------------------------------------------------------------------

set_architecture() {
	case $arch in
	amd64)
		kernels=([amd64]=amd64 [rt]=rt-amd64 [old]=amd64 [new]=amd64)
		tools=(qemu-system-x86 "${tools[@]}")
		folders=(tools udev) qemu=qemu-system-x86_64 compiler=gcc kbuild=(ARCH=x86) console=ttyS0
		words='amd64|rt|old|new' programs_built=$tree/build
		machine=(-cpu max -machine q35)
		;;
	arm64)
		kernels=([arm64]=arm64:arm64)
		flavour=${flavour:-arm64}
		tools=(qemu-system-arm "${tools[@]}")
		folders=(tools-arm64 root-arm64) qemu=qemu-system-aarch64 compiler=aarch64-linux-gnu-gcc console=ttyAMA0
		kbuild=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
		words='amd64|arm64' programs_built=$tree/build/cross/arm64/build
		# With pointer authentication the tests take a quarter longer; a cortex-a76 takes as long as that.
		machine=(-cpu "max,pauth=off" -machine virt)
		;;
	*) die "ARCH is amd64 or arm64, not '$arch'" ;;
	esac
	# The kernel's build tools are programs of this machine, as apt's first architecture.
	[ "$arch" = amd64 ] || apt_options=(-o APT::Architectures::=amd64 -o "APT::Architectures::=$arch")
}

# ---- In the guest ----------------------------------------------------------------------------------------------------

# Namespaces give their devices back.
clean_up() {
	local name

	for name in $(ip netns list | cut -d' ' -f1); do
		ip netns del "$name"
	done
	[ ! -e /sys/module/simnic ] || rmmod simnic || true
}

# serve FOLDER: the second guest runs what tests of the first one ask for, until the first one ends.
serve() {
	local file status

	while [ ! -e "$1/done" ]; do
		for file in "$1"/*/peer.*.asked; do
			[ -e "$file" ] || continue
			file=${file%.asked}
			mv "$file.asked" "$file"
			status=0
			RESULTS=${file%/*} bash "$file" >"$file.out" 2>&1 </dev/null || status=$?
			echo "$status" >"$file.part"
			mv "$file.part" "$file.status"
		done
		sleep 0.2
	done
}

# inside FOLDER: process 1 of the guest, after switch_root. Its folder is the writable share, at the same path as outside.
inside() {
	local results=$1 name status rest

	# shellcheck source=/dev/null # written by run_guest
	. "$results/environment"
	rest=$REST
	mount -t devpts none /dev/pts
	mount -t tracefs none /sys/kernel/tracing
	ln -sfn /proc/self/fd /dev/fd
	ip link set lo up
	mkdir -p /lib/modules
	ln -sfn "$LIB_MODULES/$(uname -r)" "/lib/modules/$(uname -r)"
	[ "$GUEST" = first ] || { serve "$results"; echo b >/proc/sysrq-trigger; }
	while read -r name; do
		: >"$results/$name.begun"
		mkdir "$results/$name"
		export RESULTS=$results/$name REST=$rest
		! grep -q '^# lab:.* slow' "$TESTS/test_$name.sh" || REST=
		status=0
		timeout -k 5 "$LIMIT" bash "$TESTS/test_$name.sh" >"$results/$name.out" 2>&1 </dev/null || status=$?
		clean_up
		echo "$status" >"$results/$name.part"
		mv "$results/$name.part" "$results/$name.status"
	done <"$results/tests"
	: >"$results/done"
	sync
	# With -no-reboot this ends QEMU at once.
	echo b >/proc/sysrq-trigger
}

if [ "${1:-}" = --inside ]; then
	inside "$2"
	exit
fi

# ---- Packages --------------------------------------------------------------------------------------------------------

# With lists and sources of our own, so that apt's state of this machine stays as it is.
apt_own() {
	local command=$1

	shift
	"$command" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt_folder/sources" \
		-o Dir::State::Lists="$apt_folder/lists" -o Dir::Cache="$apt_folder/cache" -o Debug::NoLocking=1 \
		-o APT::Sandbox::User= -o APT::Update::Post-Invoke-Success= "${apt_options[@]}" "$@"
}

# The machine's own sources of this release, and backports from the same mirror.
prepare_apt() {
	local codename=$1 suite mirror options=

	apt_folder=$cache/apt
	[ ! -e "$keyring" ] || options="[signed-by=$keyring] "
	mkdir -p "$cache"/apt/{sources,lists/partial,cache/archives/partial}
	rm -f "$cache"/apt/sources/*
	while read -r suite mirror; do
		case $suite in
		"$codename" | "$codename-updates" | "$codename-security" | "$codename-backports") ;;
		*) continue ;;
		esac
		echo "deb $options$mirror $suite main" >>"$cache/apt/sources/own.list"
		[ "$suite" != "$codename" ] || [ -s "$cache/apt/sources/more.list" ] ||
			echo "deb $options$mirror $suite-backports main" >"$cache/apt/sources/more.list"
	done < <(apt-get indextargets --format "\$(RELEASE) \$(REPO_URI)" 'Created-By: Packages' | sort -u)
	[ -s "$cache/apt/sources/more.list" ] || die "apt's sources name no mirror for Debian $codename"
	! grep -q -- "$codename-backports" "$cache/apt/sources/own.list" || rm "$cache/apt/sources/more.list"
	apt_own apt-get update -qq
}

# The stable release from that mirror, with lists of its own: what this machine gets stays of its own release.
prepare_apt_stable() {
	local line suite

	line=$(cat "$cache/apt/sources"/*.list | grep -m 1 -- "-backports main\$")
	apt_folder=$cache/apt-stable
	mkdir -p "$apt_folder"/{sources,lists/partial,cache/archives/partial}
	for suite in stable stable-backports; do
		echo "${line%"$codename"-backports main}$suite main"
	done >"$apt_folder/sources/own.list"
	apt_own apt-get update -qq
}

# unpack FOLDER STATUS SUITE PATTERN PREPARE PACKAGE...: the packages and what they depend on, as far as it is not in the dpkg
# status file and its name matches; then PREPARE FOLDER. A folder that holds just these stays.
unpack() {
	local folder=$1 status=$2 suite=$3 pattern=$4 prepare=$5 new=$cache/unpack plan
	local -a wanted

	shift 5
	plan=$(apt_own apt-get -s -o Dir::State::Status="$status" --no-install-recommends -t "$suite" install "$@") ||
		die "apt finds no way to have: $*"
	mapfile -t wanted < <(sed -n 's/^Inst \([^ ]*\) [^(]*(\([^ ]*\) .*/\1=\2/p' <<<"$plan" | grep -E "$pattern")
	[ ${#wanted[@]} -gt 0 ] || [ "$status" != /dev/null ] || die "apt finds none of: $*"
	if [ -e "$folder/packages" ] && cmp -s "$folder/packages" <(printf '%s\n' "${wanted[@]}"); then
		touch "$folder/packages"
		return
	fi
	echo "# fetching ${wanted[*]:-nothing}"
	rm -rf "$new" # of a lab that was killed; this lab has the lock
	mkdir -p "$new/debs" "$new/files"
	[ ${#wanted[@]} -eq 0 ] || (cd "$new/debs" && apt_own apt-get -qq download "${wanted[@]}")
	find "$new/debs" -name '*.deb' -exec dpkg -x {} "$new/files" \;
	rm -rf "$folder"
	mv "$new/files" "$folder"
	rm -rf "$new"
	"$prepare" "$folder"
	# The last step: without this file the folder is fetched again.
	printf '%s\n' "${wanted[@]}" >"$folder/packages"
}

# The links of Debian's package lead to /bin/kmod, which is not there.
link_kmod() { # FOLDER
	local kmod name

	for kmod in "$1"/{usr/,}bin/kmod; do
		[ -e "$kmod" ] || continue
		mkdir -p "$1/links"
		for name in depmod insmod lsmod modinfo modprobe rmmod; do
			ln -sf "$kmod" "$1/links/$name"
		done
	done
}

# The headers look for each other below /usr.
prepare_kernel() { # FOLDER
	[ ! -e "$1/usr/lib/x86_64-linux-gnu/libc.so.6" ] || run_by_libc "$1"
	if [ -d "$1/usr/lib/modules" ]; then # of a release that has all below /usr
		mkdir "$1/boot"
		ln -s usr/lib "$1/lib"
		ln "$1"/usr/lib/modules/*/vmlinuz "$1/boot/vmlinuz-$(ls "$1/usr/lib/modules")"
	fi
	grep -rlsI --include=Makefile --include=.kernelvariables /usr/src/linux-headers "$1/usr/src" |
		xargs -r sed -i "s#/usr/src/linux-headers#$1&#"
	depmod -b "$1" "$(ls "$1/lib/modules")"
}

# Programs that build modules are of another release than this machine: each is run by the C library beside it.
run_by_libc() { # FOLDER
	local file

	while read -r file; do
		[ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
		mv "$file" "$file.elf"
		# shellcheck disable=SC2016 # for that program
		printf '#!/bin/sh\nexec "%s" --library-path "%s" --argv0 "$0" "$0.elf" "$@"\n' \
			"$1/usr/lib64/ld-linux-x86-64.so.2" "$1/usr/lib/x86_64-linux-gnu" >"$file"
		chmod 755 "$file"
	done < <(find "$1"/usr/lib/linux-kbuild-* -type f -perm -1)
}

# is_due FOLDER: it is not there, or it is long ago that it was compared with what is current.
is_due() {
	[ ! -e "$1/packages" ] || [ -n "$(find "$1/packages" -mtime "+$renew_days")" ]
}

# What a test boots in the guest, of this release; empty where it is installed. Installing it could start it.
fetch_udev() {
	unpack "$cache/udev" /var/lib/dpkg/status "$codename" '^udev=' : udev
}

fetch_tools() {
	local tool
	local -a missing=()

	for tool in "${tools[@]}"; do
		[ "$(dpkg-query -W -f='${db:Status-Status}' "$tool" 2>/dev/null)" = installed ] || missing+=("$tool")
	done
	unpack "$cache/${folders[0]}" /var/lib/dpkg/status "$codename-backports" . link_kmod "${missing[@]}"
}

# Links and files that the packages' maintainer scripts make.
prepare_root() { # FOLDER
	local name

	ln -s mawk "$1/usr/bin/awk"
	rm -rf "$1/var/run" # a folder in bookworm
	ln -s /run "$1/var/run"
	for name in passwd group; do
		cp "$1/usr/share/base-passwd/$name.master" "$1/etc/$name"
	done
}

# Without the packages for all architectures: no test runs a program of theirs.
fetch_root() {
	unpack "$cache/root-$arch" /dev/null "$codename" ":$arch=" prepare_root "${programs[@]/%/:$arch}"
}

# fetch_kernel FLAVOUR
fetch_kernel() {
	local kernel=${kernels[$1]} suite=$codename-backports apt_folder=$apt_folder pattern='^linux-(image|base|binary|modules|headers|kbuild)-'

	[ "$1" != old ] || suite=$codename
	if [ "$1" = new ]; then
		prepare_apt_stable || die "apt cannot read the lists of Debian's stable release: see above"
		suite=stable-backports
		pattern+='|^(libc6|libelf1t64|zlib1g|libzstd1|libssl3t64)='
	fi
	unpack "$cache/kernel-$1" /dev/null "$suite" "$pattern" prepare_kernel \
		"linux-image-$kernel" "linux-headers-$kernel"
}

# fetch FLAVOUR...: what is not in the cache or, while no other lab uses it, no longer current.
fetch() {
	local codename name due=false whole=true

	for name in "${folders[@]}" "${@/#/kernel-}"; do
		[ -e "$cache/$name/packages" ] || whole=false
		! is_due "$cache/$name" || due=true
	done
	$due || return 0
	(
		trap 'rm -rf "$cache/unpack"' EXIT
		trap 'exit 130' INT
		trap 'exit 143' TERM HUP
		if ! flock -n 9; then
			! $whole || exit 0
			flock 9
		fi
		# shellcheck source=/dev/null
		codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
		if ! prepare_apt "$codename"; then
			$whole || die "apt cannot read its package lists: see above"
			echo "# apt cannot read its package lists, so the cache is not renewed"
			exit 0
		fi
		for name in "${folders[@]}"; do
			! is_due "$cache/$name" || "fetch_${name%-*}"
		done
		for name in "$@"; do
			! is_due "$cache/kernel-$name" || fetch_kernel "$name"
		done
	) 9>"$cache/lock"
}

# ---- What is built outside -------------------------------------------------------------------------------------------

# Everything that a module needs, in the order in which it is loaded.
list_modules() {
	local name

	for name in "${modules[@]}"; do
		modprobe -d "$kernel_files" -S "$version" --show-depends "$name"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# Commands of the initramfs that put folders of this machine into a tree that is not this machine's own.
share_folders() {
	local folder

	[ -n "$guest_root" ] || return 0
	for folder in "$tree" "$cache" "${rant%/*}"; do
		printf "mkdir -p '/root%s'\nmount -o bind '/host%s' '/root%s'\n" "$folder" "$(realpath "$folder")" "$folder"
	done
}

build_initramfs() {
	local root=$run/initramfs busybox path=$PATH:/usr/sbin:/sbin file name

	busybox=$(command -v busybox)
	if [ -n "$guest_root" ]; then
		busybox=$guest_root/bin/busybox
		path=/usr/sbin:/usr/bin:/sbin:/bin
	fi
	mkdir -p "$root"/{bin,modules,proc,sys,dev,host,write,root}
	cp "$busybox" "$root/bin/busybox"
	while read -r file; do
		name=$(basename "$file" .xz)
		case $file in
		*.xz) xz -dc "$file" >"$root/modules/$name" ;;
		*) cp "$file" "$root/modules/$name" ;;
		esac
		echo "$name" >>"$root/modules/order"
	done < <(list_modules)
	cat >"$root/init" <<-END
		#!/bin/busybox sh
		set -e
		/bin/busybox --install -s /bin
		mount -t proc none /proc
		mount -t sysfs none /sys
		mount -t devtmpfs none /dev
		while read -r name; do insmod "/modules/\$name"; done </modules/order
		mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host
		mount -t tmpfs none /write
		mkdir /write/upper /write/work
		mount -t overlay -o 'lowerdir=/host$guest_root,upperdir=/write/upper,workdir=/write/work' none /root
		$(share_folders)
		mount -t tmpfs none /root/run
		mkdir -p /root/dev /root/proc /root/sys '/root$run/results'
		mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 results '/root$run/results'
		mount --move /proc /root/proc
		mount --move /sys /root/sys
		mount --move /dev /root/dev
		mkdir -p /root/dev/pts /root/dev/shm
		mount -t tmpfs none /root/dev/shm
		exec env -i HOME=/root TERM=dumb LC_ALL=C "GUEST=\$guest" PATH='$path' \\
			switch_root /root /bin/bash '$lab/lab.sh' --inside '$run/results'
	END
	chmod 755 "$root/init"
	(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$run/initramfs.cpio"
}

# A helper may name its flags in a line: /* build: flags=A,B libs=C,D */
build_helpers() {
	local file name flags libs

	for file in "$lab"/*.c; do
		[ -e "$file" ] || continue
		name=$(basename "$file" .c)
		flags=$(sed -n 's|^/\* build:.* flags=\([^ ]*\).*|\1|p' "$file")
		libs=$(sed -n 's|^/\* build:.* libs=\([^ ]*\).*|\1|p' "$file")
		# shellcheck disable=SC2086 # words
		"$compiler" -std=gnu11 -O2 -Wall -Wextra -Wshadow -Werror ${flags//,/ } "$file" -o "$run/helpers/$name" ${libs//,/ } ||
			die "$file does not compile"
	done
}

build_simnic() {
	# This machine's compiler, which may be older than the one of the kernel and lack its options.
	[ "$flavour" != new ] || kbuild+=(CC=gcc CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=)
	[ -e "$lab/simnic/Makefile" ] || [ -e "$lab/simnic/Kbuild" ] || return 0
	cp -r "$lab/simnic" "$run/simnic"
	if make -s -C "$headers" "${kbuild[@]}" M="$run/simnic" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$run/simnic.log" 2>&1; then
		simnic=$run/simnic/simnic.ko
	else
		line "not ok - the module of the simulated NIC builds"
		sed 's/^/# /' "$run/simnic.log"
	fi
}

# The program and what else $BUILD has.
build_cross() {
	ONLY='' "$tree/tests/cross.sh" --build "$arch" >"$run/cross.log" 2>&1 || {
		sed 's/^/# /' "$run/cross.log"
		die "the program and its tests do not build for $arch"
	}
}

# ---- The machine -----------------------------------------------------------------------------------------------------

guest_pid=
second_pid= # of the second guest

# start_machine NAME DEVICE...: in the background.
start_machine() {
	local share=$unpacked/usr/share

	LD_LIBRARY_PATH=$libraries QEMU_MODULE_DIR=${libraries%%:*}/qemu setpriv --pdeathsig KILL "$qemu" \
		-L "$share/qemu" -L "$share/seabios" -L /usr/share/qemu -L /usr/share/seabios \
		-accel tcg,thread=multi "${machine[@]}" -smp 2 -m "${MEMORY:-1024}" -display none -nodefaults -no-reboot \
		-serial "file:$run/console.$1" -kernel "$kernel_files/boot/vmlinuz-$version" -initrd "$run/initramfs.cpio" \
		-append "console=$console tsc=reliable oops=panic panic=1 iomem=relaxed net.ifnames=0 mitigations=off apparmor=0 audit=0 init_on_alloc=0 guest=$1" \
		-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=$run/results,mount_tag=results,security_model=none,multidevs=remap" \
		"${@:2}" >"$run/qemu.$1.log" 2>&1 </dev/null &
}

# port N MAC NETDEV: a port of the emulated NIC, and what it is joined to.
port() {
	devices+=(-device "pcie-root-port,id=port$1,chassis=$(($1 + 1))" -netdev "$3,id=net$1" -device "igb,bus=port$1,netdev=net$1,mac=$2,romfile=")
}

# The second guest has only its end of the wire between both.
start_guest() {
	local -a devices=()
	local name second=false

	for name in "${pending[@]}"; do
		! grep -q '^# lab:.* two' "$lab/test_$name.sh" || second=true
	done
	if $second; then
		port 2 52:54:00:00:00:04 "dgram,local.type=unix,local.path=$run/wire.second,remote.type=unix,remote.path=$run/wire.first"
		start_machine second "${devices[@]}"
		second_pid=$! devices=()
	fi
	port 0 52:54:00:00:00:01 hubport,hubid=0
	port 1 52:54:00:00:00:02 hubport,hubid=0
	! $second || port 2 52:54:00:00:00:03 "dgram,local.type=unix,local.path=$run/wire.first,remote.type=unix,remote.path=$run/wire.second"
	start_machine first "${devices[@]}"
	guest_pid=$!
}

stop_guest() {
	local pid

	for pid in $guest_pid $second_pid; do
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	guest_pid=''
	second_pid=''
}

passed=0 failed=0 skipped=0

# A line of a test, counted.
line() {
	case $1 in
	'ok - '*'# SKIP'*) skipped=$((skipped + 1)) ;;
	'ok - '*) passed=$((passed + 1)) ;;
	'not ok - '*) failed=$((failed + 1)) ;;
	esac
	printf '%s\n' "$1"
}

# outside NAME "PROGRAM FOLDER": a test left the folder to be judged here.
outside() {
	local program folder text lines=$((passed + failed + skipped))

	read -r program folder <<<"$2"
	while IFS= read -r text; do
		line "$text"
	done < <("$lab/$program" "$run/results/$1/$folder" 2>&1)
	[ $((passed + failed + skipped)) -gt "$lines" ] || line "not ok - test_$1: $program prints no verdict on $folder"
}

# The CPU time of the guest: on a busy machine it says more than the clock.
cpu_begun_s=0 # when the test began
cpu_seconds() {
	local stat

	read -r stat 2>/dev/null <"/proc/$guest_pid/stat" || { echo "$cpu_begun_s" && return; }
	read -ra stat <<<"${stat##*) }"
	echo $(((stat[11] + stat[12]) / 100))
}

# judge NAME: what a test printed that has ended, or at whose end the guest was gone.
judge() {
	local name=$1 status=none text cpu_s lines=$((passed + skipped)) failed_before=$failed

	cpu_s=$(cpu_seconds)
	echo "# test_$name, $((SECONDS - begun_s)) s; CPU time of the guest $((cpu_s - cpu_begun_s)) s"
	cpu_begun_s=$cpu_s
	while IFS= read -r text; do
		case $text in
		'judge '*) outside "$name" "${text#judge }" ;;
		*) line "$text" ;;
		esac
	done < <(cat "$run/results/$name.out" 2>/dev/null)
	[ ! -e "$run/results/$name.status" ] || status=$(cat "$run/results/$name.status")
	case $status in
	none)
		line "not ok - test_$name: $reason"
		show_console
		;;
	124 | 137) line "not ok - test_$name: ended after $limit_s s" ;;
	0) [ $((passed + skipped)) -gt "$lines" ] || [ "$failed" -gt "$failed_before" ] ||
		line "not ok - test_$name: printed nothing" ;;
	*) [ "$failed" -gt "$failed_before" ] || line "not ok - test_$name: ended with status $status" ;;
	esac
}

show_console() {
	local file

	for file in "$run"/qemu.*.log "$run"/console.*; do
		[ -s "$file" ] || continue
		echo "# last lines of ${file##*/}:"
		{
			head -n -40 "$file" | grep -aE 'Kernel panic|BUG:|Oops|stall' | tail -n 5 || true
			tail -n 40 "$file"
		} | tr -d '\r' | cat -v | cut -c 1-180 | sed 's/^/#   /'
	done
}

# A test may ask in the file "stop" of its folder for a guest that stands still for so many seconds, of which its kernel sees nothing.
stand_still() { # NAME
	local file=$run/results/$1/stop seconds

	[ -s "$file" ] || return 0
	seconds=$(<"$file")
	kill -STOP "$guest_pid"
	sleep "$seconds"
	kill -CONT "$guest_pid"
	rm "$file"
}

# Prints each test when it has ended. Returns when all have, or the guest is gone; $pending is what was not begun.
watch_guest() {
	local name=${pending[0]} until=$((SECONDS + boot_limit_s)) begun=false begun_s=$SECONDS

	reason="the guest ended"
	while [ ${#pending[@]} -gt 0 ]; do
		name=${pending[0]}
		if [ -e "$run/results/$name.status" ]; then
			judge "$name"
			pending=("${pending[@]:1}")
			begun=false until=$((SECONDS + boot_limit_s))
			continue
		fi
		if ! $begun && [ -e "$run/results/$name.begun" ]; then
			begun=true begun_s=$SECONDS cpu_begun_s=$(cpu_seconds) until=$((SECONDS + limit_s + 30))
		fi
		if [ "$SECONDS" -ge "$until" ]; then
			reason="the guest hung and was killed"
			stop_guest
		fi
		if [ -z "$guest_pid" ] || ! kill -0 "$guest_pid" 2>/dev/null; then
			# Once more: it may have ended just after the status was written.
			[ ! -e "$run/results/$name.status" ] || continue
			if ! compgen -G "$run/results/*.begun" >/dev/null && [ "$boots_left" -gt 0 ]; then
				boots_left=$((boots_left - 1))
				echo "# before test_$name $reason: starting another"
				return
			fi
			judge "$name"
			[ -e "$run/results/$name.begun" ] || booted=false
			pending=("${pending[@]:1}")
			return
		fi
		stand_still "$name"
		sleep 0.1
	done
}

run_guest() {
	rm -rf "$run/results"
	mkdir "$run/results"
	printf '%s\n' "${pending[@]}" >"$run/results/tests"
	cat >"$run/results/environment" <<-END
		export BUILD=$(printf %q "$programs_built") RANT=$(printf %q "$rant") SIMNIC=$(printf %q "$simnic") HELPERS=$(printf %q "$run/helpers")
		export ONLY=$(printf %q "${ONLY:-}") SELF=$(printf %q "${SELF:-}") SPIKES=$(printf %q "${SPIKES:-}") COUNT=$(printf %q "${COUNT:-}")
		export QUICK=${QUICK:-} REST=${REST:-} UDEV=$(printf %q "$cache/udev")
		export FLAVOUR=$flavour LIMIT=$limit_s TESTS=$(printf %q "$lab") LIB_MODULES=$(printf %q "$kernel_files/lib/modules")
	END
	start_guest
	watch_guest
	stop_guest
}

# ---- All kernels -----------------------------------------------------------------------------------------------------

# Each in a lab and a process group of its own, one after the other: a guest has two CPUs that spin, and beside another one takes three
# times as long. Ends the program.
run_flavours() {
	local one status=0

	for one in "${!tests_of[@]}"; do
		# shellcheck disable=SC2086 # words
		FLAVOUR=$one RANT=$rant setpriv --pdeathsig TERM setsid "$lab/lab.sh" ${tests_of[$one]} >"$run/$one" 2>&1 &
		wait $! || status=1
		grep -q '^# lab: ' "$run/$one" || echo "not ok - lab: the one of $one was killed" >>"$run/$one"
		grep -v '^# lab:' "$run/$one" || true
	done
	cat "$run"/* | awk -v seconds=$SECONDS -v skipped="$skipped" '/^# lab: / { passed += $3; failed += $5; skipped += $7 }
		/^not ok - lab: the one of / { failed++ }
		END { printf "# lab: %d passed, %d failed, %d skipped, %d s\n", passed, failed, skipped, seconds }'
	closed=true
	exit "$status"
}

# ---- All of it -------------------------------------------------------------------------------------------------------

run=
closed=false # the line with the counts is printed, or what is instead of it

# At every end: nothing is left, and an end before that of the tests has a reason.
finish() {
	local status=$? child

	set +e
	trap '' INT TERM HUP PIPE
	trap - ERR
	for child in $(jobs -p); do
		# The lab of a kernel, which ends all of its own, or else the guest.
		kill -TERM -- "-$child" 2>/dev/null || kill -KILL "$child" 2>/dev/null
	done
	wait
	if [ -n "$run" ] && [ -n "${KEEP:-}" ]; then
		echo "# kept: $run"
	elif [ -n "$run" ]; then
		rm -rf "$run"
	fi
	$closed || close "not ok - lab: ${fault:-ended with status $status}"
	exit "$status"
}

# close [LINE]: a last line, and the counts.
close() {
	[ $# -eq 0 ] || line "$1"
	echo "# lab: $passed passed, $failed failed, $skipped skipped, $SECONDS s"
	closed=true
}

trap finish EXIT
trap 'fault=interrupted && exit 130' INT
trap 'fault="ended by a signal" && exit 143' TERM HUP

skip_all() {
	closed=true
	echo "ok - lab # SKIP $1"
	exit 0
}

# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "$ID")
[ "$system" = debian ] || skip_all "it is made of Debian's packages, and this is $system"
[ "$(dpkg --print-architecture)" = amd64 ] || skip_all "it emulates an amd64 machine on one"
folders=() apt_options=() kbuild=() machine=()
set_architecture
[ -z "$flavour" ] || [ -n "${kernels[$flavour]:-}" ] || die "FLAVOUR is one of ${!kernels[*]}, not '$flavour'"
[ "$arch" = amd64 ] || command -v "$compiler" >/dev/null || skip_all "there is no $compiler: run tests/packages.sh cross"

declare -A tests_of=()
named=true # one by one
if [ $# -eq 0 ]; then
	export QUICK=1
	mapfile -t quick < <(grep -L '^# lab:.* slow' "$lab"/test_*.sh)
	set -- "${quick[@]}"
elif [ "$*" = --all ]; then
	named=false
	set -- "$lab"/test_*.sh
elif [ "$*" = --rest ]; then
	named=false
	export REST=1
	mapfile -t rest < <(grep -lE '^# lab:.* slow|(^|[ =(])slow |QUICK' "$lab"/test_*.sh)
	set -- "${rest[@]}"
fi
for test in "$@"; do
	[[ $test != -* ]] || die "usage: lab.sh [--all | --rest | TEST...], not '$*'"
	test=$(basename "$test" .sh)
	test=${test#test_}
	[ -e "$lab/test_$test.sh" ] || die "there is no $lab/test_$test.sh"
	if ! $named && [ "$(nproc)" -lt 4 ] && grep -q '^# lab:.* two' "$lab/test_$test.sh"; then
		line "ok - test_$test # SKIP both guests spin, which takes four CPUs: run tests/lab/lab.sh $test alone"
		continue
	fi
	where=$(sed -n 's/^# lab: //p' "$lab/test_$test.sh" | grep -owE 'amd64|rt|old|new|arm64' || echo amd64)
	where=$(grep -xE "$words" <<<"$where") || continue
	for kernel in ${flavour:-$where}; do
		tests_of[$kernel]+="$test "
	done
done

[ ${#tests_of[@]} -gt 0 ] || die "test_$test does not run on $arch"

mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
unpacked=$cache/${folders[0]} # the tools
PATH=$PATH:/usr/sbin:/sbin:$unpacked/links:$unpacked/usr/sbin:$unpacked/usr/bin:$unpacked/sbin:$unpacked/bin
fetch "${!tests_of[@]}"
# Held as long as the cache is used, against renewal.
exec 9>"$cache/lock"
flock -s 9
libraries=$unpacked/usr/lib/x86_64-linux-gnu:$unpacked/lib/x86_64-linux-gnu # not there where this machine has all tools
guest_root= # file tree of a guest that does not have this machine's
if [ -n "${RANT:-}" ]; then
	rant=$(realpath "$RANT")
elif [ "$arch" = amd64 ]; then
	make -s -C "$tree" rant
	rant=$tree/rant
else
	rant=$tree/build/cross/$arch/rant
fi
run=$cache/run.$$
rm -rf "$run" # of a lab that was killed
mkdir "$run"
if [ -z "$flavour" ]; then
	run_flavours
fi

read -ra pending <<<"${tests_of[$flavour]}"
kernel_files=$cache/kernel-$flavour
version=$(ls "$kernel_files/lib/modules")
headers=$kernel_files/usr/src/linux-headers-$version
mkdir "$run/helpers"
simnic=
if [ "$arch" != amd64 ]; then
	guest_root=$cache/root-$arch
	build_cross
fi
build_initramfs
build_helpers
build_simnic
echo "# Linux $version, $(qemu_version=$(LD_LIBRARY_PATH=$libraries "$qemu" --version) && head -1 <<<"$qemu_version")"

# A test that takes the guest down costs itself; the others go on in a new one.
booted=true
boots_left=2 # an emulated CPU may lose its timer at boot, where nothing is tested yet
while [ ${#pending[@]} -gt 0 ] && $booted; do
	run_guest
done
for test in "${pending[@]}"; do
	line "not ok - test_$test: the guest did not start"
done
close
[ "$failed" -eq 0 ]

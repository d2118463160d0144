#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tests of the packages. The .deb is built, installed, used and removed in clean roots of Debian 12 and 13, which debootstrap
# makes from the archive of the local apt; lintian checks it, for 13 with the rules of that release. The .rpm is built on this host, and has
# the same files. Needs root. All mounts are in a mount namespace, and end with it.
set -uo pipefail
shopt -s nullglob
export LC_ALL=C

cd "$(dirname "$0")/../.." || exit 1

releases=([12]=bookworm [13]=trixie)
STEP_S=600 # a longer step hangs
MEMORY_KB=6000000

# In CI a skip is a failure: make has installed every tool.
skip() {
	[ "${CI:-}" != true ] || { echo "not ok - packages: $*" && exit 1; }
	echo "ok - packages # SKIP $*"
	exit 0
}

[ "$(id -u)" -eq 0 ] || skip 'roots and mounts need root: sudo make check-all'
for tool in debootstrap lintian rpmbuild rpm2cpio cpio unshare nsenter ip setpriv; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
[ -n "${PACKAGES_MOUNTS:-}" ] || PACKAGES_MOUNTS=own exec unshare --mount --propagation private "$0" "$@"

# Prints the Debian archive of the local apt, or nothing.
archive() {
	# shellcheck disable=SC2016 # a word of apt-get's
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -1
}
mirror=$(archive)
[ -n "$mirror" ] || { apt-get update -q >/dev/null 2>&1 && mirror=$(archive); }
[ -n "$mirror" ] || skip 'apt of this machine has no archive of Debian'
proxy=
eval "$(apt-config shell proxy Acquire::http::Proxy)"
[ -z "$proxy" ] || export http_proxy=$proxy

mkdir -p build
work=$(mktemp -d "$PWD/build/packaging.XXXXXX") || exit 1
started=()

clean_up() {
	local process

	trap '' INT TERM HUP PIPE
	for process in "${started[@]}" $(cat "$work"/*/started 2>/dev/null); do
		kill "$process" 2>/dev/null
	done
	wait
	umount -R --lazy "$work" 2>/dev/null
	rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# In memory, dpkg does not wait for a disk.
[ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)" -lt $MEMORY_KB ] || mount -t tmpfs -o mode=755,size=4g none "$work" || exit 1

# Writes the highest use of the file system in memory to FILE, in MB, for as long as it runs.
watch_memory() { # FILE
	local used peak=0

	while sleep 0.5; do
		used=$(df --output=used --block-size=1M "$work" | tail -1)
		[ "$used" -le "$peak" ] || { peak=${used// /} && echo "$peak" >"$1"; }
	done
}

# ---- One line for each test --------------------------------------------------------------------------------------------

# judge NAME [COMPLAINT]
judge() {
	if [ -z "${2:-}" ]; then
		echo "ok - packages: $1"
	else
		echo "not ok - packages: $1"
		tail -n 60 <<<"$2" | cut -c 1-300 | cat -v | sed 's/^/# /'
		return 1
	fi
}

# step NAME COMMAND...: its output is printed if it fails.
step() {
	local output began=$SECONDS status

	# shellcheck disable=SC2016 # of that shell
	output=$(timeout $STEP_S bash -c '"$@"' bash "${@:2}" 2>&1 </dev/null)
	status=$?
	judge "$1" "$([ $status -eq 0 ] || echo "${output:+$output$'\n'}status $status")" || return 1
	echo "# $((SECONDS - began)) s"
}

# ---- Roots -------------------------------------------------------------------------------------------------------------

# in_root ROOT COMMAND...: as root in a chroot.
in_root() {
	local root=$1

	shift
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} "$@"
}

with_machine() { # ROOT
	mount -t proc none "$1/proc" && mount --bind /dev "$1/dev"
}

# bare ROOT RELEASE: the essential packages, the lists of apt, and systemd-sysusers for groups.
bare() {
	debootstrap --variant=minbase --include=systemd-standalone-sysusers "$2" "$1" "$mirror" && apt-config dump --format '%f "%v";%n' Acquire >"$1/etc/apt/apt.conf.d/50as-outside" &&
		echo 'Acquire::Languages "none";' >"$1/etc/apt/apt.conf.d/51no-translations" && cp /etc/resolv.conf /etc/hosts "$1/etc/" &&
		in_root "$1" apt-get update -q
}

# Builds with the packages that debian/control names and no others. PACKAGE gets the .deb, the source and the .changes.
build_in() { # ROOT PACKAGE
	with_machine "$1" && mkdir "$1/build" "$2" && cp -a "$source" "$1/build/" &&
		in_root "$1" apt-get -q -y --no-install-recommends build-dep "/build/${source##*/}" && in_root "$1" apt-get clean &&
		in_root "$1" sh -c "cd '/build/${source##*/}' && dpkg-buildpackage -us -uc" &&
		find "$1/build" -maxdepth 1 -type f -exec cp {} "$2/" \;
}

# A build root holds a compiler, 0.6 GB in the memory of this host: it goes before the clean root gets its packages.
free_root() { # ROOT
	umount -R "$1/proc" "$1/dev" && rm -rf --one-file-system "$1"
}

LINT='lintian --allow-root --fail-on error,warning'

# By the rules of this host's lintian.
lint_12() { # ROOT PACKAGE
	free_root "$1" && $LINT "$2"/rant_*.changes
}

# By the rules of Debian 13: its lintian is installed into the root after the build.
lint_13() { # ROOT PACKAGE
	in_root "$1" apt-get -q -y --no-install-recommends install lintian && in_root "$1" sh -c "$LINT /build/rant_*.changes" && free_root "$1"
}

install_in() { # ROOT DEB
	cp "$2" "$1/root/" && in_root "$1" apt-get -q -y --no-install-recommends install "/root/${2##*/}"
}

# Lists all files except the databases and logs of packages and the backups of user files.
contents() { # ROOT
	(cd "$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./root -o -path ./tmp -o -path ./run -o \
		-path './etc/*-' -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt -o -path ./var/lib/dpkg \) -prune -o -print | sort)
	sed 's/^/group /' "$1/etc/group" "$1/etc/gshadow"
	in_root "$1" dpkg-statoverride --list | sed 's/^/override /'
}

# ---- A link, and a user on it ------------------------------------------------------------------------------------------

declare -A holder=() # of a network namespace

# a_link NAME: two network namespaces, each held by a process, and a veth pair between them.
a_link() {
	local side

	for side in near far; do
		unshare --net sleep 1800 &
		holder[$side]=$!
		echo $! >>"$work/$1/started"
	done
	for side in near far; do
		until [ "$(readlink "/proc/${holder[$side]}/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do
			sleep 0.1
		done
	done
	ip link add name veth0 netns "${holder[near]}" type veth peer name veth1 netns "${holder[far]}" &&
		at near ip address add 10.77.0.1/24 dev veth0 && at near ip link set veth0 up &&
		at far ip address add 10.77.0.2/24 dev veth1 && at far ip link set veth1 up
}

at() { # SIDE COMMAND...
	nsenter --net="/proc/${holder[$1]}/ns/net" "${@:2}"
}

# as USER SIDE COMMAND...: in $root, in whose /sys is what belongs to that namespace.
as() {
	# shellcheck disable=SC2016 # of that shell
	at "$2" unshare --mount sh -c 'mount -t sysfs none "$0/sys" && exec "$@"' "$root" chroot "$root" \
		setpriv --reuid="$1" --regid="$1" --init-groups env -i --chdir="/home/$1" PATH=/usr/bin:/bin HOME="/home/$1" "${@:3}"
}

# answers PORT: waits until the port is open, at most 10 s.
answers() {
	local tries port

	port=$(printf ':%04X ' "$1")
	for tries in $(seq 100); do
		! grep -q "$port" "/proc/${holder[far]}/net/udp" || return 0
		sleep 0.1
	done
	echo "port $1 is not open after $tries tries"
}

# The commands of README.Debian, without a terminal.
let_members_measure() {
	in_root "$root" dpkg-statoverride --update --add root rant 0750 /usr/bin/rant &&
		in_root "$root" apt-get -q -y --no-install-recommends install libcap2-bin &&
		in_root "$root" dpkg-reconfigure rant && in_root "$root" usermod -aG rant member
}

# page SECTION: prints the commands in this section of rant.1.
page() {
	zcat "$root/usr/share/man/man1/rant.1.gz" | mandoc -Tascii | col -bx | sed -n "/^$1\$/,/^[A-Z]/ s/^ \{11\}\([a-z]\)/\1/p"
}

# The example of rant.1 for users without privileges, on this link, at that port and with a limit.
measure() { # USER PORT [OPTION...]
	local status=0 reflector
	local -a line words

	mapfile -t line < <(page EXAMPLES | grep -e '--port' |
		sed "s/\beth\([01]\)\b/veth\1/; s/192\.168\.10\.2/10.77.0.2/; s/--port 8620/--port $2/; s/ -d 10$/ --count 2000/")
	[ ${#line[@]} -eq 2 ] || echo "rant.1 has ${#line[@]} commands for users without privileges"
	read -ra words <<<"${line[0]}"
	as "$1" far timeout 120 "${words[@]}" --duration 60 >"$root/tmp/reflector" 2>&1 &
	reflector=$!
	answers "$2"
	read -ra words <<<"${line[1]}"
	as "$1" near "${words[@]}" --timeout 5000 --give-up 60 -v --json run.json "${@:3}" >"$root/tmp/emitter" 2>&1 || status=$?
	wait $reflector || echo "the reflector ended with status $?"
	[ $status -eq 0 ] || [ $status -eq 3 ] || echo "the emitter ended with status $status"
	grep -q '^MIN: .* Total Samples: 2000$' "$root/tmp/emitter" || cat "$root/tmp/emitter" "$root/tmp/reflector"
	[ "$1" = stranger ] || ! grep -h 'not locked' "$root/tmp/emitter" "$root/tmp/reflector"
	[ -s "$root/home/$1/run.json" ] || echo 'there is no run.json'
}

# The commands of the manual page, for one member without rights.
give_as_page_says() {
	in_root "$root" sh -c 'gpasswd --delete member rant && chgrp root /usr/bin/rant && chmod 0755 /usr/bin/rant' &&
		page PRIVILEGES | sed 's/\bNAME\b/member/' >"$root/tmp/commands" &&
		[ "$(wc -l <"$root/tmp/commands")" -eq 6 ] && in_root "$root" sh -ex /tmp/commands
}

capabilities() {
	in_root "$root" getcap /usr/bin/rant
}

# ---- One release -------------------------------------------------------------------------------------------------------

# is_of_source COMMAND...: checks version and commit of rant. The commit is known if the tree has no changes.
is_of_source() {
	local said commit

	said=$("$@" --version 2>&1)
	commit=$(grep -oE '^[0-9a-f]{12}' "$source/.version") || commit=unknown
	[[ $said == "rant $version"$'\n'*" $commit"$'\n'* ]] || echo "it is not of $version, commit $commit: $said"
}

# First commands of a user.
looks_right() {
	is_of_source in_root "$root" rant
	[[ $(in_root "$root" rant-config --help) == *--undo* ]] || echo 'rant-config --help has no --undo'
	[[ $(in_root "$root" rant-plot --help) == *--panel* ]] || echo 'rant-plot --help has no --panel'
	for page in man1/rant.1 man8/rant-config.8 man1/rant-plot.1; do
		[[ $(zcat "$root/usr/share/man/$page.gz" | mandoc -Tascii 2>&1 | col -b) == *$'\nEXAMPLES\n'* ]] || echo "$page has no examples"
	done
	for page in $(zcat "$root/usr/share/man/man1/rant.1.gz" | grep -o '/usr/share/doc/rant[^ ]*'); do
		[ -e "$root$page" ] || echo "rant.1 names $page, which is not there"
	done
}

use() { # RELEASE DEB
	local said name="Debian $1:"

	export root=$work/$1/clean
	a_link "$1" >"$work/$1/link" 2>&1 || { judge "$name a veth pair" "$(<"$work/$1/link")" && return; }
	contents "$root" >"$work/$1/before"
	with_machine "$root"
	step "$name it is installed, with what it depends on" install_in "$root" "$2" || return
	judge "$name programs and pages are there" "$(looks_right)"
	in_root "$root" useradd --create-home member && in_root "$root" useradd --create-home stranger
	judge "$name anybody measures with kernel stamps, at a port from 1024 on" "$(measure stranger 8620 2>&1)"
	step "$name it is given to its group" let_members_measure || return
	said=$(as stranger near rant --version 2>&1) || said="$? $said"
	judge "$name who is not in the group cannot run it" "$([[ $said == '126 '*'Permission denied' ]] || echo "$said")"
	judge "$name a member of the group measures, without root" "$(measure member 862 --fifo 10 2>&1)"
	judge "$name --check says a member what is missing" "$(lacks '^ok    capabilities: all ')"
	said=$(capabilities)
	step "$name it is installed once more" in_root "$root" apt-get -q -y --reinstall install "/root/${2##*/}"
	judge "$name and the group can still measure" "$([ -n "$said" ] && [ "$(capabilities)" = "$said" ] || echo "'$said', then '$(capabilities)'")"
	judge "$name the line for the unit of the standing reflector is what it needs" "$(stands)"
	step "$name it is given to its group again, by the commands of rant.1" give_as_page_says
	judge "$name a member measures with four capabilities, at another port" "$(measure member 8620 --fifo 10 2>&1)"
	judge "$name and --check says which are missing" "$(lacks '^note  capabilities: without cap_net_bind_service, cap_setpcap ')"
	in_root "$root" userdel --remove member 2>/dev/null
	in_root "$root" userdel --remove stranger 2>/dev/null
	was_enabled "$root"
	pretends_systemd "$root/run" "$root/usr/bin" /tmp/systemctl
	step "$name it is purged" in_root "$root" apt-get -q -y purge --autoremove rant libcap2-bin
	judge "$name its instances are stopped before" "$(stopped_all "$root/tmp/systemctl")"
	rm "$root/usr/bin/systemctl"
	contents "$root" >"$work/$1/after"
	judge "$name nothing of it is left" "$(diff "$work/$1/before" "$work/$1/after"; ls -d "$root/var/log/rant" 2>/dev/null)"
}

# was_enabled ROOT: makes the links and the log of an enabled instance of the unit.
was_enabled() {
	local wants=$1/etc/systemd/system/sys-subsystem-net-devices-eth1.device.wants

	mkdir -p "$wants" "$1/var/log/rant"
	ln -s /usr/lib/systemd/system/rant-reflect@.service "$wants/rant-reflect@eth1.service"
	echo log >"$1/var/log/rant/eth1.log"
}

# pretends_systemd RUN BIN FILE: a systemctl that writes its arguments to FILE.
pretends_systemd() {
	mkdir -p "$1/systemd/system" "$2"
	printf '#!/bin/sh\necho "$*" >>%s\n' "$3" >"$2/systemctl" && chmod 755 "$2/systemctl"
}

stopped_all() { # FILE
	grep -q 'stop rant-reflect@\*\.service$' "$1" || cat "$1" 2>&1
}

# bounded CAPABILITY...: true if root can run rant with only these capabilities in the bounding set, as in a systemd unit.
bounded() {
	in_root "$root" setpriv --no-new-privs --bounding-set="-all$(printf ',+%s' "${@,,}" | sed 's/cap_//g')" rant --version >/dev/null 2>&1
}

# With file capabilities the standing reflector starts only if its unit has the line of docs/standing.md.
stands() {
	local -a unit line

	read -ra unit < <(sed -n 's/^CapabilityBoundingSet=//p' "$root/usr/lib/systemd/system/rant-reflect@.service")
	read -ra line < <(sed -n '/for the group .rant./s/.*CapabilityBoundingSet=\([A-Z_ ]*\).*/\1/p' "$root/usr/share/doc/rant/docs/standing.md")
	[ ${#unit[@]} -gt 0 ] && [ ${#line[@]} -gt 0 ] || echo "unit: '${unit[*]}', line of the page: '${line[*]}'"
	bounded "${unit[@]}" "${line[@]}" || echo "rant does not run with ${unit[*]} ${line[*]}"
	! bounded "${unit[@]}" || echo "rant runs with ${unit[*]}: the page needs no such line"
}

# lacks LINE: the doctor prints this line for a member, and those for missing and sufficient rights.
lacks() {
	local all line

	all=$(as member near rant --check -i veth0 --stamp kernel 2>&1)
	for line in "$1" '^note  tracefs: ' '^ok    memory lock: ' '^ok    socket: '; do
		grep -q "$line" <<<"$all" || echo "no line matches '$line': $all"
	done
}

release() { # RELEASE
	local name="Debian $1:" deb

	mkdir "$work/$1"
	step "$name debootstrap makes a clean root" bare "$work/$1/clean" "${releases[$1]}" || return
	cp -a "$work/$1/clean" "$work/$1/build"
	step "$name the package is built with what debian/control names" build_in "$work/$1/build" "$work/$1/package" || return
	deb=("$work/$1/package"/rant_*.deb)
	step "$name lintian finds nothing in source and package" "lint_$1" "$work/$1/build" "$work/$1/package"
	use "$1" "${deb[0]}"
}

# ---- The other package -------------------------------------------------------------------------------------------------

# Without folders and documents, whose paths differ; Debian has another folder for functions of zsh.
files_of() {
	sed -E 's/^\.//; /\/$/d; \#^/usr/share/(doc|licenses|lintian)/#d; s/\.gz$//; s#zsh/vendor-completions#zsh/site-functions#' | sort
}

# These folders are mounted over /etc and /run of this machine.
removed_rpm() {
	local there=$work/rpm/removed

	pretends_systemd "$there/run" "$there/bin" "$there/systemctl"
	# shellcheck disable=SC2016 # of that shell
	unshare --mount sh -c 'mount --bind "$0/etc" /etc && mount --bind "$0/run" /run && PATH=$0/bin:$PATH && sh -e "$0/preun" 0 && sh -e "$0/postun" 0' "$there"
	stopped_all "$there/systemctl"
	find "$there/etc/systemd/system" -mindepth 1
}

rpm() {
	local package

	step 'the .rpm is built' packaging/make.sh rpm "$work/rpm" || return
	package=("$work"/rpm/rant-*.rpm)
	mkdir "$work/rpm/root"
	(cd "$work/rpm/root" && rpm2cpio "${package[0]}" | cpio -idm --quiet)
	was_enabled "$work/rpm/removed"
	command rpm -qp --queryformat '%{PREUN}' "${package[0]}" >"$work/rpm/removed/preun"
	command rpm -qp --queryformat '%{POSTUN}' "${package[0]}" >"$work/rpm/removed/postun"
	judge 'when the .rpm is removed, its instances are stopped, and their links go' "$(removed_rpm 2>&1)"
	judge 'rant of the .rpm runs' "$(is_of_source "$work/rpm/root/usr/bin/rant")"
	(cd "$work/rpm/root" && find . ! -type d) | files_of >"$work/rpm/files"
}

# ---- All of it ---------------------------------------------------------------------------------------------------------

began=$SECONDS
judge 'the source is there' "$(packaging/make.sh source "$work/source" 2>&1)" || exit 1
source=$(echo "$work"/source/rant-*[0-9]) version=${source##*/rant-}
export source mirror LINT
export -f bare build_in in_root install_in free_root lint_12 lint_13 give_as_page_says let_members_measure page with_machine
[ "$(stat -f -c %T "$work")" != tmpfs ] || { watch_memory "$work/peak" & started+=($!); }
rpm >"$work/rpm.out" 2>&1 &
jobs=($!)
for number in "${!releases[@]}"; do
	release "$number" >"$work/$number.out" 2>&1 &
	jobs+=($!)
done
wait "${jobs[@]}"
{
	cat "$work"/1?.out "$work/rpm.out"
	judge 'the .rpm has the files of the .deb' "$(diff <(dpkg-deb --fsys-tarfile "$work"/12/package/rant_*.deb | tar -t | files_of) \
		"$work/rpm/files" 2>&1)"
} | tee "$work/results"
echo "# $((SECONDS - began)) s"
[ ! -s "$work/peak" ] || echo "# at most $(<"$work/peak") MB of 4096 MB in memory were used"
! grep -q '^not ok ' "$work/results"
